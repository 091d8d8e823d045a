/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/packet_times.h"

#include "base/status.h"
#include "media/input.h"
#include "media/packets.h"
#include "media/show_order.h"

#include <string.h>

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>

/* Times that wait for earlier ones, which rise */
struct pending {
    int64_t times[GPUME_SHOW_DELAY_MAX + 1];
    size_t count;
    bool begun; /* there was a key packet */
    int64_t first;
};

static void insert(struct pending *pending, int64_t time)
{
    size_t at = pending->count++;
    for (; at > 0 && pending->times[at - 1] > time; at--) {
        pending->times[at] = pending->times[at - 1];
    }
    pending->times[at] = time;
}

static int64_t remove_first(struct pending *pending)
{
    const int64_t first = pending->times[0];
    pending->count--;
    memmove(pending->times, pending->times + 1, pending->count * sizeof(pending->times[0]));
    return first;
}

/* Whether a frame of it can be decoded, as far as that is known here. */
static bool is_shown(struct pending *pending, const AVPacket *packet)
{
    if (!pending->begun && packet->flags & AV_PKT_FLAG_KEY) {
        pending->begun = true;
        pending->first = packet->pts;
    }
    return pending->begun && packet->pts >= pending->first &&
           !(packet->flags & AV_PKT_FLAG_DISCARD);
}

static int read_times(struct gpume_packets *packets, AVPacket *packet, uint64_t bytes,
    gpume_packet_time_fn take, void *opaque)
{
    int status = GPUME_OK;
    struct pending pending = {.count = 0};
    struct gpume_show_order shown = {.count = 0};
    const AVRational base = packets->stream->time_base;
    bool wanted = base.num > 0 && base.den > 0;
    for (uint64_t read = 0; wanted && read < bytes; read += (uint64_t)packet->size) {
        status = gpume_packets_next(packets, packet);
        if (status != GPUME_OK) {
            break;
        }
        if (packet->pts == AV_NOPTS_VALUE) {
            return GPUME_UNSUPPORTED;
        }
        const bool anew = gpume_show_order_begins(&shown, packet);
        while (anew && wanted && pending.count > 0) {
            wanted = take(opaque, remove_first(&pending));
        }
        if (is_shown(&pending, packet)) {
            insert(&pending, av_rescale_q(packet->pts, base, AV_TIME_BASE_Q));
        }
        if (wanted && pending.count > GPUME_SHOW_DELAY_MAX) {
            wanted = take(opaque, remove_first(&pending));
        }
    }
    while (status == GPUME_EOF && wanted && pending.count > 0) {
        wanted = take(opaque, remove_first(&pending));
    }
    return status == GPUME_EOF ? GPUME_OK : status;
}

int gpume_packet_times_read(const struct gpume_source_options *options, uint64_t bytes,
    gpume_packet_time_fn take, void *opaque)
{
    static const struct gpume_log silent = {0};
    int status = GPUME_OK;
    atomic_bool cancel;
    AVPacket *packet = NULL;
    struct gpume_packets packets = {0};
    if (options->path_count != 1 || !gpume_input_is_file(options->paths[0])) {
        return GPUME_UNSUPPORTED;
    }
    atomic_init(&cancel, false);
    GPUME_TRY(gpume_packets_open(
        &packets, options->paths[0], options->stream, &options->trust, &cancel, &silent));
    packet = av_packet_alloc();
    GPUME_TRY(packet ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(
        packets.stream->codecpar->codec_id == AV_CODEC_ID_RAWVIDEO ? GPUME_UNSUPPORTED : GPUME_OK);
    GPUME_TRY(read_times(&packets, packet, bytes, take, opaque));
fail:
    av_packet_free(&packet);
    gpume_packets_close(&packets);
    return status;
}
