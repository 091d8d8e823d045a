/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/bytes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* --- a buffer that grows */

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

/* --- decimal digits */

struct gpume_digits_piece gpume_digits[2][10000];

static void fill_digits(void)
{
    for (unsigned i = 0; i < 10000; i++) {
        const char text[4] = {(char)('0' + i / 1000), (char)('0' + i / 100 % 10),
            (char)('0' + i / 10 % 10), (char)('0' + i % 10)};
        const unsigned skip = i < 10 ? 3 : i < 100 ? 2 : i < 1000 ? 1 : 0;
        memcpy(gpume_digits[0][i].text, text + skip, 4 - skip);
        gpume_digits[0][i].length = (uint8_t)(4 - skip);
        memcpy(gpume_digits[1][i].text, text, 4);
        gpume_digits[1][i].length = 4;
    }
}

void gpume_digits_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, fill_digits);
}
