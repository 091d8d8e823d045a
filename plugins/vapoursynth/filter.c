/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume.Filter. A filter of the library takes frames in order, so this keeps one that has had the
 * frames of the clip up to `sent`, and the frames that it has given last. A frame that lies before
 * those or far ahead of them needs another filter. That begins where the picture begins that lies
 * `radius` pictures before it: then the frame is the same as if the clip had been read from its
 * first frame.
 *
 * Frames are made one at a time (fmFrameState). For each, frames of the clip are requested in
 * rounds, until it is there.
 */
#include "filter.h"

#include "function.h"

#include <gpume/filter.h>
#include <stdlib.h>
#include <string.h>

#define ROUND 8       /* frames that are requested at a time */
#define AHEAD_MAX 64  /* frames to the next one, beyond which another filter is opened */
#define KEPT 32       /* frames that were given last; VapourSynth's threads ask for some of them */
#define SENT_MAX 8192 /* frames that a filter has had and not given */

struct filter {
    struct gpume_function function;
    struct gpume_filter_params params;
    gpume_filter *filter; /* NULL: none is open */
    int sent, given;      /* it has had the frames up to the one, and given those up to the other */
    bool finished;        /* it has had the last one */
    VSMap *properties[SENT_MAX];
    const VSFrame *kept[KEPT]; /* of frame i at i % KEPT */
    int names[KEPT];
    uint16_t *limited; /* the samples of a frame, where they could exceed their depth */
    /* Of the frame that is being made: frames that were requested and are there. */
    int first, end;
};

/* --- frames of the clip */

static void request(struct filter *filter, int first, int end, VSFrameContext *context)
{
    for (int n = first; n < end; n++) {
        filter->function.vsapi->requestFrameFilter(n, filter->function.node, context);
    }
    filter->first = first < filter->first ? first : filter->first;
    filter->end = end > filter->end ? end : filter->end;
}

static bool is_same(const struct filter *filter, int a, int b, VSFrameContext *context)
{
    const VSAPI *vsapi = filter->function.vsapi;
    const VSFrame *one = vsapi->getFrameFilter(a, filter->function.node, context);
    const VSFrame *other = vsapi->getFrameFilter(b, filter->function.node, context);
    bool same = true;
    for (int p = 0; p < (int)filter->params.plane_count && same; p++) {
        const uint8_t *x = vsapi->getReadPtr(one, p), *y = vsapi->getReadPtr(other, p);
        const size_t bytes = (size_t)vsapi->getFrameWidth(one, p) *
                             (size_t)filter->function.vi->format.bytesPerSample;
        for (int row = 0; row < vsapi->getFrameHeight(one, p) && same; row++) {
            same = memcmp(x + row * vsapi->getStride(one, p), y + row * vsapi->getStride(other, p),
                       bytes) == 0;
        }
    }
    vsapi->freeFrame(one);
    vsapi->freeFrame(other);
    return same;
}

/* Where a filter has to begin for frame n, or -1: more frames before it have to be requested. To
 * find spots in the first one that counts, another one before it is needed. */
static int beginning_for(const struct filter *filter, int n, VSFrameContext *context)
{
    uint32_t changes = 0;
    for (int i = n; i > filter->first; i--) {
        changes += !is_same(filter, i - 1, i, context);
        if (changes > filter->params.radius + filter->params.despot) {
            return i;
        }
    }
    return filter->first > 0 ? -1 : 0;
}

/* A plane of the frame; limited to the depth, at *room, where samples could exceed it. */
static struct gpume_plane plane_of(
    const struct filter *filter, const VSFrame *frame, int index, uint16_t **room)
{
    const VSAPI *vsapi = filter->function.vsapi;
    struct gpume_plane plane = {.data = (void *)vsapi->getReadPtr(frame, index),
        .stride = vsapi->getStride(frame, index),
        .width = (uint32_t)vsapi->getFrameWidth(frame, index),
        .height = (uint32_t)vsapi->getFrameHeight(frame, index),
        .bits = filter->params.bits};
    if (!filter->limited) {
        return plane;
    }
    const uint16_t peak = (uint16_t)((1u << plane.bits) - 1);
    uint16_t *to = *room;
    for (uint32_t y = 0; y < plane.height; y++) {
        const uint16_t *from =
            (const uint16_t *)((const uint8_t *)plane.data + (ptrdiff_t)y * plane.stride);
        for (uint32_t x = 0; x < plane.width; x++) {
            *(*room)++ = from[x] < peak ? from[x] : peak;
        }
    }
    plane.data = to;
    plane.stride = (ptrdiff_t)(plane.width * sizeof *to);
    return plane;
}

static int send_frame(struct filter *filter, VSFrameContext *context)
{
    const VSAPI *vsapi = filter->function.vsapi;
    const VSFrame *frame = vsapi->getFrameFilter(filter->sent, filter->function.node, context);
    struct gpume_filter_frame sent = {.size = sizeof sent};
    uint16_t *room = filter->limited;
    for (uint32_t p = 0; p < filter->params.plane_count; p++) {
        sent.planes[p] = plane_of(filter, frame, (int)p, &room);
    }
    const int status = filter->sent - filter->given < SENT_MAX
                           ? gpume_filter_send(filter->filter, &sent)
                           : GPUME_NOMEM;
    if (status == GPUME_OK) {
        VSMap *properties = vsapi->createMap();
        vsapi->copyMap(vsapi->getFramePropertiesRO(frame), properties);
        filter->properties[filter->sent++ % SENT_MAX] = properties;
    }
    vsapi->freeFrame(frame);
    return status;
}

/* --- frames of this filter */

static void drop_kept(struct filter *filter)
{
    for (int i = 0; i < KEPT; i++) {
        filter->function.vsapi->freeFrame(filter->kept[i]);
        filter->kept[i] = NULL;
    }
}

static void close_filter(struct filter *filter)
{
    for (; filter->given < filter->sent; filter->given++) {
        filter->function.vsapi->freeMap(filter->properties[filter->given % SENT_MAX]);
    }
    gpume_filter_close(&filter->filter);
    drop_kept(filter);
}

static int open_filter(struct filter *filter, int begin)
{
    char folder[4096];
    close_filter(filter);
    filter->sent = filter->given = begin;
    filter->finished = false;
    filter->params.cache_dir = gpume_function_cache(folder, sizeof folder);
    const int status = gpume_filter_open(&filter->filter, &filter->params);
    filter->params.cache_dir = NULL;
    return status;
}

/* Receives a frame and keeps it. */
static int receive_frame(struct filter *filter)
{
    const VSAPI *vsapi = filter->function.vsapi;
    struct gpume_filter_result result = {.size = sizeof result};
    const int status = gpume_filter_receive(filter->filter, &result);
    if (status != GPUME_OK) {
        return status;
    }
    const VSVideoInfo *vi = filter->function.vi;
    VSFrame *frame =
        vsapi->newVideoFrame(&vi->format, vi->width, vi->height, NULL, filter->function.core);
    VSMap *properties = filter->properties[filter->given % SENT_MAX];
    vsapi->copyMap(properties, vsapi->getFramePropertiesRW(frame));
    vsapi->freeMap(properties);
    for (uint32_t p = 0; p < filter->params.plane_count; p++) {
        const struct gpume_plane *plane = &result.planes[p];
        uint8_t *to = vsapi->getWritePtr(frame, (int)p);
        for (uint32_t y = 0; y < plane->height; y++) {
            memcpy(to + (ptrdiff_t)y * vsapi->getStride(frame, (int)p),
                (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride,
                plane->width * (size_t)vi->format.bytesPerSample);
        }
    }
    const int place = filter->given % KEPT;
    vsapi->freeFrame(filter->kept[place]);
    filter->kept[place] = frame;
    filter->names[place] = filter->given++;
    return GPUME_OK;
}

static const VSFrame *kept_frame(const struct filter *filter, int n)
{
    const VSFrame *frame = filter->names[n % KEPT] == n ? filter->kept[n % KEPT] : NULL;
    return frame ? filter->function.vsapi->addFrameRef(frame) : NULL;
}

/* Goes on until frame n is kept. GPUME_AGAIN: frames have been requested, which come first. */
static int make_frame(struct filter *filter, int n, VSFrameContext *context)
{
    const int count = filter->function.vi->numFrames;
    int status = GPUME_OK;
    if (!filter->filter || n < filter->given || n > filter->given + AHEAD_MAX) {
        const int begin = beginning_for(filter, n, context);
        if (begin < 0) {
            const int first = filter->first < ROUND ? 0 : filter->first - ROUND;
            request(filter, first, filter->first, context);
            return GPUME_AGAIN;
        }
        status = open_filter(filter, begin);
        filter->first = begin;
    }
    while (status == GPUME_OK && filter->given <= n) {
        if (!filter->finished && filter->sent == count) {
            status = gpume_filter_finish(filter->filter);
            filter->finished = status == GPUME_OK;
        } else if (!filter->finished && filter->sent >= filter->end) {
            const int end = filter->sent + ROUND < count ? filter->sent + ROUND : count;
            request(filter, filter->sent, end, context);
            return GPUME_AGAIN;
        } else {
            status = filter->finished ? GPUME_AGAIN : send_frame(filter, context);
            status = status == GPUME_AGAIN ? receive_frame(filter) : status;
            status = status == GPUME_AGAIN ? GPUME_OK : status; /* now it can be sent */
        }
    }
    return status;
}

static const VSFrame *VS_CC get_frame(int n, int reason, void *instance, void **frame_data,
    VSFrameContext *context, VSCore *core, const VSAPI *vsapi)
{
    struct filter *filter = instance;
    (void)frame_data;
    (void)core;
    if (reason == arInitial) {
        filter->first = filter->end = n + 1;
        if (filter->filter && n >= filter->given && n <= filter->given + AHEAD_MAX) {
            filter->first = filter->end = filter->sent; /* it goes on */
        }
    }
    const VSFrame *frame = reason == arError ? NULL : kept_frame(filter, n);
    if (frame || reason == arError) {
        return frame;
    }
    const int status = make_frame(filter, n, context);
    gpume_function_pass_warning_on(&filter->function);
    if (status != GPUME_OK && status != GPUME_AGAIN) {
        char text[sizeof filter->function.logged];
        gpume_function_describe(&filter->function, status, text, sizeof text);
        vsapi->setFilterError(text, context);
        close_filter(filter);
    }
    return status == GPUME_OK ? kept_frame(filter, n) : NULL;
}

/* --- creating, destroying */

static void VS_CC destroy(void *instance, VSCore *core, const VSAPI *vsapi)
{
    struct filter *filter = instance;
    (void)core;
    (void)vsapi;
    close_filter(filter);
    free(filter->limited);
    free((char *)filter->params.devices);
    gpume_function_destroy(&filter->function);
}

static double real(struct filter *filter, const char *key, double most, double other)
{
    int missing = 0;
    const double value = filter->function.vsapi->mapGetFloat(filter->function.in, key, 0, &missing);
    if (!missing && !(value >= 0 && value <= most)) {
        gpume_function_fail(
            &filter->function, "%s is %g; it must be from 0 to %g", key, value, most);
    }
    return missing ? other : value;
}

static void read_arguments(struct filter *filter)
{
    struct gpume_function *function = &filter->function;
    struct gpume_filter_params *params = &filter->params;
    const VSVideoFormat *format = &function->vi->format;
    const char *devices = function->params.devices;
    uint32_t window[2];
    gpume_filter_params_default(params);
    gpume_function_pair(function, "window", 1, GPUME_FILTER_WINDOW_MAX, 16, window);
    params->width = (uint32_t)function->vi->width;
    params->height = (uint32_t)function->vi->height;
    params->bits = function->params.bits;
    params->plane_count = (uint32_t)format->numPlanes;
    params->chroma_x = (uint32_t)format->subSamplingW;
    params->chroma_y = (uint32_t)format->subSamplingH;
    params->strength = real(filter, "strength", GPUME_FILTER_STRENGTH_MAX, 1);
    params->spatial = real(filter, "spatial", GPUME_FILTER_SPATIAL_MAX, 0);
    params->sigma = real(filter, "noise", GPUME_FILTER_SIGMA_MAX, GPUME_FILTER_MEASURE);
    params->radius =
        (uint32_t)gpume_function_int(function, "radius", 1, GPUME_FILTER_RADIUS_MAX, 4);
    params->window_x = window[0];
    params->window_y = window[1];
    params->metric = (enum gpume_metric)gpume_function_choice(
        function, "metric", GPUME_FUNCTION_PARAM(metric)->choices);
    params->despot = gpume_function_int(function, "despot", 0, 1, 0) == 1;
    params->fields = gpume_function_int(function, "fields", 0, 1, 0) == 1;
    params->devices = devices ? strdup(devices) : NULL;
    params->threads = function->params.threads;
    params->log = function->params.log;
    params->log_opaque = function;
    if (params->sigma == GPUME_FILTER_MEASURE && params->strength * 64 < 1 &&
        params->spatial * 64 >= 1) { /* strength is rounded to 0, spatial is not */
        gpume_function_fail(
            function, "spatial: with strength 0 the noise is not measured; give noise a number");
    }
    if (format->numPlanes > 1 && (format->subSamplingW > 1 || format->subSamplingH > 1)) {
        gpume_function_fail(function, "the clip's chroma has a quarter of luma's samples in a row "
                                      "or column; convert it to 4:2:0, 4:2:2 or 4:4:4");
    }
}

/* Opens the filter for the first frame, which finds what is wrong with the arguments. */
static void open_first(struct filter *filter)
{
    struct gpume_function *function = &filter->function;
    const uint32_t bits = filter->params.bits;
    const size_t samples =
        (size_t)filter->params.width * filter->params.height * filter->params.plane_count;
    filter->limited = bits > 8 && bits < 16 ? malloc(samples * sizeof *filter->limited) : NULL;
    int status = bits > 8 && bits < 16 && !filter->limited ? GPUME_NOMEM : GPUME_OK;
    status = status ? status : open_filter(filter, 0);
    if (status != GPUME_OK) {
        gpume_function_describe(function, status, function->error, sizeof function->error);
    }
}

void VS_CC gpume_filter_create(
    const VSMap *in, VSMap *out, void *user, VSCore *core, const VSAPI *vsapi)
{
    (void)user;
    struct filter *filter = gpume_function_begin(
        "Filter", sizeof *filter, NULL, "clip", "backward", in, out, core, vsapi);
    if (!filter) {
        return;
    }
    struct gpume_function *function = &filter->function;
    read_arguments(filter);
    if (!function->error[0]) {
        open_first(filter);
    }
    function->in = NULL;
    function->params.devices = NULL; /* was the caller's */
    if (function->error[0]) {
        vsapi->mapSetError(out, function->error);
        destroy(filter, core, vsapi);
        return;
    }
    const VSFilterDependency dependency = {function->node, rpGeneral};
    vsapi->createVideoFilter(out, function->name, function->vi, get_frame, destroy, fmFrameState,
        &dependency, 1, filter, core);
}
