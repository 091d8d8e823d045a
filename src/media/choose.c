/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/choose.h"

#include "base/grid.h"
#include "base/workers.h"
#include "media/decode_y4m.h"

#define COPY_THREADS_MAX 8u /* more gain nothing */

/* Raw video goes past FFmpeg, unless FFmpeg is to do something with its frames. */
static bool is_raw(const struct gpume_source_options *options)
{
    const bool plain = options->path_count == 1 && !options->filter && !options->hwaccel &&
                       !options->colour && !options->motion && options->stream <= 0;
    bool raw = plain && gpume_decode_y4m_takes(options->paths[0]);
    for (uint32_t i = 0; i < options->path_count && !raw; i++) {
        raw = gpume_decode_y4m_needs(options->paths[i]);
    }
    return raw;
}

const struct gpume_decoder *gpume_choose_decoder(const struct gpume_source_options *options)
{
    return options->decoder  ? options->decoder
           : is_raw(options) ? &gpume_decode_y4m
                             : &gpume_decode_lavf;
}

uint32_t gpume_choose_copy_threads(const struct gpume_source_options *options)
{
    const uint64_t processors = gpume_workers_processors(), threads = options->threads;
    return (uint32_t)gpume_min_u64(threads > 0 ? threads : processors / 2, COPY_THREADS_MAX);
}
