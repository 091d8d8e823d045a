/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes indented JSON to an output or a buffer. Errors of both are sticky, so they are checked
 * once, at the end. One thread.
 */
#ifndef GPUME_FILES_JSON_H
#define GPUME_FILES_JSON_H

#include "files/out.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_bytes;

/* Starts as zero, except for out or text, and embedded. */
struct gpume_json {
    struct gpume_out *out;
    struct gpume_bytes *text; /* instead of out, if not NULL */
    bool embedded;            /* in a page of HTML: '<' is escaped, which could end the element */
    unsigned depth;
    bool filled; /* the innermost object or list has a member */
    bool flat;   /* it is on one line */
};

/* Key NULL: the outermost object, or a member of a list. */
void gpume_json_begin(struct gpume_json *json, const char *key);
void gpume_json_end(struct gpume_json *json);

/* An object on one line, a member of the list that is open. It holds neither objects nor lists. */
void gpume_json_begin_line(struct gpume_json *json);

void gpume_json_begin_list(struct gpume_json *json, const char *key);
void gpume_json_end_list(struct gpume_json *json);

/* NULL becomes null. Bytes that are not UTF-8 become the replacement character. */
void gpume_json_text(struct gpume_json *json, const char *key, const char *value);

/* null unless known. */
void gpume_json_count_or_null(struct gpume_json *json, const char *key, bool known, uint64_t value);

void gpume_json_count(struct gpume_json *json, const char *key, uint64_t value);

/* Infinity becomes null. */
void gpume_json_real(struct gpume_json *json, const char *key, double value, int decimals);

void gpume_json_truth(struct gpume_json *json, const char *key, bool value);

/* A value in JSON syntax. */
void gpume_json_digits(struct gpume_json *json, const char *key, const char *digits);

#endif
