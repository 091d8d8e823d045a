/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The analysis of a first pass: frames in display order go in, decisions in coded order come out:
 * frame types, and QP offsets by the macroblock tree, which propagates quality along vectors, and
 * by adaptive quantization, according to the encoder's options. One thread calls. Where the
 * lookahead works ahead, another thread calls params.decide, until the analysis is finished or
 * closed.
 */
#ifndef GPUME_ENCODE_ANALYSIS_H
#define GPUME_ENCODE_ANALYSIS_H

#include "encode/decision.h"
#include "encode/lookahead.h"
#include "encode/options.h"

struct gpume_analysis;

struct gpume_analysis_params {
    /* distance_max, frames_max, weights, shares and energies are set from the options. */
    struct gpume_lookahead_params lookahead;
    struct gpume_encode_options options;
    bool losses;                 /* decisions have them */
    bool xpsnr;                  /* and by XPSNR's weights, too */
    uint32_t rate_num, rate_den; /* frames per second, on which these depend */
    gpume_decision_fn decide;
    void *opaque;
};

/* Here and below, failures are a negative gpume_status: that of params.decide, or else one line has
 * been logged. After a failure, only closing is allowed. */
int gpume_analysis_open(
    struct gpume_analysis **analysis, const struct gpume_analysis_params *params);

/* What the engine is, for messages. Valid until the analysis is closed. */
const char *gpume_analysis_engine(const struct gpume_analysis *analysis);

/* The next frame in display order; with lookahead.lent its samples are needed until that many more
 * are put, or the analysis is finished or closed. Calls params.decide for what has been decided by
 * now. */
int gpume_analysis_put(struct gpume_analysis *analysis, const struct gpume_plane *luma);

/* No more frames: decides all that are left. */
int gpume_analysis_finish(struct gpume_analysis *analysis);

/* Decides nothing more. NULL is fine. */
void gpume_analysis_close(struct gpume_analysis **analysis);

#endif
