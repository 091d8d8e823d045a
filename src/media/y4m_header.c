/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Y4M file's first line: "YUV4MPEG2 W640 H480 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL".
 * Comments do not affect luma and are skipped. Without C, the older
 * XYSCSS gives the colour space. Of words of one kind the last counts. Pure functions.
 */
#include "media/y4m_header.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <libavutil/pixdesc.h>

#define MAGIC "YUV4MPEG2 "
#define NUMBER_MAX (UINT64_C(1) << 60) /* so that eight times as many bytes cannot overflow */

static const struct space {
    const char *name;
    const char *deep; /* between the name and a depth above 8 bits; NULL: 8 bits only */
    const char *pixel_format;
} spaces[] = {
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

/* Copies what follows the prefix in the last such word. False, and nothing is copied: no such word.
 */
static bool find_word(const char *line, const char *prefix, char *value, size_t bytes)
{
    bool found = false;
    const size_t skipped = strlen(prefix);
    while (*line) {
        const size_t length = strcspn(line, " ");
        if (strncmp(line, prefix, skipped) == 0) {
            snprintf(value, bytes, "%.*s", (int)(length - skipped), line + skipped);
            found = true;
        }
        line += length;
        line += strspn(line, " ");
    }
    return found;
}

/* Reads the digits at *text and moves it past them. False: no digits. */
static bool take_number(const char **text, uint64_t *number)
{
    if (!isdigit((unsigned char)**text)) {
        return false;
    }
    char *end;
    const unsigned long long value = strtoull(*text, &end, 10);
    *number = value < NUMBER_MAX ? value : NUMBER_MAX;
    *text = end;
    return true;
}

static bool read_size(const char *line, const char *prefix, uint64_t *size)
{
    char word[32];
    const char *text = word;
    return find_word(line, prefix, word, sizeof word) && take_number(&text, size) &&
           *text == '\0' && *size > 0;
}

/* Two numbers with a colon between them, reduced; otherwise if there are none, or one is 0. */
static AVRational read_ratio(const char *line, const char *prefix, AVRational otherwise)
{
    AVRational ratio = otherwise;
    uint64_t num = 0, den = 0;
    char word[32];
    const char *text = word;
    if (find_word(line, prefix, word, sizeof word) && take_number(&text, &num) && *text++ == ':' &&
        take_number(&text, &den) && *text == '\0' && num > 0 && den > 0 && num <= INT_MAX &&
        den <= INT_MAX) {
        av_reduce(&ratio.num, &ratio.den, (int64_t)num, (int64_t)den, INT_MAX);
    }
    return ratio;
}

/* The format that has the space's name and, after it, `rest`. */
static enum AVPixelFormat format_of(const struct space *space, const char *rest)
{
    char name[32];
    uint64_t depth = 0;
    if (*rest == '\0') {
        return av_get_pix_fmt(space->pixel_format);
    }
    if (!space->deep || strncasecmp(rest, space->deep, strlen(space->deep)) != 0) {
        return AV_PIX_FMT_NONE;
    }
    rest += strlen(space->deep);
    if (!take_number(&rest, &depth) || *rest != '\0' || depth <= 8 || depth > 16) {
        return AV_PIX_FMT_NONE;
    }
    snprintf(name, sizeof name, "%s%ule", space->pixel_format, (unsigned)depth);
    return av_get_pix_fmt(name);
}

static void read_space(struct gpume_y4m_header *header)
{
    header->format = AV_PIX_FMT_NONE;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        const size_t length = strlen(spaces[i].name);
        if (header->format == AV_PIX_FMT_NONE &&
            strncasecmp(header->space, spaces[i].name, length) == 0) {
            header->format = format_of(&spaces[i], header->space + length);
        }
    }
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(header->format);
    header->bits = format ? (uint32_t)format->comp[0].depth : 0;
}

bool gpume_y4m_parse(const char *line, struct gpume_y4m_header *header)
{
    char range[16] = "", fields[8] = "";
    *header = (struct gpume_y4m_header){.space = "420jpeg"};
    if (strncmp(line, MAGIC, strlen(MAGIC)) != 0) {
        return false;
    }
    line += strlen(MAGIC);
    header->rate = read_ratio(line, "F", (AVRational){25, 1});
    header->aspect = read_ratio(line, "A", (AVRational){0, 1});
    if (!find_word(line, "C", header->space, sizeof header->space)) {
        (void)find_word(line, "XYSCSS=", header->space, sizeof header->space);
    }
    read_space(header);
    (void)find_word(line, "I", fields, sizeof fields);
    header->interlaced = fields[0] != '\0' && strchr("tbm", fields[0]);
    header->progressive = fields[0] == 'p';
    (void)find_word(line, "XCOLORRANGE=", range, sizeof range);
    header->full_range =
        strcmp(range, "FULL") == 0 ||
        (strcmp(range, "LIMITED") != 0 && strncmp(header->space, "mono", 4) == 0); /* as luma.c */
    return read_size(line, "W", &header->width) && read_size(line, "H", &header->height);
}

bool gpume_y4m_is_large(const struct gpume_y4m_header *header)
{
    uint64_t stride = 8 * header->width + 1024;
    return stride >= INT_MAX || header->height > INT_MAX ||
           stride * (header->height + 128) >= INT_MAX;
}
