/* SPDX-License-Identifier: BSD-2-Clause */
/* vectors.csv and frames.csv (section 4, and the new columns of sections 7 to 12). */
#include "oracle.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* In shortest form and never -0. */
void print_pixels(FILE *file, int units, int subpel)
{
    const char *const quarters[4] = {"", ".25", ".5", ".75"};
    const int size = abs(units);
    fprintf(file, "%s%d%s", units < 0 ? "-" : "", size / subpel,
        quarters[size % subpel * (4 / subpel)]);
}

static bool has_return(const struct options *options)
{
    return options->confidence && options->past && options->future;
}

/* Ambiguous: --candidates 1 is taken to be the default, which adds no column. */
void print_header(const struct options *options)
{
    const struct {
        bool shown;
        const char *names;
    } columns[] = {
        {true, "frame,ref,x,y,w,h,dx,dy,cost,rank"},
        {options->shape_count > 1, ",shape"},
        {options->rate, ",bits"},
        {options->bidirectional, ",ref2,dx2,dy2"},
        {options->candidates > 1, ",candidate"},
        {options->confidence, ",second,ties,texture"},
        {has_return(options), ",return"},
        {true, "\n"},
    };
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        fputs(columns[i].shown ? columns[i].names : "", stdout);
    }
}

static void print_mean(const struct options *options, const struct block *block)
{
    if (!block->mean) {
        fputs(",,,", stdout);
        return;
    }
    printf(",%d,", block->ref2);
    print_pixels(stdout, block->vector2.dx, options->subpel);
    putchar(',');
    print_pixels(stdout, block->vector2.dy, options->subpel);
}

static void print_confidence(struct run *run, int target, const struct block *block)
{
    putchar(',');
    if (block->match_count > 1) {
        printf("%" PRIu64, block->matches[1].cost);
    }
    printf(",%d,%" PRIu64, block->ties, texture_of(&run->clip->pictures[target], &block->place));
    if (has_return(run->options)) {
        putchar(',');
        print_pixels(stdout, return_of(run, target, block), run->options->subpel);
    }
}

static void print_row(struct run *run, int target, const struct block *block, int candidate)
{
    const struct options *options = run->options;
    const struct place *place = &block->place;
    const struct shape shape = options->shapes[place->shape];
    const struct match *match = &block->matches[candidate];
    printf("%d,%d,%d,%d,%d,%d,", target, block->ref, place->x, place->y, place->w, place->h);
    print_pixels(stdout, match->vector.dx, options->subpel);
    putchar(',');
    print_pixels(stdout, match->vector.dy, options->subpel);
    printf(",%" PRIu64 ",%d", match->cost, block->rank);
    if (options->shape_count > 1) {
        printf(",%dx%d", shape.width, shape.height);
    }
    if (options->rate) {
        printf(",%d", match->bits);
    }
    if (options->bidirectional) {
        print_mean(options, block);
    }
    if (options->candidates > 1) {
        printf(",%d", candidate);
    }
    if (options->confidence) {
        print_confidence(run, target, block);
    }
    putchar('\n');
}

/* A block's rank is the number of blocks that are costlier, or as costly and before it. */
static void rank(struct list list)
{
    for (int i = 0; i < list.count; i++) {
        const uint64_t cost = list.blocks[i].matches[0].cost;
        list.blocks[i].rank = 0;
        for (int j = 0; j < list.count; j++) {
            const uint64_t other = list.blocks[j].matches[0].cost;
            list.blocks[i].rank += other > cost || (other == cost && j < i);
        }
    }
}

static void print_list(struct run *run, int target, struct list list)
{
    rank(list);
    for (int i = 0; i < list.count; i++) {
        for (int j = 0; j < list.blocks[i].match_count && j < run->options->candidates; j++) {
            print_row(run, target, &list.blocks[i], j);
        }
    }
}

void print_field(struct run *run, const struct field *field)
{
    if (run->options->partition) {
        struct list list = chosen_blocks(run, field);
        print_list(run, field->target, list);
        free(list.blocks);
        return;
    }
    for (int i = 0; i < run->options->shape_count; i++) {
        print_list(run, field->target, shape_blocks(field, i));
    }
}

struct sums {
    uint64_t sad, sse;
};

static struct sums compare(const uint16_t *a, const uint16_t *b, int count)
{
    struct sums sums = {0, 0};
    for (int i = 0; i < count; i++) {
        const int64_t difference = a[i] - b[i];
        sums.sad += (uint64_t)llabs(difference);
        sums.sse += (uint64_t)(difference * difference);
    }
    return sums;
}

static bool is_zero(const struct block *block)
{
    const struct vector a = block->matches[0].vector;
    return a.dx == 0 && a.dy == 0 &&
           (!block->mean || (block->vector2.dx == 0 && block->vector2.dy == 0));
}

/* The block's prediction against the target. */
static struct sums compare_block(struct run *run, int target, const struct block *block)
{
    const struct place *place = &block->place;
    uint16_t samples[MAX_SIDE * MAX_SIDE];
    uint16_t prediction[MAX_SIDE * MAX_SIDE];
    uint16_t future[MAX_SIDE * MAX_SIDE];
    block_samples(&run->clip->pictures[target], place, samples);
    predict(run->options, &run->clip->pictures[block->ref], place, block->matches[0].vector,
        prediction);
    if (block->mean) {
        predict(run->options, &run->clip->pictures[block->ref2], place, block->vector2, future);
        average(prediction, future, place->w * place->h);
    }
    return compare(samples, prediction, place->w * place->h);
}

void print_frames_header(FILE *file)
{
    fputs("frame,ref,time,blocks,zero,sad_before,sad_after,sse_before,sse_after,psnr_before,"
          "psnr_after\n",
        file);
}

static void print_psnr(FILE *file, const struct clip *clip, uint64_t sse)
{
    const double peak = (1 << clip->bits) - 1;
    const double pixels = (double)clip->width * clip->height;
    if (sse == 0) {
        fputs(",inf", file);
    } else {
        fprintf(file, ",%.3f", 10 * log10(peak * peak * pixels / (double)sse));
    }
}

/* Ambiguous: `ref` of a target whose blocks keep the best of several references is taken to be the
 * nearest, whose figures are those before. The columns that --confidence adds have no names in the
 * text and are left out. */
void print_frame(FILE *file, struct run *run, const struct field *field, int ref)
{
    const struct clip *clip = run->clip;
    const struct list list =
        run->options->partition ? chosen_blocks(run, field) : shape_blocks(field, 0);
    const struct sums before = compare(clip->pictures[field->target].samples,
        clip->pictures[ref].samples, clip->width * clip->height);
    struct sums after = {0, 0};
    int zero = 0;
    for (int i = 0; i < list.count; i++) {
        const struct sums sums = compare_block(run, field->target, &list.blocks[i]);
        after.sad += sums.sad;
        after.sse += sums.sse;
        zero += is_zero(&list.blocks[i]);
    }
    fprintf(file, "%d,%d,%.6f,%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, field->target,
        ref, (double)field->target * (double)clip->rate_denominator / (double)clip->rate_numerator,
        list.count, zero, before.sad, after.sad, before.sse, after.sse);
    print_psnr(file, clip, before.sse);
    print_psnr(file, clip, after.sse);
    fputc('\n', file);
    if (run->options->partition) {
        free(list.blocks);
    }
}
