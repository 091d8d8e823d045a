/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Luma planes, or colours of 8 bits, as picture files: numbered stills (.png .pgm .ppm .bmp .jpg,
 * name with %d) or one video (.y4m, .mkv = FFV1, .mp4 = H.264). Lossless formats hold the samples'
 * exact values: above 8 bits unscaled in the 16-bit formats; .y4m knows no RGB, and holds colours
 * as YUV 4:4:4. Outputs appear under their final name only when complete.
 */
#ifndef GPUME_MEDIA_PICTURE_H
#define GPUME_MEDIA_PICTURE_H

#include "base/log.h"
#include "files/out_set.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_picture;

struct gpume_picture_options {
    const char *path;
    uint32_t width, height, bits;
    bool colour; /* planes hold triples of bytes R, G, B; bits is 8, full_range of no effect */
    uint32_t rate_num, rate_den; /* for formats that state one; 0 = unknown */
    bool full_range;
    struct gpume_out_set *set; /* stills are complete one by one, and never partial */
    struct gpume_log log;
};

/* Checks before any work that picture_open will accept the name, at any size. Otherwise logs one
 * line and returns GPUME_INVALID. single: the run makes only one picture, so that a still needs no
 * %d. bits 0: not yet known. colour: as in the options. */
int gpume_picture_check_name(
    const char *path, bool single, uint32_t bits, bool colour, const struct gpume_log *log);

/* Whether an output is in the way; for a pattern: any file that matches it. */
bool gpume_picture_exists(const char *path);

/* Whether the output can be resumed: stills and .y4m can; what an encoder holds would be lost. */
bool gpume_picture_can_continue(const char *path);

/* Whether the outputs are stills, each a file of its own. */
bool gpume_picture_is_series(const char *path);

/* Removes the temporaries that earlier runs have left, for every picture of a pattern. */
void gpume_picture_clear(const char *path);

int gpume_picture_open(struct gpume_picture **picture, const struct gpume_picture_options *options);

/* index: number of the picture in its name. time_us: presentation time; rising. */
int gpume_picture_write(struct gpume_picture *picture, const struct gpume_plane *plane,
    uint64_t index, int64_t time_us);

/* Completes the file. Stills are complete one by one. */
int gpume_picture_finish(struct gpume_picture *picture);

/* Removes unfinished outputs. Sets *picture to NULL. */
void gpume_picture_close(struct gpume_picture **picture);

#endif
