/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink turns the fields of a run into one output: a table or a set of pictures. The caller opens
 * it, hands it every field in the library's order, and finishes it; an output that was not finished
 * leaves nothing under its final name. All calls of one sink come from one thread. Whatever fails
 * has been logged, in one line, by the time the status comes back.
 */
#ifndef GPUME_SINKS_SINK_H
#define GPUME_SINKS_SINK_H

#include "base/log.h"
#include "draw/overlay.h"
#include "files/out_set.h"
#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_summary;
struct gpume_vectors_format;

/* What is the same for every output of a run. Strings, summary and log target outlive the sinks. */
struct gpume_run {
    const char *input;          /* as the user named it: for people and for summary.json */
    const char *reference;      /* the first of two still pictures; NULL: input is a video */
    struct gpume_params params; /* as the context was opened */
    uint64_t start, frames;     /* as asked for; frames 0: to the end of the input */
    const char *prefilter;      /* before the search; NULL: none */
    const char *compat;         /* whose fields these are to be; NULL: nobody's */
    uint64_t expected;          /* fields, as far as the container tells; 0: not known */
    const char *filter;         /* NULL: none */
    int stream;                 /* -1: best */
    const char *hwaccel;        /* NULL: none */
    uint32_t rate_num, rate_den;
    bool full_range;
    bool residual_signed;
    double gain, gamma; /* of residual and difference pictures; 1, 1: as they are */
    enum gpume_overlay_style overlay_style;
    enum gpume_overlay_key overlay_key;
    uint32_t overlay_scale;
    /* For sinks that want_colour: a frame as R, G, B bytes, a triple a pixel, until the next call.
     * Frames rise; the same one may be taken again. Failures have been logged. */
    int (*take_colour)(void *colours, uint64_t frame, struct gpume_plane *rgb);
    void *colours;
    const struct gpume_vectors_format *vectors_format; /* of gpume_sink_vectors */
    uint32_t report_pictures;            /* fields of a report with pictures, at most */
    struct gpume_out_set *set;           /* for gpume_out_open_in */
    const struct gpume_summary *summary; /* of the whole run when a sink's finish is called */
    struct gpume_log log;
};

struct gpume_sink;

/* What a run writes, as far as names of outputs depend on it. */
struct gpume_sink_shape {
    const struct gpume_vectors_format *format; /* for gpume_sink_vectors */
    bool single;                               /* one field at most */
    bool both;                                 /* a frame has two fields */
};

struct gpume_sink_ops {
    const char *name; /* of its kind; a run has at most one of each */
    const char *noun; /* for messages, such as "a report"; NULL: "this format" */

    /* Before any work: would open take this path? Logs one line and returns GPUME_INVALID if not.
     */
    int (*check)(
        const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log);

    /* Before any work: does something stand under this name (any file of a pattern)? */
    bool (*exists)(const char *path);

    int (*open)(struct gpume_sink **sink, const char *path, const struct gpume_run *run);

    int (*field)(struct gpume_sink *sink, const struct gpume_field *field);

    /* A frame has no more fields: what has a name of its own gets it. NULL: nothing has. */
    int (*settle)(struct gpume_sink *sink);

    /* Completes the output, which gets its name with the others of run->set. */
    int (*finish)(struct gpume_sink *sink);

    /* Releases everything; sets *sink to NULL. NULL is fine. */
    void (*close)(struct gpume_sink **sink);

    /* Before any work: could an output of this name go on where an earlier run was broken off, with
     * what gpume_out_is_continued says as all that open needs to know? NULL: never. */
    bool (*can_continue)(const char *path);

    /* Are these files by number, each of which has its name when it is complete? NULL: never. */
    bool (*is_series)(const char *path);

    /* Removes the temporary files of killed runs. */
    void (*clear)(const char *path);

    /* What gpume_params the fields must carry for this sink. */
    bool want_predicted, want_frames;

    bool want_colour; /* calls run->take_colour */
};

/* The first member of every sink. */
struct gpume_sink {
    const struct gpume_sink_ops *ops;
};

extern const struct gpume_sink_ops gpume_sink_vectors_csv; /* the standard file */

/* The sink for a format; its run->vectors_format must be the same. */
const struct gpume_sink_ops *gpume_sink_vectors(const struct gpume_vectors_format *format);

extern const struct gpume_sink_ops gpume_sink_frames_csv;
extern const struct gpume_sink_ops gpume_sink_summary; /* summary.json */
extern const struct gpume_sink_ops gpume_sink_predicted;
extern const struct gpume_sink_ops gpume_sink_residual;
extern const struct gpume_sink_ops gpume_sink_difference;
extern const struct gpume_sink_ops gpume_sink_overlay;

#endif
