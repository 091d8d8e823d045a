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

const char *const gpume_colour_primaries[GPUME_COLOUR_PRIMARIES] = {NULL, "bt709", NULL, NULL,
    "bt470m", "bt470bg", "smpte170m", "smpte240m", "film", "bt2020", "smpte428", "smpte431",
    "smpte432"};

const char *const gpume_colour_transfers[GPUME_COLOUR_TRANSFERS] = {NULL, "bt709", NULL, NULL,
    "bt470m", "bt470bg", "smpte170m", "smpte240m", "linear", "log100", "log316", "iec61966-2-4",
    "bt1361e", "iec61966-2-1", "bt2020-10", "bt2020-12", "smpte2084", "smpte428", "arib-std-b67"};
