/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line: the input's lines, up to a zero byte, are its arguments; the rest is the file
 * of --prefilter kernel:FILE. No default output name may leave the current folder, and no printed
 * name may contain control characters. Only the kernel file is opened.
 */
#include "console.h"
#include "estimate/estimate.h"
#include "fuzz.h"
#include "job.h"
#include "options/common.h"
#include "options/option.h"

#include <ctype.h>

#define ARGUMENTS_MAX 64
#define TEXT_MAX 8192u

static bool is_clean(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            return false;
        }
    }
    return true;
}

/* Prints the name as after "written". */
static void show(const char *name)
{
    static char shown[TEXT_MAX + 1];
    FILE *stream = fmemopen(shown, sizeof shown, "w");
    FUZZ_REQUIRE(stream);
    gpume_console_print_name(name, stream);
    fclose(stream);
    FUZZ_REQUIRE(is_clean(shown));
    FUZZ_REQUIRE(strlen(shown) <= strlen(name)); /* a control character has up to two bytes */
}

static void check_outputs(const struct gpume_estimate_options *options)
{
    struct gpume_cli_job job = {.common = &options->common};
    (void)gpume_estimate_plan(&job, options);
    (void)gpume_job_check(&job);
    if (job.folder && !options->output) {
        static const char suffix[] = ".gpume";
        const size_t length = strlen(job.folder);
        FUZZ_REQUIRE(!strchr(job.folder, '/'));
        FUZZ_REQUIRE(length >= sizeof suffix);
        FUZZ_REQUIRE(strcmp(job.folder + length + 1 - sizeof suffix, suffix) == 0);
        FUZZ_REQUIRE(is_clean(job.folder));
    }
    FUZZ_REQUIRE(job.output_count <= GPUME_JOB_OUTPUTS_MAX);
    gpume_job_close(&job);
}

static void check_estimate(
    struct gpume_estimate_options *options, const uint8_t *kernel, size_t bytes)
{
    const struct gpume_params *params = &options->params;
    FUZZ_REQUIRE(params->block >= GPUME_BLOCK_MIN && params->block <= GPUME_BLOCK_MAX);
    FUZZ_REQUIRE(params->block % 4 == 0);
    FUZZ_REQUIRE(params->window_x <= GPUME_WINDOW_MAX && params->window_y <= GPUME_WINDOW_MAX);
    FUZZ_REQUIRE(params->ref_distance >= 1 && params->ref_distance <= GPUME_DISTANCE_MAX);
    FUZZ_REQUIRE(params->threads <= 1024);
    FUZZ_REQUIRE(params->memory_max <= UINT64_C(1) << 50);
    FUZZ_REQUIRE(options->asked.source.trust.max_pixels <= UINT64_C(1) << 29);
    if (options->asked.prefilter.file) {
        static double weights[GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX];
        options->asked.prefilter.file = fuzz_file(kernel, bytes);
        if (gpume_prefilter_option_read(&options->asked.prefilter, weights) == GPUME_OK) {
            const struct gpume_prefilter *filter = &options->asked.prefilter.filter;
            FUZZ_REQUIRE(filter->width % 2 == 1 && filter->width <= GPUME_PREFILTER_SIDE_MAX);
            FUZZ_REQUIRE(filter->height % 2 == 1 && filter->height <= GPUME_PREFILTER_SIDE_MAX);
        }
    }
    check_outputs(options);
}

static void check_line(const struct gpume_line *line, const uint8_t *kernel, size_t bytes)
{
    const struct gpume_common_options *common = line->options;
    FUZZ_REQUIRE(common->input_count <= line->command->operands_max);
    if (common->request != GPUME_REQUEST_NONE) {
        return;
    }
    FUZZ_REQUIRE(common->input_count >= line->command->operands_min);
    FUZZ_REQUIRE(common->timeout >= 0 && common->timeout <= 604800);
    for (uint32_t i = 0; i < common->input_count; i++) {
        show(common->inputs[i]);
    }
    if (line->command == gpume_commands[0]) {
        check_estimate((struct gpume_estimate_options *)line->options, kernel, bytes);
    }
}

int FUZZ_TARGET(const uint8_t *data, size_t bytes)
{
    static char text[TEXT_MAX + 1];
    static char program[] = "gpume";
    char *argv[ARGUMENTS_MAX + 2] = {program};
    int argc = 1;
    const uint8_t *zero = bytes > 0 ? memchr(data, 0, bytes) : NULL;
    size_t length = zero ? (size_t)(zero - data) : bytes;
    const uint8_t *kernel = zero ? zero + 1 : data + bytes;
    const size_t kernel_bytes = (size_t)(data + bytes - kernel);
    length = length < TEXT_MAX ? length : TEXT_MAX;
    if (length > 0) {
        memcpy(text, data, length);
    }
    text[length] = '\0';
    for (char *at = text; at && argc <= ARGUMENTS_MAX;) {
        char *end = strchr(at, '\n');
        argv[argc++] = at;
        if (end) {
            *end++ = '\0';
        }
        at = end;
    }
    setenv("VK_DRIVER_FILES", "/dev/null", 1); /* --search queries the devices */
    setenv("VK_ICD_FILENAMES", "/dev/null", 1);
    struct gpume_line line;
    const int status = gpume_line_parse(&line, gpume_commands, argc, argv);
    FUZZ_REQUIRE(status == GPUME_OK || status == GPUME_INVALID);
    FUZZ_ALWAYS(status == GPUME_OK || status == GPUME_INVALID || status == GPUME_NOMEM);
    if (status == GPUME_OK) {
        check_line(&line, kernel, kernel_bytes);
    }
    gpume_line_finish(&line);
    gpume_console_forget_error();
    return 0;
}
