/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The encoders of chunks: how Av1an calls them, which parameters they get, and what is known of
 * their CRFs. Of x264 and x265 gpume knows what a CRF gives. Of encoders of AV1 it is known which
 * CRF of x265 gives the same quality, by encodes: a line, and how many times as many bits it takes.
 */
#ifndef GPUME_ENCODE_CHUNK_ENCODERS_H
#define GPUME_ENCODE_CHUNK_ENCODERS_H

#include "encode/options.h"
#include "encode/target.h"

struct gpume_colour_options;

enum gpume_chunk_part { GPUME_CHUNK_WORD, GPUME_CHUNK_PRESET, GPUME_CHUNK_DEPTH, GPUME_CHUNK_CRF };

/* A parameter: its text, and after it what changes. */
struct gpume_chunk_word {
    const char *text; /* NULL: the end */
    enum gpume_chunk_part part;
};

struct gpume_chunk_encoder {
    const char *name, *av1an;             /* in options; in scenes of Av1an */
    const char *model;                    /* gpume's encoder by which it is expected */
    const struct gpume_chunk_word *words; /* then --tune, if one is given, and colours */
    const struct gpume_colour_options *colours;
    unsigned crf_max; /* the least is 1 */
    /* The rest is of those that are not their own model. Their CRFs are whole. */
    const char *const *presets; /* then NULL; NULL: those of the model, and its tunings */
    const char *preset;         /* the default */
    unsigned side_min;          /* if it is more than the model's */
    double first, step;         /* a CRF of N is as good as one of first + step * N */
    /* And takes exp(bits + bits_step * N) times as many bits, times this power of the area beside
     * that of 640x360. */
    double bits, bits_step, bits_power;
};

#define GPUME_CHUNK_ENCODERS 4
extern const struct gpume_chunk_encoder gpume_chunk_encoders[GPUME_CHUNK_ENCODERS];

/* By the lowest and the highest CRF, in 1/100 of the model's. */
unsigned gpume_chunk_model_crf(const struct gpume_chunk_encoder *encoder, unsigned crf);

/* The nearest CRF for one of the model, both in 1/100. */
uint64_t gpume_chunk_crf(const struct gpume_chunk_encoder *encoder, uint64_t model_crf);

/* How many times as many bits as the model it takes at a CRF in 1/100. */
double gpume_chunk_bits(const struct gpume_chunk_encoder *encoder, uint64_t crf, uint64_t pixels);

#endif
