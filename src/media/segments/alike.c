/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/segments/alike.h"

#include "media/luma.h"

#include <string.h>

#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

static bool is_same_plane(const AVFrame *a, const AVFrame *b, int plane)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(a->format);
    const int bytes = av_image_get_linesize(a->format, a->width, plane);
    const bool is_chroma = plane == 1 || plane == 2;
    const int shift = is_chroma ? format->log2_chroma_h : 0;
    const int rows = (a->height + (1 << shift) - 1) >> shift;
    for (int y = 0; bytes > 0 && y < rows; y++) {
        if (memcmp(a->data[plane] + (ptrdiff_t)y * a->linesize[plane],
                b->data[plane] + (ptrdiff_t)y * b->linesize[plane], (size_t)bytes) != 0) {
            return false;
        }
    }
    return true;
}

bool gpume_frames_are_alike(const AVFrame *a, const AVFrame *b)
{
    bool same = a->pts == b->pts && a->width == b->width && a->height == b->height &&
                a->format == b->format && a->colorspace == b->colorspace &&
                a->color_range == b->color_range &&
                gpume_luma_is_interlaced(a) == gpume_luma_is_interlaced(b);
    const bool has_palette = same && (av_pix_fmt_desc_get(a->format)->flags & AV_PIX_FMT_FLAG_PAL);
    for (int plane = 0; same && plane < (has_palette ? 1 : 4) && a->data[plane]; plane++) {
        same = is_same_plane(a, b, plane);
    }
    return same && !(has_palette && memcmp(a->data[1], b->data[1], AVPALETTE_SIZE) != 0);
}
