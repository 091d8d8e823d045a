/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The temporal filter of gpume-filter(1), which defines every sample: pictures and their motion
 * fields in, filtered pictures out. The same table of functions is there for the processor and for
 * a device that runs kernels; both give the same bytes. One thread calls:
 *
 *     put      every picture, in order: up to GPUME_TEMPORAL_AHEAD more than fields need
 *     add      every field of the next picture to be started
 *     start    that picture; then the fields of the one after it may be added
 *     take     the oldest picture that was started and not taken
 *
 * All memory is allocated by `prepare`, after `open` has found what it runs on.
 */
#ifndef GPUME_FILTER_TEMPORAL_H
#define GPUME_FILTER_TEMPORAL_H

#include "base/log.h"
#include "gpume/filter.h"
#include "gpume/gpume.h"

#define GPUME_TEMPORAL_RADIUS_MAX 4u
#define GPUME_TEMPORAL_PLANES 3u
#define GPUME_TEMPORAL_SIGMA_MAX 50u  /* steps of 8 bits */
#define GPUME_TEMPORAL_AHEAD 8u       /* pictures that there is room for beyond those in use */
#define GPUME_TEMPORAL_STARTED_MAX 3u /* pictures that are started and not taken */
#define GPUME_TEMPORAL_BLOCK 16u
#define GPUME_TEMPORAL_UNITS 4 /* of vectors in a pixel */

struct gpume_temporal_params {
    uint32_t width, height, bits; /* of luma; all planes have its depth */
    bool chroma;                  /* two more planes, smaller by these powers of two: 0 or 1 */
    uint32_t shift_x, shift_y;
    uint32_t radius;
    uint32_t window_x, window_y; /* pixels */
    bool spatial;                /* noise that is left is removed within each picture */
    uint32_t threads;            /* 0: one per processor */
    enum gpume_backend backend;  /* of the device, as are those below */
    const char *device, *cache_dir;
    bool validate;
};

/* How strongly a picture is filtered. */
struct gpume_temporal_choice {
    uint32_t strength; /* in 1/32, up to 64 */
    bool measure;      /* the noise; else it is sigma */
    uint32_t sigma;    /* in 1/100 of a step of 8 bits; with `measure`: see gpume_noise_or_given */
    uint32_t spatial;  /* of what is left, in 1/32, up to 64; above 0 only with params.spatial */
    /* The same as sigma: noise counts as this much, up to twice as much, if it is less. */
    uint32_t least;
};

/* A filtered picture. */
struct gpume_temporal_picture {
    const struct gpume_plane *planes;         /* valid until the next start or take */
    uint64_t variance[GPUME_TEMPORAL_PLANES]; /* V */
    uint32_t references;                      /* that were used */
};

struct gpume_temporal_ops {
    bool predicts; /* luma as fast as the search does: params.want_predicted is of no use */
    /* Pictures that may be started and not taken, so that it is never idle; all tables permit up to
     * GPUME_TEMPORAL_STARTED_MAX. */
    uint32_t ahead;
    /* GPUME_UNSUPPORTED, not logged: there is no such device, or it does not suit; use another
     * table. */
    int (*open)(
        void **state, const struct gpume_temporal_params *params, const struct gpume_log *log);
    int (*prepare)(void *state, const struct gpume_log *log);
    /* Before all others, of one that takes over: `put` counts pictures from `first` on, the others
     * from `next` on. begins: of the picture before `next`, and of those before that: whether they
     * begin a scene. NULL: it cannot. */
    void (*begin)(void *state, uint64_t first, uint64_t next, const bool *begins);
    /* Copies the planes, which have the sizes and bits of the parameters. */
    void (*put)(void *state, const struct gpume_plane *planes);
    /* Whether all samples are those of the picture that was put last. */
    bool (*repeats)(const void *state, const struct gpume_plane *planes);
    /* Copies what it needs of a field. */
    void (*add)(void *state, const struct gpume_field *field);
    int (*start)(void *state, const struct gpume_temporal_choice *choice);
    int (*take)(void *state, struct gpume_temporal_picture *picture);
    /* After a failure: gives another one all that it needs from the next picture to be taken on,
     * and starts there what was started. NULL: it does not fail. */
    int (*hand_over)(void *state, const struct gpume_temporal_ops *ops, void *heir);
    /* GPUME_OK, or the failure that closing brought to light. */
    int (*close)(void *state);
};

extern const struct gpume_temporal_ops gpume_temporal_host, gpume_temporal_device;

/* What the processor's allocates; a device needs about as much. */
uint64_t gpume_temporal_host_bytes(const struct gpume_temporal_params *params);

/* Of a plane, in samples. */
static inline uint32_t gpume_temporal_width(
    const struct gpume_temporal_params *params, uint32_t plane)
{
    const uint32_t shift = plane > 0 ? params->shift_x : 0;
    return (params->width + (1u << shift) - 1) >> shift;
}

static inline uint32_t gpume_temporal_height(
    const struct gpume_temporal_params *params, uint32_t plane)
{
    const uint32_t shift = plane > 0 ? params->shift_y : 0;
    return (params->height + (1u << shift) - 1) >> shift;
}

static inline const uint8_t *gpume_temporal_row(const struct gpume_plane *plane, uint32_t y)
{
    return (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
}

/* Among those of a picture by distance, the past before the future. */
static inline uint32_t gpume_temporal_index(const struct gpume_field *field)
{
    const bool future = field->ref > field->frame;
    const uint64_t distance = future ? field->ref - field->frame : field->frame - field->ref;
    return (uint32_t)(2 * (distance - 1) + future);
}

/* --- spots: pictures in, clean pictures out, one later, as the same manual page defines. The
 * processor does that, along the motion that a search of their own finds. One thread calls. */

struct gpume_spots;

/* Of the blocks of its search, which a spot does not lead astray. */
#define GPUME_SPOTS_BLOCK 32u

/* params: that were checked. search: in the pictures next to each, with predicted frames; no other
 * one uses it until it is closed. GPUME_NOMEM, logged. */
int gpume_spots_open(struct gpume_spots **spots, const struct gpume_filter_params *params,
    gpume *search, const struct gpume_log *log);

/* What it allocates, without the search. */
uint64_t gpume_spots_bytes(const struct gpume_filter_params *params);

/* NULL is fine. Sets *spots to NULL. */
void gpume_spots_close(struct gpume_spots **spots);

/* Whether all samples are those of the picture that was put last. */
bool gpume_spots_repeats(const struct gpume_spots *spots, const struct gpume_plane *planes);

/* Copies the next picture, and cleans the one before it. Not while one is ready. */
int gpume_spots_put(struct gpume_spots *spots, const struct gpume_plane *planes, int64_t time_us);

/* No more will come: the last one is ready. Not while another is. */
void gpume_spots_finish(struct gpume_spots *spots);

/* A clean picture. */
struct gpume_spots_picture {
    const struct gpume_plane *planes;
    int64_t time_us;
    uint64_t replaced; /* samples of luma */
};

/* The one that is ready, until gpume_spots_pass; NULL: none is. */
const struct gpume_spots_picture *gpume_spots_ready(const struct gpume_spots *spots);
void gpume_spots_pass(struct gpume_spots *spots);

/* --- noise that is left within a picture: means in, row by row; strips of rows out, each on any
 * thread */

struct gpume_loops;

#define GPUME_SPATIAL_LIMITS 577u /* values of m, 64 to 576 */
#define GPUME_SPATIAL_STRIP 64u   /* rows that are filtered at once */

/* The means of a plane, and their weights. */
struct gpume_spatial_plane {
    uint32_t width, height, bits;
    uint32_t pairs;    /* of columns, rounded up */
    int16_t *means;    /* x; in each row those of even columns, then those of odd ones */
    uint16_t *weights; /* W; the same */
};

/* What a thread needs. */
struct gpume_spatial_scratch {
    int32_t *memory;
};

/* False: out of memory; close it in any case. */
bool gpume_spatial_open_plane(
    struct gpume_spatial_plane *plane, uint32_t width, uint32_t height, uint32_t bits);
void gpume_spatial_close_plane(struct gpume_spatial_plane *plane);
uint64_t gpume_spatial_plane_bytes(uint32_t width, uint32_t height);

/* width: of the widest plane. */
bool gpume_spatial_open_scratch(struct gpume_spatial_scratch *scratch, uint32_t width);
void gpume_spatial_close_scratch(struct gpume_spatial_scratch *scratch);
uint64_t gpume_spatial_scratch_bytes(uint32_t width);

/* T by m. amount: Z; strength: S'. */
void gpume_spatial_find_limits(uint64_t variance, uint32_t amount, uint32_t strength, uint32_t bits,
    int32_t limits[GPUME_SPATIAL_LIMITS]);

/* Takes the sums and weights of a row of the mean. */
void gpume_spatial_put_row(const struct gpume_spatial_plane *plane, uint32_t y,
    const uint32_t *sums, const uint32_t *weights);

/* Writes GPUME_SPATIAL_STRIP rows of samples from `first` on, fewer at the end. out: the first row
 * of the plane. */
void gpume_spatial_filter_strip(const struct gpume_spatial_plane *plane, const int32_t *limits,
    const struct gpume_loops *loops, const struct gpume_spatial_scratch *scratch, uint32_t first,
    uint16_t *out);

/* --- the filter of progressive pictures, which are whole frames, or the fields of one parity:
 * searches, the removal of spots and the temporal filter, put together. Functions are those of
 * gpume/filter.h, for arguments that were checked; what fails once is not called again. */

struct gpume_progressive;

/* log: outlives it. Failures are logged. */
int gpume_progressive_open(struct gpume_progressive **filter,
    const struct gpume_filter_params *params, const struct gpume_log *log);
int gpume_progressive_close(struct gpume_progressive **filter);

/* The least memory_max that it opens with; 0: it cannot be opened for another reason. */
uint64_t gpume_progressive_least(const struct gpume_filter_params *params);

/* GPUME_INVALID, logged: that is more than memory_max. */
int gpume_filter_check_memory(
    const struct gpume_filter_params *params, uint64_t bytes, const struct gpume_log *log);

/* Whether a frame is the same picture as the one that was sent last. */
bool gpume_progressive_repeats(
    const struct gpume_progressive *filter, const struct gpume_plane *planes);

/* repeats: what the function above says of the frame. */
int gpume_progressive_send(
    struct gpume_progressive *filter, const struct gpume_filter_frame *frame, bool repeats);

/* As if it had refused a frame for want of room: it gives what it has begun. */
void gpume_progressive_refuse(struct gpume_progressive *filter);

int gpume_progressive_finish(struct gpume_progressive *filter);
int gpume_progressive_receive(struct gpume_progressive *filter, struct gpume_filter_result *result);
void gpume_progressive_cancel(struct gpume_progressive *filter);
void gpume_progressive_info(const struct gpume_progressive *filter, struct gpume_filter_info *info);

#endif
