/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Y4M file's first line: "YUV4MPEG2 W640 H480 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL".
 * Interlacing, aspect ratio and comments do not affect luma and are skipped. Without C, the older
 * XYSCSS gives the colour space. Pure functions.
 */
#include "media/y4m_header.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/common.h>
#include <libavutil/pixdesc.h>
#include <libavutil/rational.h>

#define MAGIC "YUV4MPEG2 "
#define NUMBER_MAX (UINT64_C(1) << 32)

struct space {
    const char *name;
    const char *deep; /* between the name and a depth above 8 bits; NULL: 8 bits only */
    const char *pixel_format;
};

static const struct space spaces[] = {
    {"mono", "", "gray"},
    {"420", "p", "yuv420p"},
    {"420jpeg", NULL, "yuv420p"},
    {"420mpeg2", NULL, "yuv420p"},
    {"420paldv", NULL, "yuv420p"},
    {"422", "p", "yuv422p"},
    {"444", "p", "yuv444p"},
    {"444alpha", NULL, "yuva444p"},
    {"411", NULL, "yuv411p"},
};

/* Reads the digits at *text and moves it past them. False: no digits. */
static bool take_number(const char **text, uint64_t *number)
{
    uint64_t value = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        value = value < NUMBER_MAX ? value : NUMBER_MAX;
    }
    bool any = at != *text;
    *text = at;
    *number = value;
    return any;
}

static bool is_size(const char *text, uint64_t *size)
{
    return take_number(&text, size) && *text == '\0' && *size > 0;
}

static void read_rate(const char *text, struct gpume_y4m_header *header)
{
    uint64_t num = 0, den = 0;
    bool good = take_number(&text, &num) && *text++ == ':' && take_number(&text, &den);
    if (!good || *text || num == 0 || den == 0 || num > INT32_MAX || den > INT32_MAX) {
        return;
    }
    int reduced_num = 0, reduced_den = 0;
    av_reduce(&reduced_num, &reduced_den, (int64_t)num, (int64_t)den, INT32_MAX);
    header->rate_num = (uint32_t)reduced_num;
    header->rate_den = (uint32_t)reduced_den;
}

/* The depth that the text after a space's name states, or 0. */
static uint32_t depth_after(const char *rest, const char *deep)
{
    static const uint32_t depths[] = {9, 10, 12, 14, 16};
    if (*rest == '\0') {
        return 8;
    }
    uint64_t number = 0;
    if (!deep || strncmp(rest, deep, strlen(deep)) != 0) {
        return 0;
    }
    rest += strlen(deep);
    if (!take_number(&rest, &number) || *rest != '\0') {
        return 0;
    }
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        if (number == depths[i]) {
            return depths[i];
        }
    }
    return 0;
}

static void read_space(struct gpume_y4m_header *header)
{
    char name[sizeof header->space];
    size_t i = 0;
    for (; header->space[i]; i++) {
        name[i] = (char)tolower((unsigned char)header->space[i]); /* XYSCSS=420JPEG */
    }
    name[i] = '\0';
    header->bits = 0;
    header->format = AV_PIX_FMT_NONE;
    for (i = 0; i < sizeof spaces / sizeof spaces[0] && header->bits == 0; i++) {
        const struct space *space = &spaces[i];
        if (strncmp(name, space->name, strlen(space->name)) != 0) {
            continue;
        }
        header->bits = depth_after(name + strlen(space->name), space->deep);
        if (header->bits > 0) {
            char format[16];
            snprintf(format, sizeof format, header->bits > 8 ? "%s%ule" : "%s", space->pixel_format,
                (unsigned)header->bits);
            header->format = av_get_pix_fmt(format);
        }
    }
}

/* What the words read so far have stated. */
struct words {
    bool has_space, has_range;
};

static void keep_space(struct gpume_y4m_header *header, const char *name)
{
    snprintf(header->space, sizeof header->space, "%.*s", (int)sizeof header->space - 1, name);
}

static bool read_word(const char *word, struct gpume_y4m_header *header, struct words *words)
{
    static const char old_space[] = "XYSCSS=", range[] = "XCOLORRANGE=";
    switch (word[0]) {
    case 'W':
        return is_size(word + 1, &header->width);
    case 'H':
        return is_size(word + 1, &header->height);
    case 'F':
        read_rate(word + 1, header);
        return true;
    case 'C':
        keep_space(header, word + 1);
        words->has_space = true;
        return true;
    case 'X':
        if (strncmp(word, range, strlen(range)) == 0) {
            header->full_range = strcmp(word + strlen(range), "FULL") == 0;
            words->has_range = header->full_range || strcmp(word + strlen(range), "LIMITED") == 0;
        } else if (!words->has_space && strncmp(word, old_space, strlen(old_space)) == 0) {
            keep_space(header, word + strlen(old_space));
        }
        return true;
    default:
        return true;
    }
}

bool gpume_y4m_parse(const char *line, struct gpume_y4m_header *header)
{
    struct words words = {0};
    *header = (struct gpume_y4m_header){.rate_num = 25, .rate_den = 1, .space = "420jpeg"};
    if (strncmp(line, MAGIC, strlen(MAGIC)) != 0) {
        return false;
    }
    for (const char *at = line + strlen(MAGIC); *at;) {
        char word[64];
        size_t length = strcspn(at, " ");
        size_t kept = length < sizeof word ? length : sizeof word - 1; /* comments may be long */
        memcpy(word, at, kept);
        word[kept] = '\0';
        if (!read_word(word, header, &words)) {
            return false;
        }
        at += length;
        at += strspn(at, " ");
    }
    read_space(header);
    if (!words.has_range) {
        header->full_range = strncmp(header->space, "mono", 4) == 0; /* as in luma.c */
    }
    return header->width > 0 && header->height > 0;
}

bool gpume_y4m_is_large(const struct gpume_y4m_header *header)
{
    uint64_t stride = 8 * header->width + 1024;
    return stride >= INT_MAX || header->height > INT_MAX ||
           stride * (header->height + 128) >= INT_MAX;
}

static uint64_t sample_bytes(const struct gpume_y4m_header *header)
{
    return header->bits > 8 ? 2 : 1;
}

uint64_t gpume_y4m_luma_bytes(const struct gpume_y4m_header *header)
{
    return header->width * header->height * sample_bytes(header);
}

uint64_t gpume_y4m_frame_bytes(const struct gpume_y4m_header *header)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(header->format);
    const uint64_t luma = gpume_y4m_luma_bytes(header);
    if (!format) {
        return luma;
    }
    const int64_t width = AV_CEIL_RSHIFT((int64_t)header->width, format->log2_chroma_w);
    const int64_t height = AV_CEIL_RSHIFT((int64_t)header->height, format->log2_chroma_h);
    const uint64_t others = (uint64_t)format->nb_components - 1;
    return luma + others * (uint64_t)width * (uint64_t)height * sample_bytes(header);
}
