/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --check: a second, independent computation of every field by the CPU reference, on the same
 * frames, one frame at a time, in the pipeline's thread.
 */
#ifndef GPUME_MOTION_CHECKER_H
#define GPUME_MOTION_CHECKER_H

#include "motion/engine.h"

struct gpume_checker;

int gpume_checker_open(
    struct gpume_checker **checker, const struct gpume_params *params, const struct gpume_log *log);

/* Takes every frame in order. field: the engine's result for it, or NULL if it gave none; its
 * checked and matched are set: a block matches if its vector and cost are the reference's. */
int gpume_checker_frame(
    struct gpume_checker *checker, struct gpume_frame *frame, struct gpume_field *field);

/* Makes a check under way return GPUME_CANCELLED soon. From any thread. */
void gpume_checker_cancel(struct gpume_checker *checker);

/* NULL is fine. Sets *checker to NULL. */
void gpume_checker_close(struct gpume_checker **checker);

#endif
