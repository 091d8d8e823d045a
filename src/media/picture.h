/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pictures: files of them, stills in memory, and PNG of 16 bits, which is read.
 *
 * gpume_picture writes luma planes, luma with chroma (videos only), or colours of 8 bits, as
 * numbered stills (.png .pgm .ppm .bmp .jpg, name with %d) or as a video (.y4m, .mkv and .nut =
 * FFV1, .mp4 = H.264; standard output, pipes and devices get Y4M unless their name says otherwise).
 * Lossless formats hold the exact sample values, unscaled in 16-bit formats; .y4m has no RGB, so
 * colours are stored as YUV 4:4:4. Outputs appear under their final names only when complete.
 */
#ifndef GPUME_MEDIA_PICTURE_H
#define GPUME_MEDIA_PICTURE_H

#include "files/out.h"
#include "media/video.h"

#include <stddef.h>

struct gpume_out;
struct gpume_picture;

struct gpume_picture_options {
    const char *path; /* kept, not copied */
    uint32_t width, height, bits;
    bool colour; /* planes hold R, G, B byte triples; bits is 8, their range is full */
    /* Planes are those of *video, gray or with GPUME_CHROMA_PLANES, with its fields and its meaning
     * of colours: gpume_picture_write_planes. */
    bool complete;
    const struct gpume_source_info *video; /* rate, shape of a pixel, range; only for opening */
    struct gpume_out_set *set; /* numbered stills are completed one by one, and never partial */
    struct gpume_log log;
};

/* Checks whether gpume_picture_open will accept the name; if not, logs why and returns
 * GPUME_INVALID. single: the run makes only one picture, so that a still needs no %d. bits 0: not
 * yet known. colour: as in the options. */
int gpume_picture_check_name(
    const char *path, bool single, uint32_t bits, bool colour, const struct gpume_log *log);

/* The same for a complete video (struct gpume_picture_options): .y4m, .mkv or .nut. */
int gpume_picture_check_video(const char *path, const struct gpume_log *log);

/* Whether the video can be resumed: .y4m can; an encoder's state would be lost. */
bool gpume_picture_can_continue(const char *path);

/* Whether it is a video that states no times of frames, as Y4M does. */
bool gpume_picture_is_timeless(const char *path);

/* Whether the output consists of stills, one file each. */
bool gpume_picture_is_series(const char *path);

int gpume_picture_open(struct gpume_picture **picture, const struct gpume_picture_options *options);

/* index: the number in the picture's name. time_us: presentation time, which increases. */
int gpume_picture_write(struct gpume_picture *picture, const struct gpume_plane *plane,
    uint64_t index, int64_t time_us);

/* The same for all planes of a complete video. */
int gpume_picture_write_planes(
    struct gpume_picture *picture, const struct gpume_plane *planes, int64_t time_us);

/* Completes the file. Numbered stills are complete already. */
int gpume_picture_finish(struct gpume_picture *picture);

/* Removes unfinished outputs. Sets *picture to NULL. */
void gpume_picture_close(struct gpume_picture **picture);

/* --- Y4M as others write it, too: a line of text, then a line and the rows of every frame */

/* Of options, path, set and log are not used. Luma of a depth that Y4M has no name for is announced
 * as 16 bits. comment: words for the end of the line, each with " X" before. */
int gpume_y4m_write_head(
    struct gpume_out *out, const struct gpume_picture_options *options, const char *comment);

/* The samples of a plane, unscaled; above 8 bits in two little-endian bytes. row: memory for 2 *
 * width bytes. */
int gpume_y4m_write_luma(struct gpume_out *out, const struct gpume_plane *plane, uint8_t *row);

/* --- 8-bit luma planes, or R, G, B byte triples, as picture files in memory; one encoder for all
 */

struct gpume_still;

/* colour: planes hold R, G, B byte triples. lossless: PNG, else JPEG of good quality. label: the
 * name of the output in messages; kept, not copied. */
int gpume_still_open(struct gpume_still **still, const char *label, uint32_t width, uint32_t height,
    bool colour, bool lossless, const struct gpume_log *log);

/* *data is valid until the next call. */
int gpume_still_encode(struct gpume_still *still, const struct gpume_plane *plane,
    const unsigned char **data, size_t *bytes);

/* Sets *still to NULL. NULL is fine. */
void gpume_still_close(struct gpume_still **still);

/* --- PNG files of three channels of 16 bits, such as flow fields, read sample for sample */

struct gpume_png16 {
    uint32_t width, height;
    uint16_t *samples; /* three per pixel, in raster order; to be freed */
};

/* Failures are logged: GPUME_IO (cannot be read), GPUME_INVALID (not such a file), GPUME_NOMEM. */
int gpume_png16_read(struct gpume_png16 *picture, const char *path, const struct gpume_log *log);

#endif
