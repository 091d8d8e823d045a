/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/option_checks.h"

#include "console.h"
#include "estimate/compat.h"
#include "options/option_table.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEARCHES_MAX 32u /* more than there are */
#define BENCH_FIELDS_MAX 64u

_Static_assert(GPUME_OPTION_COUNT < 64, "one bit an option");

#define BIT(name) (UINT64_C(1) << GPUME_OPTION_##name)

static uint64_t bit(enum gpume_option_id id)
{
    return UINT64_C(1) << id;
}

/* Options that a command other than the main one has no use for. */
static int check_command(const char *command, uint64_t given, uint64_t useful)
{
    for (unsigned i = 0; i < GPUME_OPTION_COUNT; i++) {
        if (given & ~useful & bit((enum gpume_option_id)i)) {
            gpume_console_error(
                "--%s: not an option of 'gpume %s'", gpume_option_rows[i].name, command);
            return GPUME_INVALID;
        }
    }
    return GPUME_OK;
}

/* The name alone; whether it can be used here is for the library to say. */
static int check_search(const struct gpume_params *params)
{
    static struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t count = 0;
    char names[256] = "";
    if (gpume_list_searches(NULL, searches, SEARCHES_MAX, &count) != GPUME_OK) {
        return GPUME_OK;
    }
    for (uint32_t i = 0; i < count && i < SEARCHES_MAX; i++) {
        const enum gpume_backend backend = searches[i].backend;
        if (params->backend != GPUME_BACKEND_AUTO && params->backend != backend) {
            continue;
        }
        if (strcmp(params->search, searches[i].name) == 0) {
            return GPUME_OK;
        }
        const size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", used ? " or " : "", searches[i].name);
    }
    gpume_console_error(
        "--search %s: must be %s; 'gpume devices' lists them", params->search, names);
    return GPUME_INVALID;
}

static int check_engine(const struct gpume_params *params)
{
    if (params->backend == GPUME_BACKEND_CPU && (params->device || params->validate)) {
        gpume_console_error("--backend cpu: leaves no use for --%s; leave one of them out",
            params->device ? "device" : "validate");
        return GPUME_INVALID;
    }
    return params->search ? check_search(params) : GPUME_OK;
}

static bool is_stream(const char *name, struct stat *info)
{
    const int failed = strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, info) : stat(name, info);
    return failed == 0 && (S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode));
}

/* Is one pipe, by whatever names, both of two inputs? Each would get a part of what it holds. */
static int check_streams(const struct gpume_options *options, const char *what)
{
    struct stat a, b;
    const char *const *names = options->inputs;
    if (strcmp(names[0], "-") == 0 && strcmp(names[1], "-") == 0) {
        gpume_console_error("-: standard input can be one of the two %s, not both", what);
        return GPUME_INVALID;
    }
    if (is_stream(names[0], &a) && is_stream(names[1], &b) && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino) {
        gpume_console_error("%s: a pipe can be one of the two %s, not both", names[1], what);
        return GPUME_INVALID;
    }
    return GPUME_OK;
}

static int check_inputs(const struct gpume_options *options)
{
    if (options->input_count == 0) {
        gpume_console_error("no input; try 'gpume --help'");
        return GPUME_INVALID;
    }
    return options->input_count == 2 ? check_streams(options, "pictures") : GPUME_OK;
}

static int check_overlay(const struct gpume_options *options, uint64_t given)
{
    const enum gpume_option_id idle[] = {
        GPUME_OPTION_OVERLAY_STYLE, GPUME_OPTION_OVERLAY_KEY, GPUME_OPTION_SCALE};
    for (size_t i = 0; !options->overlay && i < sizeof(idle) / sizeof(idle[0]); i++) {
        if (given & bit(idle[i])) {
            gpume_console_error("--%s: needs --overlay FILE", gpume_option_rows[idle[i]].name);
            return GPUME_INVALID;
        }
    }
    return GPUME_OK;
}

void gpume_option_refuse_two_fields(
    const char *who, enum gpume_option_id picture, const char *instead)
{
    gpume_console_error("%s two fields a frame, --%s one picture; leave it out, or %s", who,
        gpume_option_rows[picture].name, instead);
}

/* Pictures are numbered by target frame, and the page of a report goes by frames. */
static int check_direction(const struct gpume_options *options, uint64_t given)
{
    static const enum gpume_option_id pictures[] = {GPUME_OPTION_PREDICTED, GPUME_OPTION_RESIDUAL,
        GPUME_OPTION_DIFFERENCE, GPUME_OPTION_OVERLAY};
    const bool both = options->params.direction == GPUME_DIRECTION_BOTH || options->compat_ffmpeg;
    const char *name = options->compat_ffmpeg ? "--compat ffmpeg" : "--direction both";
    for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]) && both; i++) {
        if (given & bit(pictures[i])) {
            gpume_option_refuse_two_fields(
                options->compat_ffmpeg ? "--compat ffmpeg: gives" : "--direction both: gives",
                pictures[i], "run it for --direction past and for --direction future");
            return GPUME_INVALID;
        }
    }
    const char *end = options->report ? strrchr(options->report, '.') : NULL;
    if (both && end && strcasecmp(end, ".html") == 0) {
        gpume_console_error("%s: gives two fields a frame, the page of --report shows one; give "
                            "it a name in .json or .csv, or run it for each direction",
            name);
        return GPUME_INVALID;
    }
    if (options->input_count == 2 && options->params.direction != GPUME_DIRECTION_PAST) {
        gpume_console_error("--direction %s: two pictures are reference and target; leave it out, "
                            "or give them the other way round",
            both ? "both" : "future");
        return GPUME_INVALID;
    }
    return options->compat_ffmpeg ? gpume_compat_check(options, given) : GPUME_OK;
}

static int check_pictures(const struct gpume_options *options, uint64_t given)
{
    const char *end = options->report ? strrchr(options->report, '.') : NULL;
    if ((given & bit(GPUME_OPTION_REPORT_PICTURES)) && (!end || strcmp(end, ".html") != 0)) {
        gpume_console_error("--report-pictures: needs --report FILE.html");
        return GPUME_INVALID;
    }
    if (options->residual_signed && !options->residual) {
        gpume_console_error("--residual-mode signed: needs --residual FILE");
        return GPUME_INVALID;
    }
    if ((options->gain != 1 || options->gamma != 1) && !options->residual && !options->difference) {
        gpume_console_error("--%s: needs --residual FILE or --difference FILE",
            options->gain != 1 ? "gain" : "gamma");
        return GPUME_INVALID;
    }
    return GPUME_OK;
}

/* --sort and --reduce have a work of their own. */
static int check_array_bench(const struct gpume_options *options, uint64_t given)
{
    const uint64_t useful = BIT(BENCH_SORT) | BIT(BENCH_REDUCE) | BIT(SECONDS) | BIT(TIMEOUT) |
                            BIT(JSON) | BIT(CSV) | BIT(BACKEND) | BIT(DEVICE) | BIT(PROGRESS) |
                            BIT(NO_PROGRESS) | BIT(QUIET) | BIT(VERBOSE);
    const char *command = options->bench_sort ? "bench --sort" : "bench --reduce";
    if (options->input_count > 0) {
        gpume_console_error(
            "%s: 'gpume %s' makes its own numbers; leave it out", options->inputs[0], command);
        return GPUME_INVALID;
    }
    const int status = check_command(command, given, useful);
    return status ? status : check_engine(&options->params);
}

static int check_bench(const struct gpume_options *options, uint64_t given)
{
    if (options->bench_sort || options->bench_reduce) {
        return check_array_bench(options, given);
    }
    const uint64_t generated = BIT(SIZE) | BIT(BITS);
    const uint64_t input =
        BIT(VF) | BIT(STREAM) | BIT(ALLOW_NETWORK) | BIT(ALLOW_FILES) | BIT(MAX_PIXELS);
    const uint64_t idle = given & (options->input_count > 0 ? generated : input);
    for (unsigned i = 0; i < GPUME_OPTION_COUNT; i++) {
        if (idle & bit((enum gpume_option_id)i)) {
            gpume_console_error("--%s: is for %s", gpume_option_rows[i].name,
                options->input_count > 0 ? "generated frames; leave it or the input out"
                                         : "an input; name one or leave it out");
            return GPUME_INVALID;
        }
    }
    if (options->frames > BENCH_FIELDS_MAX) {
        gpume_console_error("--frames %" PRIu64 ": 'gpume bench' keeps all in memory, %u at most",
            options->frames, BENCH_FIELDS_MAX);
        return GPUME_INVALID;
    }
    const int status = options->input_count > 0 ? check_inputs(options) : GPUME_OK;
    return status ? status : check_engine(&options->params);
}

static int check_compare(const struct gpume_options *options, uint64_t given)
{
    const int status = check_command("compare", given, gpume_option_mask(GPUME_COMMAND_COMPARE));
    if (status != GPUME_OK) {
        return status;
    }
    if (options->input_count < 2) {
        gpume_console_error("'gpume compare' takes two runs, folders or files of vectors; try "
                            "'gpume --help'");
        return GPUME_INVALID;
    }
    return check_streams(options, "runs");
}

static int check_convert(const struct gpume_options *options, uint64_t given)
{
    const int status = check_command("convert", given, gpume_option_mask(GPUME_COMMAND_CONVERT));
    if (status == GPUME_OK && options->input_count < 2) {
        gpume_console_error("'gpume convert' takes a file of vectors and a name for another; try "
                            "'gpume --help'");
        return GPUME_INVALID;
    }
    return status;
}

static int check_format(const struct gpume_options *options)
{
    if (options->format && !options->vectors) {
        gpume_console_error("--format %s: needs --vectors FILE", options->format->name);
        return GPUME_INVALID;
    }
    return GPUME_OK;
}

/* Options that one command alone has. */
static const uint64_t bench_alone =
    BIT(SIZE) | BIT(BITS) | BIT(SECONDS) | BIT(CSV) | BIT(BENCH_SORT) | BIT(BENCH_REDUCE);
static const uint64_t sort_alone = BIT(DESCENDING) | BIT(BINARY) | BIT(TIME);
static const uint64_t compare_alone = BIT(MAP);
static const uint64_t convert_alone = BIT(FROM);

uint64_t gpume_option_mask(enum gpume_command command)
{
    const uint64_t all = (UINT64_C(1) << GPUME_OPTION_COUNT) - 1;
    const uint64_t messages =
        BIT(QUIET) | BIT(VERBOSE) | BIT(HELP) | BIT(VERSION) | BIT(COMPLETION);
    switch (command) {
    case GPUME_COMMAND_DEVICES:
        return (messages & ~BIT(QUIET)) | BIT(JSON); /* the table is all that it does */
    case GPUME_COMMAND_COMPARE:
        return messages | compare_alone | BIT(JSON) | BIT(CSV) | BIT(OVERWRITE) | BIT(BLOCK) |
               BIT(MAX_MEMORY) | BIT(TIMEOUT);
    case GPUME_COMMAND_CONVERT:
        return messages | convert_alone | BIT(FORMAT) | BIT(OVERWRITE) | BIT(BLOCK) |
               BIT(MAX_MEMORY) | BIT(TIMEOUT);
    case GPUME_COMMAND_SORT:
        return messages | sort_alone | BIT(OUTPUT) | BIT(OVERWRITE) | BIT(BACKEND) | BIT(DEVICE) |
               BIT(CHECK) | BIT(VALIDATE) | BIT(MAX_MEMORY) | BIT(TIMEOUT);
    case GPUME_COMMAND_BENCH:
        return messages | bench_alone | BIT(JSON) | BIT(BLOCK) | BIT(WINDOW) | BIT(EDGE) |
               BIT(METRIC) | BIT(FRAMES) | BIT(VF) | BIT(STREAM) | BIT(ALLOW_NETWORK) |
               BIT(ALLOW_FILES) | BIT(MAX_PIXELS) | BIT(MAX_MEMORY) | BIT(TIMEOUT) | BIT(BACKEND) |
               BIT(DEVICE) | BIT(THREADS) | BIT(SEARCH) | BIT(PROGRESS) | BIT(NO_PROGRESS);
    default:
        return all & ~(bench_alone | sort_alone | compare_alone | convert_alone);
    }
}

int gpume_options_check(const struct gpume_options *options, uint64_t given)
{
    int status;
    if ((given & BIT(JSON)) && (given & BIT(CSV))) {
        gpume_console_error("--json: leaves no use for --csv; leave one of them out");
        return GPUME_INVALID;
    }
    switch (options->command) {
    case GPUME_COMMAND_DEVICES:
        return check_command("devices", given, gpume_option_mask(options->command));
    case GPUME_COMMAND_COMPARE:
        return check_compare(options, given);
    case GPUME_COMMAND_CONVERT:
        return check_convert(options, given);
    case GPUME_COMMAND_SORT:
        status = check_command("sort", given, gpume_option_mask(options->command));
        return status ? status : check_engine(&options->params);
    case GPUME_COMMAND_BENCH:
        status = check_command("bench", given, gpume_option_mask(options->command));
        return status ? status : check_bench(options, given);
    default:
        break;
    }
    const uint64_t idle = given & ~gpume_option_mask(options->command);
    for (unsigned i = 0; i < GPUME_OPTION_COUNT; i++) {
        const uint64_t one = bit((enum gpume_option_id)i);
        if (idle & one) {
            gpume_console_error("--%s: is an option of 'gpume %s'", gpume_option_rows[i].name,
                one & bit(GPUME_OPTION_CSV) ? "bench' and 'gpume compare"
                : one & bench_alone         ? "bench"
                : one & sort_alone          ? "sort"
                : one & convert_alone       ? "convert"
                                            : "compare");
            return GPUME_INVALID;
        }
    }
    status = check_inputs(options);
    status = status ? status : check_engine(&options->params);
    status = status ? status : check_format(options);
    status = status ? status : check_direction(options, given);
    status = status ? status : check_overlay(options, given);
    return status ? status : check_pictures(options, given);
}
