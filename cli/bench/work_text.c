/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/rows.h"

#include "base/params.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends to text, after a separator if there is some already. */
__attribute__((format(printf, 3, 4))) static void append(
    char text[GPUME_BENCH_TEXT_BYTES], const char *separator, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    used += (size_t)snprintf(
        text + used, GPUME_BENCH_TEXT_BYTES - used, "%s", used > 0 ? separator : "");
    va_start(args, format);
    vsnprintf(text + used, GPUME_BENCH_TEXT_BYTES - used, format, args);
    va_end(args);
}

static void append_references(const struct gpume_params *params, char text[GPUME_BENCH_TEXT_BYTES])
{
    if (!params->best_reference && params->ref_distance == 1) {
        return;
    }
    append(text, ", ", "%s %u",
        params->bidirectional    ? "bidirectional"
        : params->best_reference ? "best reference"
                                 : "reference",
        params->distance_count > 0 ? params->distances[0] : params->ref_distance);
    for (uint32_t i = 1; i < params->distance_count; i++) {
        append(text, "+", "%u", params->distances[i]);
    }
}

void gpume_bench_search_text(const struct gpume_params *params, char text[GPUME_BENCH_TEXT_BYTES])
{
    text[0] = '\0';
    if (params->metric != GPUME_METRIC_SAD) {
        append(text, ", ", "%s", gpume_names_metric[params->metric]);
    }
    if (params->subpel > 1) {
        append(text, ", ", "1/%u pixel %s %s", params->subpel,
            gpume_names_interpolation[params->interpolation],
            gpume_names_subpel_search[params->subpel_search]);
    }
    if (params->refine_metric != GPUME_REFINE_BY_METRIC) {
        append(text, " ", "by %s", gpume_names_metric[gpume_cost_metric(params)]);
    }
    if (params->rate) {
        append(text, ", ", "lambda %g", params->lambda / 256.0);
    }
    if (params->predictor == GPUME_PREDICTOR_MEDIAN) {
        append(text, ", ", "median in %u passes", params->passes);
    }
    if (params->partition) {
        append(text, ", ", "partition");
    }
    append_references(params, text);
    if (params->candidates > 1) {
        append(text, ", ", "%u candidates", params->candidates);
    }
}
