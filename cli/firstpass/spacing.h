/* SPDX-License-Identifier: BSD-2-Clause */
/* Are the frames of a video equally far apart, up to rounded time stamps? */
#ifndef GPUME_CLI_FIRSTPASS_SPACING_H
#define GPUME_CLI_FIRSTPASS_SPACING_H

#include <stdbool.h>
#include <stdint.h>

struct gpume_spacing {
    uint64_t num, den; /* frames per second */
    int64_t first_us;
    uint64_t count;      /* frames so far */
    int64_t early, late; /* the largest differences from the expected time, in microseconds */
};

void gpume_spacing_init(struct gpume_spacing *spacing, uint32_t rate_num, uint32_t rate_den);

/* Adds the time of the next frame. False: if the times so far were rounded to whole frames, some
 * might not be consecutive. */
bool gpume_spacing_add(struct gpume_spacing *spacing, int64_t time_us);

#endif
