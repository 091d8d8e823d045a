/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of options and the text of --help made from it. A new option is a row here, its id in
 * option_table.h, a line in option_store.c that stores it, and an entry in the man page.
 */
#include "options/option_table.h"

#include "options/options.h"
#include "sinks/sink.h"

#include <stdio.h>
#include <string.h>

const struct gpume_option_row gpume_option_rows[] = {
    {GPUME_OPTION_BLOCK, GPUME_KIND_UINT, 'b', "block", "N",
        "block side in pixels, 4 to 128, a multiple of 4\n(default 8)", GPUME_BLOCK_MIN,
        GPUME_BLOCK_MAX, {0}},
    {GPUME_OPTION_WINDOW, GPUME_KIND_WINDOW, 'w', "window", "N|XxY",
        "largest displacement in pixels, 0 to 512, the\nsame or one for each axis (default 7)", 0,
        GPUME_WINDOW_MAX, {0}},
    {GPUME_OPTION_EDGE, GPUME_KIND_CHOICE, 0, "edge", "extend|inside",
        "outside the reference: its nearest edge sample,\nor no candidates there (default extend)",
        0, 0, {"extend", "inside"}},
    {GPUME_OPTION_METRIC, GPUME_KIND_CHOICE, 0, "metric", "sad",
        "cost of a candidate (default sad)", 0, 0, {"sad"}},
    {GPUME_OPTION_REF_DISTANCE, GPUME_KIND_UINT, 0, "ref-distance", "N",
        "frames between target and reference, 1 to 1024\n(default 1)", 1, GPUME_DISTANCE_MAX, {0}},
    {GPUME_OPTION_DIRECTION, GPUME_KIND_CHOICE, 0, "direction", "past|future|both",
        "where references lie; both: two fields a frame\n(default past)", 0, 0,
        {"past", "future", "both"}},
    {GPUME_OPTION_COMPAT, GPUME_KIND_CHOICE, 0, "compat", "ffmpeg",
        "the very vectors of FFmpeg's mestimate=esa", 0, 0, {"ffmpeg"}},
    {GPUME_OPTION_PREFILTER, GPUME_KIND_PREFILTER, 0, "prefilter", "FILTER",
        "filter what the search sees, and nothing else:\n"
        "gauss:S, box:N, median:3|5, bilateral:S,R or\n"
        "kernel:FILE (a text matrix) (default: none)",
        0, 0, {0}},
    {GPUME_OPTION_START, GPUME_KIND_UINT, 0, "start", "N",
        "index of the first target frame (default: the\nfirst possible)", 0, 4294967295.0, {0}},
    {GPUME_OPTION_FRAMES, GPUME_KIND_UINT, 0, "frames", "N",
        "number of target frames (default: all)", 1, 4294967295.0, {0}},
    {GPUME_OPTION_VF, GPUME_KIND_TEXT, 0, "vf", "GRAPH",
        "libavfilter graph applied after decoding, such\nas crop=640:360", 0, 0, {0}},
    {GPUME_OPTION_STREAM, GPUME_KIND_UINT, 0, "stream", "N",
        "which video stream, counted from 0 (default:\nthe best)", 0, 65535, {0}},
    {GPUME_OPTION_HWACCEL, GPUME_KIND_TEXT, 0, "hwaccel", "TYPE[:DEVICE]",
        "decode on video hardware: none, auto, cuda,\nvaapi or another type (default none)", 0, 0,
        {0}},
    {GPUME_OPTION_ALLOW_NETWORK, GPUME_KIND_FLAG, 0, "allow-network", NULL,
        "INPUT, and what it refers to, may be on the\nnetwork", 0, 0, {0}},
    {GPUME_OPTION_ALLOW_FILES, GPUME_KIND_FLAG, 0, "allow-files", NULL,
        "INPUT may refer to other files: playlists", 0, 0, {0}},
    {GPUME_OPTION_MAX_PIXELS, GPUME_KIND_AMOUNT, 0, "max-pixels", "N",
        "refuse larger pictures, such as 9M (default:\n268435456, of raw Y4M twice that)", 1,
        536870912.0, {0}},
    {GPUME_OPTION_MAX_MEMORY, GPUME_KIND_AMOUNT, 0, "max-memory", "BYTES",
        "plan no more, such as 500M or 2GiB, on host and\ndevice together, or refuse (default: "
        "any)",
        1, 1125899906842624.0, {0}},
    {GPUME_OPTION_TIMEOUT, GPUME_KIND_REAL, 0, "timeout", "SECONDS",
        "end the run after so long, with partial\nresults as after Ctrl-C (default: never)", 0.001,
        604800, {0}},
    {GPUME_OPTION_OUTPUT, GPUME_KIND_TEXT, 'o', "output", "DIR",
        "folder for vectors.csv, frames.csv and\nsummary.json (default: INPUT's stem.gpume)", 0, 0,
        {0}},
    {GPUME_OPTION_VECTORS, GPUME_KIND_TEXT, 0, "vectors", "FILE",
        "vectors alone: .csv .jsonl .npy .mvf .hash, or\n"
        "%d and .flo; or - for standard output",
        0, 0, {0}},
    {GPUME_OPTION_FORMAT, GPUME_KIND_FORMAT, 0, "format", "FORMAT",
        "of vectors, whatever their name is: csv, jsonl,\n"
        "npy, mvf, extract_mvs, mv-extractor, flo, hash\n(default: as the name ends, csv for -)",
        0, 0, {0}},
    {GPUME_OPTION_PREDICTED, GPUME_KIND_TEXT, 0, "predicted", "FILE",
        "predicted frames: one video (.y4m .mkv .mp4),\n"
        "or pictures with %d in the name (.png .pgm .bmp\n.jpg)",
        0, 0, {0}},
    {GPUME_OPTION_RESIDUAL, GPUME_KIND_TEXT, 0, "residual", "FILE",
        "target - predicted frame, likewise", 0, 0, {0}},
    {GPUME_OPTION_RESIDUAL_MODE, GPUME_KIND_CHOICE, 0, "residual-mode", "absolute|signed",
        "its absolute value, or about the middle value\n(default absolute)", 0, 0,
        {"absolute", "signed"}},
    {GPUME_OPTION_DIFFERENCE, GPUME_KIND_TEXT, 0, "difference", "FILE",
        "|target - reference|, likewise", 0, 0, {0}},
    {GPUME_OPTION_GAIN, GPUME_KIND_REAL, 0, "gain", "G",
        "multiplies difference and residual (default 1)", 0.001, 65535, {0}},
    {GPUME_OPTION_GAMMA, GPUME_KIND_REAL, 0, "gamma", "G",
        "then brightens dark values: v^(1/G) (default 1)", 0.01, 100, {0}},
    {GPUME_OPTION_OVERLAY, GPUME_KIND_TEXT, 0, "overlay", "FILE",
        "target frames in colour, their motion drawn over\n"
        "them: .y4m .mkv .mp4, or %d and .png .ppm .bmp\n.jpg",
        0, 0, {0}},
    {GPUME_OPTION_OVERLAY_STYLE, GPUME_KIND_CHOICE, 0, "overlay-style", "STYLE",
        "arrows, flow, cost or blocks (default arrows)", 0, 0,
        {"arrows", "flow", "cost", "blocks"}},
    {GPUME_OPTION_OVERLAY_KEY, GPUME_KIND_CHOICE, 0, "overlay-key", "auto|on|off",
        "what colours mean, in the corner; auto: where it\nhides next to nothing (default auto)", 0,
        0, {"auto", "on", "off"}},
    {GPUME_OPTION_SCALE, GPUME_KIND_UINT, 0, "scale", "N", "enlarges overlays, 1 to 16 (default 1)",
        1, GPUME_OVERLAY_SCALE_MAX, {0}},
    {GPUME_OPTION_REPORT, GPUME_KIND_TEXT, 0, "report", "FILE",
        "report of the run: .html (a page with charts\nand pictures), .json or .csv", 0, 0, {0}},
    {GPUME_OPTION_REPORT_PICTURES, GPUME_KIND_UINT, 0, "report-pictures", "N",
        "fields with pictures in the page, 0 to 1000, as\nfar as 20 MB hold them (default 26)", 0,
        1000, {0}},
    {GPUME_OPTION_OVERWRITE, GPUME_KIND_FLAG, 'y', "overwrite", NULL, "replace existing outputs", 0,
        0, {0}},
    {GPUME_OPTION_RESUME, GPUME_KIND_FLAG, 0, "resume", NULL,
        "go on where the same run was interrupted or\nkilled", 0, 0, {0}},
    {GPUME_OPTION_BACKEND, GPUME_KIND_CHOICE, 0, "backend", "auto|vulkan|cpu",
        "auto: the best hardware GPU, else the CPU;\nvulkan: also a software driver (default auto)",
        0, 0, {"auto", "vulkan", "cpu"}},
    {GPUME_OPTION_DEVICE, GPUME_KIND_TEXT, 0, "device", "N|NAME",
        "Vulkan device: its index in 'gpume devices', or\n"
        "a part of its name (default: the best)",
        0, 0, {0}},
    {GPUME_OPTION_THREADS, GPUME_KIND_UINT, 0, "threads", "N",
        "CPU threads, 1 to 1024 (default: all)", 1, 1024, {0}},
    {GPUME_OPTION_SEARCH, GPUME_KIND_TEXT, 0, "search", "NAME",
        "implementation of the search, as 'gpume devices'\n"
        "lists them; speed alone (default: the fastest)",
        0, 0, {0}},
    {GPUME_OPTION_NO_ELIMINATION, GPUME_KIND_FLAG, 0, "no-elimination", NULL,
        "compare every candidate in full: the same\nresult, as a rule slower", 0, 0, {0}},
    {GPUME_OPTION_CHECK, GPUME_KIND_FLAG, 0, "check", NULL,
        "search every field again with the reference\nsearch and compare", 0, 0, {0}},
    {GPUME_OPTION_VALIDATE, GPUME_KIND_FLAG, 0, "validate", NULL,
        "Vulkan validation layer on; any message is a\nfailure", 0, 0, {0}},
    {GPUME_OPTION_SIZE, GPUME_KIND_SIZE, 0, "size", "WxH",
        "of the generated frames, in pixels, each from 1\nto 65536 (default 1920x1080)", 1, 65536,
        {0}},
    {GPUME_OPTION_BITS, GPUME_KIND_UINT, 0, "bits", "N", "of their samples, 8 to 16 (default 8)", 8,
        16, {0}},
    {GPUME_OPTION_BENCH_SORT, GPUME_KIND_FLAG, 0, "sort", NULL, "sorting instead of the search", 0,
        0, {0}},
    {GPUME_OPTION_BENCH_REDUCE, GPUME_KIND_FLAG, 0, "reduce", NULL,
        "sums, minima, histograms likewise", 0, 0, {0}},
    {GPUME_OPTION_SECONDS, GPUME_KIND_REAL, 0, "seconds", "S",
        "time for each row of the table, 0.001 to 3600\n(default 0.5)", 0.001, 3600, {0}},
    {GPUME_OPTION_DESCENDING, GPUME_KIND_FLAG, 0, "descending", NULL, "falling order", 0, 0, {0}},
    {GPUME_OPTION_BINARY, GPUME_KIND_CHOICE, 0, "binary", "u32|i32",
        "little-endian 32-bit words in and out, unsigned\nor signed (default: text)", 0, 0,
        {"u32", "i32"}},
    {GPUME_OPTION_TIME, GPUME_KIND_FLAG, 0, "time", NULL,
        "the time of every method that there is, for\nthe same integers", 0, 0, {0}},
    {GPUME_OPTION_MAP, GPUME_KIND_TEXT, 0, "map", "FILE",
        "where the two differ: .y4m .mkv .mp4, or %d and\n.png .ppm .bmp .jpg", 0, 0, {0}},
    {GPUME_OPTION_FROM, GPUME_KIND_FORMAT, 0, "from", "FORMAT",
        "of the input, like --format, but not hash\n(default: as its first bytes tell)", 0, 0, {0}},
    {GPUME_OPTION_JSON, GPUME_KIND_FLAG, 0, "json", NULL,
        "what is printed as one JSON object: the closing\nsummary, or the table of bench, compare, "
        "devices",
        0, 0, {0}},
    {GPUME_OPTION_CSV, GPUME_KIND_FLAG, 0, "csv", NULL, "the table as CSV (bench, compare)", 0, 0,
        {0}},
    {GPUME_OPTION_QUIET, GPUME_KIND_FLAG, 'q', "quiet", NULL, "no closing summary, no progress", 0,
        0, {0}},
    {GPUME_OPTION_VERBOSE, GPUME_KIND_FLAG, 'v', "verbose", NULL, "say more on standard error", 0,
        0, {0}},
    {GPUME_OPTION_PROGRESS, GPUME_KIND_FLAG, 0, "progress", NULL,
        "show progress also where there is no terminal", 0, 0, {0}},
    {GPUME_OPTION_NO_PROGRESS, GPUME_KIND_FLAG, 0, "no-progress", NULL, "show no progress", 0, 0,
        {0}},
    {GPUME_OPTION_COMPLETION, GPUME_KIND_CHOICE, 0, "completion", "SHELL",
        "a script by which bash, zsh or fish completes\nthis command", 0, 0,
        {"bash", "zsh", "fish"}},
    {GPUME_OPTION_HELP, GPUME_KIND_FLAG, 'h', "help", NULL, "this text", 0, 0, {0}},
    {GPUME_OPTION_VERSION, GPUME_KIND_FLAG, 0, "version", NULL, "the version", 0, 0, {0}},
};

_Static_assert(sizeof(gpume_option_rows) / sizeof(gpume_option_rows[0]) == GPUME_OPTION_COUNT,
    "one row an option");

static const struct {
    enum gpume_option_id before;
    const char *title;
} groups[] = {
    {GPUME_OPTION_BLOCK, "Search"},
    {GPUME_OPTION_START, "Input"},
    {GPUME_OPTION_OUTPUT, "Output"},
    {GPUME_OPTION_BACKEND, "Engine"},
    {GPUME_OPTION_SIZE, "Benchmark (gpume bench)"},
    {GPUME_OPTION_DESCENDING, "Sorting (gpume sort)"},
    {GPUME_OPTION_MAP, "Comparing (gpume compare)"},
    {GPUME_OPTION_FROM, "Converting (gpume convert)"},
    {GPUME_OPTION_JSON, "Messages"},
};

static void print_row(const struct gpume_option_row *row)
{
    char left[64];
    char letter[8] = "    ";
    if (row->letter) {
        snprintf(letter, sizeof(letter), "-%c, ", row->letter);
    }
    snprintf(left, sizeof(left), "  %s--%s%s%s", letter, row->name, row->value ? " " : "",
        row->value ? row->value : "");
    /* Help starts at column 31, on the next line where the option is too long. */
    printf("%-30s", left);
    if (strlen(left) > 29) {
        printf("\n%-30s", "");
    }
    for (const char *at = row->help; *at; at++) {
        putchar(*at);
        if (*at == '\n') {
            printf("%-30s", "");
        }
    }
    putchar('\n');
}

void gpume_options_print_help(void)
{
    printf("Usage: gpume INPUT [options]\n"
           "       gpume REFERENCE TARGET [options]\n"
           "       gpume sort [FILE] [-o FILE] [options]\n"
           "       gpume bench [INPUT] [options]\n"
           "       gpume compare A B [options]\n"
           "       gpume convert IN OUT [--format FORMAT] [options]\n"
           "       gpume devices\n"
           "       gpume --help | --version\n"
           "\n"
           "Exact block motion estimation between the frames of a video, or between two\n"
           "still pictures. INPUT is a file, a numbered pattern (frame%%03d.png), or - for\n"
           "standard input. 'gpume sort' sorts integers; 'gpume bench' times every engine\n"
           "of this machine, side by side; 'gpume compare' says where two runs, folders or\n"
           "files of vectors, differ; 'gpume convert' turns a file of vectors into another\n"
           "format; 'gpume devices' lists what there is.\n");
    for (size_t i = 0; i < GPUME_OPTION_COUNT; i++) {
        for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
            if (groups[g].before == gpume_option_rows[i].id) {
                printf("\n%s:\n", groups[g].title);
            }
        }
        print_row(&gpume_option_rows[i]);
    }
    printf("\n"
           "Exit status: 0 done, 1 the run failed, 2 wrong usage, 3 the input cannot be\n"
           "used, 4 no usable device, 5 --check or 'gpume compare' found a difference.\n");
}
