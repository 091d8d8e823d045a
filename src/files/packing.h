/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUME_FILES_PACKING_H
#define GPUME_FILES_PACKING_H

/* How a file is compressed. */
enum gpume_packing { GPUME_PACKING_NONE, GPUME_PACKING_GZIP, GPUME_PACKING_ZSTD };

#endif
