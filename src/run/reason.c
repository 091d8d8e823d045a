/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/reason.h"

#include <stdio.h>
#include <string.h>

static void pass_on(void *opaque, enum gpume_log_level level, const char *line)
{
    struct gpume_reason *reason = opaque;
    if (level == GPUME_LOG_ERROR) {
        level = GPUME_LOG_INFO;
        if (reason->armed || !reason->text[0]) {
            snprintf(reason->text, sizeof(reason->text), "%s", line);
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
        gpume_log_write(reason->to, GPUME_LOG_ERROR, "%s", reason->text);
    }
}

void gpume_reason_copy(const struct gpume_reason *reason, char text[GPUME_REASON_BYTES])
{
    const char *known = reason && reason->text[0] ? reason->text : "the GPU has failed";
    snprintf(text, GPUME_REASON_BYTES, "%.*s", (int)strcspn(known, ";"), known);
}
