/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that several commands share. GPUME_OK, or GPUME_INVALID after one line through
 * gpume_console_error. */
#ifndef GPUME_CLI_OPTIONS_CHECKS_H
#define GPUME_CLI_OPTIONS_CHECKS_H

#include "options/common.h"

/* Where --device names several devices, their list becomes params.devices: all, cpu, or a list
 * that is not the name of one device. */
void gpume_take_device_list(struct gpume_params *params);

/* The next name of such a list, which it cuts off; NULL: there is none. */
char *gpume_next_device(char **list);

/* backend, device, validate and search of the parameters. The library says later whether the
 * machine has what they name. */
int gpume_check_engine(const struct gpume_params *params);

/* The same; then the CPU is chosen where a GPU was not asked for and the machine has none. */
int gpume_settle_engine(struct gpume_params *params);

/* A mode of a command: an option that makes it do something else. */
struct gpume_mode {
    const char *option;       /* without "--" */
    const char *does;         /* for messages: "--NAME cannot be combined with it, which ..." */
    const char *const *takes; /* the options that have a meaning beside it, then NULL; those of
                                 messages and --timeout always have */
};

/* Refuses all other options that were given. */
int gpume_check_mode(const struct gpume_line *line, const struct gpume_mode *mode);

/* Two inputs must not read one pipe, under whatever names: each would get a part of it. what: what
 * the inputs are, in plural. */
int gpume_check_streams(const struct gpume_common_options *common, const char *what);

#endif
