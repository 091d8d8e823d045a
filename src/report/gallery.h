/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The costliest blocks of a run, two of a field at most, with a small piece of the pictures about
 * each. One thread.
 */
#ifndef GPUME_REPORT_GALLERY_H
#define GPUME_REPORT_GALLERY_H

#include "files/json.h"
#include "sinks/sink.h"

#include <stddef.h>
#include <stdint.h>

#define GPUME_REPORT_GALLERY 24u   /* blocks */
#define GPUME_REPORT_GALLERY_OF 2u /* of a field */

enum gpume_report_crop {
    GPUME_REPORT_CROP_TARGET,
    GPUME_REPORT_CROP_PREDICTED,
    GPUME_REPORT_CROP_RESIDUAL,
    GPUME_REPORT_CROPS,
};

struct gpume_report_block {
    uint64_t frame, ref;
    uint32_t x, y, width, height; /* in the picture, pixels */
    struct gpume_vector vector;
    uint32_t cost, rank;
    uint32_t left, top;   /* of the piece in the picture */
    unsigned char *crops; /* GPUME_REPORT_CROPS of them, each of the gallery's size */
};

struct gpume_report_gallery {
    uint32_t block;         /* pixels */
    uint32_t width, height; /* of the picture */
    uint32_t bits;
    uint32_t crop_width, crop_height; /* of a piece, pixels */
    uint32_t scale;                   /* pixels of the picture for one of the page's, either way */
    uint32_t columns, rows;           /* of the page's */
    bool with_crops;
    size_t count;
    struct gpume_report_block blocks[GPUME_REPORT_GALLERY]; /* by falling cost */
};

void gpume_report_gallery_init(
    struct gpume_report_gallery *gallery, const struct gpume_run *run, bool with_crops);

/* GPUME_NOMEM is not logged. */
int gpume_report_gallery_add(struct gpume_report_gallery *gallery, const struct gpume_field *field);

/* The list of blocks; crops as base 64 of 8-bit samples. */
void gpume_report_gallery_put(
    const struct gpume_report_gallery *gallery, struct gpume_json *json, const char *key);

void gpume_report_gallery_finish(struct gpume_report_gallery *gallery);

#endif
