/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pictures and blocks of every field, in files beside the page of --report-dir: NUMBER.js in
 * the folder "frames". They are scripts, because a page that was opened as a file may load scripts
 * and nothing else that it can read. One thread.
 */
#ifndef GPUME_REPORT_FILES_H
#define GPUME_REPORT_FILES_H

#include "report/set.h"

struct gpume_report_files {
    const struct gpume_run *run;
    char *folder;                  /* of the page, without a slash at the end */
    char *frames;                  /* the folder in it */
    bool made_folder, made_frames; /* by this run: removed if they are empty in the end */
    struct gpume_report_encoder *encoder;
    struct gpume_report_draft draft;
    struct gpume_report_set set;
};

/* page: the name of the page, whose folder is made. Failures are logged. Release with
 * gpume_report_files_finish, also after a failure. */
int gpume_report_files_init(
    struct gpume_report_files *files, const char *page, const struct gpume_run *run);

/* Writes the file of a field. */
int gpume_report_files_add(
    struct gpume_report_files *files, const struct gpume_field *field, bool cut);

void gpume_report_files_finish(struct gpume_report_files *files);

#endif
