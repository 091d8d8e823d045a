/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that wait for their turn, in lists that share a fixed number of places. Its owner's mutex
 * guards it.
 */
#ifndef GPUME_MEDIA_SEGMENTS_WAITING_H
#define GPUME_MEDIA_SEGMENTS_WAITING_H

#include "media/decoding.h"

struct AVFrame;

struct gpume_waiting_frame {
    struct AVFrame *frame;
    struct gpume_damage damage; /* that its decoder had met by then */
    struct gpume_waiting_frame *next;
};

/* Zeroed: empty. */
struct gpume_waiting {
    struct gpume_waiting_frame *oldest, *newest;
    uint32_t count;
};

struct gpume_places {
    struct gpume_waiting_frame *all;
    struct gpume_waiting free;
    uint32_t count;
};

/* GPUME_NOMEM; finish follows in any case. */
int gpume_places_init(struct gpume_places *places, uint32_t count);
void gpume_places_finish(struct gpume_places *places);

/* Moves a frame to the end of the list. There must be a free place. */
void gpume_waiting_put(struct gpume_waiting *list, struct gpume_places *places,
    struct AVFrame *frame, const struct gpume_damage *damage);

/* Moves the oldest frame, of which there must be one, into an empty one. */
struct gpume_damage gpume_waiting_take(
    struct gpume_waiting *list, struct gpume_places *places, struct AVFrame *frame);

/* Moves all frames of `from` to the end of the list. */
void gpume_waiting_join(struct gpume_waiting *list, struct gpume_waiting *from);

/* Drops all frames. */
void gpume_waiting_clear(struct gpume_waiting *list, struct gpume_places *places);

#endif
