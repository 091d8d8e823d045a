/* SPDX-License-Identifier: BSD-2-Clause */
/* What an output is made of: for files/out*.c alone. */
#ifndef GPUME_FILES_OUT_INSIDE_H
#define GPUME_FILES_OUT_INSIDE_H

#include "files/out.h"
#include "files/out_set.h"
#include "files/temporary.h"

#define GPUME_OUT_BUFFER_BYTES GPUME_OUT_ITEM_BYTES

struct gpume_writer;

struct gpume_out {
    int fd;     /* of a temporary, until the output is closed: the lock is on it */
    int status; /* sticky */
    bool seekable;
    uint64_t continued;         /* bytes of an earlier run */
    bool uncut;                 /* behind those its file may have more */
    struct gpume_out_set plain; /* of an output by itself */
    struct gpume_out_set *set;  /* that, or the run's */
    struct gpume_out_set
        *run; /* of an output by itself: whose seal goes before it gets its name; or NULL */
    struct gpume_out *next;      /* in the set */
    char *label;                 /* for messages */
    char *path;                  /* as it was given */
    char *final;                 /* NULL: written in place */
    char *temp;                  /* NULL: written in place */
    struct gpume_temporary id;   /* temp's name */
    bool finished;               /* all of it is written */
    bool named;                  /* it has its name, and temp is gone */
    uint64_t start;              /* file offset that is position 0 */
    uint64_t pushed;             /* bytes so far */
    struct gpume_writer *writer; /* NULL: the output is not large */
    uint64_t number;             /* of the writer's buffer that is being filled */
    unsigned char *buffer;       /* own, or the writer's */
    size_t fill;
    struct gpume_log log;
    unsigned char own[GPUME_OUT_BUFFER_BYTES];
};

/* Logs one line with the reason and a way out, the first time; GPUME_IO, which stays. */
int gpume_out_complain(struct gpume_out *out, const char *what, int error);

/* Empties the buffer, and all is in the file. */
int gpume_out_settle(struct gpume_out *out);

/* A finished output gets its name, or its partial one. */
int gpume_out_give_name(struct gpume_out *out);

#endif
