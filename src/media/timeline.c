/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame's number is the rank of its time among all packets before it: each shows exactly one
 * frame, all have different times, the numbers in their headers put them in the same order as the
 * times, and none is shown later than the decoder waits.
 *
 * The container is never asked to seek. The times, sizes and even the data of packets may occur
 * again later in the input (files joined by cat, times that wrap), and containers seek by time. So
 * packets are read in their order, and those that the decoder will need are kept.
 */
#include "media/source.h"

#include "base/base.h"
#include "media/packets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>

#define RECENT                                                                                     \
    (2u * GPUME_SHOW_DELAY_MAX) /* packets that the order of a new one is compared with */

/* Bytes of packets that are kept. In 4K at 100 Mbit/s that is a key frame every 20 seconds. */
#ifndef KEPT_MAX /* a test sets it */
#define KEPT_MAX (UINT64_C(256) << 20)
#endif

bool gpume_show_order_begins(struct gpume_show_order *order, const AVPacket *packet)
{
    const bool key = packet->flags & AV_PKT_FLAG_KEY;
    const int64_t old = order->older[order->count % GPUME_SHOW_DELAY_MAX];
    /* What comes before a key packet is shown before it, so a key packet that is not later than all
     * of them begins anew; and so does any other that would be shown before one that came long
     * ago. */
    const bool begins = (order->count > 0 && key && packet->pts <= order->newest) ||
                        (order->count >= GPUME_SHOW_DELAY_MAX && packet->pts <= old);
    if (begins) {
        order->count = 0;
    }
    if (order->count == 0 || packet->pts > order->newest) {
        order->newest = packet->pts;
    }
    order->older[order->count++ % GPUME_SHOW_DELAY_MAX] = order->newest;
    return begins;
}

/* --- packets in the order of presentation */

struct shown_packet {
    uint64_t section;
    int64_t time;   /* of presentation, in units of the stream */
    uint64_t order; /* in which it came */
    bool key;       /* a decoder can start with it */
};

struct shown_packets {
    struct shown_packet *items;
    size_t count, room;
};

static int add_shown(struct shown_packets *list, uint64_t section, int64_t time, bool key)
{
    struct shown_packet *items = gpume_grow(list->items, list->count, &list->room, sizeof(*items));
    if (!items) {
        return GPUME_NOMEM;
    }
    list->items = items;
    items[list->count] = (struct shown_packet){section, time, list->count, key};
    list->count++;
    return GPUME_OK;
}

static int by_time_shown(const void *a, const void *b)
{
    const struct shown_packet *first = a, *second = b;
    if (first->section != second->section) {
        return first->section < second->section ? -1 : 1;
    }
    if (first->time != second->time) {
        return first->time < second->time ? -1 : 1;
    }
    return (first->order > second->order) - (first->order < second->order);
}

static void sort_shown(struct shown_packets *list)
{
    if (list->count > 0) {
        qsort(list->items, list->count, sizeof(*list->items), by_time_shown);
    }
}

/* --- key frames */

/*
 * The index of a key frame is the number of packets that are shown before it. Packets without a
 * time, as in raw streams, are shown in the order in which they come, and so are sections of them
 * whose times recur (struct gpume_show_order).
 */

/* Packets that an edit list cuts away are decoded, but not shown. timed: all that are shown have a
 * time. */
static int read_all_shown(struct shown_packets *list, struct gpume_packets *packets, bool *timed)
{
    int status = GPUME_OK;
    uint64_t section = 0;
    struct gpume_show_order shown = {.count = 0};
    AVPacket *packet = av_packet_alloc();
    if (!packet) {
        return GPUME_NOMEM;
    }
    *timed = true;
    while ((status = gpume_packets_next(packets, packet)) == GPUME_OK) {
        if (!(packet->flags & AV_PKT_FLAG_DISCARD)) {
            *timed = *timed && packet->pts != AV_NOPTS_VALUE;
            section += *timed && gpume_show_order_begins(&shown, packet);
            GPUME_TRY(add_shown(list, section, packet->pts, packet->flags & AV_PKT_FLAG_KEY));
        }
    }
    status = status == GPUME_EOF ? GPUME_OK : status;
fail:
    av_packet_free(&packet);
    return status;
}

static int list_keyframes(struct gpume_keyframes *keyframes, const struct shown_packets *list)
{
    uint64_t *at = malloc((list->count + 1) * sizeof(*at));
    if (!at) {
        return GPUME_NOMEM;
    }
    *keyframes = (struct gpume_keyframes){.frames = list->count, .at = at};
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].key) {
            at[keyframes->count++] = i;
        }
    }
    return GPUME_OK;
}

int gpume_keyframes_find(
    struct gpume_keyframes *keyframes, const struct gpume_source_options *options)
{
    int status;
    atomic_bool cancel;
    struct gpume_packets packets = {0};
    struct shown_packets shown = {0};
    bool timed;
    atomic_init(&cancel, false);
    GPUME_TRY(gpume_packets_open(&packets, options, 0, &cancel));
    GPUME_TRY(read_all_shown(&shown, &packets, &timed));
    gpume_packets_warn(&packets, shown.count);
    if (timed) {
        sort_shown(&shown);
    }
    GPUME_TRY(list_keyframes(keyframes, &shown));
fail:
    if (status == GPUME_NOMEM) {
        (void)gpume_log_nomem(&options->log, gpume_input_label(options->paths[0]));
    }
    gpume_packets_close(&packets);
    free(shown.items);
    return status;
}

/* --- times of frames */

/* Times that wait for earlier ones, which rise */
struct pending {
    int64_t times[GPUME_SHOW_DELAY_MAX + 1];
    size_t count;
    bool begun; /* there was a key packet */
    int64_t first;
};

/* Gives the earliest times, until no more than this many wait. */
static bool give_times(
    struct pending *pending, size_t left, gpume_packet_time_fn take, void *opaque)
{
    bool wanted = true;
    while (wanted && pending->count > left) {
        const int64_t first = pending->times[0];
        memmove(pending->times, pending->times + 1, --pending->count * sizeof(first));
        wanted = take(opaque, first);
    }
    return wanted;
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
        if (gpume_show_order_begins(&shown, packet)) {
            wanted = give_times(&pending, 0, take, opaque);
        }
        if (is_shown(&pending, packet)) {
            const int64_t time = av_rescale_q(packet->pts, base, AV_TIME_BASE_Q);
            size_t at = pending.count++;
            for (; at > 0 && pending.times[at - 1] > time; at--) {
                pending.times[at] = pending.times[at - 1];
            }
            pending.times[at] = time;
        }
        wanted = wanted && give_times(&pending, GPUME_SHOW_DELAY_MAX, take, opaque);
    }
    if (status == GPUME_EOF && wanted) {
        (void)give_times(&pending, 0, take, opaque);
    }
    return status == GPUME_EOF ? GPUME_OK : status;
}

int gpume_packet_times_read(const struct gpume_source_options *options, uint64_t bytes,
    gpume_packet_time_fn take, void *opaque)
{
    int status = GPUME_OK;
    atomic_bool cancel;
    AVPacket *packet = NULL;
    struct gpume_packets packets = {0};
    struct gpume_source_options silent = *options;
    silent.log = (struct gpume_log){0};
    if (options->path_count != 1 || !gpume_input_is_file(options->paths[0])) {
        return GPUME_UNSUPPORTED;
    }
    atomic_init(&cancel, false);
    GPUME_TRY(gpume_packets_open(&packets, &silent, 0, &cancel));
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

/* --- whether a decoder may begin with a packet */

struct scanned {
    int64_t time;
    struct gpume_coded_picture picture;
};

struct gpume_scan {
    struct gpume_coded_pictures pictures;
    uint64_t delay; /* packets for which the decoder waits */
    struct scanned recent[RECENT];
    uint64_t taken;
    int64_t first;     /* time of the first packet */
    int64_t latest;    /* the latest time of all packets */
    int64_t left;      /* the latest time of those that are no longer among the recent */
    int64_t decoded;   /* the latest time of decoding that is known */
    const char *doubt; /* NULL: none */
};

int gpume_scan_open(struct gpume_scan **result, const AVCodecParameters *codec)
{
    struct gpume_scan *scan = calloc(1, sizeof(*scan));
    if (!scan) {
        return GPUME_NOMEM;
    }
    *result = scan;
    scan->delay = codec->video_delay > 0 ? (uint64_t)codec->video_delay : 0;
    scan->latest = scan->left = scan->decoded = INT64_MIN;
    const int status = gpume_coded_pictures_open(&scan->pictures, codec);
    if (status != GPUME_OK) {
        gpume_scan_close(result);
    }
    return status == GPUME_UNSUPPORTED ? GPUME_OK : status;
}

static bool comes_before(const struct gpume_coded_picture *a, const struct gpume_coded_picture *b)
{
    return a->section < b->section || (a->section == b->section && a->number < b->number);
}

/* Whether its time and its number put it at the same place among the recent packets, and not
 * further back than the decoder waits. */
static bool has_place(const struct gpume_scan *scan, const struct scanned *scanned)
{
    uint64_t later = 0; /* packets that came before it and are shown after it */
    const uint64_t count = scan->taken < RECENT ? scan->taken : RECENT;
    for (uint64_t i = 0; i < count; i++) {
        const struct scanned *other = &scan->recent[i];
        const bool is_later = other->time > scanned->time;
        later += is_later;
        if (other->time == scanned->time ||
            comes_before(&other->picture, &scanned->picture) == is_later ||
            comes_before(&scanned->picture, &other->picture) != is_later) {
            return false;
        }
    }
    return scanned->time > scan->left && later <= scan->delay && later < GPUME_SHOW_DELAY_MAX;
}

static void note_packet(struct gpume_scan *scan, const struct scanned *scanned)
{
    struct scanned *place = &scan->recent[scan->taken % RECENT];
    if (scan->taken >= RECENT && place->time > scan->left) {
        scan->left = place->time;
    }
    *place = *scanned;
    scan->first = scan->taken == 0 ? scanned->time : scan->first;
    scan->latest = scanned->time > scan->latest ? scanned->time : scan->latest;
    scan->taken++;
}

/* NULL: none. */
static const char *find_doubt(
    struct gpume_scan *scan, const AVPacket *packet, struct scanned *scanned)
{
    if (packet->pts == AV_NOPTS_VALUE ||
        (packet->dts != AV_NOPTS_VALUE && packet->dts <= scan->decoded)) {
        return "times of its packets are missing or unordered";
    }
    if (gpume_coded_pictures_take(&scan->pictures, packet, &scanned->picture) != GPUME_OK) {
        return "not every packet is known to hold one frame with the parameters of the first";
    }
    scanned->time = packet->pts;
    const bool starts = scan->taken > 0 ? packet->pts > scan->first : scanned->picture.restarts;
    return starts && has_place(scan, scanned)
               ? NULL
               : "the times of its packets leave the order of its frames in doubt";
}

bool gpume_scan_take(struct gpume_scan *scan, const AVPacket *packet)
{
    struct scanned scanned = {0};
    scan->doubt = scan->doubt ? scan->doubt : find_doubt(scan, packet, &scanned);
    if (scan->doubt) {
        return false;
    }
    const bool restarts =
        scanned.picture.restarts && (packet->flags & AV_PKT_FLAG_KEY) && packet->pts > scan->latest;
    scan->decoded = packet->dts != AV_NOPTS_VALUE ? packet->dts : scan->decoded;
    note_packet(scan, &scanned);
    return restarts;
}

uint64_t gpume_scan_taken(const struct gpume_scan *scan)
{
    return scan->taken;
}

bool gpume_scan_is_certain(const struct gpume_scan *scan)
{
    return !scan->doubt;
}

const char *gpume_scan_doubt(const struct gpume_scan *scan)
{
    return scan->doubt;
}

void gpume_scan_close(struct gpume_scan **pointer)
{
    struct gpume_scan *scan = *pointer;
    if (scan) {
        gpume_coded_pictures_close(&scan->pictures);
        free(scan);
        *pointer = NULL;
    }
}

/* --- seeking a frame */

struct shown_list {
    struct shown_packets shown;
    struct gpume_backlog kept; /* packets since a key packet; numbered by their order */
};

/* What to read for */
struct goal {
    uint64_t frame;
    int64_t time;
    bool keep; /* packets, to decode the frame from a key packet on */
};

int gpume_seek_refuse(const struct gpume_packets *packets, const char *why)
{
    gpume_log_write(&packets->options->log, GPUME_LOG_INFO,
        "%s: all frames are decoded from the beginning: %s", packets->label, why);
    return GPUME_UNSUPPORTED;
}

static int take_packet(struct shown_list *list, const struct gpume_packets *packets,
    struct gpume_scan *scan, const AVPacket *packet)
{
    const bool restarts = gpume_scan_take(scan, packet);
    if (!gpume_scan_is_certain(scan)) {
        return gpume_seek_refuse(packets, gpume_scan_doubt(scan));
    }
    return add_shown(&list->shown, 0, packet->pts, restarts);
}

/* Keeps the packet. Those before a key packet are dropped once its frame must be shown before the
 * one wanted: the two orders differ by less than GPUME_SHOW_DELAY_MAX. */
static int keep_packet(struct shown_list *list, uint64_t frame, AVPacket *packet)
{
    struct gpume_backlog *kept = &list->kept;
    const uint64_t order = list->shown.count - 1;
    GPUME_CHECK(gpume_backlog_append(kept, packet));
    const bool supersedes = list->shown.items[order].key && order + GPUME_SHOW_DELAY_MAX <= frame;
    if (supersedes || kept->bytes > KEPT_MAX) {
        gpume_backlog_drop(kept, supersedes ? order : kept->end);
    }
    return GPUME_OK;
}

/* Reads packets until all that are shown before the frame must have come, and it, too, or all that
 * are shown before the time; and puts them in the order of presentation. */
static int read_packets(struct shown_list *list, struct gpume_packets *packets, struct goal goal)
{
    struct gpume_scan *scan = NULL;
    AVPacket *packet = av_packet_alloc();
    int status = packet ? GPUME_OK : GPUME_NOMEM;
    GPUME_TRY(status);
    GPUME_TRY(gpume_scan_open(&scan, packets->stream->codecpar));
    if (!scan) {
        GPUME_TRY(gpume_seek_refuse(
            packets, "only H.264, HEVC, MPEG-2 and VP9 can be entered at a key frame"));
    }
    while (status == GPUME_OK && list->shown.count <= goal.frame + GPUME_SHOW_DELAY_MAX) {
        status = gpume_packets_next(packets, packet);
        if (status == GPUME_OK && packet->pts < goal.time && goal.frame < list->shown.count) {
            goal.frame = list->shown.count;
        }
        status = status == GPUME_OK ? take_packet(list, packets, scan, packet) : status;
        if (status == GPUME_OK && goal.keep) {
            status = keep_packet(list, goal.frame, packet);
        }
    }
    if (status == GPUME_EOF) {
        status = gpume_packets_are_cut(packets) ? gpume_seek_refuse(packets, "its end is damaged")
                 : list->shown.count == 0       ? gpume_seek_refuse(packets, "it has no packets")
                                                : GPUME_OK;
    }
    GPUME_TRY(status);
    sort_shown(&list->shown);
fail:
    gpume_scan_close(&scan);
    av_packet_free(&packet);
    return status;
}

static int find_key(struct gpume_seek *seek, struct gpume_packets *packets, struct shown_list *list,
    uint64_t frame, int64_t start)
{
    const struct shown_packet *items = list->shown.items;
    if (frame >= list->shown.count || items[0].time != start) {
        return gpume_seek_refuse(packets, "it has no such frame, or starts at another time");
    }
    seek->first = frame;
    while (seek->first > 0 && !items[seek->first].key) {
        seek->first--;
    }
    seek->count = frame - seek->first + 1;
    const uint64_t order = items[seek->first].order;
    if (seek->first == 0) {
        return gpume_seek_refuse(
            packets, "no key frame between the first frame and this one is safe to start at");
    }
    if (order < list->kept.first) {
        return gpume_seek_refuse(
            packets, "what follows the key frame to start at takes too much memory");
    }
    seek->times = malloc((size_t)seek->count * sizeof(*seek->times));
    if (!seek->times) {
        return GPUME_NOMEM;
    }
    for (uint64_t i = 0; i < seek->count; i++) {
        seek->times[i] = items[seek->first + i].time;
    }
    gpume_packets_repeat(packets, &list->kept, order);
    return GPUME_OK;
}

static void finish_list(struct shown_list *list)
{
    gpume_backlog_finish(&list->kept);
    free(list->shown.items);
}

int gpume_seek_find(
    struct gpume_seek *seek, struct gpume_packets *packets, uint64_t frame, int64_t start)
{
    int status = GPUME_OK;
    struct shown_list list = {0};
    GPUME_TRY(read_packets(&list, packets, (struct goal){frame, INT64_MIN, true}));
    GPUME_TRY(find_key(seek, packets, &list, frame, start));
    gpume_log_write(&packets->options->log, GPUME_LOG_INFO,
        "%s: decoding begins with frame %" PRIu64 ", a key frame", packets->label, seek->first);
fail:
    finish_list(&list);
    return status;
}

void gpume_seek_finish(struct gpume_seek *seek)
{
    free(seek->times);
}

/* --- frames by their times */

/* The times are as frames have them; packets: just opened. */
static int rank_times(struct gpume_packets *packets, struct shown_list *list, int64_t first_us,
    const int64_t *times, uint64_t *frames, uint32_t count)
{
    const AVRational base = packets->stream->time_base;
    if (base.num <= 0 || base.den <= 0) {
        return gpume_seek_refuse(packets, "it has no unit of time");
    }
    /* One unit more: rounding to microseconds may turn an earlier time into this one. */
    const int64_t last = av_rescale_q_rnd(times[count - 1], AV_TIME_BASE_Q, base, AV_ROUND_UP);
    GPUME_CHECK(
        read_packets(list, packets, (struct goal){0, last < INT64_MAX ? last + 1 : last, false}));
    if (av_rescale_q(list->shown.items[0].time, base, AV_TIME_BASE_Q) != first_us) {
        return gpume_seek_refuse(packets, "its first frame has another time than its packet");
    }
    uint64_t rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (rank < list->shown.count &&
               av_rescale_q(list->shown.items[rank].time, base, AV_TIME_BASE_Q) < times[i]) {
            rank++;
        }
        frames[i] = rank < list->shown.count ? rank : UINT64_MAX;
    }
    return GPUME_OK;
}

int gpume_seek_rank(const struct gpume_source_options *options, int64_t first_us,
    const int64_t *times, uint64_t *frames, uint32_t count)
{
    int status = GPUME_OK;
    atomic_bool cancel;
    atomic_init(&cancel, false);
    struct gpume_packets packets = {0};
    struct shown_list list = {0};
    GPUME_TRY(gpume_packets_open(&packets, options, 0, &cancel));
    GPUME_TRY(rank_times(&packets, &list, first_us, times, frames, count));
fail:
    if (status == GPUME_NOMEM) {
        (void)gpume_log_nomem(&options->log, packets.label);
    }
    finish_list(&list);
    gpume_packets_close(&packets);
    return status;
}
