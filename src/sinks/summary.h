/* SPDX-License-Identifier: BSD-2-Clause */
/* What is added up of a run: the blocks that count, a row for each field, and the summary. One
 * thread. */
#ifndef GPUME_SINKS_SUMMARY_H
#define GPUME_SINKS_SUMMARY_H

#include "files/forms.h"
#include "sinks/sink.h"

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* --- The blocks of a field that statistics and pictures show: the parts of a partition, else the
 * first layer. */

struct gpume_shown {
    const struct gpume_layer *layer;
    size_t index; /* in the layer */
    uint32_t x, y, rank;
};

static inline uint64_t gpume_shown_count(const struct gpume_field *field)
{
    const struct gpume_layer *first = field->layers[0];
    return field->part_count > 0 ? field->part_count : (uint64_t)first->blocks_x * first->blocks_y;
}

/* The block at this place in the order of the output. */
static inline struct gpume_shown gpume_shown_at(const struct gpume_field *field, uint64_t i)
{
    const struct gpume_part *part = field->part_count > 0 ? &field->parts[i] : NULL;
    struct gpume_shown shown = {
        .layer = field->layers[part ? part->layer : 0], .index = part ? part->block : (size_t)i};
    shown.x = (uint32_t)(shown.index % shown.layer->blocks_x) * shown.layer->block_w;
    shown.y = (uint32_t)(shown.index / shown.layer->blocks_x) * shown.layer->block_h;
    shown.rank = part ? part->rank : shown.layer->ranks[shown.index];
    return shown;
}

/* The block that holds a pixel of the picture. */
static inline struct gpume_shown gpume_shown_holding(
    const struct gpume_field *field, uint32_t x, uint32_t y)
{
    const uint64_t count = gpume_shown_count(field);
    struct gpume_shown shown = gpume_shown_at(field, 0);
    for (uint64_t i = 0; i < count; i++) {
        shown = gpume_shown_at(field, i);
        if (x >= shown.x && y >= shown.y && x - shown.x < shown.layer->block_w &&
            y - shown.y < shown.layer->block_h) {
            break;
        }
    }
    return shown;
}

/* --- A field's row of frames.csv, with which a row of the report begins, too. */

struct gpume_frame_row {
    uint64_t frame, ref, blocks, zero, sad_before, sad_after, sse_before, sse_after;
    int64_t time;
    double psnr_before, psnr_after;
    /* With GPUME_FRAME_BORDER: blocks whose vectors lead to the window's border. */
    uint64_t border;
    double border_share;
    /* With GPUME_FRAME_REPORT, of which gpume_frame_row_make fills in nothing. */
    double dx_mean, dy_mean, length_mean, length_max; /* pixels */
    uint32_t cost_max;
    bool cut;
};

/* Kinds of the table: bits. */
enum { GPUME_FRAME_BORDER = 1, GPUME_FRAME_REPORT = 2 };

/* The border comes with params->confidence. */
struct gpume_table gpume_frame_table(unsigned kind);

struct gpume_frame_row gpume_frame_row_make(
    const struct gpume_params *params, const struct gpume_field *field);

/*
 * --- The summary of a run: adds up its fields, then writes summary.json and the closing lines for
 * people. One thread. The caller fills in the struct in three steps: before the first field, with
 * every field, and after the last one.
 */

/* Raise it by one when a key of summary.json is removed or changes its meaning. */
#define GPUME_SUMMARY_FORMAT 1

/* A 128-bit sum: a million fields of squared 16-bit differences exceed 2^64. */
struct gpume_total {
    uint64_t low, high;
};

/* A sum of PSNRs; infinite ones, of equal frames, are left out. */
struct gpume_psnr_sum {
    double sum;
    uint64_t finite;
};

/* Sums over fields. */
struct gpume_statistics {
    uint64_t fields;
    uint64_t blocks, border; /* border: see below */
    struct gpume_total zero, sad_before, sad_after, sse_before, sse_after;
    struct gpume_psnr_sum psnr_before, psnr_after;
};

/* An engine of a run that several share. */
struct gpume_summary_lane {
    char backend[32], device[256];
    uint64_t fields, busy_ns, host_bytes, device_bytes;
    bool failed, unopened;
};

#define GPUME_SUMMARY_LANES_MAX 40u /* more than a context takes */

struct gpume_summary {
    /* Before the first field */
    const struct gpume_run *run;

    /* From gpume_get_info; copied, since the context is closed before the summary is written. */
    char backend[32], device[256], driver[256], search[32];
    uint32_t blocks_x, blocks_y;
    uint64_t candidates, host_bytes, device_bytes;
    char standby[16], standby_device[64]; /* the engine that took over; "": no GPU failed */
    uint64_t standby_frame;               /* its first target frame */
    struct gpume_summary_lane lanes[GPUME_SUMMARY_LANES_MAX];
    uint32_t lane_count; /* 0: one engine does all */

    /* By gpume_summary_add. */
    struct gpume_statistics all, directions[2]; /* [0]: past, [1]: future */
    uint64_t targets, first_field, last_field;  /* number of target frames, first and last one */
    uint64_t frames;                            /* of the input, that the fields needed */
    uint64_t checked, matched;

    /* After the last field. */
    struct gpume_stats stats;
    uint64_t decode_ns, write_ns,
        whole_ns; /* whole: from requesting the first frame to writing the last field */
    uint64_t delivered, refused, scaled; /* frames of the input */
};

/* How many of the blocks that are shown have a vector with |dx| = window x > 0 or |dy| = window y >
 * 0. */
uint64_t gpume_border_count(const struct gpume_field *field, const struct gpume_params *params);

void gpume_summary_set_engine(struct gpume_summary *summary, const struct gpume_info *info);

/* Sets what each engine has done, where several share the run. */
void gpume_summary_set_lanes(struct gpume_summary *summary, gpume *ctx);

/* Sets the engine's times and counts for the fields added so far. before: the summary of the run
 * that this one continues; all 0 if there is none. */
void gpume_summary_set_stats(struct gpume_summary *summary, const struct gpume_summary *before,
    const struct gpume_stats *stats);

/* The time of that stage, which is added if stats does not have it. */
uint64_t *gpume_summary_stage_ns(struct gpume_stats *stats, const char *name);

void gpume_summary_add(struct gpume_summary *summary, const struct gpume_field *field);

/* What a summary adds up of a field, and a row of frames.csv holds but for the last members. */
struct gpume_summary_row {
    uint64_t frame, ref, blocks;
    struct gpume_sums sums;
    uint64_t border, needed; /* needed: frames of the input */
    uint64_t checked, matched;
};
void gpume_summary_add_row(struct gpume_summary *summary, const struct gpume_summary_row *row);

/* Puts all members of summary.json but its format into the current object. */
void gpume_summary_put(const struct gpume_summary *summary, struct gpume_json *json);

/* Only those that the fields decide, from "fields" on: of *summary->run it needs the picture's
 * size, bits, window, best_reference and check. */
void gpume_summary_put_results(const struct gpume_summary *summary, struct gpume_json *json);

/* Puts the members that identify a run: version, input, parameters. */
void gpume_summary_put_job(const struct gpume_summary *summary, struct gpume_json *json);

/* Writes summary.json to standard output. Logs one line on failure. */
int gpume_summary_print_json(const struct gpume_summary *summary);

/* Whether runs whose files belong together may differ in this parameter, or property of the input,
 * by its key in the summary: it affects speed only, or belongs to the machine. */
bool gpume_summary_may_differ(const char *key);

/* Prints the closing summary; verbose: with what only experts need. The caller checks the stream
 * for errors. */
void gpume_summary_print(const struct gpume_summary *summary, bool verbose, FILE *stream);

/* "Motion vectors matched in N of M instances", without line end. */
void gpume_summary_check_line(const struct gpume_summary *summary, char *text, size_t bytes);

/* How much of the whole time each stage was busy, without line end. */
void gpume_summary_busy_line(const struct gpume_summary *summary, char *text, size_t bytes);

#endif
