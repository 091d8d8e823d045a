/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An unnamed temporary file that holds an output until it is complete, for formats whose head is
 * written last, when the output itself cannot seek. One thread.
 */
#ifndef GPUME_FILES_SPOOL_H
#define GPUME_FILES_SPOOL_H

#include "files/out.h"

struct gpume_spool;

/* In the system's folder for temporary files. GPUME_IO, logged. */
int gpume_spool_open(struct gpume_spool **spool, const struct gpume_log *log);

/* Opens an output that writes to it from the beginning and can seek. Finish it before the pour. */
int gpume_spool_begin(struct gpume_spool *spool, struct gpume_out **out);

/* Appends all of its bytes to `to`. */
int gpume_spool_pour(struct gpume_spool *spool, struct gpume_out *to);

/* Sets *spool to NULL. NULL is fine. */
void gpume_spool_close(struct gpume_spool **spool);

#endif
