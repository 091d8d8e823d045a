/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How gpume bench measures searches and arrays: as one job, whose rows are printed at the end, so
 * that no time is shown for a wrong result.
 */
#include "bench/bench.h"

#include "base/params.h"
#include "commit.h"
#include "files/forms.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PLACE_MAX 24 /* columns */
#define TEXT_BYTES 512

/* --- the work in words */

static void append_references(const struct gpume_params *params, char text[TEXT_BYTES])
{
    if (!params->best_reference && params->ref_distance == 1) {
        return;
    }
    gpume_text_join(text, TEXT_BYTES, ", ", "%s %u",
        params->bidirectional    ? "bidirectional"
        : params->best_reference ? "best reference"
                                 : "reference",
        params->distance_count > 0 ? params->distances[0] : params->ref_distance);
    for (uint32_t i = 1; i < params->distance_count; i++) {
        gpume_text_join(text, TEXT_BYTES, "+", "%u", params->distances[i]);
    }
}

/* What is asked of the search beyond shapes, such as "satd, 1/4 pixel", "" for nothing. */
static void search_text(const struct gpume_params *params, char text[TEXT_BYTES])
{
    text[0] = '\0';
    if (params->metric != GPUME_METRIC_SAD) {
        gpume_text_join(text, TEXT_BYTES, ", ", "%s", gpume_names_metric[params->metric]);
    }
    if (params->subpel > 1) {
        gpume_text_join(text, TEXT_BYTES, ", ", "1/%u pixel %s %s", params->subpel,
            gpume_names_interpolation[params->interpolation],
            gpume_names_subpel_search[params->subpel_search]);
    }
    if (params->refine_metric != GPUME_REFINE_BY_METRIC) {
        gpume_text_join(
            text, TEXT_BYTES, " ", "by %s", gpume_names_metric[gpume_cost_metric(params)]);
    }
    if (params->rate) {
        gpume_text_join(text, TEXT_BYTES, ", ", "lambda %g", params->lambda / 256.0);
    }
    if (params->predictor == GPUME_PREDICTOR_MEDIAN) {
        gpume_text_join(text, TEXT_BYTES, ", ", "median in %u pass%s", params->passes,
            params->passes == 1 ? "" : "es");
    }
    if (params->partition) {
        gpume_text_join(text, TEXT_BYTES, ", ", "partition");
    }
    append_references(params, text);
    if (params->candidates > 1) {
        gpume_text_join(text, TEXT_BYTES, ", ", "%u candidates", params->candidates);
    }
}

struct work_texts {
    char shapes[GPUME_SHAPES_TEXT_BYTES], search[TEXT_BYTES], window[32];
    char work[GPUME_SHAPES_TEXT_BYTES + TEXT_BYTES + 2]; /* shapes and search */
};

static struct work_texts describe_work(const struct gpume_params *params)
{
    struct work_texts texts;
    gpume_shapes_text(params, texts.shapes);
    search_text(params, texts.search);
    snprintf(texts.work, sizeof(texts.work), "%s%s%s", texts.shapes, texts.search[0] ? "; " : "",
        texts.search);
    snprintf(texts.window, sizeof(texts.window), "%ux%u", params->window_x, params->window_y);
    return texts;
}

/* --- rows and their columns */

/* A row, and what the forms say besides. */
struct shown_row {
    struct gpume_bench_row row;
    const char *commit, *block, *window, *elimination; /* NULL: arrays have none */
    char size[32];
    uint32_t bits;
    char place[PLACE_MAX + 1]; /* where it ran: the lines above the table have the full name */
    char eliminated[16], mark[2];
    double giga, mega; /* of per_second */
    double percent;    /* of share */
};

#define ROW struct shown_row

static const struct gpume_column csv_columns[] = {
    {GPUME_COLUMN("device", ROW, row.device)},
    {GPUME_COLUMN("driver", ROW, row.driver)},
    {GPUME_COLUMN("commit", ROW, commit)},
    {GPUME_COLUMN("size", ROW, size)},
    {GPUME_COLUMN("bits", ROW, bits)},
    {GPUME_COLUMN("content", ROW, row.content)},
    {GPUME_COLUMN("block", ROW, block), .unknown = GPUME_IF_MISSING},
    {GPUME_COLUMN("window", ROW, window), .unknown = GPUME_IF_MISSING},
    {GPUME_COLUMN("engine", ROW, row.engine)},
    {GPUME_COLUMN("search", ROW, row.search)},
    {GPUME_COLUMN("elimination", ROW, elimination), .unknown = GPUME_IF_MISSING},
    {GPUME_COLUMN("threads", ROW, row.threads), .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("us_per_field", ROW, row.us), .decimals = 3, .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("px_per_s", ROW, row.per_second), .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("speedup_core", ROW, row.over_core), .decimals = 6,
        .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("speedup_mestimate", ROW, row.over_mestimate), .decimals = 6,
        .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("wall_us_per_field", ROW, row.wall_us), .decimals = 3,
        .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("share_of_ceiling", ROW, row.share), .decimals = 6,
        .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("rows", ROW, row.rows), .unknown = GPUME_UNLESS_POSITIVE},
};
static const struct gpume_table csv_table = {GPUME_TABLE(csv_columns, ROW)};

/* In JSON, and for people. */
static const struct gpume_column search_columns[] = {
    {GPUME_COLUMN("content", ROW, row.content)},
    {GPUME_COLUMN("engine", ROW, row.engine), .title = "engine", .width = 7},
    {GPUME_COLUMN("search", ROW, row.search), .title = "search", .width = 9},
    {GPUME_COLUMN(NULL, ROW, place), .title = "on"},
    {GPUME_COLUMN("device", ROW, row.device)},
    {GPUME_COLUMN("driver", ROW, row.driver)},
    {GPUME_COLUMN("threads", ROW, row.threads), .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("elimination", ROW, row.elimination)},
    {GPUME_COLUMN("eliminated", ROW, row.eliminated), .decimals = 6},
    {GPUME_COLUMN(NULL, ROW, eliminated), .title = "elimination", .width = 11},
    {GPUME_COLUMN("rows", ROW, row.rows)},
    {GPUME_COLUMN(NULL, ROW, mark), .title = "", .width = 1},
    {GPUME_COLUMN("us_per_field", ROW, row.us), .decimals = 3, .title = "us/pair", .width = 10,
        .shown = 1, .joined = true},
    {GPUME_COLUMN("wall_us_per_field", ROW, row.wall_us), .decimals = 3, .title = "wall us",
        .width = 10, .shown = 1},
    {GPUME_COLUMN("px_per_s", ROW, row.per_second)},
    {GPUME_COLUMN(NULL, ROW, giga), .title = "G px/s", .width = 9, .style = GPUME_STYLE_FACTOR,
        .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("ceiling_px_per_s", ROW, row.ceiling), .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("share_of_ceiling", ROW, row.share), .decimals = 6,
        .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN(NULL, ROW, percent), .title = "of ceiling", .width = 10, .unit = " %",
        .style = GPUME_STYLE_FACTOR, .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("speedup_core", ROW, row.over_core), .decimals = 6, .title = "x core", .width = 8,
        .style = GPUME_STYLE_FACTOR, .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("speedup_mestimate", ROW, row.over_mestimate), .decimals = 6,
        .title = "x mestimate", .style = GPUME_STYLE_FACTOR, .unknown = GPUME_UNLESS_POSITIVE},
};
static const struct gpume_table search_table = {GPUME_TABLE(search_columns, ROW)};

static const struct gpume_column array_columns[] = {
    {GPUME_COLUMN("work", ROW, row.content)},
    {GPUME_COLUMN("engine", ROW, row.engine), .title = "engine"},
    {GPUME_COLUMN("method", ROW, row.search), .title = "method", .width = 8},
    {GPUME_COLUMN("device", ROW, row.device)},
    {GPUME_COLUMN("driver", ROW, row.driver)},
    {GPUME_COLUMN("items", ROW, row.items), .title = "items", .width = 10},
    {GPUME_COLUMN("bits", ROW, row.item_bits)},
    {GPUME_COLUMN("us", ROW, row.us), .decimals = 3, .title = "us", .width = 12, .shown = 1},
    {GPUME_COLUMN("wall_us", ROW, row.wall_us), .decimals = 3, .title = "with copies us",
        .shown = 1, .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("items_per_s", ROW, row.per_second)},
    {GPUME_COLUMN(NULL, ROW, mega), .title = "M items/s", .width = 10, .shown = 1},
    {GPUME_COLUMN("share_of_copy", ROW, row.share), .decimals = 6,
        .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("speedup_core", ROW, row.over_core), .decimals = 6, .title = "x core", .width = 8,
        .shown = 2, .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN(NULL, ROW, percent), .title = "of copy", .width = 8, .shown = 1, .unit = " %",
        .unknown = GPUME_UNLESS_POSITIVE},
};
static const struct gpume_table array_table = {GPUME_TABLE(array_columns, ROW)};

/* texts: for CSV; NULL: for another form. */
static ROW show_row(const struct gpume_bench *bench, uint32_t i, const struct work_texts *texts)
{
    const struct gpume_bench_row *row = &bench->rows[i];
    const struct gpume_params *params = &bench->params;
    ROW shown = {.row = *row,
        .commit = GPUME_COMMIT,
        .bits = bench->arrays ? row->item_bits : params->bits,
        .giga = row->per_second / 1e9,
        .mega = row->per_second / 1e6,
        .percent = row->share * 100};
    if (bench->arrays) {
        snprintf(shown.size, sizeof(shown.size), "%" PRIu64, row->items);
        return shown;
    }
    shown.block = texts ? texts->work : NULL;
    shown.window = texts ? texts->window : NULL;
    shown.elimination = row->elimination ? "on" : "off";
    snprintf(shown.size, sizeof(shown.size), "%ux%u", params->width, params->height);
    snprintf(shown.eliminated, sizeof(shown.eliminated), row->elimination ? "on, %.1f %%" : "off",
        100 * row->eliminated);
    snprintf(shown.mark, sizeof(shown.mark), "%s", row->whole ? "" : "~");
    if (row->threads > 0) {
        snprintf(shown.place, sizeof(shown.place), "%" PRIu32 " thread%s", row->threads,
            gpume_plural(row->threads));
    } else {
        snprintf(shown.place, sizeof(shown.place), "%.*s", PLACE_MAX, row->device);
    }
    return shown;
}

/* --- for programs */

static void put_work(struct gpume_json *json, const struct gpume_bench *bench)
{
    const struct gpume_params *params = &bench->params;
    const struct work_texts texts = describe_work(params);
    gpume_json_begin(json, "work");
    gpume_json_text(json, "input", bench->input);
    gpume_json_count(json, "width", params->width);
    gpume_json_count(json, "height", params->height);
    gpume_json_count(json, "bits", params->bits);
    (params->shape_count > 0 ? gpume_json_text : gpume_json_digits)(json, "block", texts.shapes);
    gpume_json_text(json, "window", texts.window);
    gpume_json_text(json, "edge", gpume_names_edge[params->edge]);
    if (texts.search[0]) {
        gpume_json_text(json, "search", texts.search);
    }
    gpume_json_count(json, "fields", bench->fields);
    gpume_json_count(json, "blocks", bench->blocks);
    gpume_json_count(json, "candidates", bench->candidates);
    gpume_json_real(json, "differences_per_field", bench->differences, 0);
    gpume_json_end(json);
    gpume_json_begin(json, "agreed");
    gpume_json_count(json, "plain_rows", bench->plain_rows);
    gpume_json_count(json, "mestimate_rows", bench->mestimate_rows);
    gpume_json_end(json);
}

static void put_rows_json(const void *client, struct gpume_json *json)
{
    const struct gpume_bench *bench = client;
    const char *commit = GPUME_COMMIT;
    gpume_json_text(json, "commit", commit[0] ? commit : NULL);
    gpume_json_text(json, "cpu", bench->cpu);
    if (!bench->arrays) {
        gpume_json_count(json, "processors", gpume_host_processors());
        put_work(json, bench);
    }
    gpume_json_begin_list(json, bench->arrays ? "arrays" : "rows");
    for (uint32_t i = 0; i < bench->count; i++) {
        const ROW row = show_row(bench, i, NULL);
        gpume_table_json(bench->arrays ? &array_table : &search_table, NULL, &row, 1, json);
    }
    gpume_json_end_list(json);
    if (!bench->arrays) {
        gpume_json_begin_list(json, "notes");
        for (uint32_t i = 0; i < bench->note_count; i++) {
            gpume_json_text(json, NULL, bench->notes[i]);
        }
        gpume_json_end_list(json);
    }
}

static void put_rows_csv(const void *client, struct gpume_out *out)
{
    const struct gpume_bench *bench = client;
    const struct work_texts texts = describe_work(&bench->params);
    gpume_table_csv_head(&csv_table, out);
    for (uint32_t i = 0; i < bench->count; i++) {
        const ROW row = show_row(bench, i, &texts);
        gpume_table_csv(&csv_table, &row, 1, out);
    }
}

/* --- for people */

/* One line per Vulkan device. */
static void print_bench_devices(const struct gpume_bench *bench)
{
    for (uint32_t i = 0; i < bench->count; i++) {
        const struct gpume_bench_row *row = &bench->rows[i];
        bool first = strcmp(row->engine, "vulkan") == 0 || strcmp(row->engine, "several") == 0;
        for (uint32_t j = 0; j < i && first; j++) {
            first = strcmp(row->device, bench->rows[j].device) != 0 ||
                    strcmp(row->driver, bench->rows[j].driver) != 0;
        }
        if (first) {
            printf("device   %s, driver %s\n", row->device, row->driver);
        }
    }
}

static void print_work(const struct gpume_bench *bench)
{
    const struct gpume_params *params = &bench->params;
    printf("work     ");
    if (bench->input) {
        gpume_console_print_name(bench->input, stdout);
        printf(": ");
    }
    const struct work_texts texts = describe_work(params);
    printf("%" PRIu32 " x %" PRIu32 " pixels, %" PRIu32 " bits, block %s, window %s, edge %s%s%s\n",
        params->width, params->height, params->bits, texts.shapes, texts.window,
        gpume_names_edge[params->edge], texts.search[0] ? ", " : "", texts.search);
    printf("         %" PRIu32 " block%s of up to %" PRIu64
           " candidate%s: %.4g G pixel differences "
           "(px) per frame pair\n",
        bench->blocks, gpume_plural(bench->blocks), bench->candidates,
        gpume_plural(bench->candidates), bench->differences / 1e9);
    printf("agreed   every vector and cost of %" PRIu32 " frame pair%s; with plain on %" PRIu32
           " of %" PRIu32 " row%s",
        bench->fields, gpume_plural(bench->fields), bench->plain_rows, params->height,
        gpume_plural(params->height));
    if (bench->mestimate_rows > 0) {
        printf(", with mestimate on %" PRIu32, bench->mestimate_rows);
    }
    printf("\n");
    for (uint32_t i = 0; i < bench->note_count; i++) {
        printf("note     %s\n", bench->notes[i]);
    }
}

static bool is_same_work(const struct gpume_bench_row *a, const struct gpume_bench_row *b)
{
    return strcmp(a->content, b->content) == 0 && a->item_bits == b->item_bits;
}

/* The rows from `first` on that are of its work. */
static void print_rows_of(const struct gpume_bench *bench, uint32_t first)
{
    static ROW rows[GPUME_BENCH_ROWS_MAX]; /* large */
    const struct gpume_bench_row *work = &bench->rows[first];
    size_t count = 0;
    for (uint32_t i = first; i < bench->count; i++) {
        if (is_same_work(&bench->rows[i], work)) {
            rows[count++] = show_row(bench, i, NULL);
        }
    }
    printf("\n%s", work->content);
    if (bench->arrays) {
        printf(", %" PRIu32 " bits", work->item_bits);
    }
    printf("\n");
    gpume_table_print(bench->arrays ? &array_table : &search_table, rows, count, stdout, "", "");
}

static void print_tables(const void *client)
{
    const struct gpume_bench *bench = client;
    const char *commit = GPUME_COMMIT; /* "": unknown */
    const uint32_t processors = gpume_host_processors();
    bool partly = false;
    printf("gpume    %s%s%s%s\n", gpume_version(), commit[0] ? " (" : "", commit,
        commit[0] ? ")" : "");
    printf(
        "cpu      %s, %" PRIu32 " processor%s\n", bench->cpu, processors, gpume_plural(processors));
    print_bench_devices(bench);
    if (!bench->arrays) {
        print_work(bench);
    }
    for (uint32_t i = 0; i < bench->count; i++) {
        bool first = true;
        for (uint32_t j = 0; j < i; j++) {
            first = first && !is_same_work(&bench->rows[i], &bench->rows[j]);
        }
        if (first) {
            print_rows_of(bench, i);
        }
        partly = partly || (!bench->arrays && !bench->rows[i].whole);
    }
    if (partly) {
        printf("\n~ too slow for the whole picture: measured on its upper rows\n");
    }
}

/* --- the job */

void gpume_bench_show(struct gpume_bench *bench, const char *format, ...)
{
    const struct gpume_progress *progress = &bench->job.progress;
    char line[128];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (progress->shown) {
        gpume_console_status(line, progress->rewrite);
    }
}

struct gpume_bench_row *gpume_bench_add_row(
    struct gpume_bench *bench, const char *search, bool cpu, const char *device, const char *driver)
{
    if (bench->count == GPUME_BENCH_ROWS_MAX) {
        return NULL;
    }
    struct gpume_bench_row *row = &bench->rows[bench->count++];
    *row = (struct gpume_bench_row){.engine = cpu ? "cpu" : "vulkan"};
    snprintf(row->search, sizeof(row->search), "%s", search);
    snprintf(row->device, sizeof(row->device), "%s", cpu ? bench->cpu : device);
    snprintf(row->driver, sizeof(row->driver), "%s", driver);
    return row;
}

enum gpume_exit gpume_bench_run(struct gpume_bench *bench,
    const struct gpume_bench_options *options, const struct gpume_job_work *work)
{
    struct gpume_job_work whole = *work;
    whole.print = print_tables;
    whole.put_csv = put_rows_csv;
    whole.put_json = put_rows_json;
    whole.format = 1;
    bench->job.common = &options->common;
    bench->options = options;
    bench->budget_ns = (uint64_t)(options->seconds * 1e9);
    gpume_host_cpu(bench->cpu);
    const enum gpume_exit result = gpume_job_run(&bench->job, &whole, bench);
    gpume_job_close(&bench->job);
    return result;
}
