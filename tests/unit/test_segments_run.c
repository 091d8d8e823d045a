/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * media/segments as a whole: whatever its decoders do, the frames are those of one decoder alone.
 * The video is MPEG-2 with open groups of twelve pictures; the test changes what decoders deliver.
 * Works in its own folder below the current one.
 */
#include "base/base.h"
#include "harness.h"
#include "logged.h"
#include "media/decode.h"
#include "media/packets.h"
#include "media/source.h"

#include <string.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>

enum { WIDTH = 48, HEIGHT = 32, FRAMES = 400, GROUP = 12 };

/* What a decoder does to a frame */
enum deed {
    NOTHING,
    LUMA,
    CHROMA,
    CORRUPT,
    BACK,  /* in time */
    LOSE,  /* never delivers it */
    ERROR, /* returns an error instead */
    FAIL,  /* ends with GPUME_DEVICE */
};

/* Which frame. Each decoder counts the frames that it has made since it began. */
struct fault {
    enum deed deed;
    bool by_count; /* `from` is that count; else a time, in frames */
    bool first;    /* done by the first decoder */
    bool others;   /* by the others */
    uint64_t from, count;
};

/* Of one decoder */
struct maker {
    const struct fault *fault;
    bool is_first;
    uint64_t made;
};

struct rig {
    struct gpume_source_options options;
    struct gpume_packets packets;
    struct gpume_decoding first;
    struct gpume_scan *scan;
    AVPacket *packet;
    AVFrame *frame;
    struct maker makers[GPUME_SEGMENTS_DECODERS];
    atomic_uint opened;
    unsigned allowed; /* decoders that can be opened, besides the first */
    const struct fault *fault;
    atomic_bool cancel;
};

/* Frames of a run */
struct result {
    uint64_t count;
    int64_t times[FRAMES + 1];
    uint64_t sums[FRAMES + 1];
    struct gpume_damage damage;
    int status;
};

static const char *const path = "segments.mkv";

static void draw(AVFrame *frame, int number)
{
    frame->pts = number;
    REQUIRE(av_frame_make_writable(frame) >= 0);
    for (int plane = 0; plane < 3; plane++) {
        for (int y = 0; y < (plane == 0 ? HEIGHT : HEIGHT / 2); y++) {
            for (int x = 0; x < (plane == 0 ? WIDTH : WIDTH / 2); x++) {
                frame->data[plane][y * frame->linesize[plane] + x] =
                    (uint8_t)(64 + (x * 5 + y * 3 + number * (plane + 2)) % 128);
            }
        }
    }
}

/* Sends a frame, or the end, and writes the packets that come. */
static void encode(AVCodecContext *codec, AVFormatContext *file, const AVFrame *frame)
{
    AVPacket *packet = av_packet_alloc();
    REQUIRE(avcodec_send_frame(codec, frame) >= 0);
    while (avcodec_receive_packet(codec, packet) >= 0) {
        av_packet_rescale_ts(packet, codec->time_base, file->streams[0]->time_base);
        packet->stream_index = 0;
        REQUIRE(av_interleaved_write_frame(file, packet) >= 0);
    }
    av_packet_free(&packet);
}

static void make_video(int frames)
{
    AVFormatContext *file = NULL;
    AVCodecContext *codec = avcodec_alloc_context3(avcodec_find_encoder(AV_CODEC_ID_MPEG2VIDEO));
    AVFrame *frame = av_frame_alloc();
    codec->width = frame->width = WIDTH;
    codec->height = frame->height = HEIGHT;
    codec->pix_fmt = AV_PIX_FMT_YUV420P;
    frame->format = AV_PIX_FMT_YUV420P;
    codec->time_base = (AVRational){1, 25};
    codec->gop_size = GROUP;
    codec->max_b_frames = 2;
    codec->flags |= AV_CODEC_FLAG_BITEXACT;
    REQUIRE(avcodec_open2(codec, NULL, NULL) >= 0);
    REQUIRE(avformat_alloc_output_context2(&file, NULL, NULL, path) >= 0);
    AVStream *stream = avformat_new_stream(file, NULL);
    stream->time_base = codec->time_base;
    REQUIRE(avcodec_parameters_from_context(stream->codecpar, codec) >= 0);
    REQUIRE(avio_open(&file->pb, path, AVIO_FLAG_WRITE) >= 0);
    REQUIRE(avformat_write_header(file, NULL) >= 0);
    REQUIRE(av_frame_get_buffer(frame, 0) >= 0);
    for (int i = 0; i < frames; i++) {
        draw(frame, i);
        encode(codec, file, frame);
    }
    encode(codec, file, NULL);
    REQUIRE(av_write_trailer(file) >= 0);
    avio_closep(&file->pb);
    avformat_free_context(file);
    avcodec_free_context(&codec);
    av_frame_free(&frame);
}

/* struct gpume_decoding's fetch; on the decoder's thread */
static int tamper(struct gpume_decoding *decoding, AVFrame *frame, int *error)
{
    struct maker *maker = decoding->opaque;
    const struct fault *fault = maker->fault;
    if (*error < 0) {
        return GPUME_OK;
    }
    const uint64_t number =
        fault->by_count ? maker->made : (uint64_t)(frame->best_effort_timestamp + 20) / 40;
    maker->made++;
    if (!(maker->is_first ? fault->first : fault->others) || number < fault->from ||
        number >= fault->from + fault->count) {
        return GPUME_OK;
    }
    if (fault->deed == LUMA || fault->deed == CHROMA) {
        if (av_frame_make_writable(frame) < 0) {
            return GPUME_NOMEM;
        }
        frame->data[fault->deed == LUMA ? 0 : 2][3]++;
    } else if (fault->deed == CORRUPT) {
        frame->flags |= AV_FRAME_FLAG_CORRUPT;
    } else if (fault->deed == BACK) {
        frame->best_effort_timestamp -= 200;
    } else if (fault->deed == LOSE) {
        frame->data[0] = NULL; /* which is none for decode.c */
    } else if (fault->deed == ERROR) {
        av_frame_unref(frame);
        *error = AVERROR_INVALIDDATA;
    } else if (fault->deed == FAIL) {
        av_frame_unref(frame);
        return GPUME_DEVICE;
    }
    return GPUME_OK;
}

static void set_up(struct rig *rig, struct gpume_decoding *decoding, struct maker *maker)
{
    decoding->fetch = tamper;
    decoding->opaque = maker;
    *maker = (struct maker){.fault = rig->fault, .is_first = decoding == &rig->first};
}

static int open_another(void *opaque, struct gpume_decoding *another, uint32_t threads)
{
    struct rig *rig = opaque;
    const unsigned number = 1 + atomic_fetch_add(&rig->opened, 1);
    if (number > rig->allowed) {
        return GPUME_AGAIN;
    }
    set_up(rig, another, &rig->makers[number]);
    return gpume_decoding_open(another, threads);
}

static void open_rig(struct rig *rig, const struct fault *fault)
{
    *rig = (struct rig){.fault = fault, .allowed = UINT32_MAX};
    rig->options = (struct gpume_source_options){
        .paths = {path}, .path_count = 1, .stream = -1, .log = counting_log};
    rig->packet = av_packet_alloc();
    rig->frame = av_frame_alloc();
    REQUIRE_EQUAL(gpume_packets_open(&rig->packets, &rig->options, 0, &rig->cancel), GPUME_OK);
    const AVStream *stream = rig->packets.stream;
    rig->first = (struct gpume_decoding){.packets = &rig->packets, .log = counting_log};
    set_up(rig, &rig->first, &rig->makers[0]);
    REQUIRE_EQUAL(gpume_scan_open(&rig->scan, stream->codecpar), GPUME_OK);
    REQUIRE_EQUAL(gpume_decoding_open(&rig->first, 1), GPUME_OK);
}

static void close_rig(struct rig *rig)
{
    gpume_scan_close(&rig->scan);
    gpume_decoding_close(&rig->first);
    gpume_packets_close(&rig->packets);
    av_packet_free(&rig->packet);
    av_frame_free(&rig->frame);
}

/* The next frame of the first decoder alone. */
static int next_of_one(struct rig *rig)
{
    for (;;) {
        int status = gpume_decoding_next(&rig->first, rig->frame);
        if (status != GPUME_AGAIN) {
            return status;
        }
        status = gpume_packets_next(&rig->packets, rig->packet);
        if (status != GPUME_OK && status != GPUME_EOF) {
            return status;
        }
        if (status == GPUME_OK) {
            gpume_scan_take(rig->scan, rig->packet);
        }
        GPUME_CHECK(gpume_decoding_send(&rig->first, status == GPUME_OK ? rig->packet : NULL));
        av_packet_unref(rig->packet);
    }
}

static void keep(struct result *result, struct rig *rig)
{
    uint64_t sum = 14695981039346656037u; /* FNV-1a, with larger steps */
    for (int plane = 0; plane < 3; plane++) {
        for (int y = 0; y < (plane == 0 ? HEIGHT : HEIGHT / 2); y++) {
            for (int x = 0; x < (plane == 0 ? WIDTH : WIDTH / 2); x++) {
                sum = (sum ^ rig->frame->data[plane][y * rig->frame->linesize[plane] + x]) *
                      1099511628211u;
            }
        }
    }
    REQUIRE(result->count <= FRAMES);
    if (result->count <= FRAMES) {
        result->times[result->count] = rig->frame->pts;
        result->sums[result->count++] = sum;
    }
    av_frame_unref(rig->frame);
}

/* The frames of one decoder. */
static void run_one(struct result *result, const struct fault *fault)
{
    struct rig rig;
    memset(result, 0, sizeof(*result));
    open_rig(&rig, fault);
    while ((result->status = next_of_one(&rig)) == GPUME_OK) {
        keep(result, &rig);
    }
    result->damage = gpume_decoding_damage(&rig.first);
    close_rig(&rig);
}

/* How several decoders are asked for */
struct several {
    uint32_t decoders, frames;
    uint64_t bytes;
    unsigned allowed;
    bool asked;
    uint64_t first_frame;
    uint64_t cancel_after, close_after; /* frames; 0: never */
};

static const struct several usual = {
    .decoders = 3, .frames = 200, .bytes = 64u << 20, .allowed = 99, .asked = true};

/* The messages of the latest run, one after the other, and how many are warnings. */
static char messages[4096];
static unsigned warnings;

static void keep_message(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    warnings += level == GPUME_LOG_WARNING;
    const size_t used = strlen(messages);
    snprintf(messages + used, sizeof(messages) - used, "%s\n", line);
}

static void run_several(
    struct result *result, const struct fault *fault, const struct several *several)
{
    struct rig rig;
    struct gpume_segments *segments = NULL;
    memset(result, 0, sizeof(*result));
    messages[0] = '\0';
    warnings = 0;
    open_rig(&rig, fault);
    rig.allowed = several->allowed;
    REQUIRE_EQUAL(next_of_one(&rig), GPUME_OK);
    keep(result, &rig);
    const struct gpume_segments_options options = {
        .division = {.decoders = several->decoders,
            .frames = several->frames,
            .bytes = several->bytes,
            .asked = several->asked,
            .threads = 1},
        .first = &rig.first,
        .open = open_another,
        .opaque = &rig,
        .first_frame = several->first_frame,
        .packets = &rig.packets,
        .scan = rig.scan,
        .cancel = &rig.cancel,
        .log = {.fn = keep_message},
    };
    rig.first.delivered += several->first_frame;
    REQUIRE_EQUAL(gpume_segments_open(&segments, &options), GPUME_OK);
    while ((result->status = gpume_segments_next(segments, rig.frame)) == GPUME_OK) {
        keep(result, &rig);
        REQUIRE_EQUAL(gpume_segments_delivered(segments), several->first_frame + result->count);
        if (result->count == several->close_after) {
            break;
        }
        if (result->count == several->cancel_after) {
            atomic_store(&rig.cancel, true);
        }
    }
    result->damage = gpume_segments_damage(segments);
    gpume_segments_close(&segments);
    REQUIRE(!segments);
    close_rig(&rig);
}

static void require_same(const struct result *one, const struct result *several)
{
    REQUIRE_EQUAL(several->status, one->status);
    REQUIRE_EQUAL(several->count, one->count);
    unsigned different = 0;
    for (uint64_t i = 0; i < one->count && i < several->count; i++) {
        different += several->times[i] != one->times[i] || several->sums[i] != one->sums[i];
    }
    REQUIRE_EQUAL(different, 0);
    REQUIRE_EQUAL(several->damage.errors, one->damage.errors);
    REQUIRE_EQUAL(several->damage.refused, one->damage.refused);
    REQUIRE_EQUAL(several->damage.frames, one->damage.frames);
}

/* How many segments the latest run had, as it says at its end. */
static uint64_t segments_of_run(void)
{
    const char *line = strstr(messages, " segments were decoded");
    REQUIRE(line != NULL);
    while (line && line > messages && line[-1] >= '0' && line[-1] <= '9') {
        line--;
    }
    return line ? strtoull(line, NULL, 10) : 0;
}

/* From which frame on one decoder went on alone; UINT64_MAX: from none. */
static uint64_t alone_from(void)
{
    const char *line = strstr(messages, "all frames from ");
    return line ? strtoull(line + strlen("all frames from "), NULL, 10) : UINT64_MAX;
}

static const struct fault none = {.deed = NOTHING};

/* Segments begin at key frames, have 64 packets at least, and nothing depends on how many decoders
 * or how much memory there is. */
static void check_division(void)
{
    struct result one, several;
    run_one(&one, &none);
    REQUIRE(one.count == FRAMES && one.status == GPUME_EOF);
    for (uint32_t i = 0; i < 8; i++) {
        struct several options = usual;
        options.decoders = i % 4 + 2;
        options.frames = (i < 4 ? 24 : 100) * options.decoders; /* the plan gives no fewer */
        options.first_frame = i == 5 ? 1000 : 0;
        run_several(&several, &none, &options);
        require_same(&one, &several);
        REQUIRE_EQUAL(alone_from(), UINT64_MAX);
        /* of at least 64 packets, so of six groups */
        REQUIRE_EQUAL(segments_of_run(), (FRAMES + 6 * GROUP - 1) / (6 * GROUP));
    }
    struct several options = usual;
    options.bytes = 60000; /* for packets: not enough for two segments at a time */
    run_several(&several, &none, &options);
    require_same(&one, &several);
    options.bytes = 1000; /* not enough for one */
    run_several(&several, &none, &options);
    require_same(&one, &several);
    REQUIRE_EQUAL(alone_from(), 0);
}

/* Decoders that cannot be opened are done without. */
static void check_lost_decoders(void)
{
    struct result one, several;
    struct several options = usual;
    run_one(&one, &none);
    options.allowed = 1;
    run_several(&several, &none, &options);
    require_same(&one, &several);
    REQUIRE(segments_of_run() > 3 && alone_from() == UINT64_MAX);
    options.allowed = 0;
    options.first_frame = 7;
    run_several(&several, &none, &options);
    require_same(&one, &several);
    REQUIRE(segments_of_run() == 1 && alone_from() == 7);
    REQUIRE_EQUAL(warnings, 1); /* once, to a user who asked for several */
    options.asked = false;
    run_several(&several, &none, &options);
    REQUIRE(alone_from() == 7 && warnings == 0);
}

/* Runs one and several decoders with the fault. alone: from which frame on one decoder must go on,
 * of segments that begin with every 72nd. */
static void check_fault(const struct fault *fault, uint64_t alone)
{
    struct result one, several;
    run_one(&one, fault);
    for (uint32_t decoders = 2; decoders <= 4; decoders++) {
        struct several options = usual;
        options.decoders = decoders;
        run_several(&several, fault, &options);
        require_same(&one, &several);
        REQUIRE_EQUAL(alone_from(), alone);
    }
}

/* Frame 72 is the first of the second segment, and 75 is none that two decoders compare. */
static void check_faults(void)
{
    static const struct {
        struct fault fault;
        uint64_t alone;
    } cases[] = {
        /* what the decoder of the next segment makes is not what the first one makes */
        {{LUMA, false, false, true, 72, 1}, 0},
        {{LUMA, false, false, true, 74, 1}, 0},
        {{CHROMA, false, false, true, 73, 1}, 0},
        {{LUMA, false, true, false, 73, 1}, 0},
        {{LOSE, false, false, true, 73, 1}, 0},
        {{LOSE, false, false, true, 72, 1}, 0},
        {{LOSE, false, false, true, 0, FRAMES}, 0},
        {{ERROR, false, false, true, 72, FRAMES}, 0},
        {{CORRUPT, false, false, true, 72, 1}, 0},
        /* the number of own frames after which each decoder silently loses one */
        {{LOSE, true, true, true, 40, 1}, 0},
        {{LOSE, true, true, true, 71, 1}, 0},
        /* a failure ends all at its frame, unless the first decoder does without the one that fails
         */
        {{FAIL, false, true, true, 100, 1}, 72},
        {{FAIL, false, true, true, 73, 1}, 0},
        {{FAIL, false, false, true, 72, FRAMES}, 0},
        /* damage, wherever it is met */
        {{CORRUPT, false, true, true, 30, 1}, 0},
        {{CORRUPT, false, true, true, 100, 1}, 72},
        {{CORRUPT, false, true, true, 300, 2}, 288},
        {{ERROR, false, true, true, 100, 1}, 72},
        {{CORRUPT, false, true, true, 100, 201}, 72}, /* which later decoders may meet sooner */
        {{ERROR, false, true, true, FRAMES - 1, 1}, UINT64_MAX}, /* after the last frame */
        {{BACK, false, true, true, 100, 1}, 72},
        {{BACK, false, true, true, 250, 1}, 216},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const unsigned failures = harness_failures;
        check_fault(&cases[i].fault, cases[i].alone);
        if (harness_failures > failures) {
            fprintf(stderr, "fault %zu\n", i);
        }
    }
}

/* A segment of fewer frames than are compared, at the end; a video of one segment; and none that a
 * second decoder could begin. */
static void check_short(void)
{
    static const int lengths[] = {1, 2, 63, 70, 73, 74, 75, 76, 145};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct result one, several;
        make_video(lengths[i]);
        run_one(&one, &none);
        REQUIRE_EQUAL(one.count, lengths[i]);
        run_several(&several, &none, &usual);
        require_same(&one, &several);
        REQUIRE_EQUAL(segments_of_run(), (lengths[i] + 71) / 72);
        /* of one frame nothing is left to divide */
        REQUIRE_EQUAL(alone_from(), lengths[i] == 1 || lengths[i] > 72 ? UINT64_MAX : 0);
    }
    /* the first decoder loses one of the last three frames, and with it what would be compared */
    const struct fault lost = {LOSE, false, true, false, 74, 1};
    make_video(75);
    check_fault(&lost, 0);
    make_video(FRAMES);
}

/* It may end at any time. */
static void check_end(void)
{
    for (uint64_t after = 2; after < 200; after += 22) {
        struct result several;
        struct several options = usual;
        options.cancel_after = after;
        run_several(&several, &none, &options);
        REQUIRE(several.status == GPUME_CANCELLED && several.count == after);
        options.cancel_after = 0;
        options.close_after = after;
        run_several(&several, &none, &options);
        REQUIRE(several.status == GPUME_OK && several.count == after);
    }
}

int main(void)
{
    char folder[] = "segments-XXXXXX";
    if (!avcodec_find_encoder(AV_CODEC_ID_MPEG2VIDEO)) {
        printf("SKIPPED: this FFmpeg has no encoder for MPEG-2\n");
        return 77;
    }
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        perror(folder);
        return 1;
    }
    make_video(FRAMES);
    check_division();
    check_lost_decoders();
    check_faults();
    check_end();
    check_short();
    REQUIRE(unlink(path) == 0 && chdir("..") == 0 && rmdir(folder) == 0);
    return harness_verdict();
}
