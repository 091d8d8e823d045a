/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pictures and vectors of one field, small enough for a page: taken from the field as raw
 * samples of reduced size (a draft), then encoded (a set). One thread.
 */
#ifndef GPUME_REPORT_SET_H
#define GPUME_REPORT_SET_H

#include "files/bytes.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of gpume_report_picture_names. */
enum gpume_report_picture {
    GPUME_REPORT_REFERENCE,
    GPUME_REPORT_TARGET,
    GPUME_REPORT_PREDICTED,
    GPUME_REPORT_DIFFERENCE,
    GPUME_REPORT_RESIDUAL,
    GPUME_REPORT_PICTURES,
};
extern const char *const gpume_report_picture_names[GPUME_REPORT_PICTURES];

/* Difference and residual are brightened by this gamma. */
#define GPUME_REPORT_GAMMA 1.5

/* More blocks than this have no vectors in the page: 4096 x 2160 by 4 x 4 has half a million. */
#define GPUME_REPORT_BLOCKS_MAX ((uint64_t)600000)

struct gpume_report_camera; /* what making sets needs */

struct gpume_report_draft {
    bool full;
    uint64_t frame;
    bool cut;
    uint64_t sse_after;
    unsigned char *samples[GPUME_REPORT_PICTURES];
    struct gpume_bytes vectors;
};

/* vectors: every block's candidate, numbered by rows from (-window_x, -window_y), in the least
 * whole bytes that hold all, the lowest first; then every block's cost by gpume_bytes_number. Empty
 * where there are too many blocks. */
struct gpume_report_set {
    bool full;
    uint64_t frame;
    bool cut;
    uint64_t sse_after;
    struct gpume_bytes pictures[GPUME_REPORT_PICTURES];
    struct gpume_bytes vectors;
};

/* Strings and log target of *run, and label, outlive the camera. Failures are logged. */
int gpume_report_camera_open(
    struct gpume_report_camera **camera, const char *label, const struct gpume_run *run);
void gpume_report_camera_close(struct gpume_report_camera **camera);

/* Pixels of a picture's side for one of the page's, and the page's sizes. */
uint32_t gpume_report_camera_scale(const struct gpume_report_camera *camera);
bool gpume_report_camera_lossless(const struct gpume_report_camera *camera);

/* Fills a draft that was zero or used before. */
int gpume_report_draft_take(struct gpume_report_draft *draft, struct gpume_report_camera *camera,
    const struct gpume_field *field, bool cut);
void gpume_report_draft_finish(struct gpume_report_draft *draft);

/* Replaces what the set held; the draft is full no longer. */
int gpume_report_set_make(struct gpume_report_set *set, struct gpume_report_camera *camera,
    struct gpume_report_draft *draft);
void gpume_report_set_finish(struct gpume_report_set *set);

/* Bytes that it takes in the page. */
uint64_t gpume_report_set_bytes(const struct gpume_report_set *set);

#endif
