/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes over libav's log for the whole program. Decoders log every damaged block of every frame on
 * their own threads; these lines are only counted. On the calling thread the first error line is
 * kept, because it says why a call failed.
 */
#include "media/libav.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/error.h>
#include <libavutil/log.h>

static _Thread_local char kept[256];
static _Thread_local bool cut;
static atomic_uint_fast64_t oversized;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The counters of the decoder that logs, also from a frame thread; NULL: it has none. */
static struct gpume_libav_faults *faults_of(void *object)
{
    if (!object || *(const AVClass **)object != avcodec_get_class()) {
        return NULL;
    }
    const AVCodecContext *codec = object;
    return codec->codec && av_codec_is_decoder(codec->codec) ? codec->opaque : NULL;
}

static void keep_line(void *object, int level, const char *format, va_list args)
{
    const bool error = (level & 0xff) <= AV_LOG_ERROR, starved = errno == ENOMEM;
    struct gpume_libav_faults *faults = error ? faults_of(object) : NULL;
    if (faults) {
        atomic_fetch_add(&faults->errors, 1);
        atomic_fetch_add(&faults->starved, starved);
    }
    if (strstr(format, "exceeds specified max pixel count")) { /* av_image_check_size2 */
        atomic_fetch_add(&oversized, 1);
    }
    cut = cut || strstr(format, "File ended prematurely") || /* matroskadec.c */
          strstr(format, ": partial file") || strstr(format, "reached eof, corrupted"); /* mov.c */
    if (!error || kept[0] != '\0') {
        return;
    }
    char line[sizeof kept];
    if (vsnprintf(line, sizeof line, format, args) < 0) {
        return;
    }
    size_t bytes = strcspn(line, "\r\n");
    while (bytes > 0 && (line[bytes - 1] == ' ' || line[bytes - 1] == '.')) {
        bytes--;
    }
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)line[i];
        kept[i] = c < ' ' || c == 0x7f ? '?' : line[i];
    }
    kept[bytes] = '\0';
}

static void take_over(void)
{
    av_log_set_callback(keep_line);
}

void gpume_libav_quiet(void)
{
    (void)pthread_once(&once, take_over);
    kept[0] = '\0';
    cut = false;
    errno = 0;
}

int gpume_libav_check_memory(int error)
{
    return error == AVERROR(ENOMEM) && errno != ENOMEM ? AVERROR_INVALIDDATA : error;
}

bool gpume_libav_complained(void)
{
    return kept[0] != '\0';
}

bool gpume_libav_cut(void)
{
    return cut;
}

uint64_t gpume_libav_oversized(void)
{
    return atomic_load(&oversized);
}

const char *gpume_libav_reason(int error)
{
    static _Thread_local char text[sizeof kept];
    (void)av_strerror(error, text, sizeof text); /* for unknown errors it writes the number */
    return kept[0] != '\0' ? kept : text;
}
