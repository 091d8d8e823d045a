/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as bytes: packed into a growing buffer, little-endian, and in decimal digits. */
#ifndef GPUME_FILES_BYTES_H
#define GPUME_FILES_BYTES_H

#include "files/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * --- A growing buffer, and packed whole numbers. A failed allocation is sticky, so it is checked
 * once, at the end. One thread.
 */

/* Starts as zero; release with gpume_bytes_finish. */
struct gpume_bytes {
    unsigned char *data;
    size_t count, room;
    bool failed; /* out of memory: the data is incomplete */
};

void gpume_bytes_put(struct gpume_bytes *bytes, const void *data, size_t count);

/* Seven bits per byte, the lowest first. The top bit is set in all bytes but the last. */
void gpume_bytes_number(struct gpume_bytes *bytes, uint64_t value);

/* 0, -1, 1, -2... as 0, 1, 2, 3... */
void gpume_bytes_signed(struct gpume_bytes *bytes, int64_t value);

/* Empties it and keeps the memory. */
void gpume_bytes_clear(struct gpume_bytes *bytes);

void gpume_bytes_finish(struct gpume_bytes *bytes);

/* --- Little-endian numbers on every machine. Compilers turn these functions into single moves. */

/* Returns the position after the number. */
static inline unsigned char *gpume_le_put16(unsigned char *at, uint16_t value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
    return at + 2;
}

static inline unsigned char *gpume_le_put32(unsigned char *at, uint32_t value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
    at[2] = (unsigned char)(value >> 16);
    at[3] = (unsigned char)(value >> 24);
    return at + 4;
}

static inline unsigned char *gpume_le_put64(unsigned char *at, uint64_t value)
{
    return gpume_le_put32(gpume_le_put32(at, (uint32_t)value), (uint32_t)(value >> 32));
}

static inline unsigned char *gpume_le_put_float(unsigned char *at, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return gpume_le_put32(at, bits);
}

static inline uint16_t gpume_le_get16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t gpume_le_get32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t gpume_le_get64(const unsigned char *at)
{
    return gpume_le_get32(at) | (uint64_t)gpume_le_get32(at + 4) << 32;
}

static inline float gpume_le_get_float(const unsigned char *at)
{
    const uint32_t bits = gpume_le_get32(at);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/*
 * --- Whole numbers as text, four digits at a time from a table. Up to 7 bytes after the end of a
 * number are overwritten.
 */

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
