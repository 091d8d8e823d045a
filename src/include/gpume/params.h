/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parameters of a context: what is searched, how, and where. Included by gpume.h, whose head
 * defines blocks, vectors, costs and ties.
 */
#ifndef GPUME_PARAMS_H
#define GPUME_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gpume/prefilter.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUME_BLOCK_MIN 4      /* pixels; blocks are multiples of 4 */
#define GPUME_SIDE_MAX 1048576 /* pixels, of a picture */
#define GPUME_BLOCK_MAX 128    /* pixels */
#define GPUME_WINDOW_MAX 512   /* pixels, each axis */
#define GPUME_DISTANCE_MAX 1024
#define GPUME_SHAPES_MAX 32     /* in one run */
#define GPUME_DISTANCES_MAX 16  /* in one run */
#define GPUME_REFERENCES_MAX 32 /* of one target: every distance on both sides */
#define GPUME_CANDIDATES_MAX 8  /* per block */
#define GPUME_PASSES_MAX 8
#define GPUME_LAMBDA_MAX 256000 /* 1000 in 1/256 */
#define GPUME_NONE UINT32_MAX   /* no such value */

enum gpume_log_level { GPUME_LOG_ERROR, GPUME_LOG_WARNING, GPUME_LOG_INFO, GPUME_LOG_DEBUG };

/* Receives one line of text, without line end. May be called from any of the context's threads,
 * never from two at once for one context; must not call the context. With GPUME_BACKEND_AUTO errors
 * of a GPU may be logged although the context then opens without it. Within it, gpume_log_message
 * has the parts of the line. */
typedef void (*gpume_log_fn)(void *opaque, enum gpume_log_level level, const char *line);

enum gpume_edge {
    GPUME_EDGE_EXTEND, /* a sample outside the reference is its nearest edge sample */
    GPUME_EDGE_INSIDE, /* only candidates that lie wholly inside the reference */
};

/* How a block differs from its match. */
enum gpume_metric {
    GPUME_METRIC_SAD, /* sum of absolute differences */
    /* Sum of absolute coefficients of the Hadamard transform of the differences (0 where a block is
     * cut), in tiles of 8x8 from the block's corner, each rounded by (s + 2) >> 2; where a side of
     * the shape is no multiple of 8, in tiles of 4x4, each rounded by (s + 1) >> 1. */
    GPUME_METRIC_SATD,
    GPUME_METRIC_SSD, /* sum of squared differences */
};
#define GPUME_METRIC_LAST GPUME_METRIC_SSD

/* What lies between the samples of a frame. Samples outside the picture are its nearest edge
 * samples. */
enum gpume_interpolation {
    GPUME_INTERPOLATION_H264,     /* ITU-T H.264 8.4.2.2.1 */
    GPUME_INTERPOLATION_HEVC,     /* ITU-T H.265 8.5.3.3.3.1; up to 12 bits */
    GPUME_INTERPOLATION_BILINEAR, /* rounded to nearest, halves up */
};

enum gpume_subpel_search {
    /* The best whole-pixel vector, then the best of it and its eight neighbours half a pixel away,
     * then the same at a quarter of a pixel. */
    GPUME_SUBPEL_REFINE,
    GPUME_SUBPEL_FULL, /* every fraction of a pixel in the window is a candidate */
};

/* How the refinement compares a vector and its neighbours. */
enum gpume_refine_metric {
    GPUME_REFINE_BY_METRIC, /* by params.metric */
    GPUME_REFINE_BY_SAD,
    GPUME_REFINE_BY_SATD,
    GPUME_REFINE_BY_SSD,
};

/* What the bits of a vector are counted from. */
enum gpume_predictor {
    GPUME_PREDICTOR_ZERO,
    /* The median of the vectors that the pass before found for the blocks to the left, above, and
     * above to the right (above to the left, where that lies outside the grid). A missing one is
     * (0,0); where there is one alone, it is that one. The first pass takes (0,0). */
    GPUME_PREDICTOR_MEDIAN,
    GPUME_PREDICTOR_GIVEN, /* params.predict gives it */
};

/* Which reference frames a target frame t is searched in, at every distance d of params.distances.
 * At one distance N frames give N - d fields; with BOTH 2 (N - d), that of t - d before that of t +
 * d. Where the reference does not exist there is no field. */
enum gpume_direction {
    GPUME_DIRECTION_PAST,   /* frame t - d; the first d frames have none */
    GPUME_DIRECTION_FUTURE, /* frame t + d; the last d frames have none */
    GPUME_DIRECTION_BOTH,   /* both of them, as far as they exist */
    /* None unasked: gpume_search requests each pair. The largest d is how many frames before the
     * newest one a pair may use; first_target and target_count must be 0. */
    GPUME_DIRECTION_MANUAL,
};

enum gpume_backend {
    /* The best hardware GPU, else the CPU engine, which also takes over when the GPU fails during
     * the run (it is lost, or its memory runs out): the fields continue unchanged, with one warning
     * in the log. With params.device, params.search or params.validate, and with
     * GPUME_BACKEND_VULKAN, such a failure ends the run instead. With params.devices the other
     * devices of the list take over first. */
    GPUME_BACKEND_AUTO,
    GPUME_BACKEND_VULKAN, /* Vulkan; a software driver if there is no hardware */
    GPUME_BACKEND_CPU,
};

/* Of a block, in pixels: multiples of 4 from 4 to 128. */
struct gpume_block_size {
    uint32_t width, height;
};

struct gpume_vector {
    int16_t dx, dy;
};

/* Gives the predictors of one frame pair, in the units of the run: those of all blocks of the first
 * shape in raster order, then those of the next. `vectors` has as many entries. Called from a
 * thread of the context, one call at a time; must not call the context. Pairs come in the order of
 * the fields, those of one field in the order of its references. With `returns` (gpume_layer) and
 * GPUME_DIRECTION_BOTH the reverse pairs of a field come before it where they are searched for its
 * sake. When the CPU engine takes over from a GPU, it asks again for the pairs of fields that are
 * under way. A negative gpume_status ends the run with that status. */
typedef int (*gpume_predict_fn)(
    void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors);

/* One rectangle of luma samples. bits 8: one byte per sample; 9 to 16: uint16_t in native byte
 * order. stride: bytes from one row to the next, in magnitude at least width samples (negative:
 * rows are stored bottom up). No sample may exceed 2^bits - 1. */
struct gpume_plane {
    void *data;
    ptrdiff_t stride;
    uint32_t width, height;
    uint32_t bits;
};

struct gpume_params {
    size_t size;            /* sizeof(struct gpume_params); gpume_params_default sets it */
    uint32_t width, height; /* pixels, 1 or more; required */
    uint32_t bits;          /* of a sample, 8 to 16; default 8 */
    uint32_t block;         /* side in pixels: 4 to 128, a multiple of 4; default 8. Not used
                               where shape_count is above 0 */
    uint32_t window_x;      /* largest displacement, 0 to 512; default 7 */
    uint32_t window_y;
    enum gpume_edge edge;     /* default GPUME_EDGE_EXTEND */
    enum gpume_metric metric; /* default GPUME_METRIC_SAD */
    uint32_t ref_distance;    /* between target and reference, 1 to 1024 frames; default 1 */
    uint64_t first_frame;     /* index of the first frame that will be sent; default 0 */
    enum gpume_backend backend;
    /* Vulkan: an index in gpume_list_devices, or part of a name; NULL = the best one */
    const char *device;
    uint32_t threads;    /* of the CPU engine; 0 = one per processor */
    bool want_predicted; /* fields carry the predicted frame */
    bool want_frames;    /* fields carry the target and reference frames */
    bool check;          /* search every field a second time with the CPU reference and compare */
    bool validate;       /* Vulkan validation layer on; any message makes the run fail */
    gpume_log_fn log;    /* may be NULL */
    void *log_opaque;
    bool no_elimination; /* compare every candidate in full; affects speed only */
    /* An implementation of the search by its name in gpume_list_searches; NULL = the fastest. A
     * name belongs to one engine, which GPUME_BACKEND_AUTO then takes, even on a software driver.
     * Affects speed only. */
    const char *search;
    /* Folder for files that make the next gpume_open faster, such as compiled pipelines, and what
     * was found out about drivers: their fastest search, and that they sort rightly. It is
     * created, readable by the user alone, if it does not exist. NULL: nothing is kept. Errors in
     * using it are logged at debug level and do not fail the call. Read by gpume_open only. On
     * Windows its name is UTF-8, and who may read it follows from the folder that it is in. */
    const char *cache_dir;
    const struct gpume_prefilter *prefilter; /* copied by gpume_open; default NULL: none */
    /* Which frames are targets: target_count of them from index first_target on. The other frames
     * that are sent serve as references only. Default 0: every frame that has a reference. */
    uint64_t first_target;
    uint64_t target_count; /* 0 = all */
    /* Bytes of host and device memory together that gpume_open may plan; 0 = no limit. A low limit
     * makes a GPU's submissions smaller and, if need be, turns elimination off, as no_elimination
     * does. GPUME_INVALID: more is needed even so; the log says how much. */
    uint64_t memory_max;
    enum gpume_direction direction; /* default GPUME_DIRECTION_PAST */
    /* Shapes of blocks: a field has a layer for each, in this order. No shape twice. */
    struct gpume_block_size shapes[GPUME_SHAPES_MAX];
    uint32_t shape_count; /* 0 (default): one, params.block square */
    /* Each block of the largest square is divided so that J, the sum of 256 D + lambda (R + P) over
     * its parts, is least. P: 1 for a block left whole, 3 for two halves, 1 for quarters, plus that
     * of the quarters; 0 for a smallest square. Equal J: whole, then halves one above the other,
     * side by side, then quarters. Shapes must be squares by halves, with both halves of all but
     * the smallest at most; lambda must be above 0. */
    bool partition;
    uint32_t subpel; /* units of vectors in a pixel: 1, 2 or 4; 0 or default: 1 */
    enum gpume_interpolation interpolation;
    enum gpume_subpel_search subpel_search;
    bool rate;       /* vectors have a price */
    uint32_t lambda; /* of a bit, in 1/256 of the metric: up to GPUME_LAMBDA_MAX */
    /* R = bits(dx - px) + bits(dy - py) for the predictor (px,py), where bits(v) = 2 floor(log2(k +
     * 1)) + 1 with k = 2v - 1 for v > 0, else -2v: the signed Exp-Golomb code. Others than zero
     * need rate. */
    enum gpume_predictor predictor;
    uint32_t passes; /* of the whole search with GPUME_PREDICTOR_MEDIAN, 1 to 8; 0 or default: 2 */
    gpume_predict_fn predict; /* for GPUME_PREDICTOR_GIVEN */
    void *predict_opaque;
    /* Distances between target and reference, in any order; no distance twice. A target has a pair
     * for each, by rising distance, the past before the future. */
    uint32_t distances[GPUME_DISTANCES_MAX];
    uint32_t distance_count; /* 0 (default): one, params.ref_distance */
    /* One field per target: every block keeps its best match in all references, the nearest one
     * among equal costs, the past one at equal distances. */
    bool best_reference;
    /* Besides, every block may be predicted by the mean (a + b + 1) >> 1 of a past match a and a
     * future match b: it begins with the best on either side, then each side is searched anew in
     * turn with the other one fixed, until the cost falls no more, in at most four rounds. Taken
     * where it costs less. Implies best_reference and needs both directions. */
    bool bidirectional;
    /* Matches per block, 1 to 8: after the best, the least cost among candidates at least two
     * pixels away, in x or y, from all before. With GPUME_SUBPEL_REFINE they are found and put in
     * order among whole pixels, then each is refined alone: a later one may cost less than one
     * before it, and come closer to it. 0 or default: 1. */
    uint32_t candidates;
    bool confidence; /* layers have second, ties, texture and returns */
    /* The best whole-pixel vector is that of least cost by `metric`. Its refinement compares it
     * with its neighbours by this metric, which all costs of the field are then by; ties are
     * counted among whole pixels. Others than GPUME_REFINE_BY_METRIC need subpel 2 or 4 and
     * GPUME_SUBPEL_REFINE. */
    enum gpume_refine_metric refine_metric;
    /* Several devices, which share the work as fast as each of them is: indices in
     * gpume_list_devices or parts of names, separated by commas (one before a space belongs to a
     * name); "all", which stands for every hardware GPU; "cpu", which stands for the CPU engine. A
     * device may be named more than once. The results do not depend on the list. The first device
     * is opened by gpume_open, each other one when those that are open do not keep up with the
     * sender (gpume_expect, gpume_open_devices). When a GPU fails, the others take over its work,
     * and after the last one, with GPUME_BACKEND_AUTO, the CPU engine. memory_max is divided
     * equally. NULL (default): one device, params.device; not both. */
    const char *devices;
    /* Layers have returns, also without confidence. No effect with bidirectional, nor without
     * GPUME_DIRECTION_BOTH. */
    bool want_returns;
};

/* The metric of the costs in the fields of a run. */
static inline enum gpume_metric gpume_cost_metric(const struct gpume_params *params)
{
    switch (params->refine_metric) {
    case GPUME_REFINE_BY_SAD:
        return GPUME_METRIC_SAD;
    case GPUME_REFINE_BY_SATD:
        return GPUME_METRIC_SATD;
    case GPUME_REFINE_BY_SSD:
        return GPUME_METRIC_SSD;
    default:
        return params->metric;
    }
}

/* --- the table of these parameters */

enum gpume_param_type {
    GPUME_PARAM_NUMBER, /* uint32_t or uint64_t */
    GPUME_PARAM_FLAG,   /* bool */
    GPUME_PARAM_CHOICE, /* an enum */
    GPUME_PARAM_TEXT,   /* const char * */
    GPUME_PARAM_LIST,   /* an array, whose length another member says */
    GPUME_PARAM_OTHER,  /* a pointer to something else, or to a function */
};

/* A member of struct gpume_params. */
struct gpume_param {
    const char *name;
    size_t offset, bytes; /* where it lies in struct gpume_params */
    enum gpume_param_type type;
    uint64_t least, most;       /* of a number, or of an entry of a list; 0, 0: no limits here */
    const char *const *choices; /* of a choice: the names of its values, from 0 on, then NULL */
    const char *constants;      /* what the names of these constants begin with */
    const char *unit;           /* of a number, or NULL */
    bool speed_only;            /* changes no result */
    uint32_t since;             /* the first GPUME_API_VERSION that has it */
    /* The command's option that sets it, without "--", the name of its value, and what it does.
     * NULL: there is none. Several members may belong to one option. */
    const char *option, *option_value, *help;
};

/* The parts of a line of the log that names parameters, for a program whose users know these by
 * other names:
 *
 *     PARAM VALUE: TEXT OTHER OTHER_VALUE REST
 *
 * where a part that is NULL is left out. A refused parameter is `param`, with its value where it
 * has one; `text` says its limits. `other` is what it needs, cannot be combined with, or what may
 * help. A choice's value is its name, such as "both". */
struct gpume_message {
    const struct gpume_param *param;
    const char *value;
    const char *text;
    const struct gpume_param *other;
    const char *other_value;
    const char *rest; /* begins with a comma, a semicolon, or a space */
};

#ifdef __cplusplus
}
#endif

#endif
