/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- the table */

const char *const gpume_names_backend[] = {"auto", "vulkan", "cpu", NULL};
const char *const gpume_names_device_type[] = {
    "other", "integrated", "discrete", "virtual", "software", NULL};
const char *const gpume_names_direction[] = {"past", "future", "both", NULL};
const char *const gpume_names_edge[] = {"extend", "inside", NULL};
const char *const gpume_names_interpolation[] = {"h264", "hevc", "bilinear", NULL};
const char *const gpume_names_metric[] = {"sad", "satd", "ssd", NULL};
const char *const gpume_names_subpel_search[] = {"refine", "full", NULL};

static const char *const directions[] = {"past", "future", "both", "manual", NULL};
static const char *const predictors[] = {"zero", "median", "given", NULL};
static const char *const refine_metrics[] = {"metric", "sad", "satd", "ssd", NULL};

#define ROW(member, kind, version)                                                                 \
    .name = #member, .offset = offsetof(struct gpume_params, member),                              \
    .bytes = sizeof(((struct gpume_params *)NULL)->member), .type = GPUME_PARAM_##kind,            \
    .since = version
#define LIMITS(from, to) .least = from, .most = to
#define CHOICES(names, beginning)                                                                  \
    .choices = names, .constants = beginning, .most = sizeof(names) / sizeof((names)[0]) - 2
#define OPTION(spelled, value, text) .option = spelled, .option_value = value, .help = text

/* In the order in which summary.json has them. */
const struct gpume_param gpume_params_table[] = {
    {ROW(size, NUMBER, 2), .unit = "bytes"},
    {ROW(width, NUMBER, 1), LIMITS(1, GPUME_SIDE_MAX), .unit = "pixels"},
    {ROW(height, NUMBER, 1), LIMITS(1, GPUME_SIDE_MAX), .unit = "pixels"},
    {ROW(bits, NUMBER, 1), LIMITS(8, 16), .unit = "bits per sample"},
    {ROW(block, NUMBER, 1), LIMITS(GPUME_BLOCK_MIN, GPUME_BLOCK_MAX), .unit = "pixels",
        OPTION("block", "N", "side of square blocks in pixels, a multiple of 4 (default 8)")},
    {ROW(shapes, LIST, 3), LIMITS(GPUME_BLOCK_MIN, GPUME_BLOCK_MAX), .unit = "pixels",
        OPTION("block", "LIST",
            "shapes of blocks in pixels, sides multiples of 4 from 4 to 128: 8, 16x8 (width x "
            "height), 64..8 (squares by halves), 64..8+rect (also their halves), or a list such as "
            "16,16x8,8 (default 8)")},
    {ROW(shape_count, NUMBER, 3), LIMITS(0, GPUME_SHAPES_MAX), .option = "block"},
    {ROW(window_x, NUMBER, 1), LIMITS(0, GPUME_WINDOW_MAX), .unit = "pixels",
        OPTION("window", "N|XxY",
            "largest displacement in pixels, 0 to 512: one value for both axes, or one for each "
            "(default 7)")},
    {ROW(window_y, NUMBER, 1), LIMITS(0, GPUME_WINDOW_MAX), .unit = "pixels", .option = "window"},
    {ROW(edge, CHOICE, 1), CHOICES(gpume_names_edge, "GPUME_EDGE_"),
        OPTION("edge", "extend|inside",
            "candidates that reach outside the reference: extend tries them with the edge samples "
            "repeated, inside skips them (default extend)")},
    {ROW(metric, CHOICE, 1), CHOICES(gpume_names_metric, "GPUME_METRIC_"),
        OPTION("metric", "sad|satd|ssd",
            "cost of a candidate: sum of absolute differences, the same after a Hadamard "
            "transform, or sum of squared differences (default sad)")},
    {ROW(partition, FLAG, 3),
        OPTION("partition", NULL,
            "divide each block of the largest square so that its parts cost least; needs --lambda "
            "or --qp, and squares by halves in --block")},
    {ROW(subpel, NUMBER, 3), .unit = "per pixel",
        OPTION("subpel", "1|2|4", "search in whole, half or quarter pixels (default 1)")},
    {ROW(interpolation, CHOICE, 3), CHOICES(gpume_names_interpolation, "GPUME_INTERPOLATION_"),
        OPTION("interpolation", "NAME",
            "samples between those of a frame: as in h264, as in hevc, or bilinear (default "
            "h264)")},
    {ROW(subpel_search, CHOICE, 3), CHOICES(gpume_names_subpel_search, "GPUME_SUBPEL_"),
        OPTION("subpel-search", "refine|full",
            "refine the best whole-pixel vector, or compare every fraction of a pixel in the "
            "window (default refine)")},
    {ROW(refine_metric, CHOICE, 3), CHOICES(refine_metrics, "GPUME_REFINE_BY_"),
        OPTION("refine-metric", "sad|satd|ssd",
            "compare by this metric when refining the best whole-pixel vector; costs are by it "
            "too (default: that of --metric)")},
    {ROW(rate, FLAG, 3), .option = "lambda"},
    {ROW(lambda, NUMBER, 3), LIMITS(0, GPUME_LAMBDA_MAX), .unit = "1/256 of the metric per bit",
        OPTION("lambda", "L",
            "price of a bit of a vector, 0 to 1000: the cost to minimise is the metric plus L "
            "times the bits that code the vector's difference from its predictor")},
    {ROW(predictor, CHOICE, 3), CHOICES(predictors, "GPUME_PREDICTOR_"),
        OPTION("predictor", "zero|median|FILE",
            "what vectors are predicted from, since only the difference costs bits: (0,0), the "
            "median of neighbouring vectors of the previous pass, or the vectors of a file "
            "(default zero)")},
    {ROW(predict, OTHER, 3), .option = "predictor"},
    {ROW(predict_opaque, OTHER, 3)},
    {ROW(passes, NUMBER, 3), LIMITS(1, GPUME_PASSES_MAX),
        OPTION("passes", "N", "passes of the search with --predictor median, 1 to 8 (default 2)")},
    {ROW(best_reference, FLAG, 3),
        OPTION("best-reference", NULL,
            "keep for each block the reference of least cost, of all distances and directions")},
    {ROW(bidirectional, FLAG, 3),
        OPTION("bidirectional", NULL,
            "also predict a block by the mean of a past and a future match, where that costs less; "
            "implies --best-reference and --direction both")},
    {ROW(candidates, NUMBER, 3), LIMITS(1, GPUME_CANDIDATES_MAX),
        OPTION("candidates", "N",
            "number of matches per block, 1 to 8, each the best of those at least two pixels from "
            "all before (default 1)")},
    {ROW(confidence, FLAG, 3),
        OPTION("confidence", NULL,
            "show how reliable each vector is: the cost of the second match, ties, texture, and "
            "with --direction both how far the reverse vector leads away")},
    {ROW(ref_distance, NUMBER, 1), LIMITS(1, GPUME_DISTANCE_MAX), .unit = "frames",
        .option = "ref-distance"},
    {ROW(distances, LIST, 3), LIMITS(1, GPUME_DISTANCE_MAX), .unit = "frames",
        OPTION("ref-distance", "LIST",
            "frames from target to reference, 1 to 1024, or a list such as 1,2,4 (default 1)")},
    {ROW(distance_count, NUMBER, 3), LIMITS(0, GPUME_DISTANCES_MAX), .option = "ref-distance"},
    {ROW(direction, CHOICE, 1), CHOICES(directions, "GPUME_DIRECTION_"),
        OPTION("direction", "past|future|both",
            "take references from earlier frames, from later ones, or from both (default past)")},
    {ROW(prefilter, OTHER, 1),
        OPTION("prefilter", "FILTER",
            "search filtered frames, but predict and measure on the originals; FILTER is gauss:S, "
            "box:N, median:3|5, bilateral:S,R or kernel:FILE (default: none)")},
    {ROW(first_frame, NUMBER, 1)},
    {ROW(first_target, NUMBER, 1), .option = "start"},
    {ROW(target_count, NUMBER, 1), .option = "frames"},
    {ROW(backend, CHOICE, 1), CHOICES(gpume_names_backend, "GPUME_BACKEND_"), .speed_only = true,
        OPTION("backend", "auto|vulkan|cpu",
            "auto: the best hardware GPU, otherwise the CPU; vulkan: a GPU or a software driver "
            "(default auto)")},
    {ROW(device, TEXT, 1), .speed_only = true,
        OPTION("device", "N|NAME",
            "Vulkan device: its index in 'gpume devices', or part of its name (default: the "
            "best)")},
    {ROW(devices, TEXT, 3), .speed_only = true,
        OPTION("device", "LIST",
            "Vulkan devices, which share the work: indices in 'gpume devices' or parts of names, "
            "separated by commas; all: every GPU; cpu: the CPU as well (default: the best GPU)")},
    {ROW(threads, NUMBER, 1), .speed_only = true,
        OPTION("threads", "N", "CPU threads, 1 to 1024 (default: one per processor)")},
    {ROW(search, TEXT, 1), .speed_only = true,
        OPTION("search", "NAME",
            "implementation of the search, as listed by 'gpume devices'; affects speed only "
            "(default: the fastest)")},
    {ROW(no_elimination, FLAG, 1), .speed_only = true,
        OPTION("no-elimination", NULL,
            "compare every candidate in full: the same result, usually slower")},
    {ROW(memory_max, NUMBER, 1), .speed_only = true, .unit = "bytes",
        OPTION("max-memory", "BYTES",
            "plan for at most this much host and device memory in total, e.g. 500M or 2GiB; refuse "
            "to run if more is needed (default: no limit)")},
    {ROW(cache_dir, TEXT, 1), .speed_only = true},
    {ROW(want_predicted, FLAG, 1)},
    {ROW(want_frames, FLAG, 1)},
    {ROW(want_returns, FLAG, 7)},
    {ROW(check, FLAG, 1),
        OPTION("check", NULL,
            "search every frame pair again with the reference implementation and compare")},
    {ROW(validate, FLAG, 1), .speed_only = true,
        OPTION(
            "validate", NULL, "turn on the Vulkan validation layer; fail if it reports anything")},
    {ROW(log, OTHER, 1), .speed_only = true},
    {ROW(log_opaque, OTHER, 1), .speed_only = true},
};
const uint32_t gpume_params_count = sizeof gpume_params_table / sizeof gpume_params_table[0];

const struct gpume_param *gpume_param_of(size_t offset)
{
    for (uint32_t i = 0; i < gpume_params_count; i++) {
        if (gpume_params_table[i].offset == offset) {
            return &gpume_params_table[i];
        }
    }
    return NULL;
}

uint64_t gpume_param_value(const struct gpume_param *param, const struct gpume_params *params)
{
    const char *at = (const char *)params + param->offset;
    uint32_t word = 0;
    uint64_t value = 0;
    if (param->bytes == sizeof(bool)) {
        return *(const bool *)at;
    }
    if (param->bytes == sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        return word;
    }
    memcpy(&value, at, sizeof(value));
    return value;
}

void gpume_shapes_text(const struct gpume_params *params, char text[GPUME_SHAPES_TEXT_BYTES])
{
    const struct gpume_block_size square = {params->block, params->block};
    const struct gpume_block_size *shapes = params->shape_count > 0 ? params->shapes : &square;
    char *at = text, *end = text + GPUME_SHAPES_TEXT_BYTES;
    for (uint32_t i = 0; i == 0 || i < params->shape_count; i++) {
        at += snprintf(at, (size_t)(end - at), "%s%" PRIu32, i > 0 ? "," : "", shapes[i].width);
        if (shapes[i].height != shapes[i].width) {
            at += snprintf(at, (size_t)(end - at), "x%" PRIu32, shapes[i].height);
        }
    }
}

/* --- what callers hand over */

int gpume_args_check_number(
    const struct gpume_param *param, uint64_t value, const struct gpume_log *log)
{
    char text[24];
    if (value >= param->least && value <= param->most) {
        return GPUME_OK;
    }
    snprintf(text, sizeof(text), "%" PRIu64, value);
    if (!param->choices) {
        return gpume_log_refuse(log, GPUME_INVALID, gpume_about(param, text),
            "must be from %" PRIu64 " to %" PRIu64, param->least, param->most);
    }
    return gpume_log_refuse(log, GPUME_INVALID, gpume_about(param, text),
        "must be from 0 (%s) to %" PRIu64 " (%s)", param->choices[0], param->most,
        param->choices[param->most]);
}

int gpume_args_check_cpu(const char *device, bool validate, const struct gpume_log *log)
{
    const char *has = device     ? "the CPU has no devices; leave it out or choose another"
                      : validate ? "the CPU has nothing to validate; leave it out or choose another"
                                 : NULL;
    return has ? gpume_log_refuse(log, GPUME_INVALID,
                     gpume_about_two(device ? GPUME_PARAM(device) : GPUME_PARAM(validate), device,
                         GPUME_PARAM(backend), NULL),
                     "%s", has)
               : GPUME_OK;
}

static size_t size_of(const void *sized)
{
    size_t size;
    memcpy(&size, sized, sizeof(size));
    return size;
}

int gpume_sized_read(
    void *ours, size_t bytes, const void *theirs, const char *name, const struct gpume_log *log)
{
    const size_t size = size_of(theirs);
    if (size < sizeof(size)) {
        return gpume_log_fail(log, GPUME_INVALID,
            "struct %s: size is %zu: set it to sizeof(struct %s)", name, size, name);
    }
    for (size_t i = bytes; i < size; i++) {
        if (((const uint8_t *)theirs)[i] != 0) {
            return gpume_log_fail(log, GPUME_UNSUPPORTED,
                "struct %s: a member is set that this library does not know; install the version "
                "that the program was compiled for",
                name);
        }
    }
    memset(ours, 0, bytes);
    memcpy(ours, theirs, size < bytes ? size : bytes);
    memcpy(ours, &bytes, sizeof(bytes));
    return GPUME_OK;
}

int gpume_sized_write(void *theirs, const void *ours, size_t bytes)
{
    const size_t size = size_of(theirs), at = sizeof(size);
    if (size < at) {
        return GPUME_INVALID;
    }
    memcpy((uint8_t *)theirs + at, (const uint8_t *)ours + at, (size < bytes ? size : bytes) - at);
    return GPUME_OK;
}
