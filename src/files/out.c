/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A new or replaced regular file is written as a temporary (files/temporary.h) in the folder of the
 * final file and renamed (files/out_name.c); a symbolic link to a file stays and its target is
 * replaced; a replaced file's permissions are kept. Whatever exists and is not a regular file
 * (device, FIFO), "-", and the descriptor files (/dev/stdout, /dev/fd/N) are written in place
 * (files/out_open.c). The program must ignore SIGPIPE: a closed pipe is reported here.
 */
#include "files/out.h"

#include "base/grid.h"
#include "base/status.h"
#include "files/makers.h"
#include "files/out_inside.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES GPUME_OUT_BUFFER_BYTES
#define LARGE_BYTES ((uint64_t)4 * 1024 * 1024) /* a thread costs little in comparison */

/* With few processors the decoder and the CPU engine need them all; eight threads format rows
 * faster than any file takes them. */
#define PROCESSORS_PER_THREAD 4u
#define THREADS_MAX 8u

_Static_assert(GPUME_OUT_ITEM_BYTES <= BUFFER_BYTES, "an item fits a buffer");

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
static int cut(struct gpume_out *out)
{
    const bool needed = out->uncut;
    out->uncut = false;
    return needed && ftruncate(out->fd, (off_t)out->continued) != 0 ? errno : 0;
}

static int push(struct gpume_out *out, const unsigned char *data, size_t bytes)
{
    int error = cut(out);
    error = error ? error : gpume_write_all(out->fd, data, bytes);
    out->pushed += bytes;
    return error == 0 ? GPUME_OK : gpume_out_complain(out, "cannot be written", error);
}

/* Provides a buffer to fill: with a writer, its next one. */
static int provide(struct gpume_out *out)
{
    if (out->status == GPUME_OK && !out->buffer) {
        const int error = gpume_writer_claim(out->writer, out->number, &out->buffer);
        return error == 0 ? GPUME_OK : gpume_out_complain(out, "cannot be written", error);
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
static int flush(struct gpume_out *out)
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
    const int status = push(out, out->buffer, bytes);
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

int gpume_out_settle(struct gpume_out *out)
{
    wait_for_makers(out);
    if (flush(out) == GPUME_OK && out->writer) {
        const int error = gpume_writer_drain(out->writer, out->number);
        return error == 0 ? GPUME_OK : gpume_out_complain(out, "cannot be written", error);
    }
    return out->status;
}

int gpume_out_write(struct gpume_out *out, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    out->written += bytes;
    if (out->status == GPUME_OK && bytes > BUFFER_BYTES - out->fill) {
        (void)flush(out);
    }
    while (out->status == GPUME_OK && bytes >= BUFFER_BYTES) {
        if (!out->writer) {
            return push(out, from, bytes);
        }
        if (provide(out) != GPUME_OK) {
            break;
        }
        memcpy(out->buffer, from, BUFFER_BYTES);
        out->fill = BUFFER_BYTES;
        (void)flush(out);
        from += BUFFER_BYTES;
        bytes -= BUFFER_BYTES;
    }
    if (bytes == 0 || provide(out) != GPUME_OK) {
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

int gpume_out_make(
    struct gpume_out *out, gpume_make_fn make, void *opaque, uint32_t count, size_t bytes_max)
{
    assert(bytes_max <= BUFFER_BYTES);
    for (uint32_t item = 0; item < count && out->status == GPUME_OK; item++) {
        if ((bytes_max > BUFFER_BYTES - out->fill && flush(out) != GPUME_OK) ||
            provide(out) != GPUME_OK) {
            break;
        }
        out->fill += make(opaque, item, (char *)out->buffer + out->fill);
    }
    return out->status;
}

/* Puts the job into the hands of the makers; false: something is missing, or has failed. */
static bool add_job(struct gpume_out *out, struct gpume_makers *makers, struct gpume_job *job)
{
    if (!makers || flush(out) != GPUME_OK) {
        return false;
    }
    if (!out->writer) {
        open_writer(out);
    }
    int error = cut(out);
    error = !error && out->writer ? gpume_writer_drain(out->writer, 0) : error; /* earlier jobs' */
    if (error != 0) {
        (void)gpume_out_complain(out, "cannot be written", error);
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
        (void)gpume_out_make(out, job->make, job->opaque, job->count, bytes_max);
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
    if (gpume_out_settle(out) != GPUME_OK) {
        return out->status;
    }
    if (position > INT64_MAX - out->start) {
        return gpume_out_complain(out, "cannot be written", EFBIG);
    }
    off_t at = lseek(out->fd, (off_t)(out->start + position), SEEK_SET);
    return at < 0 ? gpume_out_complain(out, "cannot be written", errno) : GPUME_OK;
}

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
            return gpume_out_complain(out, "cannot be written", error);
        }
    }
    return close(fd) != 0 && errno != EINTR ? gpume_out_complain(out, "cannot be written", errno)
                                            : GPUME_OK;
}

int gpume_out_finish(struct gpume_out *out)
{
    int status;
    GPUME_TRY(gpume_out_settle(out));
    gpume_writer_close(&out->writer);
    out->buffer = out->own;
    const int error = cut(out);
    if (error != 0) {
        GPUME_TRY(gpume_out_complain(out, "cannot be written", error));
    }
    if (out->temp && out->set->sync && fsync(out->fd) != 0) {
        GPUME_TRY(gpume_out_complain(out, "cannot be written", errno));
    }
    GPUME_TRY(close_checked(out));
    out->finished = true;
    if (out->temp && !out->set->together) {
        GPUME_TRY(gpume_out_give_name(out));
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
