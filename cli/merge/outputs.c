/* SPDX-License-Identifier: BSD-2-Clause */
#include "merge/outputs.h"

#include "base/status.h"
#include "console.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/text_file.h"
#include "merge/report.h"
#include "names.h"
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

static int check_name(const struct gpume_merge_outputs *outputs, const char *name)
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

int gpume_merge_outputs_add(struct gpume_merge_outputs *outputs, const char *name, bool report)
{
    struct gpume_merge_output *output = &outputs->items[outputs->count];
    GPUME_CHECK(check_name(outputs, name));
    *output = (struct gpume_merge_output){
        .name = name,
        .path = gpume_text_join(outputs->folder, name),
        .series = !report && gpume_pattern_is_numbered(name),
        .report = report,
    };
    outputs->count += output->path != NULL;
    return output->path ? GPUME_OK : gpume_refuse(GPUME_NOMEM, "out of memory");
}

int gpume_merge_outputs_check(const struct gpume_merge_outputs *outputs, bool overwrite)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const struct gpume_merge_output *output = &outputs->items[i];
        GPUME_CHECK(gpume_text_check_new(output->path, output->series, overwrite, &gpume_console));
        if (gpume_name_is_input(NULL, 0, output->path)) { /* a file of a part, by a link */
            return GPUME_INVALID;
        }
    }
    return GPUME_OK;
}

void gpume_merge_outputs_clear(const struct gpume_merge_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        gpume_text_clear(outputs->items[i].path, outputs->items[i].series);
    }
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

static int join_bytes(
    const struct gpume_merge_output *output, const struct gpume_merge_total *total)
{
    GPUME_CHECK(gpume_join_head(output->out, output->files, total->count, &gpume_console));
    for (size_t i = 0; i < total->count; i++) {
        GPUME_CHECK(gpume_join_append(
            output->out, &output->files[i], gpume_signals_caught, &gpume_console));
    }
    return GPUME_OK;
}

static int join(struct gpume_merge_output *output, const struct gpume_merge_total *total,
    struct gpume_out_set *set)
{
    GPUME_CHECK(gpume_out_open_in(&output->out, set, output->path, &gpume_console));
    GPUME_CHECK(output->report
                    ? gpume_merge_report_write(output->out, output->files, total, &gpume_console)
                    : join_bytes(output, total));
    return gpume_out_finish(output->out);
}

int gpume_merge_outputs_join(struct gpume_merge_outputs *outputs,
    const struct gpume_merge_total *total, struct gpume_out_set *set)
{
    int status = GPUME_OK;
    for (size_t i = 0; i < outputs->count && status == GPUME_OK; i++) {
        status = outputs->items[i].series ? GPUME_OK : join(&outputs->items[i], total, set);
    }
    return status;
}

void gpume_merge_outputs_finish(struct gpume_merge_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        struct gpume_merge_output *output = &outputs->items[i];
        gpume_out_close(&output->out);
        for (size_t k = 0; output->files && k < outputs->parts; k++) {
            gpume_join_finish(&output->files[k]);
        }
        free(output->files);
        free(output->path);
    }
    *outputs = (struct gpume_merge_outputs){0};
}
