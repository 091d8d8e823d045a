/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairwise coverage of random test cases. A case gives each of its factors one value; two values of
 * two factors that occur in one case are a pair. Choosing the cases with the most new pairs covers
 * all pairs with far fewer cases than taking them as they come.
 */
#ifndef GPUME_TESTS_PAIRWISE_H
#define GPUME_TESTS_PAIRWISE_H

#include <stdbool.h>
#include <stdint.h>

#define PAIRWISE_FACTORS_MAX 32u
#define PAIRWISE_VALUES_MAX 8u /* of one factor */

/* All zero: no pair has occurred. */
struct pairwise {
    uint32_t factors; /* of each case */
    uint32_t pairs;   /* that have occurred */
    bool seen[PAIRWISE_FACTORS_MAX * PAIRWISE_VALUES_MAX]
             [PAIRWISE_FACTORS_MAX * PAIRWISE_VALUES_MAX];
};

/* The pairs of this case that have not occurred before. */
uint32_t pairwise_count_new(const struct pairwise *covered, const uint8_t *values);

/* Adds all pairs of this case. */
void pairwise_add(struct pairwise *covered, const uint8_t *values);

#endif
