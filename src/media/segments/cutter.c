/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/segments/cutter.h"

#include "base/status.h"
#include "media/packets.h"
#include "media/seek.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/packet.h>
#include <libavutil/frame.h>

#define PACKETS_MIN 64u /* of a segment: what is decoded twice is few in comparison */
#define HEAD_FRAMES 16u /* may always wait of the segment that is delivered */

int gpume_cutter_init(struct gpume_cutter *cutter, const struct gpume_segments_options *options)
{
    const struct gpume_division *division = &options->division;
    *cutter = (struct gpume_cutter){
        .options = options,
        .label = options->packets->label,
        .packet_bytes = division->bytes / 8,
        .taken = 1,
        .found = 1,
        .last = UINT64_MAX,
        .room = division->frames,
        .others = division->decoders - 1,
    };
    cutter->ring[0] = (struct gpume_video_segment){.start = INT64_MIN,
        .packets = gpume_scan_taken(options->scan),
        .status = GPUME_OK,
        .taken = true};
    memset(cutter->at, 0xff, sizeof(cutter->at)); /* idle */
    cutter->at[0] = 0;
    pthread_mutex_init(&cutter->mutex, NULL);
    pthread_cond_init(&cutter->work, NULL);
    pthread_cond_init(&cutter->frames, NULL);
    cutter->fresh = av_packet_alloc();
    return cutter->fresh ? gpume_waiting_init(&cutter->places,
                               cutter->room + HEAD_FRAMES +
                                   2 * GPUME_SEGMENTS_OVERLAP * (division->decoders + 1))
                         : GPUME_NOMEM;
}

void gpume_cutter_finish(struct gpume_cutter *cutter)
{
    gpume_waiting_finish(&cutter->places);
    gpume_backlog_finish(&cutter->backlog);
    av_packet_free(&cutter->fresh);
    pthread_cond_destroy(&cutter->frames);
    pthread_cond_destroy(&cutter->work);
    pthread_mutex_destroy(&cutter->mutex);
}

void gpume_cutter_end_with(struct gpume_cutter *cutter, uint64_t number, const char *why)
{
    if (number >= cutter->last) {
        return;
    }
    cutter->last = number;
    cutter->why = why;
    pthread_cond_broadcast(&cutter->work);
    pthread_cond_broadcast(&cutter->frames);
}

void gpume_cutter_tell_end(struct gpume_cutter *cutter)
{
    if (cutter->head == cutter->last && cutter->why) {
        const struct gpume_video_segment *segment = gpume_segment_at(cutter, cutter->head);
        gpume_log_write(&cutter->options->log,
            cutter->options->division.asked ? GPUME_LOG_WARNING : GPUME_LOG_INFO,
            "%s: one decoder takes all frames from %" PRIu64 " on: %s", cutter->label,
            gpume_segment_frame(cutter, segment), cutter->why);
        cutter->why = NULL;
    }
}

/* The last of the others: so the first one is still in its first segment. */
void gpume_cutter_lose_decoder(struct gpume_cutter *cutter)
{
    cutter->others--;
    if (cutter->others == 0) {
        gpume_cutter_end_with(cutter, 0, "no other decoder can be opened");
    }
}

static struct gpume_video_segment *newest(struct gpume_cutter *cutter)
{
    return gpume_segment_at(cutter, cutter->found - 1);
}

/* No decoder begins with the newest segment. */
static void end_before_newest(struct gpume_cutter *cutter, const char *why)
{
    const uint64_t number = newest(cutter)->number;
    gpume_cutter_end_with(cutter, number > 0 ? number - 1 : 0, why);
}

/* Begins a segment with the packet that comes next. */
static void begin_segment(struct gpume_cutter *cutter, int64_t time)
{
    const struct gpume_video_segment *before = newest(cutter);
    *gpume_segment_at(cutter, cutter->found) = (struct gpume_video_segment){
        .number = cutter->found,
        .first = cutter->backlog.end,
        .start = time,
        .before = before->before + before->packets,
        .status = GPUME_OK,
    };
    cutter->found++;
}

/* Assigns the fresh packet to a segment. restarts: a decoder can begin with it. */
static void assign_packet(struct gpume_cutter *cutter, bool restarts)
{
    const AVPacket *packet = cutter->fresh;
    if (restarts && newest(cutter)->packets >= PACKETS_MIN &&
        cutter->found - cutter->head < SEGMENTS_MAX) {
        newest(cutter)->closed = true;
        begin_segment(cutter, packet->pts);
    }
    struct gpume_video_segment *segment = newest(cutter);
    segment->leading += packet->pts < segment->start;
    segment->packets++;
}

static void end_reading(struct gpume_cutter *cutter, int status)
{
    if (status != GPUME_EOF) {
        end_before_newest(cutter, "reading it fails");
    } else if (cutter->found == 1) {
        gpume_cutter_end_with(
            cutter, 0, "it is too short, or no decoder can begin at its key frames");
    }
    newest(cutter)->closed = true;
}

void gpume_cutter_read(struct gpume_cutter *cutter)
{
    struct gpume_scan *scan = cutter->options->scan;
    const bool divided = cutter->last == UINT64_MAX;
    bool restarts = false;
    cutter->reading = true;
    pthread_mutex_unlock(&cutter->mutex);
    int status = gpume_packets_next(cutter->options->packets, cutter->fresh);
    if (status == GPUME_OK && divided) {
        restarts = gpume_scan_take(scan, cutter->fresh);
    }
    pthread_mutex_lock(&cutter->mutex);
    if (status == GPUME_OK && divided) {
        if (gpume_scan_is_certain(scan)) {
            assign_packet(cutter, restarts);
        } else {
            end_before_newest(cutter, gpume_scan_doubt(scan));
        }
    }
    status = status == GPUME_OK ? gpume_backlog_append(&cutter->backlog, cutter->fresh) : status;
    if (status != GPUME_OK) {
        end_reading(cutter, status);
    }
    cutter->read_status = status;
    cutter->reading = false;
    pthread_cond_broadcast(&cutter->work);
}

void gpume_cutter_drop(struct gpume_cutter *cutter)
{
    uint64_t least = cutter->backlog.end;
    if (cutter->taken < cutter->found && cutter->taken <= cutter->last) {
        least = gpume_segment_at(cutter, cutter->taken)->first;
    }
    for (uint32_t i = 0; i < GPUME_SEGMENTS_DECODERS; i++) {
        least = cutter->at[i] < least ? cutter->at[i] : least;
    }
    gpume_backlog_drop(&cutter->backlog, least);
}

bool gpume_cutter_is_beyond(
    const struct gpume_cutter *cutter, const struct gpume_video_segment *segment)
{
    return cutter->stop || segment->number > cutter->last;
}

bool gpume_cutter_has_room(
    const struct gpume_cutter *cutter, const struct gpume_video_segment *segment)
{
    const uint64_t ahead = segment->number - cutter->head;
    const uint64_t step = cutter->room / (2 * cutter->options->division.decoders);
    if (ahead == 0 && (segment->frames.count < HEAD_FRAMES || cutter->last == segment->number)) {
        return segment->frames.count < HEAD_FRAMES;
    }
    return cutter->waiting + ahead * step < cutter->room;
}

bool gpume_cutter_read_ahead(struct gpume_cutter *cutter)
{
    const struct gpume_video_segment *segment = newest(cutter);
    const bool is_found =
        cutter->found > cutter->taken && gpume_segment_at(cutter, cutter->taken)->closed;
    if (is_found || cutter->read_status != GPUME_OK || cutter->reading ||
        cutter->last < UINT64_MAX) {
        return false;
    }
    const uint64_t own =
        cutter->backlog.end - (segment->number > 0 ? segment->first : cutter->backlog.first);
    const uint64_t count = cutter->backlog.end - cutter->backlog.first;
    if (own > 0 && cutter->backlog.bytes / count * own > cutter->packet_bytes / 2) {
        end_before_newest(
            cutter, "its key frames are too far apart for the memory that packets may take");
        return false;
    }
    return cutter->backlog.bytes <= cutter->packet_bytes;
}

/* --- frames that wait */

static void append_place(struct gpume_waiting *list, struct gpume_waiting_frame *place)
{
    place->next = NULL;
    if (list->newest) {
        list->newest->next = place;
    } else {
        list->oldest = place;
    }
    list->newest = place;
    list->count++;
}

static struct gpume_waiting_frame *pop_place(struct gpume_waiting *list)
{
    struct gpume_waiting_frame *place = list->oldest;
    list->oldest = place->next;
    list->newest = list->oldest ? list->newest : NULL;
    list->count--;
    return place;
}

int gpume_waiting_init(struct gpume_waiting_places *places, uint32_t count)
{
    places->all = calloc(count, sizeof(*places->all));
    if (!places->all) {
        return GPUME_NOMEM;
    }
    for (; places->count < count; places->count++) {
        struct gpume_waiting_frame *place = &places->all[places->count];
        place->frame = av_frame_alloc();
        if (!place->frame) {
            return GPUME_NOMEM;
        }
        append_place(&places->free, place);
    }
    return GPUME_OK;
}

void gpume_waiting_finish(struct gpume_waiting_places *places)
{
    for (uint32_t i = 0; i < places->count; i++) {
        av_frame_free(&places->all[i].frame);
    }
    free(places->all);
    *places = (struct gpume_waiting_places){0};
}

void gpume_waiting_put(struct gpume_waiting *list, struct gpume_waiting_places *places,
    AVFrame *frame, const struct gpume_damage *damage)
{
    struct gpume_waiting_frame *place = pop_place(&places->free);
    av_frame_move_ref(place->frame, frame);
    place->damage = *damage;
    append_place(list, place);
}

struct gpume_damage gpume_waiting_take(
    struct gpume_waiting *list, struct gpume_waiting_places *places, AVFrame *frame)
{
    struct gpume_waiting_frame *place = pop_place(list);
    av_frame_move_ref(frame, place->frame);
    append_place(&places->free, place);
    return place->damage;
}

void gpume_waiting_join(struct gpume_waiting *list, struct gpume_waiting *from)
{
    while (from->count > 0) {
        append_place(list, pop_place(from));
    }
}

void gpume_waiting_clear(struct gpume_waiting *list, struct gpume_waiting_places *places)
{
    while (list->count > 0) {
        struct gpume_waiting_frame *place = pop_place(list);
        av_frame_unref(place->frame);
        append_place(&places->free, place);
    }
}
