/* SPDX-License-Identifier: BSD-2-Clause */
#include "library_log.h"

#include "console.h"

#include <string.h>

#define LINE_BYTES 2048

/* A name comes after the longer ones that begin with it. */
static const struct {
    const char *library, *command;
} names[] = {
    {"gpume_list_devices", "'gpume devices'"},
    {"GPUME_DIRECTION_BOTH", "--direction both"},
    {"GPUME_INTERPOLATION_HEVC", "--interpolation hevc"},
    {"GPUME_PREDICTOR_GIVEN", "FILE"},
    {"GPUME_SUBPEL_REFINE", "--subpel-search refine"},
    {"params.backend = GPUME_BACKEND_CPU", "--backend cpu"},
    {"params.backend", "--backend"},
    {"params.bidirectional", "--bidirectional"},
    {"params.bits", "bits per sample"},
    {"params.block", "--block"},
    {"params.candidates", "--candidates"},
    {"params.check", "--check"},
    {"params.confidence", "--confidence"},
    {"params.devices", "--device"},
    {"params.device", "--device"},
    {"params.direction", "--direction"},
    {"params.distances", "--ref-distance"},
    {"params.edge", "--edge"},
    {"params.lambda", "--lambda"},
    {"params.memory_max", "--max-memory"},
    {"params.metric", "--metric"},
    {"params.no_elimination", "--no-elimination"},
    {"params.partition", "--partition"},
    {"params.passes", "--passes"},
    {"params.predictor", "--predictor"},
    {"params.prefilter", "--prefilter"},
    {"params.rate and params.lambda above 0", "--lambda above 0 or --qp"},
    {"params.rate", "--lambda or --qp"},
    {"params.ref_distance", "--ref-distance"},
    {"params.refine_metric", "--refine-metric"},
    {"params.search", "--search"},
    {"params.shapes, where both halves may follow each square but the smallest",
        "--block, e.g. -b 64..8 or -b 64..8+rect"},
    {"params.shapes", "--block"},
    {"params.subpel", "--subpel"},
    {"params.threads", "--threads"},
    {"params.validate", "--validate"},
    {"params.window_x", "--window"},
    {"params.window_y", "--window"},
};

/* The length of the library's name at the start of text, and the command's name for it; 1 and NULL
 * if there is none. */
static size_t match(const char *text, const char **command)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const size_t length = strlen(names[i].library);
        if (strncmp(text, names[i].library, length) == 0) {
            *command = names[i].command;
            return length;
        }
    }
    *command = NULL;
    return 1;
}

void gpume_library_log(void *opaque, enum gpume_log_level level, const char *line)
{
    char text[LINE_BYTES];
    size_t used = 0;
    while (*line) {
        const char *command;
        const size_t taken = match(line, &command), added = command ? strlen(command) : 1;
        if (used + added >= sizeof(text)) {
            break;
        }
        memcpy(text + used, command ? command : line, added);
        used += added;
        line += taken;
    }
    text[used] = '\0';
    (void)opaque;
    gpume_console_log(text, level, text);
}

int gpume_library_check(const struct gpume_params *params)
{
    struct gpume_params checked = *params;
    checked.log = gpume_library_log;
    return gpume_params_check(&checked);
}
