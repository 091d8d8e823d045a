/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of the parameters that say what is searched: depth, window, shapes, fractions, metric,
 * rate, references, candidates. Each function checks one group and says which value is out of
 * range, or which two parameters exclude each other. Pure arithmetic.
 */
#ifndef GPUME_MODEL_OPTIONS_H
#define GPUME_MODEL_OPTIONS_H

#include "base/log.h"
#include "gpume/gpume.h"

/* Puts the defaults where 0 stands for them. */
void gpume_options_complete(struct gpume_params *params);

/* Of complete parameters. GPUME_INVALID, logged. */
int gpume_options_check(const struct gpume_params *params, const struct gpume_log *log);

#endif
