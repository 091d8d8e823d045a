/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of any number of second passes of an encoder, each with a picture size and a bitrate or
 * quality: the statistics, a text with a line for each frame, the QP offsets of all blocks of all
 * frames that others refer to, and, for a quality, the QPs of frames if the encoder reads them from
 * a file of their own. The offsets of 60 frames stay in memory, and of each frame 224 bytes, in an
 * array that grows by doubling; 1,024 more where the fidelity to the source is asked for. Where the
 * decoder's buffer is limited, each second pass adds one byte, and its plan takes 16 more while it
 * is made. All files are read back before they get their names: texts are compared with what was to
 * be written, of the offsets only the types of frames and the length. One thread at a time.
 */
#ifndef GPUME_ENCODE_PASS_H
#define GPUME_ENCODE_PASS_H

#include "encode/encoder.h"
#include "encode/measures.h"

struct gpume_out_set;
struct gpume_pass;

struct gpume_pass_params {
    const struct gpume_encode_options *options; /* settled; kept, not copied */
    uint32_t width, height;                     /* of the frames that were analysed */
    struct gpume_out_set *set;
    /* For encodes of the scenes by the encoder's own --crf, without files: a CRF is found for a
     * size or a bitrate, too. All paths are NULL. */
    bool chunks;
    /* A CRF is found between these, in 1/100, without a word where one of them is the nearest; 0:
     * between those of the encoder. */
    uint32_t crf_least, crf_most;
    bool filtered;       /* noise has been removed: no warning advises that */
    bool probed;         /* encodes will correct what is found for a fidelity */
    bool (*ended)(void); /* gpume_pass_finish asks it: whether to give up. NULL: never */
    struct gpume_log log;
};

/* Nothing is written yet. Here and below, failures are a negative gpume_status after one line. */
int gpume_pass_open(struct gpume_pass **pass, const struct gpume_pass_params *params);

/* Adds a second pass, before the first frame. path: of the statistics, to which the encoder's
 * suffixes are added for the offsets and the QPs. NULL: no files, only the outcome is wanted. */
int gpume_pass_add(struct gpume_pass *pass, const struct gpume_pass_video *video,
    const struct gpume_encode_target *target, const char *path);

/* The next frame in coded order. */
int gpume_pass_add_frame(struct gpume_pass *pass, const struct gpume_decision *decision);

/* Before gpume_pass_finish: gives each scene its own CRF where a fidelity is asked for, so
 * that it has that fidelity itself. firsts: the displayed positions where scenes begin, rising from
 * 0; copied. NULL: from each I frame to the next. */
int gpume_pass_split(struct gpume_pass *pass, const uint64_t *firsts, size_t count);

/* Writes the statistics, then reads all files back. They get their names from gpume_out_set_name.
 * GPUME_INVALID: no frames. GPUME_FORMAT: a file does not hold what was written. Either was
 * logged. GPUME_CANCELLED: it gave up, without a word. */
int gpume_pass_finish(struct gpume_pass *pass);

/* What an encode with the files of a second pass gave. */
struct gpume_pass_encode {
    const struct gpume_fidelity_frame *frames; /* of all frames, in displayed order */
    uint32_t width, height, bits;              /* of the luma that was compared */
    uint64_t bytes;                            /* of the encoded video */
};

/* After gpume_pass_finish, of a second pass with a fidelity: finds the CRFs anew, so that what was
 * expected becomes what the encode gave, and writes those of its files anew to `set` that change.
 * *changed: false: the CRFs are the same, and nothing is written. */
int gpume_pass_correct(struct gpume_pass *pass, size_t index,
    const struct gpume_pass_encode *encode, struct gpume_out_set *set, bool *changed);

/* What comes of a second pass. */
struct gpume_pass_outcome {
    struct gpume_encode_target
        target;           /* a bitrate, CRF or QP: of a size or fidelity, that it takes */
    uint64_t bitrate;     /* as asked or, for a quality, as expected */
    uint64_t bits;        /* of a quality: of the whole video, as expected */
    uint32_t wide_buffer; /* kbit, and kbit/s: with this limit it looks ahead for vectors; or 0 */
    bool is_measured;     /* this is known: */
    double expected[GPUME_MEASURES]; /* of luma, for a quality; NAN: not measured */
};

/* After gpume_pass_finish, of the one that was added as number `index`, from 0. */
struct gpume_pass_outcome gpume_pass_outcome(const struct gpume_pass *pass, size_t index);

/* After the last frame: whether there is so much noise that what is expected may be off by far. */
bool gpume_pass_is_noisy(const struct gpume_pass *pass);

/* A scene of a second pass, and what is expected of it. */
struct gpume_pass_scene {
    uint64_t first, frames; /* displayed positions */
    uint64_t crf;           /* in 1/100 */
    double expected[GPUME_MEASURES];
    uint64_t bits;
};

/* The same, of a scene of a split pass with a fidelity. False: it has not that many. */
bool gpume_pass_scene(
    const struct gpume_pass *pass, size_t index, size_t scene, struct gpume_pass_scene *result);

void gpume_pass_close(struct gpume_pass **pass);

#endif
