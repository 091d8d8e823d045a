/* SPDX-License-Identifier: BSD-2-Clause */
#include "pairwise.h"

static uint32_t index_of(uint32_t factor, uint8_t value)
{
    return factor * PAIRWISE_VALUES_MAX + value;
}

uint32_t pairwise_count_new(const struct pairwise *covered, const uint8_t *values)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < covered->factors; i++) {
        for (uint32_t j = 0; j < i; j++) {
            count += !covered->seen[index_of(i, values[i])][index_of(j, values[j])];
        }
    }
    return count;
}

void pairwise_add(struct pairwise *covered, const uint8_t *values)
{
    covered->pairs += pairwise_count_new(covered, values);
    for (uint32_t i = 1; i < covered->factors; i++) {
        for (uint32_t j = 0; j < i; j++) {
            covered->seen[index_of(i, values[i])][index_of(j, values[j])] = true;
        }
    }
}
