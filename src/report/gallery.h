/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The costliest blocks of a run, at most two per field, with small crops of the pictures around
 * them and their cost surfaces; and the cost surfaces of a block that was asked for. One thread.
 */
#ifndef GPUME_REPORT_GALLERY_H
#define GPUME_REPORT_GALLERY_H

#include "files/bytes.h"
#include "files/forms.h"
#include "sinks/sink.h"

#include <stddef.h>
#include <stdint.h>

#define GPUME_REPORT_GALLERY 24u   /* blocks */
#define GPUME_REPORT_GALLERY_OF 2u /* per field */

enum gpume_report_crop {
    GPUME_REPORT_CROP_TARGET,
    GPUME_REPORT_CROP_PREDICTED,
    GPUME_REPORT_CROP_RESIDUAL,
    GPUME_REPORT_CROPS,
};

struct gpume_report_block {
    uint64_t frame, ref;
    uint32_t x, y, width, height; /* pixels of the video */
    struct gpume_vector vector;
    uint32_t units; /* of the vector in a pixel */
    uint32_t cost, rank;
    uint32_t left, top;         /* of the crops in the video */
    unsigned char *crops;       /* GPUME_REPORT_CROPS of columns * rows samples; may be NULL */
    struct gpume_bytes surface; /* of each cell 1 + its least cost, or 0 without a candidate */
};

struct gpume_report_gallery {
    uint32_t width, height, bits; /* of the video */
    /* Zero until the first field shows the shape of the blocks. */
    uint32_t crop_width, crop_height; /* pixels of the video */
    uint32_t scale;                   /* pixels of the video, across and down, per sample */
    uint32_t columns, rows;           /* samples of a crop */
    bool with_crops;
    /* Cost surfaces, for which a cell is the least cost of step x step displacements; step 0: there
     * are none. */
    struct gpume_params params;
    uint32_t step, cells_x, cells_y;
    uint32_t *costs; /* of every displacement */
    /* Of the block that --surface names: of each field its frame, the block's x and y, and the
     * cells. */
    bool with_asked;
    uint32_t asked_x, asked_y; /* a pixel of the block */
    struct gpume_bytes asked;
    size_t count;
    struct gpume_report_block blocks[GPUME_REPORT_GALLERY]; /* by decreasing cost */
};

void gpume_report_gallery_init(
    struct gpume_report_gallery *gallery, const struct gpume_run *run, bool with_crops);

/* GPUME_NOMEM is not logged. */
int gpume_report_gallery_add(struct gpume_report_gallery *gallery, const struct gpume_field *field);

/* Writes the list of blocks; crops are 8-bit samples, and surfaces numbers, in base 64. */
void gpume_report_gallery_put(const struct gpume_report_gallery *gallery, struct gpume_json *json);

/* Writes the form of cost surfaces, and those of the block that was asked for. */
void gpume_report_gallery_put_surfaces(
    const struct gpume_report_gallery *gallery, struct gpume_json *json);

/* What all surfaces take in the page. */
uint64_t gpume_report_gallery_surface_bytes(const struct gpume_report_gallery *gallery);

void gpume_report_gallery_finish(struct gpume_report_gallery *gallery);

#endif
