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

/* Refuses options that have no meaning beside `option`, which does what `does` says. names ends
 * with NULL. */
int gpume_check_foreign(
    const struct gpume_line *line, const char *const *names, const char *option, const char *does);

/* Two inputs must not read one pipe, under whatever names: each would get a part of it. what: what
 * the inputs are, in plural. */
int gpume_check_streams(const struct gpume_common_options *common, const char *what);

#endif
