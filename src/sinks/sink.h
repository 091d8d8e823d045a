/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src/sinks turns the fields of a run into its outputs, other than reports.
 *
 * A sink writes one output: a table, pictures or a video. The caller opens it, passes it every
 * field in the library's order, and finishes it; an output that was not finished leaves no file
 * under its final name. All calls for one sink come from one thread. Errors are logged, in one
 * line.
 */
#ifndef GPUME_SINKS_SINK_H
#define GPUME_SINKS_SINK_H

#include "base/log.h"
#include "draw/overlay.h"
#include "files/out.h"
#include "gpume/gpume.h"
#include "media/video.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_summary;
struct gpume_vectors_format;

/* The value of --prefilter. Strings point into argv. */
struct gpume_prefilter_option {
    const char *text; /* as given; NULL: none */
    const char *file; /* a kernel to be read; NULL: not a kernel */
    struct gpume_prefilter filter;
};

/* The value of --predictor. file points into argv; NULL: not a file. */
struct gpume_predictor_option {
    enum gpume_predictor kind;
    const char *file;
};

/* What the user asked of a run, besides its parameters: rows of options write it, sinks follow it,
 * and summary.json and --resume record it. */
struct gpume_run_request {
    struct gpume_source_options source;
    uint64_t start, frames; /* targets; frames 0: to the end of the input */
    struct gpume_prefilter_option prefilter;
    struct gpume_predictor_option predictor;
    bool compat_ffmpeg;                        /* produce the vectors of mestimate=method=esa */
    bool from_stream;                          /* take the vectors that the input holds */
    const struct gpume_vectors_format *format; /* of a file; NULL: by the ending of its name */
    bool residual_signed;
    double gain, gamma; /* of residual and difference pictures; default 1, 1 */
    struct gpume_overlay_look look;
    uint32_t report_pictures;      /* most fields with pictures */
    bool report_pictures_asked;    /* not the default: a warning tells if there is no room */
    uint32_t surface_x, surface_y; /* a pixel of the block whose costs are shown */
    bool with_surface;
};

/* For sinks that want_colour. take returns a frame as R, G, B bytes, valid until the next call.
 * Frame numbers must not decrease; earlier frames are dropped, and with rgb NULL nothing else
 * happens. Errors are logged. NULL: the run has no colours. */
struct gpume_run_colours {
    int (*take)(void *source, uint64_t frame, struct gpume_plane *rgb);
    void *source;
};

/* What the outputs of a run share. What is pointed to outlives the sinks. */
struct gpume_run {
    const struct gpume_run_request *asked;
    const char *input;          /* as the user named it */
    const char *reference;      /* the first of two still pictures; NULL: input is a video */
    struct gpume_params params; /* as the context was opened */
    uint64_t expected;          /* number of fields, by the container; 0: unknown */
    struct gpume_out_set *set;  /* for gpume_out_open_in */
    const struct gpume_summary *summary; /* complete when a sink's finish is called */
    struct gpume_log log;
    const struct gpume_source_info *video; /* what is known of the input */
    struct gpume_run_colours colours;
    const struct gpume_vectors_format *format; /* for gpume_sink_vectors */
    bool fields_last;                          /* gpume_field_ref can keep every field */
};

/* Of the layer that outputs show, in pixels. */
static inline struct gpume_block_size gpume_run_block(const struct gpume_run *run)
{
    const struct gpume_params *params = &run->params;
    const struct gpume_block_size square = {params->block, params->block};
    return params->shape_count > 0 ? params->shapes[0] : square;
}

struct gpume_sink;

/* What the names of outputs depend on. */
struct gpume_sink_shape {
    const struct gpume_vectors_format *format; /* for gpume_sink_vectors */
    bool single;                               /* the run has at most one field */
    bool both;                                 /* frames have two fields each */
};

struct gpume_sink_ops {
    const char *name;         /* a run has at most one sink of each name */
    const char *noun;         /* for messages, such as "a report"; NULL: "this format" */
    const char *help, *brief; /* of the option --NAME FILE, if it is one of GPUME_SINKS; brief: for
                                 the short help; NULL: not listed there */
    size_t bytes;             /* of the sink, a struct whose first member is struct gpume_sink */

    /* Before any work. GPUME_INVALID after one line: open would refuse this path. NULL: the name
     * must end in `ending`, or be that of standard output; stem: of the example in messages. Both
     * NULL: any name of a file will do. */
    const char *stem, *ending;
    int (*check)(
        const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log);

    /* The sink is zero but for ops, run and path. close is called after failures, too. */
    int (*open)(struct gpume_sink *sink);

    int (*field)(struct gpume_sink *sink, const struct gpume_field *field);

    /* Returns when it holds no field any more. NULL: it holds none after `field`. */
    int (*let_go)(struct gpume_sink *sink);

    /* All fields of the current frame have come: completes its numbered file. NULL: has none. */
    int (*settle)(struct gpume_sink *sink);

    /* Completes the output, which gets its name with the others of run->set. */
    int (*finish)(struct gpume_sink *sink);

    /* Releases its members except `out`. NULL: there are none. */
    void (*close)(struct gpume_sink *sink);

    /* Before any work: whether an interrupted output of this name, which is no series, can be
     * continued. open then finds it with gpume_out_is_continued. NULL: never. */
    bool (*can_continue)(const char *path);

    /* Whether this is a pattern of numbered files, each named when it is complete, or one of them.
     * NULL: never. */
    bool (*is_series)(const char *path);

    /* Members of gpume_params that this sink needs. */
    bool want_predicted, want_frames;
    bool want_returns; /* only of both directions, and not with best_reference */

    bool want_colour; /* calls run->colours.take */

    bool one_per_frame; /* numbers its pictures by target frame, which must have one field */
};

/* The first member of every sink. */
struct gpume_sink {
    const struct gpume_sink_ops *ops;
    const struct gpume_run *run;
    const char *path;
    struct gpume_out *out; /* of a sink that writes text; NULL: it has none */
};

/* run and path outlive the sink. */
int gpume_sink_open(struct gpume_sink **sink, const struct gpume_sink_ops *ops, const char *path,
    const struct gpume_run *run);

/* Returns when no sink holds a field: the context in which fields lie is closed before outputs are
 * complete. */
int gpume_sinks_let_go(struct gpume_sink *const *sinks, size_t count);

/* By ops->check, or what stands for it. */
int gpume_sink_check(const struct gpume_sink_ops *ops, const char *path,
    const struct gpume_sink_shape *shape, const struct gpume_log *log);

/* Whether the output of this name is a series of files. */
bool gpume_sink_is_series(const struct gpume_sink_ops *ops, const char *path);

/* The function `finish` of a sink that writes text. */
int gpume_sink_finish_out(struct gpume_sink *sink);

/* Releases everything, and sets *sink to NULL. NULL is fine. */
void gpume_sink_close(struct gpume_sink **sink);

extern const struct gpume_sink_ops gpume_sink_vectors_csv; /* the standard file */

/* The sink for a format; its run->format must be the same. */
const struct gpume_sink_ops *gpume_sink_vectors(const struct gpume_vectors_format *format);

extern const struct gpume_sink_ops gpume_sink_frames_csv;
extern const struct gpume_sink_ops gpume_sink_summary; /* summary.json */
extern const struct gpume_sink_ops gpume_sink_surface; /* the costs of one block */

/* The sinks that are named by an option --NAME FILE alone, in the order of the help, in which their
 * outputs are completed. */
#define GPUME_SINKS(ROW)                                                                           \
    ROW(predicted)                                                                                 \
    ROW(residual)                                                                                  \
    ROW(difference)                                                                                \
    ROW(overlay)

#define GPUME_SINK_DECLARE(name) extern const struct gpume_sink_ops gpume_sink_##name;
GPUME_SINKS(GPUME_SINK_DECLARE)

#define GPUME_SINK_NUMBER(name) GPUME_SINK_##name,
enum gpume_sink_number { GPUME_SINKS(GPUME_SINK_NUMBER) GPUME_SINK_COUNT };

#endif
