/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers for unit and kernel tests: REQUIRE counts a failure and prints its location, random
 * numbers come from a fixed seed, and main ends with `return harness_verdict();`.
 *
 * GPUME_TEST_SHARE=K/N: the longest tests run every N-th of their cases, beginning with the K-th.
 */
#ifndef GPUME_TESTS_HARNESS_H
#define GPUME_TESTS_HARNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned harness_checks, harness_failures;

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        harness_checks++;                                                                          \
        if (!(condition)) {                                                                        \
            harness_failures++;                                                                    \
            fprintf(stderr, "%s:%d: %s is not so\n", __FILE__, __LINE__, #condition);              \
        }                                                                                          \
    } while (0)

#define REQUIRE_EQUAL(a, b)                                                                        \
    do {                                                                                           \
        long long left = (long long)(a), right = (long long)(b);                                   \
        harness_checks++;                                                                          \
        if (left != right) {                                                                       \
            harness_failures++;                                                                    \
            fprintf(stderr, "%s:%d: %s = %lld, expected %s = %lld\n", __FILE__, __LINE__, #a,      \
                left, #b, right);                                                                  \
        }                                                                                          \
    } while (0)

static inline int harness_verdict(void)
{
    printf("%u checks, %u failures\n", harness_checks, harness_failures);
    return harness_failures || !harness_checks ? 1 : 0;
}

/* Whether case `number`, from 0, of a long test is one of this process's share. */
static inline bool harness_has_case(uint32_t number)
{
    unsigned share = 1, shares = 1;
    const char *text = getenv("GPUME_TEST_SHARE");
    if (text && (sscanf(text, "%u/%u", &share, &shares) != 2 || share - 1 >= shares)) {
        fprintf(stderr, "GPUME_TEST_SHARE=%s: must be K/N, with K from 1 to N\n", text);
        exit(2);
    }
    return number % shares == share - 1;
}

static inline bool harness_has_all_cases(void)
{
    return harness_has_case(0) && harness_has_case(1);
}

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016). */
static inline uint32_t harness_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * 0x2545F4914F6CDD1Dull >> 32);
}

#endif
