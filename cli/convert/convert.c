/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume convert: copies motion fields from a reader to a writer, one at a time. Ranks are computed
 * from costs if the target format holds ranks and the source has none; nothing else is invented.
 * Main thread only.
 */
#include "commands.h"
#include "console.h"
#include "files/text_file.h"
#include "names.h"
#include "options/common.h"
#include "signals.h"
#include "sinks/sink.h"
#include "vectors/format.h"
#include "vectors/rank.h"
#include "vectors/reader.h"
#include "vectors/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct convert_options {
    struct gpume_common_options common;
    const struct gpume_vectors_format *from, *format; /* NULL: by content, by name */
    uint32_t block;                                   /* 0: not given */
    uint64_t memory_max;
};

struct job {
    const struct convert_options *options;
    const char *source, *target;
    const struct gpume_vectors_format *format; /* of the target */
    struct gpume_vectors_reader *reader;
    struct gpume_out_set set;
    struct gpume_vectors_writer *writer;
    struct gpume_vectors_ranker *ranker; /* NULL: ranks need not be computed */
    struct gpume_vectors_info whole;     /* what all fields have in common; units 0: nothing yet */
    uint64_t fields, blocks;
};

/* both: frames have two fields. */
static int check_name(const struct job *job, bool both, const struct gpume_log *log)
{
    const struct gpume_sink_shape shape = {.format = job->format, .single = true, .both = both};
    return gpume_sink_vectors(job->format)->check(job->target, &shape, log);
}

static bool is_series(const struct job *job)
{
    return gpume_sink_is_series(gpume_sink_vectors(job->format), job->target);
}

static enum gpume_exit check_target(struct job *job)
{
    const struct convert_options *options = job->options;
    job->format = gpume_name_vectors_format(options->format, job->target, gpume_name_any_vectors);
    if (!job->format || check_name(job, false, &gpume_console) != GPUME_OK) {
        return GPUME_EXIT_USAGE;
    }
    return gpume_name_is_input(&job->source, 1, job->target) ||
                   gpume_text_check_new(job->target, is_series(job), options->common.overwrite,
                       &gpume_console) != GPUME_OK
               ? GPUME_EXIT_USAGE
               : GPUME_EXIT_DONE;
}

static int open_reader(const struct job *job, struct gpume_vectors_reader **reader,
    const struct gpume_vectors_field **first)
{
    const struct gpume_vectors_source source = {
        .path = job->source,
        .format = job->options->from,
        .block = job->options->block,
        .memory_max = job->options->memory_max,
        .log = gpume_console,
    };
    const int status = gpume_vectors_reader_open(reader, &source);
    return status ? status : gpume_vectors_reader_next(*reader, first);
}

/* Adds what is known by this field. */
static void add_to_whole(struct gpume_vectors_info *whole, const struct gpume_vectors_field *field)
{
    const uint32_t width = whole->width, height = whole->height;
    if (whole->units == 0) {
        gpume_vectors_find_grid(field, whole);
    } else if (!gpume_vectors_on_grid(whole, field)) {
        whole->block_w = whole->block_h = 0;
    }
    whole->width = field->width > width ? field->width : width;
    whole->height = field->height > height ? field->height : height;
    whole->joined = whole->joined || gpume_vectors_is_joined(field);
    whole->units = gpume_vectors_units(field, whole->units);
}

/* What must be known about the whole file before anything is written: does a frame have two fields,
 * where the name can number only one, which fractions of a pixel do vectors have, do blocks form a
 * grid, and do they have references of their own? A pipe can only be checked on the way, by its
 * first frame. */
static enum gpume_exit look_ahead(struct job *job)
{
    struct gpume_vectors_reader *reader = NULL;
    const struct gpume_vectors_field *field = NULL;
    const bool numbers = check_name(job, true, NULL) == GPUME_OK;
    bool both = false;
    if (gpume_text_is_special(job->source) || (numbers && !job->format->fixed_units)) {
        return GPUME_EXIT_DONE;
    }
    int status = open_reader(job, &reader, &field);
    while (status == GPUME_OK && field && !both) {
        const uint64_t last = field->frame;
        add_to_whole(&job->whole, field);
        status = gpume_vectors_reader_next(reader, &field);
        both = !numbers && status == GPUME_OK && field && field->frame == last;
    }
    gpume_vectors_reader_close(&reader);
    if (both) {
        (void)check_name(job, true, &gpume_console);
        return GPUME_EXIT_USAGE;
    }
    return gpume_exit_of_reader(status);
}

/* Warns of data that the source has and the target format cannot hold. */
static void warn_of_dropped(const struct job *job, unsigned columns)
{
    static const struct {
        unsigned column;
        const char *name;
    } names[] = {{GPUME_VECTORS_REF, "references"}, {GPUME_VECTORS_COST, "costs"},
        {GPUME_VECTORS_RANK, "ranks"}, {GPUME_VECTORS_TIME, "times"},
        {GPUME_VECTORS_SHAPE, "shapes"}, {GPUME_VECTORS_BITS, "bits"},
        {GPUME_VECTORS_REF2, "second references"}, {GPUME_VECTORS_SECOND, "second costs"},
        {GPUME_VECTORS_TIES, "ties"}, {GPUME_VECTORS_TEXTURE, "texture"},
        {GPUME_VECTORS_RETURN, "returns"}};
    char text[160] = "";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t used = strlen(text);
        if (names[i].column & columns & ~job->format->columns) {
            snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "", names[i].name);
        }
    }
    if (text[0]) {
        gpume_console_warning(
            "the format %s cannot hold %s, which were dropped", job->format->name, text);
    }
}

static enum gpume_exit open_target(struct job *job, const struct gpume_vectors_field *first)
{
    struct gpume_vectors_info info = *gpume_vectors_reader_info(job->reader);
    const struct gpume_vectors_output output = {
        .path = job->target,
        .format = job->format,
        .set = &job->set,
        .log = gpume_console,
    };
    if (info.block_w == 0 && (job->whole.units == 0 || job->format->needs_grid)) {
        gpume_vectors_find_grid(first, &info);
    } else if (info.block_w == 0) {
        info.width = job->whole.width;
        info.height = job->whole.height;
        info.block_w = job->whole.block_w;
        info.block_h = job->whole.block_h;
    }
    const bool mixed = job->whole.joined || gpume_vectors_is_joined(first);
    info.joined = info.joined || (job->format->fixed_refs && mixed);
    info.units =
        gpume_vectors_units(first, info.units > job->whole.units ? info.units : job->whole.units);
    if ((job->format->columns & GPUME_VECTORS_RANK) && (info.columns & GPUME_VECTORS_COST) &&
        !(info.columns & (GPUME_VECTORS_RANK | GPUME_VECTORS_SHAPE | GPUME_VECTORS_CANDIDATE))) {
        info.columns |= GPUME_VECTORS_RANK;
        if (gpume_vectors_ranker_create(&job->ranker, &gpume_console) != GPUME_OK) {
            return GPUME_EXIT_FAILED;
        }
    }
    return gpume_exit_of_writer(gpume_vectors_writer_open(&job->writer, &output, &info));
}

static enum gpume_exit step(struct job *job, const struct gpume_vectors_field **field)
{
    const struct gpume_vectors_field *ready = *field;
    int status = GPUME_OK;
    if (job->ranker) {
        status = gpume_vectors_ranker_apply(job->ranker, *field, &ready);
    }
    status = status ? status : gpume_vectors_writer_field(job->writer, ready);
    if (status != GPUME_OK) {
        return gpume_exit_of_writer(status);
    }
    job->fields++;
    job->blocks += ready->count;
    status = gpume_vectors_reader_next(job->reader, field);
    return gpume_signals_caught() ? GPUME_EXIT_FAILED : gpume_exit_of_reader(status);
}

static enum gpume_exit conclude(const struct job *job)
{
    warn_of_dropped(job, gpume_vectors_reader_info(job->reader)->columns);
    const char *from = gpume_vectors_reader_format(job->reader)->name;
    if (job->options->common.verbosity >= 0 && !gpume_text_is_stdout(job->target)) {
        printf("converted    %" PRIu64 " frame pair%s, %" PRIu64 " block%s: %s to %s\n",
            job->fields, job->fields == 1 ? "" : "s", job->blocks, job->blocks == 1 ? "" : "s",
            from, job->format->name);
        gpume_console_print_written(job->target, stdout);
    }
    return gpume_console_flush_output("the summary") ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

static enum gpume_exit work(struct job *job)
{
    const struct gpume_vectors_field *field = NULL;
    enum gpume_exit result = check_target(job);
    result = result ? result : look_ahead(job);
    result = result ? result : gpume_exit_of_reader(open_reader(job, &job->reader, &field));
    gpume_signals_keep();
    if (gpume_text_is_stdout(job->target)) {
        gpume_signals_end_with_reader();
    }
    result = result ? result : open_target(job, field);
    while (result == GPUME_EXIT_DONE && field) {
        result = step(job, &field);
    }
    gpume_signals_detach();
    if (result == GPUME_EXIT_DONE) {
        result = gpume_exit_of_writer(gpume_vectors_writer_finish(job->writer));
    }
    return result ? result : conclude(job);
}

static enum gpume_exit run(const void *opaque)
{
    const struct convert_options *options = opaque;
    char *source = gpume_name_vectors_input(options->common.inputs[0]);
    struct job job = {
        .options = options,
        .source = source,
        .target = options->common.inputs[1],
        .set = {.overwrite = options->common.overwrite, .alone = true},
    };
    const enum gpume_exit result = source ? work(&job) : GPUME_EXIT_INPUT;
    gpume_vectors_writer_close(&job.writer);
    gpume_vectors_reader_close(&job.reader);
    gpume_vectors_ranker_destroy(&job.ranker);
    free(source);
    return result;
}

#define OPTIONS struct convert_options

static struct gpume_option table[] = {
    {.heading = "Converting"},
    {GPUME_ROW("from", "FORMAT", readable_format, OPTIONS, from),
        .help = "format of IN: csv, jsonl, npy, mvf, extract_mvs, mv-extractor or flo (default: "
                "recognized by its first bytes); it may be compressed as gzip or zstd"},
    {GPUME_ROW("format", "FORMAT", format, OPTIONS, format),
        .help = "format of OUT: one of the above, npz or hash; csv and jsonl also compressed, such "
                "as csv.gz or csv.zst (default: by its extension)"},
    {GPUME_OPTION_SIDE(OPTIONS, block), .help = "combine the pixels of .flo files into blocks of "
                                                "this side, a multiple of 4 from 4 to 128"},
    {GPUME_OPTION_OVERWRITE, .help = "replace an existing output"},
    {GPUME_OPTION_MAX_MEMORY(OPTIONS, memory_max),
        .help = "refuse input whose frames need more memory, at 88 bytes per block, e.g. 500M or "
                "2GiB (default: no limit)"},
    {GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"},
    {.heading = "Messages"},
    {GPUME_OPTION_QUIET, .help = "print no closing summary"},
    {GPUME_OPTION_VERBOSE},
    GPUME_OPTIONS_LAST("show this help"),
};

const struct gpume_command gpume_convert_command = {
    .name = "convert",
    .summary = "convert a file of vectors to another format",
    .usage = "convert IN OUT [options]",
    .about = "Converts motion vectors from one file format to another. IN and OUT are files, "
             "numbered patterns such as flow%d.flo, or - for standard input and output; IN may "
             "also be the output folder of a run. "
             "gpume-formats(5) describes the formats.",
    GPUME_COMMAND_OPTIONS(table, struct convert_options),
    .operands_min = 2,
    .operands_max = 2,
    .last_is_output = true,
    .operands = "a file of vectors and a name for the converted file",
    .catches_signals = true,
    .run = run,
};
