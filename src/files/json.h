/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small writer that keeps the commas and the indentation of a JSON text right. It goes straight
 * into the output or the buffer, whose failure is sticky, so that only the end asks for it. One
 * thread.
 */
#ifndef GPUME_FILES_JSON_H
#define GPUME_FILES_JSON_H

#include "files/out.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_bytes;

/* All but out or text, and embedded, starts as zero. */
struct gpume_json {
    struct gpume_out *out;
    struct gpume_bytes *text; /* in place of out, if not NULL */
    bool embedded;  /* in HTML: no string holds '<', which could end the element around it */
    uint64_t bytes; /* so far */
    unsigned depth;
    bool filled; /* the innermost object or list has a member */
};

/* A document of this program on standard output: opens it, begins the outermost object and tells
 * the format's number and the version. GPUME_IO, GPUME_NOMEM: nothing is open. */
int gpume_json_start(struct gpume_json *json, uint64_t format, const struct gpume_log *log);

/* Ends that object, writes all and closes it. */
int gpume_json_finish(struct gpume_json *json);

/* Key NULL: the outermost object, or a member of a list. */
void gpume_json_begin(struct gpume_json *json, const char *key);
void gpume_json_end(struct gpume_json *json);
void gpume_json_begin_list(struct gpume_json *json, const char *key);
void gpume_json_end_list(struct gpume_json *json);

/* NULL gives null. Bytes that are no UTF-8 become the replacement character. */
void gpume_json_text(struct gpume_json *json, const char *key, const char *value);

void gpume_json_count(struct gpume_json *json, const char *key, uint64_t value);

/* Infinity gives null. */
void gpume_json_real(struct gpume_json *json, const char *key, double value, int decimals);

/* One that is above 0, or not known: null. */
void gpume_json_figure(struct gpume_json *json, const char *key, double value, int decimals);

void gpume_json_truth(struct gpume_json *json, const char *key, bool value);

/* A string of bytes in base 64. */
void gpume_json_base64(
    struct gpume_json *json, const char *key, const unsigned char *data, size_t count);

/* A value that is JSON already. */
void gpume_json_digits(struct gpume_json *json, const char *key, const char *digits);

#endif
