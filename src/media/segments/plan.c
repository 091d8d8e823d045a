/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/segments/segments.h"

#include <libavutil/cpu.h>

#define OWN_FRAMES 18u   /* of a decoder: 16 references, and those that it works on */
#define WAITING_MAX 512u /* frames per decoder: twice the usual distance of key frames */
#define WAITING_MIN 24u  /* fewer would keep decoders from working side by side */
#define PACKETS_SHARE 8u /* part of the memory that packets take */
#define THREADS_MAX 16u  /* as many as FFmpeg would choose */

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* Below 12 processors, one decoder keeps all of them busy. Measured are 4 on 16 processors and 6 on
 * 32 (PERFORMANCE.md). With more decoders, memory is the limit. */
uint32_t gpume_segments_decoders(uint32_t threads)
{
    const int count = av_cpu_count();
    const uint32_t processors = count > 0 ? (uint32_t)count : 1;
    const uint32_t used = threads > 0 && threads < processors ? threads : processors;
    return used < 12 ? 1 : used < 16 ? 2 : used < 24 ? 4 : 6;
}

/* Threads of each decoder: enough to fill the processors, and one more, since frames wait for each
 * other. */
static uint32_t choose_threads(uint32_t decoders, uint32_t threads)
{
    const int processors = av_cpu_count();
    const uint32_t all = threads > 0 ? threads : processors > 1 ? (uint32_t)processors : 1;
    const uint32_t each = (all + decoders - 1) / decoders + 1;
    return least(least(each, all), THREADS_MAX);
}

/* Frames that all decoders but the first hold besides those that wait. */
static uint64_t frames_held(const struct gpume_division *division)
{
    return (uint64_t)(division->decoders - 1) * (division->threads + OWN_FRAMES) +
           (uint64_t)division->decoders * GPUME_SEGMENTS_OVERLAP;
}

void gpume_segments_plan(struct gpume_division *division, uint32_t threads, uint64_t frame_bytes)
{
    const uint64_t packets = division->bytes / PACKETS_SHARE;
    const uint64_t frames = frame_bytes > 0 ? (division->bytes - packets) / frame_bytes : 0;
    division->decoders = least(division->decoders, GPUME_SEGMENTS_DECODERS);
    for (; division->decoders > 1; division->decoders--) {
        division->threads = choose_threads(division->decoders, threads);
        const uint64_t held = frames_held(division);
        if (frames >= held + (uint64_t)WAITING_MIN * division->decoders) {
            division->frames = least(frames - held, (uint64_t)WAITING_MAX * division->decoders);
            division->bytes = packets + (held + division->frames) * frame_bytes;
            return;
        }
    }
    division->bytes = 0;
}
