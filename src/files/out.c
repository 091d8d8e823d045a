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
#include "base/workers.h"
#include "files/out_inside.h"
#include "files/writer.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES GPUME_OUT_BUFFER_BYTES
#define LARGE_BYTES ((uint64_t)4 * 1024 * 1024) /* a thread costs little in comparison */

/* With few processors the decoder and the CPU engine need them all; four threads format rows faster
 * than any file takes them. */
#define PROCESSORS_PER_THREAD 4u
#define THREADS_MAX 4u

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

/* Takes the writer's next buffer, to be filled. */
static int claim(struct gpume_out *out)
{
    const int error = gpume_writer_claim(out->writer, out->number, &out->buffer);
    return error == 0 ? GPUME_OK : gpume_out_complain(out, "cannot be written", error);
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
        return claim(out);
    }
    const int status = push(out, out->buffer, bytes);
    if (status == GPUME_OK && out->pushed >= LARGE_BYTES) {
        out->writer = gpume_writer_open(out->fd, BUFFER_BYTES);
        return out->writer ? claim(out) : GPUME_OK;
    }
    return status;
}

int gpume_out_settle(struct gpume_out *out)
{
    if (flush(out) == GPUME_OK && out->writer) {
        const int error = gpume_writer_drain(out->writer, out->number);
        return error == 0 ? GPUME_OK : gpume_out_complain(out, "cannot be written", error);
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

int gpume_out_text(struct gpume_out *out, const char *text)
{
    return gpume_out_write(out, text, strlen(text));
}

struct making {
    struct gpume_writer *writer;
    uint64_t first;   /* number of the first item's buffer */
    atomic_uint next; /* item */
    gpume_out_make_fn make;
    void *opaque;
};

/* Workers begin in different places of a step, and would wait there for buffers until the items
 * before are written. So items are handed out here, in order: the oldest one that is unfinished has
 * a buffer, and so have the next ones. */
static void make_item(void *opaque, uint32_t place)
{
    struct making *making = opaque;
    const uint32_t item = atomic_fetch_add(&making->next, 1);
    (void)place;
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
        struct making making = {out->writer, out->number, 0, make, opaque};
        gpume_workers_run(workers, make_item, &making, count);
        out->number += count;
        return claim(out);
    }
    return out->status;
}

struct gpume_workers *gpume_out_workers(uint32_t processors)
{
    struct gpume_workers *workers = NULL;
    const long online = processors ? (long)processors : sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t count = online < 1 ? 0 : (uint32_t)online / PROCESSORS_PER_THREAD;
    if (count > 1) {
        (void)gpume_workers_create(&workers, gpume_min_u32(count, THREADS_MAX));
    }
    return workers;
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
