/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/reason.h"

#include <stdio.h>
#include <string.h>

/* So that the parts of a message outlive its line; they are cut to what fits. */
static struct gpume_message copy_message(
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

static void pass_on(void *opaque, enum gpume_log_level level, const char *line)
{
    struct gpume_reason *reason = opaque;
    if (level == GPUME_LOG_ERROR) {
        level = GPUME_LOG_INFO;
        if (reason->armed || !reason->text[0]) {
            const struct gpume_message *message = gpume_log_current();
            snprintf(reason->text, sizeof(reason->text), "%s", line);
            reason->has_message = message != NULL;
            if (message) {
                reason->message = copy_message(message, reason->strings, sizeof(reason->strings));
            }
        }
    }
    gpume_log_write(reason->to, level, "%s", line);
}

void gpume_reason_init(struct gpume_reason *reason, const struct gpume_log *to)
{
    *reason = (struct gpume_reason){.log = {pass_on, reason}, .to = to};
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
