/* SPDX-License-Identifier: BSD-2-Clause */
/* Exit statuses; scripts rely on them. */
#ifndef GPUME_CLI_EXIT_H
#define GPUME_CLI_EXIT_H

#include "gpume/gpume.h"

enum gpume_exit {
    GPUME_EXIT_DONE = 0,
    GPUME_EXIT_FAILED = 1,
    GPUME_EXIT_USAGE = 2,
    GPUME_EXIT_INPUT = 3,
    GPUME_EXIT_DEVICE = 4,
    GPUME_EXIT_MISMATCH = 5,
};

/* The exit status for a failure of an engine, */
static inline enum gpume_exit gpume_exit_of_engine(int status)
{
    switch (status) {
    case GPUME_OK:
        return GPUME_EXIT_DONE;
    case GPUME_INVALID: /* the options have been checked: it is the input */
        return GPUME_EXIT_INPUT;
    case GPUME_DEVICE:
    case GPUME_UNSUPPORTED:
        return GPUME_EXIT_DEVICE;
    case GPUME_FORMAT: /* two engines disagree */
        return GPUME_EXIT_MISMATCH;
    default:
        return GPUME_EXIT_FAILED;
    }
}

/* of reading a file, */
static inline enum gpume_exit gpume_exit_of_reader(int status)
{
    return status == GPUME_OK      ? GPUME_EXIT_DONE
           : status == GPUME_NOMEM ? GPUME_EXIT_FAILED
                                   : GPUME_EXIT_INPUT;
}

/* and of writing one: its format cannot hold the input, or another run is writing it. */
static inline enum gpume_exit gpume_exit_of_writer(int status)
{
    return status == GPUME_OK                                     ? GPUME_EXIT_DONE
           : status == GPUME_INVALID                              ? GPUME_EXIT_INPUT
           : status == GPUME_UNSUPPORTED || status == GPUME_AGAIN ? GPUME_EXIT_USAGE
                                                                  : GPUME_EXIT_FAILED;
}

#endif
