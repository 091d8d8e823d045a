/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vectors.csv: one row a block. Called by the thread that receives fields; where processors abound,
 * a few threads of its own share the rows of a field. A field of a large picture has a hundred
 * thousand rows, so nothing is formatted twice: what repeats along a column, a row or a field is
 * text made once, and a row is put together from pieces of a fixed size, each of which overhangs
 * into the place of the next.
 */
#include "base/out.h"
#include "base/status.h"
#include "base/workers.h"
#include "report/sink.h"
#include "report/text_file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows that one thread makes at a time: 30 us of work and 140 KB, many times what handing it out
 * and waking the writer cost, and within a second-level cache. */
#define ITEM_ROWS 4096u

/* A row at its longest: two 20-digit frame numbers, x and y of 10 digits, w and h of 3, dx and dy
 * of 4, cost and rank of 10, ten separators. The last piece's overhang is within SLACK_BYTES. */
#define ROW_BYTES 104u
#define SLACK_BYTES 128u
_Static_assert(ITEM_ROWS *ROW_BYTES + SLACK_BYTES <= GPUME_OUT_ITEM_BYTES, "an item fits");

/* Threads for every one of the machine's processors, and at most: on few, the decoder and the CPU
 * engine need them all; four make rows faster than any file takes them. */
#define PROCESSORS_A_THREAD 4u
#define THREADS_MAX 4u

/* Up to 15 characters and how many; always copied whole. */
struct piece {
    char text[15];
    uint8_t length;
};
_Static_assert(sizeof(struct piece) == 16, "copied as 16 bytes");

/* "y,w,h,": two numbers of up to 3 digits behind one of up to 10. */
struct long_piece {
    char text[31];
    uint8_t length;
};

struct digits {
    char text[7];
    uint8_t length;
};

struct vectors_csv {
    struct gpume_sink sink;
    struct gpume_out *out;
    struct gpume_workers *workers; /* NULL: the caller makes all rows */
    uint32_t width, height, block;
    uint32_t row_bytes;                             /* after "frame,ref," at most */
    struct piece *columns;                          /* "x,", one a block column */
    struct piece vectors[2 * GPUME_WINDOW_MAX + 1]; /* "dx," for -512 to 512 */
    struct digits digits[2][10000];                 /* "0" to "9999", "0000" to "9999" */
};

/* A field under way. */
struct rows {
    const struct vectors_csv *self;
    const struct gpume_field *field;
    size_t prefix_length;
    char prefix[48]; /* "frame,ref,": two numbers of 20 digits and two commas are 42 bytes */
};

static void piece_int(struct piece *piece, int64_t value)
{
    char text[32];
    const int length = snprintf(text, sizeof(text), "%" PRId64 ",", value);
    assert(length > 0 && length <= (int)sizeof(piece->text));
    memcpy(piece->text, text, (size_t)length);
    piece->length = (uint8_t)length;
}

static inline char *put_piece(char *at, const struct piece *piece)
{
    memcpy(at, piece, sizeof(*piece));
    return at + piece->length;
}

static inline char *put_digits(char *at, const struct digits *digits)
{
    memcpy(at, digits, sizeof(*digits));
    return at + digits->length;
}

/* Up to 10 digits. Without a branch that figures of neighbouring blocks would take in turns. */
static inline char *put_u32(const struct vectors_csv *self, char *at, uint32_t value)
{
    const uint32_t high = value / 10000;
    const uint32_t low = value % 10000;
    if (high >= 10000) {
        at = put_digits(at, &self->digits[0][high / 10000]);
        at = put_digits(at, &self->digits[1][high % 10000]);
        return put_digits(at, &self->digits[1][low]);
    }
    const struct digits *head = &self->digits[0][high];
    memcpy(at, head, sizeof(*head));
    at += high ? head->length : 0;
    return put_digits(at, &self->digits[high != 0][low]);
}

static void vectors_close(struct gpume_sink **sink)
{
    struct vectors_csv *self = (struct vectors_csv *)*sink;
    if (self) {
        gpume_out_close(&self->out);
        gpume_workers_destroy(&self->workers);
        free(self->columns);
        free(self);
        *sink = NULL;
    }
}

static int vectors_check(const char *path, bool single, const struct gpume_log *log)
{
    (void)single;
    return gpume_text_check(path, ".csv", log);
}

static int make_tables(struct vectors_csv *self)
{
    const uint32_t count = (self->width - 1) / self->block + 1;
    self->row_bytes =
        (uint32_t)snprintf(NULL, 0, "%u,%u,%u,%u,%d,%d,%u,%u\n", self->width, self->height,
            self->block, self->block, -GPUME_WINDOW_MAX, -GPUME_WINDOW_MAX, UINT32_MAX, UINT32_MAX);
    self->columns = malloc(count * sizeof(*self->columns));
    if (!self->columns) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        piece_int(&self->columns[i], (int64_t)i * self->block);
    }
    for (int i = -GPUME_WINDOW_MAX; i <= GPUME_WINDOW_MAX; i++) {
        piece_int(&self->vectors[i + GPUME_WINDOW_MAX], i);
    }
    for (unsigned i = 0; i < 10000; i++) {
        const char text[4] = {(char)('0' + i / 1000), (char)('0' + i / 100 % 10),
            (char)('0' + i / 10 % 10), (char)('0' + i % 10)};
        const unsigned skip = i < 10 ? 3 : i < 100 ? 2 : i < 1000 ? 1 : 0;
        memcpy(self->digits[0][i].text, text + skip, 4 - skip);
        self->digits[0][i].length = (uint8_t)(4 - skip);
        memcpy(self->digits[1][i].text, text, 4);
        self->digits[1][i].length = 4;
    }
    return GPUME_OK;
}

/* Threads are a help, not a need: without them self->workers stays NULL. */
static void start_workers(struct vectors_csv *self, uint32_t processors)
{
    const long online = processors ? (long)processors : sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t count = online < 1 ? 0 : (uint32_t)online / PROCESSORS_A_THREAD;
    if (count > 1) {
        (void)gpume_workers_create(&self->workers, count < THREADS_MAX ? count : THREADS_MAX);
    }
}

static int vectors_open(struct gpume_sink **sink, const char *path, const struct gpume_run *run)
{
    static const char header[] = "frame,ref,x,y,w,h,dx,dy,cost,rank\n";
    int status = GPUME_NOMEM;
    struct vectors_csv *self = malloc(sizeof(*self));
    struct gpume_sink *base = (struct gpume_sink *)self;
    if (self) {
        *self = (struct vectors_csv){
            .sink.ops = &gpume_sink_vectors_csv,
            .width = run->params.width,
            .height = run->params.height,
            .block = run->params.block,
        };
        status = make_tables(self);
    }
    if (status != GPUME_OK) {
        gpume_log_write(&run->log, GPUME_LOG_ERROR, "%s: out of memory", path);
        goto fail;
    }
    GPUME_TRY(gpume_out_open_in(&self->out, run->set, path, &run->log));
    if (!gpume_out_is_continued(self->out)) {
        GPUME_TRY(gpume_out_write(self->out, header, sizeof(header) - 1));
    }
    start_workers(self, run->params.threads);
    *sink = base;
    return GPUME_OK;
fail:
    vectors_close(&base);
    return status;
}

static uint32_t visible(uint32_t block, uint32_t position, uint32_t size)
{
    return size - position < block ? size - position : block;
}

static struct long_piece make_middle(
    const struct vectors_csv *self, uint32_t y, uint32_t w, uint32_t h)
{
    struct long_piece piece = {0};
    char text[48], *at = text; /* a number may overhang by 7 */
    const uint32_t values[] = {y, w, h};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        at = put_u32(self, at, values[i]);
        *at++ = ',';
    }
    piece.length = (uint8_t)(at - text);
    memcpy(piece.text, text, piece.length);
    return piece;
}

/* Blocks `column` to `end` - 1 of a row of blocks. */
static char *put_blocks(
    const struct rows *rows, char *at, uint32_t row, uint32_t column, uint32_t end)
{
    const struct vectors_csv *self = rows->self;
    const struct gpume_field *field = rows->field;
    const uint32_t last = field->blocks_x - 1, y = row * self->block;
    const uint32_t height = visible(self->block, y, self->height);
    const struct long_piece middles[2] = {make_middle(self, y, self->block, height),
        make_middle(self, y, visible(self->block, last * self->block, self->width), height)};
    size_t i = (size_t)row * field->blocks_x + column;
    for (; column < end; column++, i++) {
        const struct long_piece *middle = &middles[column == last];
        const struct gpume_vector vector = field->vectors[i];
        memcpy(at, rows->prefix, sizeof(rows->prefix));
        at = put_piece(at + rows->prefix_length, &self->columns[column]);
        memcpy(at, middle, sizeof(*middle));
        at = put_piece(at + middle->length, &self->vectors[vector.dx + GPUME_WINDOW_MAX]);
        at = put_piece(at, &self->vectors[vector.dy + GPUME_WINDOW_MAX]);
        at = put_u32(self, at, field->costs[i]);
        *at++ = ',';
        at = put_u32(self, at, field->ranks[i]);
        *at++ = '\n';
    }
    return at;
}

/* A gpume_out_make_fn, on any of the workers. */
static size_t put_item(void *opaque, uint32_t item, char *begin)
{
    const struct rows *rows = opaque;
    const uint32_t blocks_x = rows->field->blocks_x;
    const uint64_t blocks = (uint64_t)blocks_x * rows->field->blocks_y;
    const uint64_t first = (uint64_t)item * ITEM_ROWS;
    uint32_t left = blocks - first < ITEM_ROWS ? (uint32_t)(blocks - first) : ITEM_ROWS;
    uint32_t row = (uint32_t)(first / blocks_x), column = (uint32_t)(first % blocks_x);
    char *at = begin;
    while (left > 0) {
        const uint32_t count = blocks_x - column < left ? blocks_x - column : left;
        at = put_blocks(rows, at, row++, column, column + count);
        left -= count;
        column = 0;
    }
    return (size_t)(at - begin);
}

static int vectors_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct vectors_csv *self = (struct vectors_csv *)sink;
    struct rows rows = {.self = self, .field = field};
    const int length = snprintf(
        rows.prefix, sizeof(rows.prefix), "%" PRIu64 ",%" PRIu64 ",", field->frame, field->ref);
    rows.prefix_length = (size_t)length;
    const uint64_t blocks = (uint64_t)field->blocks_x * field->blocks_y;
    const uint64_t longest = blocks < ITEM_ROWS ? blocks : ITEM_ROWS;
    return gpume_out_make(self->out, self->workers, put_item, &rows,
        (uint32_t)((blocks + ITEM_ROWS - 1) / ITEM_ROWS),
        longest * (rows.prefix_length + self->row_bytes) + SLACK_BYTES);
}

static int vectors_finish(struct gpume_sink *sink)
{
    return gpume_out_finish(((struct vectors_csv *)sink)->out);
}

const struct gpume_sink_ops gpume_sink_vectors_csv = {
    .name = "vectors",
    .check = vectors_check,
    .exists = gpume_text_exists,
    .can_continue = gpume_text_can_continue,
    .open = vectors_open,
    .field = vectors_field,
    .finish = vectors_finish,
    .close = vectors_close,
};
