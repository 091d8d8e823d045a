/* SPDX-License-Identifier: BSD-2-Clause */
#include "names.h"

#include "console.h"
#include "files/inputs.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/text_file.h"
#include "vectors/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if the two are in one folder, which exists. */
static bool is_same_folder(const char *a, const char *b)
{
    struct stat folder_a, folder_b;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    char *parent_a = slash_a ? strndup(a, (size_t)(slash_a - a) + 1) : strdup(".");
    char *parent_b = slash_b ? strndup(b, (size_t)(slash_b - b) + 1) : strdup(".");
    bool same = false;
    if (parent_a && parent_b && stat(parent_a, &folder_a) == 0 && stat(parent_b, &folder_b) == 0) {
        same = folder_a.st_dev == folder_b.st_dev && folder_a.st_ino == folder_b.st_ino;
    }
    free(parent_a);
    free(parent_b);
    return same;
}

bool gpume_name_is_same(const char *a, const char *b)
{
    char *final_a = gpume_path_resolve(a), *final_b = gpume_path_resolve(b);
    a = final_a ? final_a : a;
    b = final_b ? final_b : b;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    const bool same =
        strcmp(a, b) == 0 ||
        (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) == 0 && is_same_folder(a, b));
    free(final_a);
    free(final_b);
    return same;
}

bool gpume_name_is_stdout(const char *path)
{
    struct stat file, out;
    if (gpume_text_is_stdout(path)) {
        return true;
    }
    return stat(path, &file) == 0 && fstat(STDOUT_FILENO, &out) == 0 && !S_ISREG(file.st_mode) &&
           file.st_dev == out.st_dev && file.st_ino == out.st_ino;
}

/* True if one of the numbered files that exist is an input, perhaps by a link. */
static bool is_input_in_series(const char *path)
{
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    bool found = false;
    if (gpume_pattern_is_numbered(path)) {
        (void)gpume_pattern_list(path, &numbers, &count); /* without memory, the next step fails */
    }
    for (size_t i = 0; i < count && !found; i++) {
        char *name = gpume_pattern_name_pair(path, numbers[i]);
        found = name && gpume_inputs_have_name(name);
        free(name);
    }
    free(numbers);
    return found;
}

bool gpume_name_is_input(const char *const *inputs, uint32_t count, const char *path)
{
    struct stat info;
    const int fd = gpume_path_descriptor(path);
    bool found = fd >= 0 ? fstat(fd, &info) == 0 && gpume_inputs_have(&info)
                         : gpume_inputs_have_name(path) || is_input_in_series(path);
    for (uint32_t i = 0; i < count && !found; i++) {
        const char *file = gpume_path_of_input(inputs[i]);
        found = (gpume_text_is_of_series(file, path) || gpume_text_is_of_series(path, file)) &&
                is_same_folder(file, path);
    }
    return found && gpume_refuse(true, "%s: is the input; give the output another name",
                        strcmp(path, "-") == 0 ? "standard output" : path);
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

char *gpume_name_vectors_input(const char *input)
{
    struct stat info;
    const char *what = gpume_name_result(input);
    if (what) {
        gpume_console_error(
            "%s: is %s, not a file of vectors; give the run's folder or its vectors.csv", input,
            what);
        return NULL;
    }
    const bool is_folder =
        !gpume_text_is_stdout(input) && stat(input, &info) == 0 && S_ISDIR(info.st_mode);
    char *name = is_folder ? gpume_path_in_folder(input, "vectors.csv") : strdup(input);
    if (!name) {
        gpume_console_error("%s: out of memory", input);
    } else if (is_folder && stat(name, &info) != 0) {
        gpume_console_error(
            "%s: has no vectors.csv; give the output folder of a run, or a file of vectors", input);
        free(name);
        return NULL;
    }
    return name;
}

/* The option that writes a file of this name; NULL: no file of a known kind is named so. */
static const char *option_of_file(const char *path)
{
    static const struct {
        const char *ending, *option;
    } files[] = {{".html", "--report"}, {".json", "--report"}, {".mkv", "--overlay"},
        {".mp4", "--overlay"}, {".mov", "--overlay"}, {".webm", "--overlay"}, {".avi", "--overlay"},
        {".nut", "--predicted"}, {".y4m", "--predicted"}, {".gif", "--overlay"},
        {".png", "--overlay"}, {".jpg", "--overlay"}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof files / sizeof files[0]; i++) {
        if (strcasecmp(dot, files[i].ending) == 0) {
            return files[i].option;
        }
    }
    return gpume_vectors_format_of(path) ? "--vectors" : NULL;
}

int gpume_name_check_folder(const char *path)
{
    struct stat info;
    const char *option = option_of_file(path);
    return option && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
               ? gpume_refuse(GPUME_INVALID,
                     "-o %s: names a folder for several files; for this file alone, write %s %s",
                     path, option, path)
               : GPUME_OK;
}

const struct gpume_name_vectors gpume_name_any_vectors = {.columns = ~0u, .grid = true};

static bool suits(const struct gpume_vectors_format *format, struct gpume_name_vectors vectors)
{
    return !(format->needs & ~vectors.columns) && (!format->needs_grid || vectors.grid);
}

#define LIST_BYTES 256

/* The extensions of the formats that suit, or all their names. */
static void list_formats(char list[LIST_BYTES], struct gpume_name_vectors vectors, bool names)
{
    const struct gpume_vectors_format *format;
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; (format = gpume_vectors_format_at(i)) != NULL; i++) {
        const char *text = names ? format->name : format->extension;
        if (text && suits(format, vectors) && used < LIST_BYTES) {
            used +=
                (size_t)snprintf(list + used, LIST_BYTES - used, "%s%s", used > 0 ? " " : "", text);
        }
    }
}

const struct gpume_vectors_format *gpume_name_vectors_format(
    const struct gpume_vectors_format *asked, const char *path, struct gpume_name_vectors vectors)
{
    char list[LIST_BYTES];
    const struct gpume_vectors_format *format = asked ? asked : gpume_vectors_format_of(path);
    if (!format && gpume_text_is_special(path)) {
        return &gpume_vectors_csv;
    }
    if (!format && gpume_text_check_file(path, "vectors", ".csv", &gpume_console) == GPUME_OK) {
        list_formats(list, vectors, false);
        gpume_console_error(
            "%s: the name must end in one of %s, or be - for standard output; or say --format",
            path, list);
    }
    if (format && !suits(format, vectors)) {
        list_formats(list, vectors, true);
        return gpume_refuse(NULL,
            "%s: %s cannot hold these vectors, whose blocks have %s; choose %s%s", path,
            format->name, format->needs & ~vectors.columns ? "no costs" : "several sizes", list,
            format->needs & ~vectors.columns ? "" : ", or add --block N");
    }
    return format;
}
