/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a ZIP archive to an output: members one after the other, stored without compression, in
 * the ZIP64 form, so that neither a member nor the archive is limited to 4 GiB. Nothing is ever
 * rewritten: the length and the checksum of a member are known before its first byte.
 */
#ifndef GPUME_FILES_ZIP_H
#define GPUME_FILES_ZIP_H

#include "files/out.h"

#include <stddef.h>
#include <stdint.h>

#define GPUME_ZIP_MEMBERS_MAX 24u
#define GPUME_ZIP_NAME_BYTES 24u

/* The checksum of the bytes of `crc` followed by these bytes; 0 is that of no bytes. */
uint32_t gpume_crc32(uint32_t crc, const void *data, size_t bytes);

/* The checksum of the bytes of `first` followed by `bytes` bytes whose checksum is `second`. */
uint32_t gpume_crc32_join(uint32_t first, uint32_t second, uint64_t bytes);

struct gpume_zip_member {
    char name[GPUME_ZIP_NAME_BYTES];
    uint32_t crc;
    uint64_t bytes, at; /* at: the position in the archive */
};

/* Starts as zero but for the output. */
struct gpume_zip {
    struct gpume_out *out;
    uint64_t at; /* bytes written */
    struct gpume_zip_member members[GPUME_ZIP_MEMBERS_MAX];
    uint32_t count;
};

/* Begins a member; its bytes follow by gpume_zip_write, exactly as many as announced. */
int gpume_zip_begin(struct gpume_zip *zip, const char *name, uint32_t crc, uint64_t bytes);
int gpume_zip_write(struct gpume_zip *zip, const void *data, size_t bytes);

/* Ends the archive with the list of its members. */
int gpume_zip_finish(struct gpume_zip *zip);

#endif
