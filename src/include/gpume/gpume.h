/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume: exact block motion estimation between the frames of a video.
 *
 * A context takes luma frames in presentation order and gives one field per pair of target frame
 * and reference: for every block of the target the displacement of its best match in the reference,
 * the cost of that match, the block's rank by cost, and the field's sums. The search is exhaustive
 * and exact: every engine, device and thread count gives the same numbers, bit for bit.
 *
 *     gpume_params_default(&params);  params.width = ...;  gpume_open(&ctx, &params);
 *     gpume_send_plane(ctx, &plane, time_us);          for every frame, in order
 *     gpume_finish(ctx);                               no more frames
 *     gpume_receive(ctx, &field, 0);                   until GPUME_AGAIN or GPUME_EOF
 *     gpume_field_release(&field);
 *     gpume_close(&ctx);
 *
 * Coordinates: x to the right, y downwards, in pixels, from the picture's upper left corner.
 *
 * Blocks: block x block pixels on a grid from (0,0), raster order, covering every pixel:
 * ceil(width/block) x ceil(height/block) of them. A block cut by the right or bottom edge has its
 * visible size, and only visible pixels count.
 *
 * Vectors: (dx,dy) points from a block to its match: predicted(x,y) = reference(x+dx, y+dy). Whole
 * pixels, |dx| <= window_x, |dy| <= window_y.
 *
 * Cost: the sum of absolute differences over the block's visible pixels. At most 128 * 128 * 65535,
 * so 32 bits hold it. With params.prefilter these are pixels of filtered frames.
 *
 * Ties: the smallest cost wins; among equal costs (0,0) wins, then the smallest dy, then the
 * smallest dx.
 *
 * Rank: 0 is the costliest block of a field; equal costs rank in raster order.
 *
 * Threads: one thread may send (gpume_frame_acquire, gpume_send, gpume_send_plane, gpume_finish)
 * while another receives; gpume_cancel and gpume_field_release may be called from any thread.
 * Contexts are independent of each other.
 *
 * Errors: functions return GPUME_OK (0) or a negative gpume_status. What went wrong is told once,
 * in one line with the values concerned, through params.log. Results are untouched on failure. The
 * library never prints, exits or reads the environment (the Vulkan loader that it calls does read
 * it). Reserved bytes of structs that are passed in must be zero, GPUME_INVALID if they are not:
 * later versions give them a meaning.
 */
#ifndef GPUME_GPUME_H
#define GPUME_GPUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GPUME_API __attribute__((visibility("default")))
#else
#define GPUME_API
#endif

/* Grows by one whenever this header changes what a caller can rely on. */
#define GPUME_API_VERSION 1

#define GPUME_BLOCK_MIN 4      /* pixels; blocks are multiples of 4 */
#define GPUME_SIDE_MAX 1048576 /* pixels, of a picture */
#define GPUME_BLOCK_MAX 128    /* pixels */
#define GPUME_WINDOW_MAX 512   /* pixels, each axis */
#define GPUME_DISTANCE_MAX 1024

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
    GPUME_DEVICE_LOST = -9, /* the device stopped working */
    GPUME_CANCELLED = -10,  /* gpume_cancel was called */
};

/* A short English name such as "out of memory". Never NULL. */
GPUME_API const char *gpume_status_text(int status);

/* The API version that the library was built with; compare with GPUME_API_VERSION. */
GPUME_API uint32_t gpume_api_version(void);

/* The package version, such as "0.1.0". */
GPUME_API const char *gpume_version(void);

enum gpume_log_level { GPUME_LOG_ERROR, GPUME_LOG_WARNING, GPUME_LOG_INFO, GPUME_LOG_DEBUG };

/* Receives one line of text, without line end. May be called from any of the context's threads,
 * never from two at once for one context; must not call the context. With GPUME_BACKEND_AUTO errors
 * of a GPU may be told although the context then opens without it. */
typedef void (*gpume_log_fn)(void *opaque, enum gpume_log_level level, const char *line);

enum gpume_edge {
    GPUME_EDGE_EXTEND, /* a sample outside the reference is its nearest edge sample */
    GPUME_EDGE_INSIDE, /* only candidates that lie wholly inside the reference */
};

enum gpume_metric { GPUME_METRIC_SAD };

/* Where the references of a target frame t lie, at distance d = params.ref_distance. N frames give
 * N - d fields; with BOTH 2 (N - d), that of t - d before that of t + d. A reference that there is
 * not gives no field. */
enum gpume_direction {
    GPUME_DIRECTION_PAST,   /* in frame t - d; the first d frames have none */
    GPUME_DIRECTION_FUTURE, /* in frame t + d; the last d frames have none */
    GPUME_DIRECTION_BOTH,   /* in either: whichever there are */
};

enum gpume_backend {
    /* The best hardware GPU, else the CPU engine. That also takes over where the GPU fails in
     * mid-run (lost, or out of its memory): the fields go on as if nothing had happened, with one
     * warning. It does not with a device or a search by name, or with params.validate: then such a
     * failure ends the run, as it does with GPUME_BACKEND_VULKAN. */
    GPUME_BACKEND_AUTO,
    GPUME_BACKEND_VULKAN, /* Vulkan, a software driver if there is no hardware */
    GPUME_BACKEND_CPU,
};

/* One rectangle of luma samples. bits 8: one byte a sample; 9 to 16: uint16_t in native byte order.
 * stride: bytes from a row to the next, at least width samples either way (negative: rows
 * upwards). No sample may exceed 2^bits - 1. */
struct gpume_plane {
    void *data;
    ptrdiff_t stride;
    uint32_t width, height;
    uint32_t bits;
};

/*
 * A filter that every frame passes before it is searched: vectors, costs, ranks and params.check
 * are those of the filtered frames. Predicted frames and sums are made of the frames as they were
 * sent, by these vectors, so that sums.sad_after is no longer the sum of the costs.
 *
 * Let v(x,y) be the frame's sample, 2^bits - 1 where memory holds more; outside the picture its
 * nearest edge sample, whatever params.edge is. The filtered frame is f(x,y), from 0 to 2^bits - 1,
 * for i from -width/2 to width/2 and j from -height/2 to height/2 (whole parts). Outside the
 * picture it is as params.edge says of any reference. round() takes halves away from 0; all else is
 * in whole numbers, and / leaves out the rest, so that engines cannot differ.
 *
 * GAUSS   sigma s: g(i) = exp(-i^2 / 2s^2) for |i| <= r = ceil(3s), G their sum, w(i) =
 *         round(2^16 g(i) / G), but w(0) is 2^16 less all others. Columns first, to 16 bits:
 *         c(x,y) = (sum of w(j) v(x,y+j) + 2^(bits-1)) / 2^bits, then rows:
 *         f(x,y) = (sum of w(i) c(x+i,y) + 2^(31-bits)) / 2^(32-bits).
 * BOX     f = (sum of v(x+i,y+j) + n/2) / n, n = width height.
 * MEDIAN  f is the middle one of the v(x+i,y+j).
 * BILATERAL  sigma s, |i| and |j| <= ceil(3s): g(i,j) = exp(-(i^2+j^2) / 2s^2), G their sum, w(i,j)
 *         = the whole part of 2^16 g(i,j) / G. Likeness: for d = |v(x+i,y+j) - v(x,y)| in steps of
 *         8 bits (above 10 bits in whole quarters of one, the rest left out), l = round(2^15
 *         exp(-d^2 / 2 range^2)). With a = w l / 2^8 and A their sum, f = (sum of a v(x+i,y+j) +
 *         A/2) / A.
 * KERNEL  weights W in rows from the upper left one, that of v(x-width/2,y-height/2), as they stand
 *         (not turned over). k is the largest whole number (below 0 too) with sum of |W| 2^k <
 *         2^(31-bits) and sum of |w| < 2^(31-bits), w = round(2^k W). They are divided by their
 *         sum, so that even areas stay as they are: with S = sum of w, f = (sum of w v(x+i,y+j) +
 *         |S|/2) / |S|, all w with the other sign if the sum of W is below 0, and f is cut to 0 ..
 *         2^bits - 1. A sum counts as 0 where |sum of W| < sum of |W| / 1000, or S has not its
 *         sign; then k is at most 31 - bits, and 2^k stands for |S|. GPUME_INVALID if k is below 0
 *         there.
 */
enum gpume_prefilter_kind {
    GPUME_PREFILTER_GAUSS,
    GPUME_PREFILTER_BOX,
    GPUME_PREFILTER_MEDIAN,
    GPUME_PREFILTER_BILATERAL,
    GPUME_PREFILTER_KERNEL,
};

#define GPUME_PREFILTER_SIDE_MAX 31 /* pixels, of a box or a kernel */

/* Members that a kind does not name are not looked at. */
struct gpume_prefilter {
    enum gpume_prefilter_kind kind;
    /* Pixels. BOX: 3 to 31, odd, width = height. MEDIAN: 3 or 5, likewise. KERNEL: 1 to 31, odd. */
    uint32_t width, height;
    double sigma; /* pixels. GAUSS: 0.3 to 16. BILATERAL: 0.3 to 5 */
    double range; /* BILATERAL: in steps of 8 bits, whatever params.bits is; 0.1 to 1000 */
    /* KERNEL: width * height, each 0 or of a magnitude from 1e-9 to 1e9, not all 0. */
    const double *weights;
    uint8_t reserved[32]; /* zero */
};

struct gpume_params {
    uint32_t width, height; /* pixels, 1 or more; required */
    uint32_t bits;          /* of a sample, 8 to 16; default 8 */
    uint32_t block;         /* pixels a side: 4 to 128, a multiple of 4; default 8 */
    uint32_t window_x;      /* largest displacement, 0 to 512; default 7 */
    uint32_t window_y;
    enum gpume_edge edge;     /* default GPUME_EDGE_EXTEND */
    enum gpume_metric metric; /* default GPUME_METRIC_SAD */
    uint32_t ref_distance;    /* between target and reference, 1 to 1024 frames; default 1 */
    uint64_t first_frame;     /* index of the first frame that will be sent; default 0 */
    enum gpume_backend backend;
    const char
        *device;      /* Vulkan: an index of gpume_list_devices, or a part of a name; NULL = best */
    uint32_t threads; /* of the CPU engine; 0 = one a processor */
    bool want_predicted; /* fields carry the predicted frame */
    bool want_frames;    /* fields carry the target and reference frames */
    bool check;          /* search every field a second time with the CPU reference and compare */
    bool validate;       /* Vulkan validation layer on; any message makes the run fail */
    gpume_log_fn log;    /* may be NULL */
    void *log_opaque;
    bool no_elimination; /* compare every candidate in full; changes speed alone */
    /* An implementation of the search by its name in gpume_list_searches; NULL = the fastest. A
     * name belongs to one engine: GPUME_BACKEND_AUTO takes that one, be it on a software driver.
     * Changes speed alone. */
    const char *search;
    /* Folder for what makes the next gpume_open faster, such as compiled pipelines; it is made, for
     * the user alone, if it is not there. NULL: nothing is kept. Trouble with it is told at debug
     * level and is no failure. Read by gpume_open only. */
    const char *cache_dir;
    const struct gpume_prefilter *prefilter; /* copied by gpume_open; default NULL: none */
    /* Which frames are targets: target_count of them from index first_target on. The others that
     * are sent are references alone. Default: 0, all that have a reference. */
    uint64_t first_target;
    uint64_t target_count; /* 0 = all */
    /* Bytes of host and device memory together that gpume_open may plan; 0 = any. Less makes the
     * submissions of a GPU smaller, and leaves elimination out if need be. GPUME_INVALID: even so
     * more is needed, told with the number. */
    uint64_t memory_max;
    enum gpume_direction direction;                       /* default GPUME_DIRECTION_PAST */
    uint8_t reserved[64 - 4 * sizeof(const char *) - 28]; /* zero */
};

/* Fills in the defaults above; width and height become 0 and must be set. */
GPUME_API void gpume_params_default(struct gpume_params *params);

typedef struct gpume gpume;
typedef struct gpume_frame gpume_frame;

/* Checks the parameters, chooses the engine, and allocates everything the run will need.
 * On success *ctx is a context for gpume_close. GPUME_INVALID: a parameter. GPUME_DEVICE: no such
 * device, or it is too small. GPUME_UNSUPPORTED: this build, processor or device cannot do it. */
GPUME_API int gpume_open(gpume **ctx, const struct gpume_params *params);

/* Stops what is under way, releases everything, sets *ctx to NULL. NULL is fine. Release all fields
 * and frames first; no other call may be under way. Returns the context's first failure, such as a
 * message of the validation layer, or GPUME_OK; a run that was cancelled or closed early is no
 * failure. */
GPUME_API int gpume_close(gpume **ctx);

/* Wait instead of returning GPUME_AGAIN; for callers who send from one thread and receive on
 * another. */
#define GPUME_WAIT 1u

/* Takes a frame out of the context's pool, to be filled through *plane (its memory belongs to the
 * frame, and may be the device's upload memory: write each sample once). The caller owns the frame
 * until gpume_send or gpume_frame_release. GPUME_AGAIN: receive a field, or release fields or
 * frames, first. */
GPUME_API int gpume_frame_acquire(
    gpume *ctx, gpume_frame **frame, struct gpume_plane *plane, uint32_t flags);

/* Gives a frame back unsent. Sets *frame to NULL. */
GPUME_API void gpume_frame_release(gpume_frame **frame);

/* Sends a filled frame; its ownership passes to the context, *frame becomes NULL, also on failure.
 * Frames are numbered from params.first_frame in the order sent. time_us: presentation time in
 * microseconds, handed through to the field. */
GPUME_API int gpume_send(gpume *ctx, gpume_frame **frame, int64_t time_us);

/* The plain form: copies the plane, whose size and bits must be those of the context.
 * GPUME_AGAIN: receive and release a field, then send the same plane again. */
GPUME_API int gpume_send_plane(gpume *ctx, const struct gpume_plane *plane, int64_t time_us);

/* No more frames will come. */
GPUME_API int gpume_finish(gpume *ctx);

struct gpume_vector {
    int16_t dx, dy;
};

/* The exact sums of a field over all its visible pixels; bounds: gpume_open refuses pictures whose
 * squared sums could pass 2^64. */
struct gpume_sums {
    uint64_t zero;       /* blocks whose vector is (0,0) */
    uint64_t sad_before; /* sum |C - R| */
    uint64_t sad_after;  /* sum |C - predicted| */
    uint64_t sse_before; /* sum (C - R)^2 */
    uint64_t sse_after;  /* sum (C - predicted)^2 */
};

/* The result of one target frame and one reference. Read-only; valid until gpume_field_release.
 * Arrays hold blocks_x * blocks_y entries in raster order. */
struct gpume_field {
    uint64_t frame; /* index of the target frame */
    uint64_t ref;   /* index of its reference */
    int64_t time_us;
    uint32_t blocks_x, blocks_y;
    const struct gpume_vector *vectors;
    const uint32_t *costs;
    const uint32_t *ranks;
    struct gpume_sums sums;
    struct gpume_plane predicted;         /* data NULL unless params.want_predicted */
    struct gpume_plane target, reference; /* data NULL unless params.want_frames */
    uint64_t checked, matched;            /* vectors compared and found equal, with params.check */
};

/* The next field, by rising target frame, of one frame by rising reference. Without flags: waits
 * while a field is under way, GPUME_AGAIN when more frames must be sent, or fields released, first;
 * one field may always be kept while others are received. With GPUME_WAIT: waits for a field.
 * GPUME_EOF after the last one that gpume_finish allows. A failure of the run is returned here,
 * after the fields that were whole before it. */
GPUME_API int gpume_receive(gpume *ctx, const struct gpume_field **field, uint32_t flags);

/* Gives the field's memory back to the context. Sets *field to NULL. NULL is fine. */
GPUME_API void gpume_field_release(const struct gpume_field **field);

/* Ends the run early: every waiting and later call returns GPUME_CANCELLED. */
GPUME_API void gpume_cancel(gpume *ctx);

/* 10 log10(peak^2 * pixels / sse) with peak = 2^bits - 1; infinity where sse is 0. */
GPUME_API double gpume_psnr(uint32_t bits, uint64_t pixels, uint64_t sse);

/* What the context runs on. Strings live as long as the context. */
struct gpume_info {
    const char *backend; /* "vulkan" or "cpu" */
    const char *device;  /* "NVIDIA H200", "8 threads"... */
    const char *driver;  /* "" for the CPU engine */
    uint32_t blocks_x, blocks_y;
    uint64_t candidates;   /* vectors tried for a block that lies far from any edge */
    uint64_t host_bytes;   /* planned host memory, allocated by gpume_open; without the check's */
    uint64_t device_bytes; /* planned device memory, likewise */
    const char *search;    /* the implementation in use, as gpume_list_searches names it */
    bool eliminates;       /* candidates that cannot win may be left out */
    /* Where a GPU failed in mid-run (GPUME_BACKEND_AUTO): what the run went on with, and from the
     * field of which target frame on. NULL: nothing of the kind. */
    const char *standby;        /* "cpu" */
    const char *standby_device; /* "8 threads"... */
    uint64_t standby_frame;
    uint8_t reserved[64 - 6 * sizeof(const char *)];
};
GPUME_API void gpume_get_info(const gpume *ctx, struct gpume_info *info);

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
    uint64_t fields;
    /* Wall time during which the engine's thread was not waiting for frames or for the receiver.
     * Waiting for the device and params.check are included. */
    uint64_t busy_ns;
    /* Pruning. Blocks that are searched without it count in full in all three. */
    uint64_t candidates;  /* allowed by the window and the edge mode, in all blocks so far */
    uint64_t past_blocks; /* not excluded by the sums of the largest boxes, up to a whole block */
    uint64_t past_parts;  /* nor by those of its parts: compared sample by sample */
    uint32_t stage_count;
    struct gpume_stage stages[GPUME_STAGES_MAX]; /* in the order of the work */
};
GPUME_API void gpume_get_stats(gpume *ctx, struct gpume_stats *stats);

/* The time of the stage of that name; 0 if the engine has none. */
GPUME_API uint64_t gpume_stats_ns(const struct gpume_stats *stats, const char *stage);

enum gpume_device_type {
    GPUME_DEVICE_OTHER,
    GPUME_DEVICE_INTEGRATED,
    GPUME_DEVICE_DISCRETE,
    GPUME_DEVICE_VIRTUAL,
    GPUME_DEVICE_SOFTWARE,
};

struct gpume_device {
    uint32_t index; /* for params.device */
    enum gpume_device_type type;
    char name[256];
    char driver[256];
    uint64_t memory_bytes; /* of its largest local heap */
    char unusable[128];    /* why gpume cannot use it; "" if it can */
    bool automatic;        /* GPUME_BACKEND_AUTO takes this one */
};

/* Fills up to capacity entries and sets *count to the number of Vulkan devices present. A machine
 * without Vulkan has none, which is no error. The drivers stay loaded: called from another thread
 * while the caller does something else, it shortens the first gpume_open. */
GPUME_API int gpume_list_devices(struct gpume_device *devices, uint32_t capacity, uint32_t *count);

/* One implementation of the search. All give the same bits. */
struct gpume_search_info {
    enum gpume_backend backend; /* whose: GPUME_BACKEND_CPU or GPUME_BACKEND_VULKAN */
    bool available;             /* on this processor, or on the device asked about */
    bool automatic;             /* taken by its engine where params.search is NULL */
    char name[32];              /* for params.search; no two have the same */
    char summary[96];
};

/* Fills up to capacity entries and sets *count to the number of implementations in this build:
 * those of the CPU engine, then those of the Vulkan engine, each from the plainest to the fastest.
 * device: as params.device; NULL = the best, a software driver if there is no hardware. Without any
 * device none of Vulkan's is available. GPUME_DEVICE: no such device. */
GPUME_API int gpume_list_searches(
    const char *device, struct gpume_search_info *searches, uint32_t capacity, uint32_t *count);

/* How many differences of 8-bit samples a second a search could make if its best instruction had
 * nothing to wait for: no loads, no choice, no sums but its own. A measure for benchmarks; takes
 * some tenths of a second. device as above; threads as params.threads. GPUME_INVALID: no such
 * search. GPUME_UNSUPPORTED: not known, or the search is not available. */
GPUME_API int gpume_measure_ceiling(
    const char *device, const char *search, uint32_t threads, double *differences_per_second);

#ifdef __cplusplus
}
#endif

#endif
