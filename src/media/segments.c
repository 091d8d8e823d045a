/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why the frames are those of one decoder: the decoder of the first segment is that one. If it and
 * the next decoder, which began at a picture that needs nothing before it, deliver the same frames
 * from there on without damage, their states are the same in all that later frames can depend on,
 * and the next decoder is that one from then on. It goes on to the end if it meets damage, or
 * frames whose times do not rise, or if the decoder after it fails this test.
 *
 * No thread waits without end: the earliest decoder needs no room for its frames other than what is
 * always free, the second can always deliver the few frames that the earliest compares, and the
 * packets between them are all that has to be kept.
 */
#include "media/decode.h"

#include "base/base.h"
#include "media/luma.h"
#include "media/packets.h"
#include "media/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/packet.h>
#include <libavutil/cpu.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#define OVERLAP GPUME_SEGMENTS_OVERLAP
#define OWN_FRAMES 18u   /* of a decoder: 16 references, and those that it works on */
#define WAITING_MAX 512u /* frames per decoder: twice the usual distance of key frames */
#define WAITING_MIN 24u  /* fewer would keep decoders from working side by side */
#define PACKETS_SHARE 8u /* part of the memory that packets take */
#define THREADS_MAX 16u  /* as many as FFmpeg would choose */
#define PACKETS_MIN 64u  /* of a segment: what is decoded twice is few in comparison */
#define HEAD_FRAMES 16u  /* may always wait of the segment that is delivered */

/* A decoder of several: its thread takes segments from the cutter and decodes them. */
struct worker {
    struct gpume_cutter *cutter;
    uint32_t index;                       /* 0: goes on with the first decoder */
    struct gpume_decoding own, *decoding; /* own: not of the first; decoding: NULL until open */
    AVPacket *packet;
    AVFrame *frame, *others[OVERLAP];
    int64_t time;     /* of its newest frame */
    uint64_t reached; /* number of the first frame of the next segment, by its count */
    pthread_t thread;
};

struct gpume_segments {
    struct gpume_segments_options options;
    struct gpume_cutter cutter;
    struct worker *workers;
    uint32_t running; /* of them */
    struct gpume_damage damage;
    uint64_t delivered;
};

/* --- how many decoders */

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
    return gpume_min_u32(gpume_min_u32(each, all), THREADS_MAX);
}

void gpume_segments_plan(struct gpume_division *division, uint32_t threads, uint64_t frame_bytes)
{
    const uint64_t packets = division->bytes / PACKETS_SHARE;
    const uint64_t frames = frame_bytes > 0 ? (division->bytes - packets) / frame_bytes : 0;
    division->decoders = gpume_min_u32(division->decoders, GPUME_SEGMENTS_DECODERS);
    for (; division->decoders > 1; division->decoders--) {
        division->threads = choose_threads(division->decoders, threads);
        /* all decoders but the first hold these, besides those that wait */
        const uint64_t held =
            (division->decoders - UINT64_C(1)) * (division->threads + OWN_FRAMES) +
            UINT64_C(1) * division->decoders * OVERLAP;
        if (frames >= held + (uint64_t)WAITING_MIN * division->decoders) {
            division->frames =
                (uint32_t)gpume_min_u64(frames - held, (uint64_t)WAITING_MAX * division->decoders);
            division->bytes = packets + (held + division->frames) * frame_bytes;
            return;
        }
    }
    division->bytes = 0;
}

static bool is_same_plane(const AVFrame *a, const AVFrame *b, int plane)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(a->format);
    const int bytes = av_image_get_linesize(a->format, a->width, plane);
    const bool is_chroma = plane == 1 || plane == 2;
    const int shift = is_chroma ? format->log2_chroma_h : 0;
    const int rows = (a->height + (1 << shift) - 1) >> shift;
    for (int y = 0; bytes > 0 && y < rows; y++) {
        if (memcmp(a->data[plane] + (ptrdiff_t)y * a->linesize[plane],
                b->data[plane] + (ptrdiff_t)y * b->linesize[plane], (size_t)bytes) != 0) {
            return false;
        }
    }
    return true;
}

bool gpume_frames_are_alike(const AVFrame *a, const AVFrame *b)
{
    bool same = a->pts == b->pts && a->width == b->width && a->height == b->height &&
                a->format == b->format && a->colorspace == b->colorspace &&
                a->color_range == b->color_range &&
                gpume_luma_is_interlaced(a) == gpume_luma_is_interlaced(b);
    const bool has_palette = same && (av_pix_fmt_desc_get(a->format)->flags & AV_PIX_FMT_FLAG_PAL);
    for (int plane = 0; same && plane < (has_palette ? 1 : 4) && a->data[plane]; plane++) {
        same = is_same_plane(a, b, plane);
    }
    return same && !(has_palette && memcmp(a->data[1], b->data[1], AVPALETTE_SIZE) != 0);
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

/* --- what they share: all functions but the first two need the mutex */

/* GPUME_NOMEM; finish follows in any case. */
static int init_cutter(struct gpume_cutter *cutter, const struct gpume_segments_options *options)
{
    const struct gpume_division *division = &options->division;
    *cutter = (struct gpume_cutter){
        .options = options,
        .packet_bytes = division->bytes / PACKETS_SHARE,
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

static void finish_cutter(struct gpume_cutter *cutter)
{
    gpume_waiting_finish(&cutter->places);
    gpume_backlog_finish(&cutter->backlog);
    av_packet_free(&cutter->fresh);
    pthread_cond_destroy(&cutter->frames);
    pthread_cond_destroy(&cutter->work);
    pthread_mutex_destroy(&cutter->mutex);
}

static struct gpume_video_segment *segment_at(struct gpume_cutter *cutter, uint64_t number)
{
    return &cutter->ring[number % SEGMENTS_MAX];
}

/* The number of its first frame; it is closed, or the first one. */
static uint64_t first_frame_of(
    const struct gpume_cutter *cutter, const struct gpume_video_segment *segment)
{
    return cutter->options->first_frame + segment->before + segment->leading;
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

/* Logs that note when the segment is delivered: until then an earlier one may take its place. A
 * segment without frames, as of a video of which nothing is left, has nothing to tell. */
static void tell_end(struct gpume_cutter *cutter)
{
    const struct gpume_video_segment *segment = segment_at(cutter, cutter->head);
    if (cutter->head == cutter->last && cutter->why && segment->placed > 0) {
        gpume_log_write(&cutter->options->log,
            cutter->options->division.asked ? GPUME_LOG_WARNING : GPUME_LOG_INFO,
            "%s: one decoder takes all frames from %" PRIu64 " on: %s",
            cutter->options->packets->label, first_frame_of(cutter, segment), cutter->why);
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
    return segment_at(cutter, cutter->found - 1);
}

/* No decoder begins with the newest segment. */
static void end_before_newest(struct gpume_cutter *cutter, const char *why)
{
    const uint64_t number = newest(cutter)->number;
    gpume_cutter_end_with(cutter, number > 0 ? number - 1 : 0, why);
}

/* Assigns the fresh packet to a segment. restarts: a decoder can begin with it. */
static void assign_packet(struct gpume_cutter *cutter, bool restarts)
{
    const AVPacket *packet = cutter->fresh;
    if (restarts && newest(cutter)->packets >= PACKETS_MIN &&
        cutter->found - cutter->head < SEGMENTS_MAX) {
        const struct gpume_video_segment *before = newest(cutter);
        newest(cutter)->closed = true;
        *segment_at(cutter, cutter->found) = (struct gpume_video_segment){
            .number = cutter->found,
            .first = cutter->backlog.end,
            .start = packet->pts,
            .before = before->before + before->packets,
            .status = GPUME_OK,
        };
        cutter->found++;
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

/* Reads a packet. Other threads may have the mutex meanwhile. */
static void read_packet_ahead(struct gpume_cutter *cutter)
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

/* Drops packets that no decoder may still take. */
static void drop_packets(struct gpume_cutter *cutter)
{
    uint64_t least = cutter->backlog.end;
    if (cutter->taken < cutter->found && cutter->taken <= cutter->last) {
        least = segment_at(cutter, cutter->taken)->first;
    }
    for (uint32_t i = 0; i < GPUME_SEGMENTS_DECODERS; i++) {
        least = cutter->at[i] < least ? cutter->at[i] : least;
    }
    gpume_backlog_drop(&cutter->backlog, least);
}

/* Whether the decoder of this segment has become useless. */
static bool is_beyond(const struct gpume_cutter *cutter, const struct gpume_video_segment *segment)
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
        cutter->found > cutter->taken && segment_at(cutter, cutter->taken)->closed;
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

/* --- one decoder of several */

/* The worker's next packet. */
static int next_packet(struct worker *worker)
{
    struct gpume_cutter *cutter = worker->cutter;
    while (cutter->at[worker->index] == cutter->backlog.end && !cutter->stop) {
        if (cutter->reading) {
            pthread_cond_wait(&cutter->work, &cutter->mutex);
        } else if (cutter->read_status == GPUME_OK) {
            read_packet_ahead(cutter);
        } else {
            return cutter->read_status;
        }
    }
    if (cutter->stop) {
        return GPUME_CANCELLED;
    }
    const int status =
        gpume_backlog_get(&cutter->backlog, cutter->at[worker->index], worker->packet);
    cutter->at[worker->index] += status == GPUME_OK;
    drop_packets(cutter);
    return status;
}

static int send_packet(struct worker *worker)
{
    struct gpume_cutter *cutter = worker->cutter;
    int status = next_packet(worker);
    if (status != GPUME_OK && status != GPUME_EOF) {
        return status;
    }
    pthread_mutex_unlock(&cutter->mutex);
    status = gpume_decoding_send(worker->decoding, status == GPUME_EOF ? NULL : worker->packet);
    av_packet_unref(worker->packet);
    pthread_mutex_lock(&cutter->mutex);
    return status;
}

/* How many frames of the segment, which is closed, must be the same. */
static uint32_t overlap_of(const struct gpume_video_segment *segment)
{
    const uint64_t frames = segment->packets - segment->leading;
    return frames < OVERLAP ? (uint32_t)frames : OVERLAP;
}

/* Adds the worker's frame to those of its segment. */
static void place_frame(struct worker *worker, struct gpume_video_segment *segment)
{
    struct gpume_cutter *cutter = worker->cutter;
    const struct gpume_damage damage = gpume_decoding_damage(worker->decoding);
    while (!is_beyond(cutter, segment) && !gpume_cutter_has_room(cutter, segment)) {
        pthread_cond_wait(&cutter->work, &cutter->mutex);
    }
    if (is_beyond(cutter, segment)) {
        av_frame_unref(worker->frame);
        return;
    }
    gpume_waiting_put(&segment->frames, &cutter->places, worker->frame, &damage);
    cutter->waiting++;
    segment->placed++;
    if (segment->number == cutter->head) {
        pthread_cond_signal(&cutter->frames);
    }
    if (segment->placed <= OVERLAP) {
        pthread_cond_broadcast(&cutter->work); /* the segment before it waits for these */
    }
}

/* The decoder goes on alone, so what it decoded of the next segment is used. */
static void keep_overlap(struct gpume_cutter *cutter, struct gpume_video_segment *segment)
{
    cutter->waiting += segment->overlap.count;
    segment->placed += segment->overlap.count;
    gpume_waiting_join(&segment->frames, &segment->overlap);
    pthread_cond_signal(&cutter->frames);
}

/* Compares what both decoders made of the next segment's first frames. */
static bool compare_overlap(struct worker *worker, const struct gpume_video_segment *segment,
    const struct gpume_video_segment *next)
{
    struct gpume_cutter *cutter = worker->cutter;
    const uint32_t count = overlap_of(next);
    uint32_t got = 0;
    bool same = worker->reached == first_frame_of(cutter, next) && next->placed >= count;
    const struct gpume_waiting_frame *place = next->frames.oldest;
    for (; same && got < count; got++, place = place->next) {
        same = av_frame_ref(worker->others[got], place->frame) >= 0;
    }
    pthread_mutex_unlock(&cutter->mutex);
    place = segment->overlap.oldest; /* the worker's own */
    for (uint32_t i = 0; i < got; i++, place = place->next) {
        same = same && gpume_frames_are_alike(place->frame, worker->others[i]);
    }
    for (uint32_t i = 0; i < OVERLAP; i++) {
        av_frame_unref(worker->others[i]);
    }
    pthread_mutex_lock(&cutter->mutex);
    return same;
}

/* The worker has decoded its segment and the overlap. Whether the next segment's decoder takes the
 * rest. */
static bool hand_over(struct worker *worker, struct gpume_video_segment *segment)
{
    struct gpume_cutter *cutter = worker->cutter;
    const struct gpume_video_segment *next = segment_at(cutter, segment->number + 1);
    while (cutter->last > segment->number && !cutter->stop &&
           !(next->taken && (next->placed >= overlap_of(next) || next->ended))) {
        pthread_cond_wait(&cutter->work, &cutter->mutex);
    }
    const bool same =
        !cutter->stop && cutter->last > segment->number && compare_overlap(worker, segment, next);
    if (cutter->last > segment->number && !same) {
        gpume_cutter_end_with(cutter, segment->number,
            next->placed > 0 ? "a decoder that begins with the next key frame delivers other frames"
                             : "a decoder that begins with the next key frame delivers none");
    }
    if (is_beyond(cutter, segment)) {
        return false;
    }
    if (cutter->last == segment->number) {
        keep_overlap(cutter, segment);
        return false;
    }
    gpume_waiting_clear(&segment->overlap, &cutter->places);
    segment->handed_over = true;
    pthread_cond_broadcast(&cutter->frames);
    return true;
}

/* Damage and the like: frames may depend on where decoding began. */
static void check_frame(struct worker *worker, const struct gpume_video_segment *segment)
{
    struct gpume_cutter *cutter = worker->cutter;
    const bool flawed = gpume_decoding_is_flawed(worker->decoding);
    if (flawed || worker->frame->pts <= worker->time) {
        const bool early = segment->number > 0 && segment->placed < overlap_of(segment);
        gpume_cutter_end_with(cutter, segment->number - early,
            !flawed ? "the times of its frames do not rise"
            : early ? "a decoder that begins with the next key frame meets errors"
                    : "it is damaged, and how that is concealed may depend on where decoding "
                      "began");
    }
    worker->time = worker->frame->pts;
}

/* Whether the frame belongs to the next segment, which another decoder has begun. */
static bool is_of_next(
    struct gpume_cutter *cutter, const struct gpume_video_segment *segment, int64_t time)
{
    const uint64_t next = segment->number + 1;
    return cutter->last > segment->number && cutter->found > next &&
           time >= segment_at(cutter, next)->start;
}

/* Takes the worker's frame. Whether its work on the segment is done. */
static bool sort_frame(struct worker *worker, struct gpume_video_segment *segment)
{
    struct gpume_cutter *cutter = worker->cutter;
    check_frame(worker, segment);
    if (is_beyond(cutter, segment) || !is_of_next(cutter, segment, worker->frame->pts)) {
        if (segment->overlap.count > 0) {
            keep_overlap(cutter, segment);
        }
        place_frame(worker, segment);
        return false;
    }
    const struct gpume_damage none = {0};
    if (segment->overlap.count == 0) {
        worker->reached = worker->decoding->delivered - 1;
    }
    gpume_waiting_put(&segment->overlap, &cutter->places, worker->frame, &none);
    const struct gpume_video_segment *next = segment_at(cutter, segment->number + 1);
    const uint32_t enough = next->closed ? overlap_of(next) : OVERLAP;
    return segment->overlap.count >= enough && hand_over(worker, segment);
}

/* The decoder ends: with the input, within the next segment if that is short, or because of a
 * failure. */
static void end_segment(struct worker *worker, struct gpume_video_segment *segment, int status)
{
    struct gpume_cutter *cutter = worker->cutter;
    const struct gpume_video_segment *next = segment_at(cutter, segment->number + 1);
    if (status == GPUME_EOF && segment->overlap.count > 0 &&
        segment->overlap.count == overlap_of(next) && hand_over(worker, segment)) {
        return;
    }
    if (segment->number + 1 < cutter->found) {
        gpume_cutter_end_with(cutter, segment->number, "its decoder ends early");
    }
    keep_overlap(cutter, segment);
    segment->damage = gpume_decoding_damage(worker->decoding);
    segment->status = status;
    segment->ended = true;
    pthread_cond_broadcast(&cutter->work);
    pthread_cond_broadcast(&cutter->frames);
}

static void decode_segment(struct worker *worker, struct gpume_video_segment *segment)
{
    struct gpume_cutter *cutter = worker->cutter;
    int status = GPUME_OK;
    while (!is_beyond(cutter, segment) && status == GPUME_OK) {
        pthread_mutex_unlock(&cutter->mutex);
        status = atomic_load(cutter->options->cancel)
                     ? GPUME_CANCELLED
                     : gpume_decoding_next(worker->decoding, worker->frame);
        pthread_mutex_lock(&cutter->mutex);
        if (status == GPUME_OK && sort_frame(worker, segment)) {
            return;
        }
        status = status == GPUME_AGAIN ? send_packet(worker) : status;
    }
    if (is_beyond(cutter, segment)) {
        cutter->waiting -= segment->frames.count;
        gpume_waiting_clear(&segment->frames, &cutter->places);
        gpume_waiting_clear(&segment->overlap, &cutter->places);
    } else {
        end_segment(worker, segment, status);
    }
}

/* Opens the worker's decoder, quietly: there may be fewer. Other threads may have the mutex
 * meanwhile. */
static bool open_worker_decoder(struct worker *worker)
{
    struct gpume_cutter *cutter = worker->cutter;
    const struct gpume_segments_options *options = cutter->options;
    const struct gpume_decoding *first = options->first;
    pthread_mutex_unlock(&cutter->mutex);
    worker->own = (struct gpume_decoding){
        .packets = first->packets,
        .buffers = first->buffers,
    };
    const bool opened =
        options->open(options->opaque, &worker->own, options->division.threads) == GPUME_OK;
    worker->own.log = first->log;
    pthread_mutex_lock(&cutter->mutex);
    if (opened) {
        worker->decoding = &worker->own;
    } else {
        gpume_cutter_lose_decoder(cutter);
    }
    return opened;
}

/* Waits for the next segment, which must be known to its end. NULL: there will be none, or no
 * decoder for it. */
static struct gpume_video_segment *take_segment(struct worker *worker)
{
    struct gpume_cutter *cutter = worker->cutter;
    while (!cutter->stop && cutter->taken <= cutter->last) {
        if (cutter->taken < cutter->found && segment_at(cutter, cutter->taken)->closed) {
            if (worker->decoding) {
                struct gpume_video_segment *segment = segment_at(cutter, cutter->taken++);
                segment->taken = true;
                cutter->at[worker->index] = segment->first;
                worker->time = INT64_MIN;
                pthread_cond_broadcast(&cutter->work);
                return segment;
            }
            if (!open_worker_decoder(worker)) {
                return NULL;
            }
        } else if (cutter->taken == cutter->found && cutter->read_status != GPUME_OK) {
            return NULL;
        } else if (gpume_cutter_read_ahead(cutter)) {
            read_packet_ahead(cutter);
        } else if (cutter->taken <= cutter->last) {
            pthread_cond_wait(&cutter->work, &cutter->mutex);
        }
    }
    return NULL;
}

static void *worker_main(void *opaque)
{
    struct worker *worker = opaque;
    struct gpume_cutter *cutter = worker->cutter;
    struct gpume_video_segment *segment;
    pthread_mutex_lock(&cutter->mutex);
    if (worker->index == 0) { /* it has begun with the first segment */
        decode_segment(worker, segment_at(cutter, 0));
        cutter->at[worker->index] = UINT64_MAX;
    }
    while ((segment = take_segment(worker)) != NULL) {
        const uint64_t frame = first_frame_of(cutter, segment);
        pthread_mutex_unlock(&cutter->mutex);
        gpume_decoding_restart(worker->decoding, frame, segment->start);
        pthread_mutex_lock(&cutter->mutex);
        decode_segment(worker, segment);
        cutter->at[worker->index] = UINT64_MAX;
    }
    pthread_mutex_unlock(&cutter->mutex);
    return NULL;
}

/* --- all of them */

static void close_worker(struct worker *worker)
{
    gpume_decoding_close(&worker->own);
    av_packet_free(&worker->packet);
    av_frame_free(&worker->frame);
    for (uint32_t i = 0; i < OVERLAP; i++) {
        av_frame_free(&worker->others[i]);
    }
}

/* The first has its decoder; others open theirs when there is a segment for them. */
static bool start_worker(struct gpume_segments *segments, uint32_t index)
{
    struct worker *worker = &segments->workers[index];
    *worker = (struct worker){
        .cutter = &segments->cutter,
        .index = index,
        .decoding = index == 0 ? segments->options.first : NULL,
        .time = INT64_MIN,
        .packet = av_packet_alloc(),
        .frame = av_frame_alloc(),
    };
    bool allocated = worker->packet && worker->frame;
    for (uint32_t i = 0; i < OVERLAP; i++) {
        worker->others[i] = av_frame_alloc();
        allocated = allocated && worker->others[i];
    }
    if (!allocated || pthread_create(&worker->thread, NULL, worker_main, worker) != 0) {
        close_worker(worker);
        return false;
    }
    return true;
}

static int start_workers(struct gpume_segments *segments)
{
    struct gpume_cutter *cutter = &segments->cutter;
    const uint32_t wanted = segments->options.division.decoders;
    while (segments->running < wanted && start_worker(segments, segments->running)) {
        segments->running++;
    }
    pthread_mutex_lock(&cutter->mutex);
    for (uint32_t i = segments->running; i < wanted && i > 0; i++) {
        gpume_cutter_lose_decoder(cutter);
    }
    pthread_mutex_unlock(&cutter->mutex);
    return segments->running > 0 ? GPUME_OK : GPUME_AGAIN;
}

int gpume_segments_open(
    struct gpume_segments **result, const struct gpume_segments_options *options)
{
    int status = GPUME_OK;
    struct gpume_segments *segments = calloc(1, sizeof(*segments));
    if (!segments) {
        return GPUME_NOMEM;
    }
    segments->options = *options;
    segments->delivered = options->first->delivered;
    segments->workers = calloc(options->division.decoders, sizeof(*segments->workers));
    GPUME_TRY(init_cutter(&segments->cutter, &segments->options));
    GPUME_TRY(segments->workers ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(start_workers(segments));
    *result = segments;
    return GPUME_OK;
fail:
    gpume_segments_close(&segments);
    return status == GPUME_AGAIN ? GPUME_OK : status;
}

static int next_in_order(struct gpume_segments *segments, AVFrame *frame)
{
    struct gpume_cutter *cutter = &segments->cutter;
    for (;;) {
        struct gpume_video_segment *segment = segment_at(cutter, cutter->head);
        if (atomic_load(segments->options.cancel)) {
            return GPUME_CANCELLED;
        }
        if (segment->frames.count > 0 || segment->ended) {
            tell_end(cutter);
        }
        if (segment->frames.count > 0) {
            segments->damage = gpume_waiting_take(&segment->frames, &cutter->places, frame);
            segments->delivered++;
            cutter->waiting--;
            pthread_cond_broadcast(&cutter->work);
            return GPUME_OK;
        }
        if (segment->handed_over) {
            cutter->head++;
            pthread_cond_broadcast(&cutter->work);
        } else if (segment->ended) {
            segments->damage = segment->damage;
            return segment->status;
        } else {
            pthread_cond_wait(&cutter->frames, &cutter->mutex);
        }
    }
}

int gpume_segments_next(struct gpume_segments *segments, AVFrame *frame)
{
    pthread_mutex_lock(&segments->cutter.mutex);
    const int status = next_in_order(segments, frame);
    pthread_mutex_unlock(&segments->cutter.mutex);
    return status;
}

struct gpume_damage gpume_segments_damage(const struct gpume_segments *segments)
{
    return segments->damage;
}

uint64_t gpume_segments_delivered(const struct gpume_segments *segments)
{
    return segments->delivered;
}

void gpume_segments_close(struct gpume_segments **pointer)
{
    struct gpume_segments *segments = *pointer;
    if (!segments) {
        return;
    }
    *pointer = NULL;
    pthread_mutex_lock(&segments->cutter.mutex);
    segments->cutter.stop = true;
    pthread_cond_broadcast(&segments->cutter.work);
    pthread_mutex_unlock(&segments->cutter.mutex);
    uint32_t used = 0;
    for (uint32_t i = 0; i < segments->running; i++) {
        pthread_join(segments->workers[i].thread, NULL);
        used += segments->workers[i].decoding != NULL;
    }
    gpume_log_write(&segments->options.log, GPUME_LOG_INFO,
        "%s: %" PRIu64 " segments were decoded side by side by %" PRIu32 " decoders",
        segments->options.packets->label, segments->cutter.head + 1, used);
    for (uint32_t i = 0; i < segments->running; i++) {
        close_worker(&segments->workers[i]);
    }
    finish_cutter(&segments->cutter);
    free(segments->workers);
    free(segments);
}
