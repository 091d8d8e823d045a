/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume sort: reserves the name of the output, reads the input, sorts, compares the result if
 * --check or --time asks for it, and writes it last, so that no wrong result is written. Main
 * thread only.
 */
#include "sort/read.h"

#include "base/base.h"
#include "base/os.h"
#include "base/params.h"
#include "bench/timing.h"
#include "console.h"
#include "files/bytes.h"
#include "files/out.h"
#include "files/path.h"
#include "gpume/compute.h"
#include "host.h"
#include "job.h"
#include "options/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- writing integers: text or bytes are made in the output's own memory, on several threads if
 * there are many processors */

/* Words that a thread converts at a time, about 100 us of work, and the number of such items
 * between two checks whether to stop. */
#define ITEM_WORDS 32768u
#define ROUND_ITEMS 32u

#define NUMBER_BYTES 12u /* "-2147483648" and the line's end */
#define SLACK_BYTES 16u  /* see bytes.h */
_Static_assert(ITEM_WORDS *NUMBER_BYTES + SLACK_BYTES <= GPUME_OUT_ITEM_BYTES, "an item fits");

/* 32-bit words: one part holds negative numbers in two's complement, the rest unsigned ones. */
struct integers {
    const uint32_t *words;
    uint64_t count;
    uint64_t negative_first, negative_count;
};

struct integer_making {
    const struct integers *integers;
    uint64_t first; /* word of item 0 */
};

/* The first word of an item, and the end. */
static uint64_t item_bounds(const struct integer_making *making, uint32_t item, uint64_t *end)
{
    const uint64_t begin = making->first + (uint64_t)item * ITEM_WORDS;
    const uint64_t left = making->integers->count - begin;
    *end = begin + (left < ITEM_WORDS ? left : ITEM_WORDS);
    return begin;
}

/* A gpume_make_fn, like the next one; any thread calls it. */
static size_t make_text(void *opaque, uint32_t item, char *start)
{
    const struct integer_making *making = opaque;
    const struct integers *integers = making->integers;
    uint64_t end;
    char *at = start;
    for (uint64_t i = item_bounds(making, item, &end); i < end; i++) {
        uint32_t value = integers->words[i];
        if (i - integers->negative_first < integers->negative_count) {
            *at++ = '-';
            value = 0 - value;
        }
        at = gpume_digits_put(at, value);
        *at++ = '\n';
    }
    return (size_t)(at - start);
}

static size_t make_binary(void *opaque, uint32_t item, char *start)
{
    const struct integer_making *making = opaque;
    uint64_t end;
    unsigned char *at = (unsigned char *)start;
    for (uint64_t i = item_bounds(making, item, &end); i < end; i++) {
        at = gpume_le_put32(at, making->integers->words[i]);
    }
    return (size_t)(at - (unsigned char *)start);
}

/* Writes the integers and finishes the output. GPUME_CANCELLED after a signal; other failures are
 * logged. */
static int write_integers(struct gpume_out *out, const struct integers *integers, bool binary)
{
    struct integer_making making = {.integers = integers};
    struct gpume_makers *makers =
        integers->count > (uint64_t)ROUND_ITEMS * ITEM_WORDS ? gpume_out_makers(0) : NULL;
    int status = GPUME_OK;
    gpume_digits_init();
    while (making.first < integers->count) {
        const uint64_t left = (integers->count - making.first + ITEM_WORDS - 1) / ITEM_WORDS;
        struct gpume_job job = {.make = binary ? make_binary : make_text,
            .opaque = &making,
            .count = left < ROUND_ITEMS ? (uint32_t)left : ROUND_ITEMS};
        GPUME_TRY(gpume_signals_caught() ? GPUME_CANCELLED : GPUME_OK);
        GPUME_TRY(gpume_out_add(
            out, makers, &job, ITEM_WORDS * (binary ? 4 : NUMBER_BYTES) + SLACK_BYTES));
        gpume_makers_wait(makers, &job);
        making.first += (uint64_t)job.count * ITEM_WORDS;
    }
    GPUME_TRY(gpume_signals_caught() ? GPUME_CANCELLED : GPUME_OK);
    status = gpume_out_finish(out);
fail:
    gpume_makers_close(&makers);
    return status;
}

/* --- --time */

#define BUDGET_NS UINT64_C(500000000) /* for each method, which runs at least once */

struct timed_method {
    const char *name;
    gpume_compute *compute; /* NULL: qsort */
    enum gpume_sort_method sort;
    int (*measure)(struct gpume_sort_trial *trial, double *us);
    const char *missing; /* why it is not measured; NULL: it is */
    const char *unknown; /* why its time may be 0 */
    double us;           /* median */
};

static void print_method_line(
    FILE *stream, uint64_t count, const struct timed_method *method, double qsort_us)
{
    if (method->us > 0) {
        fprintf(stream, "%-25s  %12.3f ms  %10.2f M keys/s  %8.2f x qsort\n", method->name,
            method->us / 1e3, (double)count / method->us, qsort_us / method->us);
    } else {
        fprintf(stream, "%-25s  %s\n", method->name,
            method->missing ? method->missing : method->unknown);
    }
}

/* What the times of a Vulkan device are called: hardware is a GPU, anything else what `gpume
 * devices` calls it. */
static const char *device_word(const gpume_compute *compute)
{
    struct gpume_compute_info info;
    gpume_compute_get_info(compute, &info);
    const enum gpume_device_type type = strcmp(info.backend, "vulkan") == 0
                                            ? gpume_host_device_type(info.device)
                                            : GPUME_DEVICE_DISCRETE;
    return type == GPUME_DEVICE_SOFTWARE || type == GPUME_DEVICE_OTHER
               ? gpume_names_device_type[type]
               : "GPU";
}

/* Why no GPU is measured; NULL: one is. */
static const char *missing_gpu(gpume_compute *compute, enum gpume_backend asked)
{
    struct gpume_compute_info info;
    gpume_compute_get_info(compute, &info);
    if (strcmp(info.backend, "vulkan") == 0) {
        return NULL;
    }
    return asked == GPUME_BACKEND_CPU
               ? "not measured: --backend cpu"
               : "not measured: no usable GPU; --backend vulkan accepts software drivers";
}

static int measure_methods(struct gpume_sort_trial *trial, gpume_compute *gpu, gpume_compute *cpu,
    const char *missing, FILE *stream)
{
    enum { QSORT = 3, COUNT = 5 };
    static const char no_stamps[] = "unknown: the device has no timestamps";
    static const char too_short[] = "too short to measure";
    const char *word = device_word(gpu);
    char with[32], without[32];
    snprintf(with, sizeof(with), "%s with transfer", word);
    snprintf(without, sizeof(without), "%s without transfer", word);
    struct timed_method methods[COUNT] = {
        {with, gpu, GPUME_SORT_AUTO, gpume_sort_trial_on_host, missing, too_short, 0},
        {without, gpu, GPUME_SORT_AUTO, gpume_sort_trial_on_device, missing, no_stamps, 0},
        {"C radix", cpu, GPUME_SORT_RADIX, gpume_sort_trial_on_host, NULL, too_short, 0},
        {"qsort", NULL, GPUME_SORT_AUTO, gpume_sort_trial_on_host, NULL, too_short, 0},
        {"CPU bitonic", cpu, GPUME_SORT_BITONIC, gpume_sort_trial_on_host, NULL, too_short, 0},
    };
    int status = GPUME_OK;
    for (size_t i = 0; i < COUNT && status == GPUME_OK; i++) {
        trial->method = methods[i].name;
        trial->compute = methods[i].compute;
        trial->params.method = methods[i].sort;
        status = methods[i].missing ? GPUME_OK : methods[i].measure(trial, &methods[i].us);
    }
    for (size_t i = 0; i < COUNT && status == GPUME_OK; i++) {
        print_method_line(stream, trial->count, &methods[i], methods[QSORT].us);
    }
    return status;
}

/* `gpume sort --time`: measures every method, and prints one line for each if all results are as
 * expected; GPUME_EXIT_MISMATCH if one is not. work: params, count, keys, sorted, and compute,
 * which has sorted them. asked: --backend. */
static enum gpume_exit time_methods(
    const struct gpume_sort_trial *work, enum gpume_backend asked, FILE *stream)
{
    if (work->count == 0) {
        fprintf(stream, "--time: no integers to sort\n");
        return GPUME_EXIT_DONE;
    }
    struct gpume_compute_params params;
    gpume_compute *cpu = NULL;
    gpume_compute_params_default(&params);
    params.backend = GPUME_BACKEND_CPU;
    params.log = gpume_library_log;
    struct gpume_sort_trial trial = *work;
    trial.work = "--time";
    trial.budget_ns = BUDGET_NS;
    trial.work_keys = malloc(work->count * sizeof *trial.work_keys);
    enum gpume_exit result = GPUME_EXIT_FAILED;
    if (trial.work_keys && gpume_compute_open(&cpu, &params) == GPUME_OK) {
        const char *missing = missing_gpu(work->compute, asked);
        result = gpume_exit_of_engine(measure_methods(&trial, work->compute, cpu, missing, stream));
    } else {
        gpume_console_error("--time: out of memory; leave it out or sort fewer integers");
    }
    (void)gpume_compute_close(&cpu);
    free(trial.work_keys);
    return result;
}

/* --- sorting */

struct integer_sort {
    struct gpume_cli_job job;
    const struct gpume_sort_options *options;
    struct gpume_sort_input input; /* sorted in place */
    struct gpume_segment segments[2];
    struct gpume_sort_params params;
    uint32_t *original;  /* the unsorted input, for --time */
    uint32_t *reference; /* qsort's result, for --check and --time */
    gpume_compute *compute;
    struct gpume_compute_info info;
    char device[128];          /* for messages, also after the context is closed */
    uint64_t sort_ns, matched; /* integers that are equal to those of qsort */
};

static void remove_output(void *opaque)
{
    gpume_out_close(&((struct integer_sort *)opaque)->job.outputs[0].out);
}

static int check_sorted_name(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_text_check_file(path, "sorted", ".txt", log);
}

static const struct gpume_sink_ops output_ops = {
    .name = "sorted integers", .check = check_sorted_name};

/* The output may replace the input. */
static enum gpume_exit plan_sort(void *client)
{
    struct integer_sort *sorting = client;
    const struct gpume_sort_options *options = sorting->options;
    if (options->common.input_count == 0 && gpume_inputs_add("-") != GPUME_OK) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    return gpume_exit_of_writer(
        gpume_job_add(&sorting->job, &output_ops, options->output ? options->output : "-"));
}

/* Reserves the name before any work, so that no other run takes it, and checks that it can be
 * written; a device or a pipe is opened when it is written. A signal ends the program until the
 * integers are written. */
static enum gpume_exit reserve_output(struct integer_sort *sorting)
{
    struct gpume_cli_job *job = &sorting->job;
    const char *path = job->outputs[0].path;
    struct stat info;
    job->unguarded = gpume_path_descriptor(path) >= 0 ||
                     (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
    if (job->unguarded) {
        return GPUME_EXIT_DONE;
    }
    const enum gpume_exit result = gpume_job_open_output(job, 0);
    if (result == GPUME_EXIT_DONE) {
        gpume_signals_set_leave(remove_output, sorting);
    }
    return result;
}

static void describe_sort(struct integer_sort *sorting)
{
    const struct gpume_sort_options *options = sorting->options;
    const struct gpume_sort_input *input = &sorting->input;
    gpume_sort_params_default(&sorting->params);
    sorting->params.descending = options->descending;
    if (input->split) {
        const uint32_t negatives = (uint32_t)input->negatives;
        const uint32_t others = (uint32_t)(input->count - input->negatives);
        sorting->segments[0] = (struct gpume_segment){0, options->descending ? others : negatives};
        sorting->segments[1] = (struct gpume_segment){
            sorting->segments[0].count, options->descending ? negatives : others};
        sorting->params.segments = sorting->segments;
        sorting->params.segment_count = 2;
    } else if (options->binary == GPUME_SORT_I32 || input->negatives > 0) {
        sorting->params.type = GPUME_KEY_I32;
    }
}

/* Copies the input before it is sorted. */
static enum gpume_exit copy_input(struct integer_sort *sorting)
{
    const bool time = sorting->options->time, check = sorting->options->params.check;
    const size_t bytes = (size_t)sorting->input.count * sizeof(uint32_t);
    if (bytes == 0 || (!time && !check)) {
        return GPUME_EXIT_DONE;
    }
    sorting->original = time ? malloc(bytes) : NULL;
    sorting->reference = malloc(bytes);
    if (!sorting->reference || (time && !sorting->original)) {
        return gpume_refuse(GPUME_EXIT_FAILED,
            "--%s: out of memory; leave it out or sort fewer integers", time ? "time" : "check");
    }
    memcpy(sorting->reference, sorting->input.words, bytes);
    if (time) {
        memcpy(sorting->original, sorting->input.words, bytes);
    }
    return GPUME_EXIT_DONE;
}

static int open_context(struct integer_sort *sorting, enum gpume_backend backend)
{
    const struct gpume_params *wanted = &sorting->options->params;
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.backend = backend;
    params.device = wanted->device;
    params.validate = wanted->validate;
    params.cache_dir = gpume_host_cache_folder();
    params.log = gpume_library_log;
    const int status = gpume_compute_open(&sorting->compute, &params);
    if (status == GPUME_OK) {
        gpume_console_forget_error();
        gpume_compute_get_info(sorting->compute, &sorting->info);
        snprintf(sorting->device, sizeof sorting->device, "%s, %s", sorting->info.backend,
            sorting->info.device);
    }
    return status;
}

static int sort_words(struct integer_sort *sorting)
{
    const uint64_t before = gpume_clock_ns();
    const int status = gpume_sort(
        sorting->compute, &sorting->params, sorting->input.words, NULL, sorting->input.count);
    sorting->sort_ns = gpume_clock_ns() - before;
    if (status != GPUME_OK) {
        gpume_console_error("%" PRIu64 " integers cannot be sorted on %s: %s", sorting->input.count,
            sorting->device, gpume_status_text(status));
    }
    return status;
}

/* With --backend auto the CPU sorts what the GPU cannot, usually because it is too large. */
static enum gpume_exit sort_input(struct integer_sort *sorting)
{
    const struct gpume_params *wanted = &sorting->options->params;
    int status = open_context(sorting, wanted->backend);
    if (status != GPUME_OK) {
        gpume_console_error("no device to sort on: %s; 'gpume devices' lists the devices, and "
                            "--backend vulkan accepts software drivers",
            gpume_status_text(status));
        return gpume_exit_of_engine(status);
    }
    status = sort_words(sorting);
    const bool may_change = wanted->backend == GPUME_BACKEND_AUTO && !wanted->device &&
                            !wanted->validate && strcmp(sorting->info.backend, "cpu") != 0;
    struct gpume_compute_times times;
    gpume_compute_get_times(sorting->compute, &times);
    const bool unchanged = times.from_device_ns == 0; /* it failed before it wrote the integers */
    if (may_change && status != GPUME_OK && unchanged) {
        gpume_console_forget_error();
        gpume_console_warning("%s: cannot sort %" PRIu64
                              " integers (%s); sorting on the CPU instead",
            sorting->device, sorting->input.count, gpume_status_text(status));
        status = gpume_compute_close(&sorting->compute);
        status = status ? status : open_context(sorting, GPUME_BACKEND_CPU);
        status = status ? status : sort_words(sorting);
    }
    return gpume_exit_of_engine(status);
}

/* Where to print messages: standard error if the integers go to standard output. */
static FILE *words_stream(const struct integer_sort *sorting)
{
    return sorting->job.to_stdout ? stderr : stdout;
}

static enum gpume_exit compare_output(struct integer_sort *sorting)
{
    const struct gpume_sort_options *options = sorting->options;
    sorting->matched = 0;
    if (sorting->reference) {
        gpume_sort_with_qsort(&sorting->params, sorting->reference, sorting->input.count);
        sorting->matched =
            gpume_sort_matches(sorting->input.words, sorting->reference, sorting->input.count);
        if (sorting->matched != sorting->input.count) {
            return gpume_refuse(GPUME_EXIT_MISMATCH,
                "--%s: Keys matched in %" PRIu64 " of %" PRIu64
                " instances: the results of %s are wrong; nothing was written",
                options->params.check ? "check" : "time", sorting->matched, sorting->input.count,
                sorting->device);
        }
    }
    const struct gpume_sort_trial work = {
        .compute = sorting->compute,
        .params = sorting->params,
        .count = sorting->input.count,
        .keys = sorting->original,
        .sorted = sorting->input.words,
    };
    return options->time ? time_methods(&work, options->params.backend, words_stream(sorting))
                         : GPUME_EXIT_DONE;
}

static enum gpume_exit read_and_sort(void *client)
{
    struct integer_sort *sorting = client;
    enum gpume_exit result = reserve_output(sorting);
    result = result ? result : gpume_sort_input_read(&sorting->input, sorting->options);
    if (result == GPUME_EXIT_DONE) {
        describe_sort(sorting);
        result = copy_input(sorting);
    }
    result = result ? result : sort_input(sorting);
    result = result ? result : compare_output(sorting);
    /* Closing may report messages of the validation layer. */
    if (gpume_compute_close(&sorting->compute) != GPUME_OK && result == GPUME_EXIT_DONE) {
        result = GPUME_EXIT_FAILED;
    }
    return result;
}

static enum gpume_exit write_output(void *client)
{
    struct integer_sort *sorting = client;
    const struct gpume_sort_options *options = sorting->options;
    const bool text = !options->binary;
    const uint64_t negatives = text ? sorting->input.negatives : 0;
    const struct integers integers = {
        .words = sorting->input.words,
        .count = sorting->input.count,
        .negative_first = options->descending ? sorting->input.count - negatives : 0,
        .negative_count = negatives,
    };
    if (sorting->job.unguarded) {
        gpume_signals_end();
        const enum gpume_exit opened = gpume_job_open_output(&sorting->job, 0);
        if (opened != GPUME_EXIT_DONE) {
            return opened;
        }
    }
    struct gpume_out **out = &sorting->job.outputs[0].out;
    const int status = write_integers(*out, &integers, !text);
    gpume_out_close(out);
    return gpume_exit_of_engine(status);
}

static enum gpume_exit conclude_sort(void *client, FILE *stream)
{
    const struct integer_sort *sorting = client;
    if (sorting->options->params.check && sorting->options->common.verbosity >= 0) {
        fprintf(words_stream(sorting), "Keys matched in %" PRIu64 " of %" PRIu64 " instances\n",
            sorting->matched, sorting->input.count);
    }
    if (stream) {
        fprintf(stream, "sorted       %" PRIu64 " integers in %.3f ms (%s)\n", sorting->input.count,
            (double)sorting->sort_ns / 1e6, sorting->device);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit run_sort(const void *opaque)
{
    static const struct gpume_job_work work = {.plan = plan_sort,
        .prepare = read_and_sort,
        .run = write_output,
        .conclude = conclude_sort};
    const struct gpume_sort_options *options = opaque;
    struct integer_sort sorting = {.options = options,
        .job = {.common = &options->common, .set = {.alone = true, .over_input = true}}};
    const enum gpume_exit result = gpume_job_run(&sorting.job, &work, &sorting);
    gpume_signals_set_leave(NULL, NULL);
    gpume_compute_close(&sorting.compute);
    gpume_sort_input_finish(&sorting.input);
    gpume_job_close(&sorting.job);
    free(sorting.reference);
    free(sorting.original);
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
    {GPUME_OPTION_TIMEOUT},
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
    GPUME_OPTIONS_LAST,
};

static void set_sort_defaults(void *opaque)
{
    struct gpume_sort_options *options = opaque;
    gpume_params_default(&options->params);
}

static int check_sort_options(void *opaque, const struct gpume_line *line)
{
    struct gpume_sort_options *options = opaque;
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
    return gpume_settle_engine(&options->params);
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
    .set_defaults = set_sort_defaults,
    .check = check_sort_options,
    .run = run_sort,
};
