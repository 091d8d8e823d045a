/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x264's files, as 0.164 writes and reads them: gpume-formats(5). The timebase is one frame, and a
 * frame lasts two of its halves.
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

static void write_frame(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_frame *frame)
{
    char weight[64] = "";
    const unsigned qp = (unsigned)frame->qp;
    if (gpume_pass_has_weight(&frame->weight)) {
        snprintf(weight, sizeof(weight), "w:%" PRId32 ",%" PRId32 ",%" PRId32 " ",
            frame->weight.denominator, frame->weight.scale, frame->weight.offset);
    }
    snprintf(line, GPUME_PASS_LINE_BYTES,
        "in:%" PRIu64 " out:%" PRIu64 " type:%c dur:2 cpbdur:2 q:%u.%02u aq:%u.%02u tex:%" PRIu64
        " mv:%" PRIu64 " misc:0 imb:%" PRIu32 " pmb:%" PRIu32 " smb:0 d:- ref:0 %s;",
        frame->display, frame->coded, gpume_pass_letter(frame->type), qp / 100, qp % 100, qp / 100,
        qp % 100, frame->texture, frame->vectors, frame->intra_blocks,
        frame->blocks - frame->intra_blocks, weight);
}

static bool read_frame(const char *line, struct gpume_pass_frame *frame)
{
    char letter = '\0';
    unsigned whole = 0, part = 0;
    uint32_t inter = 0;
    int end = 0, weight_end = 0;
    struct gpume_weight weight = {.scale = 1};
    sscanf(line,
        "in:%" SCNu64 " out:%" SCNu64 " type:%c dur:2 cpbdur:2 q:%u.%2u aq:%*u.%*2u tex:%" SCNu64
        " mv:%" SCNu64 " misc:0 imb:%" SCNu32 " pmb:%" SCNu32 " smb:0 d:- ref:0 %n",
        &frame->display, &frame->coded, &letter, &whole, &part, &frame->texture, &frame->vectors,
        &frame->intra_blocks, &inter, &end);
    if (end > 0) {
        sscanf(line + end, "w:%" SCNd32 ",%" SCNd32 ",%" SCNd32 " %n", &weight.denominator,
            &weight.scale, &weight.offset, &weight_end);
    }
    frame->blocks = frame->intra_blocks + inter;
    frame->qp = (int32_t)(whole * 100 + part);
    frame->weight = weight;
    return end > 0 && line[end + weight_end] == ';' && line[end + weight_end + 1] == '\0' &&
           gpume_pass_type_of(letter, &frame->type);
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
    .read = read_frame,
    .has_weights = true,
    .qp = qp_of,
    .types =
        {[GPUME_FRAME_IDR] = 2, [GPUME_FRAME_I] = 2, [GPUME_FRAME_P] = 0, [GPUME_FRAME_B_REF] = 1},
    .big_endian = true,
};
