/* SPDX-License-Identifier: BSD-2-Clause */
#include "distort.h"

#include "encode/choice.h"
#include "encode/costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum distortion { UNKNOWN, AS_FOUND, ZERO, REVERSED, SHUFFLED, DISTORTIONS };
static const char *const names[DISTORTIONS] = {NULL, "as_found", "zero", "reversed", "shuffled"};

#define COPIES 4096 /* of matches: more than the window's frames have in the table's runs */

static struct {
    enum distortion distortion;
    struct gpume_match matches[COPIES];
    struct gpume_mean mean;
    size_t next;
} control;

bool distort_by(const char *name)
{
    for (enum distortion i = AS_FOUND; i < DISTORTIONS; i++) {
        if (strcmp(name, names[i]) == 0) {
            control.distortion = i;
            return true;
        }
    }
    return false;
}

void distort_finish(void)
{
    for (size_t i = 0; i < COPIES; i++) {
        free(control.matches[i].vectors);
        free(control.matches[i].costs);
    }
    free(control.mean.both);
    free(control.mean.still);
    memset(&control, 0, sizeof control);
}

static void read_environment(void)
{
    const char *name = getenv("FIRSTPASS_DISTORT");
    if (!distort_by(name != NULL ? name : "as_found")) {
        fprintf(stderr, "FIRSTPASS_DISTORT: unknown distortion: %s\n", name);
        exit(1);
    }
}

static struct gpume_vector distorted(const struct gpume_vector *vectors, size_t count, size_t block)
{
    switch (control.distortion) {
    case ZERO:
        return (struct gpume_vector){0};
    case REVERSED:
        return (struct gpume_vector){
            .dx = (int16_t)-vectors[block].dx, .dy = (int16_t)-vectors[block].dy};
    case SHUFFLED: /* the vector of another block; the factor is prime, so that each is used once */
        return vectors[block * 48271 % count];
    default:
        return vectors[block];
    }
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fputs("distort: no memory left\n", stderr);
        exit(1);
    }
    return memory;
}

/* A match with distorted vectors and what those cost, in memory that is used again when the frame
 * has long been dropped. */
static const struct gpume_match *distort(
    const struct gpume_half *target, const struct gpume_match *match)
{
    const uint32_t across = target->width / GPUME_HALF_BLOCK;
    const uint32_t down = target->height / GPUME_HALF_BLOCK;
    const size_t count = (size_t)across * down;
    struct gpume_match *copy = &control.matches[control.next++ % COPIES];
    if (copy->vectors == NULL) {
        copy->vectors = allocate(count, sizeof *copy->vectors);
        copy->costs = allocate(count, sizeof *copy->costs);
    }
    for (size_t i = 0; i < count; i++) {
        copy->vectors[i] = distorted(match->vectors, count, i);
    }
    for (uint32_t y = 0; y < down; y++) {
        const size_t first = (size_t)y * across;
        const struct gpume_matches row = {match->reference, copy->vectors + first};
        gpume_match_costs(target, y, &row, copy->costs + first);
    }
    return copy;
}

/* The mean of both matches by their distorted vectors, in memory that is used again at once. */
static const struct gpume_mean *average(const struct gpume_choice *choice)
{
    const uint32_t across = choice->target->width / GPUME_HALF_BLOCK;
    const uint32_t down = choice->target->height / GPUME_HALF_BLOCK;
    struct gpume_mean *copy = &control.mean;
    if (copy->both == NULL) {
        copy->both = allocate((size_t)across * down, sizeof *copy->both);
        copy->still = allocate((size_t)across * down, sizeof *copy->still);
    }
    for (uint32_t y = 0; y < down; y++) {
        const size_t first = (size_t)y * across;
        const struct gpume_match *before = choice->mean->past, *after = choice->mean->future;
        const struct gpume_matches past = {before->reference, choice->past->vectors + first};
        const struct gpume_matches future = {after->reference, choice->future->vectors + first};
        gpume_both_mean_costs(choice->target, y, &past, &future, choice->mean->past_share,
            copy->both + first, copy->still + first);
    }
    return copy;
}

struct gpume_frame_cost __real_gpume_choose(const struct gpume_choice *choice);
struct gpume_frame_cost __wrap_gpume_choose(const struct gpume_choice *choice);

struct gpume_frame_cost __wrap_gpume_choose(const struct gpume_choice *choice)
{
    struct gpume_choice changed = *choice;
    if (control.distortion == UNKNOWN) {
        read_environment();
    }
    if (control.distortion != AS_FOUND && choice->past != NULL) {
        changed.past = distort(choice->target, choice->past);
    }
    if (control.distortion != AS_FOUND && choice->future != NULL) {
        changed.future = distort(choice->target, choice->future);
    }
    if (control.distortion != AS_FOUND && choice->mean != NULL) {
        changed.mean = average(&changed);
    }
    return __real_gpume_choose(&changed);
}
