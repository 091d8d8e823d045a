/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compresses texts, each to a gzip member or a zstd frame of its own. A file of such members, one
 * after the other, is a file that gzip or zstd reads; it can be continued or joined at the end of
 * any member, and its bytes depend on no thread. They hold neither a time nor a name.
 */
#ifndef GPUME_FILES_PACK_H
#define GPUME_FILES_PACK_H

#include "files/out.h"
#include "files/packing.h"

#include <stddef.h>
#include <stdint.h>

struct gpume_packer;

/* bytes_max: of a text. threads: as many pack at once without waiting. GPUME_NOMEM is not logged.
 */
int gpume_packer_create(
    struct gpume_packer **packer, enum gpume_packing packing, size_t bytes_max, uint32_t threads);

/* Most bytes of a member. */
size_t gpume_packer_bound(const struct gpume_packer *packer);

/* Threads for gpume_out_add that compress, on a machine with this number of processors (0: this
 * machine), beside a decoder and an engine. NULL: none. */
struct gpume_makers *gpume_packer_makers(uint32_t processors);

/* gpume_packer_make is a gpume_make_fn, whose opaque is this struct: it packs what another one
 * makes. */
struct gpume_packed {
    struct gpume_packer *packer;
    gpume_make_fn make;
    void *opaque;
};

size_t gpume_packer_make(void *packed, uint32_t item, char *at);

/* Has a text not been packed, for want of memory? */
bool gpume_packer_failed(const struct gpume_packer *packer);

/* Sets *packer to NULL. NULL is fine. */
void gpume_packer_destroy(struct gpume_packer **packer);

#endif
