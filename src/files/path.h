/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of files: put together, taken apart, followed through links. Results are for free(). */
#ifndef GPUME_FILES_PATH_H
#define GPUME_FILES_PATH_H

#include <stddef.h>

/* So much of the folder, and the name behind it; NULL without memory. */
char *gpume_path_join(const char *folder, size_t folder_bytes, const char *name);

/* The name, if it has no more bytes than that, or else its beginning and a sum over all of it,
 * which together have as many. */
#define GPUME_PATH_FITTED_BYTES 256
void gpume_path_fit(char fitted[GPUME_PATH_FITTED_BYTES], const char *name, size_t limit);

/* A name made of that of the path's file, in the same folder: so much of it, fitted, between two
 * others. NULL without memory. */
char *gpume_path_beside(const char *path, const char *before, size_t limit, const char *after);

/* The path with that behind its name, which is fitted where it is too long. NULL without memory. */
char *gpume_path_with_suffix(const char *path, const char *suffix);

/* How much of the path is its folder, with the slash. */
size_t gpume_path_folder(const char *path);

/* The path behind symbolic links, also where the last one points to nothing yet. NULL: errno. */
char *gpume_path_resolve(const char *path);

/* Where the file of an input lies: behind "file:", as FFmpeg takes that, unless there is a file
 * whose name begins so. Within the path. */
const char *gpume_path_of_input(const char *path);

/* The descriptor that a name stands for ("-", /dev/stdout, /dev/fd/N and the like), or -1. Opening
 * /dev/stdout anew would cut a file that the shell has opened for appending. */
int gpume_path_descriptor(const char *path);

#endif
