/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run amounts to: adds up fields as they pass, then writes summary.json and the closing
 * lines for people. One thread. The struct is filled in by the caller in three steps: what is known
 * before the first field, the fields, what is known after the last.
 */
#ifndef GPUME_SINKS_SUMMARY_H
#define GPUME_SINKS_SUMMARY_H

#include "files/json.h"
#include "gpume/gpume.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Grows by one when a key of summary.json changes its meaning or goes away. */
#define GPUME_SUMMARY_FORMAT 1

/* A sum of any number of 64-bit figures: a million fields of squared 16-bit differences pass 2^64.
 */
struct gpume_total {
    uint64_t low, high;
};

/* PSNR is infinite where two frames are equal. The mean is over the fields where it is not. */
struct gpume_psnr_sum {
    double sum;
    uint64_t finite;
};

/* Sums over fields. */
struct gpume_figures {
    uint64_t fields;
    struct gpume_total zero, sad_before, sad_after, sse_before, sse_after;
    struct gpume_psnr_sum psnr_before, psnr_after;
};

struct gpume_summary {
    /* Before the first field. Strings outlive the summary. */
    const struct gpume_run *run;
    const char *codec, *decoder, *pixel_format;

    /* From gpume_get_info; copied, since the context is closed before the summary is written. */
    char backend[32], device[256], driver[256], search[32];
    uint32_t blocks_x, blocks_y;
    uint64_t candidates, host_bytes, device_bytes;
    char standby[16], standby_device[64]; /* what the run went on with; "": the GPU never failed */
    uint64_t standby_frame;               /* from this target frame on */

    /* By gpume_summary_add. */
    struct gpume_figures all, ways[2];         /* [0]: of those that look back, [1]: ahead */
    uint64_t targets, first_field, last_field; /* target frames; the first and the last of them */
    uint64_t checked, matched;

    /* After the last field. */
    struct gpume_stats stats;
    uint64_t decode_ns, write_ns, whole_ns; /* whole: first frame asked for to last field written */
    uint64_t delivered, refused, scaled;    /* frames of the input */
};

void gpume_summary_set_engine(struct gpume_summary *summary, const struct gpume_info *info);

/* The engine's times and counts so far, those of the delivered fields; before: of the run that this
 * one continues, all 0 where it continues none. */
void gpume_summary_set_stats(struct gpume_summary *summary, const struct gpume_summary *before,
    const struct gpume_stats *stats);

/* The time of that stage, which is appended to the rows if it is not among them. */
uint64_t *gpume_summary_stage_ns(struct gpume_stats *stats, const char *name);

void gpume_summary_add(struct gpume_summary *summary, const struct gpume_field *field);

/* All members of summary.json behind its format, into an object that was begun. */
void gpume_summary_put(const struct gpume_summary *summary, struct gpume_json *json);

/* Of these, what makes a run that one and no other: version, input, parameters. */
void gpume_summary_put_job(const struct gpume_summary *summary, struct gpume_json *json);

/* summary.json onto standard output. Logs one line on failure. */
int gpume_summary_print_json(const struct gpume_summary *summary);

/* The closing summary. The caller checks that the stream took it. */
void gpume_summary_print(const struct gpume_summary *summary, FILE *stream);

/* "Motion vectors matched in N of M instances", without line end. */
void gpume_summary_check_line(const struct gpume_summary *summary, char *text, size_t bytes);

/* The share of the whole time that every stage was busy, without line end. */
void gpume_summary_busy_line(const struct gpume_summary *summary, char *text, size_t bytes);

#endif
