/* SPDX-License-Identifier: BSD-2-Clause */
/* Values that say where in a video something is, or how long it lasts. */
#ifndef GPUME_CLI_OPTIONS_PLACE_H
#define GPUME_CLI_OPTIONS_PLACE_H

#include "options/option.h"

/* A frame's number or a time; of a length, the number of frames or the duration. */
struct gpume_place {
    bool is_time;
    uint64_t frame; /* if it is no time */
    int64_t us;     /* if it is one: microseconds */
};

extern const struct gpume_option_type gpume_type_place;    /* a struct gpume_place; limits */
extern const struct gpume_option_type gpume_type_duration; /* an int64_t: microseconds, above 0 */

#endif
