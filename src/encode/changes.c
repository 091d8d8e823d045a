/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/changes.h"

#include "base/grow.h"

#include <gpume/gpume.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Frames: cuts that are no further apart are one. */
#define TOLERANCE 2u
#define COVERING 0.35    /* confidence of a gradual change that hides the cuts in it */
#define LESS_CERTAIN 0.3 /* by which it may be less certain than a cut */

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

static uint64_t length(const struct gpume_change *change)
{
    return change->last - change->first + 1;
}

/* Cuts: are they near each other? Others: do they share more than half of the shorter one? */
static bool is_same(const struct gpume_change *a, const struct gpume_change *b)
{
    const bool cut = a->kind == GPUME_CHANGE_CUT;
    const uint64_t first = a->first > b->first ? a->first : b->first;
    const uint64_t last = (a->last < b->last ? a->last : b->last) + (cut ? TOLERANCE : 0);
    const uint64_t shorter = length(a) < length(b) ? length(a) : length(b);
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
