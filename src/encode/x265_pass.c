/* SPDX-License-Identifier: BSD-2-Clause */
/* x265's files, as 3.5 writes and reads them: gpume-formats(5). */
#include "encode/pass_format.h"

#include <inttypes.h>
#include <stdio.h>

static void begin(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_video *video,
    const struct gpume_encode_options *options)
{
    snprintf(line, GPUME_PASS_LINE_BYTES,
        "#options: bitdepth=%" PRIu32 " fps=%" PRIu32 "/%" PRIu32 " input-res=%" PRIu32 "x%" PRIu32,
        options->bits, video->rate_num, video->rate_den, video->width, video->height);
}

static void write_frame(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_frame *frame)
{
    char qp[16];
    snprintf(qp, sizeof(qp), "%u.%02u", (unsigned)frame->qp / 100, (unsigned)frame->qp % 100);
    snprintf(line, GPUME_PASS_LINE_BYTES,
        "in:%" PRIu64 " out:%" PRIu64 " type:%c q:%s q-aq:%s q-noVbv:%s q-Rceq:1.00 tex:%" PRIu64
        " mv:%" PRIu64 " misc:0 icu:%" PRIu32 ".00 pcu:%" PRIu32 ".00 scu:%" PRIu32 ".00 sc:0 ;",
        frame->display, frame->coded, gpume_pass_letter(frame->type), qp, qp, qp, frame->texture,
        frame->vectors, frame->intra_blocks, frame->inter_blocks, frame->skipped_blocks);
}

static int32_t qp_of(const struct gpume_encode_options *options, enum gpume_frame_type type)
{
    const int32_t b = gpume_pass_qp_of_ratio(options->pbratio);
    return type == GPUME_FRAME_B ? b : type == GPUME_FRAME_B_REF ? b / 2 : 0;
}

const struct gpume_pass_format gpume_x265_pass = {
    .stats = ".log",
    .tree = ".cutree",
    .begin = begin,
    .constant = "no-intra-refresh no-frame-dup interlace=0", /* x265 wants a blank after words */
    .dash = '-',
    .as_words = true,
    .write = write_frame,
    .qp = qp_of,
    .types =
        {[GPUME_FRAME_IDR] = 2, [GPUME_FRAME_I] = 2, [GPUME_FRAME_P] = 1, [GPUME_FRAME_B_REF] = 0},
};
