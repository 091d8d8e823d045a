/* SPDX-License-Identifier: BSD-2-Clause */
#include "y4m.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 512
#define SIDE_MAX 65535u /* pixels: so that sizes in bytes cannot overflow */

static int fail(const struct y4m *y4m, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", y4m->program, what, why);
    return -1;
}

static bool is_standard(const char *name)
{
    return !name || strcmp(name, "-") == 0;
}

/* Samples of all chroma planes, by the words of the head; SIZE_MAX: unknown. */
static size_t chroma_samples(const char *space, size_t width, size_t height)
{
    static const struct {
        const char *prefix;
        size_t across, down, planes;
    } spaces[] = {{"mono", 1, 1, 0}, {"420", 2, 2, 2}, {"422", 2, 1, 2}, {"444alpha", 1, 1, 3},
        {"444", 1, 1, 2}, {"440", 1, 2, 2}, {"411", 4, 1, 2}};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (strncmp(space, spaces[i].prefix, strlen(spaces[i].prefix)) == 0) {
            return spaces[i].planes * ((width + spaces[i].across - 1) / spaces[i].across) *
                   ((height + spaces[i].down - 1) / spaces[i].down);
        }
    }
    return SIZE_MAX;
}

/* From "mono10", "420p10" and the like; 8 where the words name none: "420jpeg", "420mpeg2". */
static uint32_t depth_of(const char *space)
{
    const bool mono = strncmp(space, "mono", 4) == 0;
    const bool named = mono || (strlen(space) > 3 && space[3] == 'p');
    const unsigned long bits = named ? strtoul(space + 4, NULL, 10) : 0;
    return bits == 0 ? 8 : (uint32_t)bits;
}

/* 0: larger than any side. */
static uint32_t side_of(const char *text)
{
    const unsigned long side = strtoul(text, NULL, 10);
    return side <= SIDE_MAX ? (uint32_t)side : 0;
}

static int read_words(struct y4m *y4m, const char *head)
{
    char space[32] = "420";
    for (const char *word = strchr(head, ' '); word; word = strchr(word + 1, ' ')) {
        if (word[1] == 'W') {
            y4m->width = side_of(word + 2);
        } else if (word[1] == 'H') {
            y4m->height = side_of(word + 2);
        } else if (word[1] == 'C') {
            sscanf(word + 2, "%31[^ \n]", space);
        }
    }
    if (y4m->width - 1 >= SIDE_MAX || y4m->height - 1 >= SIDE_MAX) {
        return fail(y4m, "input", "has no size, or one above 65535 pixels");
    }
    const size_t chroma = chroma_samples(space, y4m->width, y4m->height);
    y4m->bits = depth_of(space);
    y4m->luma = (size_t)y4m->width * y4m->height;
    y4m->frame_bytes = (y4m->luma + chroma) * (y4m->bits > 8 ? 2 : 1);
    return chroma == SIZE_MAX || y4m->bits < 8 || y4m->bits > 16
               ? fail(y4m, space, "is no pixel format of 8 to 16 bits that this program knows")
               : 0;
}

int y4m_open_output(struct y4m *y4m, const char *input, const char *output)
{
    if (is_standard(output)) {
        y4m->out = stdout;
        return 0;
    }
    y4m->file = (struct output){.program = y4m->program, .overwrite = y4m->overwrite};
    if (output_choose(&y4m->file, input, output) < 0) {
        return -1;
    }
    y4m->out = fopen(y4m->file.name, "wb");
    return y4m->out ? 0 : fail(y4m, output, "cannot be opened");
}

int y4m_open(struct y4m *y4m, const char *input, const char *output)
{
    char head[LINE_MAX_BYTES];
    y4m->in = is_standard(input) ? stdin : fopen(input, "rb");
    if (!y4m->in) {
        return fail(y4m, input, "cannot be opened");
    }
    if (!fgets(head, LINE_MAX_BYTES, y4m->in) || strncmp(head, "YUV4MPEG2 ", 10) != 0 ||
        !strchr(head, '\n')) {
        return fail(y4m, is_standard(input) ? "standard input" : input,
            "is not Y4M; ffmpeg -i INPUT -strict -1 -f yuv4mpegpipe - makes it so");
    }
    if (read_words(y4m, head) < 0) {
        return -1;
    }
    if (y4m_open_output(y4m, input, output) < 0) {
        return -1;
    }
    return fputs(head, y4m->out) < 0 ? fail(y4m, "output", "cannot be written") : 0;
}

int y4m_read(struct y4m *y4m, uint8_t *bytes)
{
    char line[LINE_MAX_BYTES];
    if (!fgets(line, LINE_MAX_BYTES, y4m->in)) {
        return ferror(y4m->in) ? fail(y4m, "input", "cannot be read") : 0;
    }
    if (strncmp(line, "FRAME", 5) != 0 || !strchr(line, '\n') ||
        fread(bytes, 1, y4m->frame_bytes, y4m->in) != y4m->frame_bytes) {
        return fail(y4m, "input", "ends within a frame, or is damaged");
    }
    return 1;
}

int y4m_write(struct y4m *y4m, const uint8_t *bytes)
{
    return fputs("FRAME\n", y4m->out) >= 0 && fwrite(bytes, y4m->frame_bytes, 1, y4m->out) == 1
               ? 0
               : fail(y4m, "output", "cannot be written");
}

int y4m_close(struct y4m *y4m, bool complete)
{
    int result = 0;
    if (y4m->out && fclose(y4m->out) != 0 && complete) {
        result = fail(y4m, "output", "cannot be written");
    }
    if (y4m->in) {
        fclose(y4m->in);
    }
    const int named = output_finish(&y4m->file, complete ? result : -1);
    return complete ? named : result;
}
