/* SPDX-License-Identifier: BSD-2-Clause */
#include "merge/join.h"

#include "base/status.h"
#include "files/csv_reader.h"
#include "files/little_endian.h"
#include "files/pack.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/text_file.h"
#include "merge/lengths.h"
#include "vectors/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)1024 * 1024)

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
    } else if (begins_with(file, got, "GPUMEMVF", 8) && got >= GPUME_MERGE_MVF_HEAD_BYTES) {
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
        return head[0] == '{' || file->head_bytes > 0
                   ? GPUME_OK
                   : gpume_merge_refuse(file->path, "has no head", log);
    } else {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is of a format whose files cannot be joined; write .y4m, or a format of vectors, "
            "in the parts, and convert the joined file",
            file->path);
    }
    return file->head_bytes > 0 && file->head_bytes <= got
               ? GPUME_OK
               : gpume_merge_refuse(file->path, "has no head", log);
}

static int check_end(struct gpume_join_file *file, int fd, const struct gpume_log *log)
{
    char last = '\0';
    if (file->packing != GPUME_PACKING_NONE) {
        return GPUME_OK; /* seen when the body is counted */
    }
    if (file->bytes == file->head_bytes ||
        gpume_merge_read_at(fd, &last, 1, file->bytes - 1) != 1 || last != '\n') {
        return gpume_merge_refuse(file->path, "ends within a line", log);
    }
    return GPUME_OK;
}

static int look_at_head(struct gpume_join_file *file, int fd, const struct gpume_log *log)
{
    static int (*const checks[])(struct gpume_join_file *, int, const struct gpume_log *) = {
        [GPUME_JOIN_LINES] = check_end,
        [GPUME_JOIN_MVF] = gpume_merge_length_mvf,
        [GPUME_JOIN_NPY] = gpume_merge_length_npy,
        [GPUME_JOIN_Y4M] = gpume_merge_length_y4m,
    };
    struct stat info;
    int status;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return gpume_merge_refuse(file->path, "is no file", log);
    }
    file->bytes = (uint64_t)info.st_size;
    file->head = malloc(GPUME_JOIN_HEAD_MAX);
    if (!file->head) {
        return gpume_log_nomem(log, file->path);
    }
    const ssize_t got = gpume_merge_read_at(fd, file->head, GPUME_JOIN_HEAD_MAX, 0);
    if (got < 0) {
        return gpume_merge_complain(file->path, errno, log);
    }
    GPUME_TRY(got > 0 ? recognize_kind(file, (size_t)got, log)
                      : gpume_merge_refuse(file->path, "is empty", log));
    status = checks[file->kind](file, fd, log);
fail:
    return status;
}

int gpume_join_look(struct gpume_join_file *file, char *path, const struct gpume_log *log)
{
    file->path = path;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return gpume_merge_complain(path, errno, log);
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

static bool is_at_one_place(
    const struct gpume_vectors_block *a, const struct gpume_vectors_block *b)
{
    return a->x == b->x && a->y == b->y && a->w == b->w && a->h == b->h;
}

/* The number of blocks at the field's end that are candidates of one. */
static size_t last_candidates(const struct gpume_vectors_field *field)
{
    const struct gpume_vectors_block *end = field->blocks + field->count;
    size_t count = 1;
    while (count < field->count && is_at_one_place(end - 1 - count, end - 1)) {
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

/* Every candidate of a block has a row. Failures are logged, as those of vectors/reader.h. */
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
               ? gpume_merge_refuse(file->path, "does not have all rows of its part", log)
               : GPUME_OK;
}

int gpume_join_count(
    struct gpume_join_file *file, const struct gpume_merge_part *part, const struct gpume_log *log)
{
    const uint64_t wanted = file->each == GPUME_JOIN_FIELDS   ? part->fields
                            : file->each == GPUME_JOIN_BLOCKS ? part->blocks * part->candidates
                                                              : part->blocks;
    if (file->kind == GPUME_JOIN_MVF && file->fields != part->fields) {
        return gpume_merge_refuse(file->path, "does not hold the motion fields of its part", log);
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
                      "%s: begins otherwise than %s: another format or other columns; run that "
                      "part again as the others",
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
        return gpume_merge_refuse(first->path, "its head has no room for the sum of all rows", log);
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
        status = chunk ? gpume_merge_complain(path, errno, log) : gpume_log_nomem(log, path);
    }
    while (status == GPUME_OK && got > 0) {
        got = gpume_merge_read_at(fd, chunk, CHUNK_BYTES, from);
        status = got < 0            ? gpume_merge_complain(path, errno, log)
                 : ended && ended() ? GPUME_CANCELLED
                                    : gpume_out_write(out, chunk, (size_t)got);
        from += got > 0 ? (uint64_t)got : 0;
        const int counted = got > 0 ? count_chunk(counter, chunk, (size_t)got) : GPUME_OK;
        if (status == GPUME_OK && counted != GPUME_OK) {
            status = counted == GPUME_NOMEM
                         ? gpume_log_nomem(log, path)
                         : gpume_merge_refuse(path, "its compressed data are damaged", log);
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
        status = gpume_merge_refuse(file->path, "ends within a line", log);
    } else if (counter.bytes != file->bytes - file->head_bytes) {
        status = gpume_merge_refuse(file->path, "has changed while it was read", log);
    } else if (file->lines > 0 && counter.lines != file->lines) {
        status = refuse_rows(file, counter.lines, file->lines, log);
    }
fail:
    gpume_unpacker_destroy(&counter.unpacker);
    return status;
}

int gpume_join_copy(struct gpume_out *out, const char *path, const struct gpume_log *log)
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
    GPUME_TRY(gpume_join_copy(out, from, log));
    GPUME_TRY(gpume_out_finish(out));
fail:
    gpume_out_close(&out);
    free(from);
    free(to);
    return status;
}
