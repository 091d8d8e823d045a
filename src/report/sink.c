/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report of the run in one file: a page for people (.html), the same data for programs (.json),
 * or a table of all fields (.csv). The table and the JSON list are written as fields arrive; the
 * page keeps about thirty bytes per field and pictures of a bounded size until the end. Called by
 * the thread that receives fields.
 */
#include "base/grid.h"
#include "base/status.h"
#include "files/out.h"
#include "files/path.h"
#include "files/text_file.h"
#include "report/files.h"
#include "report/gallery.h"
#include "report/page.h"
#include "report/picks.h"
#include "report/report.h"
#include "report/statistics.h"
#include "sinks/frame_row.h"
#include "sinks/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define REPORT_FORMAT 1 /* of the .json form; grows like summary.json's */

static const struct gpume_sink_ops report_html, report_json, report_csv;

struct report {
    struct gpume_sink sink;
    struct gpume_report_cuts cuts;
    struct gpume_report_histogram histogram;
    struct gpume_report_gallery gallery;
    struct gpume_json json; /* .json */
    /* .html */
    struct gpume_bytes fields;
    int64_t time_us;
    bool with_pictures;
    struct gpume_report_picks picks;
    struct gpume_report_film film;
    struct gpume_report_files files; /* of a folder */
};

static bool ends_in(const char *path, const char *extension)
{
    const size_t length = strlen(path), tail = strlen(extension);
    return length > tail && strcasecmp(path + length - tail, extension) == 0;
}

const struct gpume_sink_ops *gpume_sink_report(const char *path)
{
    return ends_in(path, ".json")  ? &report_json
           : ends_in(path, ".csv") ? &report_csv
                                   : &report_html;
}

static int report_check(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    const char *const extensions[] = {".html", ".json", ".csv"};
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
        if (ends_in(path, extensions[i])) {
            return gpume_text_check(path, "report", extensions[i], log);
        }
    }
    const int status = gpume_text_check_file(path, "report", ".html", log);
    return status ? status
                  : gpume_log_fail(log, GPUME_INVALID,
                        "%s: unknown report format; give a name that ends in .html, .json or .csv",
                        path);
}

/* Its folders are made when it is opened. */
static int folder_check(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    struct stat info;
    (void)shape;
    char *folder = strndup(path, gpume_path_folder(path) - 1);
    const bool is_file = folder && stat(folder, &info) == 0 && !S_ISDIR(info.st_mode);
    const int status = is_file ? gpume_log_fail(log, GPUME_INVALID,
                                     "--report-dir: %s is a file; name a folder", folder)
                               : GPUME_OK;
    free(folder);
    return status;
}

static void report_close(struct gpume_sink *sink)
{
    struct report *self = (struct report *)sink;
    gpume_report_histogram_finish(&self->histogram);
    gpume_report_gallery_finish(&self->gallery);
    gpume_report_picks_finish(&self->picks);
    gpume_report_film_finish(&self->film);
    gpume_out_close(&sink->out); /* it keeps the folder from being empty */
    gpume_report_files_finish(&self->files);
    gpume_bytes_finish(&self->fields);
}

static int refuse_memory(const struct report *self)
{
    return gpume_log_nomem(&self->sink.run->log, self->sink.path);
}

static int open_report(struct report *self, bool with_crops)
{
    const struct gpume_run *run = self->sink.run;
    int status;
    gpume_report_cuts_init(&self->cuts, &run->params);
    gpume_report_gallery_init(&self->gallery, run, with_crops);
    if (gpume_report_histogram_init(&self->histogram, &run->params) != GPUME_OK) {
        GPUME_TRY(refuse_memory(self));
    }
    GPUME_TRY(gpume_out_open_in(&self->sink.out, run->set, self->sink.path, &run->log));
fail:
    return status;
}

static int html_open(struct gpume_sink *sink)
{
    struct report *self = (struct report *)sink;
    const uint32_t pictures = sink->run->report_pictures;
    int status;
    GPUME_TRY(open_report(self, true));
    self->with_pictures = pictures > 0;
    if (self->with_pictures) {
        GPUME_TRY(gpume_report_picks_init(
            &self->picks, sink->path, sink->run, pictures, GPUME_REPORT_PAGE_BYTES));
        GPUME_TRY(
            gpume_report_film_init(&self->film, sink->path, sink->run, GPUME_REPORT_FILM_BYTES));
    }
fail:
    return status;
}

static int folder_open(struct gpume_sink *sink)
{
    struct report *self = (struct report *)sink;
    const int status = gpume_report_files_init(&self->files, sink->path, sink->run);
    return status == GPUME_OK ? open_report(self, true) : status;
}

static int json_open(struct gpume_sink *sink)
{
    struct report *self = (struct report *)sink;
    int status;
    GPUME_TRY(open_report(self, false));
    self->json.out = sink->out;
    gpume_json_begin(&self->json, NULL);
    gpume_json_count(&self->json, "format", REPORT_FORMAT);
    gpume_json_begin_list(&self->json, "figures");
fail:
    return status;
}

static int csv_open(struct gpume_sink *sink)
{
    int status = open_report((struct report *)sink, false);
    status = status ? status : gpume_out_text(sink->out, gpume_frame_columns(&sink->run->params));
    return status ? status : gpume_out_text(sink->out, "," GPUME_REPORT_COLUMNS "\n");
}

static int html_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct report *self = (struct report *)sink;
    struct gpume_report_statistics statistics;
    int status;
    gpume_report_measure(&statistics, &self->cuts, &self->histogram, field);
    gpume_report_page_pack(&self->fields, &statistics, field, &self->time_us);
    if (self->fields.failed || gpume_report_gallery_add(&self->gallery, field) != GPUME_OK) {
        return refuse_memory(self);
    }
    if (sink->run->take_colour) { /* drop the colours of earlier frames */
        GPUME_TRY(sink->run->take_colour(sink->run->colours, field->frame, NULL));
    }
    if (self->files.encoder) {
        GPUME_TRY(gpume_report_files_add(&self->files, field, statistics.cut));
    }
    if (self->with_pictures) {
        GPUME_TRY(gpume_report_film_add(&self->film, field));
        GPUME_TRY(gpume_report_picks_add(&self->picks, field, statistics.cut));
    }
    status = GPUME_OK;
fail:
    return status;
}

/* JSON has no infinity. */
static void psnr_text(char *text, size_t bytes, const struct report *self, uint64_t sse)
{
    const uint64_t pixels = (uint64_t)self->sink.run->params.width * self->sink.run->params.height;
    snprintf(text, bytes, "null");
    if (sse > 0) {
        gpume_text_psnr(text, bytes, gpume_psnr(self->sink.run->params.bits, pixels, sse));
    }
}

static int json_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct report *self = (struct report *)sink;
    const struct gpume_sums *sums = &field->sums;
    struct gpume_report_statistics statistics;
    char row[1024], time[32], before[32], after[32];
    gpume_report_measure(&statistics, &self->cuts, &self->histogram, field);
    const uint64_t count = statistics.blocks;
    const double blocks = statistics.units * (double)count;
    if (gpume_report_gallery_add(&self->gallery, field) != GPUME_OK) {
        return refuse_memory(self);
    }
    gpume_text_time(time, sizeof(time), field->time_us);
    psnr_text(before, sizeof(before), self, sums->sse_before);
    psnr_text(after, sizeof(after), self, sums->sse_after);
    snprintf(row, sizeof(row),
        "{\"frame\": %" PRIu64 ", \"ref\": %" PRIu64 ", \"time\": %s, \"blocks\": %" PRIu64
        ", \"zero\": %" PRIu64 ", \"sad_before\": %" PRIu64 ", \"sad_after\": %" PRIu64
        ", \"sse_before\": %" PRIu64 ", \"sse_after\": %" PRIu64
        ", \"psnr_before\": %s, \"psnr_after\": %s, "
        "\"dx_mean\": %.3f, \"dy_mean\": %.3f, \"length_mean\": %" PRIu64 ".%03" PRIu64
        ", \"length_max\": %.3f, \"cost_max\": %" PRIu32 ", \"cut\": %s}",
        field->frame, field->ref, time, count, sums->zero, sums->sad_before, sums->sad_after,
        sums->sse_before, sums->sse_after, before, after, (double)statistics.dx_sum / blocks,
        (double)statistics.dy_sum / blocks, statistics.length_mean_milli / 1000,
        statistics.length_mean_milli % 1000,
        sqrt((double)statistics.length_max_squared) / statistics.units, statistics.cost_max,
        statistics.cut ? "true" : "false");
    gpume_json_digits(&self->json, NULL, row);
    return gpume_out_text(sink->out, ""); /* has it failed? */
}

static int csv_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct report *self = (struct report *)sink;
    struct gpume_report_statistics statistics;
    char row[GPUME_FRAME_ROW_BYTES], more[GPUME_REPORT_ROW_BYTES];
    gpume_report_measure(&statistics, &self->cuts, NULL, field);
    gpume_frame_row(row, &sink->run->params, field);
    gpume_report_statistics_row(more, &statistics);
    (void)gpume_out_text(sink->out, row);
    (void)gpume_out_text(sink->out, ",");
    (void)gpume_out_text(sink->out, more);
    return gpume_out_text(sink->out, "\n");
}

static void warn_of_room(const struct report *self)
{
    const struct gpume_run *run = self->sink.run;
    const uint64_t wanted = gpume_min_u64(self->picks.pictures, self->picks.fields);
    if (run->report_pictures_asked && self->picks.count < wanted) {
        gpume_log_write(&run->log, GPUME_LOG_WARNING,
            "%s: has all pictures of %zu frame pairs, since those of %" PRIu64
            " would take more than %.0f MB; --report-dir keeps all",
            self->sink.path, self->picks.count, wanted, (double)GPUME_REPORT_PAGE_BYTES / 1e6);
    }
}

static int html_finish(struct gpume_sink *sink)
{
    struct report *self = (struct report *)sink;
    const struct gpume_report_page page = {
        .run = sink->run,
        .fields = &self->fields,
        .histogram = &self->histogram,
        .gallery = &self->gallery,
        .picks = self->with_pictures ? &self->picks : NULL,
        .film = self->with_pictures ? &self->film : NULL,
        .files = self->files.encoder,
    };
    int status = GPUME_OK;
    if (self->with_pictures) {
        const uint64_t room = gpume_report_page_room(&page);
        gpume_report_film_complete(&self->film, room / 2);
        status =
            gpume_report_picks_complete(&self->picks, room - gpume_min_u64(room, self->film.bytes));
        warn_of_room(self);
    }
    if (status == GPUME_OK) {
        gpume_report_page_write(&page, sink->out);
        status = gpume_out_finish(sink->out);
    }
    return status;
}

static int json_finish(struct gpume_sink *sink)
{
    struct report *self = (struct report *)sink;
    gpume_json_end_list(&self->json);
    gpume_summary_put(sink->run->summary, &self->json);
    gpume_report_histogram_put(&self->histogram, &self->json);
    gpume_report_gallery_put(&self->gallery, &self->json);
    gpume_json_end(&self->json);
    return gpume_out_finish(sink->out);
}

#define REPORT_OPS                                                                                 \
    .name = "report", .bytes = sizeof(struct report), .noun = "a report", .check = report_check,   \
    .close = report_close

const struct gpume_sink_ops gpume_sink_report_folder = {
    .name = "report-dir",
    .bytes = sizeof(struct report),
    .noun = "a report",
    .check = folder_check,
    .open = folder_open,
    .field = html_field,
    .finish = html_finish,
    .close = report_close,
    .want_predicted = true,
    .want_frames = true,
    .want_colour = true,
};

static const struct gpume_sink_ops report_html = {
    REPORT_OPS,
    .open = html_open,
    .field = html_field,
    .finish = html_finish,
    .want_predicted = true,
    .want_frames = true,
    .want_colour = true,
};

static const struct gpume_sink_ops report_json = {
    REPORT_OPS,
    .open = json_open,
    .field = json_field,
    .finish = json_finish,
};

static const struct gpume_sink_ops report_csv = {
    REPORT_OPS,
    .open = csv_open,
    .field = csv_field,
    .finish = gpume_sink_finish_out,
};
