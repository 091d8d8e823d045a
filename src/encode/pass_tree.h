/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of the file of QP offsets: the type of a frame, then the offset of each of its squares of
 * 16x16 pixels. If the encoded picture has another size than the analysed frame, each square gets
 * the mean of those that it covers, by area. One thread.
 */
#ifndef GPUME_ENCODE_PASS_TREE_H
#define GPUME_ENCODE_PASS_TREE_H

#include "encode/pass.h"

struct gpume_pass_tree;

/* NULL: out of memory; not logged. */
struct gpume_pass_tree *gpume_pass_tree_open(
    const struct gpume_pass_params *params, const struct gpume_pass_video *video);

/* Bytes of each record. */
size_t gpume_pass_tree_bytes(const struct gpume_pass_tree *tree);

/* Valid until the next call. */
const unsigned char *gpume_pass_tree_record(
    struct gpume_pass_tree *tree, const struct gpume_decision *decision);

void gpume_pass_tree_close(struct gpume_pass_tree **tree);

#endif
