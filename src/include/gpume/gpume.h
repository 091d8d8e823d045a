/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume: exact block motion estimation between the frames of a video.
 *
 * A context takes luma frames in presentation order and gives one field per pair of target frame
 * and reference frame. A field holds, for every block of the target, the displacement of its best
 * match in the reference, the cost of that match and the block's rank by cost; and the field's
 * sums. The search is exhaustive and exact: every engine, device and thread count gives the same
 * numbers, bit for bit.
 *
 *     gpume_params_default(&params);  params.width = ...;  gpume_open(&ctx, &params);
 *     gpume_send_plane(ctx, &plane, time_us);          for every frame, in order
 *     gpume_finish(ctx);                               no more frames
 *     gpume_receive(ctx, &field, 0);                   until GPUME_AGAIN or GPUME_EOF
 *     gpume_field_release(&field);
 *     gpume_close(&ctx);
 *
 * Which pairs are searched follows from params.direction and params.distances. With
 * GPUME_DIRECTION_MANUAL the caller asks for each pair with gpume_search. With
 * params.best_reference a field is the result of one target frame and all its references.
 *
 * Coordinates: x to the right, y downwards, in pixels, from the picture's upper left corner.
 *
 * Blocks: one or several shapes, each on its own grid from (0,0) in raster order that covers
 * every pixel: ceil(width/block_w) x ceil(height/block_h) blocks. A block that the right or bottom
 * edge cuts has its visible size, and only visible pixels count.
 *
 * Vectors: (dx,dy) points from a block to its match: predicted(x,y) = reference(x+dx, y+dy), in
 * units of 1/params.subpel pixel. |dx| <= window_x and |dy| <= window_y pixels.
 *
 * Cost: D + ((lambda * R + 128) >> 8). D is the difference over the block's visible pixels by
 * params.metric, or in results by params.refine_metric where one is given; R the bits of the vector
 * (params.rate). 32 bits hold it: gpume_open refuses what could exceed them. With params.prefilter
 * these are pixels of filtered frames.
 *
 * Ties: the smallest cost wins; among equal costs (0,0) wins, then the smallest dy, then the
 * smallest dx.
 *
 * Rank: 0 is the costliest block of a layer, or of all parts; equal costs rank in the order of the
 * blocks or parts.
 *
 * Threads: contexts are independent of each other. Each function says which threads may call it:
 *   [sender]    one thread at a time; it may run beside the receiver
 *   [receiver]  one thread at a time; it may run beside the sender
 *   [any]       any thread at any time between gpume_open and gpume_close
 *   [alone]     no other call on the same context may be under way
 *   [free]      needs no context; any thread, any number at once
 * A context belongs to the process that opened it. A child by fork() has none of its threads, and
 * must neither use nor close it; it may open others, also on the same device.
 *
 * Errors: functions return GPUME_OK (0) or a negative gpume_status. What went wrong is logged once,
 * in one line with the values concerned, through params.log; it names members of the structs below,
 * such as params.block, and gpume_log_message says it in parts. Results are untouched on failure.
 * The library never prints, exits or reads the environment (the Vulkan loader that it calls does
 * read it).
 *
 * Structs that may grow begin with `size`, which tells the library how much of the struct the
 * caller's program knows. The inline functions gpume_params_default, gpume_get_info and
 * gpume_get_stats set it; elsewhere write {.size = sizeof(struct ...)}. Members that the caller
 * does not know get their defaults; members that an older library does not know must be zero, else
 * it returns GPUME_UNSUPPORTED. Arrays that the library fills in have a stride. gpume_vector,
 * gpume_sums, gpume_stage and gpume_plane never grow. Fields and layers are made by the library and
 * grow at their end.
 */
#ifndef GPUME_GPUME_H
#define GPUME_GPUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gpume/params.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(GPUME_BUILDS_DLL) /* programs that use it need nothing */
#define GPUME_API __declspec(dllexport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define GPUME_API __attribute__((visibility("default")))
#else
#define GPUME_API
#endif

/* Grows by one with every addition to these headers, apart from the package version. Nothing that
 * they say is taken away within one soname (libgpume.so.1), so a program needs a library whose
 * gpume_api_version() is at least the GPUME_API_VERSION of its headers. */
#define GPUME_API_VERSION 7

enum gpume_status {
    GPUME_OK = 0,
    GPUME_AGAIN = -1,       /* not an error: receive a field, or send more frames, first */
    GPUME_EOF = -2,         /* not an error: every field has been received */
    GPUME_INVALID = -3,     /* an argument or parameter is out of range */
    GPUME_NOMEM = -4,       /* host memory ran out */
    GPUME_IO = -5,          /* reading or writing failed */
    GPUME_FORMAT = -6,      /* the input is not what it claims to be */
    GPUME_UNSUPPORTED = -7, /* this build or device cannot do it */
    GPUME_DEVICE = -8,      /* no usable device, or its memory ran out */
    GPUME_DEVICE_LOST = -9, /* the device stopped working, for every open context on it */
    GPUME_CANCELLED = -10,  /* gpume_cancel was called */
};

/* [free] A short English name such as "out of memory". Never NULL. */
GPUME_API const char *gpume_status_text(int status);

/* [free] The API version that the library was built with; must be GPUME_API_VERSION or more. */
GPUME_API uint32_t gpume_api_version(void);

/* [free] The package version, such as "1.0.0". */
GPUME_API const char *gpume_version(void);

/* [free] Fills in the defaults of the first params->size bytes. GPUME_INVALID: size is 0. */
GPUME_API int gpume_params_fill(struct gpume_params *params);

/* [free] Fills in the defaults; width and height become 0 and must be set. */
static inline void gpume_params_default(struct gpume_params *params)
{
    params->size = sizeof(*params);
    (void)gpume_params_fill(params);
}

/* [free] Checks how the parameters describe the search: their ranges, and which go together. The
 * picture's size and what depends on the machine are for gpume_open. GPUME_INVALID: refused, which
 * is logged. */
GPUME_API int gpume_params_check(const struct gpume_params *params);

/* [free] The rows of the table of parameters, one for each member of struct gpume_params. NULL:
 * there is no row of this number. Valid for ever; rows may grow at their end. */
GPUME_API const struct gpume_param *gpume_param_at(uint32_t index);

/* [any] Within a gpume_log_fn: the parts of its line, valid until it returns. NULL: the line names
 * no parameters, or no line is being logged by this thread. */
GPUME_API const struct gpume_message *gpume_log_message(void);

typedef struct gpume gpume;
typedef struct gpume_frame gpume_frame;

/* [free] Checks the parameters, chooses the engine and allocates everything that the run will need.
 * On success *ctx is a context for gpume_close. GPUME_INVALID: a parameter is out of range.
 * GPUME_DEVICE: there is no such device, or it is too small. GPUME_UNSUPPORTED: this build,
 * processor or device cannot do it. */
GPUME_API int gpume_open(gpume **ctx, const struct gpume_params *params);

/* [alone] Stops all work, releases everything and sets *ctx to NULL. NULL is fine. Release all
 * fields and frames first. Returns the context's first failure, such as a message of the validation
 * layer, or GPUME_OK, also when the run was cancelled or closed early. */
GPUME_API int gpume_close(gpume **ctx);

/* Wait instead of returning GPUME_AGAIN; for callers who send from one thread and receive on
 * another. */
#define GPUME_WAIT 1u

/* [sender] Takes a frame out of the context's pool, to be filled through *plane. The plane's memory
 * belongs to the frame and may be the device's upload memory: write each sample once and read none.
 * The caller owns the frame until gpume_send or gpume_frame_release. GPUME_AGAIN: first receive a
 * field, or release fields or frames. */
GPUME_API int gpume_frame_acquire(
    gpume *ctx, gpume_frame **frame, struct gpume_plane *plane, uint32_t flags);

/* [any] Gives a frame back unsent. Sets *frame to NULL. */
GPUME_API void gpume_frame_release(gpume_frame **frame);

/* [sender] Sends a filled frame. Its ownership passes to the context and *frame becomes NULL, on
 * failure too. Frames are numbered from params.first_frame in the order sent. time_us: presentation
 * time in microseconds, copied to the fields of this target. */
GPUME_API int gpume_send(gpume *ctx, gpume_frame **frame, int64_t time_us);

/* [sender] Sends a copy of the plane, whose size and bits must be those of the context. For a GPU,
 * up to 8 threads make the copy of a large plane, no more than params.threads if that is not 0; the
 * first such call starts them. GPUME_AGAIN: receive and release a field, then send the same plane
 * again. */
GPUME_API int gpume_send_plane(gpume *ctx, const struct gpume_plane *plane, int64_t time_us);

/* One search: of a target frame in a reference frame; with params.best_reference in several. */
struct gpume_task {
    size_t size;                /* sizeof(struct gpume_task) */
    uint64_t target, reference; /* indices of frames; they may be the same frame */
    uint64_t tag;               /* any value; copied to the field */
    /* With params.best_reference: more references, in the order in which ties are resolved. Those
     * up to the target count as past ones. */
    uint32_t more_count;
    uint64_t more[GPUME_REFERENCES_MAX - 1];
    /* For speed: a byte for each block of the field, in the order of its layers and their blocks;
     * 0: its results are not needed. They are unspecified then, and so are all ranks and sums, and
     * the predicted frame. NULL: all blocks are needed. Stays unchanged until the field has been
     * received, or the context is closed. Has no effect with params.best_reference, partition,
     * confidence or check, or the predictor median. */
    const unsigned char *wanted;
};

/* [sender] With GPUME_DIRECTION_MANUAL: requests the search of one pair of frames, both of them
 * among the newest d + 1 that have been sent, where d is the largest of params.distances; the
 * library keeps them until the search is done. Fields come in the order of the requests; the same
 * pair may be requested more than once. GPUME_AGAIN: too many requests wait (some dozens or more);
 * receive and release a field, then repeat the request. GPUME_INVALID: another direction, a frame
 * that is not among them, or a request after gpume_finish; logged. */
GPUME_API int gpume_search(gpume *ctx, const struct gpume_task *task);

/* [sender] No more frames and no more requests will come. */
GPUME_API int gpume_finish(gpume *ctx);

/* The exact sums of a field over all its visible pixels. They fit: gpume_open refuses pictures
 * whose squared sums could exceed 2^64 - 1. */
struct gpume_sums {
    uint64_t zero;       /* blocks whose vector is (0,0) */
    uint64_t sad_before; /* sum |target - reference| */
    uint64_t sad_after;  /* sum |target - predicted| */
    uint64_t sse_before; /* sum (target - reference)^2 */
    uint64_t sse_after;  /* sum (target - predicted)^2 */
};

/* The results for the blocks of one shape. Arrays hold blocks_x * blocks_y entries in raster order.
 * Those marked * hold as many for each of params.candidates, candidate_stride apart. */
struct gpume_layer {
    uint32_t block_w, block_h;          /* pixels of a block that no edge cuts */
    uint32_t blocks_x, blocks_y;        /* across and down */
    const struct gpume_vector *vectors; /* * */
    const uint32_t *costs;              /* *; GPUME_NONE where there is no further candidate */
    const uint32_t *ranks;              /* among the layer's blocks */
    uint32_t candidate_stride;          /* entries */
    const uint32_t *bits;               /* *; R of the vector, or of both; NULL without rate */
    /* With params.best_reference: indices in field.refs, else NULL. With params.bidirectional the
     * second match, where there is one: else GPUME_NONE in refs2. */
    const uint32_t *refs, *refs2;
    const struct gpume_vector *vectors2;
    /* With params.confidence, else NULL: the cost of the second candidate, refined like the first
     * (so it may be the lower one), or GPUME_NONE; how many other candidates cost as much as the
     * best, among whole pixels with GPUME_SUBPEL_REFINE; the sum of absolute differences between
     * neighbouring pixels of the block, in x and y; and, where the reverse pair is searched too,
     * how far the reverse vector at the match leads away from the block, in units: the larger of
     * |dx| and |dy| of the sum of both vectors. The reverse vector is what the pair of reference
     * and target gives, searched for itself, for the block of the same shape, or with
     * params.partition for the part, that holds the middle of the match.
     * returns is NULL unless the direction is GPUME_DIRECTION_BOTH: also with
     * GPUME_DIRECTION_MANUAL; params.want_returns gives it alone. With it a run takes half as much
     * time again, with params.best_reference twice the time; at distance 1 alone, with neither
     * best_reference nor params.memory_max, hardly more. */
    const uint32_t *second, *ties, *texture, *returns;
};

/* A block that params.partition chose. */
struct gpume_part {
    uint32_t layer, block; /* indices */
    uint32_t rank;         /* among the field's parts */
};

/* The result of a search. Read-only; valid until its last reference
 * is released. */
struct gpume_field {
    uint64_t frame; /* index of the target frame */
    uint64_t ref;   /* index of the reference frame; of several, of the first */
    uint64_t tag;   /* of the gpume_task; 0 for pairs that were not requested by one */
    int64_t time_us;
    uint32_t vector_units; /* vectors count in 1/vector_units of a pixel: params.subpel */
    uint32_t layer_count;
    const struct gpume_layer *const *layers;
    /* The first layer's members, for callers with one block shape. */
    uint32_t blocks_x, blocks_y;
    const struct gpume_vector *vectors;
    const uint32_t *costs;
    const uint32_t *ranks;
    struct gpume_sums sums;       /* of the prediction by the first layer, or by the parts */
    struct gpume_plane predicted; /* data NULL unless params.want_predicted */
    struct gpume_plane target, reference; /* frames `frame` and `ref`; data NULL unless
                                             params.want_frames */
    /* With params.check: blocks of all layers that were searched again, and those for which
     * everything that was found is the same. */
    uint64_t checked, matched;
    /* References: `ref`, with params.best_reference followed by all others of the target. */
    uint32_t ref_count;
    const uint64_t *refs;
    /* With params.partition: the chosen blocks, which cover every pixel once. Largest squares in
     * raster order; within each, halves and quarters from left to right, then down. */
    uint32_t part_count;
    const struct gpume_part *parts;
};

/* [receiver] The next field: by rising target frame and, for one target, by rising distance, the
 * past before the future; with GPUME_DIRECTION_MANUAL in the order of the requests. The caller owns
 * one reference to it. Without flags: waits while a field is under way; GPUME_AGAIN when more
 * frames must be sent, or fields released, first. One field may always be kept while others are
 * received. With GPUME_WAIT: waits for a field. GPUME_EOF after the last one that gpume_finish
 * allows. A failure of the run is returned here, after the fields that were complete before it. */
GPUME_API int gpume_receive(gpume *ctx, const struct gpume_field **field, uint32_t flags);

/* [any] Adds a reference to the field, so that two owners may release it. Returns the field. */
GPUME_API const struct gpume_field *gpume_field_ref(const struct gpume_field *field);

/* [any] Drops a reference; with the last one the field's memory goes back to the context. Sets
 * *field to NULL. NULL is fine. */
GPUME_API void gpume_field_release(const struct gpume_field **field);

/* [any] Ends the run early: every waiting and later call returns GPUME_CANCELLED. */
GPUME_API void gpume_cancel(gpume *ctx);

/* [any] Tells how many frames will be sent in all; 0: unknown, as at the beginning. A device of
 * params.devices is opened only if enough is left to do for that to pay. */
GPUME_API int gpume_expect(gpume *ctx, uint64_t frames);

/* [any] Opens all devices of params.devices now, without waiting for the work to need them, and
 * returns when that is done. For programs that measure or check devices. */
GPUME_API int gpume_open_devices(gpume *ctx);

/* [free] 10 log10(peak^2 * pixels / sse) with peak = 2^bits - 1; infinity where sse is 0. */
GPUME_API double gpume_psnr(uint32_t bits, uint64_t pixels, uint64_t sse);

/* [free] The cost surface of a block: its cost for every displacement of the window, for one block
 * of a field and on the calling thread. target and reference: unfiltered frames in the size and
 * depth of params, such as those of a field with params.want_frames. shape: of a block that no edge
 * cuts; (x,y): its upper left pixel. Costs are by the metric of the run's costs
 * (gpume_cost_metric), without the price of the vector, row by row from (-window_x, -window_y) on:
 * 2 window_x subpel + 1 in each of 2 window_y subpel + 1 rows, GPUME_NONE where the displacement is
 * no candidate. GPUME_INVALID, GPUME_UNSUPPORTED (params.prefilter), GPUME_NOMEM: logged. */
GPUME_API int gpume_surface(const struct gpume_params *params, const struct gpume_plane *target,
    const struct gpume_plane *reference, const struct gpume_block_size *shape, uint32_t x,
    uint32_t y, uint32_t *costs);

/* What the context runs on. Strings live as long as the context. */
struct gpume_info {
    size_t size;         /* sizeof(struct gpume_info); gpume_get_info sets it */
    const char *backend; /* "vulkan" or "cpu" */
    const char *device;  /* "NVIDIA H200", "8 threads"; of several "2 x NVIDIA H200 + 8 threads" */
    const char *driver;  /* "" for the CPU engine; of several, the first one's, as for search */
    uint32_t blocks_x, blocks_y;
    uint64_t candidates;   /* vectors tried for a block that lies far from any edge */
    uint64_t host_bytes;   /* planned host memory, allocated by gpume_open; not the check's */
    uint64_t device_bytes; /* planned device memory, allocated by gpume_open; of several devices,
                              both are those of the open ones */
    const char *search;    /* the implementation in use, as gpume_list_searches names it */
    bool eliminates;       /* candidates that cannot win may be skipped: elimination */
    /* If the last GPU failed during the run (GPUME_BACKEND_AUTO): the engine that took over, and
     * the target frame of the first field that it gave. Else NULL. */
    const char *standby;        /* "cpu" */
    const char *standby_device; /* "8 threads"... */
    uint64_t standby_frame;
};

/* [any] Fills in the first info->size bytes. GPUME_INVALID: size is 0. */
GPUME_API int gpume_info_fill(gpume *ctx, struct gpume_info *info);

static inline void gpume_get_info(gpume *ctx, struct gpume_info *info)
{
    info->size = sizeof(*info);
    (void)gpume_info_fill(ctx, info);
}

/* What shares the work of a context, of which gpume_get_info and gpume_get_stats give sums: each
 * device of params.devices, in order, or the one device; then the engine that has taken over, if
 * any. Strings live as long as the context. */
struct gpume_lane_info {
    const char *backend, *device, *driver, *search; /* as in gpume_info */
    uint64_t host_bytes, device_bytes;              /* planned; with what fields need */
    uint64_t fields;                                /* as in gpume_stats, like busy_ns */
    uint64_t busy_ns;
    bool failed;   /* it is not used any more */
    bool unopened; /* it has not been needed so far, or could not be opened (failed): it has no
                      memory, and driver and search are "" */
};

/* [any] Fills in up to capacity entries, `stride` bytes apart, and sets *count to their number. */
GPUME_API int gpume_lanes_fill(
    gpume *ctx, struct gpume_lane_info *lanes, size_t stride, uint32_t capacity, uint32_t *count);

static inline int gpume_list_lanes(
    gpume *ctx, struct gpume_lane_info *lanes, uint32_t capacity, uint32_t *count)
{
    return gpume_lanes_fill(ctx, lanes, sizeof(*lanes), capacity, count);
}

/* A stage of the engine's work and the time spent in it: device time on Vulkan; on the CPU engine
 * the time of all threads together, divided by their number. The name is a constant of the library.
 */
struct gpume_stage {
    const char *name; /* "upload", "match"... */
    uint64_t ns;
};

#define GPUME_STAGES_MAX 16u

/* Statistics of the run so far. */
struct gpume_stats {
    size_t size;     /* sizeof(struct gpume_stats); gpume_get_stats sets it */
    uint64_t fields; /* for the caller: pairs that params.confidence adds do not count */
    /* Wall time during which the engine's thread was not waiting for frames or for the receiver.
     * Waiting for the device and params.check are included. Of several engines the sum, as for all
     * other members. */
    uint64_t busy_ns;
    /* Elimination. Blocks that are searched without it count in full in all three. Where a frame
     * pair is searched more than once (passes, references, candidates, fractions), it counts once,
     * with the shares of all its searches; the search for means (params.bidirectional) does not
     * count. What engines exclude may differ, since they compare in different orders. */
    uint64_t candidates;  /* allowed by the window and the edge mode, in all blocks so far */
    uint64_t past_blocks; /* not excluded by the sums of the largest boxes, up to a whole block */
    uint64_t past_parts;  /* nor by those of its parts: compared sample by sample */
    uint32_t stage_count;
    struct gpume_stage stages[GPUME_STAGES_MAX]; /* in the order of the work */
};

/* [any] Fills in the first stats->size bytes. GPUME_INVALID: size is 0. */
GPUME_API int gpume_stats_fill(gpume *ctx, struct gpume_stats *stats);

static inline void gpume_get_stats(gpume *ctx, struct gpume_stats *stats)
{
    stats->size = sizeof(*stats);
    (void)gpume_stats_fill(ctx, stats);
}

/* [free] The time of the stage of that name; 0 if the engine has none. */
GPUME_API uint64_t gpume_stats_ns(const struct gpume_stats *stats, const char *stage);

enum gpume_device_type {
    GPUME_DEVICE_OTHER,
    GPUME_DEVICE_INTEGRATED,
    GPUME_DEVICE_DISCRETE,
    GPUME_DEVICE_VIRTUAL,
    GPUME_DEVICE_SOFTWARE,
};

struct gpume_device {
    uint32_t index; /* as text, for params.device and params.devices */
    enum gpume_device_type type;
    char name[256];
    char driver[256];
    uint64_t memory_bytes; /* of its largest local heap */
    char unusable[128];    /* why gpume cannot use it; "" if it can */
    bool automatic;        /* what GPUME_BACKEND_AUTO takes */
};

/* [free] Fills in up to capacity entries, `stride` bytes apart, and sets *count to the number of
 * Vulkan devices present. A machine without Vulkan has none, which is no error. The drivers stay
 * loaded: called from another thread while the caller does something else, this shortens the first
 * gpume_open. */
GPUME_API int gpume_devices_fill(
    struct gpume_device *devices, size_t stride, uint32_t capacity, uint32_t *count);

static inline int gpume_list_devices(
    struct gpume_device *devices, uint32_t capacity, uint32_t *count)
{
    return gpume_devices_fill(devices, sizeof(*devices), capacity, count);
}

/* One implementation of the search. All give the same bits. */
struct gpume_search_info {
    enum gpume_backend backend; /* whose: GPUME_BACKEND_CPU or GPUME_BACKEND_VULKAN */
    bool available;             /* on this processor, or on the device asked about */
    bool automatic;             /* what its engine takes if params.search is NULL */
    char name[32];              /* for params.search; no two have the same */
    char summary[96];
};

/* [free] Fills in up to capacity entries, `stride` bytes apart, and sets *count to the number of
 * implementations in this build: those of the CPU engine, then those of the Vulkan engine, each
 * from the plainest to the fastest. device: as params.device; NULL = the best one, a software
 * driver if there is no hardware. Without any device none of Vulkan's is available. GPUME_DEVICE:
 * there is no such device. */
GPUME_API int gpume_searches_fill(const char *device, struct gpume_search_info *searches,
    size_t stride, uint32_t capacity, uint32_t *count);

static inline int gpume_list_searches(
    const char *device, struct gpume_search_info *searches, uint32_t capacity, uint32_t *count)
{
    return gpume_searches_fill(device, searches, sizeof(*searches), capacity, count);
}

#ifdef __cplusplus
}
#endif

#endif
