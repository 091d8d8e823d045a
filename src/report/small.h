/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small pictures of a page: reduced by a whole factor, each sample is the mean of a square. One
 * thread.
 */
#ifndef GPUME_REPORT_SMALL_H
#define GPUME_REPORT_SMALL_H

#include "base/log.h"
#include "files/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* Of pictures in colour: at most so many pixels across or down; PNG with at most so many pixels. */
#define GPUME_REPORT_COLOUR_SIDE 720u
#define GPUME_REPORT_COLOUR_LOSSLESS (UINT64_C(1) << 12)

struct gpume_report_size {
    uint32_t scale, width, height; /* scale: pixels of the video, across and down, in a sample */
    bool lossless;                 /* PNG rather than JPEG */
};

/* side_max: of the longer side. lossless_max: pixels of a lossless picture. */
struct gpume_report_size gpume_report_size_of(
    uint32_t width, uint32_t height, uint32_t side_max, uint64_t lossless_max);

/* rgb: triples of bytes. sums: room for three per column of it. to: triples of the reduced size. */
void gpume_report_reduce_colours(const struct gpume_report_size *size,
    const struct gpume_plane *rgb, uint32_t *sums, unsigned char *to);

/* Reduces and encodes the frames of a video in colour. */
struct gpume_report_small;

/* label: in messages; kept, not copied. Failures of all functions are logged. */
int gpume_report_small_open(struct gpume_report_small **small, const char *label, uint32_t width,
    uint32_t height, const struct gpume_log *log);

/* Appends a picture file. */
int gpume_report_small_encode(
    struct gpume_report_small *small, const struct gpume_plane *rgb, struct gpume_bytes *bytes);

struct gpume_report_size gpume_report_small_size(const struct gpume_report_small *small);

/* Sets *small to NULL. NULL is fine. */
void gpume_report_small_close(struct gpume_report_small **small);

#endif
