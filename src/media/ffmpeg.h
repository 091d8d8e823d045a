/* SPDX-License-Identifier: BSD-2-Clause */
/* FFmpeg's own searches and encoders, run to compare them with what gpume does, and its scaler, to
 * learn what it loses. One thread each. */
#ifndef GPUME_MEDIA_FFMPEG_H
#define GPUME_MEDIA_FFMPEG_H

#include "base/log.h"
#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdint.h>

/* --- searches: the filter mestimate. Its exhaustive one, method=esa, has the tie rule of gpume.h,
 * and searches the candidates of GPUME_EDGE_INSIDE in a picture whose sides are multiples of the
 * block.
 */

/* NULL if the filter supports these parameters (bits, block, windows, width, height), else why
 * not. */
const char *gpume_mestimate_obstacle(const struct gpume_params *params);

/* Searches the second of three frames in the first and in the third; all are cropped at the right
 * and bottom to multiples of the block. Writes the blocks' vectors in raster order, all into the
 * past and then all into the future, and adds the time of both searches to *ns. Failures are
 * logged. */
int gpume_mestimate_search(const struct gpume_params *params, const struct gpume_plane frames[3],
    struct gpume_vector *vectors, uint64_t *ns);

struct gpume_mestimate;

/* method: as the filter names it. params: gpume_mestimate_obstacle is NULL; kept. */
int gpume_mestimate_open(
    struct gpume_mestimate **filter, const struct gpume_params *params, const char *method);

/* Takes the next frame. From the third one on writes the vectors of the frame before, as above, and
 * adds the time of both searches to *ns. Failures are logged. */
int gpume_mestimate_next(struct gpume_mestimate *filter, const struct gpume_plane *frame,
    struct gpume_vector *vectors, uint64_t *ns);

/* Sets *filter to NULL. NULL is fine. */
void gpume_mestimate_close(struct gpume_mestimate **filter);

/* --- a trial of an encoder: luma of 8 bits goes through it and through a decoder, to learn the
 * bytes, the error and the time */

struct gpume_trial;

struct gpume_trial_options {
    const char *label;    /* for messages; kept, as are the other strings */
    const char *encoder;  /* libavcodec's name */
    const char *settings; /* "key=value:key=value" */
    bool decode;          /* measure the error */
    uint32_t width, height, rate_num, rate_den;
    struct gpume_log log;
};

struct gpume_trial_result {
    uint64_t frames, bytes;
    uint64_t sse; /* of the frames that were decoded */
    uint64_t ns;  /* spent in the encoder; not in the decoder, nor on what hands the frames over */
};

/* Whether this FFmpeg has the encoder. */
bool gpume_trial_has(const char *encoder);

int gpume_trial_open(struct gpume_trial **trial, const struct gpume_trial_options *options);

int gpume_trial_put(struct gpume_trial *trial, const struct gpume_plane *plane);

/* GPUME_FORMAT: the decoder returns other frames than the encoder got. */
int gpume_trial_finish(struct gpume_trial *trial, struct gpume_trial_result *result);

void gpume_trial_close(struct gpume_trial **trial);

/* --- what luma loses when it is scaled down and up again by the default scaler, as by the filter
 * scale=W:H:flags=bicubic */

struct gpume_rescale;

/* bits: of a sample. to_...: the size between. GPUME_NOMEM; GPUME_UNSUPPORTED: swscale does not
 * scale to that size. Either was logged. */
int gpume_rescale_open(struct gpume_rescale **rescale, uint32_t width, uint32_t height,
    uint32_t bits, uint32_t to_width, uint32_t to_height, const struct gpume_log *log);

/* The sum of squared errors, of samples of 8 bits, in 1/65536. */
uint64_t gpume_rescale_error(struct gpume_rescale *rescale, const struct gpume_plane *luma);

/* NULL is fine. */
void gpume_rescale_close(struct gpume_rescale **rescale);

#endif
