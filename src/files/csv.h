/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes cells of CSV tables, each followed by a comma. */
#ifndef GPUME_FILES_CSV_H
#define GPUME_FILES_CSV_H

#include "files/out.h"

/* Writes the text unchanged, without a comma. */
void gpume_csv_put(struct gpume_out *out, const char *text);

/* Quoted if necessary. */
void gpume_csv_text(struct gpume_out *out, const char *text);

/* Empty unless the value is positive. */
void gpume_csv_real(struct gpume_out *out, double value, int decimals);

#endif
