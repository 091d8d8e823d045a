/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x265 3.5: options as `x265 --fullhelp` lists them, presets and tunings as x265 writes them into
 * the first line of its statistics (tests/cli/test_presets.sh compares them), and its files as it
 * writes and reads them: gpume-formats(5).
 */
#include "encode/commands.h"
#include "encode/encoder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- options */

#define KEYINT_MAX 100000
#define REFERENCES_MAX 8
#define VBV_MAX 2000000 /* kbit/s and kbit */

static const char *const x265_pyramids[] = {"none", "normal", "strict", NULL};

static const struct gpume_encode_option x265_options[] = {
    {GPUME_ENCODE_OPTION("keyint", NUMBER, keyint, 1, KEYINT_MAX), .compared = true},
    {GPUME_ENCODE_OPTION("min-keyint", NUMBER, min_keyint, 0, KEYINT_MAX),
        .zero = "a tenth of keyint, at most a second", .compared = true},
    {GPUME_ENCODE_OPTION("scenecut", NUMBER, scenecut, 0, 400), .compared = true},
    {GPUME_ENCODE_OPTION("bframes", NUMBER, bframes, 0, GPUME_BFRAMES_MAX), .compared = true},
    {GPUME_ENCODE_OPTION("b-adapt", NUMBER, b_adapt, 0, 2), .compared = true},
    {GPUME_ENCODE_OPTION("b-pyramid", SWITCH, b_pyramid, 0, 1), .words = x265_pyramids,
        .compared = true},
    {GPUME_ENCODE_OPTION("open-gop", FLAG, open_gop, 0, 1), .compared = true},
    {GPUME_ENCODE_OPTION("weightp", SWITCH, weightp, 0, 1), .compared = true},
    {GPUME_ENCODE_OPTION("weightb", SWITCH, weightb, 0, 1), .compared = true},
    {GPUME_ENCODE_OPTION("rc-lookahead", NUMBER, rc_lookahead, 0, GPUME_RC_LOOKAHEAD_MAX),
        .compared = true},
    {GPUME_ENCODE_OPTION("cutree", FLAG, tree, 0, 1),
        .help = "spend bits on blocks that later frames use", .compared = true},
    {GPUME_ENCODE_OPTION("ref", NUMBER, ref, 1, REFERENCES_MAX)},
    {GPUME_ENCODE_OPTION("aq-mode", NUMBER, aq_mode, 0, 3)},
    {GPUME_ENCODE_OPTION("aq-strength", REAL, aq_strength, 0, GPUME_AQ_STRENGTH_MAX)},
    {GPUME_ENCODE_OPTION("qcomp", REAL, qcomp, 0.5, 1)}, /* crashes or hangs with less */
    {GPUME_ENCODE_OPTION("ipratio", REAL, ipratio, 0.1, 10)},
    {GPUME_ENCODE_OPTION("pbratio", REAL, pbratio, 0.1, 10)},
    {GPUME_ENCODE_OPTION("vbv-maxrate", NUMBER, vbv_maxrate, 0, VBV_MAX), .unit = "kbit/s",
        .zero = "no limit", .optional = true},
    {GPUME_ENCODE_OPTION("vbv-bufsize", NUMBER, vbv_bufsize, 0, VBV_MAX), .unit = "kbit",
        .zero = "no limit", .optional = true},
    {0},
};

#define PRESET(name, refs, b, adapt, lookahead, p, b_weights, aq, cut, cutree, psychovisual)       \
    {                                                                                              \
        .preset = name, .keyint = 250, .scenecut = cut, .bframes = b, .b_adapt = adapt,            \
        .b_pyramid = 1, .weightp = p, .weightb = b_weights, .rc_lookahead = lookahead,             \
        .open_gop = true, .tree = cutree, .ref = refs, .aq_mode = aq,                              \
        .aq_strength = (aq) == 0 ? 0 : 1.0, .qcomp = 0.6, .ipratio = 1.4, .pbratio = 1.3,          \
        .psy = psychovisual                                                                        \
    }

/* From medium on modes are chosen by rate and distortion, which psy needs (--rd 3). */
static const struct gpume_encode_options x265_presets[] = {
    PRESET("ultrafast", 1, 3, 0, 5, 0, 0, 0, 0, true, false),
    PRESET("superfast", 1, 3, 0, 10, 0, 0, 0, 40, true, false),
    PRESET("veryfast", 2, 4, 0, 15, 1, 0, 2, 40, true, false),
    PRESET("faster", 2, 4, 0, 15, 1, 0, 2, 40, true, false),
    PRESET("fast", 3, 4, 0, 15, 1, 0, 2, 40, true, false),
    PRESET("medium", 3, 4, 2, 20, 1, 0, 2, 40, true, true),
    PRESET("slow", 4, 4, 2, 25, 1, 0, 2, 40, true, true),
    PRESET("slower", 5, 8, 2, 40, 1, 1, 2, 40, true, true),
    PRESET("veryslow", 5, 8, 2, 40, 1, 1, 2, 40, true, true),
    PRESET("placebo", 5, 8, 2, 60, 1, 1, 2, 40, true, true),
    {0},
};

static void x265_tune_psnr(struct gpume_encode_options *options)
{
    options->psy = false;
    options->aq_mode = 0;
    options->aq_strength = 0;
}

static void x265_tune_ssim(struct gpume_encode_options *options)
{
    options->psy = false;
    options->aq_mode = 2;
}

static void x265_tune_animation(struct gpume_encode_options *options)
{
    const uint32_t more = options->bframes + 2;
    options->aq_strength = 0.4;
    options->bframes = more < options->rc_lookahead ? more : options->bframes;
}

static void x265_tune_grain(struct gpume_encode_options *options)
{
    options->aq_mode = 0;
    options->tree = false;
    options->ipratio = 1.1;
    options->pbratio = 1.0;
}

static void x265_tune_fastdecode(struct gpume_encode_options *options)
{
    options->weightp = options->weightb = 0;
}

static const struct gpume_tuning x265_tunings[] = {
    {"psnr", x265_tune_psnr},
    {"ssim", x265_tune_ssim},
    {"animation", x265_tune_animation},
    {"grain", x265_tune_grain},
    {"fastdecode", x265_tune_fastdecode},
    {0},
};

/* x265 crashes or hangs with more references. A frame has at most 8 (ITU-T H.265 7.4.7.1), of which
 * one is taken if there are B frames, and another one if B frames are references. */
static int x265_settle(struct gpume_encode_options *options, const struct gpume_log *log)
{
    options->scenecut = options->keyint > 1 ? options->scenecut : 0;
    options->b_pyramid = options->bframes > 0 ? options->b_pyramid : 0;
    const uint32_t taken = options->bframes == 0                            ? 0
                           : options->bframes > 1 && options->b_pyramid > 0 ? 2
                                                                            : 1;
    if (options->ref > REFERENCES_MAX - taken) {
        return gpume_log_fail(log, GPUME_INVALID,
            "x265: --ref %" PRIu32 " is too many: with --bframes %" PRIu32
            "%s it takes 1 to %" PRIu32,
            options->ref, options->bframes, taken == 2 ? " and --b-pyramid" : "",
            REFERENCES_MAX - taken);
    }
    return GPUME_OK;
}

/* --- files */

/* With --crf the second pass keeps to the QPs of the statistics, if their first pass had a
 * limited buffer: any one. */
static size_t x265_write_header(char line[GPUME_PASS_LINE_BYTES],
    const struct gpume_pass_video *video, const struct gpume_encode_options *options,
    const struct gpume_encode_target *target)
{
    snprintf(line, GPUME_PASS_LINE_BYTES,
        "#options: bitdepth=%" PRIu32 " fps=%" PRIu32 "/%" PRIu32 " input-res=%" PRIu32 "x%" PRIu32,
        options->bits, video->rate_num, video->rate_den, video->width, video->height);
    const size_t used = gpume_encode_options_append(line, options, GPUME_ENCODE_WORDS);
    return used + (size_t)snprintf(line + used, GPUME_PASS_LINE_BYTES - used,
                      /* x265 wants a blank after words */
                      " no-intra-refresh no-frame-dup interlace=0%s\n",
                      target->goal == GPUME_GOAL_BITRATE ? "" : " vbv-maxrate=1");
}

static size_t x265_write_frame(
    char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_frame *frame)
{
    char qp[16];
    snprintf(qp, sizeof(qp), "%u.%02u", (unsigned)frame->qp / 100, (unsigned)frame->qp % 100);
    return (size_t)snprintf(line, GPUME_PASS_LINE_BYTES,
        "in:%" PRIu64 " out:%" PRIu64 " type:%c q:%s q-aq:%s q-noVbv:%s q-Rceq:1.00 tex:%" PRIu64
        " mv:%" PRIu64 " misc:0 icu:%" PRIu32 ".00 pcu:%" PRIu32 ".00 scu:%" PRIu32 ".00 sc:0 ;\n",
        frame->display, frame->coded, gpume_frame_letter(frame->type), qp, qp, qp, frame->texture,
        frame->vectors, frame->intra_blocks, frame->inter_blocks, frame->skipped_blocks);
}

static int32_t x265_qp(const struct gpume_encode_options *options, enum gpume_frame_type type)
{
    const int32_t b = gpume_qp_of_ratio(options->pbratio);
    return type == GPUME_FRAME_B ? b : type == GPUME_FRAME_B_REF ? b / 2 : 0;
}

/* Its own QPs are lower by this much; with a tree, I frames after the first are finer by 1.3. */
static int32_t x265_crf_qp(const struct gpume_encode_options *options, enum gpume_frame_type type)
{
    const bool is_intra = type == GPUME_FRAME_IDR || type == GPUME_FRAME_I;
    return GPUME_QP_ONE * (!options->tree ? -35 : is_intra ? -204 : -74) / 100;
}

/* --- command lines */

/* What the program reads as Y4M; libx265 takes more. */
#define SIDE_MIN 64u
#define WIDTH_MAX 8192u
#define HEIGHT_MAX 4320u
#define RATE_MAX 300u /* per second; at least 1 */

static bool x265_program_reads(const struct gpume_pass_video *video)
{
    return video->width >= SIDE_MIN && video->height >= SIDE_MIN && video->width <= WIDTH_MAX &&
           video->height <= HEIGHT_MAX && video->rate_num >= video->rate_den &&
           video->rate_num <= (uint64_t)RATE_MAX * video->rate_den;
}

static const char *const x265_matrices[] = {NULL, "bt709", NULL, NULL, "fcc", "bt470bg",
    "smpte170m", "smpte240m", "ycgco", "bt2020nc", "bt2020c", "smpte2085", "chroma-derived-nc",
    "chroma-derived-c", "ictcp"};
static const char *const x265_places[] = {[GPUME_CHROMA_TOP_LEFT] = "2"};
static const char *const x265_ranges[] = {
    [GPUME_RANGE_LIMITED] = "limited", [GPUME_RANGE_FULL] = "full"};

static void x265_add_program(
    struct gpume_argv *argv, const struct gpume_command_params *params, const char *input)
{
    gpume_command_add_second_pass(argv, params);
    gpume_argv_add(argv, "--y4m");
    gpume_argv_add_pair(argv, "--input", input);
    gpume_argv_add_pair(argv, "-o", GPUME_COMMAND_OUTPUT);
}

static const char *const x265_own_files[] = {"", ".temp", ".cutree", ".cutree.temp", NULL};
/* It would keep the chroma of other Y4M, but the second pass needs 4:2:0. */
static const char *const x265_y4m_formats[] = {"yuv420p", NULL};

/* Without psy, frames take less by the same parts as with an earlier table: P frames 1/1.14, and B
 * frames 1/1.05 of what they take with it. */
static const struct gpume_bits_model x265_bits = {
    .of =
        {
            {
                [GPUME_FRAME_IDR] =
                    GPUME_FITTED(-0.965, 0.1271, 5.302, 0.000, 0.000, 0.000, 11.073),
                [GPUME_FRAME_I] = GPUME_FITTED(-0.965, 0.1271, 5.302, 0.000, 0.000, 0.000, 11.073),
                [GPUME_FRAME_P] = GPUME_FITTED(-2.517, 0.1576, 3.316, 0.961, 0.767, -3.661, 2.139),
                [GPUME_FRAME_B_REF] =
                    GPUME_FITTED(-1.550, 0.1482, 5.217, 3.132, 0.641, -2.500, 0.229),
                [GPUME_FRAME_B] = GPUME_FITTED(-0.548, 0.1303, 8.027, 5.509, 0.853, -0.435, 0.191),
            },
            {
                [GPUME_FRAME_IDR] =
                    GPUME_FITTED(-0.965, 0.1271, 5.302, 0.000, 0.000, 0.000, 11.073),
                [GPUME_FRAME_I] = GPUME_FITTED(-0.965, 0.1271, 5.302, 0.000, 0.000, 0.000, 11.073),
                [GPUME_FRAME_P] = GPUME_FITTED(-2.517, 0.1576, 3.781, 1.095, 0.874, -3.661, 2.438),
                [GPUME_FRAME_B_REF] =
                    GPUME_FITTED(-1.550, 0.1482, 5.478, 3.288, 0.674, -2.500, 0.240),
                [GPUME_FRAME_B] = GPUME_FITTED(-0.548, 0.1303, 8.428, 5.785, 0.896, -0.435, 0.200),
            },
        },
    .header = 24,
    .stream = 0, /* it does not count its parameter sets */
};

/* Fitted to the error of 168 encodes of 42 clips at CRF 20 to 38: of half of the clips, the numbers
 * of the other half are off by 1.0 dB in the mean square. */
static const struct gpume_loss_model losses = {
    .limit = {GPUME_LOSS_FIXED(.1093), GPUME_LOSS_FIXED(.1293), GPUME_LOSS_FIXED(.0855)},
    .bend = {GPUME_LOSS_FIXED(4), GPUME_LOSS_FIXED(2.0758), GPUME_LOSS_FIXED(4)},
    .gain = GPUME_LOSS_FIXED(.764),
    .mean = GPUME_LOSS_FIXED(1.0031),
    .floor = GPUME_LOSS_FIXED(0),
    .ssim_power = GPUME_LOSS_FIXED(.851),
    .ssim_octaves = GPUME_LOSS_FIXED(-6.748),
    .xpsnr_power = GPUME_LOSS_FIXED(.921),
    .xpsnr_decibels = GPUME_LOSS_FIXED(3.97),
};

static const struct gpume_ladder_model x265_ladder = {.rate = 0.12,
    .rate_rise = -0.012,
    .rate_own = -0.0007,
    .error = -0.13,
    .error_smaller = 0.145,
    .error_rise = 0.0074,
    .error_level = 0.046,
    .carried = 0.048};

const struct gpume_encoder gpume_x265 = {
    .name = "x265",
    .library = "libx265",
    .options = x265_options,
    .presets = x265_presets,
    .preset = "medium",
    .tunings = x265_tunings,
    .bits_max = 12,
    .side_min = 16,
    .settle = x265_settle,
    .aq = {.root = 10, .centre = 11},
    .flash_is_run = true,
    .cuts_at_first = true,
    .middle_is_late = true,
    .b_percent = 130, /* as x265 itself */
    /* It chooses among more modes: its costs are 0.86 to 0.97 of ours. With offsets much stronger
     * than its own, the last frames of a clip lack bits. */
    .tree = {.intra_eighths = 7,
        .strength = {0.9, 0.9},
        .crf_strength = {0.7, 0.7},
        .still = 5,
        .counts_b = false},
    .bits = &x265_bits,
    .losses = &losses,
    .filter_strength = 1,
    .ladder = &x265_ladder,
    .planned_percent = {[GPUME_PLANNED_PLAIN] = GPUME_PLANNED(97, 109, 102),
        [GPUME_PLANNED_PSY] = GPUME_PLANNED(97, 109, 102),
        [GPUME_PLANNED_BUFFER] = GPUME_PLANNED(80, 100, 100)},
    .stats = ".log",
    .offsets = ".cutree",
    .hangs = true,
    .own_files = x265_own_files,
    .write_header = x265_write_header,
    .write_frame = x265_write_frame,
    .qp = x265_qp,
    .has_quality = true,
    .crf_qp = x265_crf_qp,
    .own_tree = {.level = 0.77, .half_frames = 4.9, .skipped = 3},
    .offset_codes =
        {[GPUME_FRAME_IDR] = 2, [GPUME_FRAME_I] = 2, [GPUME_FRAME_P] = 1, [GPUME_FRAME_B_REF] = 0},
    .colours = {.primaries = GPUME_CODED_OPTION("colorprim", gpume_colour_primaries),
        .transfer = GPUME_CODED_OPTION("transfer", gpume_colour_transfers),
        .matrix = GPUME_CODED_OPTION("colormatrix", x265_matrices),
        .range = GPUME_CODED_OPTION("range", x265_ranges),
        .place = GPUME_CODED_OPTION("chromaloc", x265_places),
        .display = "master-display",
        .light = "max-cll"},
    .ffmpeg_params = "x265-params",
    .ffmpeg_quiet = "log-level=none",
    .y4m_formats = x265_y4m_formats,
    .program_reads = x265_program_reads,
    .add_program = x265_add_program,
};
