/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/standby.h"

#include "frame/engine.h"

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

void gpume_reason_arm(struct gpume_reason *reason)
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

int gpume_own_params_init(struct gpume_own_params *own, const struct gpume_params *params)
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

void gpume_own_params_finish(struct gpume_own_params *own)
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
    if (gpume_own_params_init(&standby->own, &on_cpu) != GPUME_OK) {
        gpume_standby_destroy(&standby);
        return gpume_log_nomem(log, "the standby engine");
    }
    *out = standby;
    return GPUME_OK;
}

void gpume_standby_destroy(struct gpume_standby **standby)
{
    if (*standby) {
        gpume_own_params_finish(&(*standby)->own);
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
