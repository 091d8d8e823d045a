/* SPDX-License-Identifier: BSD-2-Clause */
#include "filter.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames beyond those of one pair that stay in the search, since VapourSynth's threads ask for
 * frames in nearly, not exactly, their order. */
#define MORE_FRAMES 3

/* Where pairs are farther apart, both frames are sent for each. */
#define DELTA_HELD_MAX 8

/* --- messages */

/* The library's line with the names of arguments: those of its parameters, but for the price. */
static void word_line(const char *line, char *text, size_t bytes)
{
    const struct gpume_message *message = gpume_log_message();
    if (!message) {
        snprintf(text, bytes, "%s", line);
        return;
    }
    const struct gpume_param *both[] = {message->param, message->other};
    const char *names[2], *values[] = {message->value, message->other_value};
    for (int i = 0; i < 2; i++) {
        names[i] = !both[i] ? "" : strcmp(both[i]->name, "lambda") == 0 ? "price" : both[i]->name;
        values[i] = both[i] && values[i] ? values[i] : "";
    }
    snprintf(text, bytes, "%s%s%s%s%s%s%s%s%s%s", names[0], values[0][0] ? " " : "", values[0],
        names[0][0] ? ": " : "", message->text, names[1][0] ? " " : "", names[1],
        values[1][0] ? " " : "", values[1], message->rest ? message->rest : "");
}

/* Called from threads of the library. */
static void take_line(void *opaque, enum gpume_log_level level, const char *line)
{
    struct gpume_filter *filter = opaque;
    if (level > GPUME_LOG_WARNING) {
        return;
    }
    pthread_mutex_lock(&filter->lock);
    char *text = level == GPUME_LOG_WARNING ? filter->warning : filter->logged;
    const int length = snprintf(text, sizeof filter->logged, "%s: ", filter->name);
    word_line(line, text + length, sizeof filter->logged - (size_t)length);
    pthread_mutex_unlock(&filter->lock);
}

/* On a thread of VapourSynth: its Python waits for a lock in there, which whoever waits for a
 * thread of the library may have. */
static void pass_warning_on(struct gpume_filter *filter)
{
    char text[sizeof filter->warning];
    pthread_mutex_lock(&filter->lock);
    memcpy(text, filter->warning, sizeof text);
    filter->warning[0] = '\0';
    pthread_mutex_unlock(&filter->lock);
    if (text[0]) {
        filter->vsapi->logMessage(mtWarning, text, filter->core);
    }
}

/* What to say about a call that failed. */
static void describe(struct gpume_filter *filter, int status, char *text, size_t bytes)
{
    pthread_mutex_lock(&filter->lock);
    if (filter->logged[0]) {
        snprintf(text, bytes, "%s", filter->logged);
    } else {
        snprintf(text, bytes, "%s: %s", filter->name, gpume_status_text(status));
    }
    pthread_mutex_unlock(&filter->lock);
}

void gpume_filter_fail(struct gpume_filter *filter, const char *format, ...)
{
    if (filter->error[0]) {
        return;
    }
    const size_t length =
        (size_t)snprintf(filter->error, sizeof filter->error, "%s: ", filter->name);
    va_list values;
    va_start(values, format);
    vsnprintf(filter->error + length, sizeof filter->error - length, format, values);
    va_end(values);
}

/* --- arguments */

const struct gpume_param *gpume_filter_param(size_t offset)
{
    const struct gpume_param *param;
    uint32_t index = 0;
    while ((param = gpume_param_at(index)) && param->offset != offset) {
        index++;
    }
    return param;
}

static int entry(struct gpume_filter *filter, const char *key, int i, int min, int max, int other)
{
    int missing = 0;
    const int64_t value = filter->vsapi->mapGetInt(filter->in, key, i, &missing);
    if (missing) {
        return other;
    }
    if (value < min || value > max) {
        gpume_filter_fail(
            filter, "%s is %lld; it must be from %d to %d", key, (long long)value, min, max);
        return other;
    }
    return (int)value;
}

int gpume_filter_int(struct gpume_filter *filter, const char *key, int min, int max, int other)
{
    return entry(filter, key, 0, min, max, other);
}

void gpume_filter_pair(
    struct gpume_filter *filter, const char *key, int min, int max, int other, uint32_t pair[2])
{
    if (filter->vsapi->mapNumElements(filter->in, key) > 2) {
        gpume_filter_fail(filter, "%s has more than two numbers", key);
    }
    const int x = entry(filter, key, 0, min, max, other);
    pair[0] = (uint32_t)x;
    pair[1] = (uint32_t)entry(filter, key, 1, min, max, x);
}

int gpume_filter_choice(struct gpume_filter *filter, const char *key, const char *const *choices)
{
    int missing = 0;
    const char *value = filter->vsapi->mapGetData(filter->in, key, 0, &missing);
    char list[128] = "";
    for (int i = 0; !missing && choices[i]; i++) {
        if (strcmp(value, choices[i]) == 0) {
            return i;
        }
        snprintf(
            list + strlen(list), sizeof list - strlen(list), "%s\"%s\"", i ? ", " : "", choices[i]);
    }
    if (!missing) {
        gpume_filter_fail(filter, "%s is \"%.80s\"; it must be one of %s", key, value, list);
    }
    return 0;
}

void gpume_filter_price(struct gpume_filter *filter)
{
    static const char *const predictors[] = {"zero", "median", NULL};
    int missing = 0;
    const double price = filter->vsapi->mapGetFloat(filter->in, "price", 0, &missing);
    const int predictor = gpume_filter_choice(filter, "predictor", predictors);
    if (missing) {
        if (predictor != 0) {
            gpume_filter_fail(filter, "predictor has no effect without price; give both");
        }
        return;
    }
    if (!(price >= 0 && price <= GPUME_LAMBDA_MAX / 256)) {
        gpume_filter_fail(
            filter, "price is %g; it must be from 0 to %d", price, GPUME_LAMBDA_MAX / 256);
        return;
    }
    filter->params.predictor = (enum gpume_predictor)predictor;
    filter->params.rate = true;
    filter->params.lambda = (uint32_t)lrint(price * 256);
}

/* The folder that the command uses, so that kernels are compiled once for both. */
static const char *cache_folder(char *folder, size_t bytes)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') {
        snprintf(folder, bytes, "%s/gpume", cache);
    } else if (home && home[0] == '/') {
        snprintf(folder, bytes, "%s/.cache/gpume", home);
    } else {
        return NULL;
    }
    return folder;
}

static void check_clip(struct gpume_filter *filter)
{
    const VSVideoFormat *format = &filter->vi->format;
    if (filter->vi->width == 0 || format->colorFamily == cfUndefined) {
        gpume_filter_fail(filter, "the clip's size or format changes from frame to frame");
    } else if (format->colorFamily == cfRGB) {
        gpume_filter_fail(filter, "the clip is RGB; convert it to YUV or Gray");
    } else if (format->sampleType != stInteger || format->bitsPerSample > 16) {
        gpume_filter_fail(
            filter, "the clip's samples are not integers of 8 to 16 bits; convert them");
    }
}

static void read_common(struct gpume_filter *filter, const char *backward)
{
    int missing = 0;
    const int delta = gpume_filter_int(filter, "delta", 1, INT_MAX / 2, 1);
    filter->delta = gpume_filter_int(filter, backward, 0, 1, 0) ? delta : -delta;
    filter->params.devices = filter->vsapi->mapGetData(filter->in, "devices", 0, &missing);
    filter->params.threads = (uint32_t)gpume_filter_int(filter, "threads", 0, 4096, 0);
    filter->params.bits = (uint32_t)filter->vi->format.bitsPerSample;
    filter->params.log = take_line;
    filter->params.log_opaque = filter;
}

void *gpume_filter_begin(const char *name, size_t bytes, gpume_filter_attach attach,
    const char *clip, const char *backward, const VSMap *in, VSMap *out, VSCore *core,
    const VSAPI *vsapi)
{
    struct gpume_filter *filter = calloc(1, bytes);
    if (!filter || pthread_mutex_init(&filter->lock, NULL) != 0) {
        free(filter);
        vsapi->mapSetError(out, "gpume: out of memory");
        return NULL;
    }
    filter->name = name;
    filter->attach = attach;
    filter->vsapi = vsapi;
    filter->core = core;
    filter->in = in;
    filter->node = vsapi->mapGetNode(in, clip, 0, NULL);
    filter->vi = vsapi->getVideoInfo(filter->node);
    gpume_params_default(&filter->params);
    if (gpume_api_version() != GPUME_API_VERSION) {
        gpume_filter_fail(filter,
            "libgpume has API version %u, and this plugin was built for %d; install both of one "
            "version of gpume",
            (unsigned)gpume_api_version(), GPUME_API_VERSION);
    }
    check_clip(filter);
    read_common(filter, backward);
    return filter;
}

/* --- frames */

/* -1: the clip has no such frame. */
static int reference_of(const struct gpume_filter *filter, int n)
{
    const int64_t reference = (int64_t)n + filter->delta;
    return reference >= 0 && reference < filter->vi->numFrames ? (int)reference : -1;
}

static const VSFrame *give_frame(struct gpume_filter *filter, int n, VSFrameContext *context)
{
    const VSAPI *vsapi = filter->vsapi;
    const int reference = reference_of(filter, n);
    const VSFrame *target = vsapi->getFrameFilter(n, filter->node, context);
    const VSFrame *other =
        reference < 0 ? NULL : vsapi->getFrameFilter(reference, filter->node, context);
    VSFrame *copy = vsapi->copyFrame(target, filter->core);
    const int status = filter->attach(filter, n, target, other, vsapi->getFramePropertiesRW(copy));
    pass_warning_on(filter);
    vsapi->freeFrame(target);
    if (other) {
        vsapi->freeFrame(other);
    }
    if (status != GPUME_OK) {
        char text[sizeof filter->logged];
        describe(filter, status, text, sizeof text);
        vsapi->setFilterError(text, context);
        vsapi->freeFrame(copy);
        return NULL;
    }
    return copy;
}

static const VSFrame *VS_CC get_frame(int n, int reason, void *instance, void **frame_data,
    VSFrameContext *context, VSCore *core, const VSAPI *vsapi)
{
    struct gpume_filter *filter = instance;
    (void)frame_data;
    (void)core;
    if (reason == arInitial) {
        const int reference = reference_of(filter, n);
        if (reference >= 0) {
            vsapi->requestFrameFilter(reference, filter->node, context);
        }
        vsapi->requestFrameFilter(n, filter->node, context);
        return NULL;
    }
    return reason == arAllFramesReady ? give_frame(filter, n, context) : NULL;
}

static void VS_CC destroy(void *instance, VSCore *core, const VSAPI *vsapi)
{
    struct gpume_filter *filter = instance;
    (void)core;
    gpume_pairs_close(&filter->pairs);
    vsapi->freeNode(filter->node);
    free(filter->scratch);
    pthread_mutex_destroy(&filter->lock);
    free(filter);
}

static void open_search(struct gpume_filter *filter, uint32_t per_frame)
{
    char folder[4096];
    const int distance = abs(filter->delta);
    const int frames = (distance < DELTA_HELD_MAX ? distance : DELTA_HELD_MAX) + 1 + MORE_FRAMES;
    const uint32_t held = (uint32_t)frames * per_frame;
    filter->params.cache_dir = cache_folder(folder, sizeof folder);
    const int status = gpume_pairs_open(
        &filter->pairs, &filter->params, held < GPUME_PAIRS_HELD_MAX ? held : GPUME_PAIRS_HELD_MAX);
    if (status != GPUME_OK) {
        describe(filter, status, filter->error, sizeof filter->error);
    }
}

void gpume_filter_end(struct gpume_filter *filter, uint32_t per_frame, VSMap *out)
{
    if (!filter->error[0]) {
        open_search(filter, per_frame);
    }
    filter->in = NULL;
    filter->params.devices = filter->params.cache_dir = NULL; /* were the caller's */
    if (filter->error[0]) {
        filter->vsapi->mapSetError(out, filter->error);
        destroy(filter, filter->core, filter->vsapi);
        return;
    }
    const VSFilterDependency dependency = {filter->node, rpGeneral};
    filter->vsapi->createVideoFilter(out, filter->name, filter->vi, get_frame, destroy,
        fmParallelRequests, &dependency, 1, filter, filter->core);
}
