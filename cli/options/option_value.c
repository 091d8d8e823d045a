/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/option_value.h"

#include "console.h"
#include "vectors/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_digits(const char *text, size_t length, uint64_t max, uint64_t *number)
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

static bool parse_uint(
    const struct gpume_option_row *row, const char *text, union gpume_option_value *value)
{
    if (parse_digits(text, strlen(text), (uint64_t)row->max, &value->number) &&
        value->number >= (uint64_t)row->min) {
        return true;
    }
    return false;
}

/* Digits with at most one point: neither signs nor exponents, hexadecimals or words of strtod. */
static bool parse_real(
    const struct gpume_option_row *row, const char *text, union gpume_option_value *value)
{
    const size_t digits = strspn(text, "0123456789.");
    const char *point = strchr(text, '.');
    if (text[digits] != '\0' || digits == 0 || digits > 32 || (point && strchr(point + 1, '.')) ||
        (point && digits == 1)) {
        return false;
    }
    value->real = strtod(text, NULL);
    return value->real >= row->min && value->real <= row->max;
}

/* "XxY", or "N" for both where that is allowed. */
static bool parse_pair(
    const char *text, uint64_t min, uint64_t max, bool single, union gpume_option_value *value)
{
    uint64_t x, y;
    const char *by = strchr(text, 'x');
    const size_t length = by ? (size_t)(by - text) : strlen(text);
    if ((!by && !single) || !parse_digits(text, length, max, &x)) {
        return false;
    }
    y = x;
    if (by && !parse_digits(by + 1, strlen(by + 1), max, &y)) {
        return false;
    }
    value->pair[0] = (uint32_t)x;
    value->pair[1] = (uint32_t)y;
    return x >= min && y >= min;
}

static bool counts_bytes(const struct gpume_option_row *row)
{
    return row->id != GPUME_OPTION_MAX_PIXELS;
}

/* Digits, then nothing, K, M, G or T for powers of 1000, or, of bytes, KiB, MiB, GiB or TiB for
 * those of 1024. */
static bool parse_amount(
    const struct gpume_option_row *row, const char *text, union gpume_option_value *value)
{
    static const char prefixes[] = "KMGT";
    const size_t digits = strspn(text, "0123456789");
    const char *prefix = text[digits] ? strchr(prefixes, text[digits]) : NULL;
    const char *rest = prefix ? text + digits + 1 : text + digits;
    const bool binary = prefix && strcmp(rest, "iB") == 0 && counts_bytes(row);
    const uint64_t max = (uint64_t)row->max;
    if ((*rest && !binary) || !parse_digits(text, digits, max, &value->number)) {
        return false;
    }
    for (const char *at = prefixes; prefix && at <= prefix && value->number <= max; at++) {
        value->number *= binary ? 1024 : 1000; /* at most 2^50 * 1024 */
    }
    return value->number >= (uint64_t)row->min && value->number <= max;
}

static bool parse_choice(
    const struct gpume_option_row *row, const char *text, union gpume_option_value *value)
{
    for (int i = 0; i < 4 && row->choices[i]; i++) {
        if (strcmp(text, row->choices[i]) == 0) {
            value->choice = i;
            return true;
        }
    }
    return false;
}

bool gpume_option_parse(
    const struct gpume_option_row *row, const char *text, union gpume_option_value *value)
{
    switch (row->kind) {
    case GPUME_KIND_FLAG:
        return true;
    case GPUME_KIND_UINT:
        return parse_uint(row, text, value) &&
               (row->id != GPUME_OPTION_BLOCK || value->number % 4 == 0);
    case GPUME_KIND_REAL:
        return parse_real(row, text, value);
    case GPUME_KIND_WINDOW:
        return parse_pair(text, 0, GPUME_WINDOW_MAX, true, value);
    case GPUME_KIND_SIZE:
        return parse_pair(text, (uint64_t)row->min, (uint64_t)row->max, false, value);
    case GPUME_KIND_AMOUNT:
        return parse_amount(row, text, value);
    case GPUME_KIND_CHOICE:
        return parse_choice(row, text, value);
    case GPUME_KIND_FORMAT:
        value->format = gpume_vectors_format_named(text);
        return value->format && (row->id != GPUME_OPTION_FROM || value->format->reader);
    case GPUME_KIND_PREFILTER:
        return gpume_prefilter_option_parse(text, &value->prefilter);
    case GPUME_KIND_TEXT:
        value->text = text;
        return text[0] != '\0';
    }
    return false;
}

void gpume_option_formats(
    const struct gpume_option_row *row, const char *between, char *text, size_t bytes)
{
    const struct gpume_vectors_format *format;
    text[0] = '\0';
    for (size_t i = 0; (format = gpume_vectors_format_at(i)) != NULL; i++) {
        const size_t used = strlen(text);
        if (row->id != GPUME_OPTION_FROM || format->reader) {
            snprintf(text + used, bytes - used, "%s%s", used ? between : "", format->name);
        }
    }
}

/* spelled: the option as the user wrote it. */
int gpume_option_refuse(const struct gpume_option_row *row, const char *spelled, const char *text)
{
    char permitted[128];
    switch (row->kind) {
    case GPUME_KIND_UINT:
        if (row->id == GPUME_OPTION_BLOCK) {
            gpume_console_error(
                "%s %s: must be a multiple of 4 from 4 to 128, e.g. %s 8", spelled, text, spelled);
            break;
        }
        gpume_console_error(
            "%s %s: must be a whole number from %.0f to %.0f", spelled, text, row->min, row->max);
        break;
    case GPUME_KIND_REAL:
        gpume_console_error("%s %s: must be a number from %g to %g, e.g. %s 1.5", spelled, text,
            row->min, row->max, spelled);
        break;
    case GPUME_KIND_WINDOW:
        gpume_console_error("%s %s: must be N or XxY, each from 0 to %d, e.g. %s 16x8", spelled,
            text, GPUME_WINDOW_MAX, spelled);
        break;
    case GPUME_KIND_SIZE:
        gpume_console_error("%s %s: must be WxH, each from %.0f to %.0f, e.g. %s 1920x1080",
            spelled, text, row->min, row->max, spelled);
        break;
    case GPUME_KIND_AMOUNT:
        gpume_console_error("%s %s: must be a whole number from %.0f to %.0f, with %s behind it if "
                            "need be, e.g. %s %s",
            spelled, text, row->min, row->max,
            counts_bytes(row) ? "K, M, G, T, or KiB, MiB, GiB, TiB" : "K or M", spelled,
            counts_bytes(row) ? "500M" : "9M");
        break;
    case GPUME_KIND_CHOICE:
        permitted[0] = '\0';
        for (int i = 0; i < 4 && row->choices[i]; i++) {
            const size_t used = strlen(permitted);
            snprintf(permitted + used, sizeof(permitted) - used, "%s%s", i ? " or " : "",
                row->choices[i]);
        }
        gpume_console_error("%s %s: must be %s", spelled, text, permitted);
        break;
    case GPUME_KIND_FORMAT:
        gpume_option_formats(row, " or ", permitted, sizeof(permitted));
        gpume_console_error("%s %s: must be %s", spelled, text, permitted);
        break;
    case GPUME_KIND_PREFILTER:
        gpume_console_error("%s %s: must be " GPUME_PREFILTER_PERMITTED, spelled, text);
        break;
    default:
        gpume_console_error("%s: its value is empty; give %s %s", spelled, spelled, row->value);
    }
    return GPUME_INVALID;
}
