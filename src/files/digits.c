/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/digits.h"

void gpume_digits_init(struct gpume_digits *digits)
{
    for (unsigned i = 0; i < 10000; i++) {
        const char text[4] = {(char)('0' + i / 1000), (char)('0' + i / 100 % 10),
            (char)('0' + i / 10 % 10), (char)('0' + i % 10)};
        const unsigned skip = i < 10 ? 3 : i < 100 ? 2 : i < 1000 ? 1 : 0;
        memcpy(digits->of[0][i].text, text + skip, 4 - skip);
        digits->of[0][i].length = (uint8_t)(4 - skip);
        memcpy(digits->of[1][i].text, text, 4);
        digits->of[1][i].length = 4;
    }
}
