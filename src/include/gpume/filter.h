/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume's temporal filter: every frame averaged with its neighbours along the motion between them,
 * as far as they fit, by the noise that it finds; then, if that is wanted, freed of noise that is
 * left within the picture. The manual page gpume-filter(1) defines every sample, and gives advice.
 *
 *     gpume_filter_params_default(&params);  params.width = ...;
 *     gpume_filter_open(&filter, &params);
 *     gpume_filter_send(filter, &frame);        for every frame, in order
 *     gpume_filter_finish(filter);              no more frames
 *     gpume_filter_receive(filter, &result);    until GPUME_AGAIN or GPUME_EOF
 *     gpume_filter_close(&filter);
 *
 * There is one result for each frame, in the same order. A frame all of whose samples are those of
 * the frame before it is the same picture, and so is its result.
 *
 * The search and the means run on a GPU or on the CPU. Every backend, device and thread count gives
 * the same bytes.
 *
 * Threads: as in gpume.h: [free] needs no filter; [any] may be called by any thread at any time
 * while the filter is open; [alone] while no other call but one marked [any] is under way on the
 * same filter.
 *
 * Errors: as in gpume.h: GPUME_OK or a negative gpume_status, logged once through params.log. After
 * a failure of its work a filter can only be closed. If a GPU fails, the CPU goes on where
 * GPUME_BACKEND_AUTO lets it (params.h), with a warning and the same results.
 *
 * Structs that may grow begin with `size`, as in gpume.h. The inline functions set it; for
 * gpume_filter_frame and gpume_filter_result write {.size = sizeof(struct ...)}.
 */
#ifndef GPUME_FILTER_H
#define GPUME_FILTER_H

#include <gpume/gpume.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUME_FILTER_PLANES 3u
#define GPUME_FILTER_RADIUS_MAX 4u
#define GPUME_FILTER_WINDOW_MAX 128u
#define GPUME_FILTER_STRENGTH_MAX 2.0
#define GPUME_FILTER_SPATIAL_MAX 2.0
#define GPUME_FILTER_SIGMA_MAX 50.0 /* steps of 8-bit samples */
#define GPUME_FILTER_MEASURE (-1.0) /* as params.sigma: in every frame, for each plane */

struct gpume_filter_params {
    size_t size;            /* sizeof(struct gpume_filter_params), by gpume_filter_params_default */
    uint32_t width, height; /* of luma, in pixels, 1 or more; required */
    uint32_t bits;          /* of a sample of every plane, 8 to 16; default 8 */
    /* 3, the default: luma and two planes of chroma; 1: luma alone. */
    uint32_t plane_count;
    /* Chroma has (width + chroma_x) >> chroma_x samples in a row, and rows likewise: 0 or 1.
     * Default 1 and 1, which is 4:2:0. */
    uint32_t chroma_x, chroma_y;
    /* How much of the other frames is taken, 0 to 2, rounded to 1/32; default 1. With 0 frames are
     * not changed, except by despot and spatial. */
    double strength;
    /* Standard deviation of the noise in steps of 8-bit samples, 0 to 50, rounded to 1/100; or
     * GPUME_FILTER_MEASURE, the default. With 0 no noise is removed, also not by spatial; despot
     * still works. */
    double sigma;
    uint32_t radius;             /* frames before and after each that are used, 1 to 4; default 4 */
    uint32_t window_x, window_y; /* largest displacement in pixels, 1 to 128; default 16 */
    enum gpume_metric metric;    /* of the search; default GPUME_METRIC_SAD */
    /* As in gpume_params. With several devices the search is shared by all of them, and the means
     * are made by the first. */
    enum gpume_backend backend;
    const char *device, *devices;
    uint32_t threads;
    /* Of all: searches, means, and what despot and fields need; 0: any. It is compared before the
     * filter allocates, and again with each search. */
    uint64_t memory_max;
    const char *cache_dir;
    bool validate;
    gpume_log_fn log; /* may be NULL */
    void *log_opaque;
    /* Before all else, dirt is removed: spots that both neighbours of a frame contradict, and agree
     * about, are replaced from them. The processor decides and replaces. Default false. */
    bool despot;
    /* Frames are interlaced: of their even lines and their odd lines, each is filtered with those
     * of other frames, and window_y counts lines of a field. Default false. */
    bool fields;
    /* How much of the noise that is then left is removed within each picture, 0 to 2, rounded to
     * 1/32; default 0. With strength 0 pictures are filtered each on its own, if their noise is
     * given: it is measured between pictures. */
    double spatial;
};

/* [free] Fills in the defaults of the first params->size bytes. GPUME_INVALID: size is 0. */
GPUME_API int gpume_filter_params_fill(struct gpume_filter_params *params);

/* [free] Fills in the defaults; width and height become 0 and must be set. */
static inline void gpume_filter_params_default(struct gpume_filter_params *params)
{
    params->size = sizeof(*params);
    (void)gpume_filter_params_fill(params);
}

typedef struct gpume_filter gpume_filter;

/* [free] On success *filter is for gpume_filter_close, and all memory that it needs is allocated.
 * GPUME_INVALID: a parameter is out of range. GPUME_DEVICE: there is no such device, or it is too
 * small. Strings of the parameters need not outlive the call. */
GPUME_API int gpume_filter_open(gpume_filter **filter, const struct gpume_filter_params *params);

/* [alone] Stops all work, releases everything and sets *filter to NULL. NULL is fine. Returns
 * GPUME_OK, or the failure that the validation layer reported. */
GPUME_API int gpume_filter_close(gpume_filter **filter);

/* A frame to be filtered. */
struct gpume_filter_frame {
    size_t size;                                    /* sizeof(struct gpume_filter_frame) */
    struct gpume_plane planes[GPUME_FILTER_PLANES]; /* params.plane_count of them */
    int64_t time_us;                                /* any value; copied to the result */
    /* Noise counts as at least this much, but not as more than twice what is found or given, in
     * steps of 8-bit samples, 0 to 50, rounded to 1/100. Of frames that are the same picture the
     * largest value counts. */
    double least_sigma;
    /* The standard deviation of the noise of this picture, in place of params.sigma, 0 to 50,
     * rounded to 1/100; 0: as params say. In place of what is measured (GPUME_FILTER_MEASURE) it
     * counts up to 8 times that, so a picture without noise stays as it is. Of frames that are the
     * same picture the first one's counts. */
    double sigma;
};

/* [alone] Sends a copy of the frame. GPUME_AGAIN: receive a result first, then send the same frame
 * again. GPUME_INVALID: a plane has another size or depth than params say, or a value is out of
 * range, or gpume_filter_finish was called. */
GPUME_API int gpume_filter_send(gpume_filter *filter, const struct gpume_filter_frame *frame);

/* [alone] No more frames will come. */
GPUME_API int gpume_filter_finish(gpume_filter *filter);

/* A filtered frame. */
struct gpume_filter_result {
    size_t size;    /* sizeof(struct gpume_filter_result) */
    uint64_t frame; /* its index, in the order sent, from 0 on */
    int64_t time_us;
    /* In the sizes and the depth of the frame sent. Read-only, and valid until the next call of
     * gpume_filter_receive or gpume_filter_close. */
    struct gpume_plane planes[GPUME_FILTER_PLANES];
    /* The noise of each plane, in steps of 8-bit samples, by which it was filtered. */
    double sigma[GPUME_FILTER_PLANES];
    uint32_t references; /* frames that were used */
    bool repeats;        /* the same picture as the frame before it */
    uint64_t replaced;   /* samples of luma in spots, with params.despot */
};

/* [alone] The next result. Waits while one is under way and the filter has room for no more frames,
 * or gpume_filter_finish was called. GPUME_AGAIN: send more frames first. GPUME_EOF: after the last
 * one. */
GPUME_API int gpume_filter_receive(gpume_filter *filter, struct gpume_filter_result *result);

/* [any] Ends the run early: waiting and later calls return GPUME_CANCELLED. NULL is fine. */
GPUME_API void gpume_filter_cancel(gpume_filter *filter);

/* What a filter runs on. Strings live as long as the filter. */
struct gpume_filter_info {
    size_t size;                           /* sizeof(struct gpume_filter_info) */
    const char *backend, *device, *driver; /* of the search, as in gpume_info; "" if there is none:
                                              frames are not changed */
    bool means_on_device;                  /* the means are made by a GPU, too */
    uint64_t fields;                       /* pairs of frames that were searched so far */
};

/* [alone] Fills in the first info->size bytes. GPUME_INVALID: size is 0. */
GPUME_API int gpume_filter_info_fill(gpume_filter *filter, struct gpume_filter_info *info);

static inline void gpume_filter_get_info(gpume_filter *filter, struct gpume_filter_info *info)
{
    info->size = sizeof(*info);
    (void)gpume_filter_info_fill(filter, info);
}

#ifdef __cplusplus
}
#endif

#endif
