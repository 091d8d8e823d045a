/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder for files that make the next start faster, such as compiled pipelines. */
#ifndef GPUME_CLI_CACHE_FOLDER_H
#define GPUME_CLI_CACHE_FOLDER_H

/* According to the XDG Base Directory Specification: gpume in $XDG_CACHE_HOME, or in $HOME/.cache;
 * NULL if neither is set to an absolute path. Main thread only; valid until the next call. */
const char *gpume_cache_folder(void);

#endif
