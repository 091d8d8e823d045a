/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds up the statistics of a run, and writes them for people and, as summary.json, for programs.
 */
#include "sinks/summary.h"

#include "base/base.h"
#include "base/params.h"
#include "files/forms.h"
#include "files/out.h"
#include "files/path.h"
#include "media/video.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- vectors that touch the border of the search window: a wider one could find better matches */

#define SHARE_MAX 0.01 /* more suggests a wider window */
#define BORDER_TEXT_BYTES 128

/* The window in units of vectors; axes without any displacement have no border. */
struct limits {
    int x, y;
};

static bool touches(struct limits limits, struct gpume_vector vector)
{
    return (limits.x > 0 && abs(vector.dx) == limits.x) ||
           (limits.y > 0 && abs(vector.dy) == limits.y);
}

/* Of one layer with one vector per block. */
static uint64_t count_plain(
    struct limits limits, const struct gpume_vector *vectors, uint64_t blocks)
{
    /* No vector has a component of INT_MAX. */
    const int x = limits.x > 0 ? limits.x : INT_MAX, y = limits.y > 0 ? limits.y : INT_MAX;
    uint64_t count = 0;
    for (uint64_t i = 0; i < blocks; i++) {
        count += (abs(vectors[i].dx) == x) | (abs(vectors[i].dy) == y);
    }
    return count;
}

uint64_t gpume_border_count(const struct gpume_field *field, const struct gpume_params *params)
{
    const uint64_t blocks = gpume_shown_count(field);
    const struct limits limits = {(int)(params->window_x * field->vector_units),
        (int)(params->window_y * field->vector_units)};
    uint64_t count = 0;
    if (field->part_count == 0 && !field->layers[0]->refs2) {
        return count_plain(limits, field->layers[0]->vectors, blocks);
    }
    for (uint64_t i = 0; i < blocks; i++) {
        const struct gpume_shown shown = gpume_shown_at(field, i);
        const struct gpume_layer *layer = shown.layer;
        const bool two = layer->refs2 && layer->refs2[shown.index] != GPUME_NONE;
        count += touches(limits, layer->vectors[shown.index]) ||
                 (two && touches(limits, layer->vectors2[shown.index]));
    }
    return count;
}

static uint32_t wider(uint32_t window)
{
    const uint32_t twice = 2 * window + 2;
    return window == 0 ? 0 : twice < GPUME_WINDOW_MAX ? twice : GPUME_WINDOW_MAX;
}

/* The wider window to try, such as "16" or "16x8", where more than a percent of the vectors touch
 * the border and a wider one exists; else "". */
static void border_try(
    uint64_t count, uint64_t blocks, const struct gpume_params *params, char window[32])
{
    const uint32_t x = wider(params->window_x), y = wider(params->window_y);
    window[0] = '\0';
    if ((double)count <= SHARE_MAX * (double)blocks ||
        (x == params->window_x && y == params->window_y)) {
        return;
    }
    if (params->window_x == params->window_y) {
        snprintf(window, 32, "%" PRIu32, x);
    } else {
        snprintf(window, 32, "%" PRIu32 "x%" PRIu32, x, y);
    }
}

/* "17.6 % of vectors touch the window's border; try -w 16". */
static void border_text(uint64_t count, uint64_t blocks, const struct gpume_params *params,
    char text[BORDER_TEXT_BYTES])
{
    char window[32];
    border_try(count, blocks, params, window);
    snprintf(text, BORDER_TEXT_BYTES, "%.1f %% of vectors touch the window's border%s%s",
        blocks > 0 ? 100 * (double)count / (double)blocks : 0, window[0] ? "; try -w " : "",
        window);
}

/* --- sums */

static void total_add(struct gpume_total *total, uint64_t value)
{
    total->low += value;
    total->high += total->low < value;
}

static double total_value(const struct gpume_total *total)
{
    return (double)total->high * 18446744073709551616.0 + (double)total->low;
}

static void psnr_add(struct gpume_psnr_sum *sum, double psnr)
{
    if (isfinite(psnr)) {
        sum->sum += psnr;
        sum->finite++;
    }
}

void gpume_summary_set_engine(struct gpume_summary *summary, const struct gpume_info *info)
{
    snprintf(summary->backend, sizeof(summary->backend), "%s", info->backend);
    snprintf(summary->device, sizeof(summary->device), "%s", info->device);
    snprintf(summary->driver, sizeof(summary->driver), "%s", info->driver);
    snprintf(summary->search, sizeof(summary->search), "%s", info->search);
    summary->blocks_x = info->blocks_x;
    summary->blocks_y = info->blocks_y;
    summary->candidates = info->candidates;
    summary->host_bytes = info->host_bytes;
    summary->device_bytes = info->device_bytes;
    if (info->standby) {
        snprintf(summary->standby, sizeof(summary->standby), "%s", info->standby);
        snprintf(
            summary->standby_device, sizeof(summary->standby_device), "%s", info->standby_device);
        summary->standby_frame = info->standby_frame;
    }
}

void gpume_summary_set_lanes(struct gpume_summary *summary, gpume *ctx)
{
    struct gpume_lane_info lanes[GPUME_SUMMARY_LANES_MAX];
    uint32_t count = 0;
    if (gpume_list_lanes(ctx, lanes, GPUME_SUMMARY_LANES_MAX, &count) != GPUME_OK || count < 2 ||
        !summary->run->params.devices) {
        return;
    }
    summary->lane_count = gpume_min_u32(count, GPUME_SUMMARY_LANES_MAX);
    for (uint32_t i = 0; i < summary->lane_count; i++) {
        struct gpume_summary_lane *lane = &summary->lanes[i];
        *lane = (struct gpume_summary_lane){.fields = lanes[i].fields,
            .busy_ns = lanes[i].busy_ns,
            .host_bytes = lanes[i].host_bytes,
            .device_bytes = lanes[i].device_bytes,
            .failed = lanes[i].failed,
            .unopened = lanes[i].unopened};
        snprintf(lane->backend, sizeof(lane->backend), "%s", lanes[i].backend);
        snprintf(lane->device, sizeof(lane->device), "%s", lanes[i].device);
    }
}

static void print_lanes(const struct gpume_summary *summary, FILE *stream)
{
    const double whole = summary->whole_ns > 0 ? (double)summary->whole_ns : 1;
    for (uint32_t i = 0; i < summary->lane_count; i++) {
        const struct gpume_summary_lane *lane = &summary->lanes[i];
        fprintf(stream, "             %s: %s: %" PRIu64 " frame pair%s, busy %.0f %%%s\n",
            lane->backend, lane->device, lane->fields, gpume_plural(lane->fields),
            100 * (double)lane->busy_ns / whole,
            lane->failed     ? "; failed"
            : lane->unopened ? "; not needed"
                             : "");
    }
}

static void statistics_add(struct gpume_statistics *statistics, const struct gpume_params *params,
    const struct gpume_summary_row *row)
{
    const uint64_t pixels = (uint64_t)params->width * params->height;
    const struct gpume_sums *sums = &row->sums;
    statistics->fields++;
    statistics->blocks += row->blocks;
    statistics->border += row->border;
    total_add(&statistics->zero, sums->zero);
    total_add(&statistics->sad_before, sums->sad_before);
    total_add(&statistics->sad_after, sums->sad_after);
    total_add(&statistics->sse_before, sums->sse_before);
    total_add(&statistics->sse_after, sums->sse_after);
    psnr_add(&statistics->psnr_before, gpume_psnr(params->bits, pixels, sums->sse_before));
    psnr_add(&statistics->psnr_after, gpume_psnr(params->bits, pixels, sums->sse_after));
}

static uint64_t frames_needed(const struct gpume_field *field)
{
    uint64_t last = field->frame > field->ref ? field->frame : field->ref;
    for (uint32_t i = 0; i < field->ref_count; i++) {
        last = field->refs[i] > last ? field->refs[i] : last;
    }
    return last + 1;
}

void gpume_summary_add_row(struct gpume_summary *summary, const struct gpume_summary_row *row)
{
    const struct gpume_params *params = &summary->run->params;
    if (summary->all.fields == 0) {
        summary->first_field = row->frame;
    }
    summary->targets += summary->all.fields == 0 || row->frame != summary->last_field;
    summary->last_field = row->frame;
    summary->frames = row->needed > summary->frames ? row->needed : summary->frames;
    statistics_add(&summary->all, params, row);
    if (!params->best_reference) {
        statistics_add(&summary->directions[row->ref > row->frame], params, row);
    }
    summary->checked += row->checked;
    summary->matched += row->matched;
}

void gpume_summary_add(struct gpume_summary *summary, const struct gpume_field *field)
{
    const struct gpume_summary_row row = {
        .frame = field->frame,
        .ref = field->ref,
        .blocks = gpume_shown_count(field),
        .sums = field->sums,
        .border = gpume_border_count(field, &summary->run->params),
        .needed = frames_needed(field),
        .checked = field->checked,
        .matched = field->matched,
    };
    gpume_summary_add_row(summary, &row);
}

uint64_t *gpume_summary_stage_ns(struct gpume_stats *stats, const char *name)
{
    uint32_t i = 0;
    while (i < stats->stage_count && strcmp(stats->stages[i].name, name) != 0) {
        i++;
    }
    if (i == stats->stage_count) {
        stats->stages[stats->stage_count++] = (struct gpume_stage){name, 0};
    }
    return &stats->stages[i].ns;
}

static void add_stats(struct gpume_stats *to, const struct gpume_stats *from)
{
    to->busy_ns += from->busy_ns;
    to->candidates += from->candidates;
    to->past_blocks += from->past_blocks;
    to->past_parts += from->past_parts;
    for (uint32_t i = 0; i < from->stage_count; i++) {
        *gpume_summary_stage_ns(to, from->stages[i].name) += from->stages[i].ns;
    }
}

void gpume_summary_set_stats(struct gpume_summary *summary, const struct gpume_summary *before,
    const struct gpume_stats *stats)
{
    const uint64_t fields = summary->all.fields - before->all.fields;
    struct gpume_stats sum = *stats;
    if (sum.fields > fields) { /* the engine is ahead of the outputs */
        sum.candidates = sum.candidates / sum.fields * fields; /* equal for all fields */
        sum.past_blocks = sum.past_blocks / sum.fields * fields;
        sum.past_parts = sum.past_parts / sum.fields * fields;
    }
    add_stats(&sum, &before->stats);
    summary->stats = sum;
}

/* Blocks of a field. */
static uint64_t summary_blocks(const struct gpume_summary *summary)
{
    const struct gpume_params *params = &summary->run->params;
    uint64_t blocks = 0;
    if (params->shape_count == 0) {
        return (uint64_t)summary->blocks_x * summary->blocks_y;
    }
    for (uint32_t i = 0; i < params->shape_count; i++) {
        blocks += gpume_div_up(params->width, params->shapes[i].width) *
                  gpume_div_up(params->height, params->shapes[i].height);
    }
    return blocks;
}

/* The mean of the finite PSNRs; infinity if there are none. */
static double summary_psnr_mean(const struct gpume_psnr_sum *sum)
{
    return sum->finite > 0 ? sum->sum / (double)sum->finite : (double)INFINITY;
}

/* The PSNR of the mean squared error over all pixels of all fields; infinity if that is 0. */
static double summary_psnr(const struct gpume_summary *summary,
    const struct gpume_statistics *statistics, const struct gpume_total *sse)
{
    const struct gpume_params *params = &summary->run->params;
    const double peak = (double)((1u << params->bits) - 1);
    const double pixels = (double)params->width * params->height * (double)statistics->fields;
    const double value = total_value(sse);
    return value > 0 ? 10 * log10(peak * peak * pixels / value) : (double)INFINITY;
}

/* Fractions of the candidates that were pruned by sums of large and of small boxes, and compared.
 * They add up to 1. */
struct summary_shares {
    double by_blocks, by_parts, compared;
};

static struct summary_shares summary_elimination(const struct gpume_summary *summary)
{
    const struct gpume_stats *stats = &summary->stats;
    const double all = stats->candidates > 0 ? (double)stats->candidates : 1;
    return (struct summary_shares){
        .by_blocks = (double)(stats->candidates - stats->past_blocks) / all,
        .by_parts = (double)(stats->past_blocks - stats->past_parts) / all,
        .compared = (double)stats->past_parts / all,
    };
}

/* Per second; 0 if no time has passed. */
static double summary_rate(uint64_t count, uint64_t ns)
{
    return ns > 0 ? (double)count * 1e9 / (double)ns : 0;
}

void gpume_summary_check_line(const struct gpume_summary *summary, char *text, size_t bytes)
{
    const bool one = summary->run->params.candidates <= 1;
    snprintf(text, bytes, "Motion vectors matched in %" PRIu64 " of %" PRIu64 " %s",
        summary->matched, summary->checked, one ? "instances" : "blocks");
}

/* The stages as the outputs name them. Decode, engine and write are one thread each; the stages
 * between engine and write are parts of what the engine's thread does or waits for. */
#define STAGES 9
struct summary_stage {
    const char *name;
    uint64_t ns;
    double busy; /* fraction of the whole time */
};

static void summary_stages(const struct gpume_summary *summary, struct summary_stage stages[STAGES])
{
    static const char *const of_engine[] = {"upload", "match", "reduce", "rank", "readback"};
    const struct gpume_stats *stats = &summary->stats;
    const double whole = summary->whole_ns > 0 ? (double)summary->whole_ns : 1;
    size_t count = 0;
    stages[count++] = (struct summary_stage){"decode", summary->decode_ns, 0};
    stages[count++] = (struct summary_stage){"engine", stats->busy_ns, 0};
    for (size_t i = 0; i < sizeof(of_engine) / sizeof(of_engine[0]); i++) {
        stages[count++] =
            (struct summary_stage){of_engine[i], gpume_stats_ns(stats, of_engine[i]), 0};
    }
    stages[count++] = (struct summary_stage){"write", summary->write_ns, 0};
    stages[count++] = (struct summary_stage){"whole", summary->whole_ns, 0};
    for (size_t i = 0; i < count; i++) {
        stages[i].busy = (double)stages[i].ns / whole;
    }
}

void gpume_summary_busy_line(const struct gpume_summary *summary, char *text, size_t bytes)
{
    static const char *const before[] = {"busy: ", ", ", " (", ", ", ", ", ", ", ", ", "), "};
    struct summary_stage stages[STAGES];
    summary_stages(summary, stages);
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        gpume_text_join(
            text, bytes, "", "%s%s %.0f %%", before[i], stages[i].name, 100 * stages[i].busy);
    }
    gpume_text_join(text, bytes, "", " of %.3f s", (double)summary->whole_ns / 1e9);
}

/* "1 block", "2 blocks". */
static void print_count(FILE *stream, uint64_t count, const char *one)
{
    fprintf(stream, "%" PRIu64 " %s%s", count, one, gpume_plural(count));
}

/* name: heading if there are two directions; else "". */
static void print_statistics(const struct gpume_statistics *statistics,
    const struct gpume_params *params, const char *name, FILE *stream)
{
    char before[32], after[32];
    const double pixels = (double)statistics->fields * params->width * params->height;
    const double blocks = (double)statistics->blocks;
    fprintf(stream, "%-20s before           after\n", name);
    fprintf(stream, "mean SAD     %14.3f  %14.3f  per pixel, of %u\n",
        total_value(&statistics->sad_before) / pixels, total_value(&statistics->sad_after) / pixels,
        (1u << params->bits) - 1);
    gpume_text_psnr(before, sizeof(before), summary_psnr_mean(&statistics->psnr_before));
    gpume_text_psnr(after, sizeof(after), summary_psnr_mean(&statistics->psnr_after));
    fprintf(stream, "mean PSNR    %14s  %14s  dB\n", before, after);
    fprintf(stream, "zero vectors %14s  %14.1f  %%\n", "",
        100 * total_value(&statistics->zero) / blocks);
}

static void print_all_statistics(const struct gpume_summary *summary, FILE *stream)
{
    const struct gpume_params *params = &summary->run->params;
    const bool both = params->direction == GPUME_DIRECTION_BOTH && !params->best_reference;
    char border[BORDER_TEXT_BYTES];
    print_statistics(&summary->all, params, both ? "both directions" : "", stream);
    for (size_t i = 0; i < 2 && both; i++) {
        if (summary->directions[i].fields > 0) {
            print_statistics(&summary->directions[i], params, gpume_names_direction[i], stream);
        }
    }
    border_text(summary->all.border, summary->all.blocks, params, border);
    fprintf(stream, "border       %s\n", border);
}

static void print_elimination(const struct gpume_summary *summary, FILE *stream)
{
    const struct summary_shares shares = summary_elimination(summary);
    if (summary->stats.past_parts == summary->stats.candidates) {
        fprintf(stream, "elimination  none: every candidate compared\n");
        return;
    }
    fprintf(stream,
        "elimination  %.1f %% of candidates skipped by sums of large boxes, %.1f %% by small ones, "
        "%.1f %% compared\n",
        100 * shares.by_blocks, 100 * shares.by_parts, 100 * shares.compared);
}

static void print_trouble(const struct gpume_summary *summary, FILE *stream)
{
    if (summary->refused > 0) {
        fprintf(stream, "refused      %" PRIu64 " damaged packet%s skipped\n", summary->refused,
            gpume_plural(summary->refused));
    }
    if (summary->scaled > 0) {
        fprintf(stream, "scaled       ");
        print_count(stream, summary->scaled, "frame");
        fprintf(stream, " converted to the first frame's size and bit depth\n");
    }
}

static void print_capitals(FILE *stream, const char *name)
{
    for (; *name; name++) {
        putc(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name, stream);
    }
}

static void print_cost(const struct gpume_params *params, FILE *stream)
{
    static const char *const predictors[] = {
        "(0,0)", "the median of neighbours", "the file's vectors"};
    const enum gpume_metric metric = gpume_cost_metric(params);
    if (params->metric == GPUME_METRIC_SAD && metric == params->metric && !params->rate) {
        return;
    }
    fprintf(stream, "cost         ");
    print_capitals(stream, gpume_names_metric[metric]);
    if (metric != params->metric) {
        fprintf(stream, " (");
        print_capitals(stream, gpume_names_metric[params->metric]);
        fprintf(stream, " of whole pixels)");
    }
    if (params->rate) {
        fprintf(stream, " + %g per bit, counted from %s", params->lambda / 256.0,
            predictors[params->predictor]);
    }
    if (params->predictor == GPUME_PREDICTOR_MEDIAN) {
        fprintf(stream, ", %" PRIu32 " pass%s", params->passes, params->passes == 1 ? "" : "es");
    }
    putc('\n', stream);
}

static void print_references(const struct gpume_params *params, FILE *stream)
{
    if (params->distance_count == 0 && params->ref_distance == 1 && !params->best_reference) {
        return;
    }
    fprintf(stream, "references   ");
    for (uint32_t i = 0; i < params->distance_count; i++) {
        fprintf(stream, "%s%" PRIu32, i > 0 ? "," : "", params->distances[i]);
    }
    if (params->distance_count == 0) {
        fprintf(stream, "%" PRIu32, params->ref_distance);
    }
    fprintf(stream, " frame%s away%s\n",
        gpume_plural(params->distance_count > 0 ? 2 : params->ref_distance),
        params->bidirectional    ? "; the best for each block, or the mean of two"
        : params->best_reference ? "; the best for each block"
                                 : "");
}

/* What differs from the plain search, line by line. */
static void print_search(const struct gpume_params *params, FILE *stream)
{
    if (params->partition) {
        fprintf(stream, "partition    largest squares divided where that costs less\n");
    }
    if (params->subpel > 1) {
        fprintf(stream, "subpel       1/%" PRIu32 " pixel, %s interpolation, %s\n", params->subpel,
            gpume_names_interpolation[params->interpolation],
            params->subpel_search == GPUME_SUBPEL_FULL ? "full search" : "refined whole pixels");
    }
    print_cost(params, stream);
    print_references(params, stream);
    if (params->candidates > 1) {
        fprintf(stream, "matches      %" PRIu32 " per block\n", params->candidates);
    }
}

void gpume_summary_print(const struct gpume_summary *summary, bool verbose, FILE *stream)
{
    const struct gpume_params *params = &summary->run->params;
    const uint64_t blocks = summary_blocks(summary);
    const double seconds = (double)summary->whole_ns / 1e9;
    const double candidates =
        (double)blocks * (double)summary->candidates * (double)summary->all.fields;
    fprintf(stream, "input        ");
    gpume_visible_put(summary->run->input, stream);
    fprintf(stream, ": %" PRIu32 " x %" PRIu32 " pixels, %" PRIu32 " bits, ", params->width,
        params->height, params->bits);
    print_count(stream, summary->delivered, "frame");
    fprintf(stream, " read\nsearch       ");
    print_count(stream, summary->all.fields, "frame pair");
    fprintf(stream, " of ");
    print_count(stream, blocks, "block");
    if (params->shape_count > 1) {
        fprintf(stream, " of %" PRIu32 " shapes", params->shape_count);
    }
    fprintf(stream, ", ");
    print_count(stream, summary->candidates, "candidate");
    fprintf(stream, " per block\n");
    print_search(params, stream);
    if (summary->run->asked->prefilter.text) {
        fprintf(stream, "prefilter    ");
        gpume_visible_put(summary->run->asked->prefilter.text, stream);
        fprintf(stream, ": for the search only; statistics use the original frames\n");
    }
    if (params->direction != GPUME_DIRECTION_PAST) {
        fprintf(stream, "direction    %s\n",
            params->direction == GPUME_DIRECTION_BOTH ? "both: past and future" : "future");
    }
    fprintf(stream, "engine       %s: %s%s%s\n", summary->backend, summary->device,
        summary->driver[0] ? ", " : "", summary->driver);
    print_lanes(summary, stream);
    if (summary->standby[0]) {
        fprintf(stream, "             failed; from frame %" PRIu64 " on: %s: %s\n",
            summary->standby_frame, summary->standby, summary->standby_device);
    }
    fprintf(stream,
        "time         %.3f s, %.1f frame pairs per second, %.3g candidates per second\n", seconds,
        summary_rate(summary->all.fields, summary->whole_ns),
        seconds > 0 ? candidates / seconds : 0);
    if (verbose) {
        print_elimination(summary, stream);
    }
    print_all_statistics(summary, stream);
    print_trouble(summary, stream);
    if (params->check) {
        char line[128];
        gpume_summary_check_line(summary, line, sizeof(line));
        fprintf(stream, "%s\n", line);
    }
}

/* --- summary.json. Counts are exact integers; infinity, which JSON cannot represent, is null. */

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
        gpume_text_join(text, sizeof(text), ",", "%" PRIu32, params->distances[i]);
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
        json, "psnr_before", summary_psnr(summary, statistics, &statistics->sse_before), 3);
    gpume_json_real(
        json, "psnr_after", summary_psnr(summary, statistics, &statistics->sse_after), 3);
    gpume_json_end(json);
    gpume_json_begin(json, "means");
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        gpume_json_real(json, totals[i].key, total_value(totals[i].value) / fields, 3);
    }
    gpume_json_real(json, "psnr_before", summary_psnr_mean(&statistics->psnr_before), 3);
    gpume_json_real(json, "psnr_after", summary_psnr_mean(&statistics->psnr_after), 3);
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
    border_try(all->border, all->blocks, &summary->run->params, window);
    gpume_json_begin(json, "border");
    gpume_json_real(
        json, "share", all->blocks > 0 ? (double)all->border / (double)all->blocks : 0, 6);
    gpume_json_text(json, "try_window", window[0] ? window : NULL);
    gpume_json_end(json);
}

static void put_elimination(struct gpume_json *json, const struct gpume_summary *summary)
{
    const struct summary_shares shares = summary_elimination(summary);
    gpume_json_begin(json, "elimination");
    gpume_json_count(json, "candidates", summary->stats.candidates);
    gpume_json_real(json, "dropped_by_block_sums", shares.by_blocks, 9);
    gpume_json_real(json, "dropped_by_part_sums", shares.by_parts, 9);
    gpume_json_real(json, "compared", shares.compared, 9);
    gpume_json_end(json);
}

static void put_stages(struct gpume_json *json, const struct gpume_summary *summary)
{
    struct summary_stage stages[STAGES];
    summary_stages(summary, stages);
    gpume_json_begin(json, "stages");
    for (size_t i = 0; i < STAGES; i++) {
        const uint64_t ns = stages[i].ns;
        gpume_json_begin(json, stages[i].name);
        gpume_json_real(json, "seconds", (double)ns / 1e9, 9);
        gpume_json_real(json, "fields_per_second",
            ns > 0 ? summary_rate(summary->all.fields, ns) : (double)INFINITY, 3);
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
    gpume_json_count(json, "blocks_per_field", summary_blocks(summary));
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
