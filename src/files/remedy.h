/* SPDX-License-Identifier: BSD-2-Clause */
/* What to do where a file cannot be opened, for the end of a message. */
#ifndef GPUME_FILES_REMEDY_H
#define GPUME_FILES_REMEDY_H

#include <errno.h>

/* For errors that say nothing about the file; otherwise what the caller advises. */
static inline const char *gpume_remedy(int error, const char *otherwise)
{
    return error == EMFILE   ? "raise the limit on open files (ulimit -n)"
           : error == ENFILE ? "the system has no more open files; end other programs"
           : error == ENOMEM ? "free some memory"
                             : otherwise;
}

#endif
