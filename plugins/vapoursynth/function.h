/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the plugin's functions share: their arguments and messages. What Vectors and Analyse create
 * gives the frames of its clip: it searches frame n in frame n + delta and attaches what it finds
 * to a copy of frame n.
 *
 * Such a filter is created in four steps: gpume_function_begin; reading arguments, where the first
 * error is kept and the rest goes on; the parameters that follow from them; gpume_function_end,
 * which reports the error or creates the filter. From then on VapourSynth owns it and calls
 * `attach`, one call at a time, from any thread.
 */
#ifndef GPUME_PLUGINS_VAPOURSYNTH_FUNCTION_H
#define GPUME_PLUGINS_VAPOURSYNTH_FUNCTION_H

#include "pairs.h"

#include <VapourSynth4.h>
#include <pthread.h>

struct gpume_function;

/* Attaches properties to frame n. reference is NULL where the clip has no such frame. Returns a
 * gpume_status. */
typedef int (*gpume_function_attach)(struct gpume_function *function, int n, const VSFrame *target,
    const VSFrame *reference, VSMap *properties);

struct gpume_function {
    const char *name; /* of the function, for messages */
    gpume_function_attach attach;
    const VSAPI *vsapi;
    VSCore *core;
    VSNode *node;
    const VSVideoInfo *vi;
    const VSMap *in; /* the arguments, until gpume_function_end */
    int delta;       /* from a frame to its reference */
    struct gpume_params params;
    struct gpume_pairs pairs;
    void *scratch;   /* the function's own, freed with the filter */
    char error[512]; /* the first error of the arguments, or "" */
    pthread_mutex_t lock;
    char logged[512], warning[512]; /* guarded by lock: the library's last ones, or "" */
};

/* Allocates a filter of `bytes` bytes, which begins with a struct gpume_function, for the clip that
 * the argument `clip` names; reads the arguments delta, devices and threads, and `backward` under
 * the name given. NULL: out of memory, which is reported. */
void *gpume_function_begin(const char *name, size_t bytes, gpume_function_attach attach,
    const char *clip, const char *backward, const VSMap *in, VSMap *out, VSCore *core,
    const VSAPI *vsapi);

/* Opens the search for pictures of params.width x params.height, of which it keeps `per_frame` for
 * each frame of the clip, and creates the function; or reports the error and destroys it. */
void gpume_function_end(struct gpume_function *function, uint32_t per_frame, VSMap *out);

/* What others than gpume_function_end need for a filter of their own: the message about a call that
 * failed; the library's warning, if there is one, which VapourSynth gets; the folder for what is
 * kept, or NULL; the end of all that gpume_function_begin has made, and of the function. */
void gpume_function_describe(struct gpume_function *function, int status, char *text, size_t bytes);
void gpume_function_pass_warning_on(struct gpume_function *function);
const char *gpume_function_cache(char *folder, size_t bytes);
void gpume_function_destroy(struct gpume_function *function);

/* Keeps the error, if it is the first. */
void gpume_function_fail(struct gpume_function *function, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The library's row of the parameter at this offset: its limits and choices. */
const struct gpume_param *gpume_function_param(size_t offset);
#define GPUME_FUNCTION_PARAM(member) gpume_function_param(offsetof(struct gpume_params, member))

/* An argument that is a whole number from min to max; `other` where there is none. */
int gpume_function_int(
    struct gpume_function *function, const char *key, int min, int max, int other);

/* An argument that is one such number, for x and y, or two. */
void gpume_function_pair(struct gpume_function *function, const char *key, int min, int max,
    int other, uint32_t pair[2]);

/* The place of an argument in a list that ends with NULL; 0 where there is none. */
int gpume_function_choice(
    struct gpume_function *function, const char *key, const char *const *choices);

/* The arguments price and predictor. */
void gpume_function_price(struct gpume_function *function);

#endif
