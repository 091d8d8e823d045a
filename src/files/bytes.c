/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/bytes.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST ((size_t)4096)

void gpume_bytes_put(struct gpume_bytes *bytes, const void *data, size_t count)
{
    if (count == 0 || bytes->failed) {
        return;
    }
    if (bytes->room - bytes->count < count) {
        size_t room = bytes->room ? bytes->room : ROOM_FIRST;
        while (room - bytes->count < count) {
            room += room / 2;
        }
        unsigned char *larger = realloc(bytes->data, room);
        if (!larger) {
            bytes->failed = true;
            return;
        }
        bytes->data = larger;
        bytes->room = room;
    }
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
}

void gpume_bytes_number(struct gpume_bytes *bytes, uint64_t value)
{
    unsigned char digits[10]; /* ceil(64 / 7) */
    size_t count = 0;
    for (; value >= 0x80; value >>= 7) {
        digits[count++] = (unsigned char)(0x80 | (value & 0x7f));
    }
    digits[count++] = (unsigned char)value;
    gpume_bytes_put(bytes, digits, count);
}

void gpume_bytes_signed(struct gpume_bytes *bytes, int64_t value)
{
    const uint64_t twice = (uint64_t)value << 1;
    gpume_bytes_number(bytes, value < 0 ? ~twice : twice);
}

void gpume_bytes_clear(struct gpume_bytes *bytes)
{
    bytes->count = 0;
    bytes->failed = false;
}

void gpume_bytes_finish(struct gpume_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct gpume_bytes){0};
}
