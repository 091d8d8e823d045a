/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of gpume ladder, and its files. */
#include "base/status.h"
#include "encode/encoder.h"
#include "files/table.h"
#include "ladder/ladder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROW struct gpume_ladder_row
static const struct gpume_column point_columns[] = {
    {GPUME_COLUMN("width", ROW, width)},
    {GPUME_COLUMN("height", ROW, height)},
    {GPUME_COLUMN("crf", ROW, crf), .decimals = 2},
    {GPUME_COLUMN("bitrate", ROW, bitrate), .decimals = 0},
    {GPUME_COLUMN("psnr", ROW, psnr), .decimals = 3},
    {GPUME_COLUMN("scaling_psnr", ROW, scaling_psnr), .decimals = 3, .unknown = GPUME_IF_MISSING},
    {GPUME_COLUMN("best", ROW, best)},
};
static const struct gpume_table points = {GPUME_TABLE(point_columns, ROW)};
#undef ROW

#define ROW struct gpume_ladder_hull_row
static const struct gpume_column hull_columns[] = {
    {GPUME_COLUMN(NULL, ROW, size), .title = "best size"},
    {GPUME_COLUMN("width", ROW, width)},
    {GPUME_COLUMN("height", ROW, height)},
    {GPUME_COLUMN("bitrate_from", ROW, from), .decimals = 0},
    {GPUME_COLUMN("bitrate_to", ROW, to), .decimals = 0},
    {GPUME_COLUMN(NULL, ROW, kbit_from), .title = "from kbit/s", .width = 11,
        .style = GPUME_STYLE_FACTOR},
    {GPUME_COLUMN(NULL, ROW, kbit_to), .title = "to kbit/s", .width = 11,
        .style = GPUME_STYLE_FACTOR},
    {GPUME_COLUMN("psnr_from", ROW, psnr_from), .decimals = 3, .title = "PSNR", .shown = 2,
        .unit = " dB", .heading = "PSNR from, dB"},
    {GPUME_COLUMN("psnr_to", ROW, psnr_to), .decimals = 3, .title = "to", .shown = 2,
        .unit = " dB"},
    {GPUME_COLUMN("crf_from", ROW, crf_from), .decimals = 2, .title = "CRF", .shown = 1,
        .heading = "CRF from"},
    {GPUME_COLUMN("crf_to", ROW, crf_to), .decimals = 2, .title = "to", .shown = 1},
};
const struct gpume_table gpume_ladder_hull_table = {GPUME_TABLE(hull_columns, ROW)};
#undef ROW

#define ROW struct gpume_ladder_crossing_row
static const struct gpume_column crossing_columns[] = {
    {GPUME_COLUMN("width", ROW, width)},
    {GPUME_COLUMN("height", ROW, height)},
    {GPUME_COLUMN("smaller_width", ROW, smaller_width)},
    {GPUME_COLUMN("smaller_height", ROW, smaller_height)},
    {GPUME_COLUMN("bitrate", ROW, bitrate), .decimals = 0},
    {GPUME_COLUMN("psnr", ROW, psnr), .decimals = 3},
};
static const struct gpume_table crossings = {GPUME_TABLE(crossing_columns, ROW)};
#undef ROW

/* Bits of tables: with encodes. */
enum { EXPECTED = 1, VERIFIED = 2 };

#define ROW struct gpume_ladder_rung_row
static const struct gpume_column rung_columns[] = {
    {GPUME_COLUMN(NULL, ROW, size), .title = "rung"},
    {GPUME_COLUMN("width", ROW, width)},
    {GPUME_COLUMN("height", ROW, height)},
    {GPUME_COLUMN("crf", ROW, crf), .decimals = 1, .title = "CRF", .shown = 1},
    {GPUME_COLUMN("bitrate", ROW, bitrate), .decimals = 0},
    {GPUME_COLUMN(NULL, ROW, kbit), .title = "kbit/s", .width = 9, .style = GPUME_STYLE_FACTOR},
    {GPUME_COLUMN("psnr", ROW, psnr), .decimals = 3, .title = "PSNR", .shown = 2, .unit = " dB"},
    {GPUME_COLUMN("rung", ROW, rung)},
    {GPUME_COLUMN("measured_bitrate", ROW, measured_bitrate), .decimals = 0, .only = VERIFIED},
    {GPUME_COLUMN("measured_psnr", ROW, measured_psnr), .decimals = 3, .only = VERIFIED},
    {GPUME_COLUMN(NULL, ROW, measured_kbit), .title = "encoded", .width = 9,
        .heading = "encoded, kbit/s", .style = GPUME_STYLE_FACTOR, .only = VERIFIED},
    {GPUME_COLUMN(NULL, ROW, bitrate_off), .title = "off", .shown = 1, .unit = " %",
        .heading = "off, %", .style = GPUME_STYLE_SIGNED, .only = VERIFIED},
    {GPUME_COLUMN(NULL, ROW, measured_psnr), .title = "encoded", .shown = 2, .unit = " dB",
        .heading = "encoded, dB", .only = VERIFIED},
    {GPUME_COLUMN(NULL, ROW, psnr_off), .title = "off", .shown = 2, .unit = " dB",
        .heading = "off, dB", .style = GPUME_STYLE_SIGNED, .only = VERIFIED},
};
#undef ROW

struct gpume_table gpume_ladder_rungs_table(const struct gpume_ladder *ladder)
{
    struct gpume_table table = {GPUME_TABLE(rung_columns, struct gpume_ladder_rung_row)};
    table.kind = ladder->options->verify ? EXPECTED | VERIFIED : EXPECTED;
    return table;
}

void gpume_ladder_put_csv(const void *client, struct gpume_out *out)
{
    const struct gpume_ladder *ladder = client;
    gpume_table_csv_head(&points, out);
    gpume_table_csv(&points, ladder->rows, ladder->row_count, out);
}

const char *gpume_ladder_encoder(const struct gpume_ladder *ladder)
{
    return ladder->encode.encoder->name;
}

void gpume_ladder_put_json(const void *client, struct gpume_json *json)
{
    const struct gpume_ladder *ladder = client;
    gpume_json_text(json, "input", ladder->job.info.label);
    gpume_json_count(json, "frames", ladder->job.frames);
    gpume_json_text(json, "encoder", gpume_ladder_encoder(ladder));
    gpume_json_text(json, "preset", ladder->encode.preset);
    gpume_json_text(json, "tune", ladder->encode.tune);
    gpume_json_count(json, "encodes", ladder->encodes);
    gpume_table_json(&points, "points", ladder->rows, ladder->row_count, json);
    gpume_table_json(&gpume_ladder_hull_table, "hull", ladder->hull, ladder->hull_count, json);
    gpume_table_json(&crossings, "crossings", ladder->crossings, ladder->crossing_count, json);
    const struct gpume_table rungs = gpume_ladder_rungs_table(ladder);
    gpume_table_json(&rungs, "rungs", ladder->rungs, ladder->rung_count, json);
}

void gpume_ladder_print(const void *client)
{
    const struct gpume_ladder *ladder = client;
    const struct gpume_source_info *info = &ladder->job.info;
    const struct gpume_encode_options *encode = &ladder->encode;
    const struct gpume_table rungs = gpume_ladder_rungs_table(ladder);
    const char *bold = gpume_console_bold(stdout), *plain = gpume_console_plain(stdout);
    printf("%" PRIu64 " frames, %s %s%s%s; PSNR of luma at %" PRIu32 "x%" PRIu32
           ", smaller pictures scaled up by FFmpeg's bicubic filter\n\n",
        ladder->job.frames, gpume_ladder_encoder(ladder), encode->preset, encode->tune ? " " : "",
        encode->tune ? encode->tune : "", info->width, info->height);
    gpume_table_print(
        &gpume_ladder_hull_table, ladder->hull, ladder->hull_count, stdout, bold, plain);
    putchar('\n');
    gpume_table_print(&rungs, ladder->rungs, ladder->rung_count, stdout, bold, plain);
    putchar('\n');
    for (size_t i = 0; i < ladder->rung_count; i++) {
        printf("%s--rung %s", i > 0 ? " " : "", ladder->rungs[i].rung);
    }
    puts(ladder->rung_count > 0 ? "" : "no size has the bitrates of the ladder");
}

static bool ends_with(const char *name, const char *ending)
{
    const size_t bytes = strlen(name), length = strlen(ending);
    return bytes > length && strcmp(name + bytes - length, ending) == 0;
}

bool gpume_ladder_knows(const char *name)
{
    return ends_with(name, ".csv") || ends_with(name, ".json") || ends_with(name, ".html");
}

int gpume_ladder_write(const struct gpume_ladder *ladder, const char *name, struct gpume_out *out)
{
    if (ends_with(name, ".csv")) {
        gpume_ladder_put_csv(ladder, out);
        return GPUME_OK;
    }
    if (ends_with(name, ".html")) {
        gpume_ladder_write_page(ladder, out);
        return GPUME_OK;
    }
    struct gpume_json json = {.out = out};
    gpume_json_begin(&json, NULL);
    gpume_json_count(&json, "format", 1);
    gpume_json_text(&json, "gpume", gpume_version());
    gpume_ladder_put_json(ladder, &json);
    gpume_json_end(&json);
    return gpume_out_text(out, "\n");
}
