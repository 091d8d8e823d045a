/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the frames of a field lie in the bound ring: which of its frames, and quads from its start.
 */
uint target_frame_of(gpume_pair_push pair, uint z)
{
    uint first = z < pair.split ? pair.target_frame : pair.second_target_frame;
    return (first + z) % pair.ring;
}

uint reference_frame_of(gpume_pair_push pair, uint z)
{
    uint first = z < pair.split ? pair.reference_frame : pair.second_reference_frame;
    return (first + z) % pair.ring;
}

uint target_of(gpume_pair_push pair, uint z)
{
    return target_frame_of(pair, z) * pair.frame_quads;
}

uint reference_of(gpume_pair_push pair, uint z)
{
    return reference_frame_of(pair, z) * pair.frame_quads;
}
