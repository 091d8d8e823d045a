/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the parser of gpume sort with strtoll, word by word, on random texts: valid words,
 * values at the bounds, and garbage.
 */
#include "harness.h"
#include "sort/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 40u
#define WORD_BYTES 40u

static uint64_t seed = 1;

static unsigned below(unsigned limit)
{
    return harness_random(&seed) % limit;
}

/* A word of bytes that parsers confuse easily. */
static size_t make_word(char *to)
{
    static const char odd[] = "0123456789+-./:x\001\200\377e";
    static const long long bounds[] = {-2147483648LL, 4294967295LL, 0, 9999999999LL, 99999999LL,
        100000000LL, 9999999LL, 2147483648LL};
    char digits[WORD_BYTES] = "";
    size_t length = 0;
    switch (below(8)) {
    case 0: /* garbage, including zero bytes */
        length = 1 + below(20);
        for (size_t i = 0; i < length; i++) {
            to[i] = odd[below(sizeof odd)];
        }
        return length;
    case 1:
        snprintf(digits, sizeof digits, "%lld", bounds[below(8)] + (int)below(5) - 2);
        break;
    case 2: /* any number of digits */
        length = 1 + below(25);
        for (size_t i = 0; i < length; i++) {
            digits[i] = (char)('0' + below(10));
        }
        break;
    case 3:
        snprintf(digits, sizeof digits, "%s%0*u", below(2) ? "-" : "+", (int)below(30),
            (unsigned)harness_random(&seed));
        break;
    default:
        snprintf(digits, sizeof digits, "%lld",
            (long long)(harness_random(&seed) >> below(32)) * (below(2) ? 1 : -1));
    }
    length = strlen(digits);
    memcpy(to, digits, length);
    return length;
}

/* Parses the word with the C library; false: not an integer. */
static bool expect(const char *word, size_t length, int64_t *value)
{
    char copy[WORD_BYTES + 1];
    size_t digits = 0;
    for (size_t i = length > 0 && (word[0] == '-' || word[0] == '+'); i < length; i++) {
        if (word[i] < '0' || word[i] > '9') {
            return false;
        }
        digits++;
    }
    memcpy(copy, word, length);
    copy[length] = '\0';
    errno = 0;
    *value = strtoll(copy, NULL, 10);
    return digits > 0 && errno == 0 && *value >= -2147483648LL && *value <= 4294967295LL;
}

static void check_text(void)
{
    static const char spaces[] = " \t\n\v\f\r";
    char text[WORDS * (WORD_BYTES + 4)];
    int64_t wanted[WORDS], values[sizeof text / 2];
    size_t bytes = 0, count = 0, bad_at = SIZE_MAX;
    for (unsigned i = 0; i < WORDS; i++) {
        const size_t length = make_word(text + bytes);
        if (bad_at == SIZE_MAX && !expect(text + bytes, length, &wanted[count])) {
            bad_at = bytes;
        } else if (bad_at == SIZE_MAX) {
            count++;
        }
        bytes += length;
        for (unsigned n = 1 + below(3); n > 0; n--) {
            text[bytes++] = spaces[below(6)];
        }
    }
    /* Allocates exactly the promised bytes, so that sanitizers detect an overrun; their contents
     * must not matter. */
    unsigned char *copy = malloc(bytes + GPUME_SORT_TEXT_SLACK);
    const unsigned char *bad = NULL;
    memcpy(copy, text, bytes);
    memset(copy + bytes, below(2) ? '7' : 0xff, GPUME_SORT_TEXT_SLACK);
    const size_t found = gpume_sort_parse(copy, bytes, values, &bad);
    REQUIRE_EQUAL(found, count);
    REQUIRE(bad == (bad_at == SIZE_MAX ? NULL : copy + bad_at));
    REQUIRE(found != count || memcmp(values, wanted, count * sizeof *wanted) == 0);
    free(copy);
}

int main(void)
{
    const unsigned char *bad;
    int64_t value;
    const unsigned char nothing[GPUME_SORT_TEXT_SLACK] = "1";
    REQUIRE_EQUAL(gpume_sort_parse(nothing, 0, &value, &bad), 0);
    REQUIRE(!bad);
    for (unsigned i = 0; i < 40000; i++) {
        check_text();
    }
    return harness_verdict();
}
