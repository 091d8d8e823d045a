/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter of progressive pictures: they go to a search and to the temporal filter, motion fields
 * from one to the other; before that, spots are removed if that is wanted. A picture is started
 * when the first field of the next one has come, or no more will come. Results are taken when as
 * many pictures are under way as the filter can keep, or when nothing else is left to do.
 */
#include "base/base.h"
#include "base/params.h"
#include "filter/temporal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_MAX 256u /* frames that are one picture */
#define RING_MAX (2 * GPUME_TEMPORAL_RADIUS_MAX + 1 + GPUME_TEMPORAL_AHEAD)
#define RUNS (RING_MAX + 8) /* pictures of which not all results have been received */

_Static_assert(GPUME_FILTER_PLANES == GPUME_TEMPORAL_PLANES, "as many planes");
_Static_assert(GPUME_FILTER_RADIUS_MAX == GPUME_TEMPORAL_RADIUS_MAX, "the same limit");
_Static_assert((uint32_t)GPUME_FILTER_SIGMA_MAX == GPUME_TEMPORAL_SIGMA_MAX, "the same limit");

/* Repeated frames are one picture; each has its time. */
struct repeats {
    uint32_t count;
    uint32_t least;    /* 1/100 of a step: the largest of these frames */
    uint32_t sigma;    /* the same, of the first one; 0: as params say */
    uint64_t replaced; /* samples of spots */
    int64_t times_us[RUN_MAX];
};

struct gpume_progressive {
    const struct gpume_log *log;
    struct gpume_log lenient; /* the same, but errors are warnings: the processor can go on */
    struct gpume_filter_params params; /* without its strings, once it is open */
    bool strict;                       /* only a GPU will do */
    struct gpume_temporal_choice choice;
    const struct gpume_temporal_ops *ops;
    void *temporal;
    uint64_t search_max; /* bytes, with memory_max; 0: any */
    uint64_t spot_search_least;
    gpume *search; /* NULL: there are no means */
    gpume *spot_search;
    struct gpume_spots *spots; /* NULL: they stay */
    struct repeats *runs;
    uint64_t sent;                /* pictures; one of them may be with `spots`, the others are */
    uint64_t put, started, taken; /* .. put */
    uint64_t given;               /* frames */
    uint32_t shown;               /* of the picture taken last: results that were given */
    struct gpume_temporal_picture picture;
    bool finished, complete; /* no more frames come; all pictures are put */
    bool refused;            /* the last frame, for want of room */
};

static uint32_t hundredths(double sigma)
{
    return (uint32_t)lround(100 * sigma);
}

/* --- open, close */

/* The first of a list of devices: one before a space belongs to a name. NULL: none. */
static char *first_of(const char *devices)
{
    size_t length = 0;
    while (devices[length] && (devices[length] != ',' || devices[length + 1] == ' ')) {
        length++;
    }
    char *first = malloc(length + 1);
    if (first) {
        memcpy(first, devices, length);
        first[length] = 0;
    }
    return first;
}

/* Whether only a GPU will do: that is how gpume_open reads these parameters. */
static bool wants_gpu(const struct gpume_filter_params *p)
{
    return p->backend == GPUME_BACKEND_VULKAN || p->device || p->validate;
}

static void write_warning(void *opaque, enum gpume_log_level level, const char *line)
{
    const struct gpume_progressive *filter = opaque;
    const enum gpume_log_level shown = level == GPUME_LOG_ERROR ? GPUME_LOG_WARNING : level;
    if (filter->ops == &gpume_temporal_device) { /* not while it is closed after it failed */
        gpume_log_write(filter->log, shown, "%s", line);
    }
}

/* In 1/32. */
static uint32_t spatial_of(const struct gpume_filter_params *p)
{
    return (uint32_t)lround(p->spatial * 32);
}

static struct gpume_temporal_params temporal_params(const struct gpume_filter_params *p)
{
    return (struct gpume_temporal_params){
        .width = p->width,
        .height = p->height,
        .bits = p->bits,
        .chroma = p->plane_count > 1,
        .shift_x = p->chroma_x,
        .shift_y = p->chroma_y,
        .radius = p->radius,
        .window_x = p->window_x,
        .window_y = p->window_y,
        .spatial = spatial_of(p) > 0,
        .threads = p->threads,
        .backend = p->backend,
        .device = p->device,
        .cache_dir = p->cache_dir,
        .validate = p->validate,
    };
}

static struct gpume_params search_params(
    const struct gpume_progressive *filter, uint32_t block, uint32_t radius, bool want_predicted)
{
    const struct gpume_filter_params *p = &filter->params;
    static const struct gpume_prefilter blur = {
        .size = sizeof blur, .kind = GPUME_PREFILTER_GAUSS, .sigma = 0.6};
    struct gpume_params search;
    gpume_params_default(&search);
    search.width = p->width;
    search.height = p->height;
    search.bits = p->bits;
    search.block = block;
    search.window_x = p->window_x;
    search.window_y = p->window_y;
    search.metric = p->metric;
    search.subpel = GPUME_TEMPORAL_UNITS;
    search.direction = GPUME_DIRECTION_BOTH;
    search.distance_count = radius;
    for (uint32_t i = 0; i < radius; i++) {
        search.distances[i] = i + 1;
    }
    search.prefilter = &blur;
    search.want_predicted = want_predicted;
    search.backend = p->backend;
    search.device = p->device;
    search.devices = p->devices;
    search.threads = p->threads;
    search.cache_dir = p->cache_dir;
    search.validate = p->validate;
    search.log = filter->log->fn;
    search.log_opaque = filter->log->opaque;
    return search;
}

static int open_search(const struct gpume_params *params, gpume **opened)
{
    GPUME_CHECK(gpume_open(opened, params));
    return params->validate ? gpume_open_devices(*opened) : GPUME_OK; /* all that is there */
}

int gpume_filter_check_memory(
    const struct gpume_filter_params *p, uint64_t bytes, const struct gpume_log *log)
{
    char allowed[24], needed[24];
    snprintf(allowed, sizeof(allowed), "%" PRIu64, p->memory_max);
    snprintf(needed, sizeof(needed), "%" PRIu64, bytes);
    struct gpume_message message =
        gpume_about_two(GPUME_PARAM(memory_max), allowed, GPUME_PARAM(memory_max), needed);
    message.rest = " or use smaller pictures";
    return p->memory_max == 0 || bytes <= p->memory_max
               ? GPUME_OK
               : gpume_log_refuse(log, GPUME_INVALID, message,
                     "is too little for filtering %ux%u pixels with radius %u; give", p->width,
                     p->height, p->radius);
}

/* A log function, whose opaque is a uint64_t: the bytes with which a refused memory_max would have
 * been enough. */
static void note_needed(void *opaque, enum gpume_log_level level, const char *line)
{
    const struct gpume_message *message = gpume_log_message();
    uint64_t *bytes = opaque;
    (void)level;
    (void)line;
    if (message && message->param == GPUME_PARAM(memory_max) && message->other_value) {
        *bytes = strtoull(message->other_value, NULL, 10);
    }
}

/* What a search needs at least, as it says if it may have a byte. 0: it cannot be opened for
 * another reason. */
static uint64_t least_of(struct gpume_params search)
{
    uint64_t bytes = 0;
    gpume *opened = NULL;
    search.memory_max = 1;
    search.log = note_needed;
    search.log_opaque = &bytes;
    (void)gpume_open(&opened, &search);
    (void)gpume_close(&opened);
    return bytes;
}

/* Refuses a memory_max that is too low for the means, the spots and the least that their searches
 * need. Sets what the searches may have. */
static int plan_memory(struct gpume_progressive *filter, bool idle)
{
    const struct gpume_filter_params *p = &filter->params;
    const struct gpume_temporal_params means = temporal_params(p);
    if (p->memory_max == 0) {
        return GPUME_OK;
    }
    const uint64_t spot_search =
        p->despot ? least_of(search_params(filter, GPUME_SPOTS_BLOCK, 1, true)) : 0;
    const uint64_t others =
        gpume_temporal_host_bytes(&means) + (p->despot ? gpume_spots_bytes(p) : 0) + spot_search;
    const uint64_t search = idle ? 0
                                 : least_of(search_params(filter, GPUME_TEMPORAL_BLOCK, p->radius,
                                       !filter->ops->predicts));
    GPUME_CHECK(gpume_filter_check_memory(p, others + search, filter->log));
    filter->search_max = p->memory_max - others;
    filter->spot_search_least = spot_search;
    return GPUME_OK;
}

/* On a device, or else on the processor. */
static int open_on(
    struct gpume_progressive *filter, const struct gpume_temporal_params *params, bool idle)
{
    const struct gpume_log *log = filter->strict ? filter->log : &filter->lenient;
    filter->ops = &gpume_temporal_device;
    int status = filter->ops->open(&filter->temporal, params, log);
    status = status ? status : plan_memory(filter, idle);
    status = status ? status : filter->ops->prepare(filter->temporal, log);
    if (status == GPUME_UNSUPPORTED || (gpume_status_is_of_gpu(status) && !filter->strict)) {
        if (filter->temporal) {
            (void)filter->ops->close(filter->temporal);
            filter->temporal = NULL;
        }
        filter->ops = &gpume_temporal_host;
        GPUME_CHECK(filter->ops->open(&filter->temporal, params, filter->log));
        GPUME_CHECK(plan_memory(filter, idle));
        status = filter->ops->prepare(filter->temporal, filter->log);
    }
    return status;
}

static int open_temporal(struct gpume_progressive *filter, bool idle)
{
    const struct gpume_filter_params *p = &filter->params;
    struct gpume_temporal_params params = temporal_params(p);
    char *first = p->devices ? first_of(p->devices) : NULL;
    if (p->devices && !first) {
        return gpume_log_nomem(filter->log, "the name of a device");
    }
    const bool changes = !idle || filter->choice.spatial > 0;
    if (!changes || (first && strcmp(first, "cpu") == 0)) {
        params.backend = GPUME_BACKEND_CPU;
    } else if (first && strcmp(first, "all") != 0) {
        params.backend = GPUME_BACKEND_VULKAN;
        params.device = first;
    }
    const int status = open_on(filter, &params, idle);
    free(first);
    return status;
}

/* The search of spots has what the other one leaves, which leaves enough. */
static int open_searches(struct gpume_progressive *filter, bool idle)
{
    const struct gpume_filter_params *p = &filter->params;
    struct gpume_params search =
        search_params(filter, GPUME_TEMPORAL_BLOCK, p->radius, !filter->ops->predicts);
    struct gpume_params spots = search_params(filter, GPUME_SPOTS_BLOCK, 1, true);
    struct gpume_info info = {0};
    search.memory_max = filter->search_max;
    GPUME_CHECK(idle ? GPUME_OK : open_search(&search, &filter->search));
    if (!p->despot) {
        return GPUME_OK;
    }
    if (p->memory_max > 0) {
        if (filter->search) {
            gpume_get_info(filter->search, &info);
        }
        spots.memory_max =
            filter->search_max + filter->spot_search_least - info.host_bytes - info.device_bytes;
    }
    GPUME_CHECK(open_search(&spots, &filter->spot_search));
    return gpume_spots_open(&filter->spots, p, filter->spot_search, filter->log);
}

uint64_t gpume_progressive_least(const struct gpume_filter_params *params)
{
    uint64_t bytes = 0;
    struct gpume_progressive *filter = NULL;
    struct gpume_filter_params little = *params;
    const struct gpume_log log = {note_needed, &bytes};
    little.memory_max = 1;
    (void)gpume_progressive_open(&filter, &little, &log);
    (void)gpume_progressive_close(&filter);
    return bytes;
}

int gpume_progressive_open(struct gpume_progressive **out, const struct gpume_filter_params *params,
    const struct gpume_log *log)
{
    struct gpume_progressive *filter = calloc(1, sizeof(*filter));
    if (!filter) {
        return gpume_log_nomem(log, "a filter");
    }
    int status;
    filter->log = log;
    filter->lenient = (struct gpume_log){write_warning, filter};
    filter->params = *params;
    filter->strict = wants_gpu(params);
    filter->choice = (struct gpume_temporal_choice){
        .strength = (uint32_t)lround(params->strength * 32),
        .spatial = spatial_of(params),
        .measure = params->sigma == GPUME_FILTER_MEASURE,
        .sigma = params->sigma == GPUME_FILTER_MEASURE ? 0 : hundredths(params->sigma),
    };
    const bool idle = filter->choice.strength == 0;
    filter->runs = calloc(RUNS, sizeof(*filter->runs));
    GPUME_TRY(filter->runs ? GPUME_OK : gpume_log_nomem(log, "a filter"));
    GPUME_TRY(open_temporal(filter, idle));
    GPUME_TRY(open_searches(filter, idle));
    filter->params.device = filter->params.devices = filter->params.cache_dir = NULL;
    *out = filter;
    return GPUME_OK;
fail:
    (void)gpume_progressive_close(&filter);
    return status;
}

int gpume_progressive_close(struct gpume_progressive **pointer)
{
    struct gpume_progressive *filter = *pointer;
    if (!filter) {
        return GPUME_OK;
    }
    *pointer = NULL;
    const int of_search = gpume_close(&filter->search),
              of_spots = gpume_close(&filter->spot_search);
    const int of_means = filter->temporal ? filter->ops->close(filter->temporal) : GPUME_OK;
    gpume_spots_close(&filter->spots);
    free(filter->runs);
    free(filter);
    return of_means ? of_means : of_search ? of_search : of_spots;
}

/* --- frames in */

static struct repeats *run_at(const struct gpume_progressive *filter, uint64_t picture)
{
    return &filter->runs[picture % RUNS];
}

/* For those after the next one to be started that its fields need, and some more. */
static bool has_room(const struct gpume_progressive *filter)
{
    const uint32_t radius = filter->params.radius;
    const uint64_t oldest = filter->started > radius ? filter->started - radius : 0;
    return filter->sent - oldest < 2 * radius + 1 + GPUME_TEMPORAL_AHEAD;
}

static int put_picture(
    struct gpume_progressive *filter, const struct gpume_plane *planes, int64_t time_us)
{
    if (filter->search) {
        GPUME_CHECK(gpume_send_plane(filter->search, &planes[0], time_us));
    }
    filter->ops->put(filter->temporal, planes);
    filter->put++;
    return GPUME_OK;
}

/* Puts the picture that is free of spots, if one is ready. */
static int put_clean_picture(struct gpume_progressive *filter)
{
    const struct gpume_spots_picture *clean = gpume_spots_ready(filter->spots);
    if (clean) {
        run_at(filter, filter->put)->replaced = clean->replaced;
        GPUME_CHECK(put_picture(filter, clean->planes, clean->time_us));
        gpume_spots_pass(filter->spots);
    }
    return GPUME_OK;
}

static int take_in_picture(struct gpume_progressive *filter, const struct gpume_filter_frame *frame)
{
    if (!has_room(filter)) {
        return GPUME_AGAIN;
    }
    if (filter->spots) {
        GPUME_CHECK(put_clean_picture(filter));
        GPUME_CHECK(gpume_spots_put(filter->spots, frame->planes, frame->time_us));
    } else {
        GPUME_CHECK(put_picture(filter, frame->planes, frame->time_us));
    }
    struct repeats *run = run_at(filter, filter->sent++);
    run->count = run->least = 0;
    run->replaced = 0;
    run->sigma = hundredths(frame->sigma);
    return GPUME_OK;
}

/* Puts what is left when no more frames come. GPUME_AGAIN: fields have to be received first. */
static int complete(struct gpume_progressive *filter)
{
    if (filter->spots) {
        GPUME_CHECK(put_clean_picture(filter));
        if (filter->put < filter->sent) {
            gpume_spots_finish(filter->spots);
            GPUME_CHECK(put_clean_picture(filter));
        }
    }
    filter->complete = true;
    return filter->search ? gpume_finish(filter->search) : GPUME_OK;
}

bool gpume_progressive_repeats(
    const struct gpume_progressive *filter, const struct gpume_plane *planes)
{
    return filter->sent > 0 && run_at(filter, filter->sent - 1)->count < RUN_MAX &&
           (filter->spots ? gpume_spots_repeats(filter->spots, planes)
                          : filter->ops->repeats(filter->temporal, planes));
}

int gpume_progressive_send(
    struct gpume_progressive *filter, const struct gpume_filter_frame *frame, bool repeats)
{
    const int status = repeats ? GPUME_OK : take_in_picture(filter, frame);
    filter->refused = status == GPUME_AGAIN;
    if (status == GPUME_OK) {
        struct repeats *run = run_at(filter, filter->sent - 1);
        const uint32_t least = hundredths(frame->least_sigma);
        run->least = least > run->least ? least : run->least;
        run->times_us[run->count++] = frame->time_us;
    }
    return status;
}

void gpume_progressive_refuse(struct gpume_progressive *filter)
{
    filter->refused = true;
}

int gpume_progressive_finish(struct gpume_progressive *filter)
{
    filter->finished = true;
    const int status = complete(filter);
    return status == GPUME_AGAIN ? GPUME_OK : status;
}

/* --- pictures out */

/* The processor goes on with what a GPU has begun, if that has failed as a GPU does and any engine
 * will do. Returns the status of the failure if not. */
static int take_over(struct gpume_progressive *filter, int status)
{
    const struct gpume_temporal_ops *heir = &gpume_temporal_host, *failed = filter->ops;
    void *state = NULL, *old = filter->temporal;
    if (!filter->ops->hand_over || !gpume_status_is_of_gpu(status) || filter->strict) {
        return status;
    }
    const struct gpume_temporal_params params = temporal_params(&filter->params);
    GPUME_CHECK(heir->open(&state, &params, filter->log));
    const int prepared = heir->prepare(state, filter->log);
    if (prepared != GPUME_OK) {
        (void)heir->close(state);
        return prepared;
    }
    status = failed->hand_over(old, heir, state);
    gpume_log_write(filter->log, GPUME_LOG_WARNING,
        "going on with means of the CPU from frame %llu", (unsigned long long)filter->given);
    filter->ops = heir;
    filter->temporal = state;
    (void)failed->close(old);
    return status;
}

static int start_picture(struct gpume_progressive *filter)
{
    struct gpume_temporal_choice choice = filter->choice;
    const struct repeats *run = run_at(filter, filter->started);
    choice.least = run->least;
    choice.sigma = run->sigma > 0 ? run->sigma : choice.sigma;
    int status = filter->ops->start(filter->temporal, &choice);
    if (status != GPUME_OK && (status = take_over(filter, status)) == GPUME_OK) {
        status = filter->ops->start(filter->temporal, &choice);
    }
    filter->started += status == GPUME_OK;
    return status;
}

/* Adds the next field, and starts the picture before its target. Without a search starts the next
 * picture whose frames have all come. GPUME_AGAIN; GPUME_EOF: all are started. */
static int advance(struct gpume_progressive *filter)
{
    const struct gpume_field *field = NULL;
    int status = filter->finished && !filter->complete ? complete(filter) : GPUME_OK;
    if (status != GPUME_OK && status != GPUME_AGAIN) {
        return status;
    }
    status = !filter->search ? GPUME_EOF : gpume_receive(filter->search, &field, 0);
    if (status == GPUME_OK) {
        status = filter->started < field->frame ? start_picture(filter) : GPUME_OK;
        if (status == GPUME_OK) {
            filter->ops->add(filter->temporal, field);
        }
        gpume_field_release(&field);
    } else if (status == GPUME_EOF) {
        const bool done = filter->complete;
        status = filter->started == filter->put              ? (done ? GPUME_EOF : GPUME_AGAIN)
                 : filter->started + 1 < filter->put || done ? start_picture(filter)
                                                             : GPUME_AGAIN;
    }
    return status;
}

/* Takes the next picture that is filtered. */
static int take_picture(struct gpume_progressive *filter)
{
    int status = GPUME_OK;
    while (status == GPUME_OK && filter->started - filter->taken < filter->ops->ahead) {
        status = advance(filter);
    }
    const bool rest = status == GPUME_EOF || (status == GPUME_AGAIN && filter->refused);
    if (status != GPUME_OK && !(rest && filter->started > filter->taken)) {
        return status;
    }
    status = filter->ops->take(filter->temporal, &filter->picture);
    if (status != GPUME_OK && (status = take_over(filter, status)) == GPUME_OK) {
        status = filter->ops->take(filter->temporal, &filter->picture);
    }
    filter->taken += status == GPUME_OK;
    filter->shown = 0;
    return status;
}

/* A standard deviation in steps of 8 bits. */
static double sigma_of(const struct gpume_progressive *filter, uint64_t variance)
{
    const uint32_t bits = gpume_min_u32(filter->params.bits, 10);
    return sqrt(ldexp((double)variance / 256, -2 * (int)(bits - 8)));
}

int gpume_progressive_receive(struct gpume_progressive *filter, struct gpume_filter_result *result)
{
    if (filter->taken == 0 || filter->shown == run_at(filter, filter->taken - 1)->count) {
        GPUME_CHECK(take_picture(filter));
    }
    *result = (struct gpume_filter_result){
        .frame = filter->given++,
        .time_us = run_at(filter, filter->taken - 1)->times_us[filter->shown],
        .references = filter->picture.references,
        .replaced = run_at(filter, filter->taken - 1)->replaced,
        .repeats = filter->shown > 0,
    };
    for (uint32_t p = 0; p < filter->params.plane_count; p++) {
        result->planes[p] = filter->picture.planes[p];
        result->sigma[p] = sigma_of(filter, filter->picture.variance[p]);
    }
    filter->shown++;
    return GPUME_OK;
}

void gpume_progressive_cancel(struct gpume_progressive *filter)
{
    gpume_cancel(filter->search);
    gpume_cancel(filter->spot_search);
}

void gpume_progressive_info(const struct gpume_progressive *filter, struct gpume_filter_info *info)
{
    gpume *search = filter->search ? filter->search : filter->spot_search;
    struct gpume_info of_search = {.backend = "", .device = "", .driver = ""};
    struct gpume_stats stats = {0};
    if (search) {
        gpume_get_info(search, &of_search);
        gpume_get_stats(search, &stats);
    }
    *info = (struct gpume_filter_info){
        .backend = of_search.backend,
        .device = of_search.device,
        .driver = of_search.driver,
        .means_on_device = filter->ops == &gpume_temporal_device,
        .fields = stats.fields,
    };
}
