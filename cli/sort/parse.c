/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses eight digits at a time in a 64-bit word, and digit by digit beyond 15 digits. */
#include "sort/parse.h"

#include "files/little_endian.h"

/* Up to eight digits at text as a number; *count: how many. Reads eight bytes. */
static uint32_t take_eight(const unsigned char *text, unsigned *count)
{
    uint64_t word = gpume_le_get64(text);
    word ^= UINT64_C(0x3030303030303030); /* digits are 0 to 9 now */
    /* The top bit of every byte above 9. Carries into higher bytes do not matter, since only the
     * first such byte is used. */
    const uint64_t others =
        ((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);
    *count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    if (*count == 0) {
        return 0;
    }
    word <<= 64 - 8 * *count; /* leading zeros; the last digit in the highest byte */
    word = (word * 10 + (word >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
    word = (word * 100 + (word >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
    return (uint32_t)(word * 10000 + (word >> 32));
}

/* Any number of digits; values out of range stay out of range. */
static const unsigned char *take_all(const unsigned char *text, int64_t *value)
{
    int64_t sum = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        sum = sum > GPUME_SORT_VALUE_MAX ? sum : sum * 10 + (*text - '0');
    }
    *value = sum;
    return text;
}

/* Returns the end of the digits; text itself if there are none. */
static inline const unsigned char *take_digits(const unsigned char *text, int64_t *value)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    unsigned count, more;
    *value = take_eight(text, &count);
    if (count < 8) {
        return text + count;
    }
    const uint32_t rest = take_eight(text + 8, &more);
    if (more == 8) {
        return take_all(text, value);
    }
    *value = *value * powers[more] + rest;
    return text + 8 + more;
}

size_t gpume_sort_parse(
    const unsigned char *text, size_t bytes, int64_t *values, const unsigned char **bad)
{
    const unsigned char *at = text, *const end = text + bytes;
    size_t count = 0;
    *bad = NULL;
    while (at < end) {
        if (gpume_sort_is_space(*at)) {
            at++;
            continue;
        }
        const unsigned char *digits = at + (*at == '-' || *at == '+');
        int64_t value;
        const unsigned char *behind = take_digits(digits, &value);
        value = *at == '-' ? -value : value;
        if (behind == digits || !gpume_sort_is_space(*behind) || value < GPUME_SORT_VALUE_MIN ||
            value > GPUME_SORT_VALUE_MAX) {
            *bad = at;
            break;
        }
        values[count++] = value;
        at = behind + 1;
    }
    return count;
}
