/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checked output. In: a path and bytes, from the report and picture writers, one thread at a time.
 * Out: a file that has its name only when whole. A new or replaced regular file is written as a
 * temporary (files/temporary.h) in the folder of the final file and renamed; a symbolic link to a
 * file stays and its target is replaced; a replaced file's permissions are kept. Whatever exists
 * and is no regular file (device, FIFO), "-", and the descriptor files (/dev/stdout, /dev/fd/N)
 * are written in place. SIGPIPE is the program's business: ignored, a closed pipe is reported here.
 * An output that grows large is written by a thread of its own, behind the caller's back: an error
 * comes with a later call, finishing at the latest.
 */
#include "files/out.h"

#include "base/workers.h"
#include "files/out_set.h"
#include "files/path.h"
#include "files/temporary.h"
#include "files/writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES GPUME_OUT_ITEM_BYTES
#define LARGE_BYTES ((uint64_t)4 * 1024 * 1024) /* from here a thread costs nothing beside it */

struct gpume_out {
    int fd;
    int status; /* sticky */
    bool seekable;
    uint64_t continued;          /* bytes of an earlier run */
    struct gpume_out_set plain;  /* of an output by itself */
    struct gpume_out_set *set;   /* that, or the run's */
    struct gpume_out *next;      /* in the set */
    char *label;                 /* for messages */
    char *path;                  /* as it was given */
    char *final;                 /* NULL: written in place */
    char *temp;                  /* NULL: written in place */
    struct gpume_temporary id;   /* temp's name */
    uint64_t start;              /* file offset that is position 0 */
    uint64_t pushed;             /* bytes so far */
    struct gpume_writer *writer; /* NULL: the output is not large */
    uint64_t number;             /* of the writer's buffer that is being filled */
    unsigned char *buffer;       /* own, or the writer's */
    size_t fill;
    struct gpume_log log;
    unsigned char own[BUFFER_BYTES];
};

static int complain(struct gpume_out *out, const char *what, int error)
{
    char reason[128] = "unknown error";
    if (strerror_r(error, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", error);
    }
    const char *hint = "write elsewhere";
    if (error == ENOSPC || error == EDQUOT) {
        hint = "free some space or write elsewhere";
    } else if (error == EPIPE) {
        hint = "what reads it ended before taking everything";
    } else if (error == EACCES || error == EPERM || error == EROFS) {
        hint = "mend its permissions or write elsewhere";
    } else if (error == ENOENT || error == ENOTDIR) {
        hint = "create its folder first";
    } else if (error == EISDIR || error == ENOTEMPTY) {
        hint = "move what has that name away";
    }
    gpume_log_write(&out->log, GPUME_LOG_ERROR, "%s: %s: %s; %s", out->label, what, reason, hint);
    out->status = GPUME_IO;
    return out->status;
}

static void learn_seekable(struct gpume_out *out)
{
    struct stat st;
    off_t at = lseek(out->fd, 0, SEEK_CUR);
    int flags = fcntl(out->fd, F_GETFL);
    out->seekable = at >= 0 && flags >= 0 && (flags & O_APPEND) == 0 && fstat(out->fd, &st) == 0 &&
                    S_ISREG(st.st_mode);
    out->start = out->seekable ? (uint64_t)at : 0;
}

static int open_descriptor(struct gpume_out *out, int fd)
{
    out->fd = dup(fd); /* closing the copy shows errors and leaves the program's own open */
    if (out->fd < 0) {
        return complain(out, "cannot be written", errno);
    }
    learn_seekable(out);
    return GPUME_OK;
}

static int open_temp(struct gpume_out *out)
{
    out->fd = gpume_temporary_create(out->final, &out->id, &out->temp);
    if (out->fd < 0) {
        return complain(out, "cannot be created", errno);
    }
    out->seekable = true;
    return GPUME_OK;
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

/* The temporary that an earlier run has left, or what it has become, cut at the mark. */
static int open_again(struct gpume_out *out, const struct gpume_out_mark *mark)
{
    out->id = mark->id;
    out->temp = gpume_temporary_name(out->final, mark->id);
    const char *suffix = mark->other ? mark->other : "";
    char *other = gpume_path_join(out->final, strlen(out->final), suffix);
    if (out->temp && other) {
        out->fd = gpume_temporary_adopt(out->temp);
        if (out->fd < 0 && errno == ENOENT && mark->other && rename(other, out->temp) == 0) {
            out->fd = gpume_temporary_adopt(out->temp);
        }
    }
    const int error = out->temp && other ? errno : ENOMEM;
    free(other);
    if (out->fd < 0) {
        free(out->temp); /* not ours to remove */
        out->temp = NULL;
        return complain(out, "cannot be continued", error);
    }
    if (ftruncate(out->fd, (off_t)mark->bytes) != 0 || lseek(out->fd, 0, SEEK_END) < 0) {
        return complain(out, "cannot be continued", errno);
    }
    out->pushed = out->continued = mark->bytes;
    out->seekable = true;
    return GPUME_OK;
}

static int open_file(struct gpume_out *out, const char *path)
{
    if (path[0] == '\0') {
        gpume_log_write(&out->log, GPUME_LOG_ERROR, "an output's name is empty; give one");
        return GPUME_IO;
    }
    struct stat st;
    const bool own = out->set->own;
    bool exists = (own ? lstat(path, &st) : stat(path, &st)) == 0;
    if (!exists && errno != ENOENT) {
        return complain(out, "cannot be written", errno);
    }
    if ((exists && S_ISDIR(st.st_mode)) || path[gpume_path_folder(path)] == '\0') {
        gpume_log_write(
            &out->log, GPUME_LOG_ERROR, "%s: is a folder; give the name of a file", out->label);
        return GPUME_IO;
    }
    if (exists && !S_ISREG(st.st_mode) && !own) {
        out->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        return out->fd < 0 ? complain(out, "cannot be written", errno) : GPUME_OK;
    }
    /* Where a link leads to nothing yet, somebody else may have said where. */
    if (!out->set->overwrite && (exists || lstat(path, &st) == 0)) {
        gpume_log_write(&out->log, GPUME_LOG_ERROR,
            "%s: exists already; replace it with --overwrite or choose another name", out->label);
        return GPUME_INVALID;
    }
    if (exists && !own && access(path, W_OK) != 0) {
        return complain(out, "cannot be replaced", errno);
    }
    out->final = own ? gpume_path_join("", 0, path) : gpume_path_resolve(path);
    if (!out->final) {
        return complain(out, "cannot be written", errno);
    }
    const struct gpume_out_mark *mark = find_mark(out);
    int status = mark ? open_again(out, mark) : open_temp(out);
    if (status == GPUME_OK) {
        out->next = out->set->first;
        out->set->first = out;
    }
    if (status == GPUME_OK && out->set->alone) {
        status = gpume_out_set_check_alone(out->label, out->final, out->temp, &out->log);
        if (status != GPUME_OK && !mark) {
            (void)unlink(out->temp); /* nothing in it is worth keeping */
        }
    }
    if (status == GPUME_OK && exists && S_ISREG(st.st_mode)) {
        (void)fchmod(out->fd, st.st_mode & 0777); /* as good as the file system allows */
    }
    return status;
}

static int open_in(struct gpume_out **result, struct gpume_out_set *set, const char *path,
    bool overwrite, const struct gpume_log *log)
{
    struct gpume_out *out = malloc(sizeof *out); /* the buffer needs no zeroing */
    const char *shown = set && set->label ? set->label : path;
    char *label =
        out ? gpume_path_join("", 0, strcmp(shown, "-") == 0 ? "standard output" : shown) : NULL;
    char *copy = label ? gpume_path_join("", 0, path) : NULL;
    if (!copy) {
        free(label);
        free(out);
        gpume_log_write(log, GPUME_LOG_ERROR, "%s: cannot be written: out of memory", path);
        return GPUME_NOMEM;
    }
    out->fd = -1;
    out->status = GPUME_OK;
    out->seekable = false;
    out->continued = 0;
    out->plain = (struct gpume_out_set){.overwrite = overwrite};
    out->set = set ? set : &out->plain;
    out->next = NULL;
    out->label = label;
    out->path = copy;
    out->final = NULL;
    out->temp = NULL;
    out->start = 0;
    out->pushed = 0;
    out->writer = NULL;
    out->number = 0;
    out->buffer = out->own;
    out->fill = 0;
    out->log = *log;
    int fd = gpume_path_descriptor(path);
    int status = fd >= 0 ? open_descriptor(out, fd) : open_file(out, path);
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
    return open_in(out, NULL, path, overwrite, log);
}

int gpume_out_open_in(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log)
{
    return open_in(out, set, path, false, log);
}

bool gpume_out_is_continued(const struct gpume_out *out)
{
    return out->continued > 0;
}

uint64_t gpume_out_continued_bytes(const struct gpume_out *out)
{
    return out->continued;
}

static int push(struct gpume_out *out, const unsigned char *data, size_t bytes)
{
    const int error = gpume_write_all(out->fd, data, bytes);
    out->pushed += bytes;
    return error == 0 ? GPUME_OK : complain(out, "cannot be written", error);
}

/* The writer's next buffer is the one to fill. */
static int claim(struct gpume_out *out)
{
    const int error = gpume_writer_claim(out->writer, out->number, &out->buffer);
    return error == 0 ? GPUME_OK : complain(out, "cannot be written", error);
}

/* Empties the buffer; a thread may still be at what was in it. */
static int flush(struct gpume_out *out)
{
    const size_t bytes = out->fill;
    out->fill = 0;
    if (out->status != GPUME_OK || bytes == 0) {
        return out->status;
    }
    if (out->writer) {
        gpume_writer_commit(out->writer, out->number++, bytes);
        return claim(out);
    }
    const int status = push(out, out->buffer, bytes);
    if (status == GPUME_OK && out->pushed >= LARGE_BYTES) {
        out->writer = gpume_writer_open(out->fd, BUFFER_BYTES);
        return out->writer ? claim(out) : GPUME_OK;
    }
    return status;
}

/* Empties the buffer, and all is in the file. */
static int settle(struct gpume_out *out)
{
    if (flush(out) == GPUME_OK && out->writer) {
        const int error = gpume_writer_drain(out->writer, out->number);
        return error == 0 ? GPUME_OK : complain(out, "cannot be written", error);
    }
    return out->status;
}

int gpume_out_write(struct gpume_out *out, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    if (out->status == GPUME_OK && bytes > BUFFER_BYTES - out->fill) {
        (void)flush(out);
    }
    while (out->status == GPUME_OK && bytes >= BUFFER_BYTES) {
        if (!out->writer) {
            return push(out, from, bytes);
        }
        memcpy(out->buffer, from, BUFFER_BYTES);
        out->fill = BUFFER_BYTES;
        (void)flush(out);
        from += BUFFER_BYTES;
        bytes -= BUFFER_BYTES;
    }
    if (out->status != GPUME_OK || bytes == 0) {
        return out->status;
    }
    memcpy(out->buffer + out->fill, from, bytes);
    out->fill += bytes;
    return GPUME_OK;
}

struct making {
    struct gpume_writer *writer;
    uint64_t first; /* number of the first item's buffer */
    gpume_out_make_fn make;
    void *opaque;
};

/* Items are handed out in order, so the oldest that is not written has its buffer. */
static void make_item(void *opaque, uint32_t item)
{
    const struct making *making = opaque;
    const uint64_t number = making->first + item;
    unsigned char *at = NULL;
    if (gpume_writer_claim(making->writer, number, &at) == 0) {
        const size_t bytes = making->make(making->opaque, item, (char *)at);
        gpume_writer_commit(making->writer, number, bytes);
    }
}

static int make_apart(struct gpume_out *out, struct gpume_workers *workers, gpume_out_make_fn make,
    void *opaque, uint32_t count)
{
    if (flush(out) == GPUME_OK) {
        struct making making = {out->writer, out->number, make, opaque};
        gpume_workers_run(workers, make_item, &making, count);
        out->number += count;
        return claim(out);
    }
    return out->status;
}

int gpume_out_make(struct gpume_out *out, struct gpume_workers *workers, gpume_out_make_fn make,
    void *opaque, uint32_t count, size_t bytes_max)
{
    assert(bytes_max <= BUFFER_BYTES);
    if (out->writer && workers && count > 1) {
        return make_apart(out, workers, make, opaque, count);
    }
    for (uint32_t item = 0; item < count && out->status == GPUME_OK; item++) {
        if (bytes_max > BUFFER_BYTES - out->fill && flush(out) != GPUME_OK) {
            break;
        }
        out->fill += make(opaque, item, (char *)out->buffer + out->fill);
    }
    return out->status;
}

int gpume_out_seek(struct gpume_out *out, uint64_t position)
{
    if (!out->seekable) {
        return GPUME_UNSUPPORTED;
    }
    if (settle(out) != GPUME_OK) {
        return out->status;
    }
    if (position > INT64_MAX - out->start) {
        return complain(out, "cannot be written", EFBIG);
    }
    off_t at = lseek(out->fd, (off_t)(out->start + position), SEEK_SET);
    return at < 0 ? complain(out, "cannot be written", errno) : GPUME_OK;
}

/* Without overwrite a file that came up meanwhile is not replaced: link() refuses where rename()
 * would not. File systems without links get the rename. */
static int give_name(const struct gpume_out *out)
{
    if (!out->set->overwrite) {
        if (link(out->temp, out->final) == 0) {
            return unlink(out->temp);
        }
        struct stat st;
        if (errno == EEXIST || lstat(out->final, &st) == 0) {
            errno = EEXIST;
            return -1;
        }
    }
    return rename(out->temp, out->final);
}

static int give_partial_name(const struct gpume_out *out)
{
    char *name = gpume_path_join(out->final, strlen(out->final), GPUME_OUT_PARTIAL);
    const int result = name ? rename(out->temp, name) : -1;
    free(name);
    return result;
}

int gpume_out_finish(struct gpume_out *out)
{
    if (settle(out) != GPUME_OK) {
        return out->status;
    }
    gpume_writer_close(&out->writer);
    out->buffer = out->own;
    if (out->temp && out->set->sync && fsync(out->fd) != 0) {
        return complain(out, "cannot be written", errno);
    }
    int fd = out->fd;
    out->fd = -1;
    if (close(fd) != 0 && errno != EINTR) {
        return complain(out, "cannot be written", errno);
    }
    if (out->temp) {
        if ((out->set->partial ? give_partial_name(out) : give_name(out)) != 0) {
            return complain(out,
                out->set->partial ? "cannot be given its name with " GPUME_OUT_PARTIAL " behind it"
                                  : "cannot be given its name",
                errno);
        }
        free(out->temp);
        out->temp = NULL;
    }
    return GPUME_OK;
}

static void leave_set(struct gpume_out *out)
{
    struct gpume_out **at = &out->set->first;
    while (*at && *at != out) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = out->next;
    }
}

void gpume_out_close(struct gpume_out **pointer)
{
    struct gpume_out *out = *pointer;
    if (!out) {
        return;
    }
    *pointer = NULL;
    leave_set(out);
    gpume_writer_close(&out->writer);
    if (out->temp && !out->set->keep) {
        (void)unlink(out->temp);
    }
    if (out->fd >= 0) {
        (void)close(out->fd); /* given up: nothing is promised of what was written */
    }
    free(out->temp);
    free(out->path);
    free(out->final);
    free(out->label);
    free(out);
}

int gpume_out_set_mark(const struct gpume_out_set *set, struct gpume_out_mark *mark)
{
    for (struct gpume_out *out = set->first; out; out = out->next) {
        if (out->temp && strcmp(out->path, mark->path) == 0) {
            const int status = settle(out);
            const off_t at = status == GPUME_OK ? lseek(out->fd, 0, SEEK_CUR) : 0;
            if (at < 0) {
                return complain(out, "cannot be written", errno);
            }
            mark->id = out->id;
            mark->bytes = (uint64_t)at;
            return status;
        }
    }
    return GPUME_EOF;
}
