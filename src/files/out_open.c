/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens outputs: examines the path, and creates a temporary or continues that of an earlier run. */
#include "files/inputs.h"
#include "files/out.h"
#include "files/out_inside.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/text_file.h"

#include "gpume/gpume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void learn_seekable(struct gpume_out *out)
{
    struct stat st;
    off_t at = lseek(out->fd, 0, SEEK_CUR);
    int flags = fcntl(out->fd, F_GETFL);
    out->seekable = at >= 0 && flags >= 0 && (flags & O_APPEND) == 0 && fstat(out->fd, &st) == 0 &&
                    S_ISREG(st.st_mode);
    out->start = out->seekable ? (uint64_t)at : 0;
}

static bool is_input(const struct gpume_out *out, const struct stat *info)
{
    return !out->set->over_input && gpume_inputs_have(info);
}

static int refuse_input(const struct gpume_out *out)
{
    return gpume_log_fail(
        &out->log, GPUME_AGAIN, "%s: is the input; give the output another name", out->label);
}

static int open_descriptor(struct gpume_out *out, int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && is_input(out, &st)) {
        return refuse_input(out);
    }
    out->fd = dup(fd); /* closing a copy reports errors and leaves the original open */
    if (out->fd < 0) {
        return gpume_out_complain(out, "cannot be written", errno);
    }
    learn_seekable(out);
    return GPUME_OK;
}

static int open_temp(struct gpume_out *out)
{
    out->fd = gpume_temporary_create(out->final, &out->id, &out->temp);
    if (out->fd < 0) {
        return gpume_out_complain(out, "cannot be created", errno);
    }
    out->seekable = true;
    return GPUME_OK;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the file another output of the set? If so, the temporary's first name was taken: that name was
 * made from this output's, or from one that the folder does not distinguish from it. */
static bool is_taken(const struct gpume_out *out)
{
    bool taken = false;
    struct gpume_temporary id = {.pid = out->id.pid};
    struct stat first, open_file;
    char *name = out->id.number > 0 ? gpume_temporary_name(out->final, id) : NULL;
    const bool exists = name && lstat(name, &first) == 0;
    for (const struct gpume_out *other = out->set->first; other && exists && !taken;
         other = other->next) {
        taken =
            other->fd >= 0 && fstat(other->fd, &open_file) == 0 && is_same_file(&first, &open_file);
    }
    free(name);
    return taken;
}

static const struct gpume_out_mark *find_mark(const struct gpume_out *out)
{
    for (size_t i = 0; i < out->set->mark_count; i++) {
        if (strcmp(out->set->marks[i].path, out->path) == 0) {
            return &out->set->marks[i];
        }
    }
    return NULL;
}

/* Opens the temporary of an earlier run at the mark. */
static int open_again(struct gpume_out *out, const struct gpume_out_mark *mark)
{
    out->id = mark->id;
    out->temp = gpume_temporary_name(out->final, mark->id);
    out->fd = out->temp ? gpume_temporary_adopt(out->temp) : -1;
    if (out->fd < 0) {
        const int error = out->temp ? errno : ENOMEM;
        free(out->temp); /* not ours to remove */
        out->temp = NULL;
        return gpume_out_complain(out, "cannot be continued", error);
    }
    if (lseek(out->fd, (off_t)mark->bytes, SEEK_SET) < 0) {
        return gpume_out_complain(out, "cannot be continued", errno);
    }
    out->pushed = out->continued = mark->bytes;
    out->uncut = true;
    out->seekable = true;
    return GPUME_OK;
}

/* At the end of the list: outputs get their names in the order in which they were opened. */
static void enter_set(struct gpume_out *out)
{
    struct gpume_out **at = &out->set->first;
    while (*at) {
        at = &(*at)->next;
    }
    *at = out;
}

static int check_alone(const struct gpume_out *out)
{
    if (is_taken(out)) {
        return gpume_log_fail(&out->log, GPUME_AGAIN,
            "%s: named for two outputs; give one of them another name", out->label);
    }
    if (!out->set->alone || !gpume_temporary_has_rival(out->final, out->temp)) {
        return GPUME_OK;
    }
    return gpume_log_fail(&out->log, GPUME_AGAIN,
        "%s: is being written by a run that is still under way; wait for its end or choose another "
        "name",
        out->label);
}

/* info: of an existing regular file that will be replaced, or NULL. */
static int open_regular(struct gpume_out *out, const char *path, const struct stat *info)
{
    const bool own = out->set->own;
    if (info && !own && access(path, W_OK) != 0) {
        return gpume_out_complain(out, "cannot be replaced", errno);
    }
    out->final = own ? gpume_path_join("", 0, path) : gpume_path_resolve(path);
    if (!out->final) {
        return gpume_out_complain(out, "cannot be written", errno);
    }
    const struct gpume_out_mark *mark = find_mark(out);
    int status = mark ? open_again(out, mark) : open_temp(out);
    if (status != GPUME_OK) {
        return status;
    }
    enter_set(out);
    status = check_alone(out);
    if (status != GPUME_OK && !mark) {
        (void)unlink(out->temp); /* it is empty */
    }
    if (status == GPUME_OK && !out->set->leaves) {
        gpume_temporary_clear(out->final, NULL, NULL); /* our own is locked */
    }
    if (status == GPUME_OK && info) {
        (void)fchmod(out->fd, info->st_mode & 0777); /* if the file system can */
    }
    return status;
}

static int open_file(struct gpume_out *out, const char *path)
{
    if (path[0] == '\0') {
        return gpume_log_fail(&out->log, GPUME_INVALID, "an output's name is empty; give one");
    }
    struct stat st;
    const bool own = out->set->own;
    const bool exists = (own ? lstat(path, &st) : stat(path, &st)) == 0;
    if (!exists && errno != ENOENT) {
        return gpume_out_complain(out, "cannot be written", errno);
    }
    if ((exists && S_ISDIR(st.st_mode)) || path[gpume_path_folder(path)] == '\0') {
        return gpume_text_refuse_folder(out->label, NULL, NULL, &out->log);
    }
    const bool regular = exists && S_ISREG(st.st_mode);
    if (exists && is_input(out, &st)) {
        return refuse_input(out);
    }
    if (exists && !regular && !own) {
        out->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        return out->fd < 0 ? gpume_out_complain(out, "cannot be written", errno) : GPUME_OK;
    }
    struct stat link; /* a dangling link counts as an existing file */
    if (!out->set->overwrite && (exists || lstat(path, &link) == 0)) {
        return gpume_text_refuse_existing(out->label, &out->log);
    }
    return open_regular(out, path, regular ? &st : NULL);
}

/* plain: the settings of an output without a run. */
static int open_in(struct gpume_out **result, struct gpume_out_set *set, struct gpume_out_set plain,
    const char *path, const struct gpume_log *log)
{
    struct gpume_out *out = malloc(sizeof *out + GPUME_OUT_BUFFER_BYTES);
    const char *named = set ? set->label : plain.label, *shown = named ? named : path;
    char *label = strdup(strcmp(shown, "-") == 0 ? "standard output" : shown);
    char *copy = strdup(path);
    if (!out || !label || !copy) {
        free(copy);
        free(label);
        free(out);
        return gpume_log_nomem(log, path);
    }
    *out = (struct gpume_out){
        .fd = -1,
        .plain = plain,
        .set = set ? set : &out->plain,
        .label = label,
        .path = copy,
        .buffer = out->own,
        .log = *log,
    };
    const int fd = gpume_path_descriptor(path);
    const int status = fd >= 0 ? open_descriptor(out, fd) : open_file(out, path);
    if (status != GPUME_OK) {
        gpume_out_close(&out);
        return status;
    }
    *result = out;
    return GPUME_OK;
}

int gpume_out_open(
    struct gpume_out **out, const char *path, bool overwrite, const struct gpume_log *log)
{
    return open_in(out, NULL, (struct gpume_out_set){.overwrite = overwrite}, path, log);
}

int gpume_out_open_in(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log)
{
    return open_in(out, set, (struct gpume_out_set){0}, path, log);
}

static int open_one(struct gpume_out **out, struct gpume_out_set *set, bool own, const char *path,
    const struct gpume_log *log)
{
    const struct gpume_out_set one = {
        /* A resumed run writes the last files of the previous run again. */
        .overwrite = set->overwrite || set->marks,
        .own = own,
        .leaves = true, /* the claim removes what killed runs have left of all */
    };
    const int status = open_in(out, NULL, one, path, log);
    if (status == GPUME_OK) {
        (*out)->run = set;
    }
    return status;
}

int gpume_out_open_one(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log)
{
    return open_one(out, set, false, path, log);
}

int gpume_out_open_own(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log)
{
    return open_one(out, set, true, path, log);
}

int gpume_out_open_claim(struct gpume_out **claim, const struct gpume_out_set *set,
    const char *path, const struct gpume_log *log)
{
    const struct gpume_out_set alone = {
        .overwrite = true, .own = true, .alone = true, .leaves = true, .label = path};
    *claim = NULL;
    if (!set->alone) {
        return GPUME_OK;
    }
    char *series = gpume_pattern_series(path);
    const int status =
        series ? open_in(claim, NULL, alone, series, log) : gpume_log_nomem(log, path);
    free(series);
    if (status == GPUME_OK) {
        gpume_pattern_clear(path);
    }
    return status;
}
