/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads Y4M pictures that are too large for FFmpeg, up to 2^29 pixels (such as 23170x23170), from
 * regular files, also as standard input; without filters and scaling. Two paths are two stills of
 * the same size and depth. The functions of source.h call these.
 */
#ifndef GPUME_MEDIA_SOURCE_Y4M_H
#define GPUME_MEDIA_SOURCE_Y4M_H

#include "media/source.h"
#include "media/y4m_header.h"

#include <stdatomic.h>

struct gpume_source_y4m;

/* Is one of the paths a Y4M file that is too large for FFmpeg? Moves no file's position and opens
 * only regular files. */
bool gpume_source_y4m_wants(const struct gpume_source_options *options);

/* Accepts small sizes, too. The paths are kept, not copied; *cancel outlives the source. Failures
 * other than GPUME_NOMEM are logged: GPUME_IO, GPUME_FORMAT, GPUME_INVALID (stream),
 * GPUME_UNSUPPORTED (a filter, too many pixels, two stills that differ). */
int gpume_source_y4m_open(struct gpume_source_y4m **source,
    const struct gpume_source_options *options, const atomic_bool *cancel,
    struct gpume_source_info *info);

/* In a truncated file, GPUME_EOF with one warning and one refused frame. */
int gpume_source_y4m_read(
    struct gpume_source_y4m *source, const struct gpume_plane *plane, int64_t *time_us);

/* The position in its file of the frame that was read last. */
int64_t gpume_source_y4m_place(const struct gpume_source_y4m *source);

/* Reads that frame again, all planes as in the file: gpume_y4m_frame_bytes. Any thread, also while
 * another one reads further frames. GPUME_IO is logged. */
int gpume_source_y4m_load(
    struct gpume_source_y4m *source, uint64_t index, int64_t place, void *bytes);

const struct gpume_y4m_header *gpume_source_y4m_header(
    const struct gpume_source_y4m *source, uint64_t index);

void gpume_source_y4m_get_counts(
    const struct gpume_source_y4m *source, struct gpume_source_counts *counts);

void gpume_source_y4m_close(struct gpume_source_y4m **source);

#endif
