/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the page plays: one small picture and the blocks of every field or, if these take too many
 * bytes, of every second, fourth... field, beginning with the first. Which fields these are depends
 * on nothing but the sizes of their sets, so equal runs have equal films. One thread.
 */
#ifndef GPUME_REPORT_FILM_H
#define GPUME_REPORT_FILM_H

#include "report/set.h"

#include <stddef.h>
#include <stdint.h>

struct gpume_report_film {
    const char *label;
    struct gpume_log log;
    struct gpume_report_encoder *encoder;
    uint64_t bytes_max;            /* in the page */
    uint64_t bytes;                /* of all sets in the page */
    uint64_t step;                 /* one field in so many is kept: a power of 2 */
    uint64_t fields;               /* seen */
    struct gpume_report_set *sets; /* of fields 0, step, 2 step... */
    size_t count, room;
    struct gpume_report_draft draft;
};

/* Failures are logged. Release with gpume_report_film_finish, also after a failure. */
int gpume_report_film_init(struct gpume_report_film *film, const char *label,
    const struct gpume_run *run, uint64_t bytes_max);

int gpume_report_film_add(struct gpume_report_film *film, const struct gpume_field *field);

/* No more fields will come. Keeps fewer, if all would take more than bytes_max. */
void gpume_report_film_complete(struct gpume_report_film *film, uint64_t bytes_max);

void gpume_report_film_finish(struct gpume_report_film *film);

#endif
