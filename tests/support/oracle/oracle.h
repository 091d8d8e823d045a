/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An independent search for the tests, written from the text that promises what gpume does: plain
 * loops and exact integers that share no code with the program.
 *
 *     search_oracle CLIP.y4m [options as gpume spells them] [--frames-csv FILE]
 *
 * prints the vectors.csv that gpume must write, and writes its frames.csv to FILE. Reading order:
 * interpolate, cost, search (one block), pair (all blocks of two pictures), choose (references and
 * partitions), confidence, table. "Ambiguous:" marks each place where the text allows a second
 * reading.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_SHAPES = 32, MAX_DISTANCES = 16, MAX_CANDIDATES = 8, MAX_SIDE = 128 };
enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INPUT = 3 };

/* In units of the run: pixels, half pixels or quarter pixels. */
struct vector {
    int dx, dy;
};

struct shape {
    int width, height;
};

enum metric { METRIC_SAD, METRIC_SATD, METRIC_SSD };
enum interpolation { INTERPOLATION_H264, INTERPOLATION_HEVC, INTERPOLATION_BILINEAR };
enum predictor { PREDICTOR_ZERO, PREDICTOR_MEDIAN, PREDICTOR_FILE };

struct options {
    const char *clip, *frames_csv; /* frames_csv may be NULL */
    struct shape shapes[MAX_SHAPES];
    int shape_count;
    bool partition;
    int window_x, window_y; /* pixels */
    bool inside;
    enum metric metric;
    enum metric refine_metric; /* of the refinement and of results */
    bool has_refine_metric;    /* else it is that of the search */
    int subpel;                /* units per pixel: 1, 2 or 4 */
    enum interpolation interpolation;
    bool full;  /* every fraction is a candidate */
    bool rate;  /* --lambda or --qp was given */
    int lambda; /* in 1/256 */
    enum predictor predictor;
    const char *predictor_file;
    int passes;
    int distances[MAX_DISTANCES]; /* rising */
    int distance_count;
    bool past, future, best_reference, bidirectional;
    int candidates;
    bool confidence;
    int start, frames; /* -1: not given */
    bool surface;      /* of the block that holds this pixel: */
    int surface_x, surface_y;
};

/* Samples at one fraction of a pixel, with a margin as wide as the window. */
struct plane {
    uint16_t *samples;
};

struct picture {
    int width, height, bits;
    uint16_t *samples;
    struct plane planes[4][4]; /* [quarters down][quarters to the right], made when needed */
};

struct clip {
    int width, height, bits, count;
    long rate_numerator, rate_denominator; /* frames per second */
    struct picture *pictures;
};

/* Where a block lies: its visible size, and its shape's index. */
struct place {
    int x, y, w, h;
    int shape;
};

struct match {
    struct vector vector;
    uint64_t distortion; /* without rate */
    int bits;
    uint64_t cost; /* what is minimised */
};

/* What was found for one block. matches[0] is the best; with `mean` its vector is the past one,
 * ref2 and vector2 are the future one, and distortion, bits and cost are those of both. */
struct block {
    struct place place;
    int ref;
    struct vector predictor; /* of the last pass */
    struct match matches[MAX_CANDIDATES];
    int match_count;
    int ties;
    bool mean;
    int ref2;
    struct vector vector2;
    int rank;
};

struct grid {
    int columns, rows;
    struct block *blocks;
};

/* The blocks of every shape, for one target: against one reference, or the best of several. */
struct field {
    int target;
    struct grid grids[MAX_SHAPES];
};

/* A list of blocks in the order of their rows. */
struct list {
    struct block *blocks;
    int count;
};

struct run {
    const struct options *options;
    const struct clip *clip;
    struct field **pairs; /* [target * count + ref], searched when needed */
};

/* One block's search. With `other`, every prediction is averaged with these samples, and their
 * vector's bits count too. */
struct search {
    const struct options *options;
    struct picture *target, *reference;
    struct place place;
    struct vector predictor;
    const uint16_t *other; /* or NULL; w x h samples */
    int other_bits;
};

/* options.c */
void parse_options(struct options *options, int count, char **words);
void parse_shapes(struct options *options, const char *text);
int lambda_of(double lambda); /* in 1/256 */

/* clip.c */
void read_clip(struct clip *clip, const char *path);

/* interpolate.c. Quarters of a pixel: fx and fy from 0 to 3. */
int interpolate(
    const struct picture *picture, enum interpolation how, int x, int y, int fx, int fy);
void predict(const struct options *options, struct picture *reference, const struct place *place,
    struct vector vector, uint16_t *samples); /* w x h of them */

/* cost.c. Both blocks are w x h samples. */
uint64_t distortion(
    enum metric metric, struct shape shape, const uint16_t *a, const uint16_t *b, int w, int h);
int vector_bits(struct vector vector, struct vector predictor);
uint64_t total_cost(uint64_t distortion, int lambda, int bits);

/* search.c */
void block_samples(const struct picture *picture, const struct place *place, uint16_t *samples);
void average(uint16_t *samples, const uint16_t *other, int count);
struct match evaluate(const struct search *search, enum metric metric, struct vector vector);
int search_block(const struct search *search, int wanted, struct match *matches, int *ties);

bool is_candidate(const struct search *search, struct vector vector);

/* surface.c */
void print_surface_header(void);
void print_surface(const struct run *run, int target, int ref);

/* predictor.c */
struct vector median_predictor(const struct grid *before, int column, int row);
struct vector file_predictor(
    const struct options *options, int target, int ref, const struct place *place);

/* pair.c */
void make_grids(const struct run *run, int target, struct field *field);
struct field *search_pair(struct run *run, int target, int ref);

/* choose.c */
int references_of(const struct run *run, int target, int *refs); /* nearest first, past first */
struct field *best_of(struct run *run, int target, const int *refs, int count);

/* bidirectional.c */
void try_mean(struct run *run, const struct block *past, const struct block *future, int target,
    struct block *best);

/* partition.c */
struct list chosen_blocks(const struct run *run, const struct field *field);
struct list shape_blocks(const struct field *field, int shape);

/* confidence.c */
uint64_t texture_of(const struct picture *target, const struct place *place);
int return_of(struct run *run, int target, const struct block *block); /* units of the run */

/* table.c */
void print_header(const struct options *options);
void print_field(struct run *run, const struct field *field);
void print_frames_header(FILE *file);
void print_frame(FILE *file, struct run *run, const struct field *field, int ref);
void print_pixels(FILE *file, int units, int subpel);

/* fail.c */
void fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
void *allocate(size_t count, size_t size); /* zeroed */

#endif
