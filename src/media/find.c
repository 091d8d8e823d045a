/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/find.h"

#include "base/status.h"
#include "media/input.h"
#include "media/packets.h"
#include "media/seek.h"

bool gpume_find_is_possible(const char *path)
{
    return gpume_input_is_file(path);
}

/* These two take times as frames have them. By packets: what the first frame's time must be is
 * known from decoding it. */
static int find_in_packets(const struct gpume_source_options *options, int64_t first_us,
    const int64_t *times, uint64_t *frames, uint32_t count)
{
    int status = GPUME_OK;
    atomic_bool cancel;
    atomic_init(&cancel, false);
    struct gpume_packets packets = {0};
    GPUME_TRY(gpume_packets_open(
        &packets, options->paths[0], options->stream, &options->trust, &cancel, &options->log));
    GPUME_TRY(gpume_seek_rank(&packets, first_us, times, frames, count));
fail:
    if (status == GPUME_NOMEM) {
        (void)gpume_log_nomem(&options->log, gpume_input_label(options->paths[0]));
    }
    gpume_packets_close(&packets);
    return status;
}

/* By decoding; the first frame, at first_us, was read. */
static int find_in_frames(struct gpume_source *source, int64_t first_us, const int64_t *times,
    uint64_t *frames, uint32_t count)
{
    int status = GPUME_OK;
    int64_t time_us = first_us;
    uint32_t found = 0;
    for (uint64_t frame = 0; status == GPUME_OK; frame++) {
        while (found < count && time_us >= times[found]) {
            frames[found++] = frame;
        }
        if (found == count) {
            return GPUME_OK;
        }
        status = gpume_source_read(source, NULL, &time_us);
    }
    while (found < count) {
        frames[found++] = GPUME_FIND_NONE;
    }
    return status == GPUME_EOF ? GPUME_OK : status;
}

int gpume_find_frames(const struct gpume_source_options *options, const int64_t *times,
    uint64_t *frames, uint32_t count)
{
    int status = GPUME_OK;
    int64_t first_us, at[GPUME_FIND_MAX];
    struct gpume_source *source = NULL;
    struct gpume_source_info info;
    GPUME_TRY(gpume_source_open(&source, options, &info));
    GPUME_TRY(gpume_source_read(source, NULL, &first_us));
    for (uint32_t i = 0; i < count; i++) {
        at[i] = first_us > INT64_MAX - times[i] ? INT64_MAX : first_us + times[i];
    }
    status = options->filter || options->hwaccel
                 ? GPUME_UNSUPPORTED
                 : find_in_packets(options, first_us, at, frames, count);
    if (status == GPUME_UNSUPPORTED) {
        status = find_in_frames(source, first_us, at, frames, count);
    }
fail:
    gpume_source_close(&source);
    return status;
}
