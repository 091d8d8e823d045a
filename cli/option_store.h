/* SPDX-License-Identifier: BSD-2-Clause */
/* From an option and its value to the struct of options. */
#ifndef GPUME_CLI_OPTION_STORE_H
#define GPUME_CLI_OPTION_STORE_H

#include "option_table.h"
#include "options.h"

/* A value as parsed; which member counts is the row's kind. */
union gpume_option_value {
    uint64_t number;
    uint32_t pair[2]; /* window, size */
    double real;
    int choice;
    const char *text;
};

void gpume_option_store(
    struct gpume_options *options, enum gpume_option_id id, const union gpume_option_value *value);

#endif
