/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads Y4M files without FFmpeg, by several threads: a header line, then for each frame a FRAME
 * line, luma and chroma, which is skipped unless whole frames are wanted. Only regular files: the
 * header is read before FFmpeg may open the file, and a pipe can be read only once.
 */
#include "media/decode.h"

#include "base/base.h"
#include "base/workers.h"
#include "media/luma.h"
#include "media/packets.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#define MAGIC "YUV4MPEG2 "
#define NUMBER_MAX (UINT64_C(1) << 60) /* so that eight times as many bytes cannot overflow */
#define PIXELS_MAX (UINT64_C(1) << 29) /* limits the memory that a forged header can claim */
#define LINE_BYTES 1024                /* longer lines are not headers */
#define CHUNK_BYTES (128u * 1024)      /* read between two checks of *cancel */
#define PADDING 64                     /* bytes that swscale may read past the end of a plane */

struct y4m {
    const char *label;
    int fd;
    int64_t at; /* where the next FRAME line begins */
    struct gpume_y4m_header header;
    int strides[4];
    size_t planes[4];    /* bytes of each plane */
    uint64_t size, read; /* bytes of a frame, and how many of them are read */
    AVBufferPool *pool;
    struct gpume_bands bands; /* who reads chunks */
    struct gpume_cut cut;
    uint64_t delivered;
    const atomic_bool *cancel;
    struct gpume_log log;
};

/* --- the header line */

/*
 * A Y4M file's first line: "YUV4MPEG2 W640 H480 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL".
 * Comments do not affect luma and are skipped. Without C, the older
 * XYSCSS gives the colour space. Of words of one kind the last counts. Pure functions.
 */

static const struct y4m_space {
    const char *name;
    const char *deep; /* between the name and a depth above 8 bits; NULL: 8 bits only */
    const char *pixel_format;
    enum AVChromaLocation place;
} spaces[] = {
    {"mono", "", "gray", AVCHROMA_LOC_UNSPECIFIED},
    {"420", "p", "yuv420p", AVCHROMA_LOC_UNSPECIFIED},
    {"420jpeg", NULL, "yuv420p", AVCHROMA_LOC_CENTER},
    {"420mpeg2", NULL, "yuv420p", AVCHROMA_LOC_LEFT},
    {"420paldv", NULL, "yuv420p", AVCHROMA_LOC_TOPLEFT},
    {"422", "p", "yuv422p", AVCHROMA_LOC_UNSPECIFIED},
    {"444", "p", "yuv444p", AVCHROMA_LOC_UNSPECIFIED},
    {"444alpha", NULL, "yuva444p", AVCHROMA_LOC_UNSPECIFIED},
    {"411", NULL, "yuv411p", AVCHROMA_LOC_UNSPECIFIED},
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
static enum AVPixelFormat y4m_format_of(const struct y4m_space *space, const char *rest)
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
            header->format = y4m_format_of(&spaces[i], header->space + length);
            header->place = spaces[i].place;
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
    header->top_first = fields[0] == 't';
    header->progressive = fields[0] == 'p';
    (void)find_word(line, "XCOLORRANGE=", range, sizeof range);
    header->limited_range = strcmp(range, "LIMITED") == 0;
    header->full_range =
        strcmp(range, "FULL") == 0 ||
        (!header->limited_range && strncmp(header->space, "mono", 4) == 0); /* as luma.c */
    return read_size(line, "W", &header->width) && read_size(line, "H", &header->height);
}

bool gpume_y4m_is_large(const struct gpume_y4m_header *header)
{
    uint64_t stride = 8 * header->width + 1024;
    return stride >= INT_MAX || header->height > INT_MAX ||
           stride * (header->height + 128) >= INT_MAX;
}

/* --- opening */

/* Returns a descriptor of a regular file, or -1. For standard input, which must be at its
 * beginning, it is a duplicate. */
static int open_regular(const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0) {
        bool fresh = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) &&
                     lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
        return fresh ? dup(STDIN_FILENO) : -1;
    }
    /* stat() first: opening a FIFO would wake its writer. */
    bool regular = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    return regular ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* Reads the header without moving the position, and finds where the frames begin. */
static bool peek_header(int fd, struct gpume_y4m_header *header, int64_t *at)
{
    char line[LINE_BYTES + 1];
    ssize_t bytes = pread(fd, line, LINE_BYTES, 0);
    char *end = bytes > 0 ? memchr(line, '\n', (size_t)bytes) : NULL;
    if (!end) {
        return false;
    }
    *end = '\0';
    *at = end + 1 - line;
    return gpume_y4m_parse(line, header);
}

/* False: it is no regular Y4M file. */
static bool read_header(const char *path, struct gpume_y4m_header *header)
{
    int64_t at = 0;
    const int fd = open_regular(path);
    const bool is_y4m = fd >= 0 && peek_header(fd, header, &at);
    if (fd >= 0) {
        close(fd);
    }
    return is_y4m;
}

bool gpume_decode_y4m_needs(const char *path)
{
    struct gpume_y4m_header header;
    return read_header(path, &header) && gpume_y4m_is_large(&header);
}

bool gpume_decode_y4m_takes(const char *path)
{
    struct gpume_y4m_header header;
    return gpume_input_is_file(path) && read_header(path, &header) && header.bits > 0;
}

static int open_y4m(struct y4m *y4m, const char *path)
{
    y4m->label = gpume_input_label(path);
    y4m->fd = open_regular(path);
    if (y4m->fd < 0) {
        return gpume_log_fail(&y4m->log, GPUME_IO,
            "%s: cannot be opened as a regular file, which pictures this large require; check the "
            "name",
            y4m->label);
    }
    if (!peek_header(y4m->fd, &y4m->header, &y4m->at)) {
        return gpume_log_fail(&y4m->log, GPUME_FORMAT,
            "%s: is not a Y4M video, the only format for pictures this large; convert it",
            y4m->label);
    }
    return GPUME_OK;
}

/* Checks that the format and the options are supported, and the format that of the first input. */
static int check_y4m_header(const struct y4m *y4m, const struct gpume_decode_options *options)
{
    const struct gpume_y4m_header *header = &y4m->header;
    const struct gpume_y4m_header *first = &((const struct y4m *)options->first)->header;
    if (header->height > PIXELS_MAX / header->width) {
        return gpume_log_fail(&y4m->log, GPUME_UNSUPPORTED,
            "%s: its header says %" PRIu64 "x%" PRIu64 " pixels, more than %" PRIu64
            " in all; check the file or give smaller pictures",
            y4m->label, header->width, header->height, PIXELS_MAX);
    }
    if (header->bits == 0) {
        return gpume_log_fail(&y4m->log, GPUME_FORMAT,
            "%s: Y4M colour space C%s is not known; convert the file to C420jpeg or Cmono",
            y4m->label, header->space);
    }
    if (header->width != first->width || header->height != first->height ||
        header->bits != first->bits) {
        return gpume_log_fail(&y4m->log, GPUME_UNSUPPORTED,
            "%s: is %" PRIu64 "x%" PRIu64 " with %u bits, the first is %" PRIu64 "x%" PRIu64
            " with %u, and pictures this large are not scaled; give pictures of one size",
            y4m->label, header->width, header->height, (unsigned)header->bits, first->width,
            first->height, (unsigned)first->bits);
    }
    GPUME_CHECK(gpume_limits_check_size(&options->source->trust, y4m->label, NULL,
        (int)header->width, (int)header->height, &y4m->log));
    if (options->source->filter) {
        return gpume_log_fail(&y4m->log, GPUME_UNSUPPORTED,
            "%s: pictures of %" PRIu64 "x%" PRIu64
            " are too large for FFmpeg's filters, whose limit is 16255x16255; leave --vf out",
            y4m->label, header->width, header->height);
    }
    if (options->source->stream > 0) {
        return gpume_log_fail(&y4m->log, GPUME_INVALID,
            "%s: no video stream %d; it has 1, numbered from 0: choose with --stream", y4m->label,
            options->source->stream);
    }
    return GPUME_OK;
}

static int64_t file_bytes(const struct y4m *y4m)
{
    struct stat st;
    return fstat(y4m->fd, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* Lays out a frame in memory as it is in the file. */
static int plan_y4m_frame(struct y4m *y4m, bool whole)
{
    ptrdiff_t strides[4];
    if (av_image_fill_linesizes(y4m->strides, y4m->header.format, (int)y4m->header.width) < 0) {
        return GPUME_NOMEM;
    }
    for (int i = 0; i < 4; i++) {
        strides[i] = y4m->strides[i];
    }
    if (av_image_fill_plane_sizes(
            y4m->planes, y4m->header.format, (int)y4m->header.height, strides) < 0) {
        return GPUME_NOMEM;
    }
    y4m->size = y4m->planes[0] + y4m->planes[1] + y4m->planes[2] + y4m->planes[3];
    y4m->read = whole ? y4m->size : y4m->planes[0];
    /* Zeroed: swscale computes pixels of the padding, too, and drops them. */
    y4m->pool = av_buffer_pool_init(y4m->read + PADDING, av_buffer_allocz);
    return y4m->pool ? GPUME_OK : GPUME_NOMEM;
}

static void y4m_close(void *state)
{
    struct y4m *y4m = state;
    av_buffer_pool_uninit(&y4m->pool);
    gpume_bands_finish(&y4m->bands);
    if (y4m->fd >= 0) {
        close(y4m->fd);
    }
}

static int y4m_open(
    void *state, const struct gpume_decode_options *options, struct gpume_source_info *info)
{
    struct y4m *y4m = state;
    y4m->cancel = options->cancel;
    y4m->log = options->source->log;
    y4m->bands.threads = options->copy_threads;
    GPUME_CHECK(open_y4m(y4m, options->source->paths[options->input]));
    GPUME_CHECK(check_y4m_header(y4m, options));
    GPUME_CHECK(plan_y4m_frame(y4m, options->whole));
    const struct gpume_y4m_header *header = &y4m->header;
    *info = (struct gpume_source_info){
        .codec = "rawvideo",
        .time_num = header->rate.den,
        .time_den = header->rate.num,
        .rate_num = (uint32_t)header->rate.num,
        .rate_den = (uint32_t)header->rate.den,
        .aspect_num = (uint32_t)header->aspect.num,
        .aspect_den = (uint32_t)header->aspect.den,
        .frames = (uint64_t)(file_bytes(y4m) - y4m->at) / (strlen("FRAME\n") + y4m->size),
        .frame_bytes = y4m->read,
        .progressive = header->progressive,
        .streams = 1,
    };
    return GPUME_OK;
}

/* --- frames */

/* The rest of the file cannot be used. */
static int break_off(struct y4m *y4m, const char *reason)
{
    snprintf(y4m->cut.reason, sizeof y4m->cut.reason, "%s", reason);
    return GPUME_EOF;
}

static int cut_off(struct y4m *y4m, uint64_t there)
{
    y4m->cut.there = there;
    y4m->cut.whole = y4m->size;
    return GPUME_EOF;
}

/* The file may be whole: what was read is not used. */
static int refuse_reading(const struct y4m *y4m, int error)
{
    return gpume_log_fail(&y4m->log, GPUME_IO,
        "%s: frame %" PRIu64 " cannot be read: %s; check the disk or the network", y4m->label,
        y4m->delivered, strerror(error));
}

/* Moves past a FRAME line whose frame is complete. GPUME_EOF: there is none; see y4m->cut. */
static int begin_y4m_frame(struct y4m *y4m)
{
    static const char magic[] = "FRAME";
    const size_t least = strlen(magic);
    char line[LINE_BYTES];
    const ssize_t bytes = pread(y4m->fd, line, sizeof line, (off_t)y4m->at);
    if (bytes < 0) {
        return refuse_reading(y4m, errno);
    }
    if (bytes == 0) {
        return y4m->delivered > 0 ? GPUME_EOF : cut_off(y4m, 0);
    }
    const char *end = memchr(line, '\n', (size_t)bytes);
    const size_t length = end ? (size_t)(end - line) : (size_t)bytes;
    if (memcmp(line, magic, length < least ? length : least) != 0 ||
        (length > least && line[least] != ' ') || (end && length < least) ||
        (!end && length == sizeof line)) {
        return break_off(y4m, "a FRAME line is missing");
    }
    const int64_t at = y4m->at + (int64_t)length + 1, left = file_bytes(y4m) - at;
    if (!end || left < (int64_t)y4m->size) {
        return cut_off(y4m, end && left > 0 ? (uint64_t)left : 0);
    }
    y4m->at = at;
    return GPUME_OK;
}

struct y4m_read {
    const struct y4m *y4m;
    uint8_t *to;
    atomic_int status; /* GPUME_IO: it cannot be read; GPUME_EOF: it has become shorter */
    atomic_int error;  /* of GPUME_IO */
};

static int read_chunk(struct y4m_read *reading, uint64_t begin, uint64_t end)
{
    const struct y4m *y4m = reading->y4m;
    while (begin < end) {
        const ssize_t got = pread(
            y4m->fd, reading->to + begin, (size_t)(end - begin), (off_t)(y4m->at + (int64_t)begin));
        if (got < 0) {
            atomic_store(&reading->error, errno);
        }
        if (got <= 0) {
            return got < 0 ? GPUME_IO : GPUME_EOF;
        }
        begin += (uint64_t)got;
    }
    return GPUME_OK;
}

static void read_chunks(void *opaque, uint32_t begin, uint32_t end)
{
    struct y4m_read *reading = opaque;
    const struct y4m *y4m = reading->y4m;
    int status = GPUME_OK;
    for (uint64_t i = begin; i < end && status == GPUME_OK; i++) {
        const uint64_t at = i * CHUNK_BYTES, rest = y4m->read - at;
        status = atomic_load(y4m->cancel)
                     ? GPUME_CANCELLED
                     : read_chunk(reading, at, at + (rest < CHUNK_BYTES ? rest : CHUNK_BYTES));
    }
    if (status != GPUME_OK) {
        atomic_store(&reading->status, status);
    }
}

static int read_samples(struct y4m *y4m, uint8_t *to)
{
    struct y4m_read reading = {.y4m = y4m, .to = to};
    const uint64_t chunks = (y4m->read + CHUNK_BYTES - 1) / CHUNK_BYTES;
    gpume_bands_run(&y4m->bands, (uint32_t)chunks, CHUNK_BYTES, read_chunks, &reading);
    const int status = atomic_load(&reading.status);
    return status == GPUME_IO    ? refuse_reading(y4m, atomic_load(&reading.error))
           : status == GPUME_EOF ? break_off(y4m, "it has become shorter")
                                 : status;
}

static int y4m_next(void *state, AVFrame *frame)
{
    struct y4m *y4m = state;
    int status = GPUME_OK;
    if (y4m->cut.whole > 0 || y4m->cut.reason[0]) {
        return GPUME_EOF;
    }
    GPUME_TRY(begin_y4m_frame(y4m));
    frame->buf[0] = av_buffer_pool_get(y4m->pool);
    GPUME_TRY(frame->buf[0] ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(read_samples(y4m, frame->buf[0]->data));
    frame->format = y4m->header.format;
    frame->width = (int)y4m->header.width;
    frame->height = (int)y4m->header.height;
    gpume_luma_set_interlaced(frame, y4m->header.interlaced, y4m->header.top_first);
    frame->chroma_location = y4m->header.place;
    frame->color_range = y4m->header.full_range      ? AVCOL_RANGE_JPEG
                         : y4m->header.limited_range ? AVCOL_RANGE_MPEG
                                                     : AVCOL_RANGE_UNSPECIFIED;
    frame->pts = (int64_t)y4m->delivered++;
    size_t offset = 0;
    for (int i = 0; i < 4 && offset < y4m->read; offset += y4m->planes[i++]) {
        frame->data[i] = frame->buf[0]->data + offset;
        frame->linesize[i] = y4m->strides[i];
    }
    y4m->at += (int64_t)y4m->size;
    return GPUME_OK;
fail:
    av_frame_unref(frame);
    return status;
}

/* Frames that are skipped are only looked for. What cannot be read is not logged: the decoder that
 * goes on instead meets it, too, and says so. */
static int y4m_seek(void *state, uint64_t index, int64_t start, AVFrame *frame)
{
    int status = GPUME_OK;
    struct y4m *y4m = state;
    const struct gpume_log log = y4m->log;
    (void)start; /* 0 */
    y4m->log = (struct gpume_log){0};
    for (; status == GPUME_OK && y4m->delivered < index; y4m->delivered += status == GPUME_OK) {
        status = begin_y4m_frame(y4m);
        y4m->at += status == GPUME_OK ? (int64_t)y4m->size : 0;
    }
    status = status == GPUME_OK ? y4m_next(y4m, frame) : status;
    y4m->log = log;
    return status == GPUME_EOF || status == GPUME_IO ? GPUME_UNSUPPORTED : status;
}

static int y4m_describe(const void *state, char *text, size_t bytes)
{
    const struct y4m *y4m = state;
    snprintf(text, bytes, "rawvideo");
    return y4m->bands.threads > 1 ? (int)y4m->bands.threads : 1;
}

static uint64_t y4m_refused(const void *state)
{
    const struct y4m *y4m = state;
    return y4m->cut.whole > 0 || y4m->cut.reason[0];
}

static void y4m_warn(const void *state)
{
    const struct y4m *y4m = state;
    gpume_cut_warn(&y4m->cut, y4m->label, y4m->delivered, y4m->delivered, 0, &y4m->log);
}

static int y4m_no_frame(const void *state)
{
    const struct y4m *y4m = state;
    return gpume_cut_refuse(&y4m->cut, y4m->label, "Y4M", "check the file", &y4m->log);
}

const struct gpume_decoder gpume_decode_y4m = {
    .bytes = sizeof(struct y4m),
    .open = y4m_open,
    .next = y4m_next,
    .seek = y4m_seek,
    .describe = y4m_describe,
    .refused = y4m_refused,
    .warn = y4m_warn,
    .no_frame = y4m_no_frame,
    .close = y4m_close,
};
