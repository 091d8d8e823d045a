/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a summary.json says of how a run was made: its input, parameters and engine. It is read by
 * its lines, as summary_json.c writes them; what else there may be in the file is passed over. Pure
 * reading, any thread.
 */
#ifndef GPUME_COMPARE_SUMMARY_READER_H
#define GPUME_COMPARE_SUMMARY_READER_H

#include <stdint.h>

#define GPUME_READ_SETTINGS_MAX 64u

struct gpume_read_setting {
    char name[48];   /* "--window", "engine device", "input name" */
    char value[160]; /* as it stands, without quotes; cut where it is longer */
};

struct gpume_read_settings {
    struct gpume_read_setting items[GPUME_READ_SETTINGS_MAX];
    uint32_t count;
};

/* GPUME_IO: the file cannot be read; GPUME_INVALID: it is no whole summary. There are no settings
 * then. Nothing is logged. */
int gpume_read_settings(struct gpume_read_settings *settings, const char *path);

/* NULL: not there. */
const char *gpume_read_settings_find(const struct gpume_read_settings *settings, const char *name);

#endif
