/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/changes.h"

#include "base/base.h"

#include <gpume/gpume.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* In frames: cuts that are no further apart are one. */
#define TOLERANCE 2u
#define COVERING 0.35    /* confidence of a gradual change that hides the cuts in it */
#define LESS_CERTAIN 0.3 /* by which it may be less certain than a cut */

/* Each of these alone may be low at a cut, but what is far below any of them is none. */
#define SHARE_FULL 0.5
#define STRUCTURE_FULL 0.25
#define CHANGED_FULL 0.9
#define RESIDUAL_FULL 2.5
#define RELATIVE_FULL 0.4

/* Structure below which it is the same picture in another light, or with other noise. */
#define STRUCTURE_LEAST 0.15
/* Part of the usual residual by which a residual must exceed it: noise does not make a cut. */
#define EXCESS 0.5

double gpume_confidence(double score)
{
    static const double shares[] = {
        0.001, 0.0025, 0.0067, 0.018, 0.0474, 0.1192, 0.2689, 0.5}; /* of -7, -6, ... 0 */
    const double size = score < 0 ? -score : score;
    const int whole = size < 7 ? (int)size : 6;
    const double part = gpume_limit_to_one(size - whole);
    const double less = shares[7 - whole] + part * (shares[6 - whole] - shares[7 - whole]);
    return score < 0 ? less : 1 - less;
}

/* --- cuts */

static void lower_value(double *value, double other)
{
    *value = other < *value ? other : *value;
}

void gpume_difference_lower(
    struct gpume_difference *difference, const struct gpume_difference *other)
{
    lower_value(&difference->unlike.plain, other->unlike.plain);
    lower_value(&difference->unlike.residual, other->unlike.residual);
    lower_value(&difference->unlike.relative, other->unlike.relative);
    lower_value(&difference->unlike.share, other->unlike.share);
    lower_value(&difference->unlike.structure, other->unlike.structure);
    lower_value(&difference->cost, other->cost);
    lower_value(&difference->changed, other->changed);
}

/* The weakest evidence, 1 at most. */
static double weakest(const struct gpume_difference *difference)
{
    const struct gpume_unlike *unlike = &difference->unlike;
    double least = 1;
    lower_value(&least, unlike->share / SHARE_FULL);
    lower_value(&least, unlike->structure / STRUCTURE_FULL);
    lower_value(&least, difference->changed / CHANGED_FULL);
    lower_value(&least, unlike->residual / RESIDUAL_FULL);
    lower_value(&least, unlike->relative / RELATIVE_FULL);
    return least;
}

double gpume_cut_confidence(
    const struct gpume_difference *difference, const struct gpume_usual *usual)
{
    /* Fitted to several hundred cuts of films and made videos, coded in several ways. */
    static const double weights[] = {
        1.65, 3.37, 3.42, 1.63, 2.09, 4.74, 5.35, -2.63, -2.38, -11.83};
    const struct gpume_unlike *unlike = &difference->unlike;
    const double evidence[] = {
        gpume_saturate(unlike->relative, 0.3),
        unlike->share,
        difference->cost,
        difference->changed,
        gpume_saturate(unlike->relative, 3 * usual->relative + 0.05),
        gpume_saturate(unlike->structure, usual->structure + 0.05),
        weakest(difference),
        usual->cost,
        gpume_saturate(usual->plain, 10),
        1,
    };
    const double score = gpume_score(weights, evidence, sizeof(evidence) / sizeof(evidence[0]));
    const double excess = unlike->residual - usual->quiet;
    return gpume_confidence(score) * gpume_limit_to_one(unlike->structure / STRUCTURE_LEAST) *
           difference->other *
           (excess < EXCESS * usual->quiet ? gpume_limit_to_one(excess / (EXCESS * usual->quiet))
                                           : 1);
}

/* --- the list */

static uint64_t change_length(const struct gpume_change *change)
{
    return change->last - change->first + 1;
}

/* Whether cuts are near each other, and whether others share more than half of the shorter one. */
static bool is_same(const struct gpume_change *a, const struct gpume_change *b)
{
    const bool cut = a->kind == GPUME_CHANGE_CUT;
    const uint64_t first = a->first > b->first ? a->first : b->first;
    const uint64_t last = (a->last < b->last ? a->last : b->last) + (cut ? TOLERANCE : 0);
    const uint64_t shorter =
        change_length(a) < change_length(b) ? change_length(a) : change_length(b);
    return cut == (b->kind == GPUME_CHANGE_CUT) && first <= last &&
           (last - first + 1) * 2 > shorter;
}

int gpume_changes_add(struct gpume_changes *changes, const struct gpume_change *change)
{
    struct gpume_change *items =
        gpume_grow(changes->items, changes->count, &changes->capacity, sizeof(*items));
    if (!items) {
        return GPUME_NOMEM;
    }
    changes->items = items;
    for (size_t i = 0; i < changes->count; i++) {
        if (is_same(&changes->items[i], change) && changes->items[i].weight >= change->weight) {
            return GPUME_OK;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < changes->count; i++) {
        if (!is_same(&changes->items[i], change)) {
            changes->items[kept++] = changes->items[i];
        }
    }
    size_t place = kept;
    for (; place > 0 && changes->items[place - 1].first > change->first; place--) {
        changes->items[place] = changes->items[place - 1];
    }
    changes->items[place] = *change;
    changes->count = kept + 1;
    return GPUME_OK;
}

bool gpume_changes_cover(struct gpume_changes *changes, const struct gpume_change *cut)
{
    bool covered = false;
    for (size_t i = 0; i < changes->count && !covered; i++) {
        struct gpume_change *change = &changes->items[i];
        if (change->kind != GPUME_CHANGE_CUT && cut->first >= change->first &&
            cut->first <= change->last + 1) {
            covered = change->confidence > COVERING &&
                      change->confidence > cut->confidence - LESS_CERTAIN;
            change->confidence *= covered ? 1 : 1 - cut->confidence;
        }
    }
    return covered;
}

void gpume_changes_finish(struct gpume_changes *changes)
{
    free(changes->items);
    memset(changes, 0, sizeof(*changes));
}
