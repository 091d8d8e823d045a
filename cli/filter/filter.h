/* SPDX-License-Identifier: BSD-2-Clause */
/* The job of gpume filter, for commands that take its pictures in place of a video, and its page.
 */
#ifndef GPUME_CLI_FILTER_FILTER_H
#define GPUME_CLI_FILTER_FILTER_H

#include "gpume/filter.h"
#include "job.h"

struct gpume_encoder;

struct gpume_filter_noise {
    bool given;
    double sigma;
};

extern const struct gpume_option_type gpume_type_noise; /* a struct gpume_filter_noise */

struct gpume_filter_options {
    struct gpume_video_options video;
    struct gpume_frame_range range;
    double strength; /* below 0, until it is checked: that of the encoder */
    double spatial;
    struct gpume_filter_noise noise;
    const struct gpume_encoder *encoder; /* NULL: not given */
    double crf;                          /* 0: not given, as is qp */
    uint32_t qp;
    uint64_t kbits;
    bool doubtful;                      /* the unit of a bitrate: a warning has said so */
    uint32_t coded_width, coded_height; /* that kbits are for; 0: those of the video */
    uint32_t radius, window_x, window_y;
    bool despot;
    enum gpume_filter_lines { GPUME_FILTER_WHOLE, GPUME_FILTER_FIELDS } fields;
    const char *report; /* NULL: not given */
};

/* For set_defaults and check. */
void gpume_filter_options_default(void *options);
int gpume_filter_options_check(void *options, const struct gpume_line *line);

/* Takes pictures before and after they are filtered. The job's only output is the taker's: a file
 * of any name. Functions are those of struct gpume_job_work. */
struct gpume_filter_taker {
    enum gpume_exit (*open)(void *client, const struct gpume_cli_job *job);
    /* The noise of a picture in 1/100 of a step of 8 bits, for --noise auto. NULL: it is measured
     * as for a video. */
    uint32_t (*guess)(void *client, const struct gpume_plane *picture);
    /* A negative gpume_status, logged, ends the job. */
    int (*take)(void *client, const struct gpume_plane *picture, const struct gpume_plane *filtered,
        int64_t time_us);
    enum gpume_exit (*finish)(void *client);
    void (*conclude)(const void *client, FILE *stream);
};

/* taker: NULL: the video is written. */
enum gpume_exit gpume_filter_run(const struct gpume_filter_options *options,
    const struct gpume_filter_taker *taker, void *client);

/* --- as a stage of another job, which reads the video, with wanted.chroma */

typedef struct filter gpume_filter_stage;

/* Call it in `prepare`: with options->kbits the video is read once for itself. Every filtered
 * luma, those of repeated frames, too, goes to `put`, which may use it until it returns. The job
 * cancels and closes job->filter. Close the stage after any result. */
enum gpume_exit gpume_filter_stage_open(gpume_filter_stage **stage,
    const struct gpume_filter_options *options, struct gpume_cli_job *job, gpume_job_take_fn put,
    void *client);

/* Call it in `open`, if at all: the filtered video is also written to this output of the job, as
 * gpume filter writes it. It is complete once the stage is finished. */
enum gpume_exit gpume_filter_stage_keep(
    gpume_filter_stage *stage, struct gpume_cli_job *job, size_t output);

/* The check of its name, for its ops. */
int gpume_filter_check_output(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log);

/* The CRF that options->kbits are about, once it is open. 0: that is not known. */
uint32_t gpume_filter_stage_crf(const gpume_filter_stage *stage);

/* The next frame that the job takes, its number counted from 0 on. Here and below: a negative
 * gpume_status, logged. */
int gpume_filter_stage_put(
    gpume_filter_stage *stage, uint64_t frame, const struct gpume_plane *luma, int64_t time_us);
int gpume_filter_stage_finish(gpume_filter_stage *stage);

/* NULL is fine. */
void gpume_filter_stage_close(gpume_filter_stage **stage);

/* GPUME_EXIT_INPUT after one line: not all planes of the video can be filtered. Warns if its fields
 * are not what is to be filtered. */
enum gpume_exit gpume_filter_check_input(
    const struct gpume_source_info *info, enum gpume_filter_lines fields);

/* The two planes of chroma beside luma of this video; .data is NULL if there is no memory. */
struct gpume_plane gpume_filter_chroma_plane(const struct gpume_source_info *info);

/* --- the page of --report: what was changed, and by how much */

struct gpume_filter_report;

/* NULL: out of memory. info: of the video, as it is read. first: number of the first frame. Options
 * and info outlive the report. */
struct gpume_filter_report *gpume_filter_report_open(const struct gpume_filter_options *options,
    const struct gpume_source_info *info, uint64_t first);

/* A picture before it is filtered, of which luma is taken, and after it. GPUME_NOMEM. */
int gpume_filter_report_add(struct gpume_filter_report *report, const struct gpume_plane *before,
    const struct gpume_filter_result *result);

/* Counts a frame of the picture that was added last: itself, or one that repeats it. */
void gpume_filter_report_count(struct gpume_filter_report *report);

/* has_noise: it was given or measured. Failures are logged, with this name of the page, or are
 * those of `out`. */
int gpume_filter_report_write(
    struct gpume_filter_report *report, bool has_noise, struct gpume_out *out, const char *label);

/* NULL is fine. Sets *report to NULL. */
void gpume_filter_report_close(struct gpume_filter_report **report);

#endif
