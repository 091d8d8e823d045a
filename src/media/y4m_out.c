/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/y4m_out.h"

#include "files/little_endian.h"

#include <gpume/gpume.h>

#include <inttypes.h>
#include <stdio.h>

int gpume_y4m_write_head(struct gpume_out *out, const struct gpume_y4m_head *head)
{
    static const char *const spaces[17] = {
        [8] = "mono", [9] = "mono9", [10] = "mono10", [12] = "mono12"};
    const char *gray = head->bits <= 16 ? spaces[head->bits] : NULL;
    const bool known = head->rate_num > 0 && head->rate_den > 0;
    char line[200];
    const int bytes = snprintf(line, sizeof(line),
        "YUV4MPEG2 W%" PRIu32 " H%" PRIu32 " F%" PRIu32 ":%" PRIu32 " Ip A%" PRIu32 ":%" PRIu32
        " C%s XCOLORRANGE=%s%s\n",
        head->width, head->height, known ? head->rate_num : 25, known ? head->rate_den : 1,
        head->aspect_num, head->aspect_den,
        head->colour ? "444"
        : gray       ? gray
                     : "mono16",
        head->full_range && !head->colour ? "FULL" : "LIMITED", head->comment ? head->comment : "");
    return gpume_out_write(out, line, (size_t)bytes);
}

int gpume_y4m_write_luma(struct gpume_out *out, const struct gpume_plane *plane, uint8_t *row)
{
    int status = GPUME_OK;
    for (uint32_t y = 0; y < plane->height && status == GPUME_OK; y++) {
        const uint8_t *from = (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        if (plane->bits == 8) {
            status = gpume_out_write(out, from, plane->width);
            continue;
        }
        const uint16_t *samples = (const uint16_t *)(const void *)from;
        for (uint32_t x = 0; x < plane->width; x++) {
            gpume_le_put16(row + 2 * x, samples[x]);
        }
        status = gpume_out_write(out, row, (size_t)plane->width * 2);
    }
    return status;
}
