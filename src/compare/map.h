/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where two runs differ, a picture or a video frame a field: blocks that agree are gray; orange
 * where A is cheaper, blue where B is, green where vectors differ at the same cost; the lighter the
 * further the vectors are apart. One thread a map.
 */
#ifndef GPUME_COMPARE_MAP_H
#define GPUME_COMPARE_MAP_H

#include "base/log.h"
#include "vectors/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_compare_map;

/* Before any work: would draw take this name, and does something stand under it? Logs one line and
 * returns GPUME_INVALID if so. */
int gpume_compare_map_check(const char *path, bool overwrite, const struct gpume_log *log);

struct gpume_compare_map_options {
    const char *path; /* outlives the map */
    bool overwrite;
    uint32_t width, height; /* of all pictures, pixels; 0: not known, those of the first field */
    /* Of formats that state one, and of fields without a time; 0: not known, 25 a second. */
    uint32_t rate_num, rate_den;
    struct gpume_log log;
};

/* Nothing is opened before the first field. Failures are logged; GPUME_INVALID: a size that cannot
 * be. */
int gpume_compare_map_create(
    struct gpume_compare_map **map, const struct gpume_compare_map_options *options);

/* Both are of the same frame and on the same grid; frames rise. time_us: when it is shown; NULL: as
 * long after the last one as the rate says. Failures are logged; GPUME_INVALID: blocks outside the
 * picture, or one that is too large; GPUME_AGAIN: another run is writing the file. */
int gpume_compare_map_draw(struct gpume_compare_map *map, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const int64_t *time_us);

/* Completes the file. */
int gpume_compare_map_finish(struct gpume_compare_map *map);

/* Removes what is unfinished. Sets *map to NULL. NULL is fine. */
void gpume_compare_map_destroy(struct gpume_compare_map **map);

#endif
