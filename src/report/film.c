/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/film.h"

#include "base/grow.h"
#include "base/status.h"

#include <stdlib.h>

/* The elements of a page around a set, and its entry in the list of sets. */
#define AROUND_BYTES 320u

int gpume_report_film_init(struct gpume_report_film *film, const char *label,
    const struct gpume_run *run, uint64_t bytes_max)
{
    *film = (struct gpume_report_film){
        .label = label, .log = run->log, .bytes_max = bytes_max, .step = 1};
    return gpume_report_encoder_open(&film->encoder, label, run, GPUME_REPORT_FILM);
}

/* Keeps every second set, until the rest takes at most bytes_max. */
static void thin(struct gpume_report_film *film, uint64_t bytes_max)
{
    while (film->count > 1 && film->bytes > bytes_max) {
        size_t kept = 0;
        film->bytes = 0;
        for (size_t i = 0; i < film->count; i++) {
            struct gpume_report_set *set = &film->sets[i];
            if (i % 2 == 1) {
                gpume_report_set_finish(set);
            } else {
                film->bytes += gpume_report_set_bytes(set) + AROUND_BYTES;
                film->sets[kept++] = *set;
            }
        }
        film->count = kept;
        film->step *= 2;
    }
}

int gpume_report_film_add(struct gpume_report_film *film, const struct gpume_field *field)
{
    int status = GPUME_OK;
    if (film->fields++ % film->step != 0) {
        return GPUME_OK;
    }
    struct gpume_report_set *sets = gpume_grow(film->sets, film->count, &film->room, sizeof(*sets));
    if (!sets) {
        return gpume_log_nomem(&film->log, film->label);
    }
    film->sets = sets;
    GPUME_TRY(gpume_report_draft_take(&film->draft, film->encoder, field, false));
    film->sets[film->count] = (struct gpume_report_set){0};
    GPUME_TRY(gpume_report_set_make(&film->sets[film->count], film->encoder, &film->draft));
    film->bytes += gpume_report_set_bytes(&film->sets[film->count++]) + AROUND_BYTES;
    thin(film, film->bytes_max);
fail:
    return status;
}

void gpume_report_film_complete(struct gpume_report_film *film, uint64_t bytes_max)
{
    thin(film, bytes_max);
}

void gpume_report_film_finish(struct gpume_report_film *film)
{
    for (size_t i = 0; i < film->count; i++) {
        gpume_report_set_finish(&film->sets[i]);
    }
    free(film->sets);
    gpume_report_draft_finish(&film->draft);
    gpume_report_encoder_close(&film->encoder);
    *film = (struct gpume_report_film){0};
}
