/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the luma of a Y4M file: gray or 4:2:0, 8 to 16 bits, two bytes per sample above 8. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

struct layout {
    long chroma_bytes; /* per frame */
    int sample_bytes;
};

static void parse_colour(struct clip *clip, const char *name, bool *gray)
{
    *gray = strncmp(name, "mono", 4) == 0;
    if (!*gray && strncmp(name, "420", 3) != 0) {
        fail(EXIT_INPUT, "C%s: neither gray nor 4:2:0", name);
    }
    if (sscanf(name, "mono%d", &clip->bits) != 1 && sscanf(name, "420p%d", &clip->bits) != 1) {
        clip->bits = 8;
    }
    if (clip->bits < 8 || clip->bits > 16) {
        fail(EXIT_INPUT, "C%s: 8 to 16 bits only", name);
    }
}

static struct layout parse_header(struct clip *clip, char *line)
{
    bool gray = false;
    char *rest = NULL;
    clip->bits = 8;
    clip->rate_numerator = 25;
    clip->rate_denominator = 1;
    for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        if (word[0] == 'W') {
            clip->width = atoi(word + 1);
        } else if (word[0] == 'H') {
            clip->height = atoi(word + 1);
        } else if (word[0] == 'F') {
            clip->rate_numerator = strtol(word + 1, &word, 10);
            clip->rate_denominator = strtol(word + 1, NULL, 10);
        } else if (word[0] == 'C') {
            parse_colour(clip, word + 1, &gray);
        }
    }
    if (clip->width < 1 || clip->height < 1) {
        fail(EXIT_INPUT, "the header names no size");
    }
    const int bytes = clip->bits > 8 ? 2 : 1;
    const long chroma = 2l * ((clip->width + 1) / 2) * ((clip->height + 1) / 2) * bytes;
    return (struct layout){gray ? 0 : chroma, bytes};
}

static bool read_picture(struct picture *picture, FILE *file, const struct layout *layout)
{
    const int count = picture->width * picture->height;
    picture->samples = allocate((size_t)count, sizeof(*picture->samples));
    for (int i = 0; i < count; i++) {
        int value = getc(file);
        if (layout->sample_bytes == 2) {
            value |= getc(file) << 8;
        }
        if (value < 0) {
            return false;
        }
        picture->samples[i] = (uint16_t)value;
    }
    return fseek(file, layout->chroma_bytes, SEEK_CUR) == 0;
}

void read_clip(struct clip *clip, const char *path)
{
    char line[1024];
    FILE *file = fopen(path, "rb");
    if (!file || !fgets(line, sizeof(line), file) || strncmp(line, "YUV4MPEG2 ", 10) != 0) {
        fail(EXIT_INPUT, "%s: no Y4M file", path);
    }
    *clip = (struct clip){0};
    const struct layout layout = parse_header(clip, line + 10);
    while (fgets(line, sizeof(line), file)) {
        struct picture *more =
            realloc(clip->pictures, ((size_t)clip->count + 1) * sizeof(*clip->pictures));
        if (!more) {
            fail(EXIT_FAILED, "out of memory");
        }
        clip->pictures = more;
        more[clip->count] =
            (struct picture){.width = clip->width, .height = clip->height, .bits = clip->bits};
        if (strncmp(line, "FRAME", 5) != 0 || !read_picture(&more[clip->count], file, &layout)) {
            fail(EXIT_INPUT, "%s: damaged at frame %d", path, clip->count);
        }
        clip->count++;
    }
    fclose(file);
}
