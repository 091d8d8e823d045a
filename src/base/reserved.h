/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reserved bytes of public structs. Later versions give them a meaning, and a program that was
 * compiled for one of those must not run on as if this one knew it.
 */
#ifndef GPUME_BASE_RESERVED_H
#define GPUME_BASE_RESERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_RESERVED_IS_ZERO(s) gpume_reserved_is_zero((s)->reserved, sizeof((s)->reserved))

static inline bool gpume_reserved_is_zero(const uint8_t *bytes, size_t count)
{
    uint8_t any = 0;
    for (size_t i = 0; i < count; i++) {
        any |= bytes[i];
    }
    return any == 0;
}

#endif
