/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options that commands for encoders have in common: what is asked of an encode beside a bitrate,
 * and rows that are made from the encoders' tables, one for each name that an encoder has. Main
 * thread only.
 */
#ifndef GPUME_CLI_ENCODER_OPTIONS_H
#define GPUME_CLI_ENCODER_OPTIONS_H

#include "encode/options.h"
#include "encode/target.h"
#include "media/source.h"
#include "options/option.h"

#include <stdbool.h>
#include <stddef.h>

/* What may be asked for beside a bitrate: an option, and a word of --rung. */
struct gpume_goal_row {
    const char *option;
    enum gpume_goal goal;
    int decimals; /* at most; a value is in units of the last one, or of 1/100 */
    double least, most;
    const char *what;
};

#define GPUME_GOAL_ROWS 6
extern const struct gpume_goal_row gpume_goal_rows[GPUME_GOAL_ROWS];

/* The row of an option, which has one. */
const struct gpume_goal_row *gpume_goal_of(const struct gpume_option *option);

/* False: not a value of this row. */
bool gpume_goal_parse(
    const struct gpume_goal_row *row, const char *text, struct gpume_encode_target *target);

/* For gpume_option_type.describe: of the option's row, or of another. */
void gpume_goal_describe(const struct gpume_option *option, char *text, size_t bytes);
void gpume_goal_describe_row(const struct gpume_goal_row *row, char *text, size_t bytes);
void gpume_goal_hint(const struct gpume_option *option, const char *text, char *hint, size_t bytes);

/* Bits per second in whole kilobits, a uint64_t: a decimal number, followed by nothing, k, M or G.
 */
bool gpume_bitrate_parse(const struct gpume_option *option, const char *text, void *bits);
void gpume_bitrate_describe(const struct gpume_option *option, char *text, size_t bytes);
void gpume_bitrate_hint(
    const struct gpume_option *option, const char *text, char *hint, size_t bytes);

/* For gpume_option_type.hint: of a number with a suffix that is none. */
void gpume_suffix_hint(
    const struct gpume_option *option, const char *text, char *hint, size_t bytes);

/* Warns of bitrates that were parsed and are likely to be meant in another unit; true: of some. For
 * the check of options, which --help does not reach. */
bool gpume_bitrate_warn(void);
extern const struct gpume_option_type gpume_type_bitrate;

/* The same in kilobits, which a plain number counts, too; limits. */
bool gpume_type_kbits_parse(const struct gpume_option *option, const char *text, void *field);
extern const struct gpume_option_type gpume_type_kbits;

#define GPUME_ENCODERS_MAX 8
#define GPUME_ENCODER_ROWS_MAX 48 /* names of options, of all encoders together */
#define GPUME_ENCODER_HELP_BYTES 512
#define GPUME_ENCODER_LIMITS_BYTES 128
#define GPUME_ENCODER_WORDS_MAX 32

/* What an encoder takes of an option, and its default. */
struct gpume_encoder_taken {
    const char *encoder;
    char limits[GPUME_ENCODER_LIMITS_BYTES], otherwise[48];
};

/* An option that encoders have. */
struct gpume_encoder_row {
    const char *name, *help;
    /* of all encoders, each once, then NULL; or none */
    const char *words[GPUME_ENCODER_WORDS_MAX + 1];
    struct gpume_encoder_taken taken[GPUME_ENCODERS_MAX];
    size_t count; /* encoders that have it */
    char text[GPUME_ENCODER_HELP_BYTES];
};

/* Those of the encoders' tables, in an order that is that of every encoder; and three more. */
extern struct gpume_encoder_row gpume_encoder_rows[GPUME_ENCODER_ROWS_MAX];
extern size_t gpume_encoder_row_count;
extern struct gpume_encoder_row gpume_encoder_presets, gpume_encoder_tunes, gpume_encoder_depths;

/* Names of encoders, as an option has them. */
struct gpume_encoder_list {
    const char *words[GPUME_ENCODERS_MAX + 1]; /* choices, then NULL */
    char value[GPUME_ENCODER_LIMITS_BYTES];    /* x264|x265 */
};

/* Those of gpume_encoders; of these, those of which it is known what they make of a CRF; and those
 * of gpume_chunk_encoders. */
extern struct gpume_encoder_list gpume_encoder_names, gpume_encoder_known, gpume_encoder_chunks;

/* Makes them, once. */
void gpume_encoder_rows_make(void);

/* A const struct gpume_encoder *: one of the row's choices. */
extern const struct gpume_option_type gpume_type_encoder;

/* NULL: no encoder has such an option. */
struct gpume_encoder_row *gpume_encoder_row_find(const char *name);

/* What the encoders take of it. */
void gpume_encoder_row_limits(char *text, size_t bytes, const struct gpume_encoder_row *row);

/* A preset or a tuning: a const char *, which only the encoder can judge, and that may be named
 * last. The row's choices are those of all encoders. */
extern const struct gpume_option_type gpume_type_encoder_word;

/* --- the video that is to be encoded. Here and below, failures have been logged. */

/* Its frame rate must be known. why: what depends on it, as "a CRF depends". */
enum gpume_exit gpume_encoder_check_rate(const struct gpume_source_info *info, const char *why);

/* The same; and its sides must be even, and at least this long for the encoder of this name.
 * remedy: after "give --vf scale=W:H". */
enum gpume_exit gpume_encoder_check_video(const char *name, uint32_t side_min,
    const struct gpume_source_info *info, const char *why, const char *remedy);

/* Interlaced video is encoded as if it were progressive. */
void gpume_encoder_warn_of_fields(const struct gpume_source_info *info);

/* Refuses a word that the encoder does not have, of an option whose row this is: GPUME_INVALID. */
int gpume_encoder_refuse_word(const struct gpume_encoder_row *row, const char *option,
    const struct gpume_encoder *encoder, const char *word);

/* The encoder's options with a preset and a tuning, of which either may be NULL: the default.
 * GPUME_INVALID after one line. */
int gpume_encoder_choose(struct gpume_encode_options *options, const struct gpume_encoder *encoder,
    const char *preset, const char *tune);

#endif
