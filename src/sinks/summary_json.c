/* SPDX-License-Identifier: BSD-2-Clause */
/* summary.json. Counts are exact integers; infinity, which JSON cannot represent, is null. */
#include "sinks/summary.h"

#include "base/params.h"
#include "files/inputs.h"
#include "files/json.h"
#include "files/text_file.h"
#include "media/video.h"
#include "sinks/border.h"
#include "sinks/summary_statistics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 128 bits in decimal: long division by 10 of four 32-bit limbs. */
static void total(struct gpume_json *json, const char *key, const struct gpume_total *value)
{
    uint32_t limbs[4] = {(uint32_t)(value->high >> 32), (uint32_t)value->high,
        (uint32_t)(value->low >> 32), (uint32_t)value->low};
    char digits[48];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do {
        uint64_t rest = 0;
        for (size_t i = 0; i < 4; i++) {
            rest = rest << 32 | limbs[i];
            limbs[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digits[--at] = (char)('0' + rest);
    } while (limbs[0] | limbs[1] | limbs[2] | limbs[3]);
    gpume_json_digits(json, key, digits + at);
}

/* A file. Pages are shared, and say neither its folder nor what follows a URL's path. */
static void put_file(struct gpume_json *json, const char *key, const char *path)
{
    if (!json->embedded || !path || strcmp(path, "-") == 0) {
        gpume_json_text(json, key, path);
        return;
    }
    const size_t length = strstr(path, "://") ? strcspn(path, "?#") : strlen(path);
    size_t first = length;
    while (first > 0 && path[first - 1] != '/') {
        first--;
    }
    char *name = strndup(path + first, length - first);
    gpume_json_text(json, key, name ? name : "");
    free(name);
}

/* What is known about the input before the first field. */
static void put_source(struct gpume_json *json, const struct gpume_summary *summary)
{
    const struct gpume_run *run = summary->run;
    const struct gpume_source_info *video = run->video;
    char rate[32];
    const bool known = video->rate_num > 0 && video->rate_den > 0;
    snprintf(rate, sizeof(rate), "%" PRIu32 "/%" PRIu32, video->rate_num, video->rate_den);
    put_file(json, "name", run->input);
    if (run->reference) {
        put_file(json, "reference", run->reference);
    }
    gpume_json_text(json, "codec", video->codec);
    gpume_json_text(json, "decoder", video->decoder);
    gpume_json_text(json, "pixel_format", video->pixel_format);
    gpume_json_count(json, "width", run->params.width);
    gpume_json_count(json, "height", run->params.height);
    gpume_json_count(json, "bits", run->params.bits);
    gpume_json_truth(json, "full_range", video->full_range);
    gpume_json_text(json, "frame_rate", known ? rate : NULL);
    gpume_json_real(json, "frames_per_second",
        known ? (double)video->rate_num / (double)video->rate_den : (double)INFINITY, 6);
}

static void put_input(struct gpume_json *json, const struct gpume_summary *summary)
{
    gpume_json_begin(json, "input");
    put_source(json, summary);
    gpume_json_count(json, "frames", summary->delivered);
    gpume_json_count(json, "refused", summary->refused);
    gpume_json_count(json, "scaled", summary->scaled);
    gpume_json_end(json);
}

/* Writes "1,2,4", or one number. */
static void put_distances(struct gpume_json *json, const struct gpume_params *params)
{
    char text[GPUME_DISTANCES_MAX * 5] = "";
    for (uint32_t i = 0; i < params->distance_count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%" PRIu32, used > 0 ? "," : "",
            params->distances[i]);
    }
    if (params->distance_count > 0) {
        gpume_json_text(json, "ref-distance", text);
    } else {
        gpume_json_count(json, "ref-distance", params->ref_distance);
    }
}

static void put_param(
    struct gpume_json *json, const struct gpume_param *param, const struct gpume_params *params)
{
    const uint64_t value = gpume_param_value(param, params);
    if (param->type == GPUME_PARAM_NUMBER) {
        gpume_json_count(json, param->option, value);
    } else if (param->type == GPUME_PARAM_FLAG) {
        gpume_json_truth(json, param->option, value != 0);
    } else {
        gpume_json_text(json, param->option, param->choices[value]);
    }
}

/* Whether the run asks for it. */
static bool is_in_effect(const struct gpume_param *param, const struct gpume_params *params)
{
    struct gpume_params defaults;
    if (param == GPUME_PARAM(interpolation) || param == GPUME_PARAM(subpel_search)) {
        return params->subpel > 1;
    }
    if (param == GPUME_PARAM(lambda) || param == GPUME_PARAM(predictor)) {
        return params->rate;
    }
    if (param == GPUME_PARAM(passes)) {
        return params->predictor == GPUME_PREDICTOR_MEDIAN;
    }
    gpume_params_default(&defaults);
    return gpume_param_value(param, params) != gpume_param_value(param, &defaults);
}

#define ALWAYS_UNTIL 2 /* every summary has the parameters up to this version of the API */

/* Of later parameters only those that the run asks for: summaries of older versions lack them. */
static void put_search(struct gpume_json *json, const struct gpume_run *run)
{
    const struct gpume_params *params = &run->params;
    for (uint32_t i = 0; i < gpume_params_count; i++) {
        const struct gpume_param *param = &gpume_params_table[i];
        if (param->since <= ALWAYS_UNTIL || param->speed_only || !param->help ||
            param->type > GPUME_PARAM_CHOICE || !is_in_effect(param, params)) {
            continue;
        }
        if (param == GPUME_PARAM(lambda)) {
            gpume_json_real(json, param->option, params->lambda / 256.0, 8);
        } else if (params->predictor == GPUME_PREDICTOR_GIVEN && param == GPUME_PARAM(predictor)) {
            put_file(json, param->option, run->asked->predictor.file);
        } else {
            put_param(json, param, params);
        }
    }
}

static void put_parameters(struct gpume_json *json, const struct gpume_run *run)
{
    const struct gpume_params *params = &run->params;
    char window[32], shapes[GPUME_SHAPES_TEXT_BYTES];
    snprintf(window, sizeof(window), "%" PRIu32 "x%" PRIu32, params->window_x, params->window_y);
    gpume_shapes_text(params, shapes);
    gpume_json_begin(json, "parameters");
    (params->shape_count > 0 ? gpume_json_text : gpume_json_digits)(json, "block", shapes);
    gpume_json_text(json, "window", window);
    put_param(json, GPUME_PARAM(edge), params);
    put_param(json, GPUME_PARAM(metric), params);
    put_search(json, run);
    if (run->asked->from_stream) {
        gpume_json_truth(json, "from-stream", true);
    }
    put_distances(json, params);
    put_param(json, GPUME_PARAM(direction), params);
    gpume_json_text(json, "compat", run->asked->compat_ffmpeg ? "ffmpeg" : "none");
    put_file(json, "prefilter", run->asked->prefilter.text);
    gpume_json_count(json, "start", run->asked->start);
    gpume_json_count_or_null(json, "frames", run->asked->frames > 0, run->asked->frames);
    gpume_json_text(json, "vf", run->asked->source.filter);
    gpume_json_count_or_null(
        json, "stream", run->asked->source.stream >= 0, (uint64_t)run->asked->source.stream);
    gpume_json_text(
        json, "hwaccel", run->asked->source.hwaccel ? run->asked->source.hwaccel : "none");
    gpume_json_text(json, "residual-mode", run->asked->residual_signed ? "signed" : "absolute");
    gpume_json_real(json, "gain", run->asked->gain, 6);
    gpume_json_real(json, "gamma", run->asked->gamma, 6);
    put_param(json, GPUME_PARAM(backend), params);
    gpume_json_text(json, "device", params->devices ? params->devices : params->device);
    gpume_json_count_or_null(json, "threads", params->threads > 0, params->threads);
    gpume_json_text(json, "search", params->search);
    put_param(json, GPUME_PARAM(no_elimination), params);
    put_param(json, GPUME_PARAM(check), params);
    put_param(json, GPUME_PARAM(validate), params);
    gpume_json_end(json);
}

/* Of a run that several engines share. */
static void put_lanes(struct gpume_json *json, const struct gpume_summary *summary)
{
    gpume_json_begin_list(json, "devices");
    for (uint32_t i = 0; i < summary->lane_count; i++) {
        const struct gpume_summary_lane *lane = &summary->lanes[i];
        gpume_json_begin(json, NULL);
        gpume_json_text(json, "backend", lane->backend);
        gpume_json_text(json, "device", lane->device);
        gpume_json_count(json, "fields", lane->fields);
        gpume_json_real(json, "seconds", (double)lane->busy_ns / 1e9, 6);
        gpume_json_count(json, "host_bytes", lane->host_bytes);
        gpume_json_count(json, "device_bytes", lane->device_bytes);
        gpume_json_truth(json, "failed", lane->failed);
        gpume_json_truth(json, "opened", !lane->unopened);
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

static void put_engine(struct gpume_json *json, const struct gpume_summary *summary)
{
    gpume_json_begin(json, "engine");
    gpume_json_text(json, "backend", summary->backend);
    gpume_json_text(json, "device", summary->device);
    gpume_json_text(json, "driver", summary->driver);
    gpume_json_text(json, "search", summary->search);
    gpume_json_count(json, "host_bytes", summary->host_bytes);
    gpume_json_count(json, "device_bytes", summary->device_bytes);
    if (summary->lane_count > 0) {
        put_lanes(json, summary);
    }
    if (summary->standby[0]) { /* a GPU failed */
        gpume_json_begin(json, "standby");
        gpume_json_text(json, "backend", summary->standby);
        gpume_json_text(json, "device", summary->standby_device);
        gpume_json_count(json, "first_frame", summary->standby_frame);
        gpume_json_end(json);
    }
    gpume_json_end(json);
}

/* A run over a range of frames may be a part of a longer one; its files are joined only with those
 * of the same contents. */
static void put_contents(struct gpume_json *json, const struct gpume_run *run)
{
    char text[GPUME_CONTENT_BYTES];
    const struct gpume_prefilter *filter = run->params.prefilter;
    if (run->asked->start == 0 && run->asked->frames == 0) {
        return;
    }
    gpume_json_begin(json, "contents");
    gpume_content_of_input(run->input, text);
    gpume_json_text(json, "input", text[0] ? text : NULL);
    if (run->asked->predictor.file) {
        gpume_content_of_input(run->asked->predictor.file, text);
        gpume_json_text(json, "predictor", text[0] ? text : NULL);
    }
    if (filter && filter->kind == GPUME_PREFILTER_KERNEL) {
        gpume_content_of_bytes(
            filter->weights, sizeof(double) * filter->width * filter->height, text);
        gpume_json_text(json, "kernel", text);
    }
    gpume_json_end(json);
}

static void put_statistics(struct gpume_json *json, const struct gpume_summary *summary,
    const struct gpume_statistics *statistics)
{
    const struct {
        const char *key;
        const struct gpume_total *value;
    } totals[] = {{"zero", &statistics->zero}, {"sad_before", &statistics->sad_before},
        {"sad_after", &statistics->sad_after}, {"sse_before", &statistics->sse_before},
        {"sse_after", &statistics->sse_after}};
    const double fields = (double)statistics->fields;
    gpume_json_begin(json, "totals");
    gpume_json_count(json, "blocks", statistics->blocks);
    gpume_json_count(json, "border", statistics->border);
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        total(json, totals[i].key, totals[i].value);
    }
    gpume_json_real(
        json, "psnr_before", gpume_summary_psnr(summary, statistics, &statistics->sse_before), 3);
    gpume_json_real(
        json, "psnr_after", gpume_summary_psnr(summary, statistics, &statistics->sse_after), 3);
    gpume_json_end(json);
    gpume_json_begin(json, "means");
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        gpume_json_real(json, totals[i].key, gpume_total_value(totals[i].value) / fields, 3);
    }
    gpume_json_real(json, "psnr_before", gpume_summary_psnr_mean(&statistics->psnr_before), 3);
    gpume_json_real(json, "psnr_after", gpume_summary_psnr_mean(&statistics->psnr_after), 3);
    gpume_json_count(
        json, "psnr_before_infinite", statistics->fields - statistics->psnr_before.finite);
    gpume_json_count(
        json, "psnr_after_infinite", statistics->fields - statistics->psnr_after.finite);
    gpume_json_end(json);
}

static void put_directions(struct gpume_json *json, const struct gpume_summary *summary)
{
    gpume_json_begin(json, "directions");
    for (size_t i = 0; i < 2; i++) {
        if (summary->directions[i].fields > 0) {
            gpume_json_begin(json, gpume_names_direction[i]);
            gpume_json_count(json, "fields", summary->directions[i].fields);
            put_statistics(json, summary, &summary->directions[i]);
            gpume_json_end(json);
        }
    }
    gpume_json_end(json);
}

static void put_border(struct gpume_json *json, const struct gpume_summary *summary)
{
    const struct gpume_statistics *all = &summary->all;
    char window[32];
    gpume_border_try(all->border, all->blocks, &summary->run->params, window);
    gpume_json_begin(json, "border");
    gpume_json_real(
        json, "share", all->blocks > 0 ? (double)all->border / (double)all->blocks : 0, 6);
    gpume_json_text(json, "try_window", window[0] ? window : NULL);
    gpume_json_end(json);
}

static void put_elimination(struct gpume_json *json, const struct gpume_summary *summary)
{
    const struct gpume_elimination shares = gpume_summary_elimination(summary);
    gpume_json_begin(json, "elimination");
    gpume_json_count(json, "candidates", summary->stats.candidates);
    gpume_json_real(json, "dropped_by_block_sums", shares.by_blocks, 9);
    gpume_json_real(json, "dropped_by_part_sums", shares.by_parts, 9);
    gpume_json_real(json, "compared", shares.compared, 9);
    gpume_json_end(json);
}

static void put_stages(struct gpume_json *json, const struct gpume_summary *summary)
{
    struct gpume_summary_stage stages[GPUME_SUMMARY_STAGES];
    gpume_summary_stages(summary, stages);
    gpume_json_begin(json, "stages");
    for (size_t i = 0; i < GPUME_SUMMARY_STAGES; i++) {
        const uint64_t ns = stages[i].ns;
        gpume_json_begin(json, stages[i].name);
        gpume_json_real(json, "seconds", (double)ns / 1e9, 9);
        gpume_json_real(json, "fields_per_second",
            ns > 0 ? gpume_summary_rate(summary->all.fields, ns) : (double)INFINITY, 3);
        gpume_json_real(json, "busy", stages[i].busy, 6);
        gpume_json_end(json);
    }
    gpume_json_end(json);
}

void gpume_summary_put_job(const struct gpume_summary *summary, struct gpume_json *json)
{
    gpume_json_text(json, "gpume", gpume_version());
    gpume_json_begin(json, "input");
    put_source(json, summary);
    gpume_json_end(json);
    put_parameters(json, summary->run);
}

void gpume_summary_put(const struct gpume_summary *summary, struct gpume_json *json)
{
    const struct gpume_run *run = summary->run;
    gpume_json_text(json, "gpume", gpume_version());
    put_input(json, summary);
    put_parameters(json, run);
    put_engine(json, summary);
    put_contents(json, run);
    if (run->set && run->set->partial) {
        gpume_json_truth(json, "partial", true);
    }
    gpume_summary_put_results(summary, json);
}

void gpume_summary_put_results(const struct gpume_summary *summary, struct gpume_json *json)
{
    gpume_json_count(json, "fields", summary->all.fields);
    gpume_json_count(json, "first_field", summary->first_field);
    gpume_json_count(json, "last_field", summary->last_field);
    gpume_json_count(json, "blocks_per_field", gpume_summary_blocks(summary));
    gpume_json_count(json, "candidates_per_block", summary->candidates);
    put_statistics(json, summary, &summary->all);
    put_directions(json, summary);
    put_border(json, summary);
    put_elimination(json, summary);
    put_stages(json, summary);
    if (summary->run->params.check) {
        gpume_json_count(json, "checked", summary->checked);
        gpume_json_count(json, "matched", summary->matched);
    }
}

static void put_whole(const struct gpume_summary *summary, struct gpume_out *out)
{
    struct gpume_json json = {.out = out};
    gpume_json_begin(&json, NULL);
    gpume_json_count(&json, "format", GPUME_SUMMARY_FORMAT);
    gpume_summary_put(summary, &json);
    gpume_json_end(&json);
}

int gpume_summary_print_json(const struct gpume_summary *summary)
{
    struct gpume_out *out = NULL;
    int status = gpume_out_open(&out, "-", true, &summary->run->log);
    if (status == GPUME_OK) {
        put_whole(summary, out);
        status = gpume_out_finish(out);
    }
    gpume_out_close(&out);
    return status;
}

static int summary_open(struct gpume_sink *sink)
{
    return gpume_out_open_in(&sink->out, sink->run->set, sink->path, &sink->run->log);
}

/* The run's summary adds up the fields, and finish writes the file. A run that continues this one
 * rewrites it. */
static int summary_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    (void)sink;
    (void)field;
    return GPUME_OK;
}

static int summary_finish(struct gpume_sink *sink)
{
    put_whole(sink->run->summary, sink->out);
    return gpume_out_finish(sink->out);
}

const struct gpume_sink_ops gpume_sink_summary = {
    .name = "summary.json",
    .bytes = sizeof(struct gpume_sink),
    .stem = "summary",
    .ending = ".json",
    .can_continue = gpume_text_can_continue,
    .open = summary_open,
    .field = summary_field,
    .finish = summary_finish,
};

bool gpume_summary_may_differ(const char *key)
{
    bool may = strcmp(key, "hwaccel") == 0 || strcmp(key, "decoder") == 0;
    for (uint32_t i = 0; i < gpume_params_count; i++) {
        const struct gpume_param *param = &gpume_params_table[i];
        may = may || (param->speed_only && param->option && strcmp(key, param->option) == 0);
    }
    return may;
}
