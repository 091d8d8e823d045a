/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells of a table for programs, each with the comma behind it. */
#ifndef GPUME_FILES_CSV_H
#define GPUME_FILES_CSV_H

#include "files/out.h"

/* As it is. */
void gpume_csv_put(struct gpume_out *out, const char *text);

/* Quoted where it has to be. */
void gpume_csv_text(struct gpume_out *out, const char *text);

/* Empty unless it is above 0. */
void gpume_csv_real(struct gpume_out *out, double value, int decimals);

#endif
