/* SPDX-License-Identifier: BSD-2-Clause */
#include "merge/parts.h"

#include "base/base.h"
#include "files/byte_stream.h"
#include "files/bytes.h"
#include "files/pack.h"
#include "files/path.h"
#include "vectors/format.h"
#include "vectors/vectors.h"

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
#define MVF_HEAD_BYTES 64u
#define FIELD_BYTES 48u /* of an .mvf: the head of a field */
#define STILL_BYTES 64u /* of a picture: its head, but for that of a .png */

/* Says why the part is to be run again. Returns GPUME_INVALID. */
static int refuse_part(const char *path, const char *why, const struct gpume_log *log)
{
    return gpume_log_fail(log, GPUME_INVALID, "%s: %s; run that part again", path, why);
}

/* Says why it cannot be read: an errno. GPUME_INVALID: it is missing; GPUME_IO. */
static int refuse_unreadable(const char *path, int error, const struct gpume_log *log)
{
    if (error == ENOENT || error == ENOTDIR) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is missing: the part is incomplete, or was run without this output", path);
    }
    return gpume_log_fail(log, GPUME_IO, "%s: cannot be read: %s; %s", path, strerror(error),
        gpume_remedy(error, "check its permissions"));
}

/* Reads up to `bytes` bytes; -1: errno. */
static ssize_t read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    ssize_t got;
    do {
        got = pread(fd, to, bytes, (off_t)at);
    } while (got < 0 && errno == EINTR);
    return got;
}

static bool read_all(int fd, void *to, size_t bytes, uint64_t at)
{
    return read_at(fd, to, bytes, at) == (ssize_t)bytes;
}

/* --- whether a file is as long as its own head says: one that was cut, or that has more bytes
 * after its end, is not */

/* The samples of a picture in bytes, by the line that gpume writes; 0: it is another one. */
static uint64_t y4m_picture_bytes(const struct gpume_join_file *file)
{
    static const struct {
        const char *space;
        unsigned bytes;
    } spaces[] = {{" Cmono ", 1}, {" C444 ", 3}, {" Cmono9 ", 2}, {" Cmono10 ", 2},
        {" Cmono12 ", 2}, {" Cmono16 ", 2}};
    char line[1024];
    uint32_t width = 0, height = 0;
    snprintf(line, sizeof(line), "%.*s", (int)file->head_bytes, (const char *)file->head);
    if (sscanf(line, "YUV4MPEG2 W%9" SCNu32 " H%9" SCNu32 " ", &width, &height) != 2) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        if (strstr(line, spaces[i].space)) {
            return (uint64_t)width * height * spaces[i].bytes;
        }
    }
    return 0;
}

/* Every frame is its line and a picture of the size that the head gives. */
static int y4m_length(struct gpume_join_file *file, int fd, const struct gpume_log *log)
{
    const uint64_t body = file->bytes - file->head_bytes, picture = y4m_picture_bytes(file);
    const uint64_t step = FRAME_BYTES + picture;
    bool fits = picture > 0 && body % step == 0;
    file->rows = body / step;
    for (uint64_t i = 0; i < file->rows && fits; i++) {
        char line[FRAME_BYTES];
        fits = read_all(fd, line, sizeof(line), file->head_bytes + i * step) &&
               memcmp(line, FRAME_LINE, sizeof(line)) == 0;
    }
    return fits ? GPUME_OK : refuse_part(file->path, "does not consist of whole pictures", log);
}

/* The heads of its fields say how long each is, and how many records it has. */
/* The head of the file has been read; sets its fields and rows. GPUME_INVALID after one line. */
static int mvf_length(struct gpume_join_file *file, int fd, const struct gpume_log *log)
{
    const uint64_t record = gpume_le_get32(file->head + 32);
    uint64_t at = file->head_bytes;
    bool fits = at >= MVF_HEAD_BYTES && record > 0;
    for (; at < file->bytes && fits; file->fields++) {
        unsigned char head[FIELD_BYTES];
        fits = read_all(fd, head, sizeof(head), at) && memcmp(head, "FIEL", 4) == 0 &&
               gpume_le_get32(head + 4) >= sizeof(head);
        const uint64_t bytes = fits ? gpume_le_get64(head + 8) : 0;
        const uint64_t records =
            fits ? (uint64_t)gpume_le_get32(head + 40) * gpume_le_get32(head + 44) : 0;
        fits = fits && bytes < file->bytes && bytes % record == 0 && bytes / record == records;
        at += fits ? gpume_le_get32(head + 4) + bytes : 0;
        file->rows += records;
    }
    return fits && at == file->bytes
               ? GPUME_OK
               : refuse_part(file->path, "is not as long as its headers say", log);
}

/* Finds the number of rows in the head, as gpume writes it. */
static bool find_rows(struct gpume_join_file *file)
{
    char text[40];
    const size_t length =
        (size_t)snprintf(text, sizeof(text), NPY_SHAPE "%" PRIu64 ",", file->rows);
    for (size_t i = 10; i + length < file->head_bytes; i++) {
        if (memcmp(file->head + i, text, length) == 0) {
            file->rows_at = i + sizeof(NPY_SHAPE) - 1;
            file->rows_digits = length - sizeof(NPY_SHAPE);
            return true;
        }
    }
    return false;
}

static int read_npy(const char *path, struct gpume_npy *npy, const struct gpume_log *log)
{
    struct gpume_stream *stream = NULL;
    int status;
    GPUME_TRY(gpume_stream_open(&stream, path, log));
    status = gpume_npy_read(stream, npy);
fail:
    gpume_stream_close(&stream);
    return status;
}

/* Whether the array fills this many bytes. */
static bool npy_fits(const struct gpume_npy *npy, uint64_t bytes)
{
    const uint64_t items = bytes / npy->item_bytes, rows = npy->shape[0],
                   across = npy->dimensions == 2 ? npy->shape[1] : 1;
    return bytes % npy->item_bytes == 0 && rows > 0 && across > 0 && items % rows == 0 &&
           items / rows == across;
}

/* The head says how many rows there are, and how long each is. */
static int npy_length(struct gpume_join_file *file, int fd, const struct gpume_log *log)
{
    struct gpume_npy npy;
    (void)fd;
    GPUME_CHECK(read_npy(file->path, &npy, log));
    file->rows = npy.shape[0];
    if (npy.dimensions != 1 || !find_rows(file)) {
        return refuse_part(file->path, "was written by another program", log);
    }
    return npy_fits(&npy, file->bytes - file->head_bytes)
               ? GPUME_OK
               : refuse_part(file->path, "has another number of rows than its header says", log);
}

/* Chunks of a length, a name, their data and a checksum, of which the last is IEND. */
static bool png_fits(int fd, uint64_t bytes)
{
    unsigned char chunk[8];
    uint64_t at = 8;
    while (at < bytes && read_all(fd, chunk, sizeof(chunk), at)) {
        at += 12 + ((uint64_t)chunk[0] << 24 | (uint64_t)chunk[1] << 16 | (uint64_t)chunk[2] << 8 |
                       chunk[3]);
        if (memcmp(chunk + 4, "IEND", 4) == 0) {
            return at == bytes;
        }
    }
    return false;
}

/* Where the first scan of a .jpg begins, after segments that state their lengths; 0: nowhere. */
static uint64_t jpg_scan(int fd, uint64_t bytes)
{
    unsigned char segment[4];
    uint64_t at = 2;
    while (at < bytes && read_all(fd, segment, sizeof(segment), at) && segment[0] == 0xff) {
        at += 2 + (uint64_t)(segment[2] << 8 | segment[3]);
        if (segment[1] == 0xda) {
            return at;
        }
    }
    return 0;
}

/* The first mark of an end after it is that of the file. */
static bool jpg_fits(int fd, uint64_t bytes)
{
    unsigned char data[4096];
    ssize_t got = 1;
    bool marked = false; /* the last byte may begin a mark */
    for (uint64_t at = jpg_scan(fd, bytes); at > 0 && got > 0; at += (uint64_t)got) {
        got = read_at(fd, data, sizeof(data), at);
        for (ssize_t i = 0; i < got; i++) {
            if (marked && data[i] == 0xd9) {
                return at + (uint64_t)i + 1 == bytes;
            }
            marked = data[i] == 0xff;
        }
        got = got < 0 ? 0 : got;
    }
    return false;
}

/* PGM, of one sample per pixel, and PPM, of three. */
static bool pnm_fits(const char *head, uint64_t bytes)
{
    uint32_t width = 0, height = 0, most = 0;
    int length = 0;
    if (sscanf(head + 2, "%9" SCNu32 " %9" SCNu32 " %9" SCNu32 "%n", &width, &height, &most,
            &length) != 3) {
        return false;
    }
    const uint64_t samples = (uint64_t)width * height * (head[1] == '6' ? 3 : 1);
    return bytes == 2 + (uint64_t)length + 1 + samples * (most > 255 ? 2 : 1);
}

/* head: of STILL_BYTES, zero where the file has fewer, and one zero more. */
static bool still_fits(const unsigned char *head, int fd, uint64_t bytes)
{
    const char *text = (const char *)head;
    if (memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0) {
        return png_fits(fd, bytes);
    }
    if (memcmp(head, "\xff\xd8\xff", 3) == 0) {
        return jpg_fits(fd, bytes);
    }
    if (memcmp(head, "P5", 2) == 0 || memcmp(head, "P6", 2) == 0) {
        return pnm_fits(text, bytes);
    }
    if (memcmp(head, "BM", 2) == 0) {
        return gpume_le_get32(head + 2) == bytes;
    }
    return memcmp(head, "PIEH", 4) == 0 && /* .flo: two floats for each pixel */
           bytes == 12 + 8 * (uint64_t)gpume_le_get32(head + 4) * gpume_le_get32(head + 8);
}

static int check_still(const char *path, int fd, const struct gpume_log *log)
{
    unsigned char head[STILL_BYTES + 1] = {0};
    struct stat info;
    struct gpume_npy npy;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
        return refuse_part(path, "is empty, or no file", log);
    }
    const uint64_t bytes = (uint64_t)info.st_size;
    if (read_at(fd, head, STILL_BYTES, 0) < 0) {
        return gpume_log_fail(log, GPUME_IO, "%s: cannot be read: %s; %s", path, strerror(errno),
            gpume_remedy(errno, "check its permissions"));
    }
    bool fits;
    if (memcmp(head, GPUME_NPY_MAGIC "\x01", GPUME_NPY_MAGIC_BYTES + 1) == 0) {
        GPUME_CHECK(read_npy(path, &npy, log));
        const uint64_t start = 10u + gpume_le_get16(head + 8);
        fits = bytes >= start && npy_fits(&npy, bytes - start);
    } else {
        fits = still_fits(head, fd, bytes);
    }
    return fits ? GPUME_OK : refuse_part(path, "is not as long as its header says", log);
}

int gpume_merge_length_still(const char *path, const struct gpume_log *log)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return refuse_unreadable(path, errno, log);
    }
    const int status = check_still(path, fd, log);
    (void)close(fd);
    return status;
}

/* --- what a file is */

static bool begins_with(
    const struct gpume_join_file *file, size_t got, const char *text, size_t bytes)
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

/* What each line after a head of this text is. Files of JSON lines have none. */
static enum gpume_join_rows rows_of(const unsigned char *head, size_t bytes)
{
    static const struct {
        const char *begins;
        enum gpume_join_rows rows;
    } heads[] = {{"frame,ref,x,y,", GPUME_JOIN_BLOCKS}, {"framenum,", GPUME_JOIN_MATCHES}};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        const size_t length = strlen(heads[i].begins);
        if (bytes >= length && memcmp(head, heads[i].begins, length) == 0) {
            return heads[i].rows;
        }
    }
    return bytes > 0 ? GPUME_JOIN_FIELDS : GPUME_JOIN_BLOCKS;
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
    file->each = rows_of(file->text, file->text_bytes);
    return GPUME_OK;
}

/* Sets kind and length of the head from its first bytes. */
static int recognize_kind(struct gpume_join_file *file, size_t got, const struct gpume_log *log)
{
    const unsigned char *head = file->head;
    file->packing = gpume_packing_of(head, got);
    if (file->packing != GPUME_PACKING_NONE) {
        return recognize_packed(file, got, log);
    }
    file->each = GPUME_JOIN_BLOCKS;
    if (begins_with(file, got, "\x93NUMPY\x01\x00", 8) && got >= 10) {
        file->kind = GPUME_JOIN_NPY;
        file->head_bytes = 10u + gpume_le_get16(head + 8);
    } else if (begins_with(file, got, "GPUMEMVF", 8) && got >= MVF_HEAD_BYTES) {
        file->kind = GPUME_JOIN_MVF;
        file->head_bytes = gpume_le_get32(head + 12);
    } else if (begins_with(file, got, "YUV4MPEG2 ", 10)) {
        file->kind = GPUME_JOIN_Y4M;
        file->each = GPUME_JOIN_FIELDS;
        file->head_bytes = first_line(head, got);
    } else if (!memchr(head, '\0', got)) {
        file->kind = GPUME_JOIN_LINES;
        file->head_bytes = head[0] == '#'   ? comment_lines(head, got)
                           : head[0] == '{' ? 0
                                            : first_line(head, got);
        file->each = rows_of(head, file->head_bytes);
        return head[0] == '{' || file->head_bytes > 0 ? GPUME_OK
                                                      : refuse_part(file->path, "has no head", log);
    } else {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is of a format whose files cannot be joined; write .y4m, or a format of vectors, "
            "in the parts, and convert the joined file",
            file->path);
    }
    return file->head_bytes > 0 && file->head_bytes <= got
               ? GPUME_OK
               : refuse_part(file->path, "has no head", log);
}

static int check_end(struct gpume_join_file *file, int fd, const struct gpume_log *log)
{
    char last = '\0';
    if (file->packing != GPUME_PACKING_NONE) {
        return GPUME_OK; /* seen when the body is counted */
    }
    if (file->bytes == file->head_bytes || read_at(fd, &last, 1, file->bytes - 1) != 1 ||
        last != '\n') {
        return refuse_part(file->path, "ends within a line", log);
    }
    return GPUME_OK;
}

static int look_at_head(struct gpume_join_file *file, int fd, const struct gpume_log *log)
{
    static int (*const checks[])(struct gpume_join_file *, int, const struct gpume_log *) = {
        [GPUME_JOIN_LINES] = check_end,
        [GPUME_JOIN_MVF] = mvf_length,
        [GPUME_JOIN_NPY] = npy_length,
        [GPUME_JOIN_Y4M] = y4m_length,
    };
    struct stat info;
    int status;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return refuse_part(file->path, "is not a file", log);
    }
    file->bytes = (uint64_t)info.st_size;
    file->head = malloc(GPUME_JOIN_HEAD_MAX);
    if (!file->head) {
        return gpume_log_nomem(log, file->path);
    }
    const ssize_t got = read_at(fd, file->head, GPUME_JOIN_HEAD_MAX, 0);
    if (got < 0) {
        return refuse_unreadable(file->path, errno, log);
    }
    GPUME_TRY(got > 0 ? recognize_kind(file, (size_t)got, log)
                      : refuse_part(file->path, "is empty", log));
    status = checks[file->kind](file, fd, log);
fail:
    return status;
}

int gpume_join_look(struct gpume_join_file *file, char *path, const struct gpume_log *log)
{
    file->path = path;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return refuse_unreadable(path, errno, log);
    }
    const int status = look_at_head(file, fd, log);
    (void)close(fd);
    return status;
}

/* --- rows of blocks that have several: all of the file is read */

struct block_counts {
    uint64_t rows, blocks;
    uint64_t frames; /* of targets */
    bool cut;        /* the last block lacks candidates */
};

#define APART (2 * GPUME_VECTORS_UNITS) /* candidates differ by that much in x or y */
#define MATCH_COLUMNS 5

/* The number of blocks at the field's end that are candidates of one. */
static size_t last_candidates(const struct gpume_vectors_field *field)
{
    const struct gpume_vectors_block *end = field->blocks + field->count;
    size_t count = 1;
    while (count < field->count && gpume_vectors_same_place(end - 1 - count, end - 1)) {
        count++;
    }
    return count;
}

/* Whether the vector, in whole pixels, is too close to a candidate to be another one. */
static bool is_taken(
    const struct gpume_vectors_block *candidates, size_t count, int64_t dx, int64_t dy)
{
    bool taken = false;
    for (size_t i = 0; i < count && !taken; i++) {
        const int64_t x = dx * GPUME_VECTORS_UNITS - candidates[i].dx,
                      y = dy * GPUME_VECTORS_UNITS - candidates[i].dy;
        taken = x > -APART && x < APART && y > -APART && y < APART;
    }
    return taken;
}

/* Whether the field's last block lacks candidates. It has fewer than were wanted only if no vector
 * of its window is left. Refinement moves them by less than a pixel, so that a whole pixel that was
 * too close to one before it is so afterwards. */
static bool is_cut(const struct gpume_merge_part *part, const struct gpume_vectors_field *field)
{
    const json_t *edge = json_object_get(part->parameters, "edge");
    const bool extend = json_is_string(edge) && strcmp(json_string_value(edge), "extend") == 0;
    const int64_t wx = part->window_x, wy = part->window_y;
    const size_t count = last_candidates(field);
    const struct gpume_vectors_block *all = field->blocks + field->count - count;
    const int64_t right = (int64_t)field->width - all->x - all->w,
                  below = (int64_t)field->height - all->y - all->h;
    const int64_t least_x = extend || wx < all->x ? -wx : -(int64_t)all->x,
                  least_y = extend || wy < all->y ? -wy : -(int64_t)all->y,
                  most_x = extend || wx < right ? wx : right,
                  most_y = extend || wy < below ? wy : below;
    bool cut = false;
    for (int64_t dy = least_y; dy <= most_y && count < part->candidates && !cut; dy++) {
        for (int64_t dx = least_x; dx <= most_x && !cut; dx++) {
            cut = !is_taken(all, count, dx, dy);
        }
    }
    return cut;
}

/* Every candidate of a block has a row. Failures are logged, as those of vectors/vectors.h. */
static int count_candidates(struct block_counts *found, const char *path,
    const struct gpume_merge_part *part, const struct gpume_log *log)
{
    struct gpume_vectors_reader *reader = NULL;
    const struct gpume_vectors_source source = {.path = path, .log = *log};
    const struct gpume_vectors_field *field = NULL;
    int status;
    *found = (struct block_counts){0};
    GPUME_TRY(gpume_vectors_reader_open(&reader, &source));
    for (;;) {
        GPUME_TRY(gpume_vectors_reader_next(reader, &field));
        if (!field) {
            break;
        }
        found->rows += field->count;
        for (size_t i = 0; i < field->count; i++) {
            found->blocks += field->blocks[i].candidate == 0;
        }
        found->cut = is_cut(part, field);
    }
fail:
    gpume_vectors_reader_close(&reader);
    return status;
}

/* A table in the format extract_mvs, where each of two matches of a block has a row. Nothing tells
 * whether the last block had another one. */
static int count_matches(struct block_counts *found, const char *path, const struct gpume_log *log)
{
    static const struct gpume_csv_column columns[MATCH_COLUMNS] = {{"framenum", false},
        {"blockw", false}, {"blockh", false}, {"dstx", false}, {"dsty", false}};
    struct gpume_csv_reader csv;
    struct gpume_stream *stream = NULL;
    int64_t last[MATCH_COLUMNS] = {0}, row[MATCH_COLUMNS] = {0};
    int status;
    *found = (struct block_counts){0};
    GPUME_TRY(gpume_stream_open(&stream, path, log));
    GPUME_TRY(gpume_csv_reader_init(&csv, stream, columns, MATCH_COLUMNS));
    while ((status = gpume_csv_reader_next(&csv)) == GPUME_OK) {
        for (size_t i = 0; i < MATCH_COLUMNS; i++) {
            GPUME_TRY(gpume_csv_reader_int(&csv, i, INT32_MIN, INT64_MAX, &row[i]));
        }
        found->frames += row[0] != last[0];
        found->blocks += memcmp(row, last, sizeof(row)) != 0; /* frames are counted from 1 */
        found->rows++;
        memcpy(last, row, sizeof(row));
    }
    status = status == GPUME_EOF ? GPUME_OK : status;
fail:
    gpume_stream_close(&stream);
    return status;
}

/* --- what a file has to have */

static int refuse_rows(
    const struct gpume_join_file *file, uint64_t rows, uint64_t wanted, const struct gpume_log *log)
{
    return gpume_log_fail(log, GPUME_INVALID,
        "%s: has %" PRIu64 " %s, but its part has %" PRIu64 "; run that part again", file->path,
        rows, file->kind == GPUME_JOIN_Y4M ? "pictures" : "rows", wanted);
}

/* Reads all rows, where nothing says how many there must be. */
static int count_blocks(
    struct gpume_join_file *file, const struct gpume_merge_part *part, const struct gpume_log *log)
{
    struct block_counts found;
    const bool matches = file->each == GPUME_JOIN_MATCHES;
    GPUME_CHECK(matches ? count_matches(&found, file->path, log)
                        : count_candidates(&found, file->path, part, log));
    file->lines = file->kind == GPUME_JOIN_LINES ? found.rows : 0;
    if (found.blocks != part->blocks) {
        return refuse_rows(file, found.blocks, part->blocks, log);
    }
    return found.cut || (matches && found.frames != part->fields)
               ? refuse_part(file->path, "does not have all rows of its part", log)
               : GPUME_OK;
}

int gpume_join_count(
    struct gpume_join_file *file, const struct gpume_merge_part *part, const struct gpume_log *log)
{
    const uint64_t wanted = file->each == GPUME_JOIN_FIELDS   ? part->fields
                            : file->each == GPUME_JOIN_BLOCKS ? part->blocks * part->candidates
                                                              : part->blocks;
    if (file->kind == GPUME_JOIN_MVF && file->fields != part->fields) {
        return refuse_part(file->path, "does not hold the motion fields of its part", log);
    }
    if ((file->each == GPUME_JOIN_BLOCKS && part->fewer) ||
        (file->each == GPUME_JOIN_MATCHES && part->two_matches)) {
        return count_blocks(file, part, log);
    }
    if (file->kind == GPUME_JOIN_LINES) {
        file->lines = wanted; /* counted when they are copied */
        return GPUME_OK;
    }
    return file->rows == wanted ? GPUME_OK : refuse_rows(file, file->rows, wanted, log);
}

void gpume_join_finish(struct gpume_join_file *file)
{
    free(file->path);
    free(file->head);
    free(file->text);
    *file = (struct gpume_join_file){0};
}

/* The end of what is behind the number of rows, without the padding. */
static size_t npy_end(const struct gpume_join_file *file)
{
    size_t end = file->head_bytes;
    while (file->head[end - 1] == '\n' || file->head[end - 1] == ' ') {
        end--;
    }
    return end;
}

/* Whether the heads are equal, but for the number of rows. */
static bool is_same_npy(const struct gpume_join_file *a, const struct gpume_join_file *b)
{
    const size_t rest_a = a->rows_at + a->rows_digits, rest_b = b->rows_at + b->rows_digits;
    const size_t length = npy_end(a) - rest_a;
    return a->head_bytes == b->head_bytes && memcmp(a->head, b->head, a->rows_at) == 0 &&
           npy_end(b) - rest_b == length && memcmp(a->head + rest_a, b->head + rest_b, length) == 0;
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
                      "%s: begins differently from %s: another format or other columns; run that "
                      "part again like the others",
                      b->path, a->path);
}

/* The head with the sum of all rows, padded with blanks as before. */
static int npy_head(struct gpume_out *out, const struct gpume_join_file *files, size_t count,
    const struct gpume_log *log)
{
    char text[GPUME_JOIN_HEAD_MAX + 32];
    const struct gpume_join_file *first = &files[0];
    const size_t at = first->rows_at, rest = at + first->rows_digits;
    const size_t end = npy_end(first);
    uint64_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        rows += files[i].rows;
    }
    memcpy(text, first->head, at);
    size_t used = at + (size_t)snprintf(text + at, 32, "%" PRIu64, rows);
    if (used + (end - rest) + 1 > first->head_bytes) {
        return refuse_part(first->path, "its header has no room for the sum of all rows", log);
    }
    memcpy(text + used, first->head + rest, end - rest);
    used += end - rest;
    memset(text + used, ' ', first->head_bytes - 1 - used);
    text[first->head_bytes - 1] = '\n';
    return gpume_out_write(out, text, first->head_bytes);
}

int gpume_join_head(struct gpume_out *out, const struct gpume_join_file *files, size_t count,
    const struct gpume_log *log)
{
    return files[0].kind == GPUME_JOIN_NPY
               ? npy_head(out, files, count, log)
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
    uint64_t bytes, lines;
    unsigned char last; /* byte */
};

static int count_chunk(struct counter *counter, const unsigned char *at, size_t bytes)
{
    const unsigned char *const end = at + bytes;
    unsigned char text[16384];
    size_t got = sizeof(text);
    counter->bytes += bytes;
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

/* Copies the bytes from `from` on. */
static int copy_body(struct gpume_out *out, const char *path, uint64_t from,
    struct counter *counter, bool (*ended)(void), const struct gpume_log *log)
{
    int status = GPUME_OK;
    unsigned char *chunk = malloc(CHUNK_BYTES);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = 1;
    if (!chunk || fd < 0) {
        status = chunk ? refuse_unreadable(path, errno, log) : gpume_log_nomem(log, path);
    }
    while (status == GPUME_OK && got > 0) {
        got = read_at(fd, chunk, CHUNK_BYTES, from);
        status = got < 0            ? refuse_unreadable(path, errno, log)
                 : ended && ended() ? GPUME_CANCELLED
                                    : gpume_out_write(out, chunk, (size_t)got);
        from += got > 0 ? (uint64_t)got : 0;
        const int counted = got > 0 ? count_chunk(counter, chunk, (size_t)got) : GPUME_OK;
        if (status == GPUME_OK && counted != GPUME_OK) {
            status = counted == GPUME_NOMEM
                         ? gpume_log_nomem(log, path)
                         : refuse_part(path, "its compressed data are damaged", log);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(chunk);
    return status;
}

int gpume_join_append(struct gpume_out *out, const struct gpume_join_file *file,
    bool (*ended)(void), const struct gpume_log *log)
{
    int status;
    struct counter counter = {0};
    if (file->packing != GPUME_PACKING_NONE &&
        gpume_unpacker_create(&counter.unpacker, file->packing) != GPUME_OK) {
        return gpume_log_nomem(log, file->path);
    }
    GPUME_TRY(copy_body(out, file->path, file->head_bytes, &counter, ended, log));
    if (counter.unpacker &&
        !(gpume_unpacker_is_between(counter.unpacker) && counter.last == '\n')) {
        status = refuse_part(file->path, "ends within a line", log);
    } else if (counter.bytes != file->bytes - file->head_bytes) {
        status = refuse_part(file->path, "has changed while it was read", log);
    } else if (file->lines > 0 && counter.lines != file->lines) {
        status = refuse_rows(file, counter.lines, file->lines, log);
    }
fail:
    gpume_unpacker_destroy(&counter.unpacker);
    return status;
}

/* The whole file, as it is. */
static int join_copy(struct gpume_out *out, const char *path, const struct gpume_log *log)
{
    struct counter counter = {0};
    return copy_body(out, path, 0, &counter, NULL, log);
}

/* --- numbered files: one for each frame, or for each frame and its reference */

/* For free(); NULL after one line. */
static char *series_name(const char *folder, const char *pattern, uint64_t frame, uint64_t ref,
    const struct gpume_log *log)
{
    char *name = gpume_pattern_name_pair(pattern, (struct gpume_pattern_numbers){frame, ref});
    char *path = name ? gpume_path_in_folder(folder, name) : NULL;
    if (!path) {
        (void)gpume_log_nomem(log, folder);
    }
    free(name);
    return path;
}

int gpume_merge_series_check(const struct gpume_merge_part *part, const char *pattern,
    uint64_t frame, uint64_t ref, const struct gpume_log *log)
{
    char *path = series_name(part->folder, pattern, frame, ref, log);
    const int status = path ? gpume_merge_length_still(path, log) : GPUME_NOMEM;
    free(path);
    return status;
}

int gpume_merge_series_copy(const struct gpume_merge_part *part, const char *pattern,
    uint64_t frame, uint64_t ref, const char *folder, struct gpume_out_set *set,
    const struct gpume_log *log)
{
    int status = GPUME_NOMEM;
    struct gpume_out *out = NULL;
    char *from = series_name(part->folder, pattern, frame, ref, log);
    char *to = from ? series_name(folder, pattern, frame, ref, log) : NULL;
    GPUME_TRY(to ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(gpume_out_open_one(&out, set, to, log));
    GPUME_TRY(join_copy(out, from, log));
    GPUME_TRY(gpume_out_finish(out));
fail:
    gpume_out_close(&out);
    free(from);
    free(to);
    return status;
}
