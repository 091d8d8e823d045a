/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors/block_row.h"

#include <inttypes.h>
#include <stdio.h>

#define PIXELS(value) (GPUME_VECTORS_UNITS * (int64_t)(value))
#define VECTOR .type = GPUME_BLOCK_PIXELS, .min = PIXELS(INT16_MIN), .max = PIXELS(INT16_MAX)

const struct gpume_block_column_kind gpume_block_columns[GPUME_BLOCK_COLUMNS] = {
    [GPUME_BLOCK_FRAME] = {"frame", .max = GPUME_READ_NUMBER_MAX},
    [GPUME_BLOCK_REF] = {"ref", GPUME_VECTORS_REF, .max = GPUME_READ_NUMBER_MAX},
    [GPUME_BLOCK_X] = {"x", .max = GPUME_READ_SIDE_MAX - 1},
    [GPUME_BLOCK_Y] = {"y", .max = GPUME_READ_SIDE_MAX - 1},
    [GPUME_BLOCK_W] = {"w", .min = 1, .max = GPUME_READ_BLOCK_MAX},
    [GPUME_BLOCK_H] = {"h", .min = 1, .max = GPUME_READ_BLOCK_MAX},
    [GPUME_BLOCK_DX] = {"dx", VECTOR},
    [GPUME_BLOCK_DY] = {"dy", VECTOR},
    [GPUME_BLOCK_COST] = {"cost", GPUME_VECTORS_COST, .max = UINT32_MAX},
    [GPUME_BLOCK_RANK] = {"rank", GPUME_VECTORS_RANK, .max = UINT32_MAX},
    [GPUME_BLOCK_SHAPE] = {"shape", GPUME_VECTORS_SHAPE, GPUME_BLOCK_OUTLINE, .min = 1 << 16 | 1,
        .max = (int64_t)GPUME_READ_BLOCK_MAX << 16 | GPUME_READ_BLOCK_MAX},
    [GPUME_BLOCK_BITS] = {"bits", GPUME_VECTORS_BITS, .max = UINT32_MAX},
    [GPUME_BLOCK_REF2] = {"ref2", GPUME_VECTORS_REF2, .optional = true,
        .max = GPUME_READ_NUMBER_MAX},
    [GPUME_BLOCK_DX2] = {"dx2", GPUME_VECTORS_REF2, .optional = true, VECTOR},
    [GPUME_BLOCK_DY2] = {"dy2", GPUME_VECTORS_REF2, .optional = true, VECTOR},
    [GPUME_BLOCK_CANDIDATE] = {"candidate", GPUME_VECTORS_CANDIDATE, .max = UINT32_MAX},
    [GPUME_BLOCK_SECOND] = {"second", GPUME_VECTORS_SECOND, .optional = true,
        .max = UINT32_MAX - 1},
    [GPUME_BLOCK_TIES] = {"ties", GPUME_VECTORS_TIES, .max = UINT32_MAX},
    [GPUME_BLOCK_TEXTURE] = {"texture", GPUME_VECTORS_TEXTURE, .max = UINT32_MAX},
    [GPUME_BLOCK_RETURN] = {"return", GPUME_VECTORS_RETURN, GPUME_BLOCK_PIXELS, true,
        .max = PIXELS(UINT16_MAX)},
};

static int64_t or_empty(bool known, int64_t number)
{
    return known ? number : GPUME_BLOCK_EMPTY;
}

int64_t gpume_block_number(const struct gpume_vectors_block *block, enum gpume_block_column column)
{
    const bool two = block->ref2 != GPUME_VECTORS_ONE;
    switch (column) {
    case GPUME_BLOCK_SHAPE:
        return (int64_t)block->shape_w << 16 | block->shape_h;
    case GPUME_BLOCK_BITS:
        return block->bits;
    case GPUME_BLOCK_REF2:
        return or_empty(two, (int64_t)block->ref2);
    case GPUME_BLOCK_DX2:
        return or_empty(two, block->dx2);
    case GPUME_BLOCK_DY2:
        return or_empty(two, block->dy2);
    case GPUME_BLOCK_CANDIDATE:
        return block->candidate;
    case GPUME_BLOCK_SECOND:
        return or_empty(block->second != GPUME_NONE, block->second);
    case GPUME_BLOCK_TIES:
        return block->ties;
    case GPUME_BLOCK_TEXTURE:
        return block->texture;
    default:
        return or_empty(block->returns != GPUME_NONE, block->returns);
    }
}

char *gpume_block_put(char *at, enum gpume_block_type type, int64_t number)
{
    static const struct gpume_digits_piece fractions[GPUME_VECTORS_UNITS] = {
        {"", 0}, {".25", 3}, {".5", 2}, {".75", 3}};
    switch (type) {
    case GPUME_BLOCK_PIXELS: {
        const uint32_t size = (uint32_t)(number < 0 ? -number : number);
        *at = '-';
        at = gpume_digits_put(at + (number < 0), size / GPUME_VECTORS_UNITS);
        return gpume_digits_copy(at, &fractions[size % GPUME_VECTORS_UNITS]);
    }
    case GPUME_BLOCK_OUTLINE:
        at = gpume_digits_put(at, (uint32_t)(number >> 16));
        *at++ = 'x';
        return gpume_digits_put(at, (uint32_t)(number & UINT16_MAX));
    default:
        return gpume_digits_put_long(at, (uint64_t)number);
    }
}

/* Returns the end of at most 18 digits, or NULL. */
static const char *take_digits(const char *at, int64_t *number)
{
    const char *begin = at;
    *number = 0;
    for (; *at >= '0' && *at <= '9' && at - begin < 18; at++) {
        *number = *number * 10 + (*at - '0');
    }
    return at > begin ? at : NULL;
}

/* What follows the point: 25, 5, 75 or 0, also with zeros after it. */
static const char *take_fraction(const char *at, int64_t *quarters)
{
    const char *begin = at;
    int hundredths = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        const int weight = at == begin ? 10 : at == begin + 1 ? 1 : 0;
        if (weight == 0 && *at != '0') {
            return NULL;
        }
        hundredths += weight * (*at - '0');
    }
    *quarters = hundredths / 25;
    return at > begin && hundredths % 25 == 0 ? at : NULL;
}

static const char *take_pixels(const char *at, int64_t *number)
{
    int64_t fraction = 0;
    at = take_digits(at, number);
    if (at && *number > UINT32_MAX) {
        return NULL;
    }
    if (at && *at == '.') {
        at = take_fraction(at + 1, &fraction);
    }
    *number = PIXELS(*number) + fraction;
    return at;
}

static const char *take_outline(const char *at, int64_t *number)
{
    int64_t width, height;
    at = take_digits(at, &width);
    at = at && *at == 'x' ? take_digits(at + 1, &height) : NULL;
    if (at && (width < 1 || width > GPUME_READ_BLOCK_MAX || height < 1 ||
                  height > GPUME_READ_BLOCK_MAX)) {
        return NULL;
    }
    *number = at ? width << 16 | height : 0;
    return at;
}

const char *gpume_block_parse(enum gpume_block_column column, const char *text, int64_t *number)
{
    const struct gpume_block_column_kind *kind = &gpume_block_columns[column];
    const bool negative = *text == '-' && kind->type != GPUME_BLOCK_OUTLINE;
    int64_t value = 0;
    const char *at = text + negative;
    at = kind->type == GPUME_BLOCK_PIXELS    ? take_pixels(at, &value)
         : kind->type == GPUME_BLOCK_OUTLINE ? take_outline(at, &value)
                                             : take_digits(at, &value);
    value = negative ? -value : value;
    if (!at || !strchr(",} \t\"", *at) || value < kind->min || value > kind->max) {
        return NULL;
    }
    *number = value;
    return at;
}

void gpume_block_describe(enum gpume_block_column column, char *text, size_t bytes)
{
    const struct gpume_block_column_kind *kind = &gpume_block_columns[column];
    if (kind->type == GPUME_BLOCK_OUTLINE) {
        snprintf(text, bytes, "a shape such as 16x8, of at most %d pixels per side",
            GPUME_READ_BLOCK_MAX);
    } else if (kind->type == GPUME_BLOCK_PIXELS) {
        snprintf(text, bytes, "a multiple of 0.25 from %" PRId64 " to %" PRId64,
            kind->min / GPUME_VECTORS_UNITS, kind->max / GPUME_VECTORS_UNITS);
    } else {
        snprintf(text, bytes, "a whole number from %" PRId64 " to %" PRId64, kind->min, kind->max);
    }
}

void gpume_block_clear(int64_t values[GPUME_BLOCK_COLUMNS])
{
    for (size_t i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        values[i] = gpume_block_columns[i].optional ? GPUME_BLOCK_EMPTY : 0;
    }
}

static uint32_t or_none(int64_t value)
{
    return value == GPUME_BLOCK_EMPTY ? GPUME_NONE : (uint32_t)value;
}

struct gpume_vectors_row gpume_block_row(const int64_t values[GPUME_BLOCK_COLUMNS])
{
    const bool two = values[GPUME_BLOCK_REF2] != GPUME_BLOCK_EMPTY;
    return (struct gpume_vectors_row){
        .frame = (uint64_t)values[GPUME_BLOCK_FRAME],
        .ref = (uint64_t)values[GPUME_BLOCK_REF],
        .block =
            {
                .x = (uint32_t)values[GPUME_BLOCK_X],
                .y = (uint32_t)values[GPUME_BLOCK_Y],
                .w = (uint16_t)values[GPUME_BLOCK_W],
                .h = (uint16_t)values[GPUME_BLOCK_H],
                .dx = (int32_t)values[GPUME_BLOCK_DX],
                .dy = (int32_t)values[GPUME_BLOCK_DY],
                .cost = (uint32_t)values[GPUME_BLOCK_COST],
                .rank = (uint32_t)values[GPUME_BLOCK_RANK],
                .ref = (uint64_t)values[GPUME_BLOCK_REF],
                .shape_w = (uint16_t)(values[GPUME_BLOCK_SHAPE] >> 16),
                .shape_h = (uint16_t)values[GPUME_BLOCK_SHAPE],
                .bits = (uint32_t)values[GPUME_BLOCK_BITS],
                .ref2 = two ? (uint64_t)values[GPUME_BLOCK_REF2] : GPUME_VECTORS_ONE,
                .dx2 = two ? (int32_t)values[GPUME_BLOCK_DX2] : 0,
                .dy2 = two ? (int32_t)values[GPUME_BLOCK_DY2] : 0,
                .candidate = (uint32_t)values[GPUME_BLOCK_CANDIDATE],
                .second = or_none(values[GPUME_BLOCK_SECOND]),
                .ties = (uint32_t)values[GPUME_BLOCK_TIES],
                .texture = (uint32_t)values[GPUME_BLOCK_TEXTURE],
                .returns = or_none(values[GPUME_BLOCK_RETURN]),
            },
    };
}
