/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume convert: copies motion fields from a reader to a writer, one at a time. Ranks are computed
 * from costs if the target format holds ranks and the source has none; nothing else is invented.
 * Main thread only.
 */
#include "files/path.h"
#include "job.h"
#include "options/common.h"
#include "vectors/format.h"
#include "vectors/vectors.h"

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

struct convert {
    struct gpume_cli_job job;
    const struct convert_options *options;
    char *source;
    const char *target;
    const struct gpume_vectors_format *format; /* of the target */
    struct gpume_vectors_reader *reader;
    const struct gpume_vectors_field *field; /* the next one */
    struct gpume_vectors_writer *writer;
    struct gpume_vectors_ranker *ranker; /* NULL: ranks need not be computed */
    struct gpume_vectors_info whole;     /* what all fields have in common; units 0: nothing yet */
    uint64_t fields, blocks;
};

/* both: frames have two fields. */
static int check_target(const struct convert *convert, bool both, const struct gpume_log *log)
{
    const struct gpume_sink_shape shape = {.format = convert->format, .single = true, .both = both};
    return gpume_sink_vectors(convert->format)->check(convert->target, &shape, log);
}

static enum gpume_exit plan_convert(void *client)
{
    struct convert *convert = client;
    struct gpume_cli_job *job = &convert->job;
    convert->source = gpume_name_vectors_input(convert->options->common.inputs[0]);
    if (!convert->source) {
        return GPUME_EXIT_INPUT;
    }
    convert->format = gpume_name_vectors_format(
        convert->options->format, convert->target, gpume_name_any_vectors);
    if (!convert->format) {
        return GPUME_EXIT_USAGE;
    }
    job->inputs = (const char *const *)&convert->source;
    job->input_count = 1;
    job->shape.format = convert->format;
    job->shape.single = true;
    return gpume_exit_of_writer(
        gpume_job_add(job, gpume_sink_vectors(convert->format), convert->target));
}

static int open_source_file(const struct convert *convert, struct gpume_vectors_reader **reader,
    const struct gpume_vectors_field **first)
{
    const struct gpume_vectors_source source = {
        .path = convert->source,
        .format = convert->options->from,
        .block = convert->options->block,
        .memory_max = convert->options->memory_max,
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
static enum gpume_exit look_ahead(struct convert *convert)
{
    struct gpume_vectors_reader *reader = NULL;
    const struct gpume_vectors_field *field = NULL;
    const bool numbers = check_target(convert, true, NULL) == GPUME_OK;
    bool both = false;
    if (gpume_text_is_special(convert->source) || (numbers && !convert->format->fixed_units)) {
        return GPUME_EXIT_DONE;
    }
    int status = open_source_file(convert, &reader, &field);
    while (status == GPUME_OK && field && !both) {
        const uint64_t last = field->frame;
        add_to_whole(&convert->whole, field);
        status = gpume_vectors_reader_next(reader, &field);
        both = !numbers && status == GPUME_OK && field && field->frame == last;
    }
    gpume_vectors_reader_close(&reader);
    if (both) {
        (void)check_target(convert, true, &gpume_console);
        return GPUME_EXIT_USAGE;
    }
    return gpume_exit_of_reader(status);
}

/* Warns of data that the source has and the target format cannot hold. */
static void warn_of_dropped(const struct convert *convert, unsigned columns)
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
        if (names[i].column & columns & ~convert->format->columns) {
            gpume_text_join(text, sizeof(text), ", ", "%s", names[i].name);
        }
    }
    if (text[0]) {
        gpume_console_warning(
            "the format %s cannot hold %s, which were dropped", convert->format->name, text);
    }
}

static enum gpume_exit open_target(struct convert *convert, const struct gpume_vectors_field *first)
{
    struct gpume_vectors_info info = *gpume_vectors_reader_info(convert->reader);
    const struct gpume_vectors_output output = {
        .path = convert->target,
        .format = convert->format,
        .set = &convert->job.set,
        .log = gpume_console,
    };
    if (info.block_w == 0 && (convert->whole.units == 0 || convert->format->needs_grid)) {
        gpume_vectors_find_grid(first, &info);
    } else if (info.block_w == 0) {
        info.width = convert->whole.width;
        info.height = convert->whole.height;
        info.block_w = convert->whole.block_w;
        info.block_h = convert->whole.block_h;
    }
    const bool mixed = convert->whole.joined || gpume_vectors_is_joined(first);
    info.joined = info.joined || (convert->format->fixed_refs && mixed);
    info.units = gpume_vectors_units(
        first, info.units > convert->whole.units ? info.units : convert->whole.units);
    if ((convert->format->columns & GPUME_VECTORS_RANK) && (info.columns & GPUME_VECTORS_COST) &&
        !(info.columns & (GPUME_VECTORS_RANK | GPUME_VECTORS_SHAPE | GPUME_VECTORS_CANDIDATE))) {
        info.columns |= GPUME_VECTORS_RANK;
        if (gpume_vectors_ranker_create(&convert->ranker, &gpume_console) != GPUME_OK) {
            return GPUME_EXIT_FAILED;
        }
    }
    return gpume_exit_of_writer(gpume_vectors_writer_open(&convert->writer, &output, &info));
}

static enum gpume_exit copy_field(struct convert *convert)
{
    const struct gpume_vectors_field *ready = convert->field;
    int status = GPUME_OK;
    if (convert->ranker) {
        status = gpume_vectors_ranker_apply(convert->ranker, convert->field, &ready);
    }
    status = status ? status : gpume_vectors_writer_field(convert->writer, ready);
    if (status != GPUME_OK) {
        return gpume_exit_of_writer(status);
    }
    convert->fields++;
    convert->blocks += ready->count;
    status = gpume_vectors_reader_next(convert->reader, &convert->field);
    return gpume_signals_caught() ? GPUME_EXIT_FAILED : gpume_exit_of_reader(status);
}

static enum gpume_exit look_at_source(void *client)
{
    struct convert *convert = client;
    const enum gpume_exit result = look_ahead(convert);
    return result
               ? result
               : gpume_exit_of_reader(open_source_file(convert, &convert->reader, &convert->field));
}

static enum gpume_exit copy_fields(void *client)
{
    struct convert *convert = client;
    enum gpume_exit result = open_target(convert, convert->field);
    while (result == GPUME_EXIT_DONE && convert->field) {
        result = copy_field(convert);
    }
    return result;
}

static enum gpume_exit complete_target(void *client)
{
    return gpume_exit_of_writer(gpume_vectors_writer_finish(((struct convert *)client)->writer));
}

static enum gpume_exit conclude_convert(void *client, FILE *stream)
{
    const struct convert *convert = client;
    warn_of_dropped(convert, gpume_vectors_reader_info(convert->reader)->columns);
    if (stream) {
        fprintf(stream, "converted    %" PRIu64 " frame pair%s, %" PRIu64 " block%s: %s to %s\n",
            convert->fields, gpume_plural(convert->fields), convert->blocks,
            gpume_plural(convert->blocks), gpume_vectors_reader_format(convert->reader)->name,
            convert->format->name);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit run_convert(const void *opaque)
{
    static const struct gpume_job_work work = {.plan = plan_convert,
        .prepare = look_at_source,
        .run = copy_fields,
        .complete = complete_target,
        .conclude = conclude_convert};
    const struct convert_options *options = opaque;
    struct convert convert = {.options = options,
        .target = options->common.inputs[1],
        .job = {.common = &options->common, .set.alone = true}};
    const enum gpume_exit result = gpume_job_run(&convert.job, &work, &convert);
    gpume_vectors_writer_close(&convert.writer);
    gpume_vectors_reader_close(&convert.reader);
    gpume_vectors_ranker_destroy(&convert.ranker);
    gpume_job_close(&convert.job);
    free(convert.source);
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
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Messages"},
    {GPUME_OPTION_QUIET, .help = "print no closing summary"},
    {GPUME_OPTION_VERBOSE},
    GPUME_OPTIONS_LAST,
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
    .run = run_convert,
};
