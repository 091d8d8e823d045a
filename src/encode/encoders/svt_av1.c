/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SVT-AV1 2.3 to 4.2, whose program is SvtAv1EncApp: its second pass at a variable bitrate, and the
 * statistics as it writes and reads them: gpume-formats(5).
 *
 * Its first pass is an encode at a constant quality that follows from the bitrate. The second pass
 * divides bits as that one took them: among the stretches between key frames, the groups of 16
 * frames, and their frames. So the statistics are what the model expects of such an encode. The
 * second pass also takes their sum for what its lowest quality would take, and so needs it right.
 */
#include "base/base.h"
#include "encode/commands.h"
#include "encode/encoder.h"

#include <inttypes.h>
#include <string.h>

/* --- options */

#define KEYINT_MAX 100000
#define GROUP 16 /* frames that it codes as a pyramid of halves, at a variable bitrate */

static const struct gpume_encode_option svt_av1_options[] = {
    {GPUME_ENCODE_OPTION("keyint", NUMBER, keyint, 2, KEYINT_MAX)},
    {0},
};

/* 161 is what its own --keyint -2, about five seconds, gives at 24 to 30 frames per second. */
#define PRESET(number)                                                                             \
    {                                                                                              \
        .preset = number, .keyint = 161, .bframes = GROUP - 1, .b_pyramid = 1,                     \
        .rc_lookahead = GROUP, .ref = 1, .qcomp = 1, .ipratio = 1, .pbratio = 1                    \
    }

static const struct gpume_encode_options svt_av1_presets[] = {PRESET("13"), PRESET("12"),
    PRESET("11"), PRESET("10"), PRESET("9"), PRESET("8"), PRESET("7"), PRESET("6"), PRESET("5"),
    PRESET("4"), PRESET("3"), PRESET("2"), PRESET("1"), PRESET("0"), {0}};

/* They change how it chooses, not what a frame takes by much. */
static void svt_av1_tune(struct gpume_encode_options *options)
{
    (void)options;
}

static const struct gpume_tuning svt_av1_tunings[] = {
    {"vq", svt_av1_tune},
    {"psnr", svt_av1_tune},
    {"ssim", svt_av1_tune},
    {0},
};

static int svt_av1_settle(struct gpume_encode_options *options, const struct gpume_log *log)
{
    (void)options;
    (void)log;
    return GPUME_OK;
}

/* --- files: records of 56 bytes, numbers with the lower byte first */

/* The model's QP, of which 51 is AV1's highest index of a quantizer. */
#define INDICES 5 /* of a QP */

/* Its first pass is at the CRF that belongs to 60 frames of the bitrate's bits per pixel. */
static const uint8_t indices[] = {220, 200, 180, 180, 160, 160, 140, 140, 120};

static uint8_t index_of_rate(const struct gpume_pass_video *video, uint64_t bitrate)
{
    const uint64_t rate = video->rate_num / video->rate_den;
    const uint64_t pixels = (uint64_t)video->width * video->height;
    const uint64_t bits = bitrate * 60 / (rate > 0 ? rate : 1) / pixels;
    return indices[gpume_min_u64(bits, sizeof(indices) - 1)];
}

static int32_t svt_av1_fixed_qp(const struct gpume_pass_video *video, uint64_t bitrate)
{
    return index_of_rate(video, bitrate) * GPUME_QP_ONE / INDICES;
}

static int32_t svt_av1_qp(const struct gpume_encode_options *options, enum gpume_frame_type type)
{
    (void)options;
    (void)type;
    return 0;
}

/* Key frames, ends of groups, and what lies between frames 16, 8, 4 and 2 apart. */
enum { KEY, END, OF_16, OF_8, OF_4, OF_2, KINDS };

/* A frame alone at the end of a stretch is as coarse as one that no other refers to. */
static uint32_t svt_av1_kind(const struct gpume_decision *decision)
{
    const uint64_t distance = decision->future - decision->past;
    if (decision->type == GPUME_FRAME_IDR) {
        return KEY;
    }
    if (!decision->has_future) {
        return decision->display - decision->past > 1 ? END : OF_2;
    }
    return distance > 8 ? OF_16 : distance > 4 ? OF_8 : distance > 2 ? OF_4 : OF_2;
}

/* From tests/bench/firstpass/fit_svt_av1.py: 36 clips at the six qualities, with SVT-AV1 2.3. Sizes
 * of 16 others are off by 14 % in the mean. */
static const struct gpume_bits_coefficients svt_av1_bits[KINDS] = {
    [KEY] = GPUME_FITTED(-0.447, 0.0571, 2.965, 0.000, 0.000, 0.000, 16.444),
    [END] = GPUME_FITTED(-1.797, 0.0951, 1.910, 0.657, 2.176, -2.296, 0.000),
    [OF_16] = GPUME_FITTED(-1.444, 0.1090, 2.782, 0.000, 3.034, -1.889, 0.380),
    [OF_8] = GPUME_FITTED(-0.810, 0.1135, 3.890, 0.061, 1.441, -2.600, 0.000),
    [OF_4] = GPUME_FITTED(0.357, 0.0980, 6.525, 1.057, 1.051, -2.330, 0.011),
    [OF_2] = GPUME_FITTED(1.320, 0.0893, 11.483, 3.229, 1.021, -1.497, 0.026),
};

static const uint32_t svt_av1_reuse[KINDS] = {[KEY] = 14343, [END] = 16319};

#define RECORD_BYTES 56

static void put_number(char *record, size_t at, uint64_t number)
{
    for (size_t i = 0; i < sizeof(number); i++) {
        record[at + i] = (char)(number >> 8 * i & 255);
    }
}

static void put_double(char *record, size_t at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    put_number(record, at, bits);
}

/* The frame's position, a zero, its time in units of 1e-7 s, and how many frames it is. */
static void begin_record(char *record, double frame, double duration, double count)
{
    memset(record, 0, RECORD_BYTES);
    put_double(record, 0, frame);
    put_double(record, 16, duration);
    put_double(record, 24, count);
}

static double duration_of(const struct gpume_pass_video *video)
{
    return 1e7 * video->rate_den / video->rate_num;
}

static size_t svt_av1_write_frame(
    char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_frame *frame)
{
    const char index = (char)((frame->qp * INDICES + 50) / 100);
    begin_record(line, (double)frame->display, duration_of(frame->video), 1);
    put_number(line, 32, frame->display);
    put_number(line, 40, frame->texture + frame->vectors);
    line[48] = line[49] = index; /* of the frame, which is not read, and of the coarsest ones */
    line[50] = 0;                /* its layer, which is read where a frame has no bits */
    return RECORD_BYTES;
}

/* Of all frames. It is not read, but must be there. */
static size_t svt_av1_write_end(
    char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_video *video, uint64_t frames)
{
    const double count = (double)frames;
    begin_record(line, count * (count - 1) / 2, count * duration_of(video), count);
    return RECORD_BYTES;
}

static const struct gpume_fixed_pass svt_av1_fixed = {
    .bits = svt_av1_bits,
    .kinds = KINDS,
    .kind = svt_av1_kind,
    .reuse = svt_av1_reuse,
    .reuse_frames = GROUP,
    .pixels = 640 * 360,
    .shrink = 11796,
    .qp = svt_av1_fixed_qp,
    .write_end = svt_av1_write_end,
};

/* --- command lines */

static const char *const svt_av1_ranges[] = {[GPUME_RANGE_LIMITED] = "0", [GPUME_RANGE_FULL] = "1"};

/* Versions before 2.0 have other records. 1.4.1 would empty the file and crash after 43 frames; but
 * it does not know --startup-mg-size, whose 0 is the default of the others, and so stops at once,
 * naming it. */
static void svt_av1_add_program(
    struct gpume_argv *argv, const struct gpume_command_params *params, const char *input)
{
    const struct gpume_encode_options *options = params->options;
    gpume_argv_add(argv, "SvtAv1EncApp");
    gpume_argv_add_pair(argv, "--preset", options->preset);
    if (options->tune) {
        gpume_argv_add(argv, "--tune");
        gpume_argv_add(argv, "%d",
            strcmp(options->tune, "vq") == 0     ? 0
            : strcmp(options->tune, "psnr") == 0 ? 1
                                                 : 2);
    }
    gpume_argv_add_pair(argv, "--rc", "1");
    gpume_argv_add(argv, "--tbr");
    gpume_argv_add(argv, "%" PRIu64, params->bitrate / 1000);
    gpume_argv_add_pair(argv, "--startup-mg-size", "0"); /* changes nothing: see above */
    gpume_argv_add_pair(argv, "--pass", "2");
    gpume_argv_add_pair(argv, "--stats", params->stats);
    gpume_argv_add(argv, "--keyint");
    gpume_argv_add(argv, "%" PRIu32, options->keyint);
    gpume_command_add_colours(argv, &options->encoder->colours, params);
    gpume_argv_add(argv, "-n");
    gpume_argv_add(argv, "%" PRIu64, params->frames);
    gpume_argv_add_pair(argv, "-i", input);
    gpume_argv_add_pair(argv, "-b", GPUME_COMMAND_OUTPUT);
}

static const char *const svt_av1_own_files[] = {"", NULL};
static const char *const svt_av1_y4m_formats[] = {"yuv420p", NULL};

/* Of the bits of frames, see svt_av1_fixed. */
static const struct gpume_bits_model svt_av1_headers = {.header = 144, .stream = 216};

const struct gpume_encoder gpume_svt_av1 = {
    .name = "svt-av1",
    .program = "SvtAv1EncApp 2.3 or later",
    .options = svt_av1_options,
    .presets = svt_av1_presets,
    .preset = "8",
    .tunings = svt_av1_tunings,
    .bits_max = 10,
    .side_min = 64,
    .kbit_max = 100000, /* its program takes any higher rate for this one, and warns */
    .frames_max = 240,  /* with less than one, 2.3 divides by 0 */
    .settle = svt_av1_settle,
    .aq = {.root = 10, .centre = 11},
    .halves = true,
    .b_percent = 100,
    .tree = {.intra_eighths = 8, .strength = {1, 1}},
    .planned_percent = {[GPUME_PLANNED_PLAIN] = GPUME_PLANNED(87, 87, 87)},
    .bits = &svt_av1_headers,
    .filter_strength = 0.25, /* it filters the frames that it needs most itself */
    .stats = ".stats",
    .offsets = ".offsets", /* of which it takes none */
    .own_files = svt_av1_own_files,
    .write_frame = svt_av1_write_frame,
    .fixed = &svt_av1_fixed,
    .qp = svt_av1_qp,
    .colours = {.primaries = {.name = "color-primaries", .count = 23},
        .transfer = {.name = "transfer-characteristics", .count = 19},
        .matrix = {.name = "matrix-coefficients", .count = 15},
        .range = GPUME_CODED_OPTION("color-range", svt_av1_ranges),
        .place = GPUME_CODED_OPTION("chroma-sample-position", gpume_av1_places),
        .display = "mastering-display",
        .light = "content-light",
        .has_decimals = true},
    .y4m_formats = svt_av1_y4m_formats,
    .add_program = svt_av1_add_program,
};
