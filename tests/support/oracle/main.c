/* SPDX-License-Identifier: BSD-2-Clause */
#include "oracle.h"

#include <math.h>

/* Ambiguous: where bounds are named without the largest rate, which depends on the predictors, only
 * the distortion's bound is checked here. */
static void refuse_large_costs(const struct options *options, int bits)
{
    for (int i = 0; i < options->shape_count; i++) {
        const struct shape shape = options->shapes[i];
        const double peak = (1 << bits) - 1;
        const double factors[] = {1, 2, peak};
        const double search = factors[options->metric], refined = factors[options->refine_metric];
        if (fmax(search, refined) * peak * shape.width * shape.height > UINT32_MAX) {
            fail(
                EXIT_USAGE, "%dx%d: costs of %d bits pass 2^32-1", shape.width, shape.height, bits);
        }
    }
    if (options->interpolation == INTERPOLATION_HEVC && options->subpel > 1 && bits > 12) {
        fail(EXIT_USAGE, "--interpolation hevc: %d bits are more than 12", bits);
    }
}

static void estimate(struct run *run, int target, FILE *frames)
{
    int refs[2 * MAX_DISTANCES];
    const int count = references_of(run, target, refs);
    if (count && run->options->best_reference) {
        const struct field *field = best_of(run, target, refs, count);
        print_field(run, field);
        if (frames) {
            print_frame(frames, run, field, refs[0]);
        }
        return;
    }
    for (int i = 0; i < count && run->options->surface; i++) {
        print_surface(run, target, refs[i]);
    }
    for (int i = 0; i < count && !run->options->surface; i++) {
        const struct field *field = search_pair(run, target, refs[i]);
        print_field(run, field);
        if (frames) {
            print_frame(frames, run, field, refs[i]);
        }
    }
}

/* The first target that --frames counts: no earlier one has a reference. */
static int first_target(const struct run *run)
{
    int refs[2 * MAX_DISTANCES];
    int target = run->options->start > 0 ? run->options->start : 0;
    while (target < run->clip->count && !references_of(run, target, refs)) {
        target++;
    }
    return target;
}

int main(int count, char **words)
{
    struct options options;
    struct clip clip;
    parse_options(&options, count, words);
    read_clip(&clip, options.clip);
    refuse_large_costs(&options, clip.bits);
    struct run run = {&options, &clip, NULL};
    run.pairs = allocate((size_t)clip.count * (size_t)clip.count, sizeof(*run.pairs));
    FILE *frames = options.frames_csv ? fopen(options.frames_csv, "w") : NULL;
    if (options.frames_csv && !frames) {
        fail(EXIT_FAILED, "%s: cannot be written", options.frames_csv);
    }
    const int first = first_target(&run);
    options.surface ? print_surface_header() : print_header(&options);
    if (frames) {
        print_frames_header(frames);
    }
    for (int target = first; target < clip.count; target++) {
        if (options.frames < 0 || target - first < options.frames) {
            estimate(&run, target, frames);
        }
    }
    return (frames && fclose(frames) != 0) || fflush(stdout) != 0 ? EXIT_FAILED : 0;
}
