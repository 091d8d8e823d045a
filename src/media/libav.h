/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libav's log and errors. Nothing that libav logs is printed; the first error line of a call, on
 * the calling thread, is kept as the reason that our own line gives.
 */
#ifndef GPUME_MEDIA_LIBAV_H
#define GPUME_MEDIA_LIBAV_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a decoder has logged as errors, on all of its threads: AVCodecContext.opaque points here. */
struct gpume_libav_faults {
    atomic_uint_fast64_t errors;
    atomic_uint_fast64_t starved; /* of these: logged by a thread whose last allocation failed */
};

/* Call this before a libav call whose reason or error the functions below are asked about. */
void gpume_libav_quiet(void);

/* Call this right after the libav call, with what it returned. libav returns AVERROR(ENOMEM) for a
 * size that only a damaged file can contain, too: where no allocation has failed (errno), the
 * result is AVERROR_INVALIDDATA instead. */
int gpume_libav_check_memory(int error);

/* The kept line, else the text of the AVERROR. Returns buffer. */
const char *gpume_libav_reason(int error, char *buffer, size_t bytes);

/* Whether a demultiplexer has found since then that its input stops in the middle of something. Its
 * call may return a plain end all the same. */
bool gpume_libav_cut(void);

/* How many pictures of any thread's were refused for AVCodecContext.max_pixels. */
uint64_t gpume_libav_oversized(void);

#endif
