/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x264 0.164: options as `x264 --fullhelp` lists them, presets and tunings as x264 writes them into
 * the first line of its statistics (tests/cli/test_presets.sh compares them), and its files as it
 * writes and reads them: gpume-formats(5).
 */
#include "base/base.h"
#include "encode/commands.h"
#include "encode/encoder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- options */

#define KEYINT_MAX 100000
#define REFERENCES_MAX 16
#define VBV_MAX 2000000 /* kbit/s and kbit */

static const char *const x264_pyramids[] = {"none", "strict", "normal", NULL};

static const struct gpume_encode_option x264_options[] = {
    {GPUME_ENCODE_OPTION("keyint", NUMBER, keyint, 1, KEYINT_MAX),
        .help = "largest distance of IDR frames", .compared = true},
    {GPUME_ENCODE_OPTION("min-keyint", NUMBER, min_keyint, 0, KEYINT_MAX),
        .help = "smallest distance of IDR frames", .zero = "a tenth of keyint, at most a second"},
    {GPUME_ENCODE_OPTION("scenecut", NUMBER, scenecut, 0, 400),
        .help = "how readily scene cuts become I frames (0: never)"},
    {GPUME_ENCODE_OPTION("bframes", NUMBER, bframes, 0, GPUME_BFRAMES_MAX),
        .help = "most B frames in a row", .compared = true},
    {GPUME_ENCODE_OPTION("b-adapt", NUMBER, b_adapt, 0, 2),
        .help = "how the number of B frames is chosen: 0 always the most, 1 or 2 the cheapest "
                "pattern",
        .compared = true},
    {GPUME_ENCODE_OPTION("b-pyramid", NUMBER, b_pyramid, 0, 2), .words = x264_pyramids,
        .help = "B frames as references", .compared = true},
    {GPUME_ENCODE_OPTION("open-gop", FLAG, open_gop, 0, 1),
        .help = "1: frames may refer across I frames", .compared = true, .has_no_no = true},
    {GPUME_ENCODE_OPTION("weightp", NUMBER, weightp, 0, 2),
        .help = "weighted prediction of P frames", .compared = true},
    {GPUME_ENCODE_OPTION("weightb", SWITCH, weightb, 0, 1), .help = "weighted B frames"},
    {GPUME_ENCODE_OPTION("rc-lookahead", NUMBER, rc_lookahead, 0, GPUME_RC_LOOKAHEAD_MAX),
        .help = "frames to look ahead", .compared = true},
    {GPUME_ENCODE_OPTION("mbtree", FLAG, tree, 0, 1),
        .help = "spend bits on blocks that later frames use", .compared = true},
    {GPUME_ENCODE_OPTION("ref", NUMBER, ref, 1, REFERENCES_MAX), .help = "reference frames"},
    {GPUME_ENCODE_OPTION("aq-mode", NUMBER, aq_mode, 0, 3), .help = "adaptive quantization"},
    {GPUME_ENCODE_OPTION("aq-strength", REAL, aq_strength, 0, GPUME_AQ_STRENGTH_MAX),
        .help = "strength of adaptive quantization"},
    {GPUME_ENCODE_OPTION("qcomp", REAL, qcomp, 0, 1), .help = "compression of the QP curve"},
    {GPUME_ENCODE_OPTION("ipratio", REAL, ipratio, 0.1, 10),
        .help = "quantizer of P frames divided by that of I frames"},
    {GPUME_ENCODE_OPTION("pbratio", REAL, pbratio, 0.1, 10),
        .help = "quantizer of B frames divided by that of P frames"},
    {GPUME_ENCODE_OPTION("ratetol", REAL, ratetol, 0.011, 100),
        .help = "how far the bitrate may deviate during the encode", .zero = "1", .optional = true},
    {GPUME_ENCODE_OPTION("vbv-maxrate", NUMBER, vbv_maxrate, 0, VBV_MAX), .unit = "kbit/s",
        .help = "highest local bitrate in kbit/s, or e.g. 4M", .zero = "no limit",
        .optional = true},
    {GPUME_ENCODE_OPTION("vbv-bufsize", NUMBER, vbv_bufsize, 0, VBV_MAX), .unit = "kbit",
        .help = "size of the decoder's buffer in kbit, or e.g. 8M", .zero = "no limit",
        .optional = true},
    {0},
};

#define PRESET(name, refs, b, adapt, lookahead, p, b_weights, aq, cut, mbtree, psychovisual)       \
    {                                                                                              \
        .preset = name, .keyint = 250, .scenecut = cut, .bframes = b, .b_adapt = adapt,            \
        .b_pyramid = 2, .weightp = p, .weightb = b_weights, .rc_lookahead = lookahead,             \
        .tree = mbtree, .ref = refs, .aq_mode = aq, .aq_strength = 1.0, .qcomp = 0.6,              \
        .ipratio = 1.4, .pbratio = 1.3, .psy = psychovisual                                        \
    }

/* The two fastest presets have no lookahead, which a second pass refuses. Without mbtree its length
 * changes nothing, but it has to be longer than a run of B frames. psy needs --subme 6. */
static const struct gpume_encode_options x264_presets[] = {
    PRESET("ultrafast", 1, 0, 0, 20, 0, 0, 0, 0, false, false),
    PRESET("superfast", 1, 3, 1, 20, 1, 1, 1, 40, false, false),
    PRESET("veryfast", 1, 3, 1, 10, 1, 1, 1, 40, true, false),
    PRESET("faster", 2, 3, 1, 20, 1, 1, 1, 40, true, false),
    PRESET("fast", 2, 3, 1, 30, 1, 1, 1, 40, true, true),
    PRESET("medium", 3, 3, 1, 40, 2, 1, 1, 40, true, true),
    PRESET("slow", 5, 3, 1, 50, 2, 1, 1, 40, true, true),
    PRESET("slower", 8, 3, 2, 60, 2, 1, 1, 40, true, true),
    PRESET("veryslow", 16, 8, 2, 60, 2, 1, 1, 40, true, true),
    PRESET("placebo", 16, 16, 2, 60, 2, 1, 1, 40, true, true),
    {0},
};

static void x264_tune_psnr(struct gpume_encode_options *options)
{
    options->psy = false;
    options->aq_mode = 0;
}

static void x264_tune_ssim(struct gpume_encode_options *options)
{
    options->psy = false;
    options->aq_mode = 2;
}

static void x264_tune_film(struct gpume_encode_options *options)
{
    (void)options; /* changes only what the second pass alone decides */
}

static void x264_tune_animation(struct gpume_encode_options *options)
{
    options->aq_strength = 0.6;
    options->bframes = gpume_min_u32(options->bframes + 2, GPUME_BFRAMES_MAX);
    options->ref = options->ref > 1 ? gpume_min_u32(2 * options->ref, REFERENCES_MAX) : 1;
}

static void x264_tune_grain(struct gpume_encode_options *options)
{
    options->aq_strength = 0.5;
    options->qcomp = 0.8;
    options->ipratio = 1.1;
    options->pbratio = 1.1;
}

static void x264_tune_stillimage(struct gpume_encode_options *options)
{
    options->aq_strength = 1.2;
}

static void x264_tune_fastdecode(struct gpume_encode_options *options)
{
    options->weightp = options->weightb = 0;
}

static const struct gpume_tuning x264_tunings[] = {
    {"psnr", x264_tune_psnr},
    {"ssim", x264_tune_ssim},
    {"film", x264_tune_film},
    {"animation", x264_tune_animation},
    {"grain", x264_tune_grain},
    {"stillimage", x264_tune_stillimage},
    {"fastdecode", x264_tune_fastdecode},
    {0},
};

static int x264_settle(struct gpume_encode_options *options, const struct gpume_log *log)
{
    (void)log;
    options->min_keyint = gpume_min_u32(options->min_keyint, options->keyint / 2 + 1);
    options->bframes = gpume_min_u32(options->bframes, options->keyint - 1);
    options->rc_lookahead = gpume_min_u32(options->rc_lookahead, options->keyint);
    options->b_pyramid = options->bframes > 1 ? options->b_pyramid : 0;
    if (options->bframes == 0) {
        options->b_adapt = options->weightb = 0;
        options->open_gop = false;
    }
    options->tree = options->tree && options->qcomp < 1;
    return GPUME_OK;
}

/* --- files */

static size_t x264_write_header(char line[GPUME_PASS_LINE_BYTES],
    const struct gpume_pass_video *video, const struct gpume_encode_options *options,
    const struct gpume_encode_target *target)
{
    (void)target;
    snprintf(line, GPUME_PASS_LINE_BYTES,
        "#options: %" PRIu32 "x%" PRIu32 " fps=%" PRIu32 "/%" PRIu32 " timebase=%" PRIu32
        "/%" PRIu32 " bitdepth=%" PRIu32,
        video->width, video->height, video->rate_num, video->rate_den, video->rate_den,
        video->rate_num, options->bits);
    const size_t used = gpume_encode_options_append(line, options, GPUME_ENCODE_UNDERSCORES);
    return used + (size_t)snprintf(line + used, GPUME_PASS_LINE_BYTES - used,
                      " intra_refresh=0 bluray_compat=0 interlaced=0 direct=1\n");
}

#define OFFSET_MIN (-128)
#define OFFSET_MAX 127

/* What lightens or darkens a picture scales chroma around its middle, 128, by as much as luma. The
 * last weight makes all chroma 128, for black frames. */
static struct gpume_weight x264_chroma_weight(const struct gpume_weight *luma)
{
    const int32_t offset = 128 - (128 * luma->scale >> luma->denominator);
    return offset <= OFFSET_MAX ? (struct gpume_weight){luma->denominator, luma->scale, offset}
                                : (struct gpume_weight){7, 1, OFFSET_MAX};
}

#define WEIGHT_BYTES 96

/* Luma, then denominator, scale and offset of one chroma plane, and scale and offset of the other.
 * Chroma is left out if luma has an offset alone, or if chroma would need one that is too
 * large. */
static void x264_write_weight(char text[WEIGHT_BYTES], const struct gpume_weight *weight)
{
    int used = 0;
    text[0] = '\0';
    if (!gpume_weight_is_none(weight)) {
        used = snprintf(text, WEIGHT_BYTES, "w:%" PRId32 ",%" PRId32 ",%" PRId32 " ",
            weight->denominator, weight->scale, weight->offset);
    }
    const struct gpume_weight chroma = x264_chroma_weight(weight);
    if (used > 0 && !gpume_weight_is_none(&chroma) && chroma.offset >= OFFSET_MIN) {
        snprintf(text + used - 1, WEIGHT_BYTES - (size_t)used,
            ",%" PRId32 ",%" PRId32 ",%" PRId32 ",%" PRId32 ",%" PRId32 " ", chroma.denominator,
            chroma.scale, chroma.offset, chroma.scale, chroma.offset);
    }
}

/* The timebase is one frame; durations are in halves of it, so each is 2. */
static size_t x264_write_frame(
    char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_frame *frame)
{
    char weight[WEIGHT_BYTES];
    const unsigned qp = (unsigned)frame->qp;
    x264_write_weight(weight, &frame->weight);
    return (size_t)snprintf(line, GPUME_PASS_LINE_BYTES,
        "in:%" PRIu64 " out:%" PRIu64 " type:%c dur:2 cpbdur:2 q:%u.%02u aq:%u.%02u tex:%" PRIu64
        " mv:%" PRIu64 " misc:0 imb:%" PRIu32 " pmb:%" PRIu32 " smb:%" PRIu32 " d:- ref:0 %s;\n",
        frame->display, frame->coded, gpume_frame_letter(frame->type), qp / 100, qp % 100, qp / 100,
        qp % 100, frame->texture, frame->vectors, frame->intra_blocks, frame->inter_blocks,
        frame->skipped_blocks, weight);
}

static size_t x264_write_qp(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_frame *frame)
{
    return (size_t)snprintf(line, GPUME_PASS_LINE_BYTES, "%" PRIu64 " %c %" PRId32 "\n",
        frame->display, gpume_frame_letter(frame->type), frame->qp / 100);
}

/* With mbtree, the tree takes the place of a higher QP of B frames. QPs of deep samples begin
 * below those of 8 bits. */
static int32_t x264_qp(const struct gpume_encode_options *options, enum gpume_frame_type type)
{
    const int32_t b = options->tree ? 0 : gpume_qp_of_ratio(options->pbratio);
    const int32_t depth = (int32_t)(options->bits - 8) * 6 * GPUME_QP_ONE;
    switch (type) {
    case GPUME_FRAME_IDR:
    case GPUME_FRAME_I:
        return depth - gpume_qp_of_ratio(options->ipratio);
    case GPUME_FRAME_B_REF:
        return depth + b / 2;
    case GPUME_FRAME_B:
        return depth + b;
    default:
        return depth;
    }
}

/* Without a tree, QPs depend on costs, which it finds by SAD instead of SATD if the motion of the
 * encode is coarse, as with the two fastest presets. */
static int32_t x264_crf_qp(const struct gpume_encode_options *options, enum gpume_frame_type type)
{
    const bool is_coarse = strcmp(options->preset, "superfast") == 0;
    const bool is_coarsest = strcmp(options->preset, "ultrafast") == 0;
    const double lower = is_coarse ? 2.4 : is_coarsest ? 1.6 : 0.65;
    (void)type;
    return options->tree ? 0 : -(int32_t)(lower * GPUME_QP_ONE);
}

/* --- command lines */

static const char *const x264_matrices[] = {NULL, "bt709", NULL, NULL, "fcc", "bt470bg",
    "smpte170m", "smpte240m", "YCgCo", "bt2020nc", "bt2020c", "smpte2085", "chroma-derived-nc",
    "chroma-derived-c", "ICtCp"};
static const char *const x264_places[] = {[GPUME_CHROMA_TOP_LEFT] = "2"};
static const char *const x264_ranges[] = {[GPUME_RANGE_LIMITED] = "tv", [GPUME_RANGE_FULL] = "pc"};

/* Eight times the bitrate, but no less than level 3.2, or 4 for 1920x1080, allows, and no more than
 * level 4.1 does, unless that is less than four times the bitrate: x264 writes the level that the
 * limit needs. */
static uint32_t x264_wide_buffer(const struct gpume_pass_video *video, uint64_t bitrate)
{
    const uint64_t pixels = (uint64_t)video->width * video->height;
    const uint64_t least = gpume_max_u64(20000, pixels / 100), rate = bitrate / 1000;
    const uint64_t most = gpume_max_u64(gpume_max_u64(50000, least), rate * 4);
    const uint64_t kbits = gpume_min_u64(gpume_max_u64(least, rate * 8), most);
    return (uint32_t)gpume_min_u64(kbits, VBV_MAX);
}

/* With QPs, a buffer is a wide one. The bitrate is then more than they take: x264 would raise them
 * to keep to it. */
static void x264_add_second_pass(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    struct gpume_command_params second = *params;
    if (params->qps && params->options->vbv_maxrate > 0) {
        const uint64_t most = 1000 * (uint64_t)params->options->vbv_maxrate;
        second.bitrate = gpume_min_u64(params->bitrate * 4, most);
    }
    gpume_command_add_second_pass(argv, &second);
}

static void x264_add_program(
    struct gpume_argv *argv, const struct gpume_command_params *params, const char *input)
{
    const bool is_pipe = strcmp(input, "-") == 0;
    x264_add_second_pass(argv, params);
    gpume_argv_add_pair(argv, "--force-cfr", "--no-interlaced");
    if (is_pipe) {
        gpume_argv_add_pair(argv, "--demuxer", "y4m");
    }
    gpume_argv_add_pair(argv, "-o", GPUME_COMMAND_OUTPUT);
    gpume_argv_add(argv, "%s%s", input[0] == '-' && !is_pipe ? "./" : "", input);
}

#define HEADER_BITS 128
/* x264's parameter sets and its message about its options, which are in front of the first frame
 * unless the container keeps them elsewhere. */
#define STREAM_BITS 5880

static const char *const x264_own_files[] = {"", ".temp", ".mbtree", ".mbtree.temp", NULL};
static const char *const x264_y4m_formats[] = {"yuv420p", "yuv422p", "yuv444p", NULL};

static const struct gpume_bits_model x264_bits = {
    .of =
        {
            {
                [GPUME_FRAME_IDR] = GPUME_FITTED(-2.309, 0.1551, 4.400, 1.738, 0.000, 0.000, 2.913),
                [GPUME_FRAME_I] = GPUME_FITTED(-2.309, 0.1551, 4.400, 1.738, 0.000, 0.000, 2.913),
                [GPUME_FRAME_P] = GPUME_FITTED(-2.596, 0.1606, 3.346, 1.970, 1.899, -3.643, 1.842),
                [GPUME_FRAME_B_REF] =
                    GPUME_FITTED(-1.706, 0.1481, 4.753, 0.009, 2.240, -2.454, 0.292),
                [GPUME_FRAME_B] = GPUME_FITTED(-1.486, 0.1411, 5.042, 0.261, 2.473, -1.915, 0.191),
            },
            {
                [GPUME_FRAME_IDR] = GPUME_FITTED(-2.443, 0.1623, 3.499, 4.870, 0.000, 0.000, 6.372),
                [GPUME_FRAME_I] = GPUME_FITTED(-2.443, 0.1623, 3.499, 4.870, 0.000, 0.000, 6.372),
                [GPUME_FRAME_P] = GPUME_FITTED(-1.901, 0.1605, 3.894, 6.674, 3.919, -2.894, 2.707),
                [GPUME_FRAME_B_REF] =
                    GPUME_FITTED(-1.594, 0.1431, 4.711, 0.911, 2.099, -3.079, 1.176),
                [GPUME_FRAME_B] = GPUME_FITTED(-1.528, 0.1330, 4.145, 1.035, 2.268, -2.567, 0.850),
            },
        },
    .header = HEADER_BITS,
    .stream = STREAM_BITS,
};

/* Fitted to the error of 168 encodes of 42 clips at CRF 20 to 38: of half of the clips, the numbers
 * of the other half are off by 1.1 dB in the mean square. */
static const struct gpume_loss_model losses = {
    .limit = {GPUME_LOSS_FIXED(.0986), GPUME_LOSS_FIXED(.1186), GPUME_LOSS_FIXED(.1396)},
    .bend = {GPUME_LOSS_FIXED(4), GPUME_LOSS_FIXED(.9291), GPUME_LOSS_FIXED(.503)},
    .gain = GPUME_LOSS_FIXED(2.1201),
    .mean = GPUME_LOSS_FIXED(1.4),
    .floor = GPUME_LOSS_FIXED(.0228),
    .ssim_power = GPUME_LOSS_FIXED(.865),
    .ssim_octaves = GPUME_LOSS_FIXED(-6.57),
    .xpsnr_power = GPUME_LOSS_FIXED(.947),
    .xpsnr_decibels = GPUME_LOSS_FIXED(3.16),
};

static const struct gpume_ladder_model x264_ladder = {.rate = 0.1,
    .rate_rise = 0.0075,
    .rate_own = 0.0068,
    .error = 0.27,
    .error_smaller = 0.34,
    .error_rise = 0.0037,
    .error_level = 0.22,
    .carried = 0.033};

const struct gpume_encoder gpume_x264 = {
    .name = "x264",
    .library = "libx264",
    .options = x264_options,
    .presets = x264_presets,
    .preset = "medium",
    .tunings = x264_tunings,
    .bits_max = 10,
    .side_min = 2,
    .settle = x264_settle,
    .aq = {.root = 8, .centre = 14},
    .b_percent = 120, /* as x264 itself */
    .pattern_costs = {.vector_part = 4, .counts_cost = true, .has_intra_b = true},
    .tree = {.intra_eighths = 8,
        .strength = {1.1, 1.4},
        .crf_strength = {1.1, 1.4},
        .counts_b = true,
        .noise = 200,
        .quiet = 150},
    .bits = &x264_bits,
    .losses = &losses,
    .filter_strength = 1,
    .ladder = &x264_ladder,
    .planned_percent = {[GPUME_PLANNED_PLAIN] = GPUME_PLANNED(98, 115, 107),
        [GPUME_PLANNED_PSY] = GPUME_PLANNED(98, 135, 115),
        [GPUME_PLANNED_BUFFER] = GPUME_PLANNED(70, 100, 100)},
    .stats = "-0.log",
    .offsets = ".mbtree",
    .own_files = x264_own_files,
    .write_header = x264_write_header,
    .write_frame = x264_write_frame,
    .has_weights = true,
    .qp = x264_qp,
    .has_quality = true,
    .qps = ".qpfile",
    .write_qp = x264_write_qp,
    .crf_qp = x264_crf_qp,
    .own_tree = {.level = 0.86, .half_frames = 4.2},
    .offset_codes =
        {[GPUME_FRAME_IDR] = 2, [GPUME_FRAME_I] = 2, [GPUME_FRAME_P] = 0, [GPUME_FRAME_B_REF] = 1},
    .offsets_big_endian = true,
    .colours = {.primaries = GPUME_CODED_OPTION("colorprim", gpume_colour_primaries),
        .transfer = GPUME_CODED_OPTION("transfer", gpume_colour_transfers),
        .matrix = GPUME_CODED_OPTION("colormatrix", x264_matrices),
        .range = GPUME_CODED_OPTION("range", x264_ranges),
        .place = GPUME_CODED_OPTION("chromaloc", x264_places),
        .display = "mastering-display",
        .light = "cll"},
    .ffmpeg_params = "x264-params",
    .ffmpeg_passes = true,
    .y4m_formats = x264_y4m_formats,
    .wide_buffer = x264_wide_buffer,
    .add_program = x264_add_program,
};
