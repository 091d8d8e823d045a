/* SPDX-License-Identifier: BSD-2-Clause */
#include "resume/identity.h"

#include "base/checksum.h"
#include "files/path.h"
#include "files/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int stat_input(const char *path, struct stat *info)
{
    return strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, info) : stat(path, info);
}

bool gpume_run_identity_is_certain(const char *input)
{
    struct stat info;
    return strcmp(input, "-") != 0 || (stat_input(input, &info) == 0 && S_ISREG(info.st_mode));
}

static void put_file(
    char identity[GPUME_RUN_IDENTITY_BYTES], const struct stat *file, const char *last)
{
    snprintf(identity, GPUME_RUN_IDENTITY_BYTES, "%ju:%ju:%s", (uintmax_t)file->st_dev,
        (uintmax_t)file->st_ino, last);
}

/* The folder and the last part, or the path if there is no such folder. */
static void put_place(char identity[GPUME_RUN_IDENTITY_BYTES], const char *path)
{
    struct stat info;
    char folder[PATH_MAX];
    const size_t bytes = gpume_path_folder(path);
    snprintf(folder, sizeof folder, "%.*s", (int)bytes, bytes > 0 ? path : "");
    if (bytes < sizeof folder && stat(bytes > 0 ? folder : ".", &info) == 0) {
        put_file(identity, &info, path + bytes);
    } else {
        snprintf(identity, GPUME_RUN_IDENTITY_BYTES, "%s", path);
    }
}

static void put_input(const char *input, char identity[GPUME_RUN_IDENTITY_BYTES])
{
    struct stat info;
    const char *path = gpume_path_of_input(input);
    if (stat_input(path, &info) != 0) {
        put_place(identity, path);
    } else if (S_ISREG(info.st_mode)) {
        put_file(identity, &info, "");
    } else {
        snprintf(identity, GPUME_RUN_IDENTITY_BYTES, "%s", path);
    }
}

void gpume_run_identity_of_output(const char *path, char identity[GPUME_RUN_IDENTITY_BYTES])
{
    char *final = gpume_path_resolve(path);
    put_place(identity, final ? final : path);
    free(final);
}

/* Without the device number, which may change when the machine is restarted. */
static uint64_t add_file(uint64_t sum, const struct stat *file)
{
    const uint64_t facts[] = {(uint64_t)file->st_ino, (uint64_t)file->st_size,
        (uint64_t)file->st_mtim.tv_sec, (uint64_t)file->st_mtim.tv_nsec};
    return gpume_checksum(sum, facts, sizeof facts);
}

/* The file of the input, or all files of a numbered name. */
static uint64_t add_files(uint64_t sum, const char *input)
{
    struct stat info;
    const char *path = gpume_path_of_input(input);
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    if (stat_input(path, &info) == 0) {
        return S_ISREG(info.st_mode) ? add_file(sum, &info) : sum;
    }
    if (gpume_pattern_kind(path) == GPUME_PATTERN_NUMBERED) {
        (void)gpume_pattern_list(path, &numbers, &count);
    }
    for (size_t i = 0; i < count; i++) {
        char *name = gpume_pattern_name(path, numbers[i].first);
        if (name && stat(name, &info) == 0) {
            sum = add_file(sum, &info);
        }
        free(name);
    }
    free(numbers);
    return sum;
}

void gpume_run_input_look(
    struct gpume_run_input *input, const char *name, const char *reference, const char *predictor)
{
    put_input(name, input->name);
    input->reference[0] = input->predictor[0] = '\0';
    input->predictor_file = GPUME_CHECKSUM_BEGIN;
    input->files = add_files(GPUME_CHECKSUM_BEGIN, name);
    if (reference) {
        put_input(reference, input->reference);
        input->files = add_files(input->files, reference);
    }
    if (predictor) {
        put_input(predictor, input->predictor);
        input->predictor_file = add_files(input->predictor_file, predictor);
    }
}

bool gpume_run_input_is_same(const struct gpume_run_input *a, const struct gpume_run_input *b)
{
    return a->files == b->files && a->predictor_file == b->predictor_file &&
           strcmp(a->name, b->name) == 0 && strcmp(a->reference, b->reference) == 0 &&
           strcmp(a->predictor, b->predictor) == 0;
}
