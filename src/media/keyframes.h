/* SPDX-License-Identifier: BSD-2-Clause */
/* Which frames of a video a decoder can start at, by its container: packets are read, but not
 * decoded. */
#ifndef GPUME_MEDIA_KEYFRAMES_H
#define GPUME_MEDIA_KEYFRAMES_H

#include "base/log.h"
#include "media/limits.h"

#include <stddef.h>
#include <stdint.h>

struct gpume_keyframes {
    uint64_t frames; /* of the video, by its packets */
    uint64_t *at;    /* indices of key frames in presentation order, rising; for free() */
    size_t count;
};

/* path: one video; "-" is standard input; stream: within the file, or -1. Failures are logged, as
 * those of gpume_source_open are. */
int gpume_keyframes_find(struct gpume_keyframes *keyframes, const char *path, int stream,
    const struct gpume_trust *trust, const struct gpume_log *log);

#endif
