/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/report_picks.h"

#include "base/status.h"

#include <stdlib.h>

int gpume_report_picks_init(struct gpume_report_picks *picks, const char *label,
    const struct gpume_run *run, uint32_t pictures, uint64_t bytes_max)
{
    *picks = (struct gpume_report_picks){
        .with_worst = pictures > 1,
        .bytes_max = bytes_max,
        .capacity = pictures > 1 ? pictures / 2 : 1,
    };
    /* A container that knows how many fields will come saves making pictures that go again. */
    picks->stride = run->expected > 0 ? (run->expected - 1) / picks->capacity + 1 : 1;
    picks->segments = calloc(picks->capacity, sizeof(*picks->segments));
    if (!picks->segments) {
        gpume_log_write(&run->log, GPUME_LOG_ERROR, "%s: out of memory", label);
        return GPUME_NOMEM;
    }
    return gpume_report_camera_open(&picks->camera, label, run);
}

static bool is_worse(bool cut, uint64_t sse_after, bool other_cut, uint64_t other_sse_after)
{
    return cut != other_cut ? cut : sse_after > other_sse_after;
}

/* Moves the worse of two sets to *to and frees the other. */
static void keep_worse(struct gpume_report_set *to, struct gpume_report_set *from)
{
    if (from->full && (!to->full || is_worse(from->cut, from->sse_after, to->cut, to->sse_after))) {
        gpume_report_set_finish(to);
        *to = *from;
        *from = (struct gpume_report_set){0};
    }
    gpume_report_set_finish(from);
}

static void merge(struct gpume_report_picks *picks)
{
    for (size_t i = 0; i < picks->count; i++) {
        struct gpume_report_segment *from = &picks->segments[i];
        struct gpume_report_segment *to = &picks->segments[i / 2];
        if (i % 2) {
            keep_worse(&to->worst, &from->worst);
            if (picks->with_worst) {
                keep_worse(&to->worst, &from->first);
            }
            gpume_report_set_finish(&from->first);
        } else if (i > 0) {
            *to = *from;
            *from = (struct gpume_report_segment){0};
        }
    }
    picks->count = (picks->count + 1) / 2;
    picks->stride *= 2;
}

static void fit(struct gpume_report_picks *picks, uint64_t bytes_max)
{
    for (;;) {
        uint64_t bytes = 0;
        for (size_t i = 0; i < picks->count; i++) {
            bytes += gpume_report_set_bytes(&picks->segments[i].first) +
                     gpume_report_set_bytes(&picks->segments[i].worst);
        }
        if (bytes <= bytes_max || picks->count == 0) {
            return;
        }
        if (picks->count > 1) {
            merge(picks);
        } else if (picks->segments[0].worst.full) {
            gpume_report_set_finish(&picks->segments[0].worst);
        } else {
            gpume_report_set_finish(&picks->segments[0].first);
            return;
        }
    }
}

/* The last segment has its worst field, as far as it has come. */
static int close_segment(struct gpume_report_picks *picks)
{
    if (!picks->draft.full) {
        return GPUME_OK;
    }
    struct gpume_report_segment *last = &picks->segments[picks->count - 1];
    return gpume_report_set_make(&last->worst, picks->camera, &picks->draft);
}

static int take_worst(struct gpume_report_picks *picks, const struct gpume_field *field, bool cut)
{
    const struct gpume_report_draft *draft = &picks->draft;
    const struct gpume_report_set *worst = &picks->segments[picks->count - 1].worst;
    const uint64_t sse_after = field->sums.sse_after;
    if (draft->full ? !is_worse(cut, sse_after, draft->cut, draft->sse_after)
                    : worst->full && !is_worse(cut, sse_after, worst->cut, worst->sse_after)) {
        return GPUME_OK;
    }
    return gpume_report_draft_take(&picks->draft, picks->camera, field, cut);
}

int gpume_report_picks_add(
    struct gpume_report_picks *picks, const struct gpume_field *field, bool cut)
{
    int status = GPUME_OK;
    const uint64_t index = picks->fields++;
    if (index % picks->stride == 0) {
        status = close_segment(picks);
        if (picks->count == picks->capacity) {
            merge(picks);
        }
        fit(picks, picks->bytes_max);
    }
    if (status == GPUME_OK && index % picks->stride == 0 && picks->count < picks->capacity) {
        struct gpume_report_segment *next = &picks->segments[picks->count];
        status = gpume_report_draft_take(&picks->spare, picks->camera, field, cut);
        status =
            status ? status : gpume_report_set_make(&next->first, picks->camera, &picks->spare);
        picks->count++;
        return status;
    }
    return status == GPUME_OK && picks->with_worst ? take_worst(picks, field, cut) : status;
}

int gpume_report_picks_complete(struct gpume_report_picks *picks, uint64_t bytes_max)
{
    const int status = close_segment(picks);
    fit(picks, bytes_max);
    return status;
}

void gpume_report_picks_finish(struct gpume_report_picks *picks)
{
    for (size_t i = 0; i < picks->count; i++) {
        gpume_report_set_finish(&picks->segments[i].first);
        gpume_report_set_finish(&picks->segments[i].worst);
    }
    free(picks->segments);
    gpume_report_draft_finish(&picks->draft);
    gpume_report_draft_finish(&picks->spare);
    gpume_report_camera_close(&picks->camera);
    *picks = (struct gpume_report_picks){0};
}
