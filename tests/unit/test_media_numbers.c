/* SPDX-License-Identifier: BSD-2-Clause */
/* media: the header of Y4M files, word by word; times of frames; where their order begins anew;
 * limits, exact to the last unit. */
#include "base/base.h"
#include "harness.h"
#include "logged.h"
#include "media/decode.h"
#include "media/packets.h"
#include "media/source.h"

#include <string.h>

#include <libavcodec/packet.h>
#include <libavutil/avutil.h>
#include <libavutil/frame.h>

static struct gpume_y4m_header parsed(const char *words)
{
    struct gpume_y4m_header header;
    char line[200];
    snprintf(line, sizeof(line), "YUV4MPEG2 W64 H48%s", words);
    REQUIRE(gpume_y4m_parse(line, &header));
    REQUIRE(header.width == 64 && header.height == 48);
    return header;
}

static void check_words(void)
{
    struct gpume_y4m_header header = parsed("");
    REQUIRE(header.rate.num == 25 && header.rate.den == 1);
    REQUIRE(header.aspect.num == 0 && header.aspect.den == 1);
    REQUIRE(header.format == AV_PIX_FMT_YUV420P && header.bits == 8);
    REQUIRE(!header.interlaced && !header.progressive && !header.full_range);
    header = parsed(" F60000:2002 A4:3 F30:1 Ip"); /* of two words the last one */
    REQUIRE(header.rate.num == 30 && header.rate.den == 1);
    REQUIRE(header.aspect.num == 4 && header.aspect.den == 3 && header.progressive);
    header = parsed(" F60000:2002");
    REQUIRE(header.rate.num == 30000 && header.rate.den == 1001);
    static const char *const rates[] = {" F0:1", " F30:0", " F30", " F30:1x", " F4294967296:1"};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        header = parsed(rates[i]);
        REQUIRE(header.rate.num == 25 && header.rate.den == 1);
    }
    for (const char *letter = "tbmp?"; *letter; letter++) {
        const char words[] = {' ', 'I', *letter, '\0'};
        header = parsed(words);
        REQUIRE(header.interlaced == (*letter == 't' || *letter == 'b' || *letter == 'm'));
        REQUIRE(header.progressive == (*letter == 'p'));
    }
    REQUIRE(!gpume_y4m_parse("YUV4MPEG2 W64 H0", &header));
    REQUIRE(!gpume_y4m_parse("YUV4MPEG2 W64", &header));
    REQUIRE(!gpume_y4m_parse("YUV4MPEG2 W64 H48x", &header));
    REQUIRE(!gpume_y4m_parse("YUV4MPEG W64 H48", &header));
}

static void check_spaces(void)
{
    static const struct {
        const char *words;
        enum AVPixelFormat format;
        uint32_t bits;
        bool full;
    } cases[] = {
        {" C420jpeg", AV_PIX_FMT_YUV420P, 8, false},
        {" C420JPEG", AV_PIX_FMT_YUV420P, 8, false},
        {" C420p10", AV_PIX_FMT_YUV420P10LE, 10, false},
        {" C420P16", AV_PIX_FMT_YUV420P16LE, 16, false},
        {" C420p8", AV_PIX_FMT_NONE, 0, false},
        {" C420p17", AV_PIX_FMT_NONE, 0, false},
        {" C420jpeg10", AV_PIX_FMT_NONE, 0, false},
        {" C422", AV_PIX_FMT_YUV422P, 8, false},
        {" C444alpha", AV_PIX_FMT_YUVA444P, 8, false},
        {" Cmono", AV_PIX_FMT_GRAY8, 8, true}, /* as luma.c takes gray */
        {" Cmono XCOLORRANGE=LIMITED", AV_PIX_FMT_GRAY8, 8, false},
        {" C420 XCOLORRANGE=FULL", AV_PIX_FMT_YUV420P, 8, true},
        {" Cmono12", AV_PIX_FMT_GRAY12LE, 12, true},
        {" XYSCSS=422", AV_PIX_FMT_YUV422P, 8, false},
        {" C444 XYSCSS=422", AV_PIX_FMT_YUV444P, 8, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct gpume_y4m_header header = parsed(cases[i].words);
        REQUIRE_EQUAL(header.format, cases[i].format);
        REQUIRE_EQUAL(header.bits, cases[i].bits);
        REQUIRE(header.full_range == cases[i].full);
    }
}

/* A frame without a time comes one step after the one before it, however many there are. */
static void check_times(void)
{
    AVFrame *frame = av_frame_alloc();
    struct gpume_frame_time time = {.step = {1, 30}};
    frame->time_base = (AVRational){1, 1000};
    const int64_t pts[] = {40, AV_NOPTS_VALUE, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 500, AV_NOPTS_VALUE};
    const int64_t us[] = {40000, 73333, 106667, 140000, 500000, 533333};
    for (size_t i = 0; i < sizeof(pts) / sizeof(pts[0]); i++) {
        frame->pts = pts[i];
        REQUIRE_EQUAL(gpume_frame_time_next(&time, frame), us[i]);
    }
    struct gpume_frame_time none = {.step = {1, 25}};
    frame->pts = AV_NOPTS_VALUE;
    REQUIRE_EQUAL(gpume_frame_time_next(&none, frame), 0);
    REQUIRE_EQUAL(gpume_frame_time_next(&none, frame), 40000);
    av_frame_free(&frame);
}

/* Which of the packets begin a section: their places, and 0 after the last one. */
static void check_order(const int64_t *pts, size_t count, size_t key_every, const size_t *begins)
{
    struct gpume_show_order order = {.count = 0};
    AVPacket *packet = av_packet_alloc();
    REQUIRE(packet != NULL);
    for (size_t i = 0; i < count; i++) {
        packet->pts = pts[i];
        packet->flags = i % key_every == 0 ? AV_PKT_FLAG_KEY : 0;
        const bool begin = gpume_show_order_begins(&order, packet);
        REQUIRE_EQUAL(begin, *begins == i && i > 0);
        begins += begin;
    }
    REQUIRE_EQUAL(*begins, 0);
    av_packet_free(&packet);
}

static void check_orders(void)
{
    enum { MANY = 40 };
    /* Two frames are shown before the key that they follow. */
    static const int64_t open[] = {0, 1, 2, 3, 6, 4, 5, 7, 10, 8, 9, 11};
    check_order(open, sizeof(open) / sizeof(open[0]), 4, (const size_t[]){0});
    /* The same three times, and a key as late as the frame before it. */
    static const int64_t joined[] = {0, 2, 1, 3, 0, 2, 1, 3, 0, 2, 1, 3, 3, 5, 4, 6};
    check_order(joined, sizeof(joined) / sizeof(joined[0]), 4, (const size_t[]){4, 8, 12, 0});
    /* Without a key: only what came long ago is certainly shown before it. */
    int64_t pts[3 * MANY];
    for (int64_t i = 0; i < 3 * MANY; i++) {
        pts[i] = i < MANY ? i : i < 2 * MANY ? i - MANY : i - 2 * MANY;
    }
    check_order(pts, 3 * MANY, 1000, (const size_t[]){MANY, 2 * MANY, 0});
    pts[MANY] = MANY - 31; /* shown before those that came less than 32 packets before it */
    pts[MANY + 1] = MANY + 1;
    check_order(pts, MANY + 2, 1000, (const size_t[]){0});
    pts[MANY] = MANY - 32;
    check_order(pts, MANY + 1, 1000, (const size_t[]){MANY, 0});
}

static void check_limits(void)
{
    const struct gpume_trust trust = {.max_pixels = 3072, .max_memory = 5000}, any = {0};
    const struct gpume_log *log = &counting_log;
    REQUIRE_EQUAL(gpume_limits_check_size(&trust, "in", NULL, 64, 48, log), GPUME_OK);
    REQUIRE_EQUAL(logged.lines, 0);
    REQUIRE(gpume_limits_check_size(&trust, "in", NULL, 3073, 1, log) != GPUME_OK);
    REQUIRE_EQUAL(logged.lines, 1);
    REQUIRE_EQUAL(gpume_limits_check_size(&any, "in", NULL, 100000, 100000, log), GPUME_OK);
    REQUIRE_EQUAL(gpume_limits_check_sides("in", NULL, 1 << 20, 1 << 20, log), GPUME_OK);
    REQUIRE(gpume_limits_check_sides("in", NULL, (1 << 20) + 1, 1, log) != GPUME_OK);
    REQUIRE(gpume_limits_check_sides("in", NULL, 1, (1 << 20) + 1, log) != GPUME_OK);
    REQUIRE_EQUAL(logged.lines, 3);
    REQUIRE_EQUAL(gpume_limits_check_bytes(&trust, "in", 5000, 1, log), GPUME_OK);
    REQUIRE(gpume_limits_check_bytes(&trust, "in", 5001, 1, log) != GPUME_OK);
    REQUIRE_EQUAL(gpume_limits_check_bytes(&any, "in", UINT64_MAX, 1, log), GPUME_OK);
    REQUIRE_EQUAL(logged.lines, 4);
    REQUIRE(gpume_limits_decoder(&trust) >= 3072); /* decoders count rounded sides */
    REQUIRE_EQUAL(gpume_limits_decoder(&any), 1 << 28);
}

int main(void)
{
    check_words();
    check_spaces();
    check_times();
    check_orders();
    check_limits();
    return harness_verdict();
}
