/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the names of outputs, for the commands that write files. Main thread only. */
#ifndef GPUME_CLI_NAMES_H
#define GPUME_CLI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct gpume_vectors_format;

/* True if both name the same file, perhaps by a symbolic link. Names in existing folders are
 * compared by folder and last part, so that ./a.csv is a.csv. */
bool gpume_name_is_same(const char *a, const char *b);

/* True of a name of standard output, or of the pipe behind it. */
bool gpume_name_is_stdout(const char *path);

/* True, after one line, if the output is also a file that is read (files/inputs.h), or a picture of
 * one of the numbered inputs, whether it exists or not. */
bool gpume_name_is_input(const char *const *inputs, uint32_t count, const char *path);

/* What a run's frames.csv or summary.json is, by its first bytes; NULL: another file. */
const char *gpume_name_result(const char *path);

/* The file of vectors that an input stands for: vectors.csv in the folder of a run, else the input
 * itself. To be freed; NULL after one line. */
char *gpume_name_vectors_input(const char *input);

/* GPUME_INVALID, after one line: the name of an output folder ends as that of a file does, and
 * there is no such folder, so the option for that file was meant. */
int gpume_name_check_folder(const char *path);

/* What the vectors to be written have: enum gpume_vectors_column, and one size of blocks that form
 * a grid. */
struct gpume_name_vectors {
    unsigned columns;
    bool grid;
};

extern const struct gpume_name_vectors gpume_name_any_vectors; /* all that formats need */

/* The format asked for; otherwise that of the name's ending, or csv for standard output, devices
 * and pipes. NULL after one line: the name does not tell, or the format needs what the vectors do
 * not have. */
const struct gpume_vectors_format *gpume_name_vectors_format(
    const struct gpume_vectors_format *asked, const char *path, struct gpume_name_vectors vectors);

#endif
