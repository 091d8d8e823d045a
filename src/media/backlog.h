/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packets of a video that some decoder has not taken yet, numbered in their order. They are
 * kept once, however many decoders take them. Its owner's mutex guards it.
 */
#ifndef GPUME_MEDIA_BACKLOG_H
#define GPUME_MEDIA_BACKLOG_H

#include <stdint.h>

struct AVPacket;

struct gpume_backlog {
    struct AVPacket **ring; /* empty where no packet is kept */
    uint64_t capacity;
    uint64_t first, end; /* numbers of the packets that are kept */
    uint64_t bytes;      /* that they take */
};

/* Appends a packet, which it moves. GPUME_NOMEM. */
int gpume_backlog_append(struct gpume_backlog *backlog, struct AVPacket *packet);

/* A reference to the packet of this number, which is kept, in an empty packet. GPUME_NOMEM. */
int gpume_backlog_get(
    const struct gpume_backlog *backlog, uint64_t number, struct AVPacket *packet);

/* Drops the packets before this number. */
void gpume_backlog_drop(struct gpume_backlog *backlog, uint64_t number);

void gpume_backlog_finish(struct gpume_backlog *backlog);

#endif
