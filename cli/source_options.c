/* SPDX-License-Identifier: BSD-2-Clause */
#include "source_options.h"

#include "console.h"
#include "files/path.h"
#include "host.h"
#include "job.h"
#include "options/checks.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 1024u                    /* that formats of vectors are recognised by */
#define DECODER_BYTES (UINT64_C(512) << 20) /* for the frames of a decoder that wait */

int gpume_source_options_check(
    const struct gpume_common_options *common, const struct gpume_source_options *asked)
{
    if (asked->pictures && common->input_count < 2) {
        return gpume_refuse(GPUME_INVALID, "--pictures: needs two inputs; leave it out for one");
    }
    return gpume_check_streams(common, "pictures");
}

/* At most, as asked or chosen by processors and GPUs. */
static uint32_t decoders_of(const struct gpume_source_options *options, uint32_t gpus)
{
    return options->decoders > 0 ? options->decoders
                                 : gpume_source_decoders(options->threads, options->hwaccel, gpus);
}

struct gpume_source_options gpume_source_options_make(const struct gpume_common_options *common,
    const struct gpume_source_options *asked, const struct gpume_params *params)
{
    struct gpume_source_options options = *asked;
    memcpy(options.paths, common->inputs, sizeof(options.paths));
    options.path_count = common->input_count;
    options.threads = params->threads;
    options.divisible = decoders_of(&options, 1) > 1;
    options.trust.max_memory = params->memory_max;
    options.log = gpume_console;
    return options;
}

uint32_t gpume_source_share(const struct gpume_source_options *options, struct gpume_source *source,
    uint64_t frames, uint32_t gpus, uint64_t memory)
{
    const bool asked = options->decoders > 0;
    const uint32_t decoders = asked || gpus > 0 ? decoders_of(options, gpus) : 1;
    const uint64_t most = gpume_host_memory_allowed() / 8, usual = decoders * DECODER_BYTES;
    struct gpume_division division = {
        .decoders = decoders,
        .bytes = usual < most ? usual : most,
        .asked = asked,
        .length = frames,
        .gpus = gpus,
    };
    division.bytes = division.bytes < memory ? division.bytes : memory;
    if (decoders > 1) {
        gpume_source_divide(source, &division);
        gpume_console_info("%" PRIu32 " decoder%s; %.1f MiB of memory for frames that wait",
            division.decoders, division.decoders == 1 ? "" : "s", (double)division.bytes / 1048576);
    }
    return decoders > 1 ? division.decoders : 1;
}

/* A folder with vectors.csv or summary.json is what a run has written. */
static bool is_run(const char *input)
{
    static const char *const files[] = {"vectors.csv", "summary.json"};
    bool found = false;
    for (size_t i = 0; i < 2 && !found; i++) {
        char *name = gpume_path_in_folder(input, files[i]);
        found = name && access(name, F_OK) == 0;
        free(name);
    }
    return found;
}

/* The format of a file of vectors, or NULL. By its name where its first bytes are also those of
 * other files. */
static const struct gpume_vectors_format *vectors_in(const char *input)
{
    char head[HEAD_BYTES + 1] = "";
    struct stat info;
    FILE *file = stat(input, &info) == 0 && S_ISREG(info.st_mode) ? fopen(input, "rb") : NULL;
    if (!file) {
        return NULL;
    }
    const size_t bytes = fread(head, 1, HEAD_BYTES, file);
    fclose(file);
    const struct gpume_vectors_format *named = gpume_vectors_format_of(input);
    const struct gpume_vectors_format *found =
        gpume_vectors_format_probe((const unsigned char *)head, bytes);
    if (found == &gpume_vectors_csv) { /* or anything */
        head[strcspn(head, "\n")] = '\0';
        const bool packed =
            named && named->packing != GPUME_PACKING_NONE &&
            (memcmp(head, "\x1f\x8b", 2) == 0 || memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0);
        return packed ? named : strstr(head, ",dx,") && strstr(head, ",dy") ? found : NULL;
    }
    return (found->begins && found->reader) || found == named ? found : NULL;
}

const char *gpume_name_result(const char *path)
{
    static const struct {
        const char *head, *what;
    } results[] = {
        {"frame,ref,time,blocks,zero,sad_before,", "the table of a run's frame pairs"},
        {"{\n  \"format\": 1,\n  \"gpume\": \"", "the summary of a run"},
    };
    char head[64] = "";
    struct stat info;
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    if (!file) {
        return NULL;
    }
    (void)fread(head, 1, sizeof(head) - 1, file);
    fclose(file);
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (strncmp(head, results[i].head, strlen(results[i].head)) == 0) {
            return results[i].what;
        }
    }
    return NULL;
}

int gpume_source_check_inputs(const struct gpume_source_options *options)
{
    for (uint32_t i = 0; i < options->path_count && i < 2; i++) {
        const char *input = options->paths[i];
        if (strcmp(input, "-") == 0) {
            continue; /* standard input, whatever a file of this name is */
        }
        if (is_run(input)) {
            return gpume_refuse(GPUME_FORMAT,
                "%s: is the output folder of a run, not a video; compare, convert and merge read "
                "it",
                input);
        }
        const struct gpume_vectors_format *format = vectors_in(input);
        if (format) {
            return gpume_refuse(GPUME_FORMAT, "%s: is a file of vectors (%s), not a video%s", input,
                format->name, format->reader ? "; gpume compare and gpume convert read it" : "");
        }
        const char *what = gpume_name_result(input);
        if (what) {
            return gpume_refuse(
                GPUME_FORMAT, "%s: is %s, not a video; give the video itself", input, what);
        }
    }
    return GPUME_OK;
}

int gpume_source_open_inputs(struct gpume_source **source,
    const struct gpume_source_options *options, struct gpume_source_info *info)
{
    const int status = gpume_source_check_inputs(options);
    return status ? status : gpume_source_open(source, options, info);
}

enum gpume_exit gpume_source_exit(int status)
{
    switch (status) {
    case GPUME_OK:
        return GPUME_EXIT_DONE;
    case GPUME_INVALID: /* --vf, --stream, --hwaccel, or a video as one of two stills */
        return GPUME_EXIT_USAGE;
    case GPUME_NOMEM:
    case GPUME_AGAIN: /* no more threads */
        return GPUME_EXIT_FAILED;
    default:
        return GPUME_EXIT_INPUT;
    }
}

enum gpume_exit gpume_refuse_short_source(const struct gpume_source_info *info, const char *filter,
    uint64_t found, uint64_t needed, const char *causes)
{
    const bool any = causes[0] != '\0';
    return gpume_refuse(GPUME_EXIT_INPUT,
        "%s: has %" PRIu64 " frame%s%s%s; %s%s%s needs %" PRIu64 ": %s", info->label, found,
        found == 1 ? "" : "s", filter ? " after --vf " : "", filter ? filter : "",
        any ? "the first frame pair (" : "a frame pair", any ? causes + 2 : "", any ? ")" : "",
        needed,
        any ? "ask for less, or give a longer video" : "give a longer video, or two pictures");
}

void gpume_video_options_default(void *opaque)
{
    struct gpume_video_options *options = opaque;
    gpume_params_default(&options->params);
    options->source.stream = -1;
}

int gpume_video_options_check(void *opaque, const struct gpume_line *line)
{
    struct gpume_video_options *options = opaque;
    (void)line;
    const int status =
        options->output ? gpume_text_check_name(options->output, &gpume_console) : GPUME_OK;
    return status ? status : gpume_settle_engine(&options->params);
}

void gpume_source_warn_of_rotation(const struct gpume_source_info *info, const char *which)
{
    if (info->rotation != 0) {
        gpume_console_warning(
            "%s: is to be turned by %d degrees before it is shown, which %s; turn "
            "it with --vf %s",
            info->label, info->rotation, which,
            info->rotation == 90    ? "transpose=clock"
            : info->rotation == 270 ? "transpose=cclock"
            : info->rotation == 180 ? "hflip,vflip"
                                    : "rotate");
    }
}
