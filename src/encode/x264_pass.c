/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x264's files, as 0.164 writes and reads them: gpume-formats(5). The timebase is one frame;
 * durations are in halves of it, so each is 2.
 */
#include "encode/pass_format.h"

#include "encode/bits.h"

#include <inttypes.h>
#include <stdio.h>

static void begin(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_video *video,
    const struct gpume_encode_options *options)
{
    snprintf(line, GPUME_PASS_LINE_BYTES,
        "#options: %" PRIu32 "x%" PRIu32 " fps=%" PRIu32 "/%" PRIu32 " timebase=%" PRIu32
        "/%" PRIu32 " bitdepth=%" PRIu32,
        video->width, video->height, video->rate_num, video->rate_den, video->rate_den,
        video->rate_num, options->bits);
}

#define OFFSET_MIN (-128)
#define OFFSET_MAX 127

/* What lightens or darkens a picture scales chroma around its middle, 128, by as much as luma. The
 * last weight makes all chroma 128, for black frames. */
static struct gpume_weight chroma_weight(const struct gpume_weight *luma)
{
    const int32_t offset = 128 - (128 * luma->scale >> luma->denominator);
    return offset <= OFFSET_MAX ? (struct gpume_weight){luma->denominator, luma->scale, offset}
                                : (struct gpume_weight){7, 1, OFFSET_MAX};
}

#define WEIGHT_BYTES 96

/* Luma, then denominator, scale and offset of one chroma plane, and scale and offset of the other.
 * Chroma is left out if luma has an offset alone, or if chroma would need one that is too
 * large. */
static void write_weight(char text[WEIGHT_BYTES], const struct gpume_weight *weight)
{
    int used = 0;
    text[0] = '\0';
    if (!gpume_weight_is_none(weight)) {
        used = snprintf(text, WEIGHT_BYTES, "w:%" PRId32 ",%" PRId32 ",%" PRId32 " ",
            weight->denominator, weight->scale, weight->offset);
    }
    const struct gpume_weight chroma = chroma_weight(weight);
    if (used > 0 && !gpume_weight_is_none(&chroma) && chroma.offset >= OFFSET_MIN) {
        snprintf(text + used - 1, WEIGHT_BYTES - (size_t)used,
            ",%" PRId32 ",%" PRId32 ",%" PRId32 ",%" PRId32 ",%" PRId32 " ", chroma.denominator,
            chroma.scale, chroma.offset, chroma.scale, chroma.offset);
    }
}

static void write_frame(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_frame *frame)
{
    char weight[WEIGHT_BYTES];
    const unsigned qp = (unsigned)frame->qp;
    write_weight(weight, &frame->weight);
    snprintf(line, GPUME_PASS_LINE_BYTES,
        "in:%" PRIu64 " out:%" PRIu64 " type:%c dur:2 cpbdur:2 q:%u.%02u aq:%u.%02u tex:%" PRIu64
        " mv:%" PRIu64 " misc:0 imb:%" PRIu32 " pmb:%" PRIu32 " smb:%" PRIu32 " d:- ref:0 %s;",
        frame->display, frame->coded, gpume_pass_letter(frame->type), qp / 100, qp % 100, qp / 100,
        qp % 100, frame->texture, frame->vectors, frame->intra_blocks, frame->inter_blocks,
        frame->skipped_blocks, weight);
}

/* With mbtree, the tree takes the place of a higher QP of B frames. QPs of deep samples begin
 * below those of 8 bits. */
static int32_t qp_of(const struct gpume_encode_options *options, enum gpume_frame_type type)
{
    const int32_t b = options->tree ? 0 : gpume_pass_qp_of_ratio(options->pbratio);
    const int32_t depth = (int32_t)(options->bits - 8) * 6 * GPUME_QP_ONE;
    switch (type) {
    case GPUME_FRAME_IDR:
    case GPUME_FRAME_I:
        return depth - gpume_pass_qp_of_ratio(options->ipratio);
    case GPUME_FRAME_B_REF:
        return depth + b / 2;
    case GPUME_FRAME_B:
        return depth + b;
    default:
        return depth;
    }
}

const struct gpume_pass_format gpume_x264_pass = {
    .stats = "-0.log",
    .tree = ".mbtree",
    .begin = begin,
    .constant = "intra_refresh=0 bluray_compat=0 interlaced=0 direct=1",
    .dash = '_',
    .write = write_frame,
    .has_weights = true,
    .qp = qp_of,
    .types =
        {[GPUME_FRAME_IDR] = 2, [GPUME_FRAME_I] = 2, [GPUME_FRAME_P] = 0, [GPUME_FRAME_B_REF] = 1},
    .big_endian = true,
};
