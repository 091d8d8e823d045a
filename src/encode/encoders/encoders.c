/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of encoders. A new one is a file in this folder, its declaration and its row. */
#include "encode/encoder.h"

#include <string.h>

extern const struct gpume_encoder gpume_x264, gpume_x265, gpume_svt_av1;

const struct gpume_encoder *const gpume_encoders[] = {
    &gpume_x264, &gpume_x265, &gpume_svt_av1, NULL};

const struct gpume_encoder *gpume_encoder_find(const char *name)
{
    const struct gpume_encoder *const *encoder = gpume_encoders;
    while (*encoder && strcmp((*encoder)->name, name) != 0) {
        encoder++;
    }
    return *encoder;
}
