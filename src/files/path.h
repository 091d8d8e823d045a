/* SPDX-License-Identifier: BSD-2-Clause */
/* File names: joined, split, and followed through links. Strings that are returned are for free().
 */
#ifndef GPUME_FILES_PATH_H
#define GPUME_FILES_PATH_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The first bytes of a folder's name, followed by the name; NULL without memory. */
char *gpume_path_join(const char *folder, size_t folder_bytes, const char *name);

/* The name, shortened to `limit` bytes if it is longer: its beginning and a checksum of all of it.
 */
#define GPUME_PATH_FITTED_BYTES 256
void gpume_path_fit(char fitted[GPUME_PATH_FITTED_BYTES], const char *name, size_t limit);

/* A name in the folder of the path: `before`, the path's last part fitted to `limit`, and `after`.
 * NULL without memory. */
char *gpume_path_beside(const char *path, const char *before, size_t limit, const char *after);

/* The path followed by the suffix, with a last part that is fitted to the longest name that file
 * systems allow. NULL without memory. */
char *gpume_path_with_suffix(const char *path, const char *suffix);

/* The length of the path's folder, with the slash. */
size_t gpume_path_folder(const char *path);

/* The last part of a path, which may end in slashes; for free(). NULL without memory. */
char *gpume_path_last(const char *path);

/* Opens the path's folder, for closedir(). NULL: errno. */
DIR *gpume_path_open_folder(const char *path);

/* The path with symbolic links resolved, also if the last one is dangling. NULL: errno. */
char *gpume_path_resolve(const char *path);

/* Whether both are names of one file or folder that exists, by device and inode. So links, mounts
 * and, where the file system takes them for equal, other cases of letters are seen through. */
bool gpume_path_is_one_file(const char *a, const char *b);

/* The file name of an input: the part after "file:", which FFmpeg accepts as a protocol, unless a
 * file of the whole name exists. Within the path. */
const char *gpume_path_of_input(const char *path);

/* The descriptor that a name refers to ("-", "-.nut", /dev/stdout, /dev/fd/N and the like), or -1.
 * Opening /dev/stdout instead would truncate a file that the shell has opened for appending. */
int gpume_path_descriptor(const char *path);

/* A file in a folder. For free(); NULL without memory. */
char *gpume_path_in_folder(const char *folder, const char *name);

/* --- names as a terminal may see them. They may contain line ends and sequences that control
 * terminals: C0 and DEL, and C1, which are two bytes in UTF-8, or one that is part of no character.
 */

/* Bytes of the UTF-8 character that the text begins with; 0: they are none. */
size_t gpume_visible_utf8(const unsigned char *text);

/* Bytes of the control character that the text begins with; 0: it begins with another. *bytes: of
 * that one. */
size_t gpume_visible_control(const char *text, size_t *bytes);

/* Replaces each control character by '?', in place. */
void gpume_visible_clean(char *text);

/* Writes the text in that form. */
void gpume_visible_put(const char *text, FILE *stream);

/* --- what to do where a file cannot be opened, for the end of a message */

/* For errors that say nothing about the file; otherwise what the caller advises. */
static inline const char *gpume_remedy(int error, const char *otherwise)
{
    return error == EMFILE   ? "raise the limit on open files (ulimit -n)"
           : error == ENFILE ? "the system has no more open files; end other programs"
           : error == ENOMEM ? "free some memory"
                             : otherwise;
}

#endif
