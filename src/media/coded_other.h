/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets whose headers are simple enough to be read here, of MPEG-2 and VP9, and what those of
 * other codecs share with them. */
#ifndef GPUME_MEDIA_CODED_OTHER_H
#define GPUME_MEDIA_CODED_OTHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a packet says, summed up */
struct gpume_coded_packet {
    unsigned pictures; /* shown */
    bool restarts;     /* as in struct gpume_coded_picture */
    bool renumbers;    /* its picture begins a section */
    bool foreign;      /* something whose effect on the frames is not known here */
    int64_t number;    /* of its picture within the section */
    uint64_t sets;     /* hash of the parameters for all pictures; 0: it has none */
};

/* Adds a unit to the hash. */
void gpume_coded_set(struct gpume_coded_packet *packet, const uint8_t *unit, size_t bytes);

/* The next start code, 00 00 01, or the end. */
const uint8_t *gpume_start_code(const uint8_t *at, const uint8_t *end);

/* number of VP9: the caller's, since packets are in the order of presentation. */
void gpume_coded_mpeg2(struct gpume_coded_packet *packet, const uint8_t *data, size_t bytes);
void gpume_coded_vp9(struct gpume_coded_packet *packet, const uint8_t *data, size_t bytes);

#endif
