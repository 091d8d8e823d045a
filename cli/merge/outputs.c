/* SPDX-License-Identifier: BSD-2-Clause */
#include "merge/outputs.h"

#include "base/status.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/text_file.h"
#include "merge/report.h"
#include "signals.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What the message about a file of this name says; NULL: it can be joined. */
static const char *lacks(const char *name)
{
    static const struct {
        const char *extension, *remedy;
    } kinds[] = {
        {".mkv", "write .y4m in the parts, and encode the merged file"},
        {".nut", "write .y4m in the parts, and encode the merged file"},
        {".mp4", "write .y4m in the parts, and encode the merged file"},
        {".npz", "write .mvf in the parts, and convert the merged file with 'gpume convert'"},
        {".html", "name a .csv or .json report in the parts"},
    };
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcasecmp(end, kinds[i].extension) == 0) {
            return kinds[i].remedy;
        }
    }
    return NULL;
}

static int check_merged_name(const struct gpume_merge_outputs *outputs, const char *name)
{
    const char *remedy = lacks(name);
    if (name[gpume_path_folder(name)] == '\0' || gpume_path_folder(name) > 0 ||
        gpume_pattern_kind(name) == GPUME_PATTERN_WRONG || gpume_path_descriptor(name) >= 0) {
        return gpume_refuse(GPUME_INVALID,
            "%s: give the name that the file has in the folder of every part, such as v.mvf or "
            "p%%05d.png",
            name);
    }
    if (remedy) {
        return gpume_refuse(GPUME_INVALID, "%s: %s files cannot be joined byte for byte; %s", name,
            strrchr(name, '.'), remedy);
    }
    bool named = strcmp(name, "summary.json") == 0; /* which is written last, by others */
    for (size_t i = 0; i < outputs->count; i++) {
        named = named || strcmp(outputs->items[i].name, name) == 0;
    }
    return named ? gpume_refuse(GPUME_INVALID,
                       "%s: named for two outputs; the standard files need no option", name)
                 : GPUME_OK;
}

static int check_path(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_text_check_file(path, "output", "", log);
}

static bool is_always_series(const char *path)
{
    (void)path;
    return true;
}

const struct gpume_sink_ops gpume_merge_file = {.name = "merged file", .check = check_path};
static const struct gpume_sink_ops merge_series = {
    .name = "merged files", .check = check_path, .is_series = is_always_series};

int gpume_merge_outputs_add(
    struct gpume_merge_outputs *outputs, struct gpume_cli_job *job, const char *name, bool report)
{
    const bool series = !report && gpume_pattern_is_numbered(name);
    GPUME_CHECK(check_merged_name(outputs, name));
    GPUME_CHECK(gpume_job_add_standard(job, series ? &merge_series : &gpume_merge_file, name));
    outputs->items[outputs->count++] =
        (struct gpume_merge_output){.name = name, .series = series, .report = report};
    return GPUME_OK;
}

static int look_at(
    struct gpume_merge_output *output, const struct gpume_merge_part *parts, size_t count)
{
    output->files = calloc(count, sizeof(*output->files));
    if (!output->files) {
        return gpume_refuse(GPUME_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        char *path = gpume_merge_part_path(&parts[i], output->name, &gpume_console);
        GPUME_CHECK(path ? GPUME_OK : GPUME_NOMEM);
        struct gpume_join_file *file = &output->files[i];
        GPUME_CHECK(gpume_join_look(file, path, &gpume_console));
        GPUME_CHECK(gpume_join_check(&output->files[0], file, &gpume_console));
        GPUME_CHECK(output->report ? GPUME_OK : gpume_join_count(file, &parts[i], &gpume_console));
    }
    return GPUME_OK;
}

int gpume_merge_outputs_look(
    struct gpume_merge_outputs *outputs, const struct gpume_merge_part *parts, size_t count)
{
    int status = GPUME_OK;
    outputs->parts = count;
    for (size_t i = 0; i < outputs->count && status == GPUME_OK; i++) {
        status = outputs->items[i].series ? GPUME_OK : look_at(&outputs->items[i], parts, count);
    }
    return status;
}

static int join_bytes(struct gpume_out *out, const struct gpume_merge_output *output,
    const struct gpume_merge_total *total)
{
    GPUME_CHECK(gpume_join_head(out, output->files, total->count, &gpume_console));
    for (size_t i = 0; i < total->count; i++) {
        GPUME_CHECK(
            gpume_join_append(out, &output->files[i], gpume_signals_caught, &gpume_console));
    }
    return GPUME_OK;
}

int gpume_merge_outputs_join(struct gpume_merge_outputs *outputs, struct gpume_cli_job *job,
    const struct gpume_merge_total *total)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const struct gpume_merge_output *output = &outputs->items[i];
        struct gpume_job_output *to = &job->outputs[i];
        if (output->series) {
            continue;
        }
        GPUME_CHECK(gpume_out_open_in(&to->out, &job->set, to->path, &gpume_console));
        GPUME_CHECK(output->report
                        ? gpume_merge_report_write(to->out, output->files, total, &gpume_console)
                        : join_bytes(to->out, output, total));
    }
    return GPUME_OK;
}

void gpume_merge_outputs_finish(struct gpume_merge_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        struct gpume_merge_output *output = &outputs->items[i];
        for (size_t k = 0; output->files && k < outputs->parts; k++) {
            gpume_join_finish(&output->files[k]);
        }
        free(output->files);
    }
    *outputs = (struct gpume_merge_outputs){0};
}
