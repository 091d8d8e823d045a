/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole numbers as text, four digits at a time from a table. Up to 7 bytes after the end of a
 * number are overwritten.
 */
#ifndef GPUME_FILES_DIGITS_H
#define GPUME_FILES_DIGITS_H

#include <stdint.h>
#include <string.h>

/* Up to 7 characters, always copied together with their number. */
struct gpume_digits_piece {
    char text[7];
    uint8_t length;
};

/* "0" to "9999", "0000" to "9999". */
extern struct gpume_digits_piece gpume_digits[2][10000];

/* Fills the table; call it before the others. Any thread, any number of times. */
void gpume_digits_init(void);

static inline char *gpume_digits_copy(char *at, const struct gpume_digits_piece *piece)
{
    memcpy(at, piece, sizeof(*piece));
    return at + piece->length;
}

/* Up to 10 digits. Numbers of neighbouring blocks would make a branch on their length
 * unpredictable. */
static inline char *gpume_digits_put(char *at, uint32_t value)
{
    const uint32_t high = value / 10000;
    const uint32_t low = value % 10000;
    if (high >= 10000) {
        at = gpume_digits_copy(at, &gpume_digits[0][high / 10000]);
        at = gpume_digits_copy(at, &gpume_digits[1][high % 10000]);
        return gpume_digits_copy(at, &gpume_digits[1][low]);
    }
    const struct gpume_digits_piece *head = &gpume_digits[0][high];
    memcpy(at, head, sizeof(*head));
    at += high ? head->length : 0;
    return gpume_digits_copy(at, &gpume_digits[high != 0][low]);
}

/* Up to 20 digits. */
static inline char *gpume_digits_put_long(char *at, uint64_t value)
{
    if (value <= UINT32_MAX) {
        return gpume_digits_put(at, (uint32_t)value);
    }
    at = gpume_digits_put_long(at, value / 10000);
    return gpume_digits_copy(at, &gpume_digits[1][value % 10000]);
}

/* Its magnitude is below 2^32. */
static inline char *gpume_digits_put_signed(char *at, int64_t value)
{
    *at = '-';
    at += value < 0;
    return gpume_digits_put(at, (uint32_t)(value < 0 ? -value : value));
}

/* Preceded by blanks if it has fewer than `width` characters, at most 4. */
static inline char *gpume_digits_put_padded(char *at, int64_t value, unsigned width)
{
    const uint32_t size = (uint32_t)(value < 0 ? -value : value);
    if (size >= 10000) {
        return gpume_digits_put_signed(at, value);
    }
    const struct gpume_digits_piece *piece = &gpume_digits[0][size];
    const unsigned length = piece->length + (value < 0 ? 1u : 0u);
    memcpy(at, "    ", 4);
    at += length < width ? width - length : 0;
    *at = '-';
    at += value < 0;
    return gpume_digits_copy(at, piece);
}

#endif
