/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors/block_row.h"

const struct gpume_block_column_kind gpume_block_columns[GPUME_BLOCK_COLUMNS] = {
    [GPUME_BLOCK_FRAME] = {"frame", 0, 0, GPUME_READ_NUMBER_MAX},
    [GPUME_BLOCK_REF] = {"ref", GPUME_VECTORS_REF, 0, GPUME_READ_NUMBER_MAX},
    [GPUME_BLOCK_X] = {"x", 0, 0, GPUME_READ_SIDE_MAX - 1},
    [GPUME_BLOCK_Y] = {"y", 0, 0, GPUME_READ_SIDE_MAX - 1},
    [GPUME_BLOCK_W] = {"w", 0, 1, GPUME_READ_BLOCK_MAX},
    [GPUME_BLOCK_H] = {"h", 0, 1, GPUME_READ_BLOCK_MAX},
    [GPUME_BLOCK_DX] = {"dx", 0, INT16_MIN, INT16_MAX},
    [GPUME_BLOCK_DY] = {"dy", 0, INT16_MIN, INT16_MAX},
    [GPUME_BLOCK_COST] = {"cost", GPUME_VECTORS_COST, 0, UINT32_MAX},
    [GPUME_BLOCK_RANK] = {"rank", GPUME_VECTORS_RANK, 0, UINT32_MAX},
};

struct gpume_vectors_row gpume_block_row(const int64_t values[GPUME_BLOCK_COLUMNS])
{
    return (struct gpume_vectors_row){
        .frame = (uint64_t)values[GPUME_BLOCK_FRAME],
        .ref = (uint64_t)values[GPUME_BLOCK_REF],
        .block =
            {
                .x = (uint32_t)values[GPUME_BLOCK_X],
                .y = (uint32_t)values[GPUME_BLOCK_Y],
                .w = (uint16_t)values[GPUME_BLOCK_W],
                .h = (uint16_t)values[GPUME_BLOCK_H],
                .dx = (int16_t)values[GPUME_BLOCK_DX],
                .dy = (int16_t)values[GPUME_BLOCK_DY],
                .cost = (uint32_t)values[GPUME_BLOCK_COST],
                .rank = (uint32_t)values[GPUME_BLOCK_RANK],
            },
    };
}
