/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that gpume knows of one encoder. Each has a file in encoders/, which no other file names but
 * the table encoders/encoders.c: the analysis, the command lines and the files of the second pass
 * read this struct.
 */
#ifndef GPUME_ENCODE_ENCODER_H
#define GPUME_ENCODE_ENCODER_H

#include "encode/bits.h"
#include "encode/costs.h"
#include "encode/decision.h"
#include "encode/distortion.h"
#include "encode/ladder.h"
#include "encode/options.h"
#include "encode/target.h"

struct gpume_argv;
struct gpume_command_params;

/* The encoded video. */
struct gpume_pass_video {
    uint32_t width, height;
    uint32_t rate_num, rate_den; /* frames per second */
};

/* What the statistics say of a frame. */
struct gpume_pass_frame {
    const struct gpume_pass_video *video;
    uint64_t display, coded;
    enum gpume_frame_type type;
    int32_t qp;                /* at which it has this many bits, in 1/100 */
    uint64_t texture, vectors; /* bits */
    uint32_t intra_blocks, inter_blocks, skipped_blocks;
    struct gpume_weight weight; /* denominator and offset 0 and scale 1: none */
};

#define GPUME_PASS_LINE_BYTES 1024

/* Statistics of an encode whose quality follows from the bitrate, frame by frame in display order,
 * and then of all frames: of AV1, whose encoders count QPs to 63, which are 5/4 of the model's. */
#define GPUME_KINDS_MAX 6
struct gpume_fixed_pass {
    const struct gpume_bits_coefficients *bits; /* by kind of frame, which it tells apart: */
    uint32_t kinds;                             /* GPUME_KINDS_MAX at most */
    uint32_t (*kind)(const struct gpume_decision *decision);
    /* What later frames reuse gets more bits: by kind, the power of the intra cost of the next
     * frames that no kind with such a power has, by their cost, in 1/65536. */
    const uint32_t *reuse;
    uint32_t reuse_frames; /* how many of the next frames */
    /* The pixels of pictures that the numbers are for. In larger ones, what is left to code takes
     * fewer bits, by this power of the area, in 1/65536. */
    uint32_t pixels, shrink;
    /* The QP of the model, in 1/256. */
    int32_t (*qp)(const struct gpume_pass_video *video, uint64_t bitrate);
    size_t (*write_end)(
        char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_video *video, uint64_t frames);
};

struct gpume_tuning {
    const char *name; /* NULL: the end of a list */
    void (*apply)(struct gpume_encode_options *options);
};

/* Without psy, with it, and where the decoder's buffer is limited: there, a frame that is said to
 * take more than it does leaves a part of the buffer unused, above all the first one, and the
 * encoder itself keeps a frame that takes more from breaking it. */
enum gpume_planned {
    GPUME_PLANNED_PLAIN,
    GPUME_PLANNED_PSY,
    GPUME_PLANNED_BUFFER,
    GPUME_PLANNED_KINDS
};
#define GPUME_PLANNED(i, p, b)                                                                     \
    {                                                                                              \
        i, i, p, b, b                                                                              \
    }

/* An option whose value is a code below `count`: words by their codes, with NULL for those that it
 * does not have, or without words the code itself. */
struct gpume_coded_option {
    const char *name; /* without "--" */
    const char *const *words;
    uint32_t count;
};

#define GPUME_CODED_OPTION(name, words)                                                            \
    {                                                                                              \
        name, words, sizeof(words) / sizeof((words)[0])                                            \
    }

#define GPUME_CHROMA_TOP_LEFT 3
enum gpume_range { GPUME_RANGE_UNSAID, GPUME_RANGE_LIMITED, GPUME_RANGE_FULL };

/* How a program is told the colours of the source. Codes are those of ITU-T H.273, for the place of
 * chroma 1 more, and of enum gpume_range. */
struct gpume_colour_options {
    struct gpume_coded_option primaries, transfer, matrix, range;
    struct gpume_coded_option place; /* of chroma, where 4:2:0 has it at the top left */
    const char *display, *light;     /* options for HDR10; NULL: it has none */
    bool has_decimals;               /* of the display, with decimals instead of in whole parts */
    bool joins;                      /* an option and its value are one word: --name=value */
};

struct gpume_encoder {
    const char *name;    /* of its program, and of the encoder in options, messages and NAME.json */
    const char *program; /* NULL: the name; for people */
    const char *library; /* as FFmpeg calls it; NULL: FFmpeg has no second pass that reads files */

    /* --- its options */

    const struct gpume_encode_option *options; /* in the order of its command line */
    /* From the fastest to the slowest; an element without a name ends them. encoder, bits and
     * horizon are not theirs. */
    const struct gpume_encode_options *presets;
    const char *preset; /* its default */
    const struct gpume_tuning *tunings;
    uint32_t bits_max; /* of a sample: 8, 10 or 12 */
    uint32_t side_min; /* the shortest side of a picture, in pixels */
    /* Per second, at most: kbit and frames, of which it then takes at least one. 0: more than gpume
     * takes, and any. */
    uint32_t kbit_max, frames_max;

    /* Refuses what the encoder refuses, after logging one line; silently changes values that the
     * encoder silently changes. Called with all values within limits, min_keyint above 0, and no B
     * frames if keyint is 1. */
    int (*settle)(struct gpume_encode_options *options, const struct gpume_log *log);

    /* --- its decisions */

    struct {
        uint32_t root;   /* p = 1 / root in the formulas of aq.h */
        uint32_t centre; /* c in these formulas */
    } aq;
    /* A flash (types.h) may last up to bframes frames; otherwise 1, or bframes with b-adapt 2. */
    bool flash_is_run;
    bool cuts_at_first;  /* of several changes that follow each other closely; else at the last */
    bool middle_is_late; /* the reference of an even run of B frames is the later middle one */
    bool halves;         /* runs of B frames are halved again and again: types.h */
    uint32_t b_percent;  /* a B frame of this cost takes as many bits as a P frame of cost 100 */
    struct gpume_pattern_costs pattern_costs;
    struct {
        uint32_t intra_eighths; /* its intra costs, in eighths of the lookahead's */
        double strength[2];     /* of the offsets, by measurement; the second one with psy */
        double crf_strength[2]; /* the same for a CRF */
        /* For a CRF: where an I frame's mean offset is below -still, in QP, the frame is finer by
         * the excess once more, as most of it stays in view for longer than the tree looks ahead.
         * 0: never. */
        uint32_t still;
        /* For a CRF: the gpume_pass_noise n of frames whose I frame is finer than P frames by half
         * as much as without noise; n^4 / (n^4 + noise^4) of that is taken. Below 1024. 0: noise
         * does not matter. */
        uint32_t noise;
        /* For a CRF: the gpume_pass_noise n at which gpume_pass_find_quiet takes half of what it
         * may, and the whole tree an eighth; n^4 / (n^4 + quiet^4) of it. Below 1024. 0: nothing.
         */
        uint32_t quiet;
        bool counts_b; /* the offsets of a P frame count the B frames before it */
    } tree;
    const struct gpume_bits_model *bits;
    const struct gpume_loss_model *losses; /* NULL: its quality cannot be expected */
    double filter_strength; /* of the temporal filter in front of it, by measurement */
    const struct gpume_ladder_model *ladder; /* of both, at several sizes; NULL: nothing is known */
    /* What statistics say, of the bits that the model expects, by type of frame. Where a frame
     * takes more than they say, frames after it have to take less: so it is better to be wrong on
     * the other side, above all of P frames, of which the model is least certain. By measurement:
     * tests/bench/firstpass/FINDINGS.md. */
    uint32_t planned_percent[GPUME_PLANNED_KINDS][GPUME_FRAME_B + 1];

    /* --- its files of the second pass */

    const char *stats;   /* suffix of the statistics */
    const char *offsets; /* added to it for the QP offsets */
    /* Endings of the files that its own first pass leaves, added to the path of its statistics, a
     * file before its temporary; then NULL. */
    const char *const *own_files;

    /* Make the beginning of the statistics, with the options that the second pass compares, and
     * what follows for each frame in coded order: whole lines, or records without text. Return the
     * bytes. */
    size_t (*write_header)(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_video *video,
        const struct gpume_encode_options *options, const struct gpume_encode_target *target);
    size_t (*write_frame)(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_frame *frame);
    const struct gpume_fixed_pass *fixed; /* NULL: they are of an encode at the bitrate */

    bool has_weights; /* frames have weights; otherwise the second pass finds them */
    bool hangs;       /* its program, where it cannot find the files */

    /* The QP of a type when the model's QP is 0, in 1/256. */
    int32_t (*qp)(const struct gpume_encode_options *options, enum gpume_frame_type type);

    /* Whether second passes keep to a constant quality. */
    bool has_quality;
    /* Suffix of a file with the whole QP of every frame, added to that of the statistics, and its
     * line of a frame. The program reads it for a constant quality, FFmpeg's library does not.
     * NULL: both take QPs from the statistics. */
    const char *qps;
    size_t (*write_qp)(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_frame *frame);
    /* These make files at a CRF as large as the encoder's own, by measurement
     * (tests/bench/firstpass/README.md). crf_qp is added to the QPs of the formulas, by type of
     * frame, in 1/256; the first I frame counts as P. own_tree is the mean offset of the encoder's
     * own tree, as a part of that of gpume's tree at strength 1: `level`, less a part that halves
     * with every `half_frames` of lookahead after the first `skipped`. */
    int32_t (*crf_qp)(const struct gpume_encode_options *options, enum gpume_frame_type type);
    struct {
        double level, half_frames;
        uint32_t skipped;
    } own_tree;

    /* The byte for each frame type in the file of QP offsets; B frames that are no reference have
     * none. */
    unsigned char offset_codes[GPUME_FRAME_B];
    bool offsets_big_endian;

    /* --- its command lines: commands.h */

    struct gpume_colour_options colours;

    const char *ffmpeg_params; /* FFmpeg's option for a list of options */
    bool ffmpeg_passes; /* FFmpeg's -pass and -passlogfile; otherwise the list has pass and stats */
    const char *ffmpeg_quiet; /* an option that silences it; NULL: none is needed */

    /* Beginnings of FFmpeg's names of the formats that its program reads from Y4M with the same
     * result as from ffmpeg, then NULL. */
    const char *const *y4m_formats;

    /* Whether its program reads such frames at all. NULL: any. */
    bool (*program_reads)(const struct gpume_pass_video *video);

    /* Its second pass searches without the vectors of a lookahead, unless a decoder's buffer is
     * limited: one that is too wide to fill, in kbit, and its rate in kbit/s. bitrate: per second.
     * NULL: its second pass needs none. */
    uint32_t (*wide_buffer)(const struct gpume_pass_video *video, uint64_t bitrate);

    /* Its program's second pass; input: a Y4M file, or "-". */
    void (*add_program)(
        struct gpume_argv *argv, const struct gpume_command_params *params, const char *input);
};

/* All encoders, then NULL. The first is the one by which complexity and QP maps are found. */
extern const struct gpume_encoder *const gpume_encoders[];

/* The encoder of this name, or NULL. */
const struct gpume_encoder *gpume_encoder_find(const char *name);

/* --- for the files in encoders/ */

/* Names of codes of ITU-T H.273, as x264 and x265 spell them; NULL: none. */
#define GPUME_COLOUR_PRIMARIES 13
#define GPUME_COLOUR_TRANSFERS 19
extern const char *const gpume_colour_primaries[GPUME_COLOUR_PRIMARIES];
extern const char *const gpume_av1_places[GPUME_CHROMA_TOP_LEFT + 1];
extern const char *const gpume_colour_transfers[GPUME_COLOUR_TRANSFERS];

enum gpume_encode_spelling {
    GPUME_ENCODE_UNDERSCORES, /* b_pyramid=1 */
    GPUME_ENCODE_WORDS,       /* b-pyramid or no-b-pyramid, and keyint=250 */
};

/* Appends all options that are compared, each after a blank. Returns the bytes of the line. */
size_t gpume_encode_options_append(char line[GPUME_PASS_LINE_BYTES],
    const struct gpume_encode_options *options, enum gpume_encode_spelling spelling);

#endif
