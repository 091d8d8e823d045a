/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/spool.h"

#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COPY_BYTES ((size_t)256 * 1024)

struct gpume_spool {
    FILE *file;
    struct gpume_log log;
    unsigned char copy[COPY_BYTES];
};

static int complain(struct gpume_spool *spool)
{
    gpume_log_write(&spool->log, GPUME_LOG_ERROR,
        "a temporary file cannot be used: %s; write to a file, or to a format that needs none",
        strerror(errno));
    return GPUME_IO;
}

int gpume_spool_open(struct gpume_spool **spool, const struct gpume_log *log)
{
    struct gpume_spool *self = malloc(sizeof(*self));
    if (!self) {
        gpume_log_write(log, GPUME_LOG_ERROR, "a temporary file: out of memory");
        return GPUME_NOMEM;
    }
    self->log = *log;
    self->file = tmpfile();
    if (!self->file) {
        const int status = complain(self);
        free(self);
        return status;
    }
    *spool = self;
    return GPUME_OK;
}

int gpume_spool_begin(struct gpume_spool *spool, struct gpume_out **out)
{
    char name[32];
    const int fd = fileno(spool->file);
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0) {
        return complain(spool);
    }
    snprintf(name, sizeof(name), "/dev/fd/%d", fd);
    return gpume_out_open(out, name, true, &spool->log);
}

int gpume_spool_pour(struct gpume_spool *spool, struct gpume_out *to)
{
    const int fd = fileno(spool->file);
    off_t at = 0;
    for (;;) {
        const ssize_t got = pread(fd, spool->copy, COPY_BYTES, at);
        if (got < 0 && errno != EINTR) {
            return complain(spool);
        }
        if (got == 0) {
            return GPUME_OK;
        }
        at += got > 0 ? got : 0;
        const int status = got > 0 ? gpume_out_write(to, spool->copy, (size_t)got) : GPUME_OK;
        if (status != GPUME_OK) {
            return status;
        }
    }
}

void gpume_spool_close(struct gpume_spool **spool)
{
    struct gpume_spool *self = *spool;
    if (self) {
        (void)fclose(self->file);
        free(self);
        *spool = NULL;
    }
}
