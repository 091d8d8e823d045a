/* SPDX-License-Identifier: BSD-2-Clause */
/* The text behind an option as a value: strictly read, and refused in one line. */
#ifndef GPUME_CLI_OPTIONS_OPTION_VALUE_H
#define GPUME_CLI_OPTIONS_OPTION_VALUE_H

#include "options/option_table.h"
#include "options/options.h"

/* A value as parsed; which member counts is the row's kind. */
union gpume_option_value {
    uint64_t number;
    uint32_t pair[2]; /* window, size */
    double real;
    int choice;
    const char *text;
    const struct gpume_vectors_format *format;
    struct gpume_prefilter_option prefilter;
};

/* Is the text what the row asks for? */
bool gpume_option_parse(
    const struct gpume_option_row *row, const char *text, union gpume_option_value *value);

/* Says what would be permitted; spelled: the option as the user wrote it. GPUME_INVALID. */
int gpume_option_refuse(const struct gpume_option_row *row, const char *spelled, const char *text);

/* The names of the formats that the option takes, with `between` between them. */
void gpume_option_formats(
    const struct gpume_option_row *row, const char *between, char *text, size_t bytes);

/* Into the options. */
void gpume_option_store(
    struct gpume_options *options, enum gpume_option_id id, const union gpume_option_value *value);

#endif
