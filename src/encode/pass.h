/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of an encoder's second pass at one picture size, for any number of bitrates: the
 * statistics, a text with a line for each frame, and the QP offsets of all blocks of all frames
 * that others refer to. Offsets are written as they come; of each frame a few dozen bytes stay in
 * memory. All files are read back and checked before they get their names. One thread at a
 * time.
 */
#ifndef GPUME_ENCODE_PASS_H
#define GPUME_ENCODE_PASS_H

#include "encode/decision.h"
#include "encode/options.h"

struct gpume_out_set;
struct gpume_pass;

/* The encoded video. */
struct gpume_pass_video {
    uint32_t width, height;
    uint32_t rate_num, rate_den; /* frames per second */
};

struct gpume_pass_params {
    const struct gpume_encode_options *options; /* settled; kept, not copied */
    struct gpume_pass_video video;
    uint32_t width, height; /* of the frames that were analysed */
    struct gpume_out_set *set;
    struct gpume_log log;
};

/* Nothing is written yet. */
int gpume_pass_open(struct gpume_pass **pass, const struct gpume_pass_params *params);

/* Adds a bitrate, in bits per second; before the first frame. path: of the statistics. The offsets'
 * is gpume_pass_tree_path(). Failures are logged. */
int gpume_pass_add_rate(struct gpume_pass *pass, const char *path, uint64_t bitrate);

/* The path of the statistics whose files are called so: ffmpeg's -passlogfile for x264. For free();
 * NULL without memory. */
char *gpume_pass_stats_path(enum gpume_encoder encoder, const char *name);

/* The path of the offsets that belong to statistics. For free(); NULL without memory. */
char *gpume_pass_tree_path(enum gpume_encoder encoder, const char *path);

/* The next frame in coded order. */
int gpume_pass_add_frame(struct gpume_pass *pass, const struct gpume_decision *decision);

/* Writes the statistics, then reads all files back. They get their names from gpume_out_set_name.
 * GPUME_INVALID: no frames. GPUME_FORMAT: a file does not hold what was written. */
int gpume_pass_finish(struct gpume_pass *pass);

void gpume_pass_close(struct gpume_pass **pass);

#endif
