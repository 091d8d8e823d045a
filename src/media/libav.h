/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libav's log and errors. Nothing that libav logs is printed. The first error line that a call logs
 * on the calling thread is kept, as the reason in our own message.
 */
#ifndef GPUME_MEDIA_LIBAV_H
#define GPUME_MEDIA_LIBAV_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Counts the errors that a decoder logs on all of its threads; AVCodecContext.opaque points here.
 */
struct gpume_libav_faults {
    atomic_uint_fast64_t errors;
    atomic_uint_fast64_t starved; /* those logged by a thread whose last allocation failed */
};

/* Call this before a libav call about which the functions below are then called. */
void gpume_libav_quiet(void);

/* Call this right after the libav call, with its result. libav also returns AVERROR(ENOMEM) for
 * absurd sizes in damaged files: if no allocation has failed (errno), this function returns
 * AVERROR_INVALIDDATA instead. */
int gpume_libav_check_memory(int error);

/* The kept line, or else the text of the AVERROR; valid until the thread's next call of a function
 * of this header. */
const char *gpume_libav_reason(int error);

/* Whether an error has been logged on the calling thread since gpume_libav_quiet. */
bool gpume_libav_complained(void);

/* Whether a demultiplexer has logged since then that its input is truncated. The call itself may
 * still have returned a normal end. */
bool gpume_libav_cut(void);

/* Number of pictures, on all threads, that were refused because of AVCodecContext.max_pixels. */
uint64_t gpume_libav_oversized(void);

#endif
