/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second copy of a padded frame for prune_wide.comp: in patches of eight columns, one octet per
 * row, and of 128 bytes, which is a cache line of many GPUs. Rows of patches follow each other.
 * Neighbouring rows of a block lie side by side, and a block touches six lines where rows of the
 * frame would be 16. Padding is widened to the left and above to complete patches, so that as many
 * blocks of the target as possible begin with one. Include after search.glsl.
 */
#ifdef GPUME_WIDE
const uint PATCH_ROWS = GPUME_PATCH_WORDS / 4u;
#else
const uint PATCH_ROWS = GPUME_PATCH_WORDS / 2u;
#endif
const uint PATCH_LEFT = uint(-PAD_X) % GPUME_PATCH_COLUMNS; /* columns, */
const uint PATCH_ABOVE = uint(-WINDOW_Y) % PATCH_ROWS;      /* and rows more of padding */

/* From the first octet of a frame to the one that holds a sample of the padded frame; those to the
 * right of it follow PATCH_ROWS apart. stride: patches in a row of them. */
uint patch_octet(uint row, uint column, uint stride)
{
    uint y = row + PATCH_ABOVE, x = (column + PATCH_LEFT) / GPUME_PATCH_COLUMNS;
    return (y / PATCH_ROWS * stride + x) * PATCH_ROWS + y % PATCH_ROWS;
}
