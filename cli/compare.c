/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume compare. Both runs are read side by side, a field of each in memory; fields that only one
 * of them has are counted and passed over. The table comes when all have been read, rows of --csv
 * as they come. Main thread only.
 */
#include "compare.h"

#include "compare_table.h"
#include "console.h"
#include "report/compare_map.h"
#include "report/comparison.h"
#include "signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct gpume_log console = {.fn = gpume_console_log};

struct side {
    bool is_folder; /* of a run */
    struct gpume_vectors_reader *vectors;
    struct gpume_frames_reader *frames;      /* NULL: there is none */
    const struct gpume_vectors_field *field; /* at hand; NULL: all have been read */
};

struct job {
    const struct gpume_options *options;
    struct side sides[2];
    struct gpume_comparison comparison;
    struct gpume_compare_map *map; /* NULL: none wanted */
    struct gpume_out *csv;         /* likewise */
};

static enum gpume_exit exit_of(int status)
{
    switch (status) {
    case GPUME_OK:
        return GPUME_EXIT_DONE;
    case GPUME_NOMEM:
        return GPUME_EXIT_FAILED;
    default:
        return GPUME_EXIT_INPUT;
    }
}

static char *join(const char *folder, const char *name)
{
    const size_t bytes = strlen(folder) + strlen(name) + 2;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    char *path = malloc(bytes);
    if (path) {
        snprintf(path, bytes, "%s%s%s", folder, slash, name);
    } else {
        gpume_console_error("%s: out of memory", folder);
    }
    return path;
}

/* Of --max-memory each side has a half. */
static int open_vectors(struct side *side, const char *path, const struct gpume_options *options)
{
    const struct gpume_vectors_source source = {
        .path = path,
        .block = options->has_block ? options->params.block : 0,
        .memory_max = options->params.memory_max / 2 + options->params.memory_max % 2,
        .log = console,
    };
    return gpume_vectors_reader_open(&side->vectors, &source);
}

static int open_folder(struct side *side, struct gpume_read_settings *settings, const char *name,
    const struct gpume_options *options)
{
    struct stat info;
    char *vectors = join(name, "vectors.csv"), *frames = join(name, "frames.csv");
    char *summary = join(name, "summary.json");
    int status = vectors && frames && summary ? GPUME_OK : GPUME_NOMEM;
    if (status == GPUME_OK && stat(vectors, &info) != 0) {
        gpume_console_error(
            "%s: has no vectors.csv; give the folder of a run, or a file of vectors", name);
        status = GPUME_IO;
    }
    if (status == GPUME_OK) {
        status = open_vectors(side, vectors, options);
    }
    if (status == GPUME_OK && stat(frames, &info) == 0) {
        status = gpume_frames_reader_open(&side->frames, frames, &console);
    }
    if (status == GPUME_OK && gpume_read_settings(settings, summary) != GPUME_OK &&
        stat(summary, &info) == 0) {
        gpume_console_warning(
            "%s: is no summary of a run; what the runs were made with is not compared", summary);
    }
    free(vectors);
    free(frames);
    free(summary);
    return status;
}

static int open_side(struct side *side, struct gpume_read_settings *settings, const char *name,
    const struct gpume_options *options)
{
    struct stat info;
    side->is_folder = strcmp(name, "-") != 0 && stat(name, &info) == 0 && S_ISDIR(info.st_mode);
    const int status = side->is_folder ? open_folder(side, settings, name, options)
                                       : open_vectors(side, name, options);
    return status ? status : gpume_vectors_reader_next(side->vectors, &side->field);
}

static int compare_field(struct job *job, struct gpume_read_figures figures[2])
{
    struct gpume_compared_field field;
    const struct gpume_vectors_field *a = job->sides[0].field, *b = job->sides[1].field;
    int status = GPUME_OK;
    for (size_t i = 0; i < 2 && status == GPUME_OK; i++) {
        if (job->sides[i].frames) {
            const struct gpume_vectors_field *read = job->sides[i].field;
            const uint64_t *ref = read->columns & GPUME_VECTORS_REF ? &read->ref : NULL;
            status = gpume_frames_reader_seek(job->sides[i].frames, read->frame, ref, &figures[i]);
        }
    }
    status =
        status ? status : gpume_comparison_add(&job->comparison, a, b, figures, &field, &console);
    if (status == GPUME_OK && job->csv) {
        gpume_comparison_csv_row(job->csv, &field);
    }
    return status;
}

/* Fields are shown when the first run had them, if both know when that was. */
static int draw_field(struct job *job, const struct gpume_read_figures figures[2])
{
    const bool timed = figures[0].has_time && figures[1].has_time;
    return gpume_compare_map_draw(
        job->map, job->sides[0].field, job->sides[1].field, timed ? &figures[0].time_us : NULL);
}

/* By frame; of one frame that with a later reference comes behind that with an earlier one. NULL is
 * behind all. Negative: a comes first. */
static int order(const struct gpume_vectors_field *a, const struct gpume_vectors_field *b)
{
    if (!a || !b) {
        return !a - !b;
    }
    if (a->frame != b->frame) {
        return a->frame < b->frame ? -1 : 1;
    }
    const bool has_refs = a->columns & b->columns & GPUME_VECTORS_REF;
    return has_refs ? (a->ref > a->frame) - (b->ref > b->frame) : 0;
}

/* Takes the first field of the two, or both. */
static enum gpume_exit step(struct job *job)
{
    struct side *a = &job->sides[0], *b = &job->sides[1];
    const int first = order(a->field, b->field);
    const bool take_a = first <= 0, take_b = first >= 0;
    struct gpume_read_figures figures[2] = {{0}, {0}};
    int status = GPUME_OK;
    if (take_a && take_b) {
        status = compare_field(job, figures);
        if (status == GPUME_OK && job->map) {
            const int drawn = draw_field(job, figures);
            if (drawn != GPUME_OK) {
                return drawn == GPUME_INVALID ? GPUME_EXIT_INPUT
                       : drawn == GPUME_AGAIN ? GPUME_EXIT_USAGE
                                              : GPUME_EXIT_FAILED;
            }
        }
    } else {
        job->comparison.only[take_b]++;
    }
    if (status == GPUME_OK && take_a) {
        status = gpume_vectors_reader_next(a->vectors, &a->field);
    }
    if (status == GPUME_OK && take_b) {
        status = gpume_vectors_reader_next(b->vectors, &b->field);
    }
    return gpume_signals_caught() ? GPUME_EXIT_FAILED : exit_of(status);
}

static int open_map(struct job *job)
{
    unsigned num = 0, den = 0;
    const struct gpume_options *options = job->options;
    const struct gpume_read_settings *settings = job->comparison.settings;
    const char *a = gpume_read_settings_find(&settings[0], "input frame_rate");
    const char *b = gpume_read_settings_find(&settings[1], "input frame_rate");
    if (!a || !b || strcmp(a, b) != 0 || sscanf(a, "%9u/%9u", &num, &den) != 2) {
        num = den = 0;
    }
    return gpume_compare_map_create(
        &job->map, options->map, options->overwrite, num, den, &console);
}

static enum gpume_exit open_outputs(struct job *job)
{
    const struct gpume_options *options = job->options;
    if (options->map && open_map(job) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    if (options->form == GPUME_FORM_CSV &&
        gpume_comparison_csv_open(&job->csv, &console) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit finish_outputs(struct job *job)
{
    const struct gpume_options *options = job->options;
    gpume_signals_detach();
    if (job->map && gpume_compare_map_finish(job->map) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    int status = GPUME_OK;
    if (job->csv) {
        status = gpume_comparison_csv_finish(job->csv);
    } else if (options->form == GPUME_FORM_JSON) {
        status = gpume_comparison_write_json(&job->comparison, &console);
    } else if (options->verbosity >= 0) {
        gpume_compare_print_table(&job->comparison);
        return gpume_console_flush_output("the table") ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
    }
    return status ? GPUME_EXIT_FAILED : GPUME_EXIT_DONE;
}

/* The line that goes with exit status 5. */
static enum gpume_exit conclude(const struct job *job)
{
    const struct gpume_comparison *comparison = &job->comparison;
    const struct gpume_compared *blocks = &comparison->blocks;
    if (gpume_comparison_equal(comparison)) {
        return GPUME_EXIT_DONE;
    }
    if (job->options->verbosity >= 0 && !blocks->has_costs && blocks->both_equal < blocks->blocks) {
        gpume_console_error("%s and %s differ: %" PRIu64 " vectors of %" PRIu64 " blocks",
            comparison->names[0], comparison->names[1], blocks->blocks - blocks->vectors_equal,
            blocks->blocks);
    } else if (job->options->verbosity >= 0 && blocks->both_equal < blocks->blocks) {
        gpume_console_error("%s and %s differ: %" PRIu64 " vectors and %" PRIu64
                            " costs of %" PRIu64 " blocks",
            comparison->names[0], comparison->names[1], blocks->blocks - blocks->vectors_equal,
            blocks->blocks - blocks->costs_equal, blocks->blocks);
    } else if (job->options->verbosity >= 0) {
        gpume_console_error("%s and %s differ: %" PRIu64 " fields are in one of them only",
            comparison->names[0], comparison->names[1], comparison->only[0] + comparison->only[1]);
    }
    return GPUME_EXIT_MISMATCH;
}

/* What the means of figures silently leave out. */
static void warn_of_figures(const struct job *job)
{
    const struct gpume_comparison *comparison = &job->comparison;
    for (size_t i = 0; i < 2; i++) {
        if (job->sides[i].is_folder && !comparison->has_figures[i] &&
            comparison->has_figures[1 - i]) {
            gpume_console_warning(
                "%s: has no frames.csv; its SAD and PSNR are not compared", comparison->names[i]);
        }
        if (comparison->unknown[i] > 0) {
            gpume_console_warning("%s: frames.csv has no row for %" PRIu64 " of %" PRIu64
                                  " fields; the means of SAD and PSNR leave them out",
                comparison->names[i], comparison->unknown[i], comparison->fields);
        }
    }
}

static enum gpume_exit work(struct job *job)
{
    const struct gpume_options *options = job->options;
    if (options->map &&
        gpume_compare_map_check(options->map, options->overwrite, &console) != GPUME_OK) {
        return GPUME_EXIT_USAGE;
    }
    enum gpume_exit result = GPUME_EXIT_DONE;
    for (size_t i = 0; i < 2 && result == GPUME_EXIT_DONE; i++) {
        job->comparison.names[i] = options->inputs[i];
        result = exit_of(
            open_side(&job->sides[i], &job->comparison.settings[i], options->inputs[i], options));
        job->comparison.has_figures[i] = job->sides[i].frames != NULL;
    }
    if (options->map) {
        gpume_signals_keep();
    } else if (options->form == GPUME_FORM_CSV) {
        gpume_signals_end();
    }
    result = result ? result : open_outputs(job);
    while (result == GPUME_EXIT_DONE && (job->sides[0].field || job->sides[1].field)) {
        result = step(job);
    }
    if (result == GPUME_EXIT_DONE && job->comparison.fields == 0) {
        gpume_console_error(
            "%s and %s have no field in common", options->inputs[0], options->inputs[1]);
        result = GPUME_EXIT_INPUT;
    }
    if (result == GPUME_EXIT_DONE) {
        warn_of_figures(job);
        result = finish_outputs(job);
    }
    return result ? result : conclude(job);
}

enum gpume_exit gpume_compare_run(const struct gpume_options *options)
{
    struct job job = {.options = options};
    const enum gpume_exit result = work(&job);
    for (size_t i = 0; i < 2; i++) {
        gpume_vectors_reader_close(&job.sides[i].vectors);
        gpume_frames_reader_close(&job.sides[i].frames);
    }
    gpume_compare_map_destroy(&job.map);
    gpume_comparison_csv_close(&job.csv);
    return result;
}
