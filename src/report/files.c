/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files.h"

#include "base/status.h"
#include "files/json.h"
#include "files/path.h"
#include "files/temporary.h"
#include "files/text_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".js" /* of a file of one frame pair */

/* named: by the user, who may have named a link. */
static int make_folder(
    const struct gpume_report_files *files, const char *folder, bool named, bool *made)
{
    struct stat info;
    *made = mkdir(folder, 0777) == 0;
    const int error = errno;
    const bool exists = !*made && (named ? stat(folder, &info) : lstat(folder, &info)) == 0;
    if (*made || (exists && S_ISDIR(info.st_mode))) {
        return GPUME_OK;
    }
    if (exists && S_ISLNK(info.st_mode)) {
        return gpume_log_fail(&files->run->log, GPUME_INVALID,
            "%s: is a link, which would lead the pictures elsewhere; remove it or choose another "
            "folder with --report-dir DIR",
            folder);
    }
    return gpume_log_fail(&files->run->log, GPUME_IO,
        "%s: folder cannot be made: %s; choose another with --report-dir DIR", folder,
        strerror(error));
}

/* Is it "NUMBER.js"? */
static bool is_set(const void *unused, const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    (void)unused;
    return digits > 0 && strcmp(name + digits, SUFFIX) == 0;
}

/* Removes what killed runs have left in the folder of frames. */
static void clear(const struct gpume_report_files *files)
{
    char *any = gpume_text_join(files->frames, SUFFIX);
    if (any) {
        gpume_temporary_clear(any, is_set, NULL);
    }
    free(any);
}

int gpume_report_files_init(
    struct gpume_report_files *files, const char *page, const struct gpume_run *run)
{
    int status;
    const size_t folder = gpume_path_folder(page);
    *files = (struct gpume_report_files){.run = run};
    files->folder = strndup(page, folder > 1 ? folder - 1 : folder);
    files->frames = files->folder ? gpume_text_join(files->folder, "frames") : NULL;
    if (!files->frames) {
        GPUME_TRY(gpume_log_nomem(&run->log, page));
    }
    GPUME_TRY(make_folder(files, files->folder, true, &files->made_folder));
    GPUME_TRY(make_folder(files, files->frames, false, &files->made_frames));
    clear(files);
    GPUME_TRY(gpume_report_encoder_open(&files->encoder, page, run, GPUME_REPORT_LARGE));
fail:
    return status;
}

/* The page's script defines the function that the file calls. */
static int write_set(struct gpume_report_files *files, const char *path)
{
    struct gpume_json json = {0};
    char head[48];
    int status;
    GPUME_TRY(gpume_out_open_own(&json.out, files->run->set, path, &files->run->log));
    snprintf(head, sizeof(head), "takeSet(%" PRIu64 ", ", files->set.rating.frame);
    (void)gpume_out_text(json.out, head);
    gpume_report_set_put(&files->set, &json);
    (void)gpume_out_text(json.out, ");\n");
    GPUME_TRY(gpume_out_finish(json.out));
fail:
    gpume_out_close(&json.out);
    return status;
}

int gpume_report_files_add(
    struct gpume_report_files *files, const struct gpume_field *field, bool cut)
{
    int status;
    char name[32];
    snprintf(name, sizeof(name), "%" PRIu64 SUFFIX, field->frame);
    char *path = gpume_text_join(files->frames, name);
    if (!path) {
        GPUME_TRY(gpume_log_nomem(&files->run->log, files->frames));
    }
    GPUME_TRY(gpume_report_draft_take(&files->draft, files->encoder, field, cut));
    GPUME_TRY(gpume_report_set_make(&files->set, files->encoder, &files->draft));
    GPUME_TRY(write_set(files, path));
fail:
    free(path);
    return status;
}

void gpume_report_files_finish(struct gpume_report_files *files)
{
    gpume_report_draft_finish(&files->draft);
    gpume_report_set_finish(&files->set);
    gpume_report_encoder_close(&files->encoder);
    if (files->made_frames) {
        (void)rmdir(files->frames); /* fails if it is not empty, as does the next */
    }
    if (files->made_folder) {
        (void)rmdir(files->folder);
    }
    free(files->folder);
    free(files->frames);
    *files = (struct gpume_report_files){0};
}
