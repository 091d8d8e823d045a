/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads Y4M files without FFmpeg, by several threads: a header line, then for each frame a FRAME
 * line, luma and chroma, which is skipped unless whole frames are wanted. Only regular files: the
 * header is read before FFmpeg may open the file, and a pipe can be read only once.
 */
#include "media/decode_y4m.h"
#include "base/bands.h"
#include "base/status.h"
#include "media/cut.h"
#include "media/input.h"
#include "media/luma.h"
#include "media/y4m_header.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>

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
static bool peek(int fd, struct gpume_y4m_header *header, int64_t *at)
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
    const bool is_y4m = fd >= 0 && peek(fd, header, &at);
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

static int open_file(struct y4m *y4m, const char *path)
{
    y4m->label = gpume_input_label(path);
    y4m->fd = open_regular(path);
    if (y4m->fd < 0) {
        return gpume_log_fail(&y4m->log, GPUME_IO,
            "%s: cannot be opened as a regular file, which pictures this large require; check the "
            "name",
            y4m->label);
    }
    if (!peek(y4m->fd, &y4m->header, &y4m->at)) {
        return gpume_log_fail(&y4m->log, GPUME_FORMAT,
            "%s: is not a Y4M video, the only format for pictures this large; convert it",
            y4m->label);
    }
    return GPUME_OK;
}

/* Checks that the format is supported and the same as the first input's. */
static int check_header(const struct y4m *y4m, const struct gpume_decode_options *options)
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
    return gpume_limits_check_size(
        &options->trust, y4m->label, NULL, (int)header->width, (int)header->height, &y4m->log);
}

static int check_options(const struct y4m *y4m, const struct gpume_decode_options *options)
{
    if (options->graph) {
        return gpume_log_fail(&y4m->log, GPUME_UNSUPPORTED,
            "%s: pictures of %" PRIu64 "x%" PRIu64
            " are too large for FFmpeg's filters, whose limit is 16255x16255; leave --vf out",
            y4m->label, y4m->header.width, y4m->header.height);
    }
    if (options->stream > 0) {
        return gpume_log_fail(&y4m->log, GPUME_INVALID,
            "%s: no video stream %d; it has 1, numbered from 0: choose with --stream", y4m->label,
            options->stream);
    }
    return GPUME_OK;
}

static int64_t file_bytes(const struct y4m *y4m)
{
    struct stat st;
    return fstat(y4m->fd, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* Lays out a frame in memory as it is in the file. */
static int plan_frame(struct y4m *y4m, bool whole)
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
    void *state, const struct gpume_decode_options *options, struct gpume_decode_facts *facts)
{
    int status = GPUME_OK;
    struct y4m *y4m = state;
    y4m->cancel = options->cancel;
    y4m->log = options->log;
    y4m->bands.threads = options->copy_threads;
    GPUME_TRY(open_file(y4m, options->path));
    GPUME_TRY(check_header(y4m, options));
    GPUME_TRY(check_options(y4m, options));
    GPUME_TRY(plan_frame(y4m, options->whole));
    *facts = (struct gpume_decode_facts){
        .codec = "rawvideo",
        .time_base = av_inv_q(y4m->header.rate),
        .rate = y4m->header.rate,
        .frames = (uint64_t)(file_bytes(y4m) - y4m->at) / (strlen("FRAME\n") + y4m->size),
        .frame_bytes = y4m->read,
        .progressive = y4m->header.progressive,
        .streams = 1,
        .aspect = y4m->header.aspect,
    };
fail:
    return status;
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
static int complain(const struct y4m *y4m, int error)
{
    return gpume_log_fail(&y4m->log, GPUME_IO,
        "%s: frame %" PRIu64 " cannot be read: %s; check the disk or the network", y4m->label,
        y4m->delivered, strerror(error));
}

/* Moves past a FRAME line whose frame is complete. GPUME_EOF: there is none; see y4m->cut. */
static int begin_frame(struct y4m *y4m)
{
    static const char magic[] = "FRAME";
    const size_t least = strlen(magic);
    char line[LINE_BYTES];
    const ssize_t bytes = pread(y4m->fd, line, sizeof line, (off_t)y4m->at);
    if (bytes < 0) {
        return complain(y4m, errno);
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

struct reading {
    const struct y4m *y4m;
    uint8_t *to;
    atomic_int status; /* GPUME_IO: it cannot be read; GPUME_EOF: it has become shorter */
    atomic_int error;  /* of GPUME_IO */
};

static int read_chunk(struct reading *reading, uint64_t begin, uint64_t end)
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
    struct reading *reading = opaque;
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
    struct reading reading = {.y4m = y4m, .to = to};
    const uint64_t chunks = (y4m->read + CHUNK_BYTES - 1) / CHUNK_BYTES;
    gpume_bands_run(&y4m->bands, (uint32_t)chunks, CHUNK_BYTES, read_chunks, &reading);
    const int status = atomic_load(&reading.status);
    return status == GPUME_IO    ? complain(y4m, atomic_load(&reading.error))
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
    GPUME_TRY(begin_frame(y4m));
    frame->buf[0] = av_buffer_pool_get(y4m->pool);
    GPUME_TRY(frame->buf[0] ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(read_samples(y4m, frame->buf[0]->data));
    frame->format = y4m->header.format;
    frame->width = (int)y4m->header.width;
    frame->height = (int)y4m->header.height;
    gpume_luma_set_interlaced(frame, y4m->header.interlaced);
    frame->color_range = y4m->header.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
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

static int seek_quietly(struct y4m *y4m, uint64_t index, AVFrame *frame)
{
    for (; y4m->delivered < index; y4m->delivered++) {
        GPUME_CHECK(begin_frame(y4m));
        y4m->at += (int64_t)y4m->size;
    }
    return y4m_next(y4m, frame);
}

/* Frames that are skipped are only looked for. What cannot be read is not logged: the decoder that
 * goes on instead meets it, too, and says so. */
static int y4m_seek(void *state, uint64_t index, int64_t start, AVFrame *frame)
{
    struct y4m *y4m = state;
    const struct gpume_log log = y4m->log;
    (void)start; /* 0 */
    y4m->log = (struct gpume_log){0};
    const int status = seek_quietly(y4m, index, frame);
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
