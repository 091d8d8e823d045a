/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Outputs get their names: the outputs of a run together, others when they are finished. The seal
 * of a run gets its name last, and an older one is removed before any other file gets its name.
 */
#include "files/inputs.h"
#include "files/out_inside.h"

#include "base/status.h"
#include "files/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes an older seal. */
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

/* Without overwrite, a file that was created meanwhile is not replaced: unlike rename(), link()
 * refuses to. File systems without links get the rename. */
static int move(const struct gpume_out *out, const char *name)
{
    if (!out->set->overwrite && !out->set->partial) {
        if (link(out->temp, name) == 0) {
            const int result = unlink(out->temp), error = errno;
            if (result != 0) {
                (void)unlink(name); /* one file, one name */
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

/* A name is on the disk once its folder is. Folders that may not be read, and file systems that
 * cannot do this, keep the promise as well as they can. */
static int sync_folder(struct gpume_out *out)
{
    DIR *dir = gpume_path_open_folder(out->final);
    const int error = dir && fsync(dirfd(dir)) != 0 && errno == EIO ? errno : 0;
    if (dir) {
        (void)closedir(dir);
    }
    return error == 0 ? GPUME_OK : gpume_out_complain(out, "cannot be written", error);
}

static bool has_same_folder(const struct gpume_out *a, const struct gpume_out *b)
{
    const size_t bytes = gpume_path_folder(a->final);
    return gpume_path_folder(b->final) == bytes && memcmp(a->final, b->final, bytes) == 0;
}

/* Each folder of the set once. */
static int sync_folders(const struct gpume_out_set *set)
{
    int status = GPUME_OK;
    for (struct gpume_out *out = set->first; out && status == GPUME_OK; out = out->next) {
        const struct gpume_out *other = set->first;
        while (other != out && !(other->named && has_same_folder(other, out))) {
            other = other->next;
        }
        status = out->named && other == out ? sync_folder(out) : GPUME_OK;
    }
    return status;
}

int gpume_out_give_name(struct gpume_out *out)
{
    int status = GPUME_OK;
    struct gpume_out_set *run = out->run;
    struct stat info;
    char *name = NULL;
    if (run && run->seal && run->overwrite && !run->broken) {
        GPUME_TRY(break_seal(run, "", &out->log));
        run->broken = true;
    }
    name = name_of(out);
    /* Again: an input may have been opened since, such as a file that a list names. */
    if (name && !out->set->over_input && lstat(name, &info) == 0 && gpume_inputs_have(&info)) {
        status = gpume_log_fail(&out->log, GPUME_IO,
            "%s: is the input and was not replaced; give the output another name", name);
        GPUME_TRY(status);
    }
    out->named = name && move(out, name) == 0;
    if (!out->named) {
        status = gpume_out_complain(out,
            out->set->partial ? "cannot be renamed to its final name plus " GPUME_OUT_PARTIAL
                              : "cannot be renamed to its final name",
            name ? errno : ENOMEM);
    } else if (out->set->sync && !out->set->together) {
        status = sync_folder(out);
    }
fail:
    free(name);
    return status;
}

/* The run failed, so the file becomes a temporary again. If that fails too, it is removed, unless
 * it may be continued, which also works under its name. */
static void take_name(struct gpume_out *out)
{
    char *partial = out->set->partial ? name_of(out) : NULL;
    const char *name = out->set->partial ? partial : out->final; /* works without memory, too */
    if (name && rename(name, out->temp) == 0) {
        out->named = false;
    } else if (name && !out->set->keep) {
        (void)unlink(name);
    }
    free(partial);
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
    status = status == GPUME_OK && set->sync ? sync_folders(set) : status;
    for (struct gpume_out *out = set->first; out && status != GPUME_OK; out = out->next) {
        if (out->named) {
            take_name(out);
        }
    }
    return status;
}
