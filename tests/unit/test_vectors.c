/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares vectors.csv, written by one thread and by several, with fprintf, byte for byte at odd
 * sizes; other formats by one thread with several; and that no file stays if the disk is full, the
 * reader has closed the pipe or the run has ended early. Several threads are used only for large
 * outputs, so every table here is large. Works in its own folder below the current one.
 */
#include "harness.h"
#include "logged.h"
#include "sinks/sink.h"
#include "vectors/format.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALONE 1u    /* processor: the caller makes all rows */
#define SEVERAL 16u /* processors: four threads share them */

static const struct gpume_sink_ops *ops = &gpume_sink_vectors_csv;
static const struct gpume_vectors_format *format; /* of gpume_sink_vectors */

struct table {
    uint32_t width, height, block;
    uint32_t fields;
    uint64_t first; /* frame */
};

/* A field with its arrays; every field of a table is the same, frame numbers apart. */
struct made {
    struct gpume_field field;
    struct gpume_layer layer;
    const struct gpume_layer *layers[1];
    struct gpume_vector *vectors;
    uint32_t *costs, *ranks;
};

static bool make_field(struct made *made, const struct table *table, uint64_t *seed)
{
    const uint32_t columns = (table->width - 1) / table->block + 1;
    const uint32_t rows = (table->height - 1) / table->block + 1;
    const size_t blocks = (size_t)columns * rows;
    made->vectors = malloc(blocks * sizeof *made->vectors);
    made->costs = malloc(blocks * sizeof *made->costs);
    made->ranks = malloc(blocks * sizeof *made->ranks);
    REQUIRE(made->vectors && made->costs && made->ranks);
    for (size_t i = 0; made->vectors && made->costs && made->ranks && i < blocks; i++) {
        made->vectors[i].dx = (int16_t)((int32_t)(harness_random(seed) % 1025) - 512);
        made->vectors[i].dy = (int16_t)((int32_t)(harness_random(seed) % 1025) - 512);
        /* Any number of digits, and all values next to a power of ten. */
        made->costs[i] = harness_random(seed) >> harness_random(seed) % 32;
        made->ranks[i] = 1;
        for (uint32_t tens = harness_random(seed) % 10; tens > 0; tens--) {
            made->ranks[i] *= 10;
        }
        made->ranks[i] -= harness_random(seed) % 2;
    }
    made->layer = (struct gpume_layer){.block_w = table->block,
        .block_h = table->block,
        .blocks_x = columns,
        .blocks_y = rows,
        .vectors = made->vectors,
        .costs = made->costs,
        .ranks = made->ranks};
    made->layers[0] = &made->layer;
    made->field = (struct gpume_field){.layer_count = 1, .layers = made->layers};
    return made->vectors && made->costs && made->ranks;
}

static void free_field(struct made *made)
{
    free(made->vectors);
    free(made->costs);
    free(made->ranks);
}

static int open_sink(
    struct gpume_sink **sink, const char *path, const struct table *table, uint32_t processors)
{
    static const struct gpume_run_request asked;
    static struct gpume_run run;
    run = (struct gpume_run){.asked = &asked, .format = format, .log = counting_log};
    run.params.width = table->width;
    run.params.height = table->height;
    run.params.block = table->block;
    run.params.threads = processors;
    return gpume_sink_open(sink, ops, path, &run);
}

/* Writes all fields of the table, until one fails. */
static int give_fields(struct gpume_sink *sink, const struct table *table, struct made *made)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; i < table->fields && status == GPUME_OK; i++) {
        made->field.frame = table->first + i;
        made->field.ref = made->field.frame - 1;
        status = ops->field(sink, &made->field);
    }
    return status;
}

static int write_table(
    const char *path, const struct table *table, struct made *made, uint32_t processors)
{
    struct gpume_sink *sink = NULL;
    int status = open_sink(&sink, path, table, processors);
    if (status == GPUME_OK) {
        status = give_fields(sink, table, made);
    }
    if (status == GPUME_OK) {
        status = ops->finish(sink);
    }
    gpume_sink_close(&sink);
    REQUIRE(sink == NULL);
    return status;
}

static uint32_t cut(uint32_t block, uint32_t at, uint32_t size)
{
    return size - at < block ? size - at : block;
}

static bool same_next(FILE *file, const char *text, size_t bytes)
{
    char data[256];
    return fread(data, 1, bytes, file) == bytes && memcmp(data, text, bytes) == 0;
}

/* Does the file hold the table, byte for byte? */
static bool is_table(const char *path, const struct table *table, const struct made *made)
{
    static const char header[] = "frame,ref,x,y,w,h,dx,dy,cost,rank\n";
    const struct gpume_layer *layer = &made->layer;
    FILE *file = fopen(path, "rb");
    bool same = file && same_next(file, header, sizeof header - 1);
    for (uint32_t number = 0; same && number < table->fields; number++) {
        for (uint32_t i = 0; same && i < layer->blocks_x * layer->blocks_y; i++) {
            const uint32_t x = i % layer->blocks_x * table->block;
            const uint32_t y = i / layer->blocks_x * table->block;
            char row[256];
            const int bytes =
                snprintf(row, sizeof row, "%" PRIu64 ",%" PRIu64 ",%u,%u,%u,%u,%d,%d,%u,%u\n",
                    table->first + number, table->first + number - 1, x, y,
                    cut(table->block, x, table->width), cut(table->block, y, table->height),
                    made->vectors[i].dx, made->vectors[i].dy, made->costs[i], made->ranks[i]);
            same = same_next(file, row, (size_t)bytes);
        }
    }
    same = same && fgetc(file) == EOF;
    if (file) {
        fclose(file);
    }
    return same;
}

static bool same_files(const char *left, const char *right)
{
    static char a[65536], b[65536];
    FILE *first = fopen(left, "rb"), *second = fopen(right, "rb");
    bool same = first && second;
    size_t bytes = same ? sizeof a : 0;
    while (same && bytes == sizeof a) {
        bytes = fread(a, 1, sizeof a, first);
        same = fread(b, 1, sizeof b, second) == bytes && memcmp(a, b, bytes) == 0;
    }
    if (first) {
        fclose(first);
    }
    if (second) {
        fclose(second);
    }
    return same;
}

static void test_bytes(void)
{
    static const struct table tables[] = {
        {1, 1, 4, 250000, 1},                       /* one block of one pixel */
        {65536, 4, 4, 12, 9},                       /* one row */
        {4, 65536, 4, 12, 1},                       /* one column */
        {16382, 2, 4, 60, 99},                      /* an item of 4096 rows, exactly */
        {16388, 3, 4, 60, 99},                      /* and one row more */
        {1921, 1083, 8, 6, 9999},                   /* cut at both edges */
        {517, 509, 4, 12, UINT64_MAX - 20},         /* the longest numbers */
        {GPUME_BLOCK_MAX + 1, 1, 128, 120000, 100}, /* two blocks, one of one pixel */
    };
    uint64_t seed = 0x9E3779B97F4A7C15ull;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct made made = {0};
        struct stat info;
        if (make_field(&made, &tables[i], &seed)) {
            REQUIRE_EQUAL(write_table("alone.csv", &tables[i], &made, ALONE), GPUME_OK);
            REQUIRE_EQUAL(write_table("several.csv", &tables[i], &made, SEVERAL), GPUME_OK);
            REQUIRE(is_table("alone.csv", &tables[i], &made));
            REQUIRE(is_table("several.csv", &tables[i], &made));
            REQUIRE(stat("alone.csv", &info) == 0 && info.st_size > 5000000);
            REQUIRE(unlink("alone.csv") == 0 && unlink("several.csv") == 0);
        }
        free_field(&made);
    }
    REQUIRE_EQUAL(logged.lines, 0);
}

/* Every format has the same bytes from one thread and from several. */
static void test_threads(void)
{
    static const struct table table = {1921, 1083, 8, 16, 9998};
    struct stat info;
    uint64_t seed = 0xD1B54A32D192ED03ull;
    struct made made = {0};
    const bool is_made = make_field(&made, &table, &seed);
    for (size_t i = 0; is_made && (format = gpume_vectors_format_at(i)) != NULL; i++) {
        ops = gpume_sink_vectors(format);
        if (!format->numbered) {
            REQUIRE_EQUAL(write_table("alone", &table, &made, ALONE), GPUME_OK);
            REQUIRE_EQUAL(write_table("several", &table, &made, SEVERAL), GPUME_OK);
            REQUIRE(same_files("alone", "several"));
            REQUIRE(stat("alone", &info) == 0 &&
                    (info.st_size > 5000000 || format == &gpume_vectors_hash));
            REQUIRE(unlink("alone") == 0 && unlink("several") == 0);
        }
    }
    ops = &gpume_sink_vectors_csv;
    free_field(&made);
    REQUIRE_EQUAL(logged.lines, 0);
}

static const struct table endless = {1920, 1080, 8, 1000, 1};

/* The disk fills in the middle of a field: reported once, and no file stays. */
static void test_full(struct made *made, uint32_t processors)
{
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    const struct rlimit small = {9999999, limit.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    logged.lines = 0;
    REQUIRE_EQUAL(write_table("full.csv", &endless, made, processors), GPUME_IO);
    REQUIRE_EQUAL(logged.lines, 1);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    REQUIRE(access("full.csv", F_OK) != 0);
}

/* The run ends early: nothing is logged, and no file stays. */
static void test_given_up(struct made *made, uint32_t processors)
{
    struct table some = endless;
    struct gpume_sink *sink = NULL;
    some.fields = 8;
    logged.lines = 0;
    REQUIRE_EQUAL(open_sink(&sink, "early.csv", &some, processors), GPUME_OK);
    REQUIRE_EQUAL(give_fields(sink, &some, made), GPUME_OK);
    gpume_sink_close(&sink);
    REQUIRE_EQUAL(logged.lines, 0);
    REQUIRE(access("early.csv", F_OK) != 0);
}

/* The reader closes the pipe after 6 MB. */
static void test_closed_pipe(struct made *made, uint32_t processors)
{
    REQUIRE(mkfifo("pipe.csv", 0600) == 0);
    const pid_t reader = fork();
    if (reader == 0) {
        static char data[65536];
        const int fd = open("pipe.csv", O_RDONLY);
        ssize_t got = fd < 0 ? 0 : 1;
        for (size_t all = 0; got > 0 && all < 6000000; all += (size_t)got) {
            got = read(fd, data, sizeof data);
        }
        _exit(0);
    }
    REQUIRE(reader > 0);
    logged.lines = 0;
    REQUIRE_EQUAL(write_table("pipe.csv", &endless, made, processors), GPUME_IO);
    REQUIRE_EQUAL(logged.lines, 1);
    REQUIRE(waitpid(reader, NULL, 0) == reader);
    REQUIRE(unlink("pipe.csv") == 0);
}

int main(void)
{
    char folder[] = "test_vectors.XXXXXX";
    struct made made = {0};
    uint64_t seed = 0x2545F4914F6CDD1Dull;
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    test_bytes();
    test_threads();
    if (make_field(&made, &endless, &seed)) {
        for (uint32_t processors = ALONE; processors <= SEVERAL; processors += SEVERAL - ALONE) {
            test_closed_pipe(&made, processors);
            test_full(&made, processors);
            test_given_up(&made, processors);
        }
    }
    free_field(&made);
    /* Fails if temporary files remain in the folder. */
    REQUIRE(chdir("..") == 0 && rmdir(folder) == 0);
    return harness_verdict();
}
