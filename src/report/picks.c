/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/picks.h"

#include "base/base.h"

#include <stdlib.h>

#define GOLDEN UINT64_C(11400714819323198485) /* 2^64 / golden ratio, to the nearest odd number */

/* At most one field per group is kept as the worst, since neighbours look alike. Long runs have
 * larger groups, so that one scene cannot take all pictures. */
#define NEIGHBOURS_MIN 16u
#define GROUPS 64u

/* The liveliest field is taken as this one, in place of the second of the worst order. So one
 * picture is of the first field, two are of the worst as well, and spread ones are as many. */
#define LIVELIEST 4u

/* A key below which at least `wanted` of the first `numbers` fields lie, and few more. The number
 * of keys below a limit differs from its expectation by less than 1 + log2(numbers) / 4, the
 * discrepancy of the golden ratio. */
static uint64_t key_below(uint64_t wanted, uint64_t numbers)
{
    uint64_t discrepancy = 1;
    for (uint64_t n = numbers; n > 1; n /= 16) {
        discrepancy++;
    }
    const uint64_t safe = wanted + discrepancy;
    return numbers > safe ? UINT64_MAX / numbers * safe : UINT64_MAX;
}

int gpume_report_picks_init(struct gpume_report_picks *picks, const char *label,
    const struct gpume_run *run, uint32_t pictures, uint64_t bytes_max)
{
    const uint64_t group = run->expected / GROUPS;
    *picks = (struct gpume_report_picks){
        .bytes_max = bytes_max,
        .pictures = pictures,
        .spread_max = pictures,
        .worst_max = pictures / 2,
        .neighbours = group > NEIGHBOURS_MIN ? group : NEIGHBOURS_MIN,
        /* If the container knows the length, few pictures are encoded only to be dropped. */
        .key_end = key_below(pictures, run->expected),
    };
    /* One more per order until it is trimmed, the leader of the group, and the liveliest. */
    picks->picks = calloc(picks->spread_max + picks->worst_max + 4, sizeof(*picks->picks));
    if (!picks->picks) {
        return gpume_log_nomem(&run->log, label);
    }
    return gpume_report_encoder_open(&picks->encoder, label, run, GPUME_REPORT_WHOLE);
}

/* Of equals the earlier one is worse. */
static bool is_worse(const struct gpume_report_rating *a, const struct gpume_report_rating *b)
{
    return a->cut != b->cut               ? a->cut
           : a->sse_after != b->sse_after ? a->sse_after > b->sse_after
                                          : a->frame < b->frame;
}

/* Whether a precedes b in that order. */
static bool precedes(const struct gpume_report_pick *a, const struct gpume_report_pick *b,
    enum gpume_report_reason order)
{
    return order == GPUME_REPORT_SPREAD ? a->key < b->key
                                        : is_worse(&a->set.rating, &b->set.rating);
}

/* Takes reasons away. A pick without any is released, and the last one moves to its place. */
static void drop(struct gpume_report_picks *picks, size_t index, unsigned reasons)
{
    struct gpume_report_pick *pick = &picks->picks[index];
    pick->reasons &= ~reasons;
    if (pick->reasons == 0) {
        gpume_report_set_finish(&pick->set);
        *pick = picks->picks[--picks->count];
        picks->picks[picks->count] = (struct gpume_report_pick){0};
    }
}

static void remember_refused(struct gpume_report_picks *picks, const struct gpume_report_pick *pick,
    enum gpume_report_reason order)
{
    if (order == GPUME_REPORT_SPREAD) {
        picks->key_end = pick->key < picks->key_end ? pick->key : picks->key_end;
    } else if (!picks->has_refused || is_worse(&pick->set.rating, &picks->refused)) {
        picks->has_refused = true;
        picks->refused = pick->set.rating;
    }
}

/* Drops the last picks of an order while there are more than `most`, or too many bytes. Fields that
 * come after a dropped one in the order are refused from then on. */
static void trim(struct gpume_report_picks *picks, enum gpume_report_reason order, size_t most)
{
    for (;;) {
        size_t count = 0, last = 0;
        uint64_t bytes = 0;
        for (size_t i = 0; i < picks->count; i++) {
            const struct gpume_report_pick *pick = &picks->picks[i];
            if (pick->reasons & (unsigned)order) {
                last = count == 0 || precedes(&picks->picks[last], pick, order) ? i : last;
                bytes += gpume_report_set_bytes(&pick->set);
                count++;
            }
        }
        if (count == 0 || (count <= most && bytes <= picks->bytes_max)) {
            return;
        }
        remember_refused(picks, &picks->picks[last], order);
        drop(picks, last, (unsigned)order);
    }
}

static int make_pick(struct gpume_report_picks *picks, struct gpume_report_draft *draft,
    uint64_t index, unsigned reasons)
{
    struct gpume_report_pick *pick = &picks->picks[picks->count];
    const int status = gpume_report_set_make(&pick->set, picks->encoder, draft);
    if (status == GPUME_OK) {
        pick->key = index * GOLDEN;
        pick->reasons = reasons;
        picks->count++;
    }
    return status;
}

/* The liveliest field becomes a pick, if it is not one already. */
static int close_liveliest(struct gpume_report_picks *picks)
{
    for (size_t i = 0; picks->lively.full && i < picks->count; i++) {
        if (picks->picks[i].set.rating.frame == picks->lively.rating.frame) {
            picks->picks[i].reasons |= GPUME_REPORT_LIVELIEST;
            picks->lively.full = false;
        }
    }
    return picks->lively.full
               ? make_pick(picks, &picks->lively, picks->lively_index, GPUME_REPORT_LIVELIEST)
               : GPUME_OK;
}

/* The index of the leader of the group, or count if it has not been encoded. */
static size_t find_leader(const struct gpume_report_picks *picks)
{
    size_t i = 0;
    while (i < picks->count && !(picks->picks[i].reasons & GPUME_REPORT_LEADS)) {
        i++;
    }
    return i;
}

/* The group is complete: its leader enters the worst order. */
static int close_group(struct gpume_report_picks *picks)
{
    const size_t leader = find_leader(picks);
    if (leader < picks->count) {
        picks->picks[leader].reasons |= GPUME_REPORT_WORST;
        drop(picks, leader, GPUME_REPORT_LEADS);
    } else if (picks->draft.full) {
        const int status = make_pick(picks, &picks->draft, picks->draft_index, GPUME_REPORT_WORST);
        if (status != GPUME_OK) {
            return status;
        }
    }
    trim(picks, GPUME_REPORT_WORST, picks->worst_max);
    return GPUME_OK;
}

/* Whether a field is worse than the rest of its group so far, and than any that was refused. */
static bool leads(const struct gpume_report_picks *picks, const struct gpume_report_rating *rating)
{
    const size_t leader = find_leader(picks);
    if (picks->worst_max == 0 || (picks->has_refused && !is_worse(rating, &picks->refused))) {
        return false;
    }
    if (leader < picks->count) {
        return is_worse(rating, &picks->picks[leader].set.rating);
    }
    return !picks->draft.full || is_worse(rating, &picks->draft.rating);
}

int gpume_report_picks_add(
    struct gpume_report_picks *picks, const struct gpume_field *field, bool cut, bool liveliest)
{
    int status = GPUME_OK;
    const uint64_t index = picks->fields++;
    if (liveliest && picks->pictures >= LIVELIEST) {
        GPUME_TRY(gpume_report_draft_take(&picks->lively, picks->encoder, field, cut));
        picks->lively_index = index;
    }
    if (index % picks->neighbours == 0) {
        GPUME_TRY(close_group(picks));
    }
    const struct gpume_report_rating rating = {field->frame, cut, field->sums.sse_after};
    const bool is_leader = leads(picks, &rating);
    if (is_leader) {
        const size_t leader = find_leader(picks);
        picks->draft.full = false;
        if (leader < picks->count) {
            drop(picks, leader, GPUME_REPORT_LEADS);
        }
    }
    if (index * GOLDEN < picks->key_end) {
        GPUME_TRY(gpume_report_draft_take(&picks->spare, picks->encoder, field, cut));
        GPUME_TRY(make_pick(picks, &picks->spare, index,
            GPUME_REPORT_SPREAD | (is_leader ? (unsigned)GPUME_REPORT_LEADS : 0)));
        trim(picks, GPUME_REPORT_SPREAD, picks->spread_max);
    } else if (is_leader) {
        GPUME_TRY(gpume_report_draft_take(&picks->draft, picks->encoder, field, cut));
        picks->draft_index = index;
    }
fail:
    return status;
}

/* The first pick of an order, not before index `from`; count if there is none. */
static size_t find_first(
    const struct gpume_report_picks *picks, size_t from, enum gpume_report_reason order)
{
    size_t first = picks->count;
    for (size_t i = from; i < picks->count; i++) {
        const struct gpume_report_pick *pick = &picks->picks[i];
        if (pick->reasons & (unsigned)order &&
            (first == picks->count || precedes(pick, &picks->picks[first], order))) {
            first = i;
        }
    }
    return first;
}

static void swap(struct gpume_report_pick *a, struct gpume_report_pick *b)
{
    const struct gpume_report_pick kept = *a;
    *a = *b;
    *b = kept;
}

/* Moves the picks that stay to the front and returns their number. */
static size_t choose(struct gpume_report_picks *picks, uint64_t bytes_max)
{
    uint64_t bytes = 0;
    size_t chosen = 0;
    enum gpume_report_reason order = GPUME_REPORT_SPREAD;
    while (chosen < picks->count && chosen < picks->pictures) {
        size_t next = chosen + 1 == LIVELIEST ? find_first(picks, chosen, GPUME_REPORT_LIVELIEST)
                                              : picks->count;
        next = next < picks->count ? next : find_first(picks, chosen, order);
        next = next < picks->count ? next : find_first(picks, chosen, GPUME_REPORT_SPREAD);
        next = next < picks->count ? next : find_first(picks, chosen, GPUME_REPORT_WORST);
        bytes += gpume_report_set_bytes(&picks->picks[next].set);
        if (bytes > bytes_max) {
            break;
        }
        swap(&picks->picks[chosen++], &picks->picks[next]);
        order = order == GPUME_REPORT_SPREAD ? GPUME_REPORT_WORST : GPUME_REPORT_SPREAD;
    }
    return chosen;
}

static int by_frame(const void *a, const void *b)
{
    const uint64_t left = ((const struct gpume_report_pick *)a)->set.rating.frame;
    const uint64_t right = ((const struct gpume_report_pick *)b)->set.rating.frame;
    return left < right ? -1 : left > right;
}

int gpume_report_picks_complete(struct gpume_report_picks *picks, uint64_t bytes_max)
{
    int status = close_group(picks);
    status = status ? status : close_liveliest(picks);
    const size_t chosen = choose(picks, bytes_max);
    while (picks->count > chosen) {
        drop(picks, picks->count - 1, picks->picks[picks->count - 1].reasons);
    }
    qsort(picks->picks, picks->count, sizeof(*picks->picks), by_frame);
    return status;
}

void gpume_report_picks_finish(struct gpume_report_picks *picks)
{
    for (size_t i = 0; i < picks->count; i++) {
        gpume_report_set_finish(&picks->picks[i].set);
    }
    free(picks->picks);
    gpume_report_draft_finish(&picks->draft);
    gpume_report_draft_finish(&picks->spare);
    gpume_report_draft_finish(&picks->lively);
    gpume_report_encoder_close(&picks->encoder);
    *picks = (struct gpume_report_picks){0};
}

/* --- the film */

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
static void thin_film(struct gpume_report_film *film, uint64_t bytes_max)
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
    thin_film(film, film->bytes_max);
fail:
    return status;
}

void gpume_report_film_complete(struct gpume_report_film *film, uint64_t bytes_max)
{
    thin_film(film, bytes_max);
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
