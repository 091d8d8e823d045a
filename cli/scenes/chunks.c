/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenes/chunks.h"

#include "base/status.h"
#include "encode/analysis.h"
#include "encode/encoder.h"
#include "encode/pass.h"
#include "firstpass/spacing.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gpume_chunks {
    struct gpume_encode_target target;
    struct gpume_encode_options encode; /* settled, where there is an analysis */
    const char *label;
    struct gpume_spacing spacing;
    uint64_t uneven;                 /* the first frame that is not where it should be; 0: none */
    struct gpume_analysis *analysis; /* NULL: the CRF was given */
    struct gpume_pass *pass;
    size_t count; /* of scenes */
    double seconds;
};

/* --- options */

void gpume_chunk_options_default(struct gpume_chunk_options *options)
{
    options->encoder = -1;
}

static bool parse_chunk_encoder(const struct gpume_option *option, const char *text, void *field)
{
    return gpume_type_known_encoder.parse(option, text, field);
}

static void describe_chunk_encoder(const struct gpume_option *option, char *text, size_t bytes)
{
    gpume_type_known_encoder.describe(option, text, bytes);
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used,
        "; for another one leave it out and give Av1an its own --target-quality");
}

static void chunk_encoder_words(const struct gpume_option *option, char *text, size_t bytes)
{
    gpume_type_known_encoder.words(option, text, bytes);
}

const struct gpume_option_type gpume_type_chunk_encoder = {.bytes = sizeof(int),
    .parse = parse_chunk_encoder,
    .describe = describe_chunk_encoder,
    .words = chunk_encoder_words};

static bool parse_chunk_goal(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_chunk_options *options = field;
    options->targets++;
    return gpume_goal_parse(gpume_goal_of(option), text, &options->target);
}

const struct gpume_option_type gpume_type_chunk_goal = {.bytes = sizeof(struct gpume_chunk_options),
    .parse = parse_chunk_goal,
    .describe = gpume_goal_describe};

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
    GPUME_CHECK(gpume_encoder_choose(
        &options->encode, gpume_encoders[options->encoder], options->preset, options->tune));
    options->encode.is_quality = true;
    return GPUME_OK;
}

/* --- the analysis */

static int add_decision(void *opaque, const struct gpume_decision *decision)
{
    const struct gpume_chunks *chunks = opaque;
    return gpume_signals_caught() ? GPUME_CANCELLED : gpume_pass_add_frame(chunks->pass, decision);
}

static int open_pass(struct gpume_chunks *chunks, const struct gpume_source_info *info)
{
    const struct gpume_pass_params params = {
        .options = &chunks->encode,
        .width = info->width,
        .height = info->height,
        .chunks = true,
        .ended = gpume_signals_caught,
        .log = gpume_console,
    };
    const struct gpume_pass_video video = {
        info->width, info->height, info->rate_num, info->rate_den};
    GPUME_CHECK(gpume_pass_open(&chunks->pass, &params));
    return gpume_pass_add(chunks->pass, &video, &chunks->target, NULL);
}

static enum gpume_exit open_analysis(struct gpume_chunks *chunks, const struct gpume_cli_job *job)
{
    const struct gpume_source_info *info = &job->info;
    const enum gpume_exit checked = gpume_encoder_check_video(
        chunks->encode.encoder, info, "a CRF depends", ", here and in Av1an");
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
    chunks->target = options->target;
    chunks->encode = options->encode;
    chunks->encode.bits = job->info.bits > 8 ? 10 : 8;
    chunks->label = job->info.label;
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
                              " s after the one before, but CRFs are found for frames that are: "
                              "where Av1an sees another rate, quality and size differ",
            chunks->label, chunks->uneven, spacing->den, spacing->num);
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
    return gpume_exit_of_writer(status);
}

/* --- what comes of it */

const struct gpume_encode_options *gpume_chunks_encode(const struct gpume_chunks *chunks)
{
    return &chunks->encode;
}

/* In 1/100. */
static uint64_t crf_of(const struct gpume_chunks *chunks, size_t scene)
{
    struct gpume_pass_scene found;
    return !chunks->pass ? chunks->target.value
           : gpume_pass_scene(chunks->pass, 0, scene, &found)
               ? found.crf
               : gpume_pass_outcome(chunks->pass, 0).target.value;
}

void gpume_chunks_crf(
    const struct gpume_chunks *chunks, size_t scene, char text[GPUME_TARGET_TEXT_BYTES])
{
    const struct gpume_encode_target target = {GPUME_GOAL_CRF, crf_of(chunks, scene)};
    gpume_target_text(&target, text);
}

void gpume_chunks_print(const struct gpume_chunks *chunks, FILE *stream)
{
    size_t finest = 0, coarsest = 0;
    char text[GPUME_TARGET_TEXT_BYTES];
    for (size_t i = 1; i < chunks->count; i++) {
        finest = crf_of(chunks, i) < crf_of(chunks, finest) ? i : finest;
        coarsest = crf_of(chunks, i) > crf_of(chunks, coarsest) ? i : coarsest;
    }
    gpume_chunks_crf(chunks, finest, text);
    fprintf(stream, "chunks       %s, CRF %s", chunks->encode.encoder->name, text);
    if (crf_of(chunks, coarsest) > crf_of(chunks, finest)) {
        gpume_chunks_crf(chunks, coarsest, text);
        fprintf(stream, " to %s", text);
    }
    if (chunks->pass) {
        const struct gpume_pass_outcome outcome = gpume_pass_outcome(chunks->pass, 0);
        const double megabytes = (double)outcome.bitrate * chunks->seconds / 8e6;
        fprintf(stream, "; expected: %.*f MB, %" PRIu64 " kbit/s", megabytes < 10 ? 3 : 1,
            megabytes, outcome.bitrate / 1000);
        for (size_t i = 0; i < GPUME_MEASURES; i++) {
            const struct gpume_measure *measure = &gpume_measures[i];
            if (!isnan(outcome.expected[i])) {
                fprintf(stream, ", %s %.*f%s", measure->people, measure->digits,
                    outcome.expected[i], measure->unit);
            }
        }
    }
    putc('\n', stream);
}

void gpume_chunks_close(struct gpume_chunks **pointer)
{
    struct gpume_chunks *chunks = *pointer;
    if (chunks) {
        gpume_analysis_close(&chunks->analysis);
        gpume_pass_close(&chunks->pass);
        free(chunks);
        *pointer = NULL;
    }
}
