/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/digits.h"

#include <pthread.h>

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
