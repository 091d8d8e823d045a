/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/look.h"

#include "console.h"

#include <stdio.h>
#include <string.h>

const char *const gpume_look_keys[] = {"auto", "on", "off", NULL};
const char *const gpume_look_lengths[] = {"fit", "true", NULL};

static bool parse(const struct gpume_option *option, const char *text, void *field)
{
    double *pixels = field;
    if (strcmp(text, "auto") == 0) {
        *pixels = GPUME_OVERLAY_FLOW_AUTO;
        return true;
    }
    return gpume_parse_real(text, '\0', option->min, option->max, pixels) != NULL;
}

static void describe(const struct gpume_option *option, char *text, size_t bytes)
{
    snprintf(text, bytes, "auto or a number from %g to %g", option->min, option->max);
}

const struct gpume_option_type gpume_type_flow_max = {
    .bytes = sizeof(double), .parse = parse, .describe = describe};

int gpume_check_look(const struct gpume_overlay_look *look, const struct gpume_line *line)
{
    static const struct {
        const char *option, *styles;
        bool of_use[GPUME_OVERLAY_CONFIDENCE + 1];
    } rows[] = {
        {"arrow-length", "arrows", {[GPUME_OVERLAY_ARROWS] = true}},
        {"flow-max", "flow", {[GPUME_OVERLAY_FLOW] = true}},
        {"min-length", "arrows or flow",
            {[GPUME_OVERLAY_ARROWS] = true, [GPUME_OVERLAY_FLOW] = true}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (gpume_line_has(line, rows[i].option) && !rows[i].of_use[look->style]) {
            return gpume_refuse(GPUME_INVALID, "--%s: changes nothing without --overlay-style %s",
                rows[i].option, rows[i].styles);
        }
    }
    return GPUME_OK;
}
