/* SPDX-License-Identifier: BSD-2-Clause */
/* The options, spelled as gpume spells them. Only what a legal command line needs is checked. */
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void wrong(const char *option, const char *value)
{
    fail(EXIT_USAGE, "%s %s: not a legal value", option, value);
}

static int whole_number(const char *option, const char *text, int low, int high)
{
    char *end = NULL;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || value < low || value > high) {
        wrong(option, text);
    }
    return (int)value;
}

/* The index of the word among `names`, which are separated by bars. */
static int choice(const char *option, const char *text, const char *names)
{
    int index = 0;
    for (const char *name = names; name; index++) {
        const char *bar = strchr(name, '|');
        const size_t length = bar ? (size_t)(bar - name) : strlen(name);
        if (strlen(text) == length && strncmp(text, name, length) == 0) {
            return index;
        }
        name = bar ? bar + 1 : NULL;
    }
    wrong(option, text);
    return -1;
}

static void add_shape(struct options *options, int width, int height)
{
    const struct shape shape = {width, height};
    if (width < 4 || height < 4 || width > MAX_SIDE || height > MAX_SIDE || width % 4 ||
        height % 4 || options->shape_count == MAX_SHAPES) {
        fail(EXIT_USAGE, "--block: %dx%d is no legal shape, or one too many", width, height);
    }
    for (int i = 0; i < options->shape_count; i++) {
        if (options->shapes[i].width == width && options->shapes[i].height == height) {
            fail(EXIT_USAGE, "--block: %dx%d twice", width, height);
        }
    }
    options->shapes[options->shape_count++] = shape;
}

/* 64..8: squares by halves; with +rect each but the smallest is followed by its two halves. */
static void add_squares(struct options *options, int largest, int smallest, bool halves)
{
    int side = largest;
    for (; side > smallest; side /= 2) {
        add_shape(options, side, side);
        if (halves) {
            add_shape(options, side, side / 2);
            add_shape(options, side / 2, side);
        }
    }
    if (side != smallest) {
        fail(EXIT_USAGE, "--block: %d..%d: not by halves", largest, smallest);
    }
    add_shape(options, smallest, smallest);
}

void parse_shapes(struct options *options, const char *text)
{
    char copy[1024];
    char *rest = NULL;
    snprintf(copy, sizeof(copy), "%s", text);
    options->shape_count = 0;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int a = 0;
        int b = 0;
        int end = 0;
        if (sscanf(word, "%d..%d%n", &a, &b, &end) == 2) {
            add_squares(options, a, b, strcmp(word + end, "+rect") == 0);
        } else if (sscanf(word, "%dx%d", &a, &b) == 2) {
            add_shape(options, a, b);
        } else {
            a = whole_number("--block", word, 4, MAX_SIDE);
            add_shape(options, a, a);
        }
    }
}

static void parse_window(struct options *options, const char *text)
{
    if (sscanf(text, "%dx%d", &options->window_x, &options->window_y) == 2) {
        return;
    }
    options->window_x = options->window_y = whole_number("--window", text, 0, 512);
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void parse_distances(struct options *options, const char *text)
{
    char copy[256];
    char *rest = NULL;
    snprintf(copy, sizeof(copy), "%s", text);
    options->distance_count = 0;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (options->distance_count == MAX_DISTANCES) {
            wrong("--ref-distance", text);
        }
        options->distances[options->distance_count++] =
            whole_number("--ref-distance", word, 1, 1024);
    }
    qsort(options->distances, (size_t)options->distance_count, sizeof(int), by_value);
}

int lambda_of(double lambda)
{
    return (int)floor(256 * lambda + 0.5);
}

static void parse_predictor(struct options *options, const char *text)
{
    options->predictor = PREDICTOR_FILE;
    options->predictor_file = text;
    if (strcmp(text, "zero") == 0) {
        options->predictor = PREDICTOR_ZERO;
    } else if (strcmp(text, "median") == 0) {
        options->predictor = PREDICTOR_MEDIAN;
    }
}

static bool parse_switch(struct options *options, const char *word)
{
    const struct {
        const char *name;
        bool *value;
    } table[] = {
        {"--partition", &options->partition},
        {"--best-reference", &options->best_reference},
        {"--bidirectional", &options->bidirectional},
        {"--confidence", &options->confidence},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(word, table[i].name) == 0) {
            *table[i].value = true;
            return true;
        }
    }
    return false;
}

static bool parse_search(struct options *options, const char *word, const char *value)
{
    if (strcmp(word, "--block") == 0 || strcmp(word, "-b") == 0) {
        parse_shapes(options, value);
    } else if (strcmp(word, "--window") == 0 || strcmp(word, "-w") == 0) {
        parse_window(options, value);
    } else if (strcmp(word, "--edge") == 0) {
        options->inside = choice(word, value, "extend|inside") == 1;
    } else if (strcmp(word, "--metric") == 0) {
        options->metric = (enum metric)choice(word, value, "sad|satd|ssd");
    } else if (strcmp(word, "--refine-metric") == 0) {
        options->refine_metric = (enum metric)choice(word, value, "sad|satd|ssd");
        options->has_refine_metric = true;
    } else if (strcmp(word, "--subpel") == 0) {
        options->subpel = 1 << choice(word, value, "1|2|4");
    } else if (strcmp(word, "--interpolation") == 0) {
        options->interpolation = (enum interpolation)choice(word, value, "h264|hevc|bilinear");
    } else if (strcmp(word, "--subpel-search") == 0) {
        options->full = choice(word, value, "refine|full") == 1;
    } else if (strcmp(word, "--candidates") == 0) {
        options->candidates = whole_number(word, value, 1, MAX_CANDIDATES);
    } else {
        return false;
    }
    return true;
}

static bool parse_rate(struct options *options, const char *word, const char *value)
{
    if (strcmp(word, "--lambda") == 0) {
        options->lambda = lambda_of(strtod(value, NULL));
        options->rate = true;
    } else if (strcmp(word, "--qp") == 0) {
        options->lambda = lambda_of(pow(2, (strtod(value, NULL) - 12) / 6));
        options->rate = true;
    } else if (strcmp(word, "--predictor") == 0) {
        parse_predictor(options, value);
    } else if (strcmp(word, "--passes") == 0) {
        options->passes = whole_number(word, value, 1, 8);
    } else {
        return false;
    }
    return true;
}

static bool parse_frames(struct options *options, const char *word, const char *value)
{
    if (strcmp(word, "--ref-distance") == 0) {
        parse_distances(options, value);
    } else if (strcmp(word, "--direction") == 0) {
        const int direction = choice(word, value, "past|future|both");
        options->past = direction != 1;
        options->future = direction != 0;
    } else if (strcmp(word, "--start") == 0) {
        options->start = whole_number(word, value, 0, 1 << 30);
    } else if (strcmp(word, "--frames") == 0) {
        options->frames = whole_number(word, value, 1, 1 << 30);
    } else if (strcmp(word, "--frames-csv") == 0) {
        options->frames_csv = value;
    } else if (strcmp(word, "--surface") == 0) {
        options->surface = sscanf(value, "%d,%d", &options->surface_x, &options->surface_y) == 2;
    } else {
        return false;
    }
    return true;
}

/* Ambiguous: the default of --predictor, which is taken to be the first that is named: zero. */
void parse_options(struct options *options, int count, char **words)
{
    *options = (struct options){.window_x = 7,
        .window_y = 7,
        .subpel = 1,
        .passes = 2,
        .distances = {1},
        .distance_count = 1,
        .past = true,
        .candidates = 1,
        .start = -1,
        .frames = -1};
    parse_shapes(options, "8");
    for (int i = 1; i < count; i++) {
        if (words[i][0] != '-') {
            options->clip = words[i];
        } else if (parse_switch(options, words[i])) {
            continue;
        } else if (i + 1 < count && (parse_search(options, words[i], words[i + 1]) ||
                                        parse_rate(options, words[i], words[i + 1]) ||
                                        parse_frames(options, words[i], words[i + 1]))) {
            i++;
        } else {
            fail(EXIT_USAGE, "%s: unknown, or without its value", words[i]);
        }
    }
    if (!options->clip) {
        fail(EXIT_USAGE, "no clip");
    }
    if (options->bidirectional) {
        options->best_reference = options->past = options->future = true;
    }
    if (!options->has_refine_metric) {
        options->refine_metric = options->metric;
    }
    /* One unit per pixel: whole pixels are all candidates. */
    options->full = options->full || options->subpel == 1;
}
