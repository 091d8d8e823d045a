/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CRF of each scene, for programs that encode scenes as chunks with the encoder's own --crf:
 * the frames in which changes are found go into the analysis of a first pass as well, of which no
 * files are written. Main thread only, except for the decisions (encode/analysis.h).
 */
#ifndef GPUME_CLI_SCENES_CHUNKS_H
#define GPUME_CLI_SCENES_CHUNKS_H

#include "encode/chunk_encoders.h"
#include "encoder_options.h"
#include "job.h"

struct gpume_line;

struct gpume_chunk_options {
    int encoder;               /* in gpume_chunk_encoders; -1: not given */
    const char *preset, *tune; /* NULL: not given */
    struct gpume_encode_target target;
    uint32_t targets;                   /* that were given */
    struct gpume_encode_options encode; /* by gpume_chunk_options_check, not settled */
};

/* Without an encoder there are no chunks. */
void gpume_chunk_options_default(struct gpume_chunk_options *options);

/* GPUME_INVALID after one line. */
int gpume_chunk_options_check(struct gpume_chunk_options *options);

/* The types of the field `encoder`, and of the options that say what is asked: of a whole struct
 * gpume_chunk_options. */
extern const struct gpume_option_type gpume_type_chunk_encoder;
extern const struct gpume_option_type gpume_type_chunk_goal;

struct gpume_chunks;

/* With an open video. Here and below, failures have been logged. */
enum gpume_exit gpume_chunks_open(struct gpume_chunks **chunks,
    const struct gpume_chunk_options *options, const struct gpume_cli_job *job);

/* The next frame, as for gpume_job_take_fn. */
int gpume_chunks_put(struct gpume_chunks *chunks, const struct gpume_plane *luma, int64_t time_us);

/* After the last frame. starts: the first frames of scenes. */
enum gpume_exit gpume_chunks_finish(
    struct gpume_chunks *chunks, const uint64_t *starts, size_t count);

/* The encoder, and a parameter of a scene, as it reads it, perhaps in `text`. NULL: there are not
 * that many. */
#define GPUME_CHUNK_PARAM_BYTES 64
const struct gpume_chunk_encoder *gpume_chunks_encoder(const struct gpume_chunks *chunks);
const char *gpume_chunks_param(const struct gpume_chunks *chunks, size_t scene, size_t index,
    char text[GPUME_CHUNK_PARAM_BYTES]);

/* A line of the closing summary. */
void gpume_chunks_print(const struct gpume_chunks *chunks, FILE *stream);

/* NULL is fine. */
void gpume_chunks_close(struct gpume_chunks **chunks);

#endif
