/* SPDX-License-Identifier: BSD-2-Clause */
#include "merge/blocks.h"

#include "base/status.h"
#include "files/csv_reader.h"
#include "vectors/reader.h"

#include <string.h>

#define APART (2 * GPUME_VECTORS_UNITS) /* candidates differ by so much in x or y, */
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

/* Is the vector, in whole pixels, too close to a candidate to be another one? */
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

/* Does the field's last block lack candidates? It has fewer than were wanted only if no vector of
 * its window is left. Refinement moves them by less than a pixel, so that a whole pixel that was
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

int gpume_merge_blocks_of_candidates(struct gpume_merge_blocks *found, const char *path,
    const struct gpume_merge_part *part, const struct gpume_log *log)
{
    struct gpume_vectors_reader *reader = NULL;
    const struct gpume_vectors_source source = {.path = path, .log = *log};
    const struct gpume_vectors_field *field = NULL;
    int status;
    *found = (struct gpume_merge_blocks){0};
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

int gpume_merge_blocks_of_matches(
    struct gpume_merge_blocks *found, const char *path, const struct gpume_log *log)
{
    static const struct gpume_csv_column columns[MATCH_COLUMNS] = {{"framenum", false},
        {"blockw", false}, {"blockh", false}, {"dstx", false}, {"dsty", false}};
    struct gpume_csv_reader csv;
    struct gpume_stream *stream = NULL;
    int64_t last[MATCH_COLUMNS] = {0}, row[MATCH_COLUMNS] = {0};
    int status;
    *found = (struct gpume_merge_blocks){0};
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
