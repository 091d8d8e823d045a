/* SPDX-License-Identifier: BSD-2-Clause */
/* Little-endian numbers on every machine. Compilers turn these functions into single moves. */
#ifndef GPUME_FILES_LITTLE_ENDIAN_H
#define GPUME_FILES_LITTLE_ENDIAN_H

#include <stdint.h>
#include <string.h>

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

#endif
