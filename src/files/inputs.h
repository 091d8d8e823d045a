/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that this process reads. No output replaces one of them (out.h), and none is removed as
 * what a killed run has left (temporary.h), under whatever name: a file is known by its device and
 * its number there, which links, other spellings, mounts and descriptors share. Any thread.
 */
#ifndef GPUME_FILES_INPUTS_H
#define GPUME_FILES_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Adds the files that the name of an input stands for: one file, standard input ("-"), all pictures
 * of a numbered name, the tables and the summary in the folder of a run, or those after a protocol
 * of FFmpeg ("concat:a|b"). A name of none adds nothing. GPUME_NOMEM, not logged. */
int gpume_inputs_add(const char *name);

/* The same, but all files of a folder. */
int gpume_inputs_add_all(const char *name);

/* Adds the files that a text stands for, if it is such a name. Unlike gpume_inputs_add, it takes
 * "-" and the names of folders for other texts. */
int gpume_inputs_add_text(const char *text);

/* Whether it is one of them. Only regular files are. */
bool gpume_inputs_have(const struct stat *info);

/* The same of the file of this name, links followed; false if there is none. */
bool gpume_inputs_have_name(const char *path);

/* Forgets all of them. */
void gpume_inputs_forget(void);

/* --- a short text that tells the contents of two files apart, wherever they lie and whatever they
 * are called: sizes, and a checksum of samples of the bytes */

#define GPUME_CONTENT_BYTES 48

/* path: a file, or the pattern of numbered files. "": it is neither, or cannot be read. */
void gpume_content_of_input(const char *path, char text[GPUME_CONTENT_BYTES]);

void gpume_content_of_bytes(const void *data, size_t bytes, char text[GPUME_CONTENT_BYTES]);

#endif
