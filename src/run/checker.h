/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * params.check: every task is searched a second time by the plain CPU search, on the same frames,
 * and the results are compared. In the lane's thread, one task at a time.
 */
#ifndef GPUME_RUN_CHECKER_H
#define GPUME_RUN_CHECKER_H

#include "frame/engine.h"

struct gpume_checker;

int gpume_checker_open(
    struct gpume_checker **checker, const struct gpume_params *params, const struct gpume_log *log);

/* Takes every submission in order, as the engine has completed it, and sets `checked` and `matched`
 * of its fields: a block matches if its vector and cost are those of the plain search. */
int gpume_checker_batch(struct gpume_checker *checker, const struct gpume_submission *batch);

/* Makes a check under way return GPUME_CANCELLED soon. From any thread. */
void gpume_checker_cancel(struct gpume_checker *checker);

/* NULL is fine. Sets *checker to NULL. */
void gpume_checker_close(struct gpume_checker **checker);

#endif
