/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/text_file.h"

#include "files/inputs.h"
#include "files/out.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/temporary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool gpume_text_is_special(const char *path)
{
    struct stat info;
    return gpume_text_is_stdout(path) ||
           (stat(path, &info) == 0 &&
               (gpume_path_descriptor(path) >= 0 || S_ISCHR(info.st_mode) ||
                   S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || S_ISBLK(info.st_mode)));
}

int gpume_text_check_name(const char *path, const struct gpume_log *log)
{
    return strcmp(path, "-.nut") != 0
               ? GPUME_OK
               : gpume_log_fail(log, GPUME_INVALID,
                     "%s: stands for video on standard output; give - for standard output", path);
}

int gpume_text_refuse_existing(const char *path, const struct gpume_log *log)
{
    return gpume_log_fail(
        log, GPUME_INVALID, "%s: exists already; replace it with -y or write elsewhere", path);
}

int gpume_text_refuse_folder(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log)
{
    int length = (int)strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    return stem ? gpume_log_fail(log, GPUME_INVALID,
                      "%s: is a folder; name a file, such as %.*s/%s%s", path, length, path, stem,
                      extension)
                : gpume_log_fail(log, GPUME_INVALID, "%s: is a folder; name a file", path);
}

int gpume_text_check_file(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log)
{
    struct stat info;
    const int status = gpume_text_check_name(path, log);
    return status == GPUME_OK && strcmp(path, "-") != 0 && stat(path, &info) == 0 &&
                   S_ISDIR(info.st_mode)
               ? gpume_text_refuse_folder(path, stem, extension, log)
               : status;
}

/* otherwise: what the name may be instead of one with the extension. */
static int check_extension(const char *path, const char *stem, const char *extension,
    const char *otherwise, const struct gpume_log *log)
{
    const size_t length = strlen(path), tail = strlen(extension);
    const int status = gpume_text_check_file(path, stem, extension, log);
    if (status != GPUME_OK || gpume_text_is_special(path) ||
        (length > tail && strcmp(path + length - tail, extension) == 0)) {
        return status;
    }
    return gpume_log_fail(
        log, GPUME_INVALID, "%s: the name must end in %s%s", path, extension, otherwise);
}

int gpume_text_check(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log)
{
    return check_extension(path, stem, extension, ", or be - for standard output", log);
}

int gpume_text_check_named(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log)
{
    return check_extension(path, stem, extension, "", log);
}

bool gpume_text_is_stdout(const char *path)
{
    return gpume_path_descriptor(path) == STDOUT_FILENO;
}

/* Whether both patterns give the same names to large numbers. */
static bool is_alike(const char *a, const char *b)
{
    char *plain_a = gpume_pattern_plain(a), *plain_b = gpume_pattern_plain(b);
    const bool alike = plain_a && plain_b && strcmp(plain_a, plain_b) == 0;
    free(plain_a);
    free(plain_b);
    return alike;
}

bool gpume_text_is_of_series(const char *numbered, const char *path)
{
    const char *last = numbered + gpume_path_folder(numbered),
               *other = path + gpume_path_folder(path);
    struct gpume_pattern_numbers numbers;
    return gpume_pattern_is_numbered(numbered) &&
           (is_alike(last, other) || gpume_pattern_matches(last, other, &numbers));
}

bool gpume_text_exists(const char *path, bool series)
{
    struct stat info;
    uint64_t lowest;
    if (series && gpume_pattern_is_numbered(path)) {
        return gpume_pattern_find(path, &lowest);
    }
    char *name = series ? gpume_pattern_name(path, 0) : NULL;
    path = name ? name : path;
    const bool exists = gpume_path_descriptor(path) < 0 &&
                        (stat(path, &info) == 0 ? S_ISREG(info.st_mode) : lstat(path, &info) == 0);
    free(name);
    return exists;
}

int gpume_text_check_new(const char *path, bool series, bool overwrite, const struct gpume_log *log)
{
    return !overwrite && gpume_text_exists(path, series) ? gpume_text_refuse_existing(path, log)
                                                         : GPUME_OK;
}

bool gpume_text_can_continue(const char *path)
{
    struct stat info;
    return gpume_path_descriptor(path) < 0 && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
}

/* For free(); NULL without memory. */
static char *partial_name(const char *path)
{
    char *final = gpume_path_resolve(path);
    char *partial = final ? gpume_path_with_suffix(final, GPUME_OUT_PARTIAL) : NULL;
    free(final);
    return partial;
}

int gpume_text_check_partial(const char *path, const struct gpume_log *log)
{
    struct stat info;
    char *partial = gpume_text_is_special(path) ? NULL : partial_name(path);
    bool blocked = partial && lstat(partial, &info) == 0 && S_ISDIR(info.st_mode);
    if (blocked) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "%s: is a folder, but an interrupted run leaves its results under this name; move it "
            "away or choose another name",
            partial);
    } else if (partial && gpume_inputs_have_name(partial)) {
        blocked = true;
        gpume_log_write(log, GPUME_LOG_ERROR,
            "%s: is the input, but an interrupted run leaves its results under this name; give the "
            "output another name",
            partial);
    }
    free(partial);
    return blocked ? GPUME_INVALID : GPUME_OK;
}

void gpume_text_remove_partial(const char *path)
{
    char *partial = partial_name(path);
    if (partial && !gpume_inputs_have_name(partial)) {
        (void)unlink(partial);
    }
    free(partial);
}

void gpume_text_clear(const char *path, bool series)
{
    if (series) {
        gpume_temporary_clear_series(path);
    } else if (gpume_text_can_continue(path)) {
        gpume_temporary_clear(path, NULL, NULL);
    }
}

void gpume_text_time(char *text, size_t bytes, int64_t time_us)
{
    /* Unsigned, so that the smallest int64_t has a magnitude too. */
    const uint64_t size = time_us < 0 ? 0 - (uint64_t)time_us : (uint64_t)time_us;
    snprintf(text, bytes, "%s%" PRIu64 ".%06" PRIu64, time_us < 0 ? "-" : "", size / 1000000,
        size % 1000000);
}

void gpume_text_psnr(char *text, size_t bytes, double psnr)
{
    if (isinf(psnr)) {
        snprintf(text, bytes, "inf");
    } else {
        snprintf(text, bytes, "%.3f", psnr);
    }
}
