/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/side.h"

#include "base/status.h"
#include "console.h"
#include "files/text_file.h"
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { VECTORS, FRAMES, SUMMARY };

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

int gpume_side_name(struct gpume_side *side, const char *input)
{
    static const char *const files[GPUME_SIDE_FILES] = {
        "vectors.csv", "frames.csv", "summary.json"};
    struct stat info;
    side->is_folder = strcmp(input, "-") != 0 && stat(input, &info) == 0 && S_ISDIR(info.st_mode);
    const size_t count = side->is_folder ? GPUME_SIDE_FILES : 1;
    side->names[VECTORS] = gpume_name_vectors_input(input);
    if (!side->names[VECTORS]) {
        return GPUME_IO;
    }
    for (size_t i = VECTORS + 1; i < count; i++) {
        side->names[i] = gpume_text_join(input, files[i]);
        if (!side->names[i]) {
            return gpume_refuse(GPUME_NOMEM, "%s: out of memory", input);
        }
    }
    return GPUME_OK;
}

int gpume_side_open(struct gpume_side *side, uint32_t block, uint64_t memory_max)
{
    const struct gpume_vectors_source source = {
        .path = side->names[VECTORS],
        .block = block,
        .memory_max = memory_max / 2 + memory_max % 2,
        .log = gpume_console,
    };
    int status = gpume_vectors_reader_open(&side->vectors, &source);
    if (status == GPUME_OK && side->names[FRAMES] && exists(side->names[FRAMES])) {
        status = gpume_frames_reader_open(&side->frames, side->names[FRAMES], &gpume_console);
    }
    return status ? status : gpume_vectors_reader_next(side->vectors, &side->field);
}

void gpume_side_settings(const struct gpume_side *side, struct gpume_read_settings *settings)
{
    const char *name = side->names[SUMMARY];
    const int status = name ? gpume_read_settings(settings, name) : GPUME_OK;
    const char *reason = strerror(errno);
    if (status != GPUME_OK && exists(name)) {
        gpume_console_warning("%s: %s; the settings of the runs are not compared", name,
            status == GPUME_IO ? reason : "is not a summary of a run");
    }
}

bool gpume_side_is_special(const struct gpume_side *side)
{
    return gpume_text_is_special(side->names[VECTORS]) ||
           (side->names[FRAMES] && gpume_text_is_special(side->names[FRAMES]));
}

void gpume_side_close(struct gpume_side *side)
{
    gpume_vectors_reader_close(&side->vectors);
    gpume_frames_reader_close(&side->frames);
    for (size_t i = 0; i < GPUME_SIDE_FILES; i++) {
        free(side->names[i]);
    }
}
