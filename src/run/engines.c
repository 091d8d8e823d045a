/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/pipeline.h"

#include "base/base.h"
#include "base/os.h"
#include "base/params.h"
#include "base/workers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the reason why an engine failed */

/* So that the parts of a message outlive its line; they are cut to what fits. */
static struct gpume_message reason_copy_message(
    const struct gpume_message *message, char *strings, size_t bytes)
{
    struct gpume_message copy = *message;
    const char **parts[] = {&copy.value, &copy.text, &copy.other_value, &copy.rest};
    char *at = strings, *const end = strings + bytes - 1;
    *end = '\0';
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (*parts[i]) {
            const int length = snprintf(at, (size_t)(end - at), "%s", *parts[i]);
            *parts[i] = at;
            at = length + 1 < end - at ? at + length + 1 : end;
        }
    }
    return copy;
}

static void reason_pass_on(void *opaque, enum gpume_log_level level, const char *line)
{
    struct gpume_reason *reason = opaque;
    if (level == GPUME_LOG_ERROR) {
        level = GPUME_LOG_INFO;
        if (reason->armed || !reason->text[0]) {
            const struct gpume_message *message = gpume_log_current();
            snprintf(reason->text, sizeof(reason->text), "%s", line);
            reason->has_message = message != NULL;
            if (message) {
                reason->message =
                    reason_copy_message(message, reason->strings, sizeof(reason->strings));
            }
        }
    }
    gpume_log_write(reason->to, level, "%s", line);
}

void gpume_reason_init(struct gpume_reason *reason, const struct gpume_log *to)
{
    *reason = (struct gpume_reason){.log = {reason_pass_on, reason}, .to = to};
}

/* The engine is open: from here on, the reason why its last call failed. */
static void reason_arm(struct gpume_reason *reason)
{
    reason->armed = true;
    reason->text[0] = '\0';
}

void gpume_reason_report(const struct gpume_reason *reason)
{
    if (reason && reason->text[0]) {
        gpume_log_repeat(reason->to, GPUME_LOG_ERROR, reason->has_message ? &reason->message : NULL,
            reason->text);
    }
}

void gpume_reason_copy(const struct gpume_reason *reason, char text[GPUME_REASON_BYTES])
{
    const char *known = reason && reason->text[0] ? reason->text : "the GPU has failed";
    snprintf(text, GPUME_REASON_BYTES, "%.*s", (int)strcspn(known, ";"), known);
}

/* --- parameters */

static int own_params_copy_prefilter(
    struct gpume_own_params *own, const struct gpume_prefilter *prefilter)
{
    own->prefilter = *prefilter;
    own->params.prefilter = &own->prefilter;
    if (prefilter->kind != GPUME_PREFILTER_KERNEL || !prefilter->weights ||
        prefilter->width > GPUME_PREFILTER_SIDE_MAX ||
        prefilter->height > GPUME_PREFILTER_SIDE_MAX) { /* the first engine refuses it */
        return GPUME_OK;
    }
    const size_t bytes = (size_t)prefilter->width * prefilter->height * sizeof(double);
    own->weights = malloc(bytes > 0 ? bytes : 1);
    if (!own->weights) {
        return GPUME_NOMEM;
    }
    memcpy(own->weights, prefilter->weights, bytes);
    own->prefilter.weights = own->weights;
    return GPUME_OK;
}

/* The struct is zeroed before. GPUME_NOMEM, not logged. Call finish after a failure too. */
static int own_params_init(struct gpume_own_params *own, const struct gpume_params *params)
{
    own->params = *params;
    const char **const texts[GPUME_OWN_TEXTS] = {
        &own->params.search, &own->params.cache_dir, &own->params.device, &own->params.devices};
    for (uint32_t i = 0; i < GPUME_OWN_TEXTS; i++) {
        if (*texts[i] && !(own->texts[i] = strdup(*texts[i]))) {
            return GPUME_NOMEM;
        }
        *texts[i] = own->texts[i];
    }
    return params->prefilter ? own_params_copy_prefilter(own, params->prefilter) : GPUME_OK;
}

static void own_params_finish(struct gpume_own_params *own)
{
    free(own->weights);
    for (uint32_t i = 0; i < GPUME_OWN_TEXTS; i++) {
        free(own->texts[i]);
    }
    *own = (struct gpume_own_params){0};
}

/* --- the CPU engine */

struct gpume_standby {
    struct gpume_own_params own;
    const struct gpume_log *log; /* the caller's */
};

int gpume_standby_create(
    struct gpume_standby **out, const struct gpume_params *params, const struct gpume_log *log)
{
    struct gpume_standby *standby = calloc(1, sizeof(*standby));
    if (!standby) {
        return gpume_log_nomem(log, "the standby engine");
    }
    standby->log = log;
    struct gpume_params on_cpu = *params;
    on_cpu.backend = GPUME_BACKEND_CPU;
    on_cpu.device = on_cpu.devices = on_cpu.cache_dir = NULL;
    on_cpu.memory_max = 0; /* comes on top of what was allowed for the first */
    if (own_params_init(&standby->own, &on_cpu) != GPUME_OK) {
        gpume_standby_destroy(&standby);
        return gpume_log_nomem(log, "the standby engine");
    }
    *out = standby;
    return GPUME_OK;
}

void gpume_standby_destroy(struct gpume_standby **standby)
{
    if (*standby) {
        own_params_finish(&(*standby)->own);
        free(*standby);
        *standby = NULL;
    }
}

int gpume_standby_open_engine(struct gpume_standby *standby, void **engine, struct gpume_plan *plan)
{
    return gpume_engine_cpu.open(engine, &standby->own.params, standby->log, plan);
}

void gpume_standby_announce(
    const struct gpume_standby *standby, const struct gpume_reason *reason, uint64_t frame)
{
    char text[GPUME_REASON_BYTES];
    gpume_reason_copy(reason, text);
    gpume_log_write(standby->log, GPUME_LOG_WARNING,
        "%s; going on with the CPU engine from frame %llu", text, (unsigned long long)frame);
}

/* --- params.devices: what a list of devices stands for on this machine */

#define PRESENT_MAX 64u /* devices of a machine that are looked at */

struct device_list {
    /* Of each engine: the index of a device as text, for params.device; "": the CPU engine. */
    char devices[GPUME_DEVICES_MAX][16];
    char names[GPUME_DEVICES_MAX][256]; /* for people */
    uint32_t count;                     /* 0: the list is "all", and there is no hardware GPU */
    bool all;                           /* nothing but "all" was asked for */
};

struct present {
    struct gpume_device devices[PRESENT_MAX];
    uint32_t count;
};

static bool device_is_hardware(const struct gpume_device *device)
{
    return !device->unusable[0] &&
           (device->type == GPUME_DEVICE_INTEGRATED || device->type == GPUME_DEVICE_DISCRETE ||
               device->type == GPUME_DEVICE_VIRTUAL);
}

static bool text_contains(const char *text, const char *part, size_t length)
{
    for (; strlen(text) >= length; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i])) {
            i++;
        }
        if (i == length) {
            return true;
        }
    }
    return false;
}

/* The device of this index, or the best one with this part in its name; NULL: there is none. */
static const struct gpume_device *find_device(
    const struct present *present, const char *entry, size_t length)
{
    const struct gpume_device *found = NULL;
    char *end;
    const unsigned long index = strtoul(entry, &end, 10);
    if (isdigit((unsigned char)entry[0]) && end == entry + length) {
        return index < present->count ? &present->devices[index] : NULL;
    }
    for (uint32_t i = 0; i < present->count; i++) {
        const struct gpume_device *device = &present->devices[i];
        if (text_contains(device->name, entry, length) &&
            (!found || (device_is_hardware(device) && !device_is_hardware(found)))) {
            found = device;
        }
    }
    return found;
}

static int list_add(
    struct device_list *list, const char *device, const char *name, const struct gpume_log *log)
{
    if (list->count == GPUME_DEVICES_MAX) {
        return gpume_log_refuse(log, GPUME_INVALID, gpume_about(GPUME_PARAM(devices), NULL),
            "more than %u devices; name fewer", GPUME_DEVICES_MAX);
    }
    snprintf(list->names[list->count], sizeof(*list->names), "%s", name);
    snprintf(list->devices[list->count++], sizeof(*list->devices), "%s", device);
    return GPUME_OK;
}

static int list_add_device(
    struct device_list *list, const struct gpume_device *device, const struct gpume_log *log)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", device->index);
    return list_add(list, text, device->name, log);
}

static bool entry_is_word(const char *entry, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(entry, word, length) == 0;
}

static int list_add_hardware(
    struct device_list *list, const struct present *present, const struct gpume_log *log)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < present->count; i++) {
        if (device_is_hardware(&present->devices[i])) {
            status = list_add_device(list, &present->devices[i], log);
        }
    }
    return status;
}

static int list_add_entry(struct device_list *list, const struct present *present,
    const char *entry, size_t length, const struct gpume_log *log)
{
    if (entry_is_word(entry, length, "all")) {
        return list_add_hardware(list, present, log);
    }
    if (entry_is_word(entry, length, "cpu")) {
        return list_add(list, "", "cpu", log);
    }
    const struct gpume_device *device = find_device(present, entry, length);
    if (!device) {
        char name[256];
        snprintf(name, sizeof(name), "%.*s", (int)length, entry);
        return gpume_log_refuse(log, GPUME_DEVICE, gpume_about(GPUME_PARAM(devices), name),
            "no such device among %u Vulkan devices", present->count);
    }
    if (device->unusable[0]) {
        return gpume_log_refuse(log, GPUME_DEVICE, gpume_about(GPUME_PARAM(devices), device->name),
            "%s; leave it out", device->unusable);
    }
    return list_add_device(list, device, log);
}

/* To the comma after the entry, or to the end. */
static size_t entry_length(const char *text)
{
    size_t length = strcspn(text, ",");
    while (text[length] && text[length + 1] == ' ') {
        length += 1 + strcspn(text + length + 1, ",");
    }
    return length;
}

/* For a list without empty entries (model/plan.h). GPUME_DEVICE: there is no such device, or no
 * GPU for "all". GPUME_INVALID: too many. Both are logged. */
static int resolve_list(const char *text, const struct gpume_log *log, struct device_list *list)
{
    struct present present;
    *list = (struct device_list){.all = strcmp(text, "all") == 0};
    int status = gpume_list_devices(present.devices, PRESENT_MAX, &present.count);
    if (status != GPUME_OK) {
        return gpume_log_refuse(
            log, status, gpume_about(GPUME_PARAM(devices), NULL), "the devices cannot be listed");
    }
    present.count = present.count < PRESENT_MAX ? present.count : PRESENT_MAX;
    for (bool more = true; status == GPUME_OK && more;) {
        const size_t length = entry_length(text);
        status = list_add_entry(list, &present, text, length, log);
        more = text[length] == ',';
        text += length + more;
    }
    if (status == GPUME_OK && list->count == 0 && !list->all) {
        status = gpume_log_refuse(
            log, GPUME_DEVICE, gpume_about(GPUME_PARAM(devices), NULL), "there is no hardware GPU");
    }
    return status;
}

/* --- the engines of a context */

/* Opens an engine. reason: what it logs to; NULL: `log`. */
static int open_into(const struct gpume_params *params, struct gpume_reason *reason,
    const struct gpume_log *log, struct gpume_pipeline_engine *engine, struct gpume_plan *plan)
{
    const bool on_cpu = params->backend == GPUME_BACKEND_CPU;
    log = reason ? &reason->log : log;
    *engine = (struct gpume_pipeline_engine){
        .ops = on_cpu ? &gpume_engine_cpu : &gpume_engine_gpu, .plan = plan, .reason = reason};
    int status = engine->ops->open(&engine->opaque, params, log, plan);
    if (status == GPUME_AGAIN) {
        struct gpume_params smaller = *params;
        smaller.no_elimination = true;
        status = engine->ops->open(&engine->opaque, &smaller, log, plan);
    }
    if (status == GPUME_OK && reason) {
        reason_arm(reason);
    }
    return status;
}

/* Opens one more engine. */
static int open_engine(
    const struct gpume_params *params, struct gpume_reason *reason, struct gpume_engines *engines)
{
    struct gpume_pipeline_parts *parts = &engines->parts;
    const uint32_t index = parts->engine_count;
    const int status =
        open_into(params, reason, parts->log, &parts->engines[index], &engines->plans[index]);
    parts->engine_count += status == GPUME_OK;
    return status;
}

/* An engine whose failure need not be the end. GPUME_OK with *why set: it has failed in a way that
 * is the GPU's own. */
static int try_engine(const struct gpume_params *params, struct gpume_engines *engines, int *why)
{
    struct gpume_reason *reason = calloc(1, sizeof(*reason));
    *why = GPUME_OK;
    if (!reason) {
        return gpume_log_nomem(engines->parts.log, "a context");
    }
    gpume_reason_init(reason, engines->parts.log);
    const int status = open_engine(params, reason, engines);
    const bool of_gpu = gpume_status_is_of_gpu(status);
    if (status != GPUME_OK) {
        if (!of_gpu) {
            gpume_reason_report(reason);
        }
        free(reason);
    }
    *why = of_gpu ? status : GPUME_OK;
    return of_gpu ? GPUME_OK : status;
}

static int open_on_cpu(const struct gpume_params *params, struct gpume_engines *engines)
{
    struct gpume_params on_cpu = *params;
    on_cpu.backend = GPUME_BACKEND_CPU;
    on_cpu.devices = NULL;
    return open_engine(&on_cpu, NULL, engines);
}

/* auto: a GPU that is not there, cannot hold the job or fails is no reason to fail. */
static int open_one(const struct gpume_params *params, struct gpume_engines *engines)
{
    int why;
    if (params->backend == GPUME_BACKEND_CPU) {
        const int checked =
            gpume_args_check_cpu(params->device, params->validate, engines->parts.log);
        return checked ? checked : open_engine(params, NULL, engines);
    }
    if (!gpume_plan_stands_by(params)) {
        return open_engine(params, NULL, engines);
    }
    int status = gpume_standby_create(&engines->parts.standby, params, engines->parts.log);
    status = status == GPUME_OK ? try_engine(params, engines, &why) : status;
    if (status == GPUME_OK && why != GPUME_OK) {
        gpume_standby_destroy(&engines->parts.standby);
        status = open_on_cpu(params, engines);
    }
    return status;
}

/* The parameters of one engine of a list. */
static struct gpume_params params_of_one(
    const struct gpume_params *params, const struct device_list *list, uint32_t index)
{
    struct gpume_params one = *params;
    const bool on_cpu = list->devices[index][0] == '\0';
    one.device = on_cpu ? NULL : list->devices[index];
    one.backend = on_cpu ? GPUME_BACKEND_CPU : params->backend;
    one.memory_max = params->memory_max / list->count;
    one.memory_max += params->memory_max > 0 && one.memory_max == 0;
    return one;
}

/* What the devices of a list are opened from, while the run goes on. */
struct opener {
    struct gpume_own_params own;
    struct device_list list;
    uint32_t first; /* of the list that has not been tried when the run begins */
    const struct gpume_log *log;
};

static void close_opener(void *opaque)
{
    struct opener *opener = opaque;
    own_params_finish(&opener->own);
    free(opener);
}

/* Opens a device of the list that has not been tried. A failure of a GPU is a warning, any other
 * one an error. */
static int open_spare_device(
    void *opaque, uint32_t index, struct gpume_pipeline_engine *engine, struct gpume_plan *plan)
{
    const struct opener *opener = opaque;
    const struct gpume_params one =
        params_of_one(&opener->own.params, &opener->list, opener->first + index);
    struct gpume_reason *reason = calloc(1, sizeof(*reason));
    int status = GPUME_NOMEM;
    if (reason) {
        gpume_reason_init(reason, opener->log);
        status = open_into(&one, reason, opener->log, engine, plan);
    }
    if (status != GPUME_OK && !gpume_status_is_of_gpu(status)) {
        gpume_reason_report(reason);
    }
    if (status != GPUME_OK) {
        free(reason);
    }
    return status;
}

/* The devices of the list that have not been tried. Takes the opener over. */
static void keep_spares(struct gpume_spares *spares, struct opener *opener, uint64_t open_ns)
{
    const uint32_t threads =
        opener->own.params.threads ? opener->own.params.threads : gpume_workers_processors();
    *spares = (struct gpume_spares){.open_ns = open_ns,
        .open = open_spare_device,
        .close = close_opener,
        .opaque = opener,
        .count = opener->list.count - opener->first};
    for (uint32_t i = 0; i < spares->count; i++) {
        struct gpume_spare *spare = &spares->devices[i];
        const bool on_cpu = opener->list.devices[opener->first + i][0] == '\0';
        spare->backend = on_cpu ? "cpu" : "vulkan";
        if (on_cpu) {
            snprintf(spare->device, sizeof(spare->device), "%u thread%s", threads,
                gpume_plural(threads));
        } else {
            snprintf(
                spare->device, sizeof(spare->device), "%s", opener->list.names[opener->first + i]);
        }
    }
}

/* The first device of the list that can be opened; the others follow when they are needed. */
static int open_first(struct opener *opener, struct gpume_engines *engines)
{
    const struct gpume_params *params = &opener->own.params;
    struct gpume_pipeline_parts *parts = &engines->parts;
    int status = GPUME_DEVICE;
    while (opener->first < opener->list.count && gpume_status_is_of_gpu(status)) {
        const uint64_t start = gpume_clock_ns();
        status = open_spare_device(opener, 0, &parts->engines[0], &engines->plans[0]);
        opener->first++;
        if (status == GPUME_OK) {
            parts->engine_count = 1;
            keep_spares(&parts->spares, opener, gpume_clock_ns() - start);
            return GPUME_OK;
        }
        if (gpume_status_is_of_gpu(status)) {
            gpume_log_tell(parts->log, GPUME_LOG_WARNING,
                gpume_about(GPUME_PARAM(devices), opener->list.names[opener->first - 1]),
                GPUME_PIPELINE_UNUSABLE);
        }
    }
    if (gpume_status_is_of_gpu(status)) {
        gpume_standby_destroy(&parts->standby);
        status = params->backend == GPUME_BACKEND_AUTO
                     ? open_on_cpu(params, engines)
                     : gpume_log_refuse(parts->log, status,
                           gpume_about(GPUME_PARAM(devices), params->devices),
                           "none of them can be used");
    }
    close_opener(opener);
    return status;
}

static int open_listed(const struct gpume_params *params, const struct device_list *list,
    struct gpume_engines *engines)
{
    const struct gpume_log *log = engines->parts.log;
    struct opener *opener = calloc(1, sizeof(*opener));
    if (!opener || own_params_init(&opener->own, params) != GPUME_OK) {
        if (opener) {
            close_opener(opener);
        }
        return gpume_log_nomem(log, "a context");
    }
    opener->list = *list;
    opener->log = log;
    const int status = gpume_plan_stands_by(params)
                           ? gpume_standby_create(&engines->parts.standby, params, log)
                           : GPUME_OK;
    if (status != GPUME_OK) {
        close_opener(opener);
        return status;
    }
    return open_first(opener, engines);
}

/* A list that comes down to one device is that device. */
static int open_list(const struct gpume_params *params, struct gpume_engines *engines)
{
    const struct gpume_log *log = engines->parts.log;
    struct device_list list;
    struct gpume_params one = *params;
    if (params->device || params->backend == GPUME_BACKEND_CPU) {
        struct gpume_message message = gpume_about_two(GPUME_PARAM(devices), params->devices,
            params->device ? GPUME_PARAM(device) : GPUME_PARAM(backend),
            params->device ? NULL : "cpu");
        message.rest = "; leave one of them out";
        return gpume_log_refuse(log, GPUME_INVALID, message, "cannot be combined with");
    }
    const int status = resolve_list(params->devices, log, &list);
    if (status != GPUME_OK) {
        return status;
    }
    if (list.count > 1) {
        return open_listed(params, &list, engines);
    }
    if (!list.all) {
        one = params_of_one(params, &list, 0);
    }
    one.devices = NULL;
    return open_one(&one, engines);
}

int gpume_engines_open(
    struct gpume_engines *engines, const struct gpume_params *params, const struct gpume_log *log)
{
    engines->parts.log = log;
    const int status = (params->devices ? open_list : open_one)(params, engines);
    if (status != GPUME_OK) {
        for (uint32_t i = 0; i < engines->parts.engine_count; i++) {
            struct gpume_pipeline_engine *engine = &engines->parts.engines[i];
            engine->ops->close(&engine->opaque);
            free(engine->reason);
        }
        gpume_standby_destroy(&engines->parts.standby);
    }
    return status;
}
