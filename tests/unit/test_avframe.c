/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume/avframe.h: what a frame holds after one and two fields were attached, and what is refused.
 * */
#include "gpume/avframe.h"
#include "harness.h"

enum { BLOCKS = 6 };

static const struct gpume_vector vectors[BLOCKS] = {
    {-2, 1}, {0, 0}, {512, -512}, {3, 3}, {-1, 0}, {0, 7}};

static const AVMotionVector *vectors_of(const AVFrame *frame, size_t *count)
{
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    *count = data ? (size_t)data->size / sizeof(AVMotionVector) : 0;
    return data ? (const AVMotionVector *)(const void *)data->data : NULL;
}

static void check(const AVMotionVector *vector, int source, int w, int h, int x, int y,
    struct gpume_vector motion)
{
    REQUIRE_EQUAL(vector->source, source);
    REQUIRE(vector->w == w && vector->h == h);
    REQUIRE(vector->dst_x == x && vector->dst_y == y);
    REQUIRE(vector->src_x == x + motion.dx && vector->src_y == y + motion.dy);
    REQUIRE(vector->motion_x == motion.dx && vector->motion_y == motion.dy);
    REQUIRE(vector->motion_scale == 1 && vector->flags == 0);
}

int main(void)
{
    /* 37x21 in blocks of 16: three columns, the last 5 wide, and two rows, the last 5 high. */
    struct gpume_params params;
    struct gpume_field field = {
        .frame = 3, .ref = 2, .blocks_x = 3, .blocks_y = 2, .vectors = vectors};
    AVFrame *frame = av_frame_alloc();
    size_t count = 0;
    gpume_params_default(&params);
    params.width = 37;
    params.height = 21;
    params.block = 16;
    params.window_x = params.window_y = 512;
    REQUIRE(frame != NULL);
    if (!frame) {
        return 1;
    }
    REQUIRE_EQUAL(gpume_avframe_attach(frame, &field, &params), 0);
    const AVMotionVector *found = vectors_of(frame, &count);
    REQUIRE_EQUAL(count, BLOCKS);
    if (found && count == BLOCKS) {
        check(&found[0], -1, 16, 16, 8, 8, vectors[0]);
        check(&found[2], -1, 5, 16, 34, 8, vectors[2]);
        check(&found[3], -1, 16, 5, 8, 18, vectors[3]);
        check(&found[5], -1, 5, 5, 34, 18, vectors[5]);
    }
    /* The other direction follows. */
    field.ref = 4;
    REQUIRE_EQUAL(gpume_avframe_attach(frame, &field, &params), 0);
    found = vectors_of(frame, &count);
    REQUIRE_EQUAL(count, 2 * BLOCKS);
    if (found && count == 2 * BLOCKS) {
        check(&found[0], -1, 16, 16, 8, 8, vectors[0]);
        check(&found[BLOCKS], 1, 16, 16, 8, 8, vectors[0]);
    }
    REQUIRE_EQUAL(frame->nb_side_data, 1);
    /* Another grid; positions that FFmpeg's 16 bits do not hold. */
    params.block = 8;
    REQUIRE_EQUAL(gpume_avframe_attach(frame, &field, &params), AVERROR(EINVAL));
    params.block = 128;
    params.width = 32256;
    params.height = 1;
    field.blocks_x = 252;
    field.blocks_y = 1;
    REQUIRE_EQUAL(gpume_avframe_attach(frame, &field, &params), AVERROR(ERANGE));
    (void)vectors_of(frame, &count);
    REQUIRE_EQUAL(count, 2 * BLOCKS);
    av_frame_free(&frame);
    return harness_verdict();
}
