/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a block's vector is expected (section 10). */
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int middle(int a, int b, int c)
{
    const int low = a < b ? a : b;
    const int high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

static bool is_in(const struct grid *grid, int column, int row)
{
    return column >= 0 && column < grid->columns && row >= 0;
}

static struct vector vector_at(const struct grid *grid, int column, int row)
{
    return is_in(grid, column, row) ? grid->blocks[row * grid->columns + column].matches[0].vector
                                    : (struct vector){0, 0};
}

/* Of left, above and above-right, or above-left in the last column; one alone counts as it is. */
struct vector median_predictor(const struct grid *before, int column, int row)
{
    const int corner = is_in(before, column + 1, row - 1) ? column + 1 : column - 1;
    const bool has_left = is_in(before, column - 1, row);
    const bool has_above = is_in(before, column, row - 1);
    const bool has_corner = is_in(before, corner, row - 1);
    const struct vector left = vector_at(before, column - 1, row);
    const struct vector above = vector_at(before, column, row - 1);
    const struct vector beside = vector_at(before, corner, row - 1);
    if (has_left + has_above + has_corner == 1) {
        return has_left ? left : above;
    }
    return (struct vector){
        middle(left.dx, above.dx, beside.dx), middle(left.dy, above.dy, beside.dy)};
}

/* A row of a table; `shape` is empty where the table has no such column. */
struct row {
    int frame, ref, x, y;
    double dx, dy;
    int candidate;
    char shape[16];
};

static void store(struct row *row, const char *column, const char *value)
{
    const struct {
        const char *name;
        int *value;
    } table[] = {{"frame", &row->frame}, {"ref", &row->ref}, {"x", &row->x}, {"y", &row->y},
        {"candidate", &row->candidate}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(column, table[i].name) == 0) {
            *table[i].value = atoi(value);
        }
    }
    if (strcmp(column, "dx") == 0) {
        row->dx = strtod(value, NULL);
    } else if (strcmp(column, "dy") == 0) {
        row->dy = strtod(value, NULL);
    } else if (strcmp(column, "shape") == 0) {
        snprintf(row->shape, sizeof(row->shape), "%s", value);
    }
}

/* Cuts the line at its commas; returns how many columns there are. */
static int split(char *line, char **values, int limit)
{
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at && count < limit; count++) {
        values[count] = at;
        at = strchr(at, ',');
        if (at) {
            *at++ = '\0';
        }
    }
    return count;
}

static struct row *read_rows(const char *path, int *count)
{
    enum { COLUMNS = 32 };
    char head[1024];
    char line[1024];
    char *names[COLUMNS];
    char *values[COLUMNS];
    struct row *rows = NULL;
    FILE *file = fopen(path, "r");
    if (!file || !fgets(head, sizeof(head), file)) {
        fail(EXIT_INPUT, "%s: no table", path);
    }
    const int columns = split(head, names, COLUMNS);
    for (*count = 0; fgets(line, sizeof(line), file); (*count)++) {
        rows = realloc(rows, ((size_t)*count + 1) * sizeof(*rows));
        if (!rows) {
            fail(EXIT_FAILED, "out of memory");
        }
        rows[*count] = (struct row){0};
        const int found = split(line, values, columns);
        for (int i = 0; i < found; i++) {
            store(&rows[*count], names[i], values[i]);
        }
    }
    fclose(file);
    return rows;
}

/* Ambiguous: of a table with several candidates per block, candidate 0 is taken. */
struct vector file_predictor(
    const struct options *options, int target, int ref, const struct place *place)
{
    static struct row *rows;
    static int count;
    const struct shape shape = options->shapes[place->shape];
    char name[32];
    if (!rows) {
        rows = read_rows(options->predictor_file, &count);
    }
    snprintf(name, sizeof(name), "%dx%d", shape.width, shape.height);
    for (int i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        if (row->frame == target && row->ref == ref && row->x == place->x && row->y == place->y &&
            row->candidate == 0 && (!row->shape[0] || strcmp(row->shape, name) == 0)) {
            /* round() takes halves away from zero; quarters times 1, 2 or 4 are exact. */
            return (struct vector){
                (int)round(row->dx * options->subpel), (int)round(row->dy * options->subpel)};
        }
    }
    fail(EXIT_INPUT, "%s: lacks a block of frame %d", options->predictor_file, target);
}
