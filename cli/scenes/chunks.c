/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenes/chunks.h"

#include "base/base.h"
#include "encode/analysis.h"
#include "encode/commands.h"
#include "encode/encoder.h"
#include "encode/pass.h"
#include "firstpass/spacing.h"
#include "job.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gpume_chunks {
    const struct gpume_chunk_encoder *encoder;
    struct gpume_encode_target target;
    const char *preset, *tune;
    struct gpume_argv colours;          /* the last parameters */
    struct gpume_encode_options encode; /* of the model: settled, where there is an analysis */
    const char *label;
    uint64_t pixels; /* of a picture */
    struct gpume_spacing spacing;
    uint64_t uneven;                 /* the first frame that is not where it should be; 0: none */
    struct gpume_analysis *analysis; /* NULL: the CRF was given */
    struct gpume_pass *pass;
    uint64_t crf; /* of all scenes, for a size of an encoder with a model */
    size_t count; /* of scenes */
    double seconds;
};

/* --- options */

void gpume_chunk_options_default(struct gpume_chunk_options *options)
{
    options->encoder = -1;
}

static void describe_chunk_encoder(const struct gpume_option *option, char *text, size_t bytes)
{
    gpume_type_choice_describe(option, text, bytes);
    gpume_text_join(
        text, bytes, "", "; for another one leave it out and give Av1an its own --target-quality");
}

const struct gpume_option_type gpume_type_chunk_encoder = {.bytes = sizeof(int),
    .parse = gpume_type_choice_parse,
    .describe = describe_chunk_encoder,
    .words = gpume_type_choice_words};

/* The encoder may be named last: its own limit is checked then. */
static const struct gpume_goal_row *chunk_goal_of(const struct gpume_option *option)
{
    static const struct gpume_goal_row crf = {
        "crf", GPUME_GOAL_CRF, 2, GPUME_CRF_MIN, 63, "e.g. 24 or 23.5"};
    const struct gpume_goal_row *row = gpume_goal_of(option);
    return row->goal == GPUME_GOAL_CRF ? &crf : row;
}

static bool parse_chunk_goal(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_chunk_options *options = field;
    options->targets++;
    return gpume_goal_parse(chunk_goal_of(option), text, &options->target);
}

static void describe_chunk_goal(const struct gpume_option *option, char *text, size_t bytes)
{
    gpume_goal_describe_row(chunk_goal_of(option), text, bytes);
}

const struct gpume_option_type gpume_type_chunk_goal = {.bytes = sizeof(struct gpume_chunk_options),
    .parse = parse_chunk_goal,
    .describe = describe_chunk_goal};

/* A CRF that the encoder does not take, or what is not known of it. */
static int check_chunk_target(
    const struct gpume_chunk_encoder *encoder, const struct gpume_encode_target *target)
{
    char text[GPUME_TARGET_TEXT_BYTES];
    gpume_target_text(target, text);
    if (target->goal == GPUME_GOAL_CRF &&
        (target->value > 100 * encoder->crf_max || (encoder->presets && target->value % 100 > 0))) {
        return gpume_refuse(GPUME_INVALID, "--crf %s: %s takes %s from 1 to %u", text,
            encoder->name, encoder->presets ? "whole numbers" : "numbers", encoder->crf_max);
    }
    if (encoder->presets && gpume_goal_is_weighed(target->goal)) {
        return gpume_refuse(GPUME_INVALID,
            "--target-xpsnr: the XPSNR of %s cannot be predicted; give --target-psnr or "
            "--target-ssim",
            encoder->name);
    }
    return GPUME_OK;
}

/* Where the presets are those of the encoder's own program: whether they have this one. */
static int check_preset(
    const struct gpume_chunk_encoder *encoder, const char *preset, const char *tune)
{
    size_t i = 0;
    while (preset && encoder->presets[i] && strcmp(encoder->presets[i], preset) != 0) {
        i++;
    }
    return tune ? gpume_refuse(GPUME_INVALID, "--tune: is for x264 and x265; leave it out")
           : encoder->presets[i]
               ? GPUME_OK
               : gpume_refuse(GPUME_INVALID, "--preset %s: %s has 0 to %s; give one of these",
                     preset, encoder->name, encoder->presets[0]);
}

int gpume_chunk_options_check(struct gpume_chunk_options *options)
{
    if (options->encoder < 0) {
        return GPUME_OK;
    }
    if (options->targets != 1) {
        return gpume_refuse(GPUME_INVALID,
            "--encoder: give %s of --target-psnr, --target-ssim, --target-xpsnr, --target-size and "
            "--crf",
            options->targets > 1 ? "only one" : "one");
    }
    const struct gpume_chunk_encoder *encoder = &gpume_chunk_encoders[options->encoder];
    const bool has_presets = encoder->presets != NULL;
    GPUME_CHECK(check_chunk_target(encoder, &options->target));
    GPUME_CHECK(has_presets ? check_preset(encoder, options->preset, options->tune) : GPUME_OK);
    return gpume_encoder_choose(&options->encode, gpume_encoder_find(encoder->model),
        has_presets ? NULL : options->preset, options->tune);
}

/* --- the analysis */

static int add_decision(void *opaque, const struct gpume_decision *decision)
{
    const struct gpume_chunks *chunks = opaque;
    return gpume_signals_caught() ? GPUME_CANCELLED : gpume_pass_add_frame(chunks->pass, decision);
}

/* Whether the size is found among all CRFs: their bits beside those of the model differ. */
static bool tries_crfs(const struct gpume_chunks *chunks)
{
    return chunks->encoder->presets && chunks->target.goal == GPUME_GOAL_SIZE;
}

static int open_pass(struct gpume_chunks *chunks, const struct gpume_source_info *info)
{
    const struct gpume_chunk_encoder *encoder = chunks->encoder;
    const bool has_model = encoder->presets != NULL;
    const struct gpume_pass_params params = {
        .options = &chunks->encode,
        .width = info->width,
        .height = info->height,
        .chunks = true,
        .crf_least = has_model ? gpume_chunk_model_crf(encoder, 1) : 0,
        .crf_most = has_model ? gpume_chunk_model_crf(encoder, encoder->crf_max) : 0,
        .ended = gpume_signals_caught,
        .log = gpume_console,
    };
    const struct gpume_pass_video video = {
        info->width, info->height, info->rate_num, info->rate_den};
    GPUME_CHECK(gpume_pass_open(&chunks->pass, &params));
    if (!tries_crfs(chunks)) {
        return gpume_pass_add(chunks->pass, &video, &chunks->target, NULL);
    }
    for (unsigned crf = 1; crf <= encoder->crf_max; crf++) {
        const struct gpume_encode_target target = {
            GPUME_GOAL_CRF, gpume_chunk_model_crf(encoder, crf)};
        GPUME_CHECK(gpume_pass_add(chunks->pass, &video, &target, NULL));
    }
    return GPUME_OK;
}

static enum gpume_exit open_analysis(struct gpume_chunks *chunks, const struct gpume_cli_job *job)
{
    const struct gpume_source_info *info = &job->info;
    const uint32_t own_min = chunks->encode.encoder->side_min;
    const enum gpume_exit checked = gpume_encoder_check_video(chunks->encoder->name,
        own_min > chunks->encoder->side_min ? own_min : chunks->encoder->side_min, info,
        "a CRF depends", ", here and in Av1an");
    if (checked != GPUME_EXIT_DONE) {
        return checked;
    }
    if (gpume_encode_options_settle(
            &chunks->encode, info->rate_num, info->rate_den, &gpume_console)) {
        return GPUME_EXIT_USAGE;
    }
    gpume_spacing_init(&chunks->spacing, info->rate_num, info->rate_den);
    int status = open_pass(chunks, info);
    if (status != GPUME_OK) {
        return gpume_exit_of_writer(status);
    }
    const struct gpume_analysis_params params = {
        .lookahead = gpume_job_lookahead(job),
        .options = chunks->encode,
        .losses = true,
        .xpsnr = gpume_goal_is_weighed(chunks->target.goal),
        .rate_num = info->rate_num,
        .rate_den = info->rate_den,
        .decide = add_decision,
        .opaque = chunks,
    };
    status = gpume_analysis_open(&chunks->analysis, &params);
    return status ? gpume_job_opened(job, status, NULL) : GPUME_EXIT_DONE;
}

enum gpume_exit gpume_chunks_open(struct gpume_chunks **pointer,
    const struct gpume_chunk_options *options, const struct gpume_cli_job *job)
{
    struct gpume_chunks *chunks = *pointer = calloc(1, sizeof(*chunks));
    if (!chunks) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory", job->info.label);
    }
    chunks->encoder = &gpume_chunk_encoders[options->encoder];
    chunks->target = options->target;
    chunks->encode = options->encode;
    const bool has_model = chunks->encoder->presets != NULL;
    chunks->preset = !has_model        ? chunks->encode.preset
                     : options->preset ? options->preset
                                       : chunks->encoder->preset;
    if (has_model && strcmp(chunks->preset, chunks->encoder->preset) != 0 &&
        chunks->target.goal != GPUME_GOAL_CRF) {
        gpume_console_warning("--preset %s: the quality of a CRF of %s is known only for preset "
                              "%s, so quality and size will differ from the expected ones",
            chunks->preset, chunks->encoder->name, chunks->encoder->preset);
    }
    chunks->tune = chunks->encode.tune;
    chunks->encode.bits = job->info.bits > 8 ? 10 : 8;
    chunks->label = job->info.label;
    chunks->pixels = (uint64_t)job->info.width * job->info.height;
    gpume_command_add_colours(&chunks->colours, chunks->encoder->colours,
        &(struct gpume_command_params){.colours = &job->info.colours,
            .full_range = job->info.full_range,
            .chroma_place = job->info.chroma_x && job->info.chroma_y ? job->info.chroma_place : 0,
            .pixel_format = job->info.pixel_format});
    if (chunks->colours.failed) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory", chunks->label);
    }
    return chunks->target.goal == GPUME_GOAL_CRF ? GPUME_EXIT_DONE : open_analysis(chunks, job);
}

int gpume_chunks_put(struct gpume_chunks *chunks, const struct gpume_plane *luma, int64_t time_us)
{
    if (!chunks->analysis) {
        return GPUME_OK;
    }
    if (!gpume_spacing_add(&chunks->spacing, time_us) && chunks->uneven == 0) {
        chunks->uneven = chunks->spacing.count - 1;
    }
    return gpume_analysis_put(chunks->analysis, luma);
}

static void warn_of_times(const struct gpume_chunks *chunks)
{
    const struct gpume_spacing *spacing = &chunks->spacing;
    if (chunks->uneven > 0) {
        gpume_console_warning("%s: frame %" PRIu64 " is not %" PRIu64 "/%" PRIu64
                              " s after the one before, but CRFs are chosen for a constant rate; "
                              "if Av1an sees another rate, quality and size differ",
            chunks->label, chunks->uneven, spacing->den, spacing->num);
    }
}

/* --- what comes of it */

/* Of the model's bits, at a CRF of the encoder in 1/100. */
static double own_bits(const struct gpume_chunks *chunks, uint64_t bits, uint64_t crf)
{
    return chunks->encoder->presets
               ? (double)bits * gpume_chunk_bits(chunks->encoder, crf, chunks->pixels)
               : (double)bits;
}

static double all_bits(const struct gpume_chunks *chunks, size_t index, uint64_t crf)
{
    return own_bits(chunks, gpume_pass_outcome(chunks->pass, index).bits, crf);
}

/* The CRF at which all scenes are nearest to the size. */
static void choose_crf(struct gpume_chunks *chunks)
{
    const double wanted = 8 * (double)chunks->target.value;
    double nearest = 0;
    for (unsigned crf = 1; crf <= chunks->encoder->crf_max; crf++) {
        const double bits = all_bits(chunks, crf - 1, 100 * crf);
        const double off = bits > wanted ? bits / wanted : wanted / fmax(bits, 1);
        if (crf == 1 || off < nearest) {
            chunks->crf = 100 * crf;
            nearest = off;
        }
    }
}

/* In 1/100. */
static uint64_t crf_of(const struct gpume_chunks *chunks, size_t scene)
{
    struct gpume_pass_scene found;
    if (!chunks->pass || chunks->crf > 0) {
        return chunks->pass ? chunks->crf : chunks->target.value;
    }
    const uint64_t crf = gpume_pass_scene(chunks->pass, 0, scene, &found)
                             ? found.crf
                             : gpume_pass_outcome(chunks->pass, 0).target.value;
    return gpume_chunk_crf(chunks->encoder, crf);
}

/* Of all scenes. */
static double expected_bits(const struct gpume_chunks *chunks)
{
    struct gpume_pass_scene found;
    double sum = 0;
    if (chunks->crf > 0) {
        return all_bits(chunks, (size_t)(chunks->crf / 100 - 1), chunks->crf);
    }
    if (!gpume_pass_scene(chunks->pass, 0, 0, &found)) {
        return all_bits(chunks, 0, crf_of(chunks, 0));
    }
    for (size_t i = 0; gpume_pass_scene(chunks->pass, 0, i, &found); i++) {
        sum += own_bits(chunks, found.bits, crf_of(chunks, i));
    }
    return sum;
}

/* The pass knows only the model's CRFs. */
static void warn_of_chunk_reach(const struct gpume_chunks *chunks)
{
    const bool is_size = chunks->target.goal == GPUME_GOAL_SIZE; /* of all scenes, with one CRF */
    struct gpume_target_ends ends = {
        .crf = {1, chunks->encoder->crf_max}, .scenes = is_size ? 1 : chunks->count};
    for (size_t i = 0; i < 2 * chunks->count && chunks->encoder->presets; i++) {
        ends.count[i % 2] += crf_of(chunks, i / 2) == 100 * ends.crf[i % 2];
    }
    gpume_target_warn_of_ends(&chunks->target, &ends, &gpume_console);
}

static void warn_of_chunk_noise(const struct gpume_chunks *chunks)
{
    char asked[GPUME_TARGET_SENTENCE_BYTES];
    if (gpume_goal_is_fidelity(chunks->target.goal) && gpume_pass_is_noisy(chunks->pass)) {
        gpume_target_sentence(&chunks->target, asked);
        gpume_console_warning("%s may miss %s by far, because of the noise; remove it with 'gpume "
                              "filter' first",
            chunks->encoder->name, asked);
    }
}

enum gpume_exit gpume_chunks_finish(
    struct gpume_chunks *chunks, const uint64_t *starts, size_t count)
{
    chunks->count = count;
    if (!chunks->analysis) {
        return GPUME_EXIT_DONE;
    }
    const struct gpume_spacing *spacing = &chunks->spacing;
    chunks->seconds = (double)spacing->count * (double)spacing->den / (double)spacing->num;
    warn_of_times(chunks);
    const enum gpume_exit result = gpume_exit_of_engine(gpume_analysis_finish(chunks->analysis));
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    int status = gpume_pass_split(chunks->pass, starts, count);
    status = status ? status : gpume_pass_finish(chunks->pass);
    if (status == GPUME_OK && tries_crfs(chunks)) {
        choose_crf(chunks);
    }
    if (status == GPUME_OK) {
        warn_of_chunk_reach(chunks);
        warn_of_chunk_noise(chunks);
    }
    return gpume_exit_of_writer(status);
}

const struct gpume_chunk_encoder *gpume_chunks_encoder(const struct gpume_chunks *chunks)
{
    return chunks->encoder;
}

static void print_crf(
    const struct gpume_chunks *chunks, size_t scene, char text[GPUME_TARGET_TEXT_BYTES])
{
    const struct gpume_encode_target target = {GPUME_GOAL_CRF, crf_of(chunks, scene)};
    gpume_target_text(&target, text);
}

const char *gpume_chunks_param(const struct gpume_chunks *chunks, size_t scene, size_t index,
    char text[GPUME_CHUNK_PARAM_BYTES])
{
    const char *const tuning[] = {"--tune", chunks->tune};
    const size_t tunings = chunks->tune ? 2 : 0;
    const struct gpume_chunk_word *word = chunks->encoder->words;
    char part[GPUME_TARGET_TEXT_BYTES] = "";
    for (; word->text && index > 0; word++) {
        index--;
    }
    if (!word->text) {
        return index < tunings                           ? tuning[index]
               : index - tunings < chunks->colours.count ? chunks->colours.items[index - tunings]
                                                         : NULL;
    }
    switch (word->part) {
    case GPUME_CHUNK_PRESET:
        snprintf(part, sizeof(part), "%s", chunks->preset);
        break;
    case GPUME_CHUNK_DEPTH:
        snprintf(part, sizeof(part), "%" PRIu32, chunks->encode.bits);
        break;
    case GPUME_CHUNK_CRF:
        print_crf(chunks, scene, part);
        break;
    default:
        break;
    }
    snprintf(text, GPUME_CHUNK_PARAM_BYTES, "%s%s", word->text, part);
    return text;
}

static void print_expected(const struct gpume_chunks *chunks, FILE *stream)
{
    const size_t index = chunks->crf > 0 ? (size_t)(chunks->crf / 100 - 1) : 0;
    const struct gpume_pass_outcome outcome = gpume_pass_outcome(chunks->pass, index);
    const double bits = expected_bits(chunks), megabytes = bits / 8e6;
    fprintf(stream, "; expected: %.*f MB, %.0f kbit/s", megabytes < 10 ? 3 : 1, megabytes,
        floor(bits / chunks->seconds / 1000));
    for (size_t i = 0; i < GPUME_MEASURES; i++) {
        const struct gpume_measure *measure = &gpume_measures[i];
        if (!isnan(outcome.expected[i])) {
            fprintf(stream, ", %s %.*f%s", measure->people, measure->digits, outcome.expected[i],
                measure->unit);
        }
    }
}

void gpume_chunks_print(const struct gpume_chunks *chunks, FILE *stream)
{
    size_t finest = 0, coarsest = 0;
    char text[GPUME_TARGET_TEXT_BYTES];
    for (size_t i = 1; i < chunks->count; i++) {
        finest = crf_of(chunks, i) < crf_of(chunks, finest) ? i : finest;
        coarsest = crf_of(chunks, i) > crf_of(chunks, coarsest) ? i : coarsest;
    }
    print_crf(chunks, finest, text);
    fprintf(stream, "chunks       %s, CRF %s", chunks->encoder->name, text);
    if (crf_of(chunks, coarsest) > crf_of(chunks, finest)) {
        print_crf(chunks, coarsest, text);
        fprintf(stream, " to %s", text);
    }
    if (chunks->pass) {
        print_expected(chunks, stream);
    }
    putc('\n', stream);
}

void gpume_chunks_close(struct gpume_chunks **pointer)
{
    struct gpume_chunks *chunks = *pointer;
    if (chunks) {
        gpume_analysis_close(&chunks->analysis);
        gpume_pass_close(&chunks->pass);
        gpume_argv_finish(&chunks->colours);
        free(chunks);
        *pointer = NULL;
    }
}
