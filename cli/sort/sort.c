/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume sort: reserves the name of the output, reads the input, sorts, compares the result if
 * --check or --time asks for it, and writes it last, so that no wrong result is written. Main
 * thread only.
 */
#include "base/clock.h"
#include "commands.h"
#include "console.h"
#include "files/inputs.h"
#include "files/text_file.h"
#include "gpume/compute.h"
#include "host.h"
#include "library_log.h"
#include "options/checks.h"
#include "options/line.h"
#include "signals.h"
#include "sort/integers.h"
#include "sort/options.h"
#include "sort/read.h"
#include "sort/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sort_job {
    const struct gpume_sort_options *options;
    const char *output;
    struct gpume_integers_file *file;
    bool to_stdout, in_place;      /* the output is standard output; is written directly */
    struct gpume_sort_input input; /* sorted in place */
    struct gpume_segment segments[2];
    struct gpume_sort_params params;
    uint32_t *original;  /* the unsorted input, for --time */
    uint32_t *reference; /* qsort's result, for --check and --time */
    gpume_compute *compute;
    struct gpume_compute_info info;
    char device[128]; /* for messages, also after the context is closed */
    uint64_t sort_ns;
};

static void remove_output(void *opaque)
{
    struct sort_job *job = opaque;
    gpume_integers_close(&job->file);
}

static enum gpume_exit open_output(struct sort_job *job)
{
    const struct gpume_sort_options *options = job->options;
    job->output = options->output ? options->output : "-";
    job->to_stdout = gpume_text_is_stdout(job->output);
    if (job->to_stdout) {
        gpume_signals_end_with_reader();
    }
    if (options->common.input_count == 0 && gpume_inputs_add("-") != GPUME_OK) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    switch (
        gpume_integers_open(&job->file, job->output, options->common.overwrite, &gpume_console)) {
    case GPUME_OK:
        job->in_place = gpume_integers_is_in_place(job->file);
        if (!job->in_place) {
            gpume_signals_set_leave(remove_output, job);
        }
        return GPUME_EXIT_DONE;
    case GPUME_INVALID:
    case GPUME_AGAIN:
        return GPUME_EXIT_USAGE;
    default:
        return GPUME_EXIT_FAILED;
    }
}

static void plan(struct sort_job *job)
{
    const struct gpume_sort_options *options = job->options;
    const struct gpume_sort_input *input = &job->input;
    gpume_sort_params_default(&job->params);
    job->params.descending = options->descending;
    if (input->split) {
        const uint32_t negatives = (uint32_t)input->negatives;
        const uint32_t others = (uint32_t)(input->count - input->negatives);
        job->segments[0] = (struct gpume_segment){0, options->descending ? others : negatives};
        job->segments[1] = (struct gpume_segment){
            job->segments[0].count, options->descending ? negatives : others};
        job->params.segments = job->segments;
        job->params.segment_count = 2;
    } else if (options->binary == GPUME_SORT_I32 || input->negatives > 0) {
        job->params.type = GPUME_KEY_I32;
    }
}

/* Copies the input before it is sorted. */
static enum gpume_exit copy_input(struct sort_job *job)
{
    const bool time = job->options->time, check = job->options->params.check;
    const size_t bytes = (size_t)job->input.count * sizeof(uint32_t);
    if (bytes == 0 || (!time && !check)) {
        return GPUME_EXIT_DONE;
    }
    job->original = time ? malloc(bytes) : NULL;
    job->reference = malloc(bytes);
    if (!job->reference || (time && !job->original)) {
        return gpume_refuse(GPUME_EXIT_FAILED,
            "--%s: out of memory; leave it out or sort fewer integers", time ? "time" : "check");
    }
    memcpy(job->reference, job->input.words, bytes);
    if (time) {
        memcpy(job->original, job->input.words, bytes);
    }
    return GPUME_EXIT_DONE;
}

static int open_context(struct sort_job *job, enum gpume_backend backend)
{
    const struct gpume_params *wanted = &job->options->params;
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.backend = backend;
    params.device = wanted->device;
    params.validate = wanted->validate;
    params.cache_dir = gpume_host_cache_folder();
    params.log = gpume_library_log;
    const int status = gpume_compute_open(&job->compute, &params);
    if (status == GPUME_OK) {
        gpume_console_forget_error();
        gpume_compute_get_info(job->compute, &job->info);
        snprintf(job->device, sizeof job->device, "%s, %s", job->info.backend, job->info.device);
    }
    return status;
}

static int sort_words(struct sort_job *job)
{
    const uint64_t before = gpume_clock_ns();
    const int status =
        gpume_sort(job->compute, &job->params, job->input.words, NULL, job->input.count);
    job->sort_ns = gpume_clock_ns() - before;
    if (status != GPUME_OK) {
        gpume_console_error("%" PRIu64 " integers cannot be sorted on %s: %s", job->input.count,
            job->device, gpume_status_text(status));
    }
    return status;
}

/* Did the sort fail before it changed the integers? */
static bool is_unchanged(const struct sort_job *job)
{
    struct gpume_compute_times times;
    gpume_compute_get_times(job->compute, &times);
    return times.from_device_ns == 0;
}

/* With --backend auto the CPU sorts what the GPU cannot, usually because it is too large. */
static enum gpume_exit sort(struct sort_job *job)
{
    const struct gpume_params *wanted = &job->options->params;
    int status = open_context(job, wanted->backend);
    if (status != GPUME_OK) {
        gpume_console_error("no device to sort on: %s; 'gpume devices' lists the devices, and "
                            "--backend vulkan accepts software drivers",
            gpume_status_text(status));
        return gpume_exit_of_engine(status);
    }
    status = sort_words(job);
    const bool may_change = wanted->backend == GPUME_BACKEND_AUTO && !wanted->device &&
                            !wanted->validate && strcmp(job->info.backend, "cpu") != 0;
    if (may_change && status != GPUME_OK && is_unchanged(job)) {
        gpume_console_forget_error();
        gpume_console_warning("%s: cannot sort %" PRIu64
                              " integers (%s); sorting on the CPU instead",
            job->device, job->input.count, gpume_status_text(status));
        status = gpume_compute_close(&job->compute);
        status = status ? status : open_context(job, GPUME_BACKEND_CPU);
        status = status ? status : sort_words(job);
    }
    return gpume_exit_of_engine(status);
}

/* Where to print messages: standard error if the integers go to standard output. */
static FILE *words_stream(const struct sort_job *job)
{
    return job->to_stdout ? stderr : stdout;
}

static enum gpume_exit compare(struct sort_job *job, uint64_t *matched)
{
    const struct gpume_sort_options *options = job->options;
    *matched = 0;
    if (job->reference) {
        gpume_sort_with_qsort(&job->params, job->reference, job->input.count);
        *matched = gpume_sort_matches(job->input.words, job->reference, job->input.count);
        if (*matched != job->input.count) {
            return gpume_refuse(GPUME_EXIT_MISMATCH,
                "--%s: Keys matched in %" PRIu64 " of %" PRIu64
                " instances: the results of %s are wrong; nothing was written",
                options->params.check ? "check" : "time", *matched, job->input.count, job->device);
        }
    }
    const struct gpume_sort_trial work = {
        .compute = job->compute,
        .params = job->params,
        .count = job->input.count,
        .keys = job->original,
        .sorted = job->input.words,
    };
    return options->time ? gpume_sort_time(&work, options->params.backend, words_stream(job))
                         : GPUME_EXIT_DONE;
}

static enum gpume_exit write_output(const struct sort_job *job)
{
    const struct gpume_sort_options *options = job->options;
    const bool text = !options->binary;
    const uint64_t negatives = text ? job->input.negatives : 0;
    const struct gpume_integers integers = {
        .words = job->input.words,
        .count = job->input.count,
        .negative_first = options->descending ? job->input.count - negatives : 0,
        .negative_count = negatives,
    };
    if (job->in_place) {
        gpume_signals_end();
    } else {
        gpume_signals_keep();
    }
    const int status = gpume_integers_write(job->file, &integers, !text, gpume_signals_caught);
    if (!job->in_place) {
        gpume_signals_detach();
    }
    return status == GPUME_INVALID ? GPUME_EXIT_USAGE : gpume_exit_of_engine(status);
}

static enum gpume_exit conclude(const struct sort_job *job, uint64_t matched)
{
    const int verbosity = job->options->common.verbosity;
    FILE *stream = words_stream(job);
    if (job->options->params.check && verbosity >= 0) {
        fprintf(stream, "Keys matched in %" PRIu64 " of %" PRIu64 " instances\n", matched,
            job->input.count);
    }
    if (verbosity > 0 || (verbosity == 0 && !job->to_stdout)) {
        fprintf(stream, "sorted       %" PRIu64 " integers in %.3f ms (%s)\n", job->input.count,
            (double)job->sort_ns / 1e6, job->device);
    }
    if (verbosity >= 0 && !job->to_stdout) {
        gpume_console_print_written(job->output, stream);
    }
    return gpume_console_flush_output("the summary") ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

static enum gpume_exit work(struct sort_job *job)
{
    uint64_t matched = 0;
    enum gpume_exit result = open_output(job);
    result = result ? result : gpume_sort_input_read(&job->input, job->options);
    if (result == GPUME_EXIT_DONE) {
        plan(job);
        result = copy_input(job);
    }
    result = result ? result : sort(job);
    result = result ? result : compare(job, &matched);
    /* Closing may report messages of the validation layer. */
    if (gpume_compute_close(&job->compute) != GPUME_OK && result == GPUME_EXIT_DONE) {
        result = GPUME_EXIT_FAILED;
    }
    result = result ? result : write_output(job);
    return result ? result : conclude(job, matched);
}

static enum gpume_exit run(const void *options)
{
    struct sort_job job = {.options = options};
    const enum gpume_exit result = work(&job);
    gpume_signals_set_leave(NULL, NULL);
    gpume_integers_close(&job.file);
    gpume_compute_close(&job.compute);
    gpume_sort_input_finish(&job.input);
    free(job.reference);
    free(job.original);
    return result;
}

#define OPTIONS struct gpume_sort_options

static const char *const binaries[] = {"u32", "i32", NULL};

static struct gpume_option table[] = {
    {.heading = "Sorting"},
    {GPUME_ROW_FLAG("descending", OPTIONS, descending), .help = "sort the largest first"},
    {GPUME_ROW_CHOICE("binary", "u32|i32", OPTIONS, binary, binaries), .stored = GPUME_SORT_U32,
        .help = "read and write little-endian 32-bit words, unsigned or signed, instead of text"},
    {GPUME_ROW_FLAG("time", OPTIONS, time),
        .help = "also time the GPU, a C radix sort, qsort and a bitonic sort on the same integers"},
    {.heading = "Input"},
    {GPUME_OPTION_MAX_MEMORY(OPTIONS, params.memory_max),
        .help = "refuse input that needs more memory, at 8 bytes per integer, e.g. 500M or 2GiB "
                "(default: no limit)"},
    {GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"},
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "FILE", OPTIONS, output), .letter = 'o',
        .help = "write to this file (default: standard output)"},
    {GPUME_OPTION_OVERWRITE, .help = "replace an existing output"},
    {.heading = "Engine"},
    {GPUME_ROW_PARAM(OPTIONS, params.backend, backend)},
    {GPUME_ROW_PARAM(OPTIONS, params.device, device), .complete = GPUME_COMPLETE_DEVICES},
    {GPUME_ROW_FLAG("check", OPTIONS, params.check), .help = "compare the result with qsort's"},
    {GPUME_ROW_PARAM(OPTIONS, params.validate, validate)},
    {.heading = "Messages"},
    {GPUME_OPTION_QUIET, .help = "print no closing summary"},
    {GPUME_OPTION_VERBOSE},
    GPUME_OPTIONS_LAST("show this help"),
};

static void set_defaults(void *opaque)
{
    struct gpume_sort_options *options = opaque;
    gpume_params_default(&options->params);
}

static int check_options(void *opaque, const struct gpume_line *line)
{
    const struct gpume_sort_options *options = opaque;
    (void)line;
    if (options->binary && isatty(STDOUT_FILENO) &&
        (!options->output || gpume_text_is_stdout(options->output))) {
        return gpume_refuse(GPUME_INVALID,
            "--binary: a terminal cannot show words; name a file with -o, or pipe them to a "
            "program");
    }
    if (options->output && gpume_text_check_name(options->output, &gpume_console) != GPUME_OK) {
        return GPUME_INVALID;
    }
    return gpume_check_engine(&options->params);
}

const struct gpume_command gpume_sort_command = {
    .name = "sort",
    .summary = "sort integers",
    .usage = "sort [FILE] [-o FILE] [options]",
    .about = "Sorts 32-bit integers on the GPU, or on the CPU if there is no GPU. Reads them from "
             "FILE or standard input, as text separated by white space or as binary words.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_sort_options),
    .operands_max = 1,
    .operands = "one file; to sort several, use a pipe: cat FILES | gpume sort",
    .catches_signals = true,
    .set_defaults = set_defaults,
    .check = check_options,
    .run = run,
};
