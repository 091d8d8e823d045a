/* SPDX-License-Identifier: BSD-2-Clause */
/* Are the frames of a video equally far apart, up to rounded time stamps, and if not, at which rate
 * are most of them? */
#ifndef GPUME_CLI_FIRSTPASS_SPACING_H
#define GPUME_CLI_FIRSTPASS_SPACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_spacing {
    uint64_t num, den; /* frames per second */
    int64_t first_us, last_us;
    uint64_t count;      /* frames so far */
    int64_t early, late; /* the largest differences from the expected time, in microseconds */
};

void gpume_spacing_init(struct gpume_spacing *spacing, uint32_t rate_num, uint32_t rate_den);

/* Adds the time of the next frame. False: if the times so far were rounded to whole frames, some
 * might not be consecutive. */
bool gpume_spacing_add(struct gpume_spacing *spacing, int64_t time_us);

/* Whether a frame so far is so far behind its place, counted from the first one. */
bool gpume_spacing_is_late(const struct gpume_spacing *spacing);

/* Distances of frames, in the order in which they come; the first of a long video */
struct gpume_distances {
    int64_t *us;
    size_t count, room;
};

/* Adds one; what is not above 0 is left out. False: out of memory. */
bool gpume_distances_add(struct gpume_distances *distances, int64_t us);

/* The rate for a filter that makes them equal: that of the distance which three quarters of them
 * have, or of the least one, if its rate is usual and all others are whole multiples of it, or else
 * of their mean. A distance of less than 1/120 s must also fill half of the time:
 * frames that come in bursts are close together, but few per second. It is a usual rate, such as
 * 24000/1001, if one is within half a percent, or else a fraction of small numbers. *num / *den:
 * the container's rate, which is replaced. Sorts the distances. False: there are none. */
bool gpume_distances_rate(struct gpume_distances *distances, uint32_t *num, uint32_t *den);

void gpume_distances_finish(struct gpume_distances *distances);

#endif
