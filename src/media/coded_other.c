/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/coded_other.h"

#include "base/checksum.h"

#include <string.h>

/* Start codes and extensions of ITU-T H.262, tables 6-1 and 6-2 */
enum {
    PICTURE = 0x00,
    LAST_SLICE = 0xaf,
    USER_DATA = 0xb2,
    SEQUENCE = 0xb3,
    EXTENSION = 0xb5,
    GROUP = 0xb8,
    OF_SEQUENCE = 1,
    OF_DISPLAY = 2,
    OF_COPYRIGHT = 4,
    OF_PAN_SCAN = 7,
    OF_PICTURE = 8,
    INTRA = 1,       /* picture_coding_type */
    WHOLE_FRAME = 3, /* picture_structure */
};

void gpume_coded_set(struct gpume_coded_packet *packet, const uint8_t *unit, size_t bytes)
{
    const uint64_t before = packet->sets ? packet->sets : GPUME_CHECKSUM_BEGIN;
    packet->sets = gpume_checksum(before, unit, bytes) | 1;
}

const uint8_t *gpume_start_code(const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 3; at++) {
        const uint8_t *one = memchr(at + 2, 1, (size_t)(end - at - 2));
        if (!one) {
            break;
        }
        at = one - 2;
        if (at[0] == 0 && at[1] == 0) {
            return at;
        }
    }
    return end;
}

static void take_extension(struct gpume_coded_packet *packet, const uint8_t *unit, size_t bytes)
{
    const unsigned kind = bytes > 1 ? unit[1] >> 4 : 0;
    if (kind == OF_SEQUENCE || kind == OF_DISPLAY) {
        gpume_coded_set(packet, unit, bytes);
    } else if (kind == OF_PICTURE && bytes > 3) { /* no single fields */
        packet->foreign = packet->foreign || (unit[3] & 3) != WHOLE_FRAME;
    } else { /* matrices stay in force, and layers change everything */
        packet->foreign = packet->foreign || (kind != OF_COPYRIGHT && kind != OF_PAN_SCAN);
    }
}

/* A unit without its start code's 00 00 01. */
static void take_unit(struct gpume_coded_packet *packet, const uint8_t *unit, size_t bytes)
{
    const unsigned code = bytes > 0 ? unit[0] : LAST_SLICE + 1;
    if (code == PICTURE && bytes > 2) {
        packet->pictures++;
        packet->number = unit[1] << 2 | unit[2] >> 6;
        packet->restarts = packet->sets != 0 && (unit[2] >> 3 & 7) == INTRA;
    } else if (code == SEQUENCE) {
        gpume_coded_set(packet, unit, bytes);
    } else if (code == EXTENSION) {
        take_extension(packet, unit, bytes);
    } else if (code == GROUP) {
        packet->renumbers = true;
    } else {
        packet->foreign =
            packet->foreign || code == PICTURE || (code > LAST_SLICE && code != USER_DATA);
    }
}

void gpume_coded_mpeg2(struct gpume_coded_packet *packet, const uint8_t *data, size_t bytes)
{
    const uint8_t *end = data + bytes, *at = gpume_start_code(data, end);
    while (at < end && !packet->foreign) {
        const uint8_t *next = gpume_start_code(at + 3, end);
        take_unit(packet, at + 3, (size_t)(next - at - 3));
        at = next;
    }
}

/* A frame's first byte: VP9 bitstream specification, 6.2. Returns whether a key frame is shown. */
static bool take_frame(struct gpume_coded_packet *packet, const uint8_t *frame, size_t bytes)
{
    const unsigned head = bytes > 1 ? (unsigned)frame[0] << 8 | frame[1] : 0;
    const unsigned skipped = (head >> 12 & 3) == 3 ? 5 : 4; /* marker, profile, reserved */
    const unsigned flags = head << skipped;
    const bool exists = flags & 0x8000, inter = flags & 0x4000, shown = flags & 0x2000;
    const bool alone = bytes == 1 && (frame[0] & 0x08); /* shows a frame that exists */
    packet->foreign = packet->foreign || bytes == 0 || frame[0] >> 6 != 2 || (bytes == 1 && !alone);
    packet->pictures += alone || exists || shown;
    return !alone && !exists && !inter && shown;
}

/* A packet is a frame, or several with an index at the end: annex B. */
void gpume_coded_vp9(struct gpume_coded_packet *packet, const uint8_t *data, size_t bytes)
{
    const unsigned marker = bytes > 0 ? data[bytes - 1] : 0;
    const size_t count = (marker & 7) + 1, each = (marker >> 3 & 3) + 1, index = 2 + each * count;
    const bool several = marker >> 5 == 6 && bytes > index && data[bytes - index] == marker;
    if (!several) {
        packet->restarts = take_frame(packet, data, bytes);
        return;
    }
    const uint8_t *size = data + bytes - index + 1;
    size_t left = bytes - index;
    for (size_t i = 0; i < count; i++, size += each) {
        size_t own = 0;
        for (size_t j = 0; j < each; j++) {
            own |= (size_t)size[j] << 8 * j;
        }
        if (own > left) {
            packet->foreign = true;
            return;
        }
        const bool key = take_frame(packet, data, own);
        packet->restarts = packet->restarts || (key && i == 0);
        data += own;
        left -= own;
    }
}
