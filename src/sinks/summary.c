/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds up the statistics of a run and prints them for people. summary_json.c writes the same for
 * programs.
 */
#include "sinks/summary.h"

#include "base/grid.h"
#include "base/params.h"
#include "files/text_file.h"
#include "files/visible.h"
#include "sinks/border.h"
#include "sinks/shown.h"
#include "sinks/summary_statistics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void total_add(struct gpume_total *total, uint64_t value)
{
    total->low += value;
    total->high += total->low < value;
}

double gpume_total_value(const struct gpume_total *total)
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
            lane->backend, lane->device, lane->fields, lane->fields == 1 ? "" : "s",
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

uint64_t gpume_summary_blocks(const struct gpume_summary *summary)
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

double gpume_summary_psnr_mean(const struct gpume_psnr_sum *sum)
{
    return sum->finite > 0 ? sum->sum / (double)sum->finite : (double)INFINITY;
}

double gpume_summary_psnr(const struct gpume_summary *summary,
    const struct gpume_statistics *statistics, const struct gpume_total *sse)
{
    const struct gpume_params *params = &summary->run->params;
    const double peak = (double)((1u << params->bits) - 1);
    const double pixels = (double)params->width * params->height * (double)statistics->fields;
    const double value = gpume_total_value(sse);
    return value > 0 ? 10 * log10(peak * peak * pixels / value) : (double)INFINITY;
}

struct gpume_elimination gpume_summary_elimination(const struct gpume_summary *summary)
{
    const struct gpume_stats *stats = &summary->stats;
    const double all = stats->candidates > 0 ? (double)stats->candidates : 1;
    return (struct gpume_elimination){
        .by_blocks = (double)(stats->candidates - stats->past_blocks) / all,
        .by_parts = (double)(stats->past_blocks - stats->past_parts) / all,
        .compared = (double)stats->past_parts / all,
    };
}

double gpume_summary_rate(uint64_t count, uint64_t ns)
{
    return ns > 0 ? (double)count * 1e9 / (double)ns : 0;
}

void gpume_summary_check_line(const struct gpume_summary *summary, char *text, size_t bytes)
{
    const bool one = summary->run->params.candidates <= 1;
    snprintf(text, bytes, "Motion vectors matched in %" PRIu64 " of %" PRIu64 " %s",
        summary->matched, summary->checked, one ? "instances" : "blocks");
}

void gpume_summary_stages(
    const struct gpume_summary *summary, struct gpume_summary_stage stages[GPUME_SUMMARY_STAGES])
{
    static const char *const of_engine[] = {"upload", "match", "reduce", "rank", "readback"};
    const struct gpume_stats *stats = &summary->stats;
    const double whole = summary->whole_ns > 0 ? (double)summary->whole_ns : 1;
    size_t count = 0;
    stages[count++] = (struct gpume_summary_stage){"decode", summary->decode_ns, 0};
    stages[count++] = (struct gpume_summary_stage){"engine", stats->busy_ns, 0};
    for (size_t i = 0; i < sizeof(of_engine) / sizeof(of_engine[0]); i++) {
        stages[count++] =
            (struct gpume_summary_stage){of_engine[i], gpume_stats_ns(stats, of_engine[i]), 0};
    }
    stages[count++] = (struct gpume_summary_stage){"write", summary->write_ns, 0};
    stages[count++] = (struct gpume_summary_stage){"whole", summary->whole_ns, 0};
    for (size_t i = 0; i < count; i++) {
        stages[i].busy = (double)stages[i].ns / whole;
    }
}

void gpume_summary_busy_line(const struct gpume_summary *summary, char *text, size_t bytes)
{
    static const char *const before[] = {"busy: ", ", ", " (", ", ", ", ", ", ", ", ", "), "};
    struct gpume_summary_stage stages[GPUME_SUMMARY_STAGES];
    gpume_summary_stages(summary, stages);
    size_t used = 0;
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]) && used < bytes; i++) {
        used += (size_t)snprintf(text + used, bytes - used, "%s%s %.0f %%", before[i],
            stages[i].name, 100 * stages[i].busy);
    }
    if (used < bytes) {
        snprintf(text + used, bytes - used, " of %.3f s", (double)summary->whole_ns / 1e9);
    }
}

/* "1 block", "2 blocks". */
static void print_count(FILE *stream, uint64_t count, const char *one)
{
    fprintf(stream, "%" PRIu64 " %s%s", count, one, count == 1 ? "" : "s");
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
        gpume_total_value(&statistics->sad_before) / pixels,
        gpume_total_value(&statistics->sad_after) / pixels, (1u << params->bits) - 1);
    gpume_text_psnr(before, sizeof(before), gpume_summary_psnr_mean(&statistics->psnr_before));
    gpume_text_psnr(after, sizeof(after), gpume_summary_psnr_mean(&statistics->psnr_after));
    fprintf(stream, "mean PSNR    %14s  %14s  dB\n", before, after);
    fprintf(stream, "zero vectors %14s  %14.1f  %%\n", "",
        100 * gpume_total_value(&statistics->zero) / blocks);
}

static void print_all_statistics(const struct gpume_summary *summary, FILE *stream)
{
    const struct gpume_params *params = &summary->run->params;
    const bool both = params->direction == GPUME_DIRECTION_BOTH && !params->best_reference;
    char border[GPUME_BORDER_TEXT_BYTES];
    print_statistics(&summary->all, params, both ? "both directions" : "", stream);
    for (size_t i = 0; i < 2 && both; i++) {
        if (summary->directions[i].fields > 0) {
            print_statistics(&summary->directions[i], params, gpume_names_direction[i], stream);
        }
    }
    gpume_border_text(summary->all.border, summary->all.blocks, params, border);
    fprintf(stream, "border       %s\n", border);
}

static void print_elimination(const struct gpume_summary *summary, FILE *stream)
{
    const struct gpume_elimination shares = gpume_summary_elimination(summary);
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
            summary->refused == 1 ? "" : "s");
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
        params->distance_count == 0 && params->ref_distance == 1 ? "" : "s",
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
    const uint64_t blocks = gpume_summary_blocks(summary);
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
        gpume_summary_rate(summary->all.fields, summary->whole_ns),
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
