/* SPDX-License-Identifier: BSD-2-Clause */
/* How an encoder spells the files of its second pass. */
#ifndef GPUME_ENCODE_PASS_FORMAT_H
#define GPUME_ENCODE_PASS_FORMAT_H

#include "encode/pass.h"

/* A line of the statistics. */
struct gpume_pass_frame {
    uint64_t display, coded;
    enum gpume_frame_type type;
    int32_t qp;                /* at which it has so many bits, in 1/100 */
    uint64_t texture, vectors; /* bits */
    uint32_t intra_blocks, inter_blocks, skipped_blocks;
    struct gpume_weight weight; /* denominator and offset 0 and scale 1: none */
};

#define GPUME_PASS_LINE_BYTES 1024

struct gpume_pass_format {
    const char *stats; /* suffix of the statistics */
    const char *tree;  /* added to it for the offsets */

    /* The line of options: its beginning, and what gpume leaves at its default. */
    void (*begin)(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_video *video,
        const struct gpume_encode_options *options);
    const char *constant;
    char dash;     /* written for '-' in names */
    bool as_words; /* switches are NAME or no-NAME; otherwise NAME=1 or NAME=0 */

    void (*write)(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_frame *frame);

    bool has_weights; /* lines have weights; otherwise the second pass finds them */

    /* The QP of a type when the model's QP is 0, in 1/256. */
    int32_t (*qp)(const struct gpume_encode_options *options, enum gpume_frame_type type);

    unsigned char types[GPUME_FRAME_B]; /* of frames with offsets, as in the file of offsets */
    bool big_endian;                    /* offsets */
};

extern const struct gpume_pass_format gpume_x264_pass, gpume_x265_pass;

const struct gpume_pass_format *gpume_pass_format_of(enum gpume_encoder encoder);

/* 'I' for IDR frames, 'i', 'P', 'B' for reference frames, 'b'. */
char gpume_pass_letter(enum gpume_frame_type type);

/* The QPs by which a ratio of quantizer steps differs, 6 log2(ratio), in 1/256. */
int32_t gpume_pass_qp_of_ratio(double ratio);

/* The first line of the statistics. */
void gpume_pass_header(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_video *video,
    const struct gpume_encode_options *options);

#endif
