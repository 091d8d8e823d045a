/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps of the differences between two runs, one picture or video frame per field, alone or over the
 * frames that were searched. Equal blocks are gray; blocks are orange if A has the lower cost, blue
 * if B has it, and green if different vectors have the same cost. The larger the distance of the
 * vectors, the lighter the colour. One thread per map.
 */
#ifndef GPUME_COMPARE_MAP_H
#define GPUME_COMPARE_MAP_H

#include "base/log.h"
#include "draw/overlay.h"
#include "vectors/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_compare_map;

/* Before any work: GPUME_INVALID, logged, if the name is unsuitable. */
int gpume_compare_map_check(const char *path, const struct gpume_log *log);

/* Does the name stand for numbered pictures? */
bool gpume_compare_map_is_series(const char *path);

struct gpume_compare_map_options {
    const char *path; /* outlives the map */
    bool overwrite;
    uint32_t width, height;      /* of all pictures, pixels; 0: as the first field's */
    uint32_t rate_num, rate_den; /* frames per second; 0: 25 */
    enum gpume_overlay_key key;  /* in words */
    struct gpume_log log;
};

/* The file is opened with the first field. Errors are logged; GPUME_INVALID: the picture is too
 * large. */
int gpume_compare_map_create(
    struct gpume_compare_map **map, const struct gpume_compare_map_options *options);

/* Draws two fields of the same frame with the same grid; frame numbers rise. rgb: the frame, of
 * the picture's size, which is shown in gray below the blocks that differ; NULL: none. time_us: the
 * picture's presentation time; NULL: one frame after the last. Errors are logged; GPUME_INVALID:
 * blocks outside the picture, or it is too large; GPUME_AGAIN: another run is writing the file. */
int gpume_compare_map_draw(struct gpume_compare_map *map, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_plane *rgb, const int64_t *time_us);

/* Completes the file. */
int gpume_compare_map_finish(struct gpume_compare_map *map);

/* Removes an unfinished file. Sets *map to NULL. NULL is fine. */
void gpume_compare_map_destroy(struct gpume_compare_map **map);

#endif
