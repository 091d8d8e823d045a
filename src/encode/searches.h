/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Searches between frames by libgpume, on quarter planes: each block of 8x8 of a target finds the
 * best whole pixel in a reference by SAD. From these coarse vectors blocks.h makes those of the
 * blocks of the half plane. Requests are queued, so that many pairs are searched at once; a thread
 * takes what has been found. Any thread calls, but one at a time sends.
 */
#ifndef GPUME_ENCODE_SEARCHES_H
#define GPUME_ENCODE_SEARCHES_H

#include "encode/blocks.h"

#include <stdbool.h>

struct gpume_searches;

int gpume_searches_open(struct gpume_searches **searches, const struct gpume_blocks_params *params);

/* "NVIDIA H200", "2 threads". */
const char *gpume_searches_engine(const struct gpume_searches *searches);

/* Whether it runs on a GPU. */
bool gpume_searches_on_gpu(const struct gpume_searches *searches);

/* What refines its matches: on a GPU, if it runs there. Frames must be added to it before they are
 * sent. */
struct gpume_blocks *gpume_searches_blocks(const struct gpume_searches *searches);

/* Sends the next frame; the first one is number 0. */
int gpume_searches_send(struct gpume_searches *searches, const struct gpume_half *half);

/* Requests the search of a pair of frames, which the match has by number and by half plane. It must
 * stay where it is until it is ready. */
int gpume_searches_request(struct gpume_searches *searches, struct gpume_match *match);

/* Hands matches on to be refined until at most `pending` requests are not complete. */
int gpume_searches_drain(struct gpume_searches *searches, uint64_t pending);

/* Returns when the requested match is ready. */
int gpume_searches_wait(struct gpume_searches *searches, const struct gpume_match *match);

/* Drops requests that are not complete. Nobody waits any more, and matches change no more, but for
 * those that are being refined. */
void gpume_searches_end(struct gpume_searches *searches);

/* Ends it first. NULL is fine. */
void gpume_searches_close(struct gpume_searches **searches);

#endif
