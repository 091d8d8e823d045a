/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file without a name, for what is known to be whole, and can be mended at its front, only before
 * it goes down a pipe. One thread.
 */
#ifndef GPUME_FILES_SPOOL_H
#define GPUME_FILES_SPOOL_H

#include "files/out.h"

struct gpume_spool;

/* In the system's folder for temporary files. GPUME_IO, logged. */
int gpume_spool_open(struct gpume_spool **spool, const struct gpume_log *log);

/* An empty output onto it, which can seek; to be finished before the pour. */
int gpume_spool_begin(struct gpume_spool *spool, struct gpume_out **out);

/* All that was written, behind what `to` has. */
int gpume_spool_pour(struct gpume_spool *spool, struct gpume_out *to);

/* Sets *spool to NULL. NULL is fine. */
void gpume_spool_close(struct gpume_spool **spool);

#endif
