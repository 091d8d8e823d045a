/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks at all packets of a video in their order, and says where a second decoder may begin.
 * As in media/seek, that is certain only if every packet shows one frame, their times, the numbers
 * in their headers and the decoder's delay agree, and headers never change.
 */
#ifndef GPUME_MEDIA_SEGMENTS_SCAN_H
#define GPUME_MEDIA_SEGMENTS_SCAN_H

#include <stdbool.h>
#include <stdint.h>

struct AVCodecParameters;
struct AVPacket;
struct gpume_scan;

/* *scan NULL: no decoder can begin within video of this codec. GPUME_NOMEM. */
int gpume_scan_open(struct gpume_scan **scan, const struct AVCodecParameters *codec);

/* Takes a packet. Returns whether a decoder that begins with it gives the frames shown from its
 * time on. */
bool gpume_scan_take(struct gpume_scan *scan, const struct AVPacket *packet);

uint64_t gpume_scan_taken(const struct gpume_scan *scan); /* packets */

/* Whether that can be said of all packets taken so far; if not, it can be said of none after. */
bool gpume_scan_is_certain(const struct gpume_scan *scan);

/* Why it is not certain, for a message. */
const char *gpume_scan_doubt(const struct gpume_scan *scan);

/* Sets *scan to NULL; NULL is fine. */
void gpume_scan_close(struct gpume_scan **scan);

#endif
