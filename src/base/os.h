/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library asks of the system besides C11 and pthread: os_posix.c, or os_windows.c. Names
 * of files are UTF-8. A function that fails sets errno. Any thread.
 */
#ifndef GPUME_BASE_OS_H
#define GPUME_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Processors of this machine, at least 1. */
uint32_t gpume_os_processors(void);

/* --- memory */

/* Asks for large pages, which take less time to provide and to find, for the part of this memory
 * that they can fill. Call it before the memory is first written. */
void gpume_os_prefer_large_pages(void *memory, size_t bytes);

/* --- files */

/* The last separator of a path; NULL: it has none. */
const char *gpume_os_separator(const char *path);

/* Readable by the user alone where the system has such modes. errno is ENOENT if its parent is
 * missing. */
bool gpume_os_make_folder(const char *path);

/* Whether something has this name that is not a file, such as a folder or a link. */
bool gpume_os_is_other(const char *path);

/* Opens for reading, and does not wait, whatever lies there. *bytes: its size; UINT64_MAX if it is
 * not a file. */
FILE *gpume_os_open(const char *path, uint64_t *bytes);

/* Opens the file of that name for writing, empty, for one process at a time. NULL: another is
 * writing it, or it is not a file. */
FILE *gpume_os_create(const char *path);

/* Gives such a file, while it is open, another name, in place of the file that had it. */
bool gpume_os_rename(const char *from, const char *to);

void gpume_os_remove(const char *path);

/* --- the Vulkan loader */

extern const char gpume_os_vulkan[];         /* its file */
extern const char gpume_os_vulkan_package[]; /* what installs it, for people */

/* Opens a library of the system for the life of the process; NULL: it cannot be loaded. */
void *gpume_os_load(const char *name);

/* Writes the address of a function into the pointer to functions that `function` points to. False:
 * the library is NULL or has no such function. */
bool gpume_os_find(void *library, const char *name, void *function);

/* --- Time in nanoseconds. */

/* Monotonic wall time. */
uint64_t gpume_clock_ns(void);

/* Processor time of the calling thread: what others do on the machine does not count. */
uint64_t gpume_clock_thread_ns(void);

#endif
