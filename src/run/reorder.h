/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts complete fields back into the order of their numbers, whichever lane they come from. Not
 * thread-safe: its owner's lock guards it.
 */
#ifndef GPUME_RUN_REORDER_H
#define GPUME_RUN_REORDER_H

#include "frame/field.h"

struct gpume_reorder {
    struct gpume_field_box **boxes; /* by number modulo capacity; NULL: not complete */
    uint32_t capacity;
    uint64_t next; /* number of the next field to take */
};

/* capacity: how many numbers can be given out that have not been taken. GPUME_NOMEM. */
int gpume_reorder_init(struct gpume_reorder *reorder, uint32_t capacity);
void gpume_reorder_finish(struct gpume_reorder *reorder);

void gpume_reorder_put(struct gpume_reorder *reorder, struct gpume_field_box *box);

/* NULL: the next field is not complete. */
struct gpume_field_box *gpume_reorder_take(struct gpume_reorder *reorder);

#endif
