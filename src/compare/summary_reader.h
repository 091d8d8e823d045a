/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The settings of a run, read from its summary.json: input, parameters and engine. Any thread.
 */
#ifndef GPUME_COMPARE_SUMMARY_READER_H
#define GPUME_COMPARE_SUMMARY_READER_H

#include <stdint.h>

#define GPUME_READ_SETTINGS_MAX 64u

struct gpume_read_setting {
    char name[48];   /* "--window", "engine device", "input name" */
    char value[160]; /* without quotes; longer ones are truncated */
};

struct gpume_read_settings {
    struct gpume_read_setting items[GPUME_READ_SETTINGS_MAX];
    uint32_t count;
};

/* GPUME_IO: the file cannot be read; GPUME_INVALID: it is not a complete summary; GPUME_NOMEM.
 * There are no settings then. Nothing is logged. */
int gpume_read_settings(struct gpume_read_settings *settings, const char *path);

/* NULL: there is no such setting. */
const char *gpume_read_settings_find(const struct gpume_read_settings *settings, const char *name);

#endif
