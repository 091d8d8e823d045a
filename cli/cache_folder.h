/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the command keeps what makes its next start faster. */
#ifndef GPUME_CLI_CACHE_FOLDER_H
#define GPUME_CLI_CACHE_FOLDER_H

/* By the XDG Base Directory Specification: gpume in $XDG_CACHE_HOME, or in $HOME/.cache; NULL where
 * neither is set to an absolute path. Main thread only; the string is good until the next call. */
const char *gpume_cache_folder(void);

#endif
