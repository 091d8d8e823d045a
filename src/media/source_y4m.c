/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads large Y4M files without FFmpeg: a header line, then for each frame a FRAME line, luma and
 * chroma. Luma is read straight into the caller's plane; chroma is skipped. Only regular files: the
 * header is read before FFmpeg may open the file, and a pipe can be read only once.
 */
#include "media/source_y4m.h"
#include "base/status.h"
#include "media/cut.h"
#include "media/input.h"
#include "media/y4m_header.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/intreadwrite.h>
#include <libavutil/mathematics.h>
#include <libavutil/pixdesc.h>

#define PIXELS_MAX (UINT64_C(1) << 29) /* limits the memory that a forged header can claim */
#define LINE_BYTES 1024                /* longer lines are not headers */
#define CHUNK_BYTES (1024 * 1024)      /* bytes read between two checks of *cancel */

struct file {
    const char *label;
    FILE *stream;
    int64_t data; /* where the first FRAME line begins */
    struct gpume_y4m_header header;
    uint64_t luma_bytes, frame_bytes;
};

struct gpume_source_y4m {
    struct file files[2];
    uint32_t file_count;
    const char *fault; /* why a frame cannot be read, unless it is incomplete */
    struct gpume_cut cut;
    int64_t place; /* position of the frame that was read last */
    struct gpume_source_counts counts;
    bool ended;
    uint64_t max_pixels; /* as requested, or PIXELS_MAX */
    const atomic_bool *cancel;
    struct gpume_log log;
};

/* --- opening */

/* Returns a descriptor of a regular file at its beginning, or -1. For standard input it is a
 * duplicate, which shares the position; close() it too. */
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
static bool peek(int fd, struct gpume_y4m_header *header, int64_t *data)
{
    char line[LINE_BYTES + 1];
    ssize_t bytes = pread(fd, line, LINE_BYTES, 0);
    char *end = bytes > 0 ? memchr(line, '\n', (size_t)bytes) : NULL;
    if (!end) {
        return false;
    }
    *end = '\0';
    *data = end + 1 - line;
    return gpume_y4m_parse(line, header);
}

bool gpume_source_y4m_wants(const struct gpume_source_options *options)
{
    bool wanted = false;
    for (uint32_t i = 0; i < options->path_count && !wanted; i++) {
        struct gpume_y4m_header header;
        int64_t data = 0;
        int fd = open_regular(options->paths[i]);
        if (fd >= 0) {
            wanted = peek(fd, &header, &data) && gpume_y4m_is_large(&header);
            close(fd);
        }
    }
    return wanted;
}

static int open_file(struct file *file, const char *path, const struct gpume_log *log)
{
    file->label = gpume_input_label(path);
    int fd = open_regular(path);
    if (fd < 0) {
        return gpume_log_fail(log, GPUME_IO,
            "%s: cannot be opened as a regular file, which pictures this large require; check the "
            "name",
            file->label);
    }
    bool good = peek(fd, &file->header, &file->data);
    file->stream = fdopen(fd, "rb");
    if (!file->stream) {
        close(fd);
        return GPUME_NOMEM; /* logged by the caller */
    }
    if (!good) {
        return gpume_log_fail(log, GPUME_FORMAT,
            "%s: is not a Y4M video, the only format for pictures this large; convert it",
            file->label);
    }
    return GPUME_OK;
}

/* Checks that the format is supported and the same as the first file's. */
static int check_header(const struct gpume_source_y4m *source, const struct file *file)
{
    const struct gpume_y4m_header *header = &file->header, *first = &source->files[0].header;
    if (header->height > source->max_pixels / header->width) {
        return gpume_log_fail(&source->log, GPUME_UNSUPPORTED,
            "%s: its header says %" PRIu64 "x%" PRIu64 " pixels, more than %s%" PRIu64
            "%s; check the file or give smaller pictures",
            file->label, header->width, header->height,
            source->max_pixels < PIXELS_MAX ? "--max-pixels " : "", source->max_pixels,
            source->max_pixels < PIXELS_MAX ? " allows" : " in all");
    }
    if (header->bits == 0) {
        return gpume_log_fail(&source->log, GPUME_FORMAT,
            "%s: Y4M colour space C%s is not known; convert the file to C420jpeg or Cmono",
            file->label, header->space);
    }
    if (header->width != first->width || header->height != first->height ||
        header->bits != first->bits) {
        return gpume_log_fail(&source->log, GPUME_UNSUPPORTED,
            "%s: is %" PRIu64 "x%" PRIu64 " with %u bits, the first is %" PRIu64 "x%" PRIu64
            " with %u, and pictures this large are not scaled; give pictures of one size",
            file->label, header->width, header->height, (unsigned)header->bits, first->width,
            first->height, (unsigned)first->bits);
    }
    return GPUME_OK;
}

static int check_options(
    const struct gpume_source_y4m *source, const struct gpume_source_options *options)
{
    const struct file *file = &source->files[0];
    if (options->filter) {
        return gpume_log_fail(&source->log, GPUME_UNSUPPORTED,
            "%s: pictures of %" PRIu64 "x%" PRIu64
            " are too large for FFmpeg's filters, whose limit is 16255x16255; leave --vf out",
            file->label, file->header.width, file->header.height);
    }
    if (options->stream > 0) {
        return gpume_log_fail(&source->log, GPUME_INVALID,
            "%s: no video stream %d; it has 1, numbered from 0: choose with --stream", file->label,
            options->stream);
    }
    return GPUME_OK;
}

/* --- frames */

static int64_t file_bytes(const struct file *file)
{
    struct stat st;
    return fstat(fileno(file->stream), &st) == 0 ? (int64_t)st.st_size : 0;
}

static int faulty(struct gpume_source_y4m *source, const char *fault)
{
    source->fault = fault;
    return GPUME_FORMAT;
}

static int cut_off(struct gpume_source_y4m *source, uint64_t there, uint64_t whole)
{
    source->cut = (struct gpume_cut){there, whole};
    return GPUME_FORMAT;
}

/* Moves past a FRAME line whose frame is complete. GPUME_FORMAT: see source->cut or fault. */
static int begin_frame(struct gpume_source_y4m *source, struct file *file)
{
    static const char magic[] = "FRAME";
    size_t length = 0;
    int c = getc(file->stream);
    if (c == EOF) {
        return ferror(file->stream) ? faulty(source, "it cannot be read") : GPUME_EOF;
    }
    for (; c != EOF && c != '\n' && length < LINE_BYTES; length++) {
        bool fits =
            length < strlen(magic) ? c == magic[length] : length > strlen(magic) || c == ' ';
        if (!fits) {
            return faulty(source, "a FRAME line is missing");
        }
        c = getc(file->stream);
    }
    if (c == EOF) {
        return cut_off(source, 0, file->frame_bytes);
    }
    if (c != '\n' || length < strlen(magic)) {
        return faulty(source, "a FRAME line is missing");
    }
    int64_t at = (int64_t)ftello(file->stream), end = file_bytes(file);
    const uint64_t there = at >= 0 && end > at ? (uint64_t)(end - at) : 0;
    if (there < file->frame_bytes) {
        return cut_off(source, there, file->frame_bytes);
    }
    return GPUME_OK;
}

/* Converts little-endian samples to the machine's byte order and clamps them to the depth's peak.
 */
static void clamp_samples(void *data, size_t count, uint32_t bits)
{
    uint16_t *samples = data;
    const uint16_t peak = (uint16_t)((1u << bits) - 1);
    for (size_t i = 0; i < count; i++) {
        const uint16_t value = AV_RL16(&samples[i]);
        samples[i] = value < peak ? value : peak;
    }
}

static int read_luma(
    struct gpume_source_y4m *source, struct file *file, const struct gpume_plane *plane)
{
    size_t row_bytes = (size_t)plane->width * (plane->bits > 8 ? 2 : 1);
    bool dense = plane->stride == (ptrdiff_t)row_bytes;
    uint32_t batch = dense && row_bytes < CHUNK_BYTES ? (uint32_t)(CHUNK_BYTES / row_bytes) : 1;
    for (uint32_t y = 0; y < plane->height; y += batch) {
        uint8_t *to = (uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        size_t rows = plane->height - y < batch ? plane->height - y : batch;
        if (atomic_load(source->cancel)) {
            return GPUME_CANCELLED;
        }
        if (fread(to, row_bytes, rows, file->stream) != rows) {
            return faulty(source, "it cannot be read");
        }
        if (plane->bits > 8) {
            clamp_samples(to, rows * plane->width, plane->bits);
        }
    }
    return GPUME_OK;
}

static int read_frame(
    struct gpume_source_y4m *source, struct file *file, const struct gpume_plane *plane)
{
    int status = GPUME_OK;
    GPUME_TRY(begin_frame(source, file));
    uint64_t rest = file->frame_bytes;
    source->place = (int64_t)ftello(file->stream);
    if (plane) {
        GPUME_TRY(read_luma(source, file, plane));
        rest -= file->luma_bytes;
    }
    if (rest > 0 && fseeko(file->stream, (off_t)rest, SEEK_CUR) != 0) {
        status = faulty(source, "it cannot be read");
    }
fail:
    return status;
}

/* Warns that the rest of the file cannot be used. */
static int break_off(struct gpume_source_y4m *source, const struct file *file)
{
    const uint64_t frames = source->counts.delivered;
    source->counts.refused++;
    if (source->cut.whole > 0) {
        gpume_cut_warn(&source->cut, file->label, frames, &source->log);
    } else {
        gpume_log_write(&source->log, GPUME_LOG_WARNING,
            "%s: reading breaks off after %" PRIu64 " frame%s: %s; only that part is used",
            file->label, frames, frames == 1 ? "" : "s", source->fault);
    }
    return GPUME_EOF;
}

/* The time of a frame at a constant rate, to the nearest microsecond. */
static int64_t time_of(const struct gpume_y4m_header *header, uint64_t index)
{
    const int64_t us =
        av_rescale((int64_t)index, (int64_t)header->rate_den * 1000000, header->rate_num);
    return us == INT64_MIN ? INT64_MAX : us; /* INT64_MIN: overflow */
}

/* Index of the file that holds a frame. */
static size_t file_of(const struct gpume_source_y4m *source, uint64_t index)
{
    return source->file_count > 1 && index > 0 ? 1 : 0;
}

int gpume_source_y4m_read(
    struct gpume_source_y4m *source, const struct gpume_plane *plane, int64_t *time_us)
{
    const struct gpume_y4m_header *header = &source->files[0].header;
    uint64_t index = source->counts.delivered;
    bool stills = source->file_count > 1;
    struct file *file = &source->files[file_of(source, index)];
    assert(!plane || (plane->width == header->width && plane->height == header->height &&
                         plane->bits == header->bits));
    if (atomic_load(source->cancel)) {
        return GPUME_CANCELLED;
    }
    int status = GPUME_EOF;
    if (!source->ended && !(stills && index == source->file_count)) {
        status = read_frame(source, file, plane);
    }
    if (status == GPUME_FORMAT) {
        status = break_off(source, file);
    }
    source->ended = source->ended || status == GPUME_EOF;
    if (status == GPUME_OK) {
        source->counts.delivered++;
        *time_us = time_of(header, index);
    }
    return status;
}

/* --- the source */

/* Checks that the first frame is complete, and returns to its beginning. */
static int check_frame(struct gpume_source_y4m *source, struct file *file)
{
    source->fault = "it cannot be read";
    if (fseeko(file->stream, (off_t)file->data, SEEK_SET) == 0) {
        const int status = begin_frame(source, file);
        if (status == GPUME_OK && fseeko(file->stream, (off_t)file->data, SEEK_SET) == 0) {
            return GPUME_OK;
        }
        if (status == GPUME_EOF) { /* nothing follows the header */
            (void)cut_off(source, 0, file->frame_bytes);
        }
    }
    if (source->cut.whole > 0) {
        return gpume_cut_refuse(&source->cut, file->label, &source->log);
    }
    return gpume_log_fail(&source->log, GPUME_FORMAT,
        "%s: no frame of its Y4M video could be read: %s; check the file", file->label,
        source->fault);
}

static void describe(struct gpume_source_y4m *source, struct gpume_source_info *info)
{
    struct file *file = &source->files[0];
    struct gpume_y4m_header *header = &file->header;
    uint64_t frames = source->file_count;
    if (source->file_count > 1) {
        header->rate_num = 25; /* the rate that FFmpeg gives numbered pictures */
        header->rate_den = 1;
    } else {
        frames =
            (uint64_t)(file_bytes(file) - file->data) / (strlen("FRAME\n") + file->frame_bytes);
    }
    *info = (struct gpume_source_info){
        .codec = "rawvideo",
        .decoder = "y4m",
        .width = (uint32_t)header->width,
        .height = (uint32_t)header->height,
        .bits = header->bits,
        .rate_num = header->rate_num,
        .rate_den = header->rate_den,
        .frames = frames,
        .full_range = header->full_range,
    };
    snprintf(
        info->pixel_format, sizeof info->pixel_format, "%s", av_get_pix_fmt_name(header->format));
}

int gpume_source_y4m_open(struct gpume_source_y4m **result,
    const struct gpume_source_options *options, const atomic_bool *cancel,
    struct gpume_source_info *info)
{
    int status = GPUME_OK;
    struct gpume_source_y4m *source = calloc(1, sizeof *source);
    if (!source) {
        return GPUME_NOMEM;
    }
    source->max_pixels = options->trust.max_pixels > 0 && options->trust.max_pixels < PIXELS_MAX
                             ? options->trust.max_pixels
                             : PIXELS_MAX;
    source->cancel = cancel;
    source->log = options->log;
    for (uint32_t i = 0; i < options->path_count && i < 2; i++) {
        struct file *file = &source->files[i];
        GPUME_TRY(open_file(file, options->paths[i], &source->log));
        GPUME_TRY(check_header(source, file));
        source->file_count++;
    }
    GPUME_TRY(check_options(source, options));
    for (uint32_t i = 0; i < source->file_count; i++) {
        struct file *file = &source->files[i];
        file->luma_bytes = gpume_y4m_luma_bytes(&file->header);
        file->frame_bytes = gpume_y4m_frame_bytes(&file->header);
        GPUME_TRY(check_frame(source, file));
    }
    describe(source, info);
    *result = source;
    return GPUME_OK;
fail:
    gpume_source_y4m_close(&source);
    return status;
}

int64_t gpume_source_y4m_place(const struct gpume_source_y4m *source)
{
    return source->place;
}

const struct gpume_y4m_header *gpume_source_y4m_header(
    const struct gpume_source_y4m *source, uint64_t index)
{
    return &source->files[file_of(source, index)].header;
}

int gpume_source_y4m_load(
    struct gpume_source_y4m *source, uint64_t index, int64_t place, void *bytes)
{
    const struct file *file = &source->files[file_of(source, index)];
    char *to = bytes;
    for (uint64_t done = 0; done < file->frame_bytes;) {
        uint64_t rest = file->frame_bytes - done;
        if (atomic_load(source->cancel)) {
            return GPUME_CANCELLED;
        }
        ssize_t got = pread(fileno(file->stream), to + done,
            rest < CHUNK_BYTES ? (size_t)rest : CHUNK_BYTES, (off_t)(place + (int64_t)done));
        if (got <= 0) {
            return gpume_log_fail(&source->log, GPUME_IO,
                "%s: frame %" PRIu64 " cannot be read a second time, for its colours", file->label,
                index);
        }
        done += (uint64_t)got;
    }
    return GPUME_OK;
}

void gpume_source_y4m_get_counts(
    const struct gpume_source_y4m *source, struct gpume_source_counts *counts)
{
    *counts = source->counts;
}

void gpume_source_y4m_close(struct gpume_source_y4m **pointer)
{
    struct gpume_source_y4m *source = *pointer;
    if (!source) {
        return;
    }
    *pointer = NULL;
    for (size_t i = 0; i < 2; i++) {
        if (source->files[i].stream) {
            fclose(source->files[i].stream);
        }
    }
    free(source);
}
