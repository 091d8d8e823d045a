/* SPDX-License-Identifier: BSD-2-Clause */
#include "function.h"

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
    struct gpume_function *function = opaque;
    if (level > GPUME_LOG_WARNING) {
        return;
    }
    pthread_mutex_lock(&function->lock);
    char *text = level == GPUME_LOG_WARNING ? function->warning : function->logged;
    const int length = snprintf(text, sizeof function->logged, "%s: ", function->name);
    word_line(line, text + length, sizeof function->logged - (size_t)length);
    pthread_mutex_unlock(&function->lock);
}

/* On a thread of VapourSynth: its Python waits for a lock in there, which whoever waits for a
 * thread of the library may have. */
void gpume_function_pass_warning_on(struct gpume_function *function)
{
    char text[sizeof function->warning];
    pthread_mutex_lock(&function->lock);
    memcpy(text, function->warning, sizeof text);
    function->warning[0] = '\0';
    pthread_mutex_unlock(&function->lock);
    if (text[0]) {
        function->vsapi->logMessage(mtWarning, text, function->core);
    }
}

/* What to say about a call that failed. */
void gpume_function_describe(struct gpume_function *function, int status, char *text, size_t bytes)
{
    pthread_mutex_lock(&function->lock);
    if (function->logged[0]) {
        snprintf(text, bytes, "%s", function->logged);
    } else {
        snprintf(text, bytes, "%s: %s", function->name, gpume_status_text(status));
    }
    pthread_mutex_unlock(&function->lock);
}

void gpume_function_fail(struct gpume_function *function, const char *format, ...)
{
    if (function->error[0]) {
        return;
    }
    const size_t length =
        (size_t)snprintf(function->error, sizeof function->error, "%s: ", function->name);
    va_list values;
    va_start(values, format);
    vsnprintf(function->error + length, sizeof function->error - length, format, values);
    va_end(values);
}

/* --- arguments */

const struct gpume_param *gpume_function_param(size_t offset)
{
    const struct gpume_param *param;
    uint32_t index = 0;
    while ((param = gpume_param_at(index)) && param->offset != offset) {
        index++;
    }
    return param;
}

static int entry(
    struct gpume_function *function, const char *key, int i, int min, int max, int other)
{
    int missing = 0;
    const int64_t value = function->vsapi->mapGetInt(function->in, key, i, &missing);
    if (missing) {
        return other;
    }
    if (value < min || value > max) {
        gpume_function_fail(
            function, "%s is %lld; it must be from %d to %d", key, (long long)value, min, max);
        return other;
    }
    return (int)value;
}

int gpume_function_int(
    struct gpume_function *function, const char *key, int min, int max, int other)
{
    return entry(function, key, 0, min, max, other);
}

void gpume_function_pair(
    struct gpume_function *function, const char *key, int min, int max, int other, uint32_t pair[2])
{
    if (function->vsapi->mapNumElements(function->in, key) > 2) {
        gpume_function_fail(function, "%s has more than two numbers", key);
    }
    const int x = entry(function, key, 0, min, max, other);
    pair[0] = (uint32_t)x;
    pair[1] = (uint32_t)entry(function, key, 1, min, max, x);
}

int gpume_function_choice(
    struct gpume_function *function, const char *key, const char *const *choices)
{
    int missing = 0;
    const char *value = function->vsapi->mapGetData(function->in, key, 0, &missing);
    char list[128] = "";
    for (int i = 0; !missing && choices[i]; i++) {
        if (strcmp(value, choices[i]) == 0) {
            return i;
        }
        snprintf(
            list + strlen(list), sizeof list - strlen(list), "%s\"%s\"", i ? ", " : "", choices[i]);
    }
    if (!missing) {
        gpume_function_fail(function, "%s is \"%.80s\"; it must be one of %s", key, value, list);
    }
    return 0;
}

void gpume_function_price(struct gpume_function *function)
{
    static const char *const predictors[] = {"zero", "median", NULL};
    int missing = 0;
    const double price = function->vsapi->mapGetFloat(function->in, "price", 0, &missing);
    const int predictor = gpume_function_choice(function, "predictor", predictors);
    if (missing) {
        if (predictor != 0) {
            gpume_function_fail(function, "predictor has no effect without price; give both");
        }
        return;
    }
    if (!(price >= 0 && price <= GPUME_LAMBDA_MAX / 256)) {
        gpume_function_fail(
            function, "price is %g; it must be from 0 to %d", price, GPUME_LAMBDA_MAX / 256);
        return;
    }
    function->params.predictor = (enum gpume_predictor)predictor;
    function->params.rate = true;
    function->params.lambda = (uint32_t)lrint(price * 256);
}

/* The folder that the command uses, so that kernels are compiled once for both. */
const char *gpume_function_cache(char *folder, size_t bytes)
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

static void check_clip(struct gpume_function *function)
{
    const VSVideoFormat *format = &function->vi->format;
    if (function->vi->width == 0 || format->colorFamily == cfUndefined) {
        gpume_function_fail(function, "the clip's size or format changes from frame to frame");
    } else if (format->colorFamily == cfRGB) {
        gpume_function_fail(function, "the clip is RGB; convert it to YUV or Gray");
    } else if (format->sampleType != stInteger || format->bitsPerSample > 16) {
        gpume_function_fail(
            function, "the clip's samples are not integers of 8 to 16 bits; convert them");
    }
}

static void read_common(struct gpume_function *function, const char *backward)
{
    int missing = 0;
    const int delta = gpume_function_int(function, "delta", 1, INT_MAX / 2, 1);
    function->delta = gpume_function_int(function, backward, 0, 1, 0) ? delta : -delta;
    function->params.devices = function->vsapi->mapGetData(function->in, "devices", 0, &missing);
    function->params.threads = (uint32_t)gpume_function_int(function, "threads", 0, 4096, 0);
    function->params.bits = (uint32_t)function->vi->format.bitsPerSample;
    function->params.log = take_line;
    function->params.log_opaque = function;
}

void *gpume_function_begin(const char *name, size_t bytes, gpume_function_attach attach,
    const char *clip, const char *backward, const VSMap *in, VSMap *out, VSCore *core,
    const VSAPI *vsapi)
{
    struct gpume_function *function = calloc(1, bytes);
    if (!function || pthread_mutex_init(&function->lock, NULL) != 0) {
        free(function);
        vsapi->mapSetError(out, "gpume: out of memory");
        return NULL;
    }
    function->name = name;
    function->attach = attach;
    function->vsapi = vsapi;
    function->core = core;
    function->in = in;
    function->node = vsapi->mapGetNode(in, clip, 0, NULL);
    function->vi = vsapi->getVideoInfo(function->node);
    gpume_params_default(&function->params);
    if (gpume_api_version() < GPUME_API_VERSION) {
        gpume_function_fail(function,
            "libgpume has API version %u, and this plugin needs %d or later; install both of one "
            "version of gpume",
            (unsigned)gpume_api_version(), GPUME_API_VERSION);
    }
    check_clip(function);
    read_common(function, backward);
    return function;
}

/* --- frames */

/* -1: the clip has no such frame. */
static int reference_of(const struct gpume_function *function, int n)
{
    const int64_t reference = (int64_t)n + function->delta;
    return reference >= 0 && reference < function->vi->numFrames ? (int)reference : -1;
}

static const VSFrame *give_frame(struct gpume_function *function, int n, VSFrameContext *context)
{
    const VSAPI *vsapi = function->vsapi;
    const int reference = reference_of(function, n);
    const VSFrame *target = vsapi->getFrameFilter(n, function->node, context);
    const VSFrame *other =
        reference < 0 ? NULL : vsapi->getFrameFilter(reference, function->node, context);
    VSFrame *copy = vsapi->copyFrame(target, function->core);
    const int status =
        function->attach(function, n, target, other, vsapi->getFramePropertiesRW(copy));
    gpume_function_pass_warning_on(function);
    vsapi->freeFrame(target);
    if (other) {
        vsapi->freeFrame(other);
    }
    if (status != GPUME_OK) {
        char text[sizeof function->logged];
        gpume_function_describe(function, status, text, sizeof text);
        vsapi->setFilterError(text, context);
        vsapi->freeFrame(copy);
        return NULL;
    }
    return copy;
}

static const VSFrame *VS_CC get_frame(int n, int reason, void *instance, void **frame_data,
    VSFrameContext *context, VSCore *core, const VSAPI *vsapi)
{
    struct gpume_function *function = instance;
    (void)frame_data;
    (void)core;
    if (reason == arInitial) {
        const int reference = reference_of(function, n);
        if (reference >= 0) {
            vsapi->requestFrameFilter(reference, function->node, context);
        }
        vsapi->requestFrameFilter(n, function->node, context);
        return NULL;
    }
    return reason == arAllFramesReady ? give_frame(function, n, context) : NULL;
}

void gpume_function_destroy(struct gpume_function *function)
{
    gpume_pairs_close(&function->pairs);
    function->vsapi->freeNode(function->node);
    free(function->scratch);
    pthread_mutex_destroy(&function->lock);
    free(function);
}

static void VS_CC destroy(void *instance, VSCore *core, const VSAPI *vsapi)
{
    (void)core;
    (void)vsapi;
    gpume_function_destroy(instance);
}

static void open_search(struct gpume_function *function, uint32_t per_frame)
{
    char folder[4096];
    const int distance = abs(function->delta);
    const int frames = (distance < DELTA_HELD_MAX ? distance : DELTA_HELD_MAX) + 1 + MORE_FRAMES;
    const uint32_t held = (uint32_t)frames * per_frame;
    function->params.cache_dir = gpume_function_cache(folder, sizeof folder);
    const int status = gpume_pairs_open(&function->pairs, &function->params,
        held < GPUME_PAIRS_HELD_MAX ? held : GPUME_PAIRS_HELD_MAX);
    if (status != GPUME_OK) {
        gpume_function_describe(function, status, function->error, sizeof function->error);
    }
}

void gpume_function_end(struct gpume_function *function, uint32_t per_frame, VSMap *out)
{
    if (!function->error[0]) {
        open_search(function, per_frame);
    }
    function->in = NULL;
    function->params.devices = function->params.cache_dir = NULL; /* were the caller's */
    if (function->error[0]) {
        function->vsapi->mapSetError(out, function->error);
        gpume_function_destroy(function);
        return;
    }
    const VSFilterDependency dependency = {function->node, rpGeneral};
    function->vsapi->createVideoFilter(out, function->name, function->vi, get_frame, destroy,
        fmParallelRequests, &dependency, 1, function, function->core);
}
