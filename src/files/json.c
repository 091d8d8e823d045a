/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/json.h"

#include "files/bytes.h"
#include "files/path.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_text(struct gpume_json *json, const char *text)
{
    if (json->text) {
        gpume_bytes_put(json->text, text, strlen(text));
    } else {
        (void)gpume_out_text(json->out, text);
    }
}

/* File names are bytes, so a string may not be UTF-8. */
static void put_string(struct gpume_json *json, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    put_text(json, "\"");
    while (*at) {
        char text[8] = {0};
        const size_t length = gpume_visible_utf8(at);
        if (length == 0) {
            snprintf(text, sizeof(text), "\\ufffd");
        } else if (*at == '"' || *at == '\\') {
            snprintf(text, sizeof(text), "\\%c", *at);
        } else if (*at < 0x20 || *at == 0x7f || (*at == '<' && json->embedded)) {
            snprintf(text, sizeof(text), "\\u%04x", *at);
        } else {
            memcpy(text, at, length);
        }
        put_text(json, text);
        at += length ? length : 1;
    }
    put_text(json, "\"");
}

static void put_line_start(struct gpume_json *json)
{
    put_text(json, "\n");
    for (unsigned i = 0; i < json->depth; i++) {
        put_text(json, "  ");
    }
}

/* Begins a member; in a list key is NULL. */
static void put_key(struct gpume_json *json, const char *key)
{
    if (json->filled) {
        put_text(json, ",");
    }
    if (json->flat) {
        put_text(json, json->filled ? " " : "");
    } else if (json->depth > 0) {
        put_line_start(json);
    }
    if (key) {
        put_string(json, key);
        put_text(json, ": ");
    }
    json->filled = true;
}

static void begin_nested(struct gpume_json *json, const char *key, const char *bracket)
{
    put_key(json, key);
    put_text(json, bracket);
    json->depth++;
    json->filled = false;
}

static void end_nested(struct gpume_json *json, const char *bracket)
{
    json->depth--;
    if (!json->flat) {
        put_line_start(json);
    }
    json->flat = false;
    put_text(json, bracket);
    put_text(json, json->depth == 0 ? "\n" : "");
    json->filled = true;
}

void gpume_json_begin(struct gpume_json *json, const char *key)
{
    begin_nested(json, key, "{");
}

void gpume_json_end(struct gpume_json *json)
{
    end_nested(json, "}");
}

void gpume_json_begin_line(struct gpume_json *json)
{
    gpume_json_begin(json, NULL);
    json->flat = true;
}

void gpume_json_begin_list(struct gpume_json *json, const char *key)
{
    begin_nested(json, key, "[");
}

void gpume_json_end_list(struct gpume_json *json)
{
    end_nested(json, "]");
}

void gpume_json_text(struct gpume_json *json, const char *key, const char *value)
{
    put_key(json, key);
    if (value) {
        put_string(json, value);
    } else {
        put_text(json, "null");
    }
}

void gpume_json_digits(struct gpume_json *json, const char *key, const char *digits)
{
    put_key(json, key);
    put_text(json, digits);
}

void gpume_json_count(struct gpume_json *json, const char *key, uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    gpume_json_digits(json, key, digits);
}

void gpume_json_count_or_null(struct gpume_json *json, const char *key, bool known, uint64_t value)
{
    if (known) {
        gpume_json_count(json, key, value);
    } else {
        gpume_json_text(json, key, NULL);
    }
}

void gpume_json_real(struct gpume_json *json, const char *key, double value, int decimals)
{
    char digits[64] = "null";
    if (isfinite(value)) {
        snprintf(digits, sizeof(digits), "%.*f", decimals, value);
    }
    gpume_json_digits(json, key, digits);
}

void gpume_json_truth(struct gpume_json *json, const char *key, bool value)
{
    gpume_json_digits(json, key, value ? "true" : "false");
}
