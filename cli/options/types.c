/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values are read strictly: no signs, blanks, exponents or abbreviations, and no value out of range
 * is changed to fit.
 */
#include "options/option.h"

#include "options/common.h"
#include "vectors/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEARCHES_MAX 32u /* more than any build has */

static void store_integer(const struct gpume_option *option, void *field, int64_t value)
{
    switch (option->bytes) {
    case sizeof(bool):
        *(bool *)field = value != 0;
        break;
    case sizeof(uint32_t): /* also int and enums */
        *(uint32_t *)field = (uint32_t)value;
        break;
    default:
        *(uint64_t *)field = (uint64_t)value;
        break;
    }
}

static bool parse_flag(const struct gpume_option *option, const char *text, void *field)
{
    (void)text;
    store_integer(option, field, option->stored ? option->stored : 1);
    return true;
}

bool gpume_parse_digits(const char *text, size_t length, uint64_t max, uint64_t *number)
{
    uint64_t value = 0;
    if (length == 0) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        /* Stays at max + 1 however long the text is; max is at most 2^50. */
        value = value * 10 + (uint64_t)(text[i] - '0');
        value = value > max ? max + 1 : value;
    }
    *number = value;
    return value <= max;
}

bool gpume_type_number_parse(const struct gpume_option *option, const char *text, void *field)
{
    uint64_t number;
    if (!gpume_parse_digits(text, strlen(text), (uint64_t)option->max, &number) ||
        number < (uint64_t)option->min || (option->step && number % option->step != 0)) {
        return false;
    }
    store_integer(option, field, (int64_t)number);
    return true;
}

static void describe_whole(const struct gpume_option *option, char *text, size_t bytes)
{
    if (option->step) {
        snprintf(text, bytes, "a multiple of %u from %.0f to %.0f", option->step, option->min,
            option->max);
    } else {
        snprintf(text, bytes, "a whole number from %.0f to %.0f", option->min, option->max);
    }
}

static bool parse_number_or_auto(const struct gpume_option *option, const char *text, void *field)
{
    if (strcmp(text, "auto") == 0) {
        store_integer(option, field, 0);
        return true;
    }
    return gpume_type_number_parse(option, text, field);
}

const char *gpume_parse_real(const char *text, char end, double min, double max, double *real)
{
    const size_t length = strspn(text, "0123456789.");
    const char *point = memchr(text, '.', length);
    const bool one_point = !point || !memchr(point + 1, '.', length - (size_t)(point + 1 - text));
    if (length == 0 || length > 32 || text[length] != end || !one_point || (point && length == 1)) {
        return NULL;
    }
    const double value = strtod(text, NULL);
    if (value < min || value > max) {
        return NULL;
    }
    *real = value;
    return text + length;
}

bool gpume_type_real_parse(const struct gpume_option *option, const char *text, void *field)
{
    return gpume_parse_real(text, '\0', option->min, option->max, field) != NULL;
}

/* "XxY", or "N" for both axes of a window; "X,Y" for a pixel. */
static bool parse_pair(const struct gpume_option *option, const char *text, void *field)
{
    uint32_t *pair = field;
    uint64_t x, y;
    const uint64_t min = (uint64_t)option->min, max = (uint64_t)option->max;
    const char *by = strchr(text, option->type == &gpume_type_pixel ? ',' : 'x');
    const size_t length = by ? (size_t)(by - text) : strlen(text);
    if ((!by && option->type != &gpume_type_window) || !gpume_parse_digits(text, length, max, &x)) {
        return false;
    }
    y = x;
    if ((by && !gpume_parse_digits(by + 1, strlen(by + 1), max, &y)) || x < min || y < min) {
        return false;
    }
    pair[0] = (uint32_t)x;
    pair[1] = (uint32_t)y;
    return true;
}

/* Digits, then nothing or K, M, G or T for powers of 1000; for bytes also KiB, MiB, GiB or TiB for
 * powers of 1024. */
static bool parse_amount(const struct gpume_option *option, const char *text, void *field)
{
    static const char prefixes[] = "KMGT";
    const size_t digits = strspn(text, "0123456789");
    const char *prefix = text[digits] == 'k' ? prefixes
                         : text[digits] != 0 ? strchr(prefixes, text[digits])
                                             : NULL;
    const char *rest = prefix ? text + digits + 1 : text + digits;
    const bool by_1024 = option->type == &gpume_type_bytes && prefix && strcmp(rest, "iB") == 0;
    const uint64_t max = (uint64_t)option->max;
    uint64_t number;
    if ((*rest && !by_1024) || !gpume_parse_digits(text, digits, max, &number)) {
        return false;
    }
    for (const char *at = prefixes; prefix && at <= prefix && number <= max; at++) {
        number *= by_1024 ? 1024 : 1000; /* at most 2^50 * 1024 */
    }
    if (number < (uint64_t)option->min || number > max) {
        return false;
    }
    *(uint64_t *)field = number;
    return true;
}

bool gpume_type_choice_parse(const struct gpume_option *option, const char *text, void *field)
{
    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(text, option->choices[i]) == 0) {
            store_integer(option, field, option->stored + i);
            return true;
        }
    }
    return false;
}

/* "a or b", "a, b or c". */
void gpume_type_choice_describe(const struct gpume_option *option, char *text, size_t bytes)
{
    text[0] = '\0';
    for (size_t i = 0; option->choices[i]; i++) {
        gpume_text_join(
            text, bytes, option->choices[i + 1] ? ", " : " or ", "%s", option->choices[i]);
    }
}

void gpume_type_choice_words(const struct gpume_option *option, char *text, size_t bytes)
{
    text[0] = '\0';
    for (size_t i = 0; option->choices[i]; i++) {
        gpume_text_join(text, bytes, " ", "%s", option->choices[i]);
    }
}

static bool parse_text(const struct gpume_option *option, const char *text, void *field)
{
    (void)option;
    if (text[0] == '\0') {
        return false;
    }
    *(const char **)field = text;
    return true;
}

/* What this build has, even if the machine cannot run it. */
static void search_words(const struct gpume_option *option, char *text, size_t bytes)
{
    struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t count = 0;
    (void)option;
    text[0] = '\0';
    if (gpume_list_searches(NULL, searches, SEARCHES_MAX, &count) != GPUME_OK) {
        return;
    }
    for (uint32_t i = 0; i < count && i < SEARCHES_MAX; i++) {
        gpume_text_join(text, bytes, " ", "%s", searches[i].name);
    }
}

static bool takes_format(
    const struct gpume_option *option, const struct gpume_vectors_format *format)
{
    return format && (option->type != &gpume_type_readable_format || format->reader);
}

static bool parse_format(const struct gpume_option *option, const char *text, void *field)
{
    const struct gpume_vectors_format *format = gpume_vectors_format_named(text);
    if (!takes_format(option, format)) {
        return false;
    }
    *(const struct gpume_vectors_format **)field = format;
    return true;
}

static void describe_formats(const struct gpume_option *option, char *text, size_t bytes)
{
    const struct gpume_vectors_format *format = NULL, *next = NULL;
    text[0] = '\0';
    for (size_t i = 0; (next = gpume_vectors_format_at(i)) != NULL; i++) {
        if (takes_format(option, next)) {
            if (format) {
                gpume_text_join(text, bytes, ", ", "%s", format->name);
            }
            format = next;
        }
    }
    gpume_text_join(text, bytes, " or ", "%s", format->name);
}

static void formats_words(const struct gpume_option *option, char *text, size_t bytes)
{
    const struct gpume_vectors_format *format;
    text[0] = '\0';
    for (size_t i = 0; (format = gpume_vectors_format_at(i)) != NULL; i++) {
        if (takes_format(option, format)) {
            gpume_text_join(text, bytes, " ", "%s", format->name);
        }
    }
}

#define TYPE(name) const struct gpume_option_type gpume_type_##name
TYPE(flag) = {.parse = parse_flag};
TYPE(number) = {.parse = gpume_type_number_parse, .describe = describe_whole};
TYPE(number_or_auto) = {
    .parse = parse_number_or_auto, .permitted = "auto or a whole number from %.0f to %.0f"};
TYPE(real) = {
    .bytes = sizeof(double), .parse = gpume_type_real_parse, .permitted = "a number from %g to %g"};
TYPE(window) = {.bytes = sizeof(uint32_t),
    .parse = parse_pair,
    .permitted = "N or XxY, each from %.0f to %.0f, e.g. 16x8"};
TYPE(size) = {.bytes = sizeof(uint32_t),
    .parse = parse_pair,
    .permitted = "WxH, each from %.0f to %.0f, e.g. 1920x1080"};
TYPE(pixel) = {.bytes = sizeof(uint32_t),
    .parse = parse_pair,
    .permitted = "X,Y, each from %.0f to %.0f, e.g. 320,200"};
TYPE(count) = {.bytes = sizeof(uint64_t),
    .parse = parse_amount,
    .permitted = "a whole number from %.0f to %.0f, optionally followed by K or M, e.g. 9M"};
TYPE(bytes) = {.bytes = sizeof(uint64_t),
    .parse = parse_amount,
    .permitted = "a whole number from %.0f to %.0f, optionally followed by K, M, G, T, KiB, MiB, "
                 "GiB or TiB, e.g. 500M"};
TYPE(choice) = {.parse = gpume_type_choice_parse,
    .describe = gpume_type_choice_describe,
    .words = gpume_type_choice_words};
TYPE(text) = {.bytes = sizeof(char *), .parse = parse_text};
TYPE(search) = {.bytes = sizeof(char *), .parse = parse_text, .words = search_words};
TYPE(format) = {.bytes = sizeof(void *),
    .parse = parse_format,
    .describe = describe_formats,
    .words = formats_words};
TYPE(readable_format) = {.bytes = sizeof(void *),
    .parse = parse_format,
    .describe = describe_formats,
    .words = formats_words};

/* --- places and durations: a time is "[H:]M:S" or "Ss", S with up to six decimals; the letter, or
 * the colon, tells it from a number of frames */

#define TIME_MAX 100000u /* hours, or minutes or seconds if nothing comes before them */
#define SECOND 1000000   /* microseconds */

/* Digits, then perhaps a point and up to six more. Moves *text behind them. */
static bool take_seconds(const char **text, uint64_t max, int64_t *us)
{
    const size_t whole = strspn(*text, "0123456789");
    const bool has_point = (*text)[whole] == '.';
    const char *decimals = *text + whole + has_point;
    const size_t count = has_point ? strspn(decimals, "0123456789") : 0;
    uint64_t seconds, fraction = 0;
    if (!gpume_parse_digits(*text, whole, max, &seconds) || (has_point && count == 0) ||
        count > 6 || (count > 0 && !gpume_parse_digits(decimals, count, SECOND, &fraction))) {
        return false;
    }
    for (size_t i = count; i < 6; i++) {
        fraction *= 10;
    }
    *us = (int64_t)seconds * SECOND + (int64_t)fraction;
    *text = decimals + count;
    return true;
}

static bool read_time(const char *text, int64_t *us)
{
    uint64_t minutes = 0; /* and hours */
    uint64_t max = TIME_MAX;
    int fields = 0;
    for (const char *colon; (colon = strchr(text, ':')) != NULL; text = colon + 1) {
        uint64_t value;
        if (++fields > 2 || !gpume_parse_digits(text, (size_t)(colon - text), max, &value)) {
            return false;
        }
        minutes = minutes * 60 + value;
        max = 59;
    }
    if (!take_seconds(&text, max, us)) {
        return false;
    }
    *us += (int64_t)minutes * 60 * SECOND;
    return strcmp(text, fields > 0 ? "" : "s") == 0;
}

static bool parse_place(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_place place = {0};
    const uint64_t min = (uint64_t)option->min;
    if (!gpume_parse_digits(text, strlen(text), (uint64_t)option->max, &place.frame)) {
        place = (struct gpume_place){.is_time = read_time(text, &place.us), .us = place.us};
        if (!place.is_time) {
            return false;
        }
    }
    if (min > 0 && (place.is_time ? place.us == 0 : place.frame < min)) {
        return false;
    }
    *(struct gpume_place *)field = place;
    return true;
}

static void describe_frame_or_time(const struct gpume_option *option, char *text, size_t bytes)
{
    snprintf(text, bytes, "a whole number from %.0f to %.0f, or a time%s such as 1:23.4 or 12.5s",
        option->min, option->max, option->min > 0 ? " above 0" : "");
}

static bool parse_duration(const struct gpume_option *option, const char *text, void *field)
{
    int64_t us;
    (void)option;
    if (!read_time(text, &us) || us == 0) {
        return false;
    }
    *(int64_t *)field = us;
    return true;
}

/* A number alone is not a time. */
static void hint_duration(
    const struct gpume_option *option, const char *text, char *hint, size_t bytes)
{
    char seconds[32];
    int64_t us;
    (void)option;
    snprintf(seconds, sizeof(seconds), "%ss", text);
    if (read_time(seconds, &us) && us > 0) {
        snprintf(hint, bytes, "for %s seconds write %s", text, seconds);
    }
}

const struct gpume_option_type gpume_type_place = {
    .bytes = sizeof(struct gpume_place), .parse = parse_place, .describe = describe_frame_or_time};
const struct gpume_option_type gpume_type_duration = {.bytes = sizeof(int64_t),
    .parse = parse_duration,
    .permitted = "a time above 0 such as 1:23.4 or 12.5s",
    .hint = hint_duration};

/* --- shapes, distances and what else describes a search */

static bool add_shape(struct gpume_shape_list *list, uint32_t width, uint32_t height)
{
    if (list->count == GPUME_SHAPES_MAX) {
        return false;
    }
    list->shapes[list->count++] = (struct gpume_block_size){width, height};
    return true;
}

/* Squares from the largest side to the smallest, each half of the one before. */
static bool add_squares(
    struct gpume_shape_list *list, uint32_t largest, uint32_t smallest, bool halves)
{
    uint32_t side = largest;
    bool fits = add_shape(list, side, side);
    while (fits && side > smallest && side % 2 == 0) {
        const uint32_t half = side / 2;
        fits = !halves || (add_shape(list, side, half) && add_shape(list, half, side));
        side = half;
        fits = fits && add_shape(list, side, side);
    }
    return fits && side == smallest;
}

/* Moves *text behind a side. */
static bool take_side(const char **text, uint32_t *side)
{
    const size_t length = strspn(*text, "0123456789");
    uint64_t number;
    if (!gpume_parse_digits(*text, length, GPUME_BLOCK_MAX, &number) || number < GPUME_BLOCK_MIN ||
        number % 4 != 0) {
        return false;
    }
    *side = (uint32_t)number;
    *text += length;
    return true;
}

static bool take_word(const char **text, const char *wanted)
{
    const size_t length = strlen(wanted);
    if (strncmp(*text, wanted, length) != 0) {
        return false;
    }
    *text += length;
    return true;
}

static bool take_shapes(const char **text, struct gpume_shape_list *list)
{
    uint32_t first, second;
    if (!take_side(text, &first)) {
        return false;
    }
    if (take_word(text, "x")) {
        return take_side(text, &second) && add_shape(list, first, second);
    }
    if (take_word(text, "..")) {
        return take_side(text, &second) &&
               add_squares(list, first, second, take_word(text, "+rect"));
    }
    return add_shape(list, first, first);
}

static bool parse_shapes(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_shape_list list = {.count = 0};
    (void)option;
    do {
        if (!take_shapes(&text, &list)) {
            return false;
        }
    } while (take_word(&text, ","));
    *(struct gpume_shape_list *)field = list;
    return *text == '\0';
}

void gpume_shape_list_apply(const struct gpume_shape_list *list, struct gpume_params *params)
{
    const bool plain = list->count == 1 && list->shapes[0].width == list->shapes[0].height;
    if (list->count > 0) {
        params->block = list->shapes[0].width;
        params->shape_count = plain ? 0 : list->count;
        memcpy(params->shapes, list->shapes, sizeof(params->shapes));
    }
}

static bool parse_distances(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_distance_list list = {.count = 0};
    (void)option;
    do {
        const size_t length = strspn(text, "0123456789");
        uint64_t number;
        if (!gpume_parse_digits(text, length, GPUME_DISTANCE_MAX, &number) || number == 0 ||
            list.count == GPUME_DISTANCES_MAX) {
            return false;
        }
        uint32_t at = list.count++;
        for (; at > 0 && list.distances[at - 1] > number; at--) {
            list.distances[at] = list.distances[at - 1];
        }
        list.distances[at] = (uint32_t)number;
        text += length;
    } while (take_word(&text, ","));
    *(struct gpume_distance_list *)field = list;
    return *text == '\0';
}

void gpume_distance_list_apply(const struct gpume_distance_list *list, struct gpume_params *params)
{
    if (list->count > 0) {
        params->ref_distance = list->distances[0];
        params->distance_count = list->count > 1 ? list->count : 0;
        memcpy(params->distances, list->distances, sizeof(params->distances));
    }
}

static bool parse_subpel(const struct gpume_option *option, const char *text, void *field)
{
    (void)option;
    if (text[0] == '\0' || !strchr("124", text[0]) || text[1] != '\0') {
        return false;
    }
    *(uint32_t *)field = (uint32_t)(text[0] - '0');
    return true;
}

void gpume_lambda_apply(double lambda, double qp, struct gpume_params *params)
{
    if (lambda >= 0 || qp >= 0) {
        params->rate = true;
        params->lambda = (uint32_t)floor(256 * (lambda >= 0 ? lambda : exp2((qp - 12) / 6)) + 0.5);
    }
}

#define TEXT(number) #number
#define NUMBER(macro) TEXT(macro)
const struct gpume_option_type gpume_type_shapes = {.bytes = sizeof(struct gpume_shape_list),
    .parse = parse_shapes,
    .permitted = "up to " NUMBER(
        GPUME_SHAPES_MAX) " shapes such as 8, 16x8, 64..8 or 64..8+rect, with commas between them "
                          "and sides that are multiples of 4 from 4 to 128, e.g. 8"};
const struct gpume_option_type gpume_type_distances = {sizeof(struct gpume_distance_list),
    parse_distances,
    .permitted =
        "a whole number from 1 to " NUMBER(GPUME_DISTANCE_MAX) ", or a list of at most " NUMBER(
            GPUME_DISTANCES_MAX) " with commas, e.g. 1,2,4"};
const struct gpume_option_type gpume_type_subpel = {
    .bytes = sizeof(uint32_t), .parse = parse_subpel, .permitted = "1, 2 or 4"};

/* --- how overlays look */

static bool parse_flow_max(const struct gpume_option *option, const char *text, void *field)
{
    double *pixels = field;
    if (strcmp(text, "auto") == 0) {
        *pixels = GPUME_OVERLAY_FLOW_AUTO;
        return true;
    }
    return gpume_parse_real(text, '\0', option->min, option->max, pixels) != NULL;
}

const struct gpume_option_type gpume_type_flow_max = {.bytes = sizeof(double),
    .parse = parse_flow_max,
    .permitted = "auto or a number from %g to %g"};
