/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A new or replaced regular file is written as a temporary (claims.c) in the folder of the
 * final file and renamed; a symbolic link to a file stays and its target is replaced; a replaced
 * file's permissions are kept. Whatever exists and is not a regular file (device, FIFO), "-", and
 * the descriptor files (/dev/stdout, /dev/fd/N) are written in place. The program must ignore
 * SIGPIPE: a closed pipe is reported here.
 *
 * The outputs of a run get their names together, others when they are finished. The seal of a run
 * gets its name last, and an older one is removed before any other file gets its name.
 */
#include "files/out.h"

#include "base/base.h"
#include "files/path.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)512 * 1024)
#define LARGE_BYTES ((uint64_t)4 * 1024 * 1024) /* a thread costs little in comparison */

/* With few processors the decoder and the CPU engine need them all; eight threads format rows
 * faster than any file takes them. */
#define PROCESSORS_PER_THREAD 4u
#define THREADS_MAX 8u

_Static_assert(GPUME_OUT_ITEM_BYTES <= BUFFER_BYTES, "an item fits a buffer");

struct gpume_out {
    int fd;     /* of a temporary, until the output is closed: it holds the lock */
    int status; /* sticky */
    bool seekable;
    uint64_t continued;          /* bytes of an earlier run */
    bool uncut;                  /* the file may have more bytes after those */
    struct gpume_out_set plain;  /* of an output without a run */
    struct gpume_out_set *set;   /* that, or the run's */
    struct gpume_out_set *run;   /* whose seal a numbered file breaks; NULL: none */
    struct gpume_out *next;      /* in the set */
    char *label;                 /* for messages */
    char *path;                  /* as it was given */
    char *final;                 /* NULL: written in place */
    char *temp;                  /* NULL: written in place */
    struct gpume_temporary id;   /* of temp */
    bool finished;               /* all of it has been written */
    bool named;                  /* it has its name, and temp is gone */
    uint64_t start;              /* file offset of position 0 */
    uint64_t written;            /* bytes so far, by gpume_out_write */
    uint64_t pushed;             /* bytes so far, to the file */
    struct gpume_writer *writer; /* NULL: the output is not large */
    struct gpume_makers *makers; /* that may be making items for the writer; NULL: none */
    uint64_t number;             /* of the writer's buffer that is filled next */
    unsigned char *buffer;       /* own, or the writer's; NULL: not claimed yet */
    size_t fill;
    struct gpume_log log;
    unsigned char own[]; /* BUFFER_BYTES */
};

/* --- failures */

const char *gpume_out_remedy(int error)
{
    static const struct {
        int error;
        const char *remedy;
    } remedies[] = {
        {ENOSPC, "free some space or write elsewhere"},
        {EDQUOT, "free some space or write elsewhere"},
        {EFBIG, "raise the limit on file sizes (ulimit -f) or write elsewhere"},
        {EPIPE, "the reader closed the pipe early"},
        {EACCES, "change its permissions or write elsewhere"},
        {EPERM, "change its permissions or write elsewhere"},
        {EROFS, "write elsewhere"},
        {ENOENT, "create its folder first"},
        {ENOTDIR, "a file has the name of its folder; write elsewhere"},
        {EISDIR, "move the folder of that name away"},
        {ENOTEMPTY, "move the folder of that name away"},
    };
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++) {
        if (remedies[i].error == error) {
            return remedies[i].remedy;
        }
    }
    return gpume_remedy(error, "write elsewhere");
}

/* Logs one line with the reason and a remedy. Returns GPUME_IO, the output's status from now on. */
static int fail_with_remedy(struct gpume_out *out, const char *what, int error, const char *remedy)
{
    char reason[128] = "unknown error";
    if (strerror_r(error, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", error);
    }
    out->status =
        gpume_log_fail(&out->log, GPUME_IO, "%s: %s: %s; %s", out->label, what, reason, remedy);
    return out->status;
}

static int fail_output(struct gpume_out *out, const char *what, int error)
{
    return fail_with_remedy(out, what, error, gpume_out_remedy(error));
}

/* Of a file of this path that its folder does not let in. */
static int fail_in_folder(struct gpume_out *out, const char *path, const char *what, int error)
{
    char remedy[512];
    const size_t folder = gpume_path_folder(path);
    if (error != EACCES && error != EPERM) {
        return fail_output(out, what, error);
    }
    snprintf(remedy, sizeof(remedy), "change the permissions of the folder %.*s or write elsewhere",
        folder > 0 ? (int)folder : 1, folder > 0 ? path : ".");
    return fail_with_remedy(out, what, error, remedy);
}

/* --- writing */

bool gpume_out_is_continued(const struct gpume_out *out)
{
    return out->continued > 0;
}

uint64_t gpume_out_continued_bytes(const struct gpume_out *out)
{
    return out->continued;
}

/* Removes what an earlier run wrote after the mark, before the first write: a run that adds nothing
 * leaves the file unchanged. */
static int cut_after_mark(struct gpume_out *out)
{
    const bool needed = out->uncut;
    out->uncut = false;
    return needed && ftruncate(out->fd, (off_t)out->continued) != 0 ? errno : 0;
}

static int push_bytes(struct gpume_out *out, const unsigned char *data, size_t bytes)
{
    int error = cut_after_mark(out);
    error = error ? error : gpume_write_all(out->fd, data, bytes);
    out->pushed += bytes;
    return error == 0 ? GPUME_OK : fail_output(out, "cannot be written", error);
}

/* Provides a buffer to fill: with a writer, its next one. */
static int provide_buffer(struct gpume_out *out)
{
    if (out->status == GPUME_OK && !out->buffer) {
        const int error = gpume_writer_claim(out->writer, out->number, &out->buffer);
        return error == 0 ? GPUME_OK : fail_output(out, "cannot be written", error);
    }
    return out->status;
}

/* A thread writes from now on, if there is one. */
static void open_writer(struct gpume_out *out)
{
    out->writer = gpume_writer_open(out->fd, BUFFER_BYTES);
    out->buffer = out->writer ? NULL : out->buffer;
}

/* Empties the buffer. A thread may still be writing its bytes. */
static int flush_buffer(struct gpume_out *out)
{
    const size_t bytes = out->fill;
    out->fill = 0;
    if (out->status != GPUME_OK || bytes == 0) {
        return out->status;
    }
    if (out->writer) {
        gpume_writer_commit(out->writer, out->number++, bytes);
        out->buffer = NULL;
        return GPUME_OK;
    }
    const int status = push_bytes(out, out->buffer, bytes);
    if (status == GPUME_OK && out->pushed >= LARGE_BYTES) {
        open_writer(out);
    }
    return status;
}

/* Until the items of all jobs are in the writer's buffers. */
static void wait_for_makers(struct gpume_out *out)
{
    if (out->makers) {
        gpume_makers_wait_all(out->makers);
        out->makers = NULL;
    }
}

/* Writes the buffer and waits until all bytes are in the file. */
static int drain_output(struct gpume_out *out)
{
    wait_for_makers(out);
    if (flush_buffer(out) == GPUME_OK && out->writer) {
        const int error = gpume_writer_drain(out->writer, out->number);
        return error == 0 ? GPUME_OK : fail_output(out, "cannot be written", error);
    }
    return out->status;
}

int gpume_out_write(struct gpume_out *out, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    out->written += bytes;
    if (out->status == GPUME_OK && bytes > BUFFER_BYTES - out->fill) {
        (void)flush_buffer(out);
    }
    while (out->status == GPUME_OK && bytes >= BUFFER_BYTES) {
        if (!out->writer) {
            return push_bytes(out, from, bytes);
        }
        if (provide_buffer(out) != GPUME_OK) {
            break;
        }
        memcpy(out->buffer, from, BUFFER_BYTES);
        out->fill = BUFFER_BYTES;
        (void)flush_buffer(out);
        from += BUFFER_BYTES;
        bytes -= BUFFER_BYTES;
    }
    if (bytes == 0 || provide_buffer(out) != GPUME_OK) {
        return out->status;
    }
    memcpy(out->buffer + out->fill, from, bytes);
    out->fill += bytes;
    return GPUME_OK;
}

uint64_t gpume_out_bytes(const struct gpume_out *out)
{
    return out->written;
}

int gpume_out_text(struct gpume_out *out, const char *text)
{
    return gpume_out_write(out, text, strlen(text));
}

struct gpume_makers *gpume_out_makers(uint32_t processors)
{
    const long online = processors ? (long)processors : sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t count = online < 1 ? 0 : (uint32_t)online / PROCESSORS_PER_THREAD;
    return count > 1 ? gpume_makers_open(gpume_min_u32(count, THREADS_MAX)) : NULL;
}

/* Makes items 0 to count - 1 here, in the output's own memory. */
static int make_items(
    struct gpume_out *out, gpume_make_fn make, void *opaque, uint32_t count, size_t bytes_max)
{
    assert(bytes_max <= BUFFER_BYTES);
    for (uint32_t item = 0; item < count && out->status == GPUME_OK; item++) {
        if ((bytes_max > BUFFER_BYTES - out->fill && flush_buffer(out) != GPUME_OK) ||
            provide_buffer(out) != GPUME_OK) {
            break;
        }
        out->fill += make(opaque, item, (char *)out->buffer + out->fill);
    }
    return out->status;
}

/* Puts the job into the hands of the makers; false: something is missing, or has failed. */
static bool add_job(struct gpume_out *out, struct gpume_makers *makers, struct gpume_job *job)
{
    if (!makers || flush_buffer(out) != GPUME_OK) {
        return false;
    }
    if (!out->writer) {
        open_writer(out);
    }
    int error = cut_after_mark(out);
    error = !error && out->writer ? gpume_writer_drain(out->writer, 0) : error; /* earlier jobs' */
    if (error != 0) {
        (void)fail_output(out, "cannot be written", error);
    }
    if (error != 0 || !out->writer) {
        return false;
    }
    out->makers = makers;
    out->buffer = NULL;
    gpume_makers_add(makers, job, out->writer, out->number);
    out->number += job->count;
    return true;
}

int gpume_out_add(
    struct gpume_out *out, struct gpume_makers *makers, struct gpume_job *job, size_t bytes_max)
{
    if (!add_job(out, makers, job)) {
        (void)make_items(out, job->make, job->opaque, job->count, bytes_max);
        if (job->done) {
            job->done(job->opaque);
        }
    }
    return out->status;
}

int gpume_out_seek(struct gpume_out *out, uint64_t position)
{
    if (!out->seekable) {
        return GPUME_UNSUPPORTED;
    }
    if (drain_output(out) != GPUME_OK) {
        return out->status;
    }
    if (position > INT64_MAX - out->start) {
        return fail_output(out, "cannot be written", EFBIG);
    }
    off_t at = lseek(out->fd, (off_t)(out->start + position), SEEK_SET);
    return at < 0 ? fail_output(out, "cannot be written", errno) : GPUME_OK;
}

/* --- names */

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
static char *final_name(const struct gpume_out *out)
{
    return gpume_path_with_suffix(out->final, out->set->partial ? GPUME_OUT_PARTIAL : "");
}

/* Without overwrite, a file that was created meanwhile is not replaced: unlike rename(), link()
 * refuses to. File systems without links get the rename. */
static int move_to_name(const struct gpume_out *out, const char *name)
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
    return error == 0 ? GPUME_OK : fail_output(out, "cannot be written", error);
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

/* Gives a finished output its name, or that of a partial result. */
static int name_output(struct gpume_out *out)
{
    int status = GPUME_OK;
    struct gpume_out_set *run = out->run;
    struct stat info;
    char *name = NULL;
    if (run && run->seal && run->overwrite && !run->broken) {
        GPUME_TRY(break_seal(run, "", &out->log));
        run->broken = true;
    }
    name = final_name(out);
    /* Again: an input may have been opened since, such as a file that a list names. */
    if (name && !out->set->over_input && lstat(name, &info) == 0 && gpume_inputs_have(&info)) {
        status = gpume_log_fail(&out->log, GPUME_IO,
            "%s: is the input and was not replaced; give the output another name", name);
        GPUME_TRY(status);
    }
    out->named = name && move_to_name(out, name) == 0;
    if (!out->named) {
        status = fail_output(out,
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
static void unname_output(struct gpume_out *out)
{
    char *partial = out->set->partial ? final_name(out) : NULL;
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
        status = out->finished && !out->named ? name_output(out) : GPUME_OK;
    }
    status = status == GPUME_OK && set->sync ? sync_folders(set) : status;
    for (struct gpume_out *out = set->first; out && status != GPUME_OK; out = out->next) {
        if (out->named) {
            unname_output(out);
        }
    }
    return status;
}

/* --- the end of an output */

/* Some file systems write, and report errors, when a descriptor is closed. A copy of it keeps the
 * lock until the file has its name. */
static int close_checked(struct gpume_out *out)
{
    const int fd = out->fd;
    out->fd = -1;
    if (out->temp) {
        out->fd = dup(fd);
        if (out->fd < 0) {
            const int error = errno;
            (void)close(fd);
            return fail_output(out, "cannot be written", error);
        }
    }
    return close(fd) != 0 && errno != EINTR ? fail_output(out, "cannot be written", errno)
                                            : GPUME_OK;
}

int gpume_out_finish(struct gpume_out *out)
{
    int status;
    GPUME_TRY(drain_output(out));
    gpume_writer_close(&out->writer);
    out->buffer = out->own;
    const int error = cut_after_mark(out);
    if (error != 0) {
        GPUME_TRY(fail_output(out, "cannot be written", error));
    }
    if (out->temp && out->set->sync && fsync(out->fd) != 0) {
        GPUME_TRY(fail_output(out, "cannot be written", errno));
    }
    GPUME_TRY(close_checked(out));
    out->finished = true;
    if (out->temp && !out->set->together) {
        GPUME_TRY(name_output(out));
    }
fail:
    return status;
}

const char *gpume_out_place(const struct gpume_out *out)
{
    return out->named ? out->final : out->temp;
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
    wait_for_makers(out);
    gpume_writer_close(&out->writer);
    if (out->temp && !out->named && !out->set->keep) {
        (void)unlink(out->temp);
    }
    if (out->fd >= 0) {
        (void)close(out->fd); /* given up, so errors do not matter */
    }
    free(out->temp);
    free(out->path);
    free(out->final);
    free(out->label);
    free(out);
}

/* --- opening */

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
        return fail_output(out, "cannot be written", errno);
    }
    learn_seekable(out);
    return GPUME_OK;
}

static int open_temp(struct gpume_out *out)
{
    out->fd = gpume_temporary_create(out->final, &out->id, &out->temp);
    if (out->fd < 0) {
        return fail_in_folder(out, out->final, "cannot be created", errno);
    }
    out->seekable = true;
    return GPUME_OK;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the file is another output of the set. If so, the temporary's first name was taken: that
 * name was made from this output's, or from one that the folder does not distinguish from it. */
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
        return fail_output(out, "cannot be continued", error);
    }
    if (lseek(out->fd, (off_t)mark->bytes, SEEK_SET) < 0) {
        return fail_output(out, "cannot be continued", errno);
    }
    out->pushed = out->continued = mark->bytes;
    out->uncut = true;
    out->seekable = true;
    return GPUME_OK;
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
        return fail_output(out, "cannot be replaced", errno);
    }
    out->final = own ? gpume_path_join("", 0, path) : gpume_path_resolve(path);
    if (!out->final) {
        return fail_output(out, "cannot be written", errno);
    }
    const struct gpume_out_mark *mark = find_mark(out);
    int status = mark ? open_again(out, mark) : open_temp(out);
    if (status != GPUME_OK) {
        return status;
    }
    struct gpume_out **at = &out->set->first;
    while (*at) { /* outputs get their names in the order in which they were opened */
        at = &(*at)->next;
    }
    *at = out;
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
        return fail_in_folder(out, path, "cannot be written", errno);
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
        return out->fd < 0 ? fail_output(out, "cannot be written", errno) : GPUME_OK;
    }
    struct stat link; /* a dangling link counts as an existing file */
    if (!out->set->overwrite && (exists || lstat(path, &link) == 0)) {
        return gpume_text_refuse_existing(out->label, false, &out->log);
    }
    return open_regular(out, path, regular ? &st : NULL);
}

/* plain: the settings of an output without a run. */
static int open_in(struct gpume_out **result, struct gpume_out_set *set, struct gpume_out_set plain,
    const char *path, const struct gpume_log *log)
{
    struct gpume_out *out = malloc(sizeof *out + BUFFER_BYTES);
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
        gpume_temporary_clear_series(path);
    }
    return status;
}

/* --- marks, from which a later run continues an output */

/* The names that the file of a mark may have. */
struct places {
    char *temporary, *other; /* for free(); both NULL without memory */
};

static struct places places_of(const struct gpume_out_mark *mark)
{
    char *final = gpume_path_resolve(mark->path);
    struct places places = {
        .temporary = final ? gpume_temporary_name(final, mark->id) : NULL,
        .other = final ? gpume_path_with_suffix(final, mark->other ? mark->other : "") : NULL,
    };
    free(final);
    if (!places.temporary || !places.other) {
        free(places.temporary);
        free(places.other);
        places = (struct places){0};
    }
    return places;
}

static void free_places(struct places *places)
{
    free(places->temporary);
    free(places->other);
}

int gpume_out_set_mark(const struct gpume_out_set *set, struct gpume_out_mark *mark)
{
    for (struct gpume_out *out = set->first; out; out = out->next) {
        if (out->temp && strcmp(out->path, mark->path) == 0) {
            const int status = drain_output(out);
            const off_t at = status == GPUME_OK ? lseek(out->fd, 0, SEEK_CUR) : 0;
            if (at < 0) {
                return fail_output(out, "cannot be written", errno);
            }
            mark->id = out->id;
            mark->bytes = (uint64_t)at;
            return status;
        }
    }
    return GPUME_EOF;
}

void gpume_out_set_date(struct gpume_out_mark *mark)
{
    struct stat info;
    struct places places = places_of(mark);
    mark->dated = places.other && stat(places.other, &info) == 0;
    if (mark->dated) {
        mark->changed_s = (uint64_t)info.st_mtim.tv_sec;
        mark->changed_ns = (uint64_t)info.st_mtim.tv_nsec;
    }
    free_places(&places);
}

static bool is_of_date(const struct stat *info, const struct gpume_out_mark *mark)
{
    return (uint64_t)info->st_mtim.tv_sec == mark->changed_s &&
           (uint64_t)info->st_mtim.tv_nsec == mark->changed_ns;
}

static int examine_mark(
    const char *path, const struct gpume_out_mark *mark, bool dated, const char **why)
{
    struct stat info;
    const int fd = gpume_temporary_adopt(path);
    if (fd < 0) {
        const bool gone = errno == ENOENT, busy = errno == EWOULDBLOCK;
        *why = gone   ? "is missing"
               : busy ? "is being written by a run that is still under way"
                      : "cannot be opened and locked";
        return gone ? GPUME_EOF : busy ? GPUME_AGAIN : GPUME_IO;
    }
    const bool whole = fstat(fd, &info) == 0 && (uint64_t)info.st_size >= mark->bytes;
    (void)close(fd);
    *why = whole ? "has been modified since" : "is shorter than before";
    return whole && (!dated || is_of_date(&info, mark)) ? GPUME_OK : GPUME_INVALID;
}

int gpume_out_set_look(const struct gpume_out_mark *mark, bool *moved, const char **why)
{
    int status = GPUME_NOMEM;
    struct places places = places_of(mark);
    *why = "cannot be examined: out of memory";
    if (places.temporary) {
        *moved = mark->other && access(places.temporary, F_OK) != 0;
        status = examine_mark(
            *moved ? places.other : places.temporary, mark, *moved && mark->dated, why);
    }
    free_places(&places);
    return status;
}

int gpume_out_set_unused(const char *path, struct gpume_temporary *id)
{
    char *final = gpume_path_resolve(path);
    const bool found = final && gpume_temporary_unused(final, id);
    free(final);
    return found ? GPUME_OK : GPUME_NOMEM;
}

static int refuse_continuing(
    const struct gpume_out_mark *mark, int error, const struct gpume_log *log)
{
    return gpume_log_fail(
        log, GPUME_IO, "%s: cannot be continued: %s; try again", mark->path, strerror(error));
}

/* Whether it is one file with two names. Its run was killed between link() and unlink(). */
static bool is_one_file(const struct places *places)
{
    struct stat a, b;
    return lstat(places->temporary, &a) == 0 && lstat(places->other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int gpume_out_set_take_back(const struct gpume_out_mark *mark, const struct gpume_log *log)
{
    struct places places = places_of(mark);
    int error = places.temporary ? 0 : ENOMEM;
    if (error == 0 && mark->other) {
        const bool moved = access(places.temporary, F_OK) != 0;
        if (moved ? rename(places.other, places.temporary) != 0
                  : is_one_file(&places) && unlink(places.other) != 0) {
            error = errno;
        }
    }
    free_places(&places);
    return error == 0 ? GPUME_OK : refuse_continuing(mark, error, log);
}

int gpume_out_set_give_back(const struct gpume_out_mark *mark, const struct gpume_log *log)
{
    struct places places = places_of(mark);
    const int error = !places.temporary                             ? ENOMEM
                      : rename(places.temporary, places.other) != 0 ? errno
                                                                    : 0;
    free_places(&places);
    return error == 0 ? GPUME_OK : refuse_continuing(mark, error, log);
}
