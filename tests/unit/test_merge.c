/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src/merge from files made by hand: which parts follow one another, sums of their tables, and
 * files that are cut, too long, or whose heads lie. Works in its own folder below the current one.
 */
#include "base/params.h"
#include "files/bytes.h"
#include "files/out.h"
#include "harness.h"
#include "logged.h"
#include "merge/parts.h"
#include "sinks/summary.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "test_merge-XXXXXX";

/* What a summary says; the others as a run of 16x16 pixels in blocks of 8x8 has it. */
struct given {
    uint64_t start, frames; /* 0: not given */
    uint64_t fields, last;
    const char *more; /* parameters */
    const char *rest; /* members of the summary */
    uint64_t blocks, sad, checked, matched;
    const char *window, *edge, *name, *input, *references;
    unsigned side;
};

static void put(const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(name, "wb");
    REQUIRE(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

/* Writes NAME/summary.json and reads it; *part is to be finished. */
static int make_part(struct gpume_merge_part *part, const char *name, const struct given *given)
{
    char text[2048], path[64], start[32] = "null", frames[32] = "null";
    if (given->start > 0) {
        snprintf(start, sizeof(start), "%" PRIu64, given->start);
    }
    if (given->frames > 0) {
        snprintf(frames, sizeof(frames), "%" PRIu64, given->frames);
    }
    snprintf(text, sizeof(text),
        "{\"format\": 1, \"gpume\": \"0\", \"input\": {%s \"name\": \"%s\", \"width\": %u, "
        "\"height\": 16, \"bits\": 8, \"frames\": %" PRIu64 "},"
        "\"parameters\": {\"window\": \"%s\", %s"
        "\"edge\": \"%s\", \"start\": %s, \"frames\": %s%s},"
        "\"fields\": %" PRIu64 ", \"last_field\": %" PRIu64 ", \"blocks_per_field\": 4, "
        "\"totals\": {\"blocks\": %" PRIu64 ", \"sad_after\": %" PRIu64
        ", \"border\": 3}, \"checked\": %" PRIu64 ", \"matched\": %" PRIu64
        ", \"engine\": {\"device\": \"%s\", \"host_bytes\": %" PRIu64
        "}, \"stages\": {\"decode\": {\"seconds\": 0.5}}%s}",
        given->input ? given->input : "", given->name ? given->name : "a",
        given->side > 0 ? given->side : 16, given->last + 1, given->window ? given->window : "7x7",
        given->references ? given->references : "\"ref-distance\": 1, \"direction\": \"past\", ",
        given->edge ? given->edge : "extend", start, frames, given->more ? given->more : "",
        given->fields, given->last, given->blocks > 0 ? given->blocks : 4 * given->fields,
        given->sad, given->checked, given->matched, name, 100 * given->fields,
        given->rest ? given->rest : "");
    (void)mkdir(name, 0777);
    snprintf(path, sizeof(path), "%s/summary.json", name);
    put_text(path, text);
    return gpume_merge_part_read(part, name, &counting_log);
}

/* Whether the two are parts of one run; whole: of all of it. */
static int check_pair(const struct given *a, const struct given *b, bool whole)
{
    struct gpume_merge_part parts[2] = {0};
    REQUIRE_EQUAL(make_part(&parts[0], "b", b), GPUME_OK); /* in any order */
    REQUIRE_EQUAL(make_part(&parts[1], "a", a), GPUME_OK);
    const unsigned errors = logged.errors;
    const int status = gpume_merge_parts_check(parts, 2, whole, &counting_log);
    REQUIRE_EQUAL(logged.errors - errors, status == GPUME_OK ? 0 : 1);
    gpume_merge_part_finish(&parts[0]);
    gpume_merge_part_finish(&parts[1]);
    return status;
}

static void check_neighbours(void)
{
    const struct given first = {.start = 1, .frames = 10, .fields = 10, .last = 10};
    const struct given next = {.start = 11, .fields = 3, .last = 13};
    const struct given later = {.start = 12, .fields = 3, .last = 14};
    const struct given sooner = {.start = 10, .fields = 3, .last = 12};
    REQUIRE_EQUAL(check_pair(&first, &next, false), GPUME_OK);
    REQUIRE_EQUAL(check_pair(&first, &next, true), GPUME_OK);
    REQUIRE_EQUAL(check_pair(&first, &later, false), GPUME_INVALID);
    REQUIRE(strstr(logged.last, "the part with frame 11 is missing"));
    REQUIRE_EQUAL(check_pair(&first, &sooner, false), GPUME_INVALID);
    REQUIRE(strstr(logged.last, "overlaps"));
    /* The input ended before ten frames: nothing can follow. */
    const struct given ended = {.start = 1, .frames = 10, .fields = 4, .last = 4};
    REQUIRE_EQUAL(check_pair(&ended, &next, false), GPUME_INVALID);
    REQUIRE(strstr(logged.last, "overlaps"));
    /* Without --frames: the same, also for the part that begins where it does. */
    const struct given open = {.start = 1, .fields = 4, .last = 4};
    REQUIRE_EQUAL(check_pair(&open, &next, false), GPUME_INVALID);
    REQUIRE(strstr(logged.last, "overlaps"));
    REQUIRE_EQUAL(check_pair(&open, &open, false), GPUME_INVALID);
    REQUIRE(strstr(logged.last, "overlaps"));
    /* The whole begins with the first frame that has a reference, and ends with the input. */
    const struct given second = {.start = 2, .frames = 9, .fields = 9, .last = 10};
    const struct given closed = {.start = 11, .frames = 3, .fields = 3, .last = 13};
    const struct given beyond = {.start = 11, .frames = 4, .fields = 3, .last = 13};
    REQUIRE_EQUAL(check_pair(&second, &next, false), GPUME_OK);
    REQUIRE_EQUAL(check_pair(&second, &next, true), GPUME_INVALID);
    REQUIRE_EQUAL(check_pair(&first, &closed, false), GPUME_OK);
    REQUIRE_EQUAL(check_pair(&first, &closed, true), GPUME_INVALID);
    REQUIRE_EQUAL(check_pair(&first, &beyond, true), GPUME_OK);
    /* Without --start a run begins behind its nearest reference, or with the first frame. */
    struct given begin = {.frames = 10, .fields = 10, .last = 10}, end = next;
    REQUIRE_EQUAL(check_pair(&begin, &next, true), GPUME_OK);
    begin.references = end.references = "\"ref-distance\": \"2,5\", \"direction\": \"past\", ";
    begin.last = 11;
    REQUIRE_EQUAL(check_pair(&begin, &end, true), GPUME_INVALID);
    end.start = 12;
    REQUIRE_EQUAL(check_pair(&begin, &end, true), GPUME_OK);
    begin.references = end.references = "\"ref-distance\": \"2,5\", \"direction\": \"both\", ";
    end.start = 10;
    begin.last = 9;
    REQUIRE_EQUAL(check_pair(&begin, &end, true), GPUME_OK);
}

/* Parts of different runs, and what may differ. */
static void check_differences(void)
{
    static const struct {
        const char *a, *b;
        int status;
    } cases[] = {
        {", \"threads\": 3", ", \"threads\": 4", GPUME_OK},
        {", \"backend\": \"cpu\"", "", GPUME_OK},
        {", \"search\": \"ref\"", ", \"hwaccel\": \"cuda\"", GPUME_OK},
        {", \"lambda\": 3", ", \"lambda\": 4", GPUME_INVALID},
        {", \"lambda\": 3", "", GPUME_INVALID},
        {"", ", \"lambda\": 3", GPUME_INVALID},
    };
    struct given a = {.start = 1, .frames = 2, .fields = 2, .last = 2};
    struct given b = {.start = 3, .fields = 3, .last = 5};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        a.more = cases[i].a;
        b.more = cases[i].b;
        REQUIRE_EQUAL(check_pair(&a, &b, false), cases[i].status);
    }
    /* The table of parameters says which; --resume asks the same function. */
    for (uint32_t i = 0; i < gpume_params_count; i++) {
        const struct gpume_param *param = &gpume_params_table[i];
        if (param->option) {
            REQUIRE_EQUAL(gpume_summary_may_differ(param->option), param->speed_only);
        }
    }
    REQUIRE(gpume_summary_may_differ("hwaccel") && !gpume_summary_may_differ("codec"));
    a.more = b.more = NULL;
    /* Names may differ where the contents are known. */
    a.input = "\"decoder\": \"h264\", ";
    REQUIRE_EQUAL(check_pair(&a, &b, false), GPUME_OK);
    a.input = "\"codec\": \"h264\", ";
    REQUIRE_EQUAL(check_pair(&a, &b, false), GPUME_INVALID);
    a.input = NULL;
    a.rest = ", \"contents\": {\"input\": \"1\"}";
    REQUIRE_EQUAL(check_pair(&a, &b, false), GPUME_INVALID);
    b.rest = ", \"contents\": {\"input\": \"2\"}";
    REQUIRE_EQUAL(check_pair(&a, &b, false), GPUME_INVALID);
    b.rest = a.rest;
    REQUIRE_EQUAL(check_pair(&a, &b, false), GPUME_OK);
    b.name = "b";
    REQUIRE_EQUAL(check_pair(&a, &b, false), GPUME_OK);
    a.rest = b.rest = NULL;
    REQUIRE_EQUAL(check_pair(&a, &b, false), GPUME_INVALID);
}

/* Summaries that no run has written. */
static void check_summaries(void)
{
    static const struct given wrong[] = {
        {.start = 1, .fields = 0, .last = 2},
        {.start = 1, .fields = 2, .last = 2, .checked = 5, .matched = 4},
        {.start = 1, .fields = 2, .last = 2, .rest = ", \"partial\": true"},
        {.start = 1, .fields = 2, .last = 2, .input = "\"reference\": \"b\", "},
        {.start = 1, .fields = 2, .last = 2, .window = "513x7"},
        {.start = 1, .fields = 2, .last = 2, .window = "7x4294967295"},
        {.start = 1, .fields = 2, .last = 2, .window = "7x513"},
        {.start = 1, .fields = 2, .last = 2, .window = "7"},
        {.start = 1, .fields = 2, .last = 2, .side = 1048577},
        {.start = 1, .fields = UINT64_C(1) << 52, .last = 2},
    };
    struct gpume_merge_part part = {0};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const unsigned errors = logged.errors;
        REQUIRE_EQUAL(make_part(&part, "a", &wrong[i]), GPUME_INVALID);
        REQUIRE_EQUAL(logged.errors - errors, 1);
        gpume_merge_part_finish(&part);
    }
    const struct given largest = {
        .start = 1, .fields = 2, .last = 2, .window = "512x0", .side = 1048576};
    REQUIRE_EQUAL(make_part(&part, "a", &largest), GPUME_OK);
    REQUIRE_EQUAL(part.window_x, 512);
    REQUIRE_EQUAL(part.window_y, 0);
    REQUIRE_EQUAL(part.blocks, 8);
    gpume_merge_part_finish(&part);
}

/* How many rows blocks have in tables, and where that is not known. */
static void check_rows(void)
{
    static const struct {
        const char *more, *window, *edge;
        uint64_t blocks;
        uint32_t candidates;
        bool fewer, two_matches;
    } cases[] = {
        {"", "7x7", "extend", 12, 1, false, false},
        {"", "0x0", "inside", 12, 1, false, false},
        {", \"candidates\": 8", "7x7", "extend", 12, 8, false, false},
        {", \"candidates\": 8", "7x7", "inside", 12, 8, true, false},
        {", \"candidates\": 8", "7x6", "extend", 12, 8, true, false},  /* 195 vectors */
        {", \"candidates\": 2", "1x8", "extend", 12, 2, false, false}, /* 51 */
        {", \"candidates\": 2", "0x99", "extend", 12, 2, true, false},
        {", \"partition\": true", "7x7", "extend", 8, 1, false, false},
        {", \"bidirectional\": true", "7x7", "extend", 12, 1, false, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gpume_merge_part part = {0};
        const struct given given = {.start = 1,
            .fields = 3,
            .last = 3,
            .more = cases[i].more,
            .window = cases[i].window,
            .edge = cases[i].edge,
            .blocks = 8};
        REQUIRE_EQUAL(make_part(&part, "a", &given), GPUME_OK);
        REQUIRE_EQUAL(part.blocks, cases[i].blocks);
        REQUIRE_EQUAL(part.candidates, cases[i].candidates);
        REQUIRE_EQUAL(part.fewer, cases[i].fewer);
        REQUIRE_EQUAL(part.two_matches, cases[i].two_matches);
        gpume_merge_part_finish(&part);
    }
}

#define TABLE "frame,ref,blocks,zero,sad_before,sad_after,sse_before,sse_after\n"

/* Adds a part's table to a total for it alone. */
static int add_table(const struct given *given, const char *rows)
{
    struct gpume_merge_part part = {0};
    struct gpume_merge_total total;
    char text[1024];
    REQUIRE_EQUAL(make_part(&part, "a", given), GPUME_OK);
    snprintf(text, sizeof(text), TABLE "%s", rows);
    put_text("a/frames.csv", text);
    gpume_merge_total_begin(&total, &part, 1);
    const int status = gpume_merge_total_add(&total, &part, NULL, NULL, &counting_log);
    gpume_merge_part_finish(&part);
    return status;
}

static void check_tables(void)
{
    const struct given two = {.start = 1, .frames = 2, .fields = 2, .last = 2, .sad = 30};
    const struct given open = {.start = 1, .fields = 2, .last = 2, .sad = 30};
    REQUIRE_EQUAL(add_table(&two, "1,0,4,0,9,10,1,1\n2,1,4,1,9,20,1,1\n"), GPUME_OK);
    /* As many rows and the same sums, but the last one is of the next part. */
    REQUIRE_EQUAL(add_table(&two, "2,1,4,0,9,10,1,1\n3,2,4,1,9,20,1,1\n"), GPUME_INVALID);
    REQUIRE_EQUAL(add_table(&open, "2,1,4,0,9,10,1,1\n3,2,4,1,9,20,1,1\n"), GPUME_OK);
    /* Two references of one frame. */
    REQUIRE_EQUAL(add_table(&two, "2,1,4,0,9,10,1,1\n2,0,4,1,9,20,1,1\n"), GPUME_OK);
    REQUIRE_EQUAL(add_table(&two, "0,1,4,0,9,10,1,1\n1,2,4,1,9,20,1,1\n"), GPUME_INVALID);
    REQUIRE_EQUAL(add_table(&open, "0,1,4,0,9,10,1,1\n1,2,4,1,9,20,1,1\n"), GPUME_INVALID);
    /* Frames fall; a pair is missing or too many; other sums. */
    REQUIRE_EQUAL(add_table(&two, "2,1,4,0,9,10,1,1\n1,0,4,1,9,20,1,1\n"), GPUME_INVALID);
    REQUIRE_EQUAL(add_table(&two, "1,0,8,0,9,30,1,1\n"), GPUME_INVALID);
    REQUIRE_EQUAL(
        add_table(&two, "1,0,4,0,9,10,1,1\n2,1,2,1,9,20,1,1\n2,3,2,1,9,0,1,1\n"), GPUME_INVALID);
    REQUIRE_EQUAL(add_table(&two, "1,0,4,0,9,10,1,1\n2,1,5,1,9,20,1,1\n"), GPUME_INVALID);
    REQUIRE_EQUAL(add_table(&two, "1,0,4,0,9,10,1,1\n2,1,4,1,9,21,1,1\n"), GPUME_INVALID);
    REQUIRE_EQUAL(add_table(&two, "1,0,4,0,9,10,1,1\n2,1,4,1,9,19,1,1\n"), GPUME_INVALID);
}

/* Of candidates, shares that were dropped by block sums and compared; vectors at the border. */
#define RESULTS(candidates, dropped, compared, border)                                             \
    ", \"contents\": {\"input\": \"7\"}, \"elimination\": {\"candidates\": " #candidates           \
    ", \"dropped_by_block_sums\": " #dropped ", \"compared\": " #compared "}, \"directions\": "    \
    "{\"past\": {\"totals\": {\"border\": " #border "}}}"

/* Two parts, whose summary is read again. */
static void check_total(void)
{
    const struct given given[] = {{.start = 1,
                                      .frames = 2,
                                      .fields = 2,
                                      .last = 2,
                                      .sad = 30,
                                      .checked = 7,
                                      .matched = 7,
                                      .more = ", \"check\": true, \"lambda\": 0.12345678",
                                      .rest = RESULTS(100, 0.5, 0.25, 1)},
        {.start = 3,
            .frames = 1,
            .fields = 1,
            .last = 3,
            .sad = 5,
            .checked = 2,
            .matched = 2,
            .more = ", \"check\": true, \"lambda\": 0.12345678",
            .rest = RESULTS(300, 0.2, 0.3, 2)}};
    struct gpume_merge_part parts[2] = {0};
    struct gpume_merge_total total;
    struct gpume_out *out = NULL;
    REQUIRE_EQUAL(make_part(&parts[0], "a", &given[0]), GPUME_OK);
    REQUIRE_EQUAL(make_part(&parts[1], "b", &given[1]), GPUME_OK);
    put_text("a/frames.csv", TABLE "1,0,4,0,9,10,40,20\n2,1,4,1,8,20,30,10\n");
    put_text("b/frames.csv", TABLE "3,2,4,2,7,5,20,4\n");
    /* The engine's check is of a field at a time, and a failed one has no part: told apart here. */
    json_t *matched = json_object_get(parts[1].summary, "matched");
    REQUIRE_EQUAL(json_real_set(matched, 1), 0);
    gpume_merge_total_begin(&total, parts, 2);
    for (size_t i = 0; i < 2; i++) {
        REQUIRE_EQUAL(
            gpume_merge_total_add(&total, &parts[i], NULL, NULL, &counting_log), GPUME_OK);
    }
    REQUIRE_EQUAL(gpume_out_open(&out, "total.json", true, &counting_log), GPUME_OK);
    gpume_merge_total_write(&total, out);
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    json_error_t error;
    json_t *all = json_load_file("total.json", 0, &error), *frames = NULL;
    const char *device = NULL, *contents = NULL;
    double decode = 0, lambda = 0, dropped = 0, compared = 0;
    int fields = 0, first = 0, last = 0, blocks = 0, zero = 0, border = 0, before = 0, after = 0,
        checked = 0, agreed = 0, host = 0, input_frames = 0, candidates = 0, past = 0;
    REQUIRE_EQUAL(
        json_unpack(all,
            "{s:i, s:i, s:i, s:{s:i, s:i, s:i, s:i, s:i}, s:i, s:i, s:{s:s, s:i}, "
            "s:{s:o, s:F}, s:{s:i}, s:{s:{s:F}}, s:{s:s}, s:{s:i, s:F, s:F}, "
            "s:{s:{s:{s:i}}}}",
            "fields", &fields, "first_field", &first, "last_field", &last, "totals", "blocks",
            &blocks, "zero", &zero, "border", &border, "sad_before", &before, "sad_after", &after,
            "checked", &checked, "matched", &agreed, "engine", "device", &device, "host_bytes",
            &host, "parameters", "frames", &frames, "lambda", &lambda, "input", "frames",
            &input_frames, "stages", "decode", "seconds", &decode, "contents", "input", &contents,
            "elimination", "candidates", &candidates, "dropped_by_block_sums", &dropped, "compared",
            &compared, "directions", "past", "totals", "border", &past),
        0);
    REQUIRE_EQUAL(fields, 3);
    REQUIRE_EQUAL(first, 1);
    REQUIRE_EQUAL(last, 3);
    REQUIRE_EQUAL(blocks, 12);
    REQUIRE_EQUAL(zero, 3);
    REQUIRE_EQUAL(border, 6);
    REQUIRE_EQUAL(before, 24);
    REQUIRE_EQUAL(after, 35);
    REQUIRE_EQUAL(checked, 9);
    REQUIRE_EQUAL(agreed, 8);
    REQUIRE_EQUAL(host, 200); /* the larger */
    REQUIRE_EQUAL(input_frames, 4);
    REQUIRE_EQUAL(json_integer_value(frames), 3);
    REQUIRE(decode > 0.99 && decode < 1.01);
    REQUIRE(lambda > 0.123456775 && lambda < 0.123456785);
    REQUIRE_EQUAL(candidates, 400);
    REQUIRE(dropped > 0.274 && dropped < 0.276);   /* 50 + 60 of 400 */
    REQUIRE(compared > 0.287 && compared < 0.288); /* 25 + 90 */
    REQUIRE_EQUAL(past, 3);
    REQUIRE(contents && strcmp(contents, "7") == 0);
    REQUIRE(device && strcmp(device, "several") == 0);
    json_decref(all);
    gpume_merge_part_finish(&parts[0]);
    gpume_merge_part_finish(&parts[1]);
}

/* Looks at a file of these bytes as one of a part with these numbers of frame pairs and blocks. */
static int join_as(const void *data, size_t bytes, uint64_t fields, uint64_t blocks)
{
    const struct gpume_merge_part part = {.fields = fields, .blocks = blocks, .candidates = 1};
    struct gpume_join_file file = {0};
    struct gpume_out *out = NULL;
    put("file", data, bytes);
    const unsigned errors = logged.errors;
    int status = gpume_join_look(&file, strdup("file"), &counting_log);
    status = status ? status : gpume_join_count(&file, &part, &counting_log);
    REQUIRE_EQUAL(gpume_out_open(&out, "joined", true, &counting_log), GPUME_OK);
    status = status ? status : gpume_join_head(out, &file, 1, &counting_log);
    status = status ? status : gpume_join_append(out, &file, NULL, &counting_log);
    status = status ? status : gpume_out_finish(out);
    REQUIRE_EQUAL(logged.errors - errors, status == GPUME_OK ? 0 : 1);
    gpume_out_close(&out);
    gpume_join_finish(&file);
    return status;
}

/* A whole file is joined to itself; one that is cut anywhere, or longer, is refused. */
static void check_lengths(const void *data, size_t bytes, uint64_t fields, uint64_t blocks)
{
    char *copy = calloc(1, bytes + 1), *same = malloc(bytes);
    FILE *file;
    REQUIRE(copy && same);
    memcpy(copy, data, bytes);
    REQUIRE_EQUAL(join_as(copy, bytes, fields, blocks), GPUME_OK);
    file = fopen("joined", "rb");
    REQUIRE(file && fread(same, 1, bytes, file) == bytes && fgetc(file) == EOF);
    REQUIRE(memcmp(same, data, bytes) == 0);
    REQUIRE(file && fclose(file) == 0);
    for (size_t cut = 1; cut < bytes; cut++) {
        REQUIRE_EQUAL(join_as(copy, cut, fields, blocks), GPUME_INVALID);
    }
    REQUIRE_EQUAL(join_as(copy, bytes + 1, fields, blocks), GPUME_INVALID);
    free(copy);
    free(same);
}

static void check_lines(void)
{
    static const char csv[] = "frame,ref,x,y,w,h\n1,0,0,0,8,8\n1,0,8,0,8,8\n";
    static const char jsonl[] = "{\"frame\":1}\n{\"frame\":1}\n";
    static const char hash[] = "#format\n#frame,hash\n1,ab\n2,cd\n";
    static const char mvs[] = "framenum,source\n1,0\n1,0\n";
    check_lengths(csv, sizeof(csv) - 1, 1, 2);
    check_lengths(jsonl, sizeof(jsonl) - 1, 1, 2);
    check_lengths(hash, sizeof(hash) - 1, 2, 9);
    check_lengths(mvs, sizeof(mvs) - 1, 1, 2);
    check_lengths(TABLE "1,0,4\n2,1,4\n", sizeof(TABLE "1,0,4\n2,1,4\n") - 1, 2, 9);
    REQUIRE_EQUAL(join_as(csv, sizeof(csv) - 1, 1, 1), GPUME_INVALID);
    REQUIRE_EQUAL(join_as(csv, sizeof(csv) - 1, 1, 3), GPUME_INVALID);
    REQUIRE_EQUAL(join_as(jsonl, sizeof(jsonl) - 1, 1, 1), GPUME_INVALID);
}

/* Fields of `records` records of four bytes each. */
static size_t make_mvf(unsigned char *at, unsigned fields, unsigned across, unsigned rows)
{
    unsigned char *const begin = at;
    memset(at, 0, 64);
    memcpy(at, "GPUMEMVF", 8);
    gpume_le_put32(at + 8, 1);
    gpume_le_put32(at + 12, 64);
    gpume_le_put32(at + 32, 4);
    at += 64;
    for (unsigned i = 0; i < fields; i++) {
        memset(at, 0, 48 + 4 * across * rows);
        memcpy(at, "FIEL", 4);
        gpume_le_put32(at + 4, 48);
        gpume_le_put64(at + 8, 4 * across * rows);
        gpume_le_put32(at + 40, across);
        gpume_le_put32(at + 44, rows);
        at += 48 + 4 * across * rows;
    }
    return (size_t)(at - begin);
}

static void check_mvf(void)
{
    unsigned char data[1024];
    size_t bytes = make_mvf(data, 2, 2, 2);
    check_lengths(data, bytes, 2, 8);
    REQUIRE_EQUAL(join_as(data, bytes, 2, 7), GPUME_INVALID);
    /* As many blocks in another number of fields. */
    bytes = make_mvf(data, 1, 4, 2);
    REQUIRE_EQUAL(join_as(data, bytes, 2, 8), GPUME_INVALID);
    bytes = make_mvf(data, 4, 2, 1);
    REQUIRE_EQUAL(join_as(data, bytes, 2, 8), GPUME_INVALID);
    /* Heads that lie about blocks, records, and their own length. */
    bytes = make_mvf(data, 2, 2, 2);
    gpume_le_put32(data + 64 + 40, 3);
    REQUIRE_EQUAL(join_as(data, bytes, 2, 8), GPUME_INVALID);
    bytes = make_mvf(data, 2, 2, 2);
    gpume_le_put32(data + 32, 8);
    REQUIRE_EQUAL(join_as(data, bytes, 2, 8), GPUME_INVALID);
    gpume_le_put32(data + 32, 0);
    REQUIRE_EQUAL(join_as(data, bytes, 2, 8), GPUME_INVALID);
    bytes = make_mvf(data, 2, 2, 2);
    gpume_le_put32(data + 64 + 4, 16);
    REQUIRE_EQUAL(join_as(data, bytes, 2, 8), GPUME_INVALID);
    bytes = make_mvf(data, 2, 2, 2);
    gpume_le_put32(data + 12, 48);
    REQUIRE_EQUAL(join_as(data, bytes, 2, 8), GPUME_INVALID);
}

/* An array of rows of 12 bytes; head: its length with the magic; rows: as text, also of the body.
 */
static size_t make_npy(unsigned char *at, size_t head, const char *rows)
{
    const size_t body = 12 * (size_t)strtoull(rows, NULL, 10);
    memset(at, ' ', head);
    memset(at + head, 7, body);
    memcpy(at, "\x93NUMPY\x01\x00", 8);
    gpume_le_put16(at + 8, (uint16_t)(head - 10));
    char text[160];
    const int length = snprintf(text, sizeof(text),
        "{'descr': [('frame', '<i8'), ('x', '<i4')], 'fortran_order': False, 'shape': (%s,), }",
        rows);
    memcpy(at + 10, text, (size_t)length);
    at[head - 1] = '\n';
    return head + body;
}

static void check_npy(void)
{
    unsigned char data[1024];
    size_t bytes = make_npy(data, 128, "3");
    check_lengths(data, bytes, 1, 3);
    REQUIRE_EQUAL(join_as(data, bytes, 1, 4), GPUME_INVALID);
    REQUIRE_EQUAL(join_as(data, bytes - 12, 1, 2), GPUME_INVALID);
    /* Half of a body whose rows could be half as long. */
    bytes = make_npy(data, 128, "4");
    REQUIRE_EQUAL(join_as(data, bytes - 24, 1, 4), GPUME_INVALID);
    /* More digits than any number has, up to the end of the head and of the file. */
    static unsigned char large[65536 + 64];
    memset(large, '0', sizeof(large));
    make_npy(large, 10 + 65526, "3");
    memset(large + 10 + 80, '0', 65526 - 80);
    REQUIRE_EQUAL(join_as(large, 65536, 1, 3), GPUME_INVALID);
    REQUIRE_EQUAL(join_as(large, 65536 + 36, 1, 3), GPUME_INVALID);
}

/* Two arrays, whose rows together need another digit: room for it is taken from the padding. */
static void check_sum_of_rows(void)
{
    static const size_t heads[] = {128, 95}; /* the second has no padding */
    for (size_t i = 0; i < 2; i++) {
        unsigned char data[2][1024], got[128] = "";
        struct gpume_join_file files[2] = {0};
        struct gpume_out *out = NULL;
        put("file", data[0], make_npy(data[0], heads[i], "9"));
        put("file_2", data[1], make_npy(data[1], heads[i], "1"));
        REQUIRE_EQUAL(gpume_join_look(&files[0], strdup("file"), &counting_log), GPUME_OK);
        REQUIRE_EQUAL(gpume_join_look(&files[1], strdup("file_2"), &counting_log), GPUME_OK);
        REQUIRE_EQUAL(gpume_join_check(&files[0], &files[1], &counting_log), GPUME_OK);
        REQUIRE_EQUAL(gpume_out_open(&out, "joined", true, &counting_log), GPUME_OK);
        const int status = gpume_join_head(out, files, 2, &counting_log);
        REQUIRE_EQUAL(status, i == 0 ? GPUME_OK : GPUME_INVALID);
        if (status == GPUME_OK) {
            REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
            FILE *file = fopen("joined", "rb");
            REQUIRE(file && fread(got, 1, 128, file) == 128 && fclose(file) == 0);
            make_npy(data[0], 128, "10");
            REQUIRE(memcmp(got, data[0], 128) == 0);
        }
        gpume_out_close(&out);
        gpume_join_finish(&files[0]);
        gpume_join_finish(&files[1]);
    }
}

/* The line and two pictures of 4x2 pixels. */
static void check_y4m(void)
{
    static const struct {
        const char *space;
        size_t bytes;
    } spaces[] = {{"mono", 8}, {"mono10", 16}, {"mono16", 16}, {"444", 24}};
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        char data[256];
        size_t bytes = (size_t)snprintf(data, sizeof(data),
            "YUV4MPEG2 W4 H2 F25:1 Ip A1:1 C%s XCOLORRANGE=LIMITED\n", spaces[i].space);
        for (unsigned frame = 0; frame < 2; frame++) {
            memcpy(data + bytes, "FRAME\n", 6);
            memset(data + bytes + 6, 'a', spaces[i].bytes);
            bytes += 6 + spaces[i].bytes;
        }
        check_lengths(data, bytes, 2, 9);
        REQUIRE_EQUAL(join_as(data, bytes, 1, 9), GPUME_INVALID);
        REQUIRE_EQUAL(join_as(data, bytes, 3, 9), GPUME_INVALID);
    }
    static const char foreign[] = "YUV4MPEG2 W4 H2 F25:1 C420jpeg\nFRAME\n123456789012";
    REQUIRE_EQUAL(join_as(foreign, sizeof(foreign) - 1, 1, 9), GPUME_INVALID);
}

static int still_as(const void *data, size_t bytes)
{
    const struct gpume_merge_part part = {.folder = "."};
    put("s7", data, bytes);
    const unsigned errors = logged.errors;
    const int status = gpume_merge_series_check(&part, "s%d", 7, 6, &counting_log);
    REQUIRE_EQUAL(logged.errors - errors, status == GPUME_OK ? 0 : 1);
    return status;
}

/* A numbered file is whole, and not if it is cut anywhere, or longer. */
static void check_still(const void *data, size_t bytes)
{
    unsigned char copy[256] = {0};
    memcpy(copy, data, bytes);
    REQUIRE_EQUAL(still_as(copy, bytes), GPUME_OK);
    for (size_t cut = 0; cut < bytes; cut++) {
        REQUIRE_EQUAL(still_as(copy, cut), GPUME_INVALID);
    }
    REQUIRE_EQUAL(still_as(copy, bytes + 1), GPUME_INVALID);
    memcpy(copy + bytes, copy + bytes - 2, 2); /* as if it ended there */
    REQUIRE_EQUAL(still_as(copy, bytes + 2), GPUME_INVALID);
}

static void check_stills(void)
{
    static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\x02IHDRab1234\0\0\0\x03IDATabc1234"
                              "\0\0\0\0IEND1234";
    static const char jpg[] = "\xff\xd8\xff\xe0\0\x06"
                              "ab\xff\xd9\xff\xda\0\x03"
                              "aabcd\xff\0ef\xff\xd9";
    static const char pgm[] = "P5\n2 3\n255\nabcdef", deep[] = "P5\n2 1\n1023\nabcd";
    static const char ppm[] = "P6\n2 1\n255\nabcdef", bmp[] = "BM\x0a\0\0\0abcd";
    static const char flo[] = "PIEH\x02\0\0\0\x01\0\0\0"
                              "12345678abcdefgh";
    unsigned char npy[256];
    check_still(png, sizeof(png) - 1);
    check_still(jpg, sizeof(jpg) - 1);
    check_still(pgm, sizeof(pgm) - 1);
    check_still(deep, sizeof(deep) - 1);
    check_still(ppm, sizeof(ppm) - 1);
    check_still(bmp, sizeof(bmp) - 1);
    check_still(flo, sizeof(flo) - 1);
    check_still(npy, make_npy(npy, 128, "3"));
    REQUIRE_EQUAL(still_as("some text\n", 10), GPUME_INVALID);
}

/* A report of a part, in JSON: a row per frame, one vector, and blocks of these costs. */
static void put_report(const char *name, unsigned first, unsigned rows, const unsigned *costs,
    unsigned count, const char *bin, const char *end)
{
    FILE *file = fopen(name, "w");
    REQUIRE(file);
    fprintf(file, "{\n  \"figures\": [\n");
    for (unsigned i = first; i < first + rows; i++) {
        fprintf(file,
            "    {\"frame\": %u, \"ref\": %u, \"sad_before\": 9000, \"sad_after\": %u, "
            "\"cut\": false}%s\n",
            i, i - 1, i < 3 ? 1 : 8000, i + 1 < first + rows ? "," : "");
    }
    fprintf(file, "  ],\n  \"histogram\": {\n    \"counts\": [\n      %s\n    ]\n  },\n", bin);
    fprintf(file, "  \"costliest\": [\n");
    for (unsigned i = 0; i < count; i++) {
        fprintf(file, "    {\n      \"from\": %u,\n      \"cost\": %u\n    }%s\n", 100 * first + i,
            costs[i], i + 1 < count ? "," : "");
    }
    fprintf(file, "  ]\n%s", end);
    REQUIRE(fclose(file) == 0);
}

/* Joins the two reports and returns the JSON; NULL: refused. */
static json_t *join_reports(struct gpume_merge_part parts[2])
{
    struct gpume_join_file files[2] = {0};
    struct gpume_merge_total total;
    struct gpume_out *out = NULL;
    json_error_t error;
    json_t *all = NULL;
    gpume_merge_total_begin(&total, parts, 2);
    for (size_t i = 0; i < 2; i++) {
        REQUIRE_EQUAL(
            gpume_merge_total_add(&total, &parts[i], NULL, NULL, &counting_log), GPUME_OK);
    }
    REQUIRE_EQUAL(gpume_join_look(&files[0], strdup("file"), &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_join_look(&files[1], strdup("file_2"), &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_open(&out, "joined", true, &counting_log), GPUME_OK);
    if (gpume_merge_report_write(out, files, &total, &counting_log) == GPUME_OK) {
        REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
        all = json_load_file("joined", 0, &error);
        REQUIRE(all);
    }
    gpume_out_close(&out);
    gpume_join_finish(&files[0]);
    gpume_join_finish(&files[1]);
    return all;
}

/* Of both parts: the costliest 24 blocks, those of the first part first among equals; the sums of
 * bins; cuts, which depend on the frame before. */
static void check_reports(void)
{
    static const unsigned first[] = {90, 80, 80, 70, 60, 50, 40, 30, 20, 19, 18, 17, 16, 15, 14,
        13},
                          second[] = {95, 80, 70, 60, 60, 9, 8, 7, 6, 5, 4, 3, 2, 1};
    static const unsigned from[24] = {300, 100, 101, 102, 301, 103, 302, 104, 303, 304, 105, 106,
        107, 108, 109, 110, 111, 112, 113, 114, 115, 305, 306, 307};
    struct gpume_merge_part parts[2] = {0};
    const struct given a = {.start = 1, .frames = 2, .fields = 2, .last = 2, .sad = 30},
                       b = {.start = 3, .frames = 2, .fields = 2, .last = 4, .sad = 5};
    REQUIRE_EQUAL(make_part(&parts[0], "a", &a), GPUME_OK);
    REQUIRE_EQUAL(make_part(&parts[1], "b", &b), GPUME_OK);
    put_text("a/frames.csv", TABLE "1,0,4,0,9,10,40,20\n2,1,4,1,8,20,30,10\n");
    put_text("b/frames.csv", TABLE "3,2,4,2,7,5,20,4\n4,3,4,2,7,0,20,4\n");
    put_report("file", 1, 2, first, 16, "[-7, 7, 5]", "}\n");
    put_report("file_2", 3, 2, second, 14, "[-7, 7, 3]", "}\n");
    json_t *all = join_reports(parts), *blocks = json_object_get(all, "costliest"),
           *figures = json_object_get(all, "figures"),
           *bins = json_object_get(json_object_get(all, "histogram"), "counts");
    REQUIRE_EQUAL(json_array_size(blocks), 24);
    for (size_t i = 0; i < 24; i++) {
        REQUIRE_EQUAL(
            json_integer_value(json_object_get(json_array_get(blocks, i), "from")), from[i]);
    }
    REQUIRE_EQUAL(json_array_size(bins), 1);
    REQUIRE_EQUAL(json_integer_value(json_array_get(json_array_get(bins, 0), 2)), 8);
    REQUIRE_EQUAL(json_integer_value(json_array_get(json_array_get(bins, 0), 0)), -7);
    REQUIRE_EQUAL(json_array_size(figures), 4);
    for (size_t i = 0; i < 4; i++) { /* from 1 to 8000, but not from 8000 to 8000 */
        REQUIRE_EQUAL(json_is_true(json_object_get(json_array_get(figures, i), "cut")), i == 2);
    }
    json_decref(all);
    static const struct {
        unsigned rows;
        const char *bin, *end;
    } wrong[] = {{1, "[0, 0, 1]", "}\n"}, {3, "[0, 0, 1]", "}\n"}, {2, "[8, 0, 1]", "}\n"},
        {2, "[0, 8, 1]", "}\n"}, {2, "[-8, 0, 1]", "}\n"}, {2, "[0, -8, 1]", "}\n"},
        {2, "[0, 0]", "}\n"}, {2, "[0, 0, 1]", "}\n\n"}, {2, "[0, 0, 1]", "}\n}\n"},
        {2, "[0, 0, 1]", "  \n"}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        put_report("file_2", 3, wrong[i].rows, second, 14, wrong[i].bin, wrong[i].end);
        const unsigned errors = logged.errors;
        all = join_reports(parts);
        REQUIRE(!all);
        REQUIRE_EQUAL(logged.errors - errors, 1);
        json_decref(all);
    }
    gpume_merge_part_finish(&parts[0]);
    gpume_merge_part_finish(&parts[1]);
}

/* Appends a member of gzip. */
static size_t put_member(unsigned char *at, size_t room, const char *text)
{
    z_stream gzip = {0};
    REQUIRE(deflateInit2(&gzip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    gzip.next_in = (z_const Bytef *)(uintptr_t)text;
    gzip.avail_in = (uInt)strlen(text);
    gzip.next_out = at;
    gzip.avail_out = (uInt)room;
    REQUIRE(deflate(&gzip, Z_FINISH) == Z_STREAM_END);
    REQUIRE(deflateEnd(&gzip) == Z_OK);
    return (size_t)(gzip.next_out - at);
}

/* A head and rows, in members of gzip. */
static void check_packed(void)
{
    static const struct {
        const char *head, *rows;
        int status;
    } cases[] = {{"frame,ref,x,y,w\n", "1,0,0,0,8\n1,0,8,0,8\n", GPUME_OK},
        {"", "{}\n{}\n", GPUME_OK},
        {"frame,ref,x,y,w\n", "1,0,0,0,8\n1,0,8,0,8\n1,0,8", GPUME_INVALID},
        {"frame,ref,x,y,w\n", "1,0,0,0,8\n", GPUME_INVALID},
        {"frame,ref,x,y,w\n1", "1,0,0,0,8\n1,0,8,0,8\n", GPUME_INVALID}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned char data[512];
        size_t bytes = put_member(data, sizeof(data), cases[i].head);
        bytes += put_member(data + bytes, sizeof(data) - bytes, cases[i].rows);
        if (cases[i].status == GPUME_OK) {
            check_lengths(data, bytes, 1, 2);
        } else {
            REQUIRE_EQUAL(join_as(data, bytes, 1, 2), cases[i].status);
        }
    }
}

/* Files that cannot be joined to each other. */
static void check_heads(void)
{
    static const struct {
        const char *a, *b;
        int status;
    } cases[] = {{"#x\n1\n", "#x\n2\n", GPUME_OK}, {"#x\n1\n", "#y\n1\n", GPUME_INVALID},
        {"#x\n1\n", "#xx\n1\n", GPUME_INVALID}, {"{1}\n", "#x\n1\n", GPUME_INVALID},
        {"{1}\n", "{2}\n", GPUME_OK}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gpume_join_file files[2] = {0};
        put_text("file", cases[i].a);
        put_text("file_2", cases[i].b);
        REQUIRE_EQUAL(gpume_join_look(&files[0], strdup("file"), &counting_log), GPUME_OK);
        REQUIRE_EQUAL(gpume_join_look(&files[1], strdup("file_2"), &counting_log), GPUME_OK);
        REQUIRE_EQUAL(gpume_join_check(&files[0], &files[1], &counting_log), cases[i].status);
        gpume_join_finish(&files[0]);
        gpume_join_finish(&files[1]);
    }
}

int main(void)
{
    REQUIRE(mkdtemp(folder) && chdir(folder) == 0);
    check_neighbours();
    check_differences();
    check_summaries();
    check_rows();
    check_tables();
    check_total();
    check_lines();
    check_mvf();
    check_npy();
    check_sum_of_rows();
    check_y4m();
    check_stills();
    check_reports();
    check_packed();
    check_heads();
    static const char *const files[] = {"a/summary.json", "a/frames.csv", "a", "b/summary.json",
        "b/frames.csv", "b", "total.json", "file", "file_2", "joined", "s7"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        (void)remove(files[i]);
    }
    REQUIRE(chdir("..") == 0 && rmdir(folder) == 0);
    return harness_verdict();
}
