/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How outputs (files/out.c) get their names: one by itself when it is finished, those of a run all
 * at once. Where the run's seal stands, all its outputs are whole: it gets its name last, and an
 * older one goes before any other file gets its name.
 */
#include "files/out_inside.h"

#include "base/status.h"
#include "files/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes an older seal, if one stands. */
static int break_seal(
    const struct gpume_out_set *set, const char *suffix, const struct gpume_log *log)
{
    char *final = gpume_path_resolve(set->seal);
    char *name = final ? gpume_path_with_suffix(final, suffix) : NULL;
    const int error = !name ? ENOMEM : unlink(name) != 0 && errno != ENOENT ? errno : 0;
    free(name);
    free(final);
    if (error != 0) {
        gpume_log_write(log, GPUME_LOG_ERROR, "%s%s: cannot be removed: %s; write elsewhere",
            set->seal, suffix, strerror(error));
    }
    return error == 0 ? GPUME_OK : GPUME_IO;
}

/* For free(); NULL without memory. */
static char *name_of(const struct gpume_out *out)
{
    return gpume_path_with_suffix(out->final, out->set->partial ? GPUME_OUT_PARTIAL : "");
}

/* Without overwrite a file that came up meanwhile is not replaced: link() refuses where rename()
 * would not. File systems without links get the rename. */
static int move(const struct gpume_out *out, const char *name)
{
    if (!out->set->overwrite && !out->set->partial) {
        if (link(out->temp, name) == 0) {
            const int result = unlink(out->temp), error = errno;
            if (result != 0) {
                (void)unlink(name); /* not twice */
            }
            errno = error;
            return result;
        }
        struct stat st;
        if (errno == EEXIST || lstat(name, &st) == 0) {
            errno = EEXIST;
            return -1;
        }
    }
    return rename(out->temp, name);
}

int gpume_out_give_name(struct gpume_out *out)
{
    int status = GPUME_OK;
    struct gpume_out_set *run = out->run;
    char *name = NULL;
    if (run && run->seal && run->overwrite && !run->broken) {
        GPUME_TRY(break_seal(run, "", &out->log));
        run->broken = true;
    }
    name = name_of(out);
    out->named = name && move(out, name) == 0;
    if (!out->named) {
        status = gpume_out_complain(out,
            out->set->partial ? "cannot be given its name with " GPUME_OUT_PARTIAL " behind it"
                              : "cannot be given its name",
            name ? errno : ENOMEM);
    }
fail:
    free(name);
    return status;
}

/* A run that fails leaves no names: the file is a temporary again. If even that fails it goes,
 * unless it is to be continued, which it can be under its name, too. */
static void take_name(struct gpume_out *out)
{
    char *name = name_of(out);
    if (name && rename(name, out->temp) == 0) {
        out->named = false;
    } else if (name && !out->set->keep) {
        (void)unlink(name);
    }
    free(name);
}

int gpume_out_set_name(struct gpume_out_set *set, const struct gpume_log *log)
{
    int status = GPUME_OK;
    if (set->seal && (set->overwrite || set->partial)) {
        status = break_seal(set, set->partial ? GPUME_OUT_PARTIAL : "", log);
    }
    for (struct gpume_out *out = set->first; out && status == GPUME_OK; out = out->next) {
        status = out->finished && !out->named ? gpume_out_give_name(out) : GPUME_OK;
    }
    for (struct gpume_out *out = set->first; out && status != GPUME_OK; out = out->next) {
        if (out->named) {
            take_name(out);
        }
    }
    return status;
}
