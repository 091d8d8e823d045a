/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of an output, which out.c and the other files out_*.c share. */
#ifndef GPUME_FILES_OUT_INSIDE_H
#define GPUME_FILES_OUT_INSIDE_H

#include "base/log.h"
#include "files/out_set.h"
#include "files/temporary.h"

#define GPUME_OUT_BUFFER_BYTES ((size_t)512 * 1024)

struct gpume_makers;
struct gpume_writer;

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
    unsigned char own[]; /* GPUME_OUT_BUFFER_BYTES */
};

/* Logs one line with the reason and a remedy. Returns GPUME_IO, the output's status from now on. */
int gpume_out_complain(struct gpume_out *out, const char *what, int error);

/* Writes the buffer and waits until all bytes are in the file. */
int gpume_out_settle(struct gpume_out *out);

/* Gives a finished output its name, or that of a partial result. */
int gpume_out_give_name(struct gpume_out *out);

#endif
