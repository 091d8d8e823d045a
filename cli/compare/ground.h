/* SPDX-License-Identifier: BSD-2-Clause */
/* The video that both runs searched, whose frames lie below a map. Main thread only. */
#ifndef GPUME_CLI_COMPARE_GROUND_H
#define GPUME_CLI_COMPARE_GROUND_H

#include "exit.h"
#include "source_options.h"

struct gpume_ground; /* NULL: there is none */

/* width, height: pixels that blocks cover, which the video must have; then those of the video,
 * which the map takes, since blocks may leave edges out. Logs one line on failure. */
enum gpume_exit gpume_ground_open(struct gpume_ground **ground,
    const struct gpume_common_options *common, const struct gpume_source_choice *choice,
    const char *path, uint32_t *width, uint32_t *height);

/* A frame as R, G, B bytes, valid until the next call; numbers rise. Logs one line on failure. */
enum gpume_exit gpume_ground_take(
    struct gpume_ground *ground, uint64_t frame, struct gpume_plane *rgb);

/* Sets *ground to NULL. */
void gpume_ground_close(struct gpume_ground **ground);

#endif
