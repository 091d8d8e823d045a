/* SPDX-License-Identifier: BSD-2-Clause */
#include "merge/join.h"

#include "base/status.h"
#include "files/little_endian.h"
#include "files/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)1024 * 1024)
#define NPY_SHAPE "'shape': ("
#define FRAME_LINE "FRAME\n"
#define FRAME_BYTES (sizeof(FRAME_LINE) - 1)
#define MVF_FIELD_BYTES 16u /* magic, length of the header and of the data */

/* A file being read. */
struct reading {
    struct gpume_join_file *file;
    int fd;
    uint64_t fields;
    const struct gpume_log *log;
};

static int refuse(const char *path, const char *why, const struct gpume_log *log)
{
    return gpume_log_fail(log, GPUME_INVALID, "%s: %s; run that part again", path, why);
}

static int complain(const char *path, int error, const struct gpume_log *log)
{
    if (error == ENOENT || error == ENOTDIR) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is missing: the part is incomplete, or was run without this output", path);
    }
    return gpume_log_fail(
        log, GPUME_IO, "%s: cannot be read: %s; check its permissions", path, strerror(error));
}

/* Reads up to so many bytes; -1: errno. */
static ssize_t read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    ssize_t got;
    do {
        got = pread(fd, to, bytes, (off_t)at);
    } while (got < 0 && errno == EINTR);
    return got;
}

static bool begins(const struct gpume_join_file *file, size_t got, const char *text, size_t bytes)
{
    return got >= bytes && memcmp(file->head, text, bytes) == 0;
}

/* The length of the first line with its end; 0: it has none. */
static size_t first_line(const unsigned char *at, size_t bytes)
{
    const unsigned char *end = memchr(at, '\n', bytes);
    return end ? (size_t)(end - at) + 1 : 0;
}

static size_t comment_lines(const unsigned char *at, size_t bytes)
{
    size_t used = 0;
    while (used < bytes && at[used] == '#') {
        const size_t line = first_line(at + used, bytes - used);
        if (line == 0) {
            return 0;
        }
        used += line;
    }
    return used;
}

static bool is_table_of_blocks(const unsigned char *head, size_t bytes)
{
    static const char blocks[] = "frame,ref,x,y,";
    return bytes >= sizeof(blocks) - 1 && memcmp(head, blocks, sizeof(blocks) - 1) == 0;
}

/* Decompresses the first member to file->text; its length is that of the head. */
static int unpack_head(struct gpume_join_file *file, size_t got, struct gpume_unpacker *unpacker)
{
    int status = GPUME_OK;
    const unsigned char *at = file->head, *const end = at + got;
    size_t made = 1;
    while ((at < end || made > 0) && file->text_bytes < GPUME_JOIN_HEAD_MAX &&
           !(at > file->head && gpume_unpacker_is_between(unpacker))) {
        GPUME_TRY(gpume_unpack(unpacker, &at, end, file->text + file->text_bytes,
            GPUME_JOIN_HEAD_MAX - file->text_bytes, &made));
        file->text_bytes += made;
    }
    file->head_bytes = (size_t)(at - file->head);
    status = gpume_unpacker_is_between(unpacker) ? GPUME_OK : GPUME_INVALID;
fail:
    return status;
}

/* Of a compressed file: its first member is a line, or empty if such files have no head. */
static int recognize_packed(struct gpume_join_file *file, size_t got, const struct gpume_log *log)
{
    struct gpume_unpacker *unpacker = NULL;
    file->text = malloc(GPUME_JOIN_HEAD_MAX);
    if (!file->text || gpume_unpacker_create(&unpacker, file->packing) != GPUME_OK) {
        return gpume_log_nomem(log, file->path);
    }
    const int status = unpack_head(file, got, unpacker);
    gpume_unpacker_destroy(&unpacker);
    if (status != GPUME_OK || first_line(file->text, file->text_bytes) != file->text_bytes) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is damaged, or was compressed by another program, so that it cannot be joined; "
            "decompress it in all parts, or run them again",
            file->path);
    }
    file->kind = GPUME_JOIN_LINES;
    file->is_blocks = is_table_of_blocks(file->text, file->text_bytes);
    return GPUME_OK;
}

/* Sets kind and length of the head from its first bytes. */
static int recognize(struct gpume_join_file *file, size_t got, const struct gpume_log *log)
{
    const unsigned char *head = file->head;
    file->packing = gpume_packing_of(head, got);
    if (file->packing != GPUME_PACKING_NONE) {
        return recognize_packed(file, got, log);
    }
    if (begins(file, got, "\x93NUMPY\x01\x00", 8) && got >= 10) {
        file->kind = GPUME_JOIN_NPY;
        file->head_bytes = 10u + gpume_le_get16(head + 8);
    } else if (begins(file, got, "GPUMEMVF", 8) && got >= 16) {
        file->kind = GPUME_JOIN_MVF;
        file->head_bytes = gpume_le_get32(head + 12);
    } else if (begins(file, got, "YUV4MPEG2 ", 10)) {
        file->kind = GPUME_JOIN_Y4M;
        file->head_bytes = first_line(head, got);
    } else if (!memchr(head, '\0', got)) {
        file->kind = GPUME_JOIN_LINES;
        file->head_bytes = head[0] == '#'   ? comment_lines(head, got)
                           : head[0] == '{' ? 0
                                            : first_line(head, got);
        file->is_blocks = is_table_of_blocks(head, got);
        return head[0] == '{' || file->head_bytes > 0 ? GPUME_OK
                                                      : refuse(file->path, "has no head", log);
    } else {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is of a format whose files cannot be joined; write .y4m, or a format of vectors, "
            "in the parts, and convert the joined file",
            file->path);
    }
    return file->head_bytes > 0 && file->head_bytes <= got ? GPUME_OK
                                                           : refuse(file->path, "has no head", log);
}

static int check_end(const struct reading *reading)
{
    const struct gpume_join_file *file = reading->file;
    char last = '\0';
    if (file->packing != GPUME_PACKING_NONE) {
        return GPUME_OK; /* seen when the body is counted */
    }
    if (file->bytes == file->head_bytes || read_at(reading->fd, &last, 1, file->bytes - 1) != 1 ||
        last != '\n') {
        return refuse(file->path, "ends within a line", reading->log);
    }
    return GPUME_OK;
}

/* Every frame has its line at a multiple of equal lengths. */
static int check_y4m(const struct reading *reading)
{
    const struct gpume_join_file *file = reading->file;
    const uint64_t body = file->bytes - file->head_bytes, step = body / reading->fields;
    bool fits = step > FRAME_BYTES && body % reading->fields == 0;
    for (uint64_t i = 0; i < reading->fields && fits; i++) {
        char line[FRAME_BYTES];
        fits = read_at(reading->fd, line, sizeof(line), file->head_bytes + i * step) ==
                   (ssize_t)sizeof(line) &&
               memcmp(line, FRAME_LINE, sizeof(line)) == 0;
    }
    return fits
               ? GPUME_OK
               : refuse(file->path, "has not one picture per frame pair of its part", reading->log);
}

/* The headers of its fields say how long each is. */
static int check_mvf(const struct reading *reading)
{
    const struct gpume_join_file *file = reading->file;
    uint64_t at = file->head_bytes, fields = 0;
    bool fits = true;
    for (; at < file->bytes && fits; fields++) {
        unsigned char head[MVF_FIELD_BYTES];
        fits = read_at(reading->fd, head, sizeof(head), at) == (ssize_t)sizeof(head) &&
               memcmp(head, "FIEL", 4) == 0;
        const uint64_t bytes = fits ? gpume_le_get64(head + 8) : 0;
        fits = fits && bytes < file->bytes;
        at += fits ? gpume_le_get32(head + 4) + bytes : 0;
        fits = fits && gpume_le_get32(head + 4) >= sizeof(head);
    }
    return fits && at == file->bytes && fields == reading->fields
               ? GPUME_OK
               : refuse(file->path, "does not hold the motion fields of its part", reading->log);
}

/* The place of the number of rows in the head, or 0. */
static size_t npy_rows_at(const struct gpume_join_file *file)
{
    const size_t length = sizeof(NPY_SHAPE) - 1;
    for (size_t i = 10; i + length < file->head_bytes; i++) {
        if (memcmp(file->head + i, NPY_SHAPE, length) == 0) {
            return i + length;
        }
    }
    return 0;
}

static int check_npy(const struct reading *reading)
{
    struct gpume_join_file *file = reading->file;
    const size_t at = npy_rows_at(file);
    const uint64_t body = file->bytes - file->head_bytes;
    for (size_t i = at; at > 0 && i < file->head_bytes && file->head[i] >= '0' &&
                        file->head[i] <= '9' && file->rows < UINT64_MAX / 16;
         i++) {
        file->rows = 10 * file->rows + (uint64_t)(file->head[i] - '0');
    }
    return file->rows > 0 && body % file->rows == 0
               ? GPUME_OK
               : refuse(file->path, "has another number of rows than its head says", reading->log);
}

static int look(const struct reading *reading)
{
    static int (*const checks[])(const struct reading *) = {
        [GPUME_JOIN_LINES] = check_end,
        [GPUME_JOIN_MVF] = check_mvf,
        [GPUME_JOIN_NPY] = check_npy,
        [GPUME_JOIN_Y4M] = check_y4m,
    };
    struct gpume_join_file *file = reading->file;
    struct stat info;
    int status;
    if (fstat(reading->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return refuse(file->path, "is no file", reading->log);
    }
    file->bytes = (uint64_t)info.st_size;
    file->head = malloc(GPUME_JOIN_HEAD_MAX);
    if (!file->head) {
        return gpume_log_nomem(reading->log, file->path);
    }
    const ssize_t got = read_at(reading->fd, file->head, GPUME_JOIN_HEAD_MAX, 0);
    if (got < 0) {
        return complain(file->path, errno, reading->log);
    }
    GPUME_TRY(got > 0 ? recognize(file, (size_t)got, reading->log)
                      : refuse(file->path, "is empty", reading->log));
    status = checks[file->kind](reading);
fail:
    return status;
}

int gpume_join_look(
    struct gpume_join_file *file, char *path, uint64_t fields, const struct gpume_log *log)
{
    file->path = path;
    const struct reading reading = {
        file, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), fields, log};
    if (reading.fd < 0) {
        return complain(path, errno, log);
    }
    const int status = look(&reading);
    (void)close(reading.fd);
    return status;
}

void gpume_join_finish(struct gpume_join_file *file)
{
    free(file->path);
    free(file->head);
    free(file->text);
    *file = (struct gpume_join_file){0};
}

/* Are the heads equal, but for the number of rows? */
static bool is_same_npy(const struct gpume_join_file *a, const struct gpume_join_file *b)
{
    const size_t at = npy_rows_at(a);
    const uint64_t body_a = a->bytes - a->head_bytes, body_b = b->bytes - b->head_bytes;
    return a->head_bytes == b->head_bytes && at == npy_rows_at(b) &&
           memcmp(a->head, b->head, at) == 0 && body_a / a->rows == body_b / b->rows;
}

static bool is_same_head(const struct gpume_join_file *a, const struct gpume_join_file *b)
{
    if (a->kind != b->kind || a->packing != b->packing) {
        return false;
    }
    if (a->packing != GPUME_PACKING_NONE) { /* versions of a library compress differently */
        return a->text_bytes == b->text_bytes && memcmp(a->text, b->text, a->text_bytes) == 0;
    }
    return a->kind == GPUME_JOIN_NPY
               ? is_same_npy(a, b)
               : a->head_bytes == b->head_bytes && memcmp(a->head, b->head, a->head_bytes) == 0;
}

int gpume_join_check(
    const struct gpume_join_file *a, const struct gpume_join_file *b, const struct gpume_log *log)
{
    const bool same = is_same_head(a, b);
    return same ? GPUME_OK
                : gpume_log_fail(log, GPUME_INVALID,
                      "%s: begins otherwise than %s: another format or other columns; run that "
                      "part again as the others",
                      b->path, a->path);
}

/* The head with the sum of all rows, padded with blanks as before. */
static int npy_head(struct gpume_out *out, const struct gpume_join_file *files, size_t count)
{
    char text[GPUME_JOIN_HEAD_MAX + 32];
    const struct gpume_join_file *first = &files[0];
    const size_t at = npy_rows_at(first);
    uint64_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        rows += files[i].rows;
    }
    size_t digits = 0;
    while (first->head[at + digits] >= '0' && first->head[at + digits] <= '9') {
        digits++;
    }
    memcpy(text, first->head, at);
    size_t used = at + (size_t)snprintf(text + at, 32, "%" PRIu64, rows);
    for (size_t i = at + digits; i < first->head_bytes && used < first->head_bytes - 1; i++) {
        text[used++] = (char)first->head[i];
    }
    while (used > 0 && text[used - 1] == '\n') {
        used--;
    }
    while (used < first->head_bytes - 1) {
        text[used++] = ' ';
    }
    text[used++] = '\n';
    return gpume_out_write(out, text, used);
}

int gpume_join_head(struct gpume_out *out, const struct gpume_join_file *files, size_t count)
{
    return files[0].kind == GPUME_JOIN_NPY
               ? npy_head(out, files, count)
               : gpume_out_write(out, files[0].head, files[0].head_bytes);
}

static uint64_t count_lines(const unsigned char *at, size_t bytes)
{
    const unsigned char *const end = at + bytes;
    uint64_t lines = 0;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

/* Counts the lines of a body as it passes. */
struct counter {
    struct gpume_unpacker *unpacker; /* NULL: it is not compressed */
    uint64_t lines;
    unsigned char last; /* byte */
};

static int count(struct counter *counter, const unsigned char *at, size_t bytes)
{
    const unsigned char *const end = at + bytes;
    unsigned char text[16384];
    size_t got = sizeof(text);
    if (!counter->unpacker) {
        counter->lines += count_lines(at, bytes);
        return GPUME_OK;
    }
    while (at < end || got == sizeof(text)) {
        GPUME_CHECK(gpume_unpack(counter->unpacker, &at, end, text, sizeof(text), &got));
        counter->lines += count_lines(text, got);
        counter->last = got > 0 ? text[got - 1] : counter->last;
    }
    return GPUME_OK;
}

static int refuse_packed(const char *path, int status, const struct gpume_log *log)
{
    return status == GPUME_NOMEM ? gpume_log_nomem(log, path)
                                 : refuse(path, "its compressed data are damaged", log);
}

/* Does the body end where it may? */
static int check_counted(
    const struct counter *counter, const char *path, const struct gpume_log *log)
{
    const bool whole = !counter->unpacker ||
                       (gpume_unpacker_is_between(counter->unpacker) && counter->last == '\n');
    return whole ? GPUME_OK : refuse(path, "ends within a line", log);
}

/* Copies the bytes from `from` on. */
static int copy(struct gpume_out *out, const char *path, uint64_t from, struct counter *counter,
    bool (*ended)(void), const struct gpume_log *log)
{
    int status = GPUME_OK;
    unsigned char *chunk = malloc(CHUNK_BYTES);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = 1;
    if (!chunk || fd < 0) {
        status = chunk ? complain(path, errno, log) : gpume_log_nomem(log, path);
    }
    while (status == GPUME_OK && got > 0) {
        got = read_at(fd, chunk, CHUNK_BYTES, from);
        status = got < 0            ? complain(path, errno, log)
                 : ended && ended() ? GPUME_CANCELLED
                                    : gpume_out_write(out, chunk, (size_t)got);
        from += got > 0 ? (uint64_t)got : 0;
        const int counted = got > 0 ? count(counter, chunk, (size_t)got) : GPUME_OK;
        status =
            status == GPUME_OK && counted != GPUME_OK ? refuse_packed(path, counted, log) : status;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(chunk);
    return status;
}

int gpume_join_append(struct gpume_out *out, const struct gpume_join_file *file, uint64_t lines,
    bool (*ended)(void), const struct gpume_log *log)
{
    int status;
    struct counter counter = {0};
    if (file->packing != GPUME_PACKING_NONE &&
        gpume_unpacker_create(&counter.unpacker, file->packing) != GPUME_OK) {
        return gpume_log_nomem(log, file->path);
    }
    GPUME_TRY(copy(out, file->path, file->head_bytes, &counter, ended, log));
    GPUME_TRY(check_counted(&counter, file->path, log));
    if (lines > 0 && file->kind == GPUME_JOIN_LINES && counter.lines != lines) {
        status = gpume_log_fail(log, GPUME_INVALID,
            "%s: has %" PRIu64 " rows, but its part has %" PRIu64 "; run that part again",
            file->path, counter.lines, lines);
    }
fail:
    gpume_unpacker_destroy(&counter.unpacker);
    return status;
}

int gpume_join_copy(struct gpume_out *out, const char *path, const struct gpume_log *log)
{
    struct counter counter = {0};
    return copy(out, path, 0, &counter, NULL, log);
}
