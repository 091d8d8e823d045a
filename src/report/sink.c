/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report of the run: a page for people (.html), the same data for programs (.json), or a table of
 * all fields (.csv). The table and the JSON list are written as fields arrive; the page keeps about
 * thirty bytes per field and pictures of a bounded size until the end. Called by the thread that
 * receives fields.
 */
#include "report/report.h"

#include "base/base.h"
#include "files/forms.h"
#include "files/out.h"
#include "files/path.h"
#include "report/shell.h"
#include "sinks/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- statistics */

/* Bins on either side of the middle one; each gets a few pixels of the drawing. */
#define REACH_MAX 64u

/* A possible scene cut: sad_after is at least CUT_JUMP times that of the previous field of the same
 * distance, at least 1 / CUT_SHARE of sad_before, and on average at least CUT_LEVELS 8-bit gray
 * levels per pixel. */
#define CUT_JUMP 2u
#define CUT_SHARE 2u
#define CUT_LEVELS 4u

static void make_bins(uint32_t *bins, uint32_t window, uint32_t side, uint32_t reach)
{
    for (uint32_t i = 0; i <= 2 * window; i++) {
        /* Offset by whole bins to keep the dividend positive. */
        bins[i] = (i + reach * side + (side - 1) / 2 - window) / side;
    }
}

int gpume_report_histogram_init(
    struct gpume_report_histogram *histogram, const struct gpume_params *params)
{
    const uint32_t x = params->window_x, y = params->window_y, larger = x > y ? x : y;
    uint32_t side = 1;
    while ((larger + (side - 1) / 2) / side > REACH_MAX) {
        side += 2;
    }
    *histogram = (struct gpume_report_histogram){
        .side = side,
        .reach_x = (x + (side - 1) / 2) / side,
        .reach_y = (y + (side - 1) / 2) / side,
        .window_x = x,
        .window_y = y,
    };
    make_bins(histogram->bins_x, x, side, histogram->reach_x);
    make_bins(histogram->bins_y, y, side, histogram->reach_y);
    const size_t bins = (2 * (size_t)histogram->reach_x + 1) * (2 * histogram->reach_y + 1);
    histogram->counts = calloc(bins, sizeof(*histogram->counts));
    return histogram->counts ? GPUME_OK : GPUME_NOMEM;
}

void gpume_report_histogram_finish(struct gpume_report_histogram *histogram)
{
    free(histogram->counts);
    histogram->counts = NULL;
}

void gpume_report_histogram_put(
    const struct gpume_report_histogram *histogram, struct gpume_json *json)
{
    const uint32_t columns = 2 * histogram->reach_x + 1, rows = 2 * histogram->reach_y + 1;
    const int64_t side = histogram->side;
    gpume_json_begin(json, "histogram");
    gpume_json_count(json, "bin", histogram->side);
    gpume_json_begin_list(json, "counts");
    for (uint32_t y = 0; y < rows; y++) {
        for (uint32_t x = 0; x < columns; x++) {
            const uint64_t count = histogram->counts[(size_t)y * columns + x];
            if (count > 0) {
                char text[80];
                snprintf(text, sizeof(text), "[%" PRId64 ", %" PRId64 ", %" PRIu64 "]",
                    ((int64_t)x - histogram->reach_x) * side,
                    ((int64_t)y - histogram->reach_y) * side, count);
                gpume_json_digits(json, NULL, text);
            }
        }
    }
    gpume_json_end_list(json);
    gpume_json_end(json);
}

void gpume_report_cuts_init(struct gpume_report_cuts *cuts, const struct gpume_params *params)
{
    const uint64_t pixels = (uint64_t)params->width * params->height;
    *cuts = (struct gpume_report_cuts){.least = (CUT_LEVELS * pixels) << (params->bits - 8)};
}

bool gpume_report_is_cut(
    struct gpume_report_cuts *cuts, uint64_t frame, uint64_t ref, const struct gpume_sums *sums)
{
    const bool ahead = ref > frame;
    const uint64_t distance = ahead ? ref - frame : frame - ref;
    uint64_t *last = &cuts->last[ahead][gpume_min_u64(distance, GPUME_REPORT_DISTANCES - 1)];
    /* No overflow: 2^32 pixels of 16 bits have a SAD below 2^48. */
    const bool cut = *last > 0 && sums->sad_after >= cuts->least &&
                     sums->sad_after >= CUT_JUMP * (*last - 1) &&
                     CUT_SHARE * sums->sad_after >= sums->sad_before;
    *last = sums->sad_after + 1;
    return cut;
}

void gpume_report_measure(struct gpume_report_statistics *statistics,
    struct gpume_report_cuts *cuts, struct gpume_report_histogram *histogram,
    const struct gpume_field *field)
{
    const int32_t units = field->vector_units > 0 ? (int32_t)field->vector_units : 1;
    const uint64_t blocks = gpume_shown_count(field);
    double length_sum = 0;
    *statistics = (struct gpume_report_statistics){.blocks = blocks,
        .units = units,
        .cut = gpume_report_is_cut(cuts, field->frame, field->ref, &field->sums)};
    for (uint64_t i = 0; i < blocks; i++) {
        const struct gpume_shown shown = gpume_shown_at(field, i);
        const struct gpume_vector vector = shown.layer->vectors[shown.index];
        const int32_t dx = vector.dx, dy = vector.dy;
        const uint32_t squared = (uint32_t)(dx * dx + dy * dy);
        statistics->dx_sum += dx;
        statistics->dy_sum += dy;
        length_sum += sqrt((double)squared);
        statistics->length_max_squared = gpume_max_u32(statistics->length_max_squared, squared);
        statistics->cost_max = gpume_max_u32(statistics->cost_max, shown.layer->costs[shown.index]);
        if (histogram) {
            const uint32_t x =
                histogram->bins_x[gpume_div_nearest(dx, units) + histogram->window_x];
            const uint32_t y =
                histogram->bins_y[gpume_div_nearest(dy, units) + histogram->window_y];
            histogram->counts[(size_t)y * (2 * histogram->reach_x + 1) + x]++;
        }
    }
    statistics->length_mean_milli = (uint64_t)llround(1000 * length_sum / units / (double)blocks);
}

/* What they are in a row of the report. */
static void report_statistics_put(
    struct gpume_frame_row *row, const struct gpume_report_statistics *statistics)
{
    const double units = statistics->units, blocks = units * (double)statistics->blocks;
    row->dx_mean = (double)statistics->dx_sum / blocks;
    row->dy_mean = (double)statistics->dy_sum / blocks;
    row->length_mean = (double)statistics->length_mean_milli / 1000;
    row->length_max = sqrt((double)statistics->length_max_squared) / units;
    row->cost_max = statistics->cost_max;
    row->cut = statistics->cut;
}

/* --- what is kept of a run */

#define REPORT_FORMAT 1 /* of the .json form; grows like summary.json's */

/* The largest size of a page, unless the statistics of all fields alone take more. */
#define PAGE_BYTES ((uint64_t)20000000)

/* The largest size of what the page plays: some 150 frame pairs of 1080p in blocks of 16 x 16. */
#define FILM_BYTES ((uint64_t)8000000)

/* An upper bound of markup, style, scripts, histogram, and the gallery without its surfaces. */
#define FIXED_BYTES ((uint64_t)1800000)

#define SUFFIX ".js" /* of a file of one frame pair */

/*
 * The pictures and blocks of every field, in files beside the page of --report-dir: NUMBER.js in
 * the folder "frames". They are scripts, because a page that was opened as a file may load scripts
 * and nothing else that it can read.
 */
struct report_files {
    const struct gpume_run *run;
    char *folder;                  /* of the page, without a slash at the end */
    char *frames;                  /* the folder in it */
    bool made_folder, made_frames; /* by this run: removed if they are empty in the end */
    struct gpume_report_encoder *encoder;
    struct gpume_report_draft draft;
    struct gpume_report_set set;
    uint64_t count; /* of targets */
};

struct report {
    struct gpume_sink sink;
    struct gpume_report_cuts cuts;
    struct gpume_report_histogram histogram;
    struct gpume_report_gallery gallery;
    struct gpume_report_lively lively;
    struct gpume_json json; /* .json */
    /* .html */
    struct report_fields { /* the statistics of a side, see set.h */
        struct gpume_bytes packed;
        int64_t time_us; /* of the last one */
        uint64_t first, count;
    } fields[GPUME_REPORT_SIDES];
    uint64_t last; /* target */
    bool with_pictures;
    struct gpume_report_picks picks;
    struct gpume_report_film film;
    struct report_files files; /* of a folder */
};

/* --- the files of --report-dir */

/* named: by the user, who may have named a link. */
static int make_folder(const struct report_files *files, const char *folder, bool named, bool *made)
{
    struct stat info;
    *made = mkdir(folder, 0777) == 0;
    const int error = errno;
    const bool exists = !*made && (named ? stat(folder, &info) : lstat(folder, &info)) == 0;
    if (*made || (exists && S_ISDIR(info.st_mode))) {
        return GPUME_OK;
    }
    if (exists && S_ISLNK(info.st_mode)) {
        return gpume_log_fail(&files->run->log, GPUME_INVALID,
            "%s: is a link, which would lead the pictures elsewhere; remove it or choose another "
            "folder with --report-dir DIR",
            folder);
    }
    return gpume_log_fail(&files->run->log, GPUME_IO,
        "%s: folder cannot be made: %s; choose another with --report-dir DIR", folder,
        strerror(error));
}

/* Whether it is "NUMBER.js". */
static bool is_set_file(const void *unused, const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    (void)unused;
    return digits > 0 && strcmp(name + digits, SUFFIX) == 0;
}

/* Removes what killed runs have left in the folder of frames. */
static void clear_frames(const struct report_files *files)
{
    char *any = gpume_path_in_folder(files->frames, SUFFIX);
    if (any) {
        gpume_temporary_clear(any, is_set_file, NULL);
    }
    free(any);
}

/* page: the name of the page, whose folder is made. Failures are logged. To be closed in either
 * case. */
static int open_files(struct report_files *files, const char *page, const struct gpume_run *run)
{
    int status;
    const size_t folder = gpume_path_folder(page);
    *files = (struct report_files){.run = run};
    files->folder = strndup(page, folder > 1 ? folder - 1 : folder);
    files->frames = files->folder ? gpume_path_in_folder(files->folder, "frames") : NULL;
    if (!files->frames) {
        GPUME_TRY(gpume_log_nomem(&run->log, page));
    }
    GPUME_TRY(make_folder(files, files->folder, true, &files->made_folder));
    GPUME_TRY(make_folder(files, files->frames, false, &files->made_frames));
    clear_frames(files);
    GPUME_TRY(gpume_report_encoder_open(&files->encoder, page, run, GPUME_REPORT_LARGE));
fail:
    return status;
}

/* The page's script defines the function that the file calls. */
static int write_set(struct report_files *files, const char *path)
{
    struct gpume_json json = {0};
    char head[48];
    int status;
    GPUME_TRY(gpume_out_open_own(&json.out, files->run->set, path, &files->run->log));
    snprintf(head, sizeof(head), "takeSet(%" PRIu64 ", ", files->set.rating.frame);
    (void)gpume_out_text(json.out, head);
    gpume_report_set_put(&files->set, &json);
    (void)gpume_out_text(json.out, ");\n");
    GPUME_TRY(gpume_out_finish(json.out));
fail:
    gpume_out_close(&json.out);
    return status;
}

/* The set of a target is complete when the next target comes. */
static int complete_file(struct report_files *files)
{
    int status;
    char name[32];
    if (files->count == 0) {
        return GPUME_OK;
    }
    snprintf(name, sizeof(name), "%" PRIu64 SUFFIX, files->set.rating.frame);
    char *path = gpume_path_in_folder(files->frames, name);
    if (!path) {
        GPUME_TRY(gpume_log_nomem(&files->run->log, files->frames));
    }
    GPUME_TRY(write_set(files, path));
fail:
    free(path);
    return status;
}

static int add_to_files(
    struct report_files *files, const struct gpume_field *field, bool cut, bool second)
{
    const struct gpume_params *params = &files->run->params;
    int status;
    if (second) {
        return gpume_report_set_add(&files->set, &files->draft, files->encoder, field);
    }
    GPUME_TRY(complete_file(files));
    /* The first ones follow from no other. */
    gpume_report_encoder_want_luma(files->encoder,
        files->count++ < params->ref_distance || gpume_report_is_key(params, field->frame));
    GPUME_TRY(gpume_report_draft_take(&files->draft, files->encoder, field, cut));
    GPUME_TRY(gpume_report_set_make(&files->set, files->encoder, &files->draft));
fail:
    return status;
}

static void close_files(struct report_files *files)
{
    gpume_report_draft_finish(&files->draft);
    gpume_report_set_finish(&files->set);
    gpume_report_encoder_close(&files->encoder);
    if (files->made_frames) {
        (void)rmdir(files->frames); /* fails if it is not empty, as does the next */
    }
    if (files->made_folder) {
        (void)rmdir(files->folder);
    }
    free(files->folder);
    free(files->frames);
    *files = (struct report_files){0};
}

/* --- the page: user data is never markup, but JSON or Base64, which the page's scripts read */

/* Appends the statistics of a field. */
static void pack_statistics(struct report_fields *side,
    const struct gpume_report_statistics *statistics, const struct gpume_field *field)
{
    struct gpume_bytes *const fields = &side->packed;
    const struct gpume_sums *sums = &field->sums;
    side->first = side->count++ == 0 ? field->frame : side->first;
    /* Times of a malicious input may wrap around. */
    gpume_bytes_signed(fields, (int64_t)((uint64_t)field->time_us - (uint64_t)side->time_us));
    gpume_bytes_number(fields, sums->zero);
    gpume_bytes_number(fields, sums->sad_before);
    gpume_bytes_number(fields, sums->sad_after);
    gpume_bytes_number(fields, sums->sse_before);
    gpume_bytes_number(fields, sums->sse_after);
    gpume_bytes_signed(fields, statistics->dx_sum);
    gpume_bytes_signed(fields, statistics->dy_sum);
    gpume_bytes_number(fields, statistics->length_mean_milli);
    gpume_bytes_number(fields, statistics->length_max_squared);
    gpume_bytes_number(fields, 2 * (uint64_t)statistics->cost_max + statistics->cut);
    side->time_us = field->time_us;
}

/* Bytes of the page that pictures may take. */
static uint64_t page_room(const struct report *self)
{
    const uint64_t taken = FIXED_BYTES + gpume_base64_length(self->fields[0].packed.count) +
                           gpume_base64_length(self->fields[1].packed.count) +
                           gpume_report_gallery_surface_bytes(&self->gallery);
    return taken < PAGE_BYTES ? PAGE_BYTES - taken : 0;
}

static const char *reason_of(const struct gpume_report_pick *pick)
{
    return pick->set.rating.cut ? "cut" : pick->reasons & GPUME_REPORT_WORST ? "worst" : "even";
}

static bool set_has(const struct gpume_report_set *set, enum gpume_report_list list)
{
    return set->sides[0].lists[list].count > 0 || set->sides[1].lists[list].count > 0;
}

static void put_set_name(
    struct gpume_json *json, const struct gpume_report_set *set, const char *reason)
{
    gpume_json_begin(json, NULL);
    gpume_json_count(json, "frame", set->rating.frame);
    gpume_json_text(json, "why", reason);
    gpume_json_truth(json, "vectors", set_has(set, GPUME_REPORT_VECTORS));
    gpume_json_truth(json, "exact",
        set->sides[0].pictures[GPUME_REPORT_CHANGE].count > 0 ||
            set->sides[1].pictures[GPUME_REPORT_CHANGE].count > 0);
    gpume_json_end(json);
}

/* The next set of the film, from *at on, whose field is not among the picks; NULL: none. Both are
 * in the order of frames, and *pick follows. */
static const struct gpume_report_set *next_of_film(
    const struct report *self, size_t *at, size_t *pick)
{
    const struct gpume_report_picks *picks = &self->picks;
    while (*at < self->film.count) {
        const struct gpume_report_set *set = &self->film.sets[(*at)++];
        while (*pick < picks->count && picks->picks[*pick].set.rating.frame < set->rating.frame) {
            (*pick)++;
        }
        if (*pick == picks->count || picks->picks[*pick].set.rating.frame > set->rating.frame) {
            return set;
        }
    }
    return NULL;
}

static const char *type_of(const struct gpume_report_encoder *encoder)
{
    return gpume_report_encoder_lossless(encoder) ? "image/png" : "image/jpeg";
}

static void put_pictures(struct gpume_json *json, const struct report *self)
{
    const struct gpume_report_picks *picks = &self->picks;
    const struct gpume_report_gallery *gallery = &self->gallery;
    const struct gpume_report_encoder *const whole =
        self->with_pictures ? picks->encoder : self->files.encoder;
    const struct gpume_report_encoder *const small =
        self->with_pictures ? self->film.encoder : self->files.encoder;
    const struct gpume_report_set *set;
    size_t at = 0, pick = 0;
    gpume_json_begin(json, "pieces");
    gpume_json_count(json, "scale", gallery->scale);
    gpume_json_count(json, "columns", gallery->columns);
    gpume_json_count(json, "rows", gallery->rows);
    gpume_json_end(json);
    gpume_report_gallery_put_surfaces(gallery, json);
    gpume_json_begin(json, "lively");
    gpume_json_truth(json, "full", self->lively.full);
    gpume_json_count(json, "frame", self->lively.frame);
    gpume_json_end(json);
    gpume_json_count(json, "blocks_x", self->sink.run->summary->blocks_x);
    gpume_json_count(json, "blocks_y", self->sink.run->summary->blocks_y);
    gpume_json_count(json, "window_x", self->sink.run->params.window_x);
    gpume_json_count(json, "window_y", self->sink.run->params.window_y);
    gpume_json_count(json, "units", self->sink.run->params.subpel);
    gpume_json_truth(json, "returns",
        (self->sink.run->params.confidence || self->sink.run->params.want_returns) &&
            self->sink.run->params.direction == GPUME_DIRECTION_BOTH);
    gpume_json_begin_list(json, "sides");
    for (size_t i = 0; i < (self->fields[1].count > 0 ? 2 : 1); i++) {
        gpume_json_begin(json, NULL);
        gpume_json_count(json, "first", self->fields[i].first);
        gpume_json_count(json, "count", self->fields[i].count);
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
    gpume_json_truth(json, "files", self->files.encoder != NULL);
    const bool exact = whole && gpume_report_encoder_exact(whole);
    gpume_json_truth(json, "exact", exact);
    gpume_json_count(json, "scale", whole && !exact ? gpume_report_encoder_scale(whole) : 1);
    gpume_json_text(json, "type", whole ? type_of(whole) : NULL);
    gpume_json_real(json, "gamma", GPUME_REPORT_GAMMA, 1);
    gpume_json_begin_list(json, "sets");
    for (size_t i = 0; i < picks->count; i++) {
        put_set_name(json, &picks->picks[i].set, reason_of(&picks->picks[i]));
    }
    gpume_json_end_list(json);
    gpume_json_begin(json, "film");
    gpume_json_count(json, "scale", small ? gpume_report_encoder_scale(small) : 1);
    gpume_json_count(json, "step", self->with_pictures ? self->film.step : 1);
    gpume_json_text(json, "type", small ? type_of(small) : NULL);
    gpume_json_begin_list(json, "sets");
    while ((set = next_of_film(self, &at, &pick))) {
        put_set_name(json, set, "film");
    }
    gpume_json_end_list(json);
    gpume_json_end(json);
}

/* kind: "set" or "film". */
static void put_set(struct gpume_out *out, const struct gpume_report_set *set, const char *kind)
{
    struct gpume_json json = {.out = out, .embedded = true};
    gpume_html_print(
        out, "<script type=\"application/json\" id=\"%s-%" PRIu64 "\">", kind, set->rating.frame);
    gpume_report_set_put(set, &json);
    gpume_html_put(out, "</script>\n");
}

static void put_run_data(struct gpume_out *out, const char *mark, const void *opaque)
{
    const struct report *self = opaque;
    const struct gpume_report_set *set;
    struct gpume_json json = {.out = out, .embedded = true};
    size_t at = 0, pick = 0;
    (void)mark;
    gpume_html_put(out, "<script type=\"application/json\" id=\"data\">");
    gpume_json_begin(&json, NULL);
    gpume_summary_put(self->sink.run->summary, &json);
    gpume_report_histogram_put(&self->histogram, &json);
    gpume_report_gallery_put(&self->gallery, &json);
    gpume_report_put_colours(&json);
    put_pictures(&json, self);
    gpume_json_end(&json);
    gpume_html_put(out, "</script>\n");
    for (size_t i = 0; i < GPUME_REPORT_SIDES; i++) {
        const struct gpume_bytes *packed = &self->fields[i].packed;
        gpume_html_print(out, "<script type=\"text/plain\" id=\"%s\">",
            i == GPUME_REPORT_PAST ? "fields" : "fields-future");
        gpume_base64_write(out, packed->data, packed->count);
        gpume_html_put(out, "</script>\n");
    }
    for (size_t i = 0; i < self->picks.count; i++) {
        put_set(out, &self->picks.picks[i].set, "set");
    }
    while ((set = next_of_film(self, &at, &pick))) {
        put_set(out, set, "film");
    }
}

/* --- the sinks */

static const struct gpume_sink_ops report_html, report_json, report_csv;

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
    close_files(&self->files);
    gpume_bytes_finish(&self->fields[0].packed);
    gpume_bytes_finish(&self->fields[1].packed);
}

static int refuse_report_memory(const struct report *self)
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
        GPUME_TRY(refuse_report_memory(self));
    }
    GPUME_TRY(gpume_out_open_in(&self->sink.out, run->set, self->sink.path, &run->log));
fail:
    return status;
}

static int html_open(struct gpume_sink *sink)
{
    struct report *self = (struct report *)sink;
    const uint32_t pictures = sink->run->asked->report_pictures;
    int status;
    GPUME_TRY(open_report(self, true));
    self->with_pictures = pictures > 0;
    if (self->with_pictures) {
        /* More than there will be room for: the luma of neighbours will not be needed. */
        GPUME_TRY(
            gpume_report_picks_init(&self->picks, sink->path, sink->run, pictures, 2 * PAGE_BYTES));
        GPUME_TRY(gpume_report_film_init(&self->film, sink->path, sink->run, FILM_BYTES));
    }
fail:
    return status;
}

static int folder_open(struct gpume_sink *sink)
{
    struct report *self = (struct report *)sink;
    const int status = open_files(&self->files, sink->path, sink->run);
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

/* CSV has the window's border, too. */
static struct gpume_table csv_table(const struct gpume_sink *sink)
{
    const unsigned border = sink->run->params.confidence ? GPUME_FRAME_BORDER : 0;
    return gpume_frame_table(GPUME_FRAME_REPORT | border);
}

static int csv_open(struct gpume_sink *sink)
{
    const struct gpume_table table = csv_table(sink);
    const int status = open_report((struct report *)sink, false);
    if (status == GPUME_OK) {
        gpume_table_csv_head(&table, sink->out);
    }
    return status;
}

static int html_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct report *self = (struct report *)sink;
    struct gpume_report_statistics statistics;
    int status;
    gpume_report_measure(&statistics, &self->cuts, &self->histogram, field);
    const bool both = gpume_report_is_both(&sink->run->params);
    struct report_fields *side = &self->fields[both && field->ref > field->frame];
    const bool second =
        side == &self->fields[1] && self->fields[0].count > 0 && self->last == field->frame;
    self->last = field->frame;
    pack_statistics(side, &statistics, field);
    if (side->packed.failed || gpume_report_gallery_add(&self->gallery, field) != GPUME_OK) {
        return refuse_report_memory(self);
    }
    const bool liveliest = !second && gpume_report_lively_add(&self->lively, field, statistics.cut);
    if (sink->run->colours.take) { /* drop the colours of earlier frames */
        GPUME_TRY(sink->run->colours.take(sink->run->colours.source, field->frame, NULL));
    }
    if (self->files.encoder) {
        GPUME_TRY(add_to_files(&self->files, field, statistics.cut, second));
    }
    if (self->with_pictures && second) {
        GPUME_TRY(gpume_report_film_add_second(&self->film, field));
        GPUME_TRY(gpume_report_picks_add_second(&self->picks, field));
    } else if (self->with_pictures) {
        GPUME_TRY(gpume_report_film_add(&self->film, field));
        GPUME_TRY(gpume_report_picks_add(&self->picks, field, statistics.cut, liveliest));
    }
    status = GPUME_OK;
fail:
    return status;
}

static int json_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct report *self = (struct report *)sink;
    const struct gpume_table table = gpume_frame_table(GPUME_FRAME_REPORT);
    struct gpume_frame_row row = gpume_frame_row_make(&sink->run->params, field);
    struct gpume_report_statistics statistics;
    gpume_report_measure(&statistics, &self->cuts, &self->histogram, field);
    if (gpume_report_gallery_add(&self->gallery, field) != GPUME_OK) {
        return refuse_report_memory(self);
    }
    report_statistics_put(&row, &statistics);
    gpume_table_json_line(&table, &row, &self->json);
    return gpume_out_text(sink->out, ""); /* has it failed? */
}

static int csv_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct report *self = (struct report *)sink;
    const struct gpume_table table = csv_table(sink);
    struct gpume_frame_row row = gpume_frame_row_make(&sink->run->params, field);
    struct gpume_report_statistics statistics;
    gpume_report_measure(&statistics, &self->cuts, NULL, field);
    report_statistics_put(&row, &statistics);
    gpume_table_csv(&table, &row, 1, sink->out);
    return gpume_out_text(sink->out, ""); /* has it failed? */
}

static void warn_of_room(const struct report *self)
{
    const struct gpume_run *run = self->sink.run;
    const uint64_t wanted = gpume_min_u64(self->picks.pictures, self->picks.fields);
    /* With both directions a frame has the pictures of two pairs. */
    const char *what = gpume_report_is_both(&run->params) ? "frame" : "frame pair";
    if (run->asked->report_pictures_asked && self->picks.count < wanted) {
        gpume_log_write(&run->log, GPUME_LOG_WARNING,
            "%s: has all pictures of %zu %s%s, since those of %" PRIu64
            " would take more than %.0f MB; --report-dir keeps all",
            self->sink.path, self->picks.count, what, gpume_plural(self->picks.count), wanted,
            (double)PAGE_BYTES / 1e6);
    }
}

static int html_finish(struct gpume_sink *sink)
{
    struct report *self = (struct report *)sink;
    int status = self->files.encoder ? complete_file(&self->files) : GPUME_OK;
    if (self->with_pictures && status == GPUME_OK) {
        const uint64_t room = page_room(self);
        gpume_report_film_complete(&self->film, room / 2);
        status = gpume_report_picks_complete(&self->picks, &self->film, room);
        warn_of_room(self);
    }
    if (status == GPUME_OK) {
        const struct gpume_report_shell shell = {
            .assets = &gpume_report_assets_run,
            .in_folder = self->files.encoder != NULL,
            .put = put_run_data,
            .opaque = self,
        };
        gpume_report_shell_write(&shell, sink->out);
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
    .want_returns = true,
    .want_colour = true,
};

static const struct gpume_sink_ops report_html = {
    REPORT_OPS,
    .open = html_open,
    .field = html_field,
    .finish = html_finish,
    .want_predicted = true,
    .want_frames = true,
    .want_returns = true,
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
