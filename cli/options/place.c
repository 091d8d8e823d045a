/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A time is "[H:]M:S" or "Ss", S with up to six decimals. The letter, or the colon, tells it from a
 * number of frames.
 */
#include "options/place.h"

#include "options/types.h"

#include <stdio.h>
#include <string.h>

#define FIELD_MAX 100000u /* hours, or minutes or seconds if nothing comes before them */
#define SECOND 1000000    /* microseconds */

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
    uint64_t max = FIELD_MAX;
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

static void describe_place(const struct gpume_option *option, char *text, size_t bytes)
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

static void describe_duration(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(text, bytes, "a time above 0 such as 1:23.4 or 12.5s");
}

const struct gpume_option_type gpume_type_place = {
    sizeof(struct gpume_place), parse_place, describe_place, NULL};
const struct gpume_option_type gpume_type_duration = {
    sizeof(int64_t), parse_duration, describe_duration, NULL};
