/* SPDX-License-Identifier: BSD-2-Clause */
/* The search for means, block by block of every task. Include after general.glsl. */
struct Mean {
    uint references[2]; /* past and future: of the task's references; NONE: there is none */
    uint vectors[2];    /* packed */
    uint cost;          /* of the mean of both matches */
    uint is_settled;    /* 1: no turn finds anything better */
    uvec2 found;        /* by this turn so far: cost, order */
};

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Means
{
    Mean at[];
};

Means means_of(uvec2 array, uint z, uint blocks)
{
    return Means(far_element(array, z, blocks, GPUME_MEAN_WORDS * 4u));
}
