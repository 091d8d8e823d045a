/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a second pass, from made-up decisions: options as the encoders have them, the bytes
 * of both formats, offsets at another picture size, rates, and damage that is found when files are
 * read back. Works in its own folder below the current one.
 */
#include "encode/bits.h"
#include "encode/chunk_encoders.h"
#include "encode/costs.h"
#include "encode/distortion.h"
#include "encode/encoder.h"
#include "encode/options.h"
#include "encode/pass.h"
#include "encode/pass_parts.h"
#include "files/out.h"
#include "harness.h"
#include "logged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 200, BLOCKS = 6, TREE_OFFSET = 3 * GPUME_QP_ONE };

static struct gpume_encode_options options_of(const struct gpume_encoder *encoder)
{
    struct gpume_encode_options options;
    gpume_encode_options_default(&options, encoder);
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_OK);
    return options;
}

static void test_options(void)
{
    struct gpume_encode_options options = options_of(gpume_encoder_find("x264"));
    REQUIRE_EQUAL(options.min_keyint, 25);
    REQUIRE_EQUAL(options.horizon, 60); /* more than rc-lookahead, 40 */
    options.rc_lookahead = 100;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(options.horizon, 100);
    options.min_keyint = 0;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 24000, 1001, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(options.min_keyint, 23);
    options.keyint = 30;
    options.min_keyint = 25;
    options.bframes = 1;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(options.min_keyint, 16);
    REQUIRE_EQUAL(options.rc_lookahead, 30);
    REQUIRE_EQUAL(options.b_pyramid, 0);
    options.bframes = 0;
    options.qcomp = 1;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_OK);
    REQUIRE(options.b_adapt == 0 && options.weightb == 0 && !options.tree);
    options = options_of(gpume_encoder_find("x264"));
    options.keyint = options.bframes;
    options.min_keyint = 1;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(options.bframes, options.keyint - 1);
    options = options_of(gpume_encoder_find("x264"));
    options.keyint = options.min_keyint = 1;
    options.rc_lookahead = 0;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_OK);
    options = options_of(gpume_encoder_find("x264"));
    options.keyint = options.rc_lookahead = 3;
    options.min_keyint = 0;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(options.bframes, 2);
    options = options_of(gpume_encoder_find("x265"));
    options.keyint = 1;
    options.min_keyint = 1;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_OK);
    REQUIRE(options.bframes == 0 && options.scenecut == 0 && !options.open_gop && !options.tree);
    REQUIRE_EQUAL(logged.lines, 0);
}

static void test_refused_options(void)
{
    static const struct {
        size_t field;
        uint32_t value;
    } wrong[] = {
        {offsetof(struct gpume_encode_options, bframes), 17},
        {offsetof(struct gpume_encode_options, b_adapt), 3},
        {offsetof(struct gpume_encode_options, weightp), 2}, /* a switch in x265 */
        {offsetof(struct gpume_encode_options, b_pyramid), 2},
        {offsetof(struct gpume_encode_options, keyint), 0},
        {offsetof(struct gpume_encode_options, ref), 0},
        {offsetof(struct gpume_encode_options, ref), 7}, /* at most 6 with B frames and pyramid */
        {offsetof(struct gpume_encode_options, min_keyint), 251},
        {offsetof(struct gpume_encode_options, rc_lookahead), 4},
        {offsetof(struct gpume_encode_options, vbv_maxrate), 500},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct gpume_encode_options options = options_of(gpume_encoder_find("x265"));
        logged.lines = 0;
        memcpy((char *)&options + wrong[i].field, &wrong[i].value, sizeof(uint32_t));
        REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_INVALID);
        REQUIRE_EQUAL(logged.lines, 1);
        REQUIRE(strncmp(logged.last, "x265: ", 6) == 0);
    }
    struct gpume_encode_options options = options_of(gpume_encoder_find("x265"));
    options.ref = 7;
    options.b_pyramid = 0;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_OK);
    options.ref = 8;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_INVALID);
    options.bframes = 0;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_OK);
    options.qcomp = 0.4;
    REQUIRE_EQUAL(gpume_encode_options_settle(&options, 25, 1, &counting_log), GPUME_INVALID);
    logged.lines = 0;
}

/* An earlier encoder's help of the option, or its own. */
static bool has_help(size_t encoder, const char *name)
{
    for (size_t i = 0; i <= encoder; i++) {
        const struct gpume_encode_option *option =
            gpume_encode_option_find(gpume_encoders[i], name);
        if (option && option->help) {
            return true;
        }
    }
    return false;
}

/* What all encoders' tables must have: presets and tunings that the encoder itself accepts, help
 * and words for every option, and files that do not share a name. */
static void test_encoders(void)
{
    for (size_t i = 0; gpume_encoders[i]; i++) {
        const struct gpume_encoder *encoder = gpume_encoders[i];
        struct gpume_encode_options options;
        uint32_t presets = 0;
        REQUIRE(gpume_encoder_find(encoder->name) == encoder);
        for (const struct gpume_encode_options *p = encoder->presets; p->preset; p++, presets++) {
            REQUIRE(gpume_encode_options_preset(&options, encoder, p->preset));
            REQUIRE(options.encoder == encoder && options.bits == 8 && !options.tune);
            REQUIRE_EQUAL(gpume_encode_options_settle(&options, 30, 1, &counting_log), GPUME_OK);
            for (const struct gpume_tuning *t = encoder->tunings; t->name; t++) {
                REQUIRE(gpume_encode_options_preset(&options, encoder, p->preset));
                REQUIRE(gpume_encode_options_tune(&options, t->name));
                REQUIRE(strcmp(options.tune, t->name) == 0);
                REQUIRE_EQUAL(
                    gpume_encode_options_settle(&options, 30, 1, &counting_log), GPUME_OK);
            }
        }
        REQUIRE(presets > 0);
        gpume_encode_options_default(&options, encoder);
        REQUIRE(strcmp(options.preset, encoder->preset) == 0);
        REQUIRE(!gpume_encode_options_preset(&options, encoder, "none of them"));
        REQUIRE(!gpume_encode_options_tune(&options, "none of them"));
        for (const struct gpume_encode_option *o = encoder->options; o->name; o++) {
            uint32_t words = 0;
            REQUIRE(has_help(i, o->name));
            REQUIRE(gpume_encode_option_find(encoder, o->name) == o);
            while (o->words && o->words[words]) {
                words++;
            }
            REQUIRE(!o->words || words > o->max);
        }
        REQUIRE(strcmp(encoder->own_files[0], "") == 0);
        REQUIRE(encoder->stats[0] != '\0' && encoder->offsets[0] != '\0');
    }
    REQUIRE_EQUAL(logged.lines, 0);
}

/* A video of 48x32 pixels, in coded order: an IDR frame, then P, B_REF and B frames. */
struct clip {
    int16_t offsets[BLOCKS], aq_offsets[BLOCKS];
    uint16_t costs[BLOCKS];
    struct gpume_spectrum spectrum;
    struct gpume_losses losses;
    struct gpume_decision decision;
};

/* Of all P frames. */
static struct {
    bool is_known;
    uint16_t intra_costs[BLOCKS];
    uint8_t kinds[BLOCKS];
    struct gpume_vector vectors[BLOCKS];
} motion;

static uint16_t cost = 100;
static bool has_losses; /* then all frames that others refer to are needed */

static const struct gpume_decision *frame_of(struct clip *clip, uint64_t coded)
{
    static const enum gpume_frame_type types[] = {
        GPUME_FRAME_P, GPUME_FRAME_B_REF, GPUME_FRAME_B, GPUME_FRAME_B};
    static const uint64_t displays[] = {4, 2, 1, 3};
    const uint64_t group = coded > 0 ? (coded - 1) / 4 : 0, place = (coded + 3) % 4;
    for (int i = 0; i < BLOCKS; i++) {
        clip->offsets[i] = (int16_t)(coded == 0 ? 256 * i : -300 - i);
        clip->aq_offsets[i] = (int16_t)(clip->offsets[i] + TREE_OFFSET);
        clip->costs[i] = cost;
    }
    clip->spectrum = (struct gpume_spectrum){
        .blocks = BLOCKS,
        .sampled = BLOCKS,
        .differing = BLOCKS,
        .details = {[10] = 20, [14] = coded > 0 ? (uint16_t)(20 + coded) : 100},
        .means = {[14] = 10},
        .vectors = {[18] = coded > 0 ? 20 : 0},
    };
    clip->losses = (struct gpume_losses){.weight = 1 << 22};
    for (uint32_t i = 0; i < GPUME_LOSS_KINDS * GPUME_LOSS_BINS; i++) { /* as many of each size */
        const enum gpume_loss_class class = coded > 0 ? GPUME_LOSS_MOVING : GPUME_LOSS_INTRA;
        clip->losses.shares[i / GPUME_LOSS_BINS][class][i % GPUME_LOSS_BINS] = 1 << 18;
    }
    const uint64_t begin = group * 4, display = coded > 0 ? begin + displays[place] : 0;
    clip->decision = (struct gpume_decision){
        .display = display,
        .has_past = coded > 0,
        .has_future = coded > 0 && place > 0,
        .past = display > begin + 2 && place > 1 ? begin + 2 : begin,
        .future = display < begin + 2 ? begin + 2 : begin + 4,
        .losses = has_losses ? &clip->losses : NULL,
        .coded = coded,
        .type = coded > 0 ? types[place] : GPUME_FRAME_IDR,
        .weight = {.denominator = 5, .scale = coded == 1 ? 57 : 32, .offset = coded == 1 ? -11 : 0},
        .blocks_x = 3,
        .blocks_y = 2,
        .offsets = clip->offsets,
        .aq_offsets = clip->aq_offsets,
        .costs = clip->costs,
        .intra_costs = motion.intra_costs,
        .kinds = motion.kinds,
        .past_vectors = motion.is_known ? motion.vectors : NULL,
        .intra_blocks = coded > 0 ? 2 : BLOCKS,
        .skipped_blocks = coded > 0 ? 1 : 0,
        .spectrum = &clip->spectrum,
    };
    return &clip->decision;
}

/* Gives up after `patience` questions. */
static uint64_t asked, patience = UINT64_MAX;

static bool ended(void)
{
    return ++asked > patience;
}

static struct gpume_pass_outcome outcome; /* of the last files */

static bool chunks; /* instead of files */

/* Writes the files "a", its offsets and its QPs; width x height: of the encoded picture. */
static int write_target(const struct gpume_encode_options *options,
    const struct gpume_encode_target *target, uint64_t frames, uint32_t width, uint32_t height)
{
    struct gpume_out_set set = {.overwrite = true, .together = true};
    const struct gpume_pass_params params = {
        .options = options,
        .width = 48,
        .height = 32,
        .set = &set,
        .chunks = chunks,
        .ended = ended,
        .log = counting_log,
    };
    const struct gpume_pass_video video = {width, height, 25, 1};
    struct gpume_pass *pass = NULL;
    struct clip clip;
    int status = gpume_pass_open(&pass, &params);
    status = status ? status : gpume_pass_add(pass, &video, target, chunks ? NULL : "a");
    for (uint64_t i = 0; i < frames && status == GPUME_OK; i++) {
        status = gpume_pass_add_frame(pass, frame_of(&clip, i));
    }
    status = status ? status : gpume_pass_finish(pass);
    status = status ? status : gpume_out_set_name(&set, &counting_log);
    outcome = status == GPUME_OK ? gpume_pass_outcome(pass, 0) : (struct gpume_pass_outcome){0};
    gpume_pass_close(&pass);
    return status;
}

static int write_files(const struct gpume_encode_options *options, uint64_t bitrate,
    uint64_t frames, uint32_t width, uint32_t height)
{
    const struct gpume_encode_target target = {GPUME_GOAL_BITRATE, bitrate};
    return write_target(options, &target, frames, width, height);
}

/* The bytes of a file that it removes. */
static size_t take(const char *name, unsigned char *data, size_t room)
{
    FILE *file = fopen(name, "rb");
    const size_t bytes = file ? fread(data, 1, room, file) : 0;
    REQUIRE(file != NULL);
    if (file) {
        fclose(file);
    }
    REQUIRE(unlink(name) == 0);
    return bytes;
}

/* Its first `count` lines; the sum of all bits is returned. */
static uint64_t take_stats(char lines[][GPUME_PASS_LINE_BYTES], size_t count)
{
    FILE *file = fopen("a", "r");
    char line[GPUME_PASS_LINE_BYTES];
    uint64_t sum = 0;
    REQUIRE(file != NULL);
    for (size_t i = 0; file && fgets(line, sizeof(line), file); i++) {
        unsigned texture = 0, vectors = 0;
        const char *bits = strstr(line, " tex:");
        if (bits && sscanf(bits, " tex:%u mv:%u", &texture, &vectors) == 2) {
            sum += texture + vectors;
        }
        line[strcspn(line, "\n")] = '\0';
        if (i < count) {
            memcpy(lines[i], line, sizeof(line));
        }
    }
    if (file) {
        fclose(file);
    }
    REQUIRE(unlink("a") == 0);
    return sum;
}

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool ends(const char *text, const char *end)
{
    const size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* What both files of five frames say. */
struct expected {
    const struct gpume_encoder *encoder;
    struct {
        const char *begins, *ends;
    } lines[5]; /* NULL: anything */
    const char *compared, *tree_name;
    unsigned char tree[16];  /* a type and 6 offsets of the IDR frame, then the P frame */
    unsigned char last_type; /* of the reference B frame */
};

static void check_files(const struct expected *expected)
{
    const struct gpume_encode_options options = options_of(expected->encoder);
    static char lines[5][GPUME_PASS_LINE_BYTES];
    unsigned char tree[256];
    REQUIRE_EQUAL(write_files(&options, 100000, 5, 48, 32), GPUME_OK);
    take_stats(lines, 5);
    REQUIRE(strstr(lines[0], expected->compared));
    for (size_t i = 0; i < 5; i++) {
        REQUIRE(!expected->lines[i].begins || begins(lines[i], expected->lines[i].begins));
        REQUIRE(!expected->lines[i].ends || ends(lines[i], expected->lines[i].ends));
    }
    /* The second pass of x264 may have another min-keyint. */
    REQUIRE(expected->encoder == gpume_encoder_find("x265") || !strstr(lines[0], "min"));
    REQUIRE_EQUAL(take(expected->tree_name, tree, sizeof(tree)), 3 * 13);
    REQUIRE(memcmp(tree, expected->tree, sizeof(expected->tree)) == 0);
    REQUIRE_EQUAL(tree[26], expected->last_type);
}

static void test_files(void)
{
    check_files(&(const struct expected){
        .encoder = gpume_encoder_find("x264"),
        .lines = {{"#options: 48x32 fps=25/1 timebase=1/25 bitdepth=8 keyint=250 ", NULL},
            {"in:0 out:0 type:I dur:2 cpbdur:2 q:", " imb:6 pmb:0 smb:0 d:- ref:0 ;"},
            {"in:4 out:1 type:P ", " imb:2 pmb:3 smb:1 d:- ref:0 w:5,57,-11,5,57,-100,57,-100 ;"},
            {"in:2 out:2 type:B ", NULL}, {"in:1 out:3 type:b ", NULL}},
        .compared = " b_pyramid=2 open_gop=0 weightp=2 rc_lookahead=40 mbtree=1 ",
        .tree_name = "a.mbtree", /* big-endian */
        .tree = {2, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0, 0xfe, 0xd4},
        .last_type = 1,
    });
    check_files(&(const struct expected){
        .encoder = gpume_encoder_find("x265"),
        .lines = {{"#options: bitdepth=8 fps=25/1 input-res=48x32 keyint=250 ", NULL},
            {"in:0 out:0 type:I q:", " misc:0 icu:6.00 pcu:0.00 scu:0.00 sc:0 ;"},
            {"in:4 out:1 type:P q:", NULL}},
        .compared = " b-adapt=2 b-pyramid open-gop weightp no-weightb rc-lookahead=20 ",
        .tree_name = "a.cutree",
        .tree = {2, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 0xd4, 0xfe},
    });
}

/* Whether the file's line that begins so has the text. */
static bool has_text(const char *path, const char *begin, const char *text)
{
    FILE *file = fopen(path, "r");
    char line[GPUME_PASS_LINE_BYTES + 2];
    bool found = false;
    while (file && fgets(line, sizeof(line), file)) {
        found = found || (strncmp(line, begin, strlen(begin)) == 0 && strstr(line, text));
    }
    if (file) {
        fclose(file);
    }
    return found;
}

/* The offsets of the IDR frame are 0, 1, 2 above 3, 4, 5, in whole QPs. */
static void test_sizes(void)
{
    const struct gpume_encode_options options = options_of(gpume_encoder_find("x264"));
    unsigned char tree[256];
    /* Half the size: the first square covers 0, 1, 3 and 4; the second one 2 and 5. */
    REQUIRE_EQUAL(write_files(&options, 100000, 1, 24, 16), GPUME_OK);
    REQUIRE_EQUAL(take("a.mbtree", tree, sizeof(tree)), 5);
    REQUIRE(memcmp(tree, "\2\2\0\3\200", 5) == 0);
    /* Twice the size: every square has the offset of the one that contains it. */
    REQUIRE_EQUAL(write_files(&options, 100000, 1, 96, 64), GPUME_OK);
    REQUIRE_EQUAL(take("a.mbtree", tree, sizeof(tree)), 1 + 2 * 24);
    REQUIRE(tree[1 + 2 * 0] == 0 && tree[1 + 2 * 1] == 0 && tree[1 + 2 * 5] == 2);
    REQUIRE(tree[1 + 2 * 6] == 0 && tree[1 + 2 * 12] == 3 && tree[1 + 2 * 23] == 5);
    /* Blocks are those of the encoded picture. */
    REQUIRE_EQUAL(write_files(&options, 100000, 2, 96, 64), GPUME_OK);
    REQUIRE(has_text("a", "in:0 ", " imb:24 pmb:0 smb:0 "));
    REQUIRE(has_text("a", "in:4 ", " imb:8 pmb:12 smb:4 "));
    /* A width of 32: a square covers one and a half. */
    REQUIRE_EQUAL(write_files(&options, 100000, 1, 32, 32), GPUME_OK);
    REQUIRE_EQUAL(take("a.mbtree", tree, sizeof(tree)), 9);
    REQUIRE(memcmp(tree, "\2\0\125\1\253\3\125\4\253", 9) == 0);
    REQUIRE(unlink("a") == 0);
}

/* How many encoders, the first ones, read text about an encode at the bitrate. The others read
 * records: see the end. */
static size_t count_texts(void)
{
    size_t count = 0;
    while (gpume_encoders[count] && !gpume_encoders[count]->fixed) {
        count++;
    }
    return count;
}

/* The bits of all frames are those of the bitrate, within what a step of 1/256 QP changes. */
static void test_rates(void)
{
    static const uint64_t rates[] = {10000, 20000, 30000};
    logged.lines = logged.warnings = 0;
    for (size_t encoder = 0; encoder < count_texts(); encoder++) {
        const struct gpume_encode_options options = options_of(gpume_encoders[encoder]);
        for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
            REQUIRE_EQUAL(write_files(&options, rates[i], FRAMES, 48, 32), GPUME_OK);
            const uint64_t bits = take_stats(NULL, 0), wanted = rates[i] * FRAMES / 25;
            REQUIRE(bits <= wanted && bits > wanted - wanted / 200);
        }
    }
    REQUIRE_EQUAL(logged.lines, 0);
    /* Rates that no QP reaches. */
    const struct gpume_encode_options options = options_of(gpume_encoder_find("x264"));
    REQUIRE_EQUAL(write_files(&options, 4000, FRAMES, 48, 32), GPUME_OK);
    REQUIRE_EQUAL(logged.warnings, 0); /* it may be reached */
    REQUIRE_EQUAL(write_files(&options, 4000, FRAMES, 480, 320), GPUME_OK);
    REQUIRE_EQUAL(logged.warnings, 1);
    REQUIRE(strstr(logged.last, "unlikely to keep to 4 kbit/s: even at QP 51"));
    REQUIRE_EQUAL(write_files(&options, 100000000, FRAMES, 48, 32), GPUME_OK);
    REQUIRE_EQUAL(logged.warnings, 2);
    REQUIRE(strstr(logged.last, "unlikely to reach 100000 kbit/s: even at QP 0"));
    /* x264 has finer quantizers for 10 bits. */
    const uint64_t most = take_stats(NULL, 0), more = most * 6 / 5 * 25 / FRAMES;
    struct gpume_encode_options deep = options;
    deep.bits = 10;
    REQUIRE_EQUAL(write_files(&deep, more, FRAMES, 48, 32), GPUME_OK);
    const uint64_t reached = take_stats(NULL, 0);
    REQUIRE(reached <= most * 6 / 5 && reached > most * 119 / 100);
    REQUIRE_EQUAL(write_files(&deep, 100000000, FRAMES, 48, 32), GPUME_OK);
    REQUIRE(strstr(logged.last, "unlikely to reach 100000 kbit/s: even at QP -12"));
    logged.lines = 0;
    REQUIRE_EQUAL(write_files(&options, 100000, 0, 48, 32), GPUME_INVALID);
    REQUIRE_EQUAL(logged.lines, 1);
    unlink("a");
    unlink("a.mbtree");
    unlink("a.cutree");
}

/* The QP that statistics for this bitrate give the first frame. */
static double qp_of_rate(const struct gpume_encode_options *options, uint64_t bitrate)
{
    static char lines[2][GPUME_PASS_LINE_BYTES];
    REQUIRE_EQUAL(write_files(options, bitrate, FRAMES, 48, 32), GPUME_OK);
    take_stats(lines, 2);
    const char *q = strstr(lines[1], " q:");
    REQUIRE(q != NULL);
    return q ? strtod(q + 3, NULL) : 0;
}

/* What keeps texture takes more bits, and statistics may say more than the model expects: both
 * mean a higher QP. */
static void test_planned_bits(void)
{
    static const struct {
        const char *encoder, *preset, *tune;
        bool psy;
    } cases[] = {
        {"x264", "faster", NULL, false},
        {"x264", "fast", NULL, true},
        {"x264", "medium", "film", true},
        {"x264", "medium", "psnr", false},
        {"x264", "slow", "ssim", false},
        {"x265", "fast", NULL, false},
        {"x265", "medium", NULL, true},
        {"x265", "slow", "psnr", false},
        {"x265", "slow", "ssim", false},
    };
    struct gpume_encode_options options;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct gpume_encoder *encoder = gpume_encoder_find(cases[i].encoder);
        REQUIRE(gpume_encode_options_preset(&options, encoder, cases[i].preset));
        REQUIRE(!cases[i].tune || gpume_encode_options_tune(&options, cases[i].tune));
        REQUIRE_EQUAL(options.psy, cases[i].psy);
    }
    options = options_of(gpume_encoder_find("x264"));
    const double with = qp_of_rate(&options, 20000);
    options.psy = false;
    const double without = qp_of_rate(&options, 20000);
    REQUIRE(with > without + 0.3 && with < without + 6);
    struct gpume_encoder more = *options.encoder;
    for (size_t i = 0; i <= GPUME_FRAME_B; i++) {
        more.planned_percent[GPUME_PLANNED_PLAIN][i] =
            more.planned_percent[GPUME_PLANNED_PLAIN][i] * 3 / 2;
    }
    options.encoder = &more;
    REQUIRE(qp_of_rate(&options, 20000) > without + 1);
    /* Where the buffer is limited, they say something else. */
    options.vbv_maxrate = options.vbv_bufsize = 1000;
    const double wide = qp_of_rate(&options, 20000);
    for (size_t i = 0; i <= GPUME_FRAME_B; i++) {
        more.planned_percent[GPUME_PLANNED_BUFFER][i] =
            more.planned_percent[GPUME_PLANNED_BUFFER][i] * 3 / 2;
    }
    REQUIRE(wide < without + 1 && qp_of_rate(&options, 20000) > wide + 1);
    unlink("a.mbtree");
}

/* How full a buffer is at the least, in bits, by the sizes in the statistics, and by how much QPs
 * of P frames differ. */
static int64_t least_fill(const struct gpume_encode_options *options, double *spread)
{
    static char lines[FRAMES + 1][GPUME_PASS_LINE_BYTES];
    const int64_t size = 1000 * (int64_t)options->vbv_bufsize;
    int64_t fill = size * 9 / 10, least = size;
    double low = 100, high = 0;
    take_stats(lines, FRAMES + 1);
    for (size_t i = 1; i <= FRAMES; i++) {
        const char *bits = strstr(lines[i], " tex:"), *q = strstr(lines[i], " q:");
        unsigned texture = 0, vectors = 0;
        double qp = 0;
        REQUIRE(bits && sscanf(bits, " tex:%u mv:%u", &texture, &vectors) == 2);
        REQUIRE(q && sscanf(q, " q:%lf", &qp) == 1);
        fill -= (int64_t)texture + vectors;
        least = fill < least ? fill : least;
        fill += 40 * (int64_t)options->vbv_maxrate;
        fill = fill < size ? fill : size;
        low = strstr(lines[i], "type:P") && qp < low ? qp : low;
        high = strstr(lines[i], "type:P") && qp > high ? qp : high;
    }
    *spread = high - low;
    return least;
}

/* The decoder's buffer: sizes are those of QPs at which it never runs empty. */
static void test_buffer(void)
{
    for (size_t encoder = 0; encoder < count_texts(); encoder++) {
        struct gpume_encode_options options = options_of(gpume_encoders[encoder]);
        double spread = 0;
        options.vbv_maxrate = 240;
        options.vbv_bufsize = 2000; /* holds more than is ever needed */
        logged.lines = 0;
        REQUIRE_EQUAL(write_files(&options, 200000, FRAMES, 480, 320), GPUME_OK);
        REQUIRE(least_fill(&options, &spread) > 200000 && spread == 0);
        options.vbv_bufsize = 18;
        REQUIRE_EQUAL(write_files(&options, 200000, FRAMES, 480, 320), GPUME_OK);
        REQUIRE(least_fill(&options, &spread) >= 1800 && spread >= 0.5);
        REQUIRE_EQUAL(logged.lines, 0);
        /* A rate above the highest: that one is kept. */
        options.vbv_maxrate = 100;
        REQUIRE_EQUAL(write_files(&options, 200000, FRAMES, 480, 320), GPUME_OK);
        REQUIRE_EQUAL(logged.lines, 1);
        REQUIRE(take_stats(NULL, 0) <= 100000 * FRAMES / 25);
        /* No QP makes frames small enough. */
        options.vbv_maxrate = options.vbv_bufsize = 1;
        REQUIRE_EQUAL(write_files(&options, 200000, FRAMES, 4800, 3200), GPUME_OK);
        REQUIRE(strstr(logged.last, "unlikely to keep to --vbv-bufsize 1 kbit: even at QP 51"));
    }
    unlink("a");
    unlink("a.mbtree");
    unlink("a.cutree");
}

/* Rates that no QP reaches, with a buffer that would hold any frame: one line, and the files. */
static void test_rates_in_buffer(void)
{
    for (size_t encoder = 0; encoder < count_texts(); encoder++) {
        struct gpume_encode_options options = options_of(gpume_encoders[encoder]);
        double spread = 0;
        options.vbv_maxrate = options.vbv_bufsize = 1000000;
        logged.lines = 0;
        REQUIRE_EQUAL(write_files(&options, 4000, FRAMES, 480, 320), GPUME_OK);
        REQUIRE_EQUAL(logged.lines, 1);
        REQUIRE(strstr(logged.last, "unlikely to keep to 4 kbit/s: even at QP 51"));
        REQUIRE(has_text("a", "in:4 ", " q:51.00 "));
        (void)least_fill(&options, &spread);
        REQUIRE(spread == 0);
        REQUIRE_EQUAL(write_files(&options, 1000000000, FRAMES, 48, 32), GPUME_OK);
        REQUIRE_EQUAL(logged.lines, 2);
        REQUIRE(strstr(logged.last, "unlikely to reach 1000000 kbit/s: even at QP 0"));
        REQUIRE(has_text("a", "in:4 ", " q:0.00 "));
    }
    unlink("a");
    unlink("a.mbtree");
    unlink("a.cutree");
}

/* A short clip: one line, whatever else is said. */
static void test_short(void)
{
    const struct gpume_encode_options options = options_of(gpume_encoder_find("x265"));
    logged.lines = logged.warnings = 0;
    REQUIRE_EQUAL(write_files(&options, 20000, 50, 48, 32), GPUME_OK);
    REQUIRE_EQUAL(logged.lines, 0);
    REQUIRE_EQUAL(write_files(&options, 20000, 49, 48, 32), GPUME_OK);
    REQUIRE(logged.lines == 1 && logged.warnings == 1);
    REQUIRE(strstr(logged.last, "a: x265 ") && strstr(logged.last, " only 49 frames;"));
    REQUIRE_EQUAL(write_files(&options, 20000, 1, 48, 32), GPUME_OK);
    REQUIRE(logged.lines == 2 && strstr(logged.last, " only 1 frame;"));
    logged.lines = logged.warnings = 1;
    /* A quality is kept whatever the length. */
    const struct gpume_encode_target crf = {GPUME_GOAL_CRF, 2400};
    REQUIRE_EQUAL(write_target(&options, &crf, 49, 48, 32), GPUME_OK);
    REQUIRE(logged.lines == 1 && logged.warnings == 1);
    unlink("a");
    unlink("a.cutree");
}

/* It gives up as soon as it is asked to, at any time, and leaves nothing. */
static void test_ended(void)
{
    struct gpume_encode_options options = options_of(gpume_encoder_find("x265"));
    options.vbv_maxrate = 240;
    options.vbv_bufsize = 18;
    logged.lines = 0;
    asked = 0;
    REQUIRE_EQUAL(write_files(&options, 200000, FRAMES, 480, 320), GPUME_OK);
    take_stats(NULL, 0);
    unlink("a.cutree");
    const uint64_t most = asked;
    /* of the rate's QP, of plans, of lines written and read */
    REQUIRE(most > 10 + 5 * FRAMES + 2 * FRAMES);
    for (patience = 0; patience < most;
         patience += patience < 20 || most - patience < 20 ? 1 : 13) {
        asked = 0;
        REQUIRE_EQUAL(write_files(&options, 200000, FRAMES, 480, 320), GPUME_CANCELLED);
        REQUIRE_EQUAL(asked, patience + 1);
        REQUIRE(access("a", F_OK) != 0 && access("a.cutree", F_OK) != 0);
    }
    patience = UINT64_MAX;
    REQUIRE_EQUAL(logged.lines, 0);
}

static uint64_t grown_bits_at(const struct gpume_bits_frame *frame, int32_t qp, uint32_t growth)
{
    struct gpume_bits_prices prices;
    gpume_bits_find_prices(
        &prices, &gpume_encoder_find("x264")->bits->of[false][frame->type], qp * GPUME_QP_ONE);
    return gpume_bits_at(frame, &prices, growth);
}

static uint64_t bits_at(const struct gpume_bits_frame *frame, int32_t qp)
{
    return grown_bits_at(frame, qp, GPUME_BITS_SAME);
}

/* The formula of bits.h in floating point, without headers, for a frame of these coefficients of
 * 2^4.25 and these bits of vectors, each of which saves 2^4.25. */
struct measured {
    double details, means, vectors, blocks;
};

struct numbers {
    double threshold, step, details, means, vectors, saving, block;
};

static double formula(const struct numbers *n, const struct measured *m, double qp)
{
    const double x = 4.25 - n->threshold - n->step * qp, y = 4.25 - n->saving - qp / 6;
    return n->details * m->details / 3 * log2(1 + exp2(3 * x)) +
           n->means * m->means / 2 * log2(1 + exp2(2 * x)) +
           n->vectors * m->vectors / (1 + exp2(-1.5 * y)) +
           n->block * m->blocks * exp2((32 - qp) / 6);
}

static void require_bits(uint64_t bits, double expected)
{
    REQUIRE(fabs((double)bits - expected) < 2 + expected / 2000);
}

static void test_model(void)
{
    static const struct numbers intra = {-2.309, 0.1551, 4.400, 1.738, 0, 0, 2.913};
    static const struct numbers inter = {-2.596, 0.1606, 3.346, 1.970, 1.899, -3.643, 1.842};
    const struct measured of_idr = {100, 10, 0, BLOCKS}, of_p = {0, 0, 20, BLOCKS};
    struct clip clip;
    struct gpume_bits_frame frame;
    const struct gpume_decision *idr = frame_of(&clip, 0);
    clip.spectrum.details[10] = 0;
    gpume_bits_frame_init(&frame, gpume_encoder_find("x264")->bits, idr);
    REQUIRE_EQUAL(gpume_bits_growth(48 * 32, 48 * 32), GPUME_BITS_SAME);
    const double header = 128 + 5880; /* of a first frame */
    for (int32_t qp = -12; qp <= 51; qp += 3) {
        require_bits(bits_at(&frame, qp), formula(&intra, &of_idr, qp) + header);
    }
    require_bits(grown_bits_at(&frame, 26, gpume_bits_growth(48 * 16, 48 * 32)),
        formula(&intra, &of_idr, 26) * pow(0.5, 0.7) + header);
    clip.decision.coded = 1;
    clip.spectrum.blocks = 18; /* of which a third was looked at */
    gpume_bits_frame_init(&frame, gpume_encoder_find("x264")->bits, idr);
    require_bits(bits_at(&frame, 26), 3 * formula(&intra, &of_idr, 26) + 128);
    const struct gpume_decision *p = frame_of(&clip, 1);
    memset(clip.spectrum.details, 0, sizeof(clip.spectrum.details));
    memset(clip.spectrum.means, 0, sizeof(clip.spectrum.means));
    gpume_bits_frame_init(&frame, gpume_encoder_find("x264")->bits, p);
    for (int32_t qp = -12; qp <= 51; qp += 3) {
        require_bits(bits_at(&frame, qp), formula(&inter, &of_p, qp) + 128);
    }
    /* Texture shrinks by 2^1.1, vectors by 2^0.5. */
    REQUIRE_EQUAL(gpume_bits_texture(2000, 1414), 0);
    REQUIRE_EQUAL(gpume_bits_texture(2000, 933), 256);
    REQUIRE(gpume_bits_texture(2000, 1149) >= 126 && gpume_bits_texture(2000, 1149) <= 130);
    REQUIRE_EQUAL(gpume_qp_of_ratio(1.4), 745); /* 2.912 */
}

static void test_model_x265(void)
{
    static const struct numbers numbers = {-2.517, 0.1576, 3.316, 0.961, 0.767, -3.661, 2.139};
    const struct measured measured = {100, 10, 20, BLOCKS};
    struct clip clip;
    struct gpume_bits_frame frame;
    struct gpume_bits_prices prices;
    const struct gpume_decision *decision = frame_of(&clip, 1);
    clip.spectrum.details[10] = 0;
    clip.spectrum.details[14] = 100;
    gpume_bits_frame_init(&frame, gpume_encoder_find("x265")->bits, decision);
    gpume_bits_find_prices(
        &prices, &gpume_encoder_find("x265")->bits->of[false][frame.type], 26 * GPUME_QP_ONE);
    require_bits(
        gpume_bits_at(&frame, &prices, GPUME_BITS_SAME), formula(&numbers, &measured, 26) + 24);
    /* the first frame has no more of a header, and one of which nothing was looked at has only that
     */
    decision = frame_of(&clip, 0);
    clip.spectrum.sampled = clip.spectrum.differing = 0;
    memset(clip.spectrum.details, 0, sizeof(clip.spectrum.details));
    memset(clip.spectrum.means, 0, sizeof(clip.spectrum.means));
    gpume_bits_frame_init(&frame, gpume_encoder_find("x265")->bits, decision);
    REQUIRE_EQUAL(gpume_bits_at(&frame, &prices, GPUME_BITS_SAME), 24);
    REQUIRE_EQUAL(gpume_bits_texture(2000, 1900), 0); /* less than vectors shrink */
    REQUIRE_EQUAL(gpume_bits_texture(2000, 100), 256);
}

/* Chroma is scaled like luma, unless its offset is out of range. */
static void test_weights(void)
{
    static const struct {
        struct gpume_weight weight;
        const char *end;
    } cases[] = {
        {{5, 32, 0}, " ref:0 ;\n"},
        {{0, 1, 0}, " ref:0 ;\n"},
        {{6, 64, 5}, " ref:0 w:6,64,5 ;\n"},
        {{4, 23, -7}, " ref:0 w:4,23,-7,4,23,-56,23,-56 ;\n"},
        {{0, 0, 16}, " ref:0 w:0,0,16,7,1,127,1,127 ;\n"},
        {{5, 127, -90}, " ref:0 w:5,127,-90 ;\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct gpume_pass_frame frame = {.weight = cases[i].weight};
        char line[GPUME_PASS_LINE_BYTES];
        REQUIRE_EQUAL(gpume_encoder_find("x264")->write_frame(line, &frame), strlen(line));
        REQUIRE(ends(line, cases[i].end));
    }
}

/* Every number at its place. */
static void test_lines(void)
{
    static const char *const lines[] = {
        "in:7 out:9 type:P dur:2 cpbdur:2 q:23.45 aq:23.45 tex:1000 mv:234 misc:0 imb:1 "
        "pmb:3 smb:2 d:- ref:0 w:5,40,-3,5,40,-32,40,-32 ;\n",
        "in:7 out:9 type:P q:23.45 q-aq:23.45 q-noVbv:23.45 q-Rceq:1.00 tex:1000 mv:234 "
        "misc:0 icu:1.00 pcu:3.00 scu:2.00 sc:0 ;\n"};
    static const char *const headers[] = {
        "#options: 48x32 fps=24000/1001 timebase=1001/24000 bitdepth=8 keyint=250 "
        "bframes=3 b_adapt=1 b_pyramid=2 open_gop=0 weightp=2 rc_lookahead=40 mbtree=1 "
        "intra_refresh=0 bluray_compat=0 interlaced=0 direct=1\n",
        "#options: bitdepth=8 fps=24000/1001 input-res=48x32 keyint=250 min-keyint=25 "
        "scenecut=40 bframes=4 b-adapt=2 b-pyramid open-gop weightp no-weightb "
        "rc-lookahead=20 cutree no-intra-refresh no-frame-dup interlace=0\n"};
    const struct gpume_pass_video video = {48, 32, 24000, 1001};
    const struct gpume_pass_frame frame = {
        .display = 7,
        .coded = 9,
        .type = GPUME_FRAME_P,
        .qp = 2345,
        .texture = 1000,
        .vectors = 234,
        .intra_blocks = 1,
        .inter_blocks = 3,
        .skipped_blocks = 2,
        .weight = {5, 40, -3},
    };
    for (size_t i = 0; i < count_texts(); i++) {
        const struct gpume_encode_options options = options_of(gpume_encoders[i]);
        const struct gpume_encode_target target = {GPUME_GOAL_BITRATE, 1000};
        char line[GPUME_PASS_LINE_BYTES];
        REQUIRE_EQUAL(gpume_encoders[i]->write_frame(line, &frame), strlen(lines[i]));
        REQUIRE(strcmp(line, lines[i]) == 0);
        REQUIRE_EQUAL(
            gpume_encoders[i]->write_header(line, &video, &options, &target), strlen(headers[i]));
        REQUIRE(strcmp(line, headers[i]) == 0);
    }
}

/* --- constant quality */

static void require_qp(const struct gpume_encode_options *options, uint64_t crf, uint32_t rate_num,
    uint32_t rate_den, double expected)
{
    const struct gpume_encode_target target = {GPUME_GOAL_CRF, crf};
    const double qp = gpume_target_qp(&target, options, rate_num, rate_den) / 256.0;
    REQUIRE(fabs(qp - expected) < 0.01);
    if (fabs(qp - expected) >= 0.01) {
        printf("CRF %g at %u/%u: QP %g, not %g\n", (double)crf / 100, rate_num, rate_den, qp,
            expected);
    }
}

static void clear_files(void)
{
    static const char *const names[] = {"a", "a.mbtree", "a.cutree", "a.qpfile"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        unlink(names[i]);
    }
}

#define WHOLE_FRAMES 101 /* with all groups */

/* What is expected at a CRF. */
static struct gpume_pass_outcome expected_of(
    const struct gpume_encode_options *options, uint64_t crf, uint32_t width, uint32_t height)
{
    const struct gpume_encode_target target = {GPUME_GOAL_CRF, crf};
    REQUIRE_EQUAL(write_target(options, &target, WHOLE_FRAMES, width, height), GPUME_OK);
    clear_files();
    REQUIRE(outcome.is_measured && outcome.target.goal == GPUME_GOAL_CRF);
    return outcome;
}

static struct gpume_pass_outcome expected_at(
    const struct gpume_encode_options *options, uint64_t crf)
{
    return expected_of(options, crf, 48, 32);
}

/* A picture of 4 times the area loses less by its 0.26th power; one of 10 bits as much. */
static void test_expected(void)
{
    for (size_t i = 0; i < count_texts(); i++) {
        struct gpume_encode_options options = options_of(gpume_encoders[i]);
        const struct gpume_pass_outcome own = expected_at(&options, 2600);
        const struct gpume_pass_outcome large = expected_of(&options, 2600, 96, 64);
        REQUIRE(fabs(large.expected[GPUME_MEASURE_PSNR] - own.expected[GPUME_MEASURE_PSNR] -
                     0.26 * 10 * log10(4)) < 0.02);
        REQUIRE(large.expected[GPUME_MEASURE_SSIM] > own.expected[GPUME_MEASURE_SSIM]);
        options.bits = 10;
        REQUIRE(fabs(expected_at(&options, 2600).expected[GPUME_MEASURE_PSNR] -
                     own.expected[GPUME_MEASURE_PSNR]) < 0.02);
    }
}

/* The CRF at which the measure, as decibels, is nearest to what is asked. */
static void check_nearest(const struct gpume_encode_options *options, enum gpume_measure_kind kind,
    const struct gpume_encode_target *target)
{
    const struct gpume_measure *measure = &gpume_measures[kind];
    REQUIRE_EQUAL(write_target(options, target, WHOLE_FRAMES, 48, 32), GPUME_OK);
    clear_files();
    const struct gpume_pass_outcome found = outcome;
    const uint64_t crf = found.target.value;
    REQUIRE(found.target.goal == GPUME_GOAL_CRF && crf > 200 && found.is_measured);
    const double is = measure->decibels(found.expected[kind]);
    const double more = measure->decibels(expected_at(options, crf + 1).expected[kind]);
    const double less = measure->decibels(expected_at(options, crf - 1).expected[kind]);
    const double wanted = measure->decibels(gpume_measure_wanted(measure, target));
    REQUIRE(found.expected[kind] == expected_at(options, crf).expected[kind]);
    REQUIRE(less > is && is > more);
    REQUIRE(fabs(is - wanted) <= fabs(less - wanted) && fabs(is - wanted) <= fabs(more - wanted));
}

static void test_fidelity(void)
{
    for (size_t i = 0; i < count_texts(); i++) {
        const struct gpume_encode_options options = options_of(gpume_encoders[i]);
        for (uint64_t value = 3800; value <= 4600; value += 217) {
            check_nearest(&options, GPUME_MEASURE_PSNR,
                &(struct gpume_encode_target){GPUME_GOAL_PSNR, value});
        }
        check_nearest(
            &options, GPUME_MEASURE_SSIM, &(struct gpume_encode_target){GPUME_GOAL_SSIM, 9700});
        for (uint64_t value = 3000; value <= 3700; value += 233) {
            check_nearest(&options, GPUME_MEASURE_XPSNR,
                &(struct gpume_encode_target){GPUME_GOAL_XPSNR, value});
        }
        logged.lines = logged.warnings = 0;
        const struct gpume_encode_target most = {GPUME_GOAL_PSNR, 6000};
        REQUIRE_EQUAL(write_target(&options, &most, WHOLE_FRAMES, 48, 32), GPUME_OK);
        REQUIRE(logged.warnings == 1 && strstr(logged.last, "a PSNR of 60 dB ") &&
                strstr(logged.last, " CRF 1,"));
        REQUIRE(outcome.target.value == 100);
        logged.lines = logged.warnings = 0;
        const struct gpume_encode_target least = {GPUME_GOAL_PSNR, 2000};
        REQUIRE_EQUAL(write_target(&options, &least, WHOLE_FRAMES, 48, 32), GPUME_OK);
        REQUIRE(logged.warnings == 1 && strstr(logged.last, "a PSNR of 20 dB ") &&
                strstr(logged.last, " CRF 40,"));
        REQUIRE(outcome.target.value == 4000);
        clear_files();
        logged.lines = 0;
    }
}

/* An encode at the CRF of a pass: 1.5 dB better than 38 dB at `first`, from where its PSNR falls by
 * `falls` for each CRF. Returns its PSNR. */
static double try_pass(
    struct gpume_pass *pass, double first, double falls, struct gpume_out_set *set)
{
    struct gpume_fidelity_frame frames[WHOLE_FRAMES] = {{0}};
    const double crf = (double)gpume_pass_outcome(pass, 0).target.value / 100;
    const double psnr = 39.5 - falls * (crf - first);
    bool changed;
    for (size_t i = 0; i < WHOLE_FRAMES; i++) {
        frames[i].sse = (uint64_t)(48 * 32 * 255 * 255 / pow(10, psnr / 10));
    }
    const struct gpume_pass_encode encode = {frames, 48, 32, 8, 100000};
    REQUIRE_EQUAL(gpume_pass_correct(pass, 0, &encode, set, &changed), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_set_name(set, &counting_log), GPUME_OK);
    return psnr;
}

/* Two encodes are enough, also where quality falls twice as fast as expected: 0.97 dB per CRF. */
static void test_corrected(void)
{
    const struct gpume_encode_options options = options_of(gpume_encoder_find("x265"));
    const struct gpume_encode_target target = {GPUME_GOAL_PSNR, 3800};
    const struct gpume_pass_video video = {48, 32, 25, 1};
    static const double falls[] = {0.9, 1.2, 1.5, 1.9};
    for (size_t k = 0; k < sizeof(falls) / sizeof(falls[0]); k++) {
        struct gpume_out_set set = {.overwrite = true, .together = true}, corrected = set;
        const struct gpume_pass_params params = {
            .options = &options, .width = 48, .height = 32, .set = &set, .log = counting_log};
        struct gpume_pass *pass = NULL;
        struct clip clip;
        REQUIRE_EQUAL(gpume_pass_open(&pass, &params), GPUME_OK);
        REQUIRE_EQUAL(gpume_pass_add(pass, &video, &target, "a"), GPUME_OK);
        for (uint64_t i = 0; i < WHOLE_FRAMES; i++) {
            REQUIRE_EQUAL(gpume_pass_add_frame(pass, frame_of(&clip, i)), GPUME_OK);
        }
        REQUIRE_EQUAL(gpume_pass_finish(pass), GPUME_OK);
        REQUIRE_EQUAL(gpume_out_set_name(&set, &counting_log), GPUME_OK);
        const double first = (double)gpume_pass_outcome(pass, 0).target.value / 100;
        const double of_first = try_pass(pass, first, falls[k], &corrected);
        const double of_second = try_pass(pass, first, falls[k], &corrected);
        const double of_third = try_pass(pass, first, falls[k], &corrected);
        printf("%.2f dB per CRF: %.2f, %.2f, %.2f dB\n", falls[k], of_first, of_second, of_third);
        REQUIRE(fabs(of_first - 39.5) < 0.001 && fabs(of_third - 38) < 0.05);
        gpume_pass_close(&pass);
    }
    clear_files();
}

/* Scenes of which one is encoded without any error: what is expected of all frames is that of their
 * mean error, and not the mean of decibels. */
static void test_expected_of_scenes(void)
{
    const struct gpume_encode_options options = options_of(gpume_encoder_find("x265"));
    const struct gpume_encode_target targets[GPUME_MEASURES] = {
        {GPUME_GOAL_PSNR, 3800}, {GPUME_GOAL_SSIM, 9500}, {GPUME_GOAL_XPSNR, 3400}};
    const struct gpume_pass_video video = {48, 32, 25, 1};
    const uint64_t firsts[] = {0, WHOLE_FRAMES / 4}, last = WHOLE_FRAMES - firsts[1];
    for (size_t kind = 0; kind < GPUME_MEASURES; kind++) {
        struct gpume_out_set set = {.overwrite = true, .together = true}, corrected = set;
        const struct gpume_pass_params params = {
            .options = &options, .width = 48, .height = 32, .set = &set, .log = counting_log};
        struct gpume_fidelity_frame frames[WHOLE_FRAMES] = {{0}};
        struct gpume_pass *pass = NULL;
        struct gpume_pass_scene scenes[2];
        struct clip clip;
        bool changed;
        REQUIRE_EQUAL(gpume_pass_open(&pass, &params), GPUME_OK);
        REQUIRE_EQUAL(gpume_pass_add(pass, &video, &targets[kind], "a"), GPUME_OK);
        for (uint64_t i = 0; i < WHOLE_FRAMES; i++) {
            REQUIRE_EQUAL(gpume_pass_add_frame(pass, frame_of(&clip, i)), GPUME_OK);
            const uint64_t sse = i < firsts[1] ? 0 : 48 * 32 * 12;
            frames[i] = (struct gpume_fidelity_frame){
                .sse = sse, .wsse = 2 * sse, .ssim = sse > 0 ? 0.96 : 1};
        }
        REQUIRE_EQUAL(gpume_pass_split(pass, firsts, 2), GPUME_OK);
        REQUIRE_EQUAL(gpume_pass_finish(pass), GPUME_OK);
        REQUIRE_EQUAL(gpume_out_set_name(&set, &counting_log), GPUME_OK);
        const struct gpume_pass_encode encode = {frames, 48, 32, 8, 100000};
        REQUIRE_EQUAL(gpume_pass_correct(pass, 0, &encode, &corrected, &changed), GPUME_OK);
        REQUIRE_EQUAL(gpume_out_set_name(&corrected, &counting_log), GPUME_OK);
        const struct gpume_pass_outcome all = gpume_pass_outcome(pass, 0);
        double decibels[2];
        for (size_t i = 0; i < 2; i++) {
            REQUIRE(gpume_pass_scene(pass, 0, i, &scenes[i]));
            decibels[i] = gpume_measures[kind].decibels(scenes[i].expected[kind]);
        }
        const double power = kind == GPUME_MEASURE_XPSNR ? 20 : 10;
        const double error = ((double)firsts[1] * pow(10, -decibels[0] / power) +
                                 (double)last * pow(10, -decibels[1] / power)) /
                             WHOLE_FRAMES;
        const double is = gpume_measures[kind].decibels(all.expected[kind]);
        printf("%.2f and %.2f dB: %.2f dB\n", decibels[0], decibels[1], is);
        REQUIRE(decibels[0] > decibels[1] + 20);
        REQUIRE(fabs(is + power * log10(error)) < 0.1);
        gpume_pass_close(&pass);
    }
    clear_files();
}

/* 10,000 bytes in 100 frames of 25 per second are 20 kbit/s, rounded down. */
static void test_size(void)
{
    const struct gpume_encode_options options = options_of(gpume_encoder_find("x264"));
    const struct gpume_encode_target size = {GPUME_GOAL_SIZE, 10124};
    REQUIRE_EQUAL(write_target(&options, &size, 100, 48, 32), GPUME_OK);
    REQUIRE(outcome.target.goal == GPUME_GOAL_BITRATE && outcome.target.value == 20000);
    REQUIRE(outcome.bitrate == 20000 && !outcome.is_measured);
    clear_files();
    logged.lines = 0;
    const struct gpume_encode_target least = {GPUME_GOAL_SIZE, 499};
    REQUIRE_EQUAL(write_target(&options, &least, 100, 48, 32), GPUME_INVALID);
    REQUIRE(logged.lines == 1 && strstr(logged.last, "499 bytes for 4.000 s are 0.998 kbit/s") &&
            strstr(logged.last, "larger"));
    logged.lines = 0;
}

/* The bitrate of a quality: bits of the statistics, but for what they say beyond what is expected
 * without psy. */
static void test_expected_bitrate(void)
{
    static const double planned[][3] = {{0.98, 1.15, 1.07}, {0.97, 1.09, 1.02}}; /* I, P, B */
    const struct gpume_encode_target crf = {GPUME_GOAL_CRF, 2000};
    for (size_t i = 0; i < count_texts(); i++) {
        const struct gpume_encode_options options = options_of(gpume_encoders[i]);
        static char lines[WHOLE_FRAMES + 2][GPUME_PASS_LINE_BYTES];
        double sum = 0;
        REQUIRE(options.psy);
        REQUIRE_EQUAL(write_target(&options, &crf, WHOLE_FRAMES, 48, 32), GPUME_OK);
        REQUIRE(take_stats(lines, WHOLE_FRAMES + 1) > 0);
        clear_files();
        for (size_t frame = 1; frame <= WHOLE_FRAMES; frame++) {
            const char *type = strstr(lines[frame], " type:"),
                       *bits = strstr(lines[frame], " tex:");
            unsigned texture = 0, vectors = 0;
            REQUIRE(type && bits && sscanf(bits, " tex:%u mv:%u", &texture, &vectors) == 2);
            const int kind = type && type[6] == 'P'                       ? 1
                             : type && (type[6] == 'B' || type[6] == 'b') ? 2
                                                                          : 0;
            sum += (texture + vectors) / planned[i][kind];
        }
        const double bitrate = sum * 25 / WHOLE_FRAMES;
        REQUIRE(fabs(bitrate - (double)outcome.bitrate) < 1000 + bitrate / 100);
    }
}

/* Beside the model, AV1 takes fewer bits at higher CRFs, and in larger pictures: by a power of the
 * area, which counts from 640x360. */
static void test_bits_of_chunks(void)
{
    static const struct {
        const char *name;
        double small, large;
    } rows[] = {
        {"x264", 1, 1}, {"x265", 1, 1}, {"svt-av1", 0.8383, 0.6804}, {"aom", 0.7857, 0.6307}};
    for (size_t i = 0; i < GPUME_CHUNK_ENCODERS; i++) {
        const struct gpume_chunk_encoder *encoder = &gpume_chunk_encoders[i];
        REQUIRE(strcmp(encoder->name, rows[i].name) == 0);
        REQUIRE(fabs(gpume_chunk_bits(encoder, 3200, 640 * 360) - rows[i].small) < 0.0001);
        REQUIRE(fabs(gpume_chunk_bits(encoder, 3200, 1920 * 1080) - rows[i].large) < 0.0001);
    }
}

/* Of chunks, a size is that of one CRF: what such encodes are expected to take, in whole kilobits
 * per second, and no CRF that differs by a hundredth is nearer. */
static void test_size_of_chunks(void)
{
    for (size_t i = 0; i < count_texts(); i++) {
        const struct gpume_encode_options options = options_of(gpume_encoders[i]);
        for (uint64_t bytes = 8000; bytes <= 24000; bytes += 4000) {
            const struct gpume_encode_target target = {GPUME_GOAL_SIZE, bytes};
            REQUIRE_EQUAL(write_target(&options, &target, WHOLE_FRAMES, 48, 32), GPUME_OK);
            const struct gpume_pass_outcome found = outcome;
            const double wanted = (double)bytes * 8 * 25 / WHOLE_FRAMES;
            REQUIRE(found.target.goal == GPUME_GOAL_CRF && found.bitrate % 1000 == 0);
            REQUIRE(fabs((double)found.bitrate - wanted) < 1000 + 0.002 * wanted);
            REQUIRE_EQUAL(expected_at(&options, found.target.value).bitrate, found.bitrate);
            REQUIRE(
                expected_at(&options, found.target.value - 1).bitrate + 1000 > (uint64_t)wanted);
            REQUIRE(expected_at(&options, found.target.value + 1).bitrate < (uint64_t)wanted);
        }
        logged.lines = logged.warnings = 0;
        const struct gpume_encode_target least = {GPUME_GOAL_SIZE, 1};
        REQUIRE_EQUAL(write_target(&options, &least, WHOLE_FRAMES, 48, 32), GPUME_OK);
        REQUIRE(logged.warnings == 1 && strstr(logged.last, "a size of 1 bytes ") &&
                strstr(logged.last, " CRF 51,"));
        logged.lines = 0;
    }
}

/* A vector counts that is more than four pixels from none and from those to the
 * left and above, if it saves more than 1/160 of the intra costs of P frames. The others do not. */
static void test_lone_vectors(void)
{
    static const struct {
        struct gpume_vector here, left, above;
        enum gpume_source_kind kind;
        uint16_t intra; /* of all blocks; costs are 100 */
        bool is_lone;
    } cases[] = {
        {{9, 0}, {0, 0}, {0, 0}, GPUME_FROM_PAST, 600, true},
        {{0, -9}, {0, 0}, {0, 0}, GPUME_FROM_PAST, 600, true},
        {{8, 8}, {0, 0}, {0, 0}, GPUME_FROM_PAST, 600, false},
        {{14, 0}, {6, 0}, {0, 0}, GPUME_FROM_PAST, 600, false},
        {{14, 0}, {0, 0}, {8, 8}, GPUME_FROM_PAST, 600, false},
        {{14, 0}, {5, 0}, {0, 8}, GPUME_FROM_PAST, 600, true},
        {{9, 0}, {0, 0}, {0, 0}, GPUME_FROM_SELF, 600, false},
        {{9, 0}, {0, 0}, {0, 0}, GPUME_FROM_STILL, 600, false},
        {{9, 0}, {0, 0}, {0, 0}, GPUME_FROM_PAST, 103, false}, /* 3 of 618 */
        {{9, 0}, {0, 0}, {0, 0}, GPUME_FROM_PAST, 104, true},  /* 4 of 624 */
        {{9, 0}, {0, 0}, {0, 0}, GPUME_FROM_PAST, 99, false},
    };
    const struct gpume_encode_options options = options_of(gpume_encoder_find("x264"));
    const struct gpume_encode_target target = {GPUME_GOAL_CRF, 2400};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t at = 4, beside = 3, over = 1; /* of 3x2 blocks */
        memset(&motion, 0, sizeof(motion));
        motion.is_known = true;
        for (uint32_t block = 0; block < BLOCKS; block++) {
            motion.intra_costs[block] = cases[i].intra;
            motion.kinds[block] = GPUME_FROM_SELF;
        }
        motion.kinds[at] = (uint8_t)cases[i].kind;
        motion.vectors[at] = cases[i].here;
        motion.vectors[beside] = cases[i].left;
        motion.vectors[over] = cases[i].above;
        chunks = true; /* without files */
        REQUIRE_EQUAL(write_target(&options, &target, WHOLE_FRAMES, 48, 32), GPUME_OK);
        REQUIRE_EQUAL(outcome.wide_buffer > 0, cases[i].is_lone);
    }
    memset(&motion, 0, sizeof(motion));
    chunks = false;
}

/* QPs of P frames as x264 and x265 write them into their statistics with --crf, with a tree. */
static void test_targets(void)
{
    static const struct {
        struct gpume_encode_target target;
        const char *text, *sentence;
    } texts[] = {
        {{GPUME_GOAL_CRF, 2400}, "24", "CRF 24"},
        {{GPUME_GOAL_CRF, 2350}, "23.5", "CRF 23.5"},
        {{GPUME_GOAL_CRF, 2305}, "23.05", "CRF 23.05"},
        {{GPUME_GOAL_QP, 1000}, "10", "QP 10"},
        {{GPUME_GOAL_BITRATE, 345000}, "345", "345 kbit/s"},
        {{GPUME_GOAL_PSNR, 4150}, "41.5", "a PSNR of 41.5 dB"},
        {{GPUME_GOAL_SSIM, 9805}, "0.9805", "an SSIM of 0.9805"},
        {{GPUME_GOAL_XPSNR, 3805}, "38.05", "an XPSNR of 38.05 dB"},
        {{GPUME_GOAL_SSIM, 9800}, "0.98", "an SSIM of 0.98"},
        {{GPUME_GOAL_SIZE, 700000000}, "700M", "a size of 700MB"},
        {{GPUME_GOAL_SIZE, 1234000}, "1234k", "a size of 1234kB"},
        {{GPUME_GOAL_SIZE, 1234567}, "1234567", "a size of 1234567 bytes"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char text[GPUME_TARGET_TEXT_BYTES], sentence[GPUME_TARGET_SENTENCE_BYTES];
        gpume_target_text(&texts[i].target, text);
        REQUIRE(strcmp(text, texts[i].text) == 0);
        gpume_target_sentence(&texts[i].target, sentence);
        REQUIRE(strcmp(sentence, texts[i].sentence) == 0);
    }
    for (size_t i = 0; i < count_texts(); i++) {
        struct gpume_encode_options options = options_of(gpume_encoders[i]);
        require_qp(&options, 2400, 25, 1, 29.40);
        require_qp(&options, 3200, 25, 1, 37.40);
        require_qp(&options, 2375, 25, 1, 29.15);
        require_qp(&options, 2400, 50, 1, 31.80);
        require_qp(&options, 2400, 24000, 1001, 29.40 + 2.4 * log2(24000 / 1001.0 / 25));
        require_qp(&options, 2400, 1000, 1, 29.40 + 4.8); /* no shorter than 1/100 s */
        require_qp(&options, 2400, 1, 2, 29.40 - 2.4 * log2(25));
        options.qcomp = 0.8;
        require_qp(&options, 2400, 25, 1, 26.70);
        gpume_target_use_qp(&options);
        REQUIRE(!options.tree && options.aq_mode == 0);
    }
    /* of mean offsets: 1 - 0.86 (1 - 2^(-40/4.2)) / 1.4, and 1 - 0.77 (1 - 2^(-17/4.9)) / 0.7 */
    struct gpume_encode_options options = options_of(gpume_encoder_find("x264"));
    REQUIRE(abs(gpume_target_tree_part(&options) - 99) <= 1);
    options = options_of(gpume_encoder_find("x265"));
    REQUIRE(abs(gpume_target_tree_part(&options)) <= 1);
}

/* Without a tree, by hand: sums of costs halve from frame to frame, and the QP rises by 2.4 when
 * they double. Of 3x3 squares only the middle one counts. */
static void test_complexity(void)
{
    static const struct {
        enum gpume_frame_type type;
        uint16_t cost; /* for each of 9 squares */
        double shift;
    } frames[] = {
        {GPUME_FRAME_IDR, 240, 0}, {GPUME_FRAME_P, 120, 0.9961}, /* 240 / 1.5 = 160, to 120 */
        {GPUME_FRAME_B_REF, 500, 0.9961},                        /* the I frame does not count */
        {GPUME_FRAME_P, 120, 0.4624},                            /* 240 / 1.75 */
        {GPUME_FRAME_B, 500, 0.7292},
        {GPUME_FRAME_I, 500, 0.7224}, /* (0.95 * 0.9961 + 0.4624) / 1.95 */
        {GPUME_FRAME_B, 500, 0.4624}, {GPUME_FRAME_IDR, 500, 0.7224}, /* and stays */
    };
    struct gpume_crf_course course = {0};
    struct gpume_encode_options options = options_of(gpume_encoder_find("x264"));
    uint16_t costs[9];
    options.tree = false;
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        for (size_t k = 0; k < 9; k++) {
            costs[k] = k == 4 ? (uint16_t)(9 * frames[i].cost) : 60000;
        }
        const struct gpume_decision decision = {
            .type = frames[i].type, .blocks_x = 3, .blocks_y = 3, .costs = costs};
        const double shift = gpume_crf_shift(&course, &options, &decision) / 256.0;
        REQUIRE(fabs(shift - frames[i].shift) < 0.02);
        if (fabs(shift - frames[i].shift) >= 0.02) {
            printf("frame %zu: shift %g, not %g\n", i, shift, frames[i].shift);
        }
    }
    options.tree = true;
    const struct gpume_decision decision = {.type = GPUME_FRAME_P};
    REQUIRE_EQUAL(gpume_crf_shift(&course, &options, &decision), 0);
}

/* The QPs of an IDR, P, B reference and two B frames, in coded order, in the statistics. */
static void require_qps(const double expected[5])
{
    static char lines[6][GPUME_PASS_LINE_BYTES];
    take_stats(lines, 6);
    for (size_t i = 0; i < 5; i++) {
        const char *q = strstr(lines[i + 1], " q:");
        REQUIRE(q && fabs(strtod(q + 3, NULL) - expected[i]) < 0.03);
        if (!q || fabs(strtod(q + 3, NULL) - expected[i]) >= 0.03) {
            printf("frame %zu: %s, not %g\n", i, lines[i + 1], expected[i]);
        }
    }
}

static int big_endian(const unsigned char *at)
{
    const int value = at[0] << 8 | at[1];
    return value < 32768 ? value : value - 65536;
}

static void require_text(const char *path, const char *expected)
{
    unsigned char text[1024] = "";
    take(path, text, sizeof(text) - 1);
    REQUIRE(strcmp((char *)text, expected) == 0);
}

/* The tree lowers QPs of all frames by 3, of which x264's QPs take back 0.387. With x265, it lowers
 * them by 3 * 0.7 / 0.9, of which QPs take back nothing, and QPs fall by 0.74. */
static void test_quality(void)
{
    const struct gpume_encode_target crf = {GPUME_GOAL_CRF, 2400}, qp = {GPUME_GOAL_QP, 2400};
    struct gpume_encode_options options = options_of(gpume_encoder_find("x264"));
    unsigned char tree[64];
    REQUIRE_EQUAL(write_target(&options, &crf, 5, 48, 32), GPUME_OK);
    REQUIRE(outcome.bitrate > 10000 && outcome.bitrate < 1000000);
    require_qps((const double[]){27.65, 30.56, 30.56, 30.56, 30.56});
    /* What is lost of 30.56 and 27.65 is in the offsets; of frames without, the next one gets it.
     */
    require_text("a.qpfile", "0 I 28\n1 b 31\n2 B 31\n3 b 30\n4 P 31\n");
    REQUIRE_EQUAL(take("a.mbtree", tree, sizeof(tree)), 3 * 13);
    REQUIRE(abs(big_endian(tree + 3) - (256 - 90)) <= 4);
    REQUIRE(abs(big_endian(tree + 14) - (-300 - 113)) <= 4);
    REQUIRE(abs(big_endian(tree + 27) - (-300 - 113)) <= 4);
    options.bits = 10;
    REQUIRE_EQUAL(write_target(&options, &crf, 5, 48, 32), GPUME_OK);
    require_qps((const double[]){39.65, 42.56, 42.56, 42.56, 42.56});
    require_text("a.qpfile", "0 I 40\n1 b 43\n2 B 43\n3 b 42\n4 P 43\n");
    for (size_t i = 0; i < count_texts(); i++) {
        options = options_of(gpume_encoders[i]);
        gpume_target_use_qp(&options);
        REQUIRE_EQUAL(write_target(&options, &qp, 5, 48, 32), GPUME_OK);
        require_qps((const double[]){21, 24, 25, 26, 26});
    }
    require_text("a.qpfile", "0 I 21\n1 b 26\n2 B 25\n3 b 26\n4 P 24\n");
    options = options_of(gpume_encoder_find("x265"));
    REQUIRE_EQUAL(write_target(&options, &crf, 5, 48, 32), GPUME_OK);
    REQUIRE(has_text("a", "#options: ", " interlace=0 vbv-maxrate=1\n"));
    require_qps((const double[]){28.66, 28.66, 29.79, 30.93, 30.93});
    REQUIRE_EQUAL(take("a.cutree", tree, sizeof(tree)), 3 * 13);
    REQUIRE(tree[13] == 1 && tree[15] == 0xff && abs(tree[14] - 256 + 129) <= 2); /* -300 + 171 */
    unlink("a.mbtree");
}

static uint32_t noise_of(uint16_t (*costs)[40], const uint16_t *intra_costs, const uint8_t *kinds)
{
    const struct gpume_decision decision = {
        .blocks_x = 8, .blocks_y = 5, .costs = *costs, .intra_costs = intra_costs, .kinds = kinds};
    return gpume_pass_noise(&decision);
}

/* Of a tree that gives each block -400, blocks of noise, up to sqrt(2) of the low cost of 300, lose
 * all, and others the less, the more detail they have. */
static void test_quiet(void)
{
    int16_t offsets[40], aq_offsets[40], quiet[40];
    uint16_t costs[40], intra_costs[40];
    uint8_t kinds[40];
    const struct gpume_decision decision = {.blocks_x = 8,
        .blocks_y = 5,
        .costs = costs,
        .intra_costs = intra_costs,
        .kinds = kinds,
        .offsets = offsets,
        .aq_offsets = aq_offsets};
    for (size_t i = 0; i < 40; i++) {
        aq_offsets[i] = (int16_t)(10 * i);
        offsets[i] = (int16_t)(aq_offsets[i] - 400);
        intra_costs[i] = i < 4 ? 300 : 600;
        kinds[i] = GPUME_FROM_SELF;
        costs[i] = 0;
    }
    intra_costs[0] = GPUME_COST_OF_NOTHING;
    intra_costs[37] = 424;
    intra_costs[38] = 425;
    intra_costs[39] = UINT16_MAX;
    gpume_pass_find_quiet(&decision, quiet);
    REQUIRE(quiet[0] == -400 && quiet[3] == -400 && quiet[37] == -400);
    REQUIRE(quiet[4] == -200 && quiet[36] == -200 && quiet[38] == -398 && quiet[39] == 0);
}

static void test_quiet_part(void)
{
    struct gpume_pass pass = {.encoder = gpume_encoder_find("x264")};
    const uint32_t half = pass.encoder->tree.quiet;
    REQUIRE(half > 0 && half < 1024);
    REQUIRE_EQUAL(gpume_pass_quiet_part(&pass, 0), 0);
    REQUIRE_EQUAL(gpume_pass_quiet_part(&pass, half), 128);
    REQUIRE_EQUAL(gpume_pass_quiet_part(&pass, half * 2), 240);
    REQUIRE_EQUAL(gpume_pass_quiet_part(&pass, half / 2), 15);
    pass.params.chunks = true;
    REQUIRE_EQUAL(gpume_pass_quiet_part(&pass, half), 0);
    pass = (struct gpume_pass){.encoder = gpume_encoder_find("x265")};
    REQUIRE_EQUAL(gpume_pass_quiet_part(&pass, half), 0);
}

/* What all blocks but one in twenty cost at the least. */
static void test_noise(void)
{
    uint16_t costs[40], intra_costs[40];
    uint8_t kinds[40];
    for (size_t i = 0; i < 40; i++) {
        costs[i] = i < 2 ? 0 : 250;
        intra_costs[i] = 1000;
        kinds[i] = GPUME_FROM_PAST;
    }
    REQUIRE_EQUAL(noise_of(&costs, intra_costs, kinds), 0);
    costs[1] = 60000; /* motion that is not found; and one in forty is too few */
    REQUIRE_EQUAL(noise_of(&costs, intra_costs, kinds), 250);
    costs[1] = 0;
    intra_costs[1] = GPUME_COST_OF_NOTHING; /* a black edge says nothing */
    REQUIRE_EQUAL(noise_of(&costs, intra_costs, kinds), 250);
    intra_costs[1] = 1000;
    kinds[1] = GPUME_FROM_SELF; /* nor does a block without a reference */
    REQUIRE_EQUAL(noise_of(&costs, intra_costs, kinds), 250);
    for (size_t i = 0; i < 40; i++) {
        costs[i] = UINT16_MAX;
    }
    REQUIRE_EQUAL(noise_of(&costs, intra_costs, kinds), GPUME_PASS_NOISE_MAX);
    memset(kinds, GPUME_FROM_SELF, sizeof(kinds));
    REQUIRE_EQUAL(noise_of(&costs, intra_costs, kinds), 0);
}

/* The offset of the first P frame's second block, in 1/256. */
static int offset_of_p(const struct gpume_encode_options *options, enum gpume_goal goal, uint64_t n)
{
    static unsigned char tree[4096];
    const struct gpume_encode_target target = {goal, n};
    REQUIRE_EQUAL(write_target(options, &target, 5, 48, 32), GPUME_OK);
    REQUIRE(take("a.mbtree", tree, sizeof(tree)) > 26);
    return big_endian(tree + 13 + 3);
}

/* With costs of 100 that are noise, x264's offsets for a CRF are 7/16 as large, as an eighth of all
 * is left out, and half of what is left for blocks without detail: so QPs make up for 7/16 as much;
 * and an I frame is finer than P frames by half of 2.91. Those of a bitrate stay. */
static void test_noisy_tree(void)
{
    struct gpume_encoder encoder = *gpume_encoder_find("x264");
    struct gpume_encode_options options = options_of(&encoder);
    int by_crf[2], by_bitrate[2];
    for (uint32_t block = 0; block < BLOCKS; block++) {
        motion.intra_costs[block] = 1000;
        motion.kinds[block] = GPUME_FROM_PAST;
    }
    for (size_t is_noise = 0; is_noise < 2; is_noise++) {
        const double i = is_noise ? 28.45 : 27.65, p = is_noise ? 29.91 : 30.56;
        encoder.tree.noise = encoder.tree.quiet = is_noise ? 100 : 0;
        by_bitrate[is_noise] = offset_of_p(&options, GPUME_GOAL_BITRATE, 400000);
        by_crf[is_noise] = offset_of_p(&options, GPUME_GOAL_CRF, 2400);
        require_qps((const double[]){i, p, p, p, p});
    }
    REQUIRE_EQUAL(by_bitrate[1], by_bitrate[0]);
    for (size_t is_noise = 0; is_noise < 2; is_noise++) {
        cost = is_noise ? 200 : 199;
        logged.warnings = 0;
        offset_of_p(&options, GPUME_GOAL_BITRATE, 50000);
        REQUIRE_EQUAL(logged.warnings, 1 + is_noise); /* it is also short */
    }
    cost = 100;
    chunks = true; /* which have x264's own tree */
    uint64_t bits[2];
    for (size_t is_noise = 0; is_noise < 2; is_noise++) {
        const struct gpume_encode_target target = {GPUME_GOAL_CRF, 2400};
        encoder.tree.noise = encoder.tree.quiet = is_noise ? 100 : 0;
        REQUIRE_EQUAL(write_target(&options, &target, 5, 48, 32), GPUME_OK);
        bits[is_noise] = outcome.bits;
    }
    REQUIRE(bits[0] > 0);
    REQUIRE_EQUAL(bits[1], bits[0]);
    chunks = false;
    const int rest = 88; /* whole QPs of 31 and 30 are 0.44 and 0.09 too high, all rounded */
    REQUIRE_EQUAL(by_crf[1] - by_crf[0], TREE_OFFSET * 9 / 16 + rest);
    memset(&motion, 0, sizeof(motion));
    clear_files();
}

/* Offsets wait for later frames, and come in their order. */
static void test_long_tree(void)
{
    const struct gpume_encode_options options = options_of(gpume_encoder_find("x264"));
    static unsigned char tree[4096];
    for (uint64_t frames = 1; frames <= 121; frames += frames == 57 ? 4 : 56) {
        REQUIRE_EQUAL(write_files(&options, 100000, frames, 48, 32), GPUME_OK);
        const size_t records = 1 + (frames - 1) / 2;
        REQUIRE_EQUAL(take("a.mbtree", tree, sizeof(tree)), records * 13);
        for (size_t i = 0; i < records; i++) {
            REQUIRE_EQUAL(tree[13 * i], i == 0 ? 2 : (i + 1) % 2);
            REQUIRE_EQUAL(big_endian(tree + 13 * i + 3), i == 0 ? 256 : -301);
        }
    }
    unlink("a");
}

/* --- files that are not what was written */

enum damage { NONE, CHANGED, SHORTENED, EXTENDED };

/* Of the file that is read back as number `file`, from 0. */
static struct {
    enum damage damage;
    long at; /* the byte that is changed, or the new length */
    int file;
} planned;

static void damage_file(const char *path)
{
    FILE *file = fopen(path, "r+b");
    REQUIRE(file);
    if (planned.damage == CHANGED) {
        REQUIRE(fseek(file, planned.at, SEEK_SET) == 0);
        const int byte = fgetc(file);
        REQUIRE(fseek(file, planned.at, SEEK_SET) == 0 && fputc(byte ^ 1, file) != EOF);
    } else if (planned.damage == SHORTENED) {
        REQUIRE(ftruncate(fileno(file), planned.at) == 0);
    } else {
        REQUIRE(fseek(file, 0, SEEK_END) == 0 && fputs("in:5 ;\n", file) != EOF);
    }
    REQUIRE(fclose(file) == 0);
}

const char *__real_gpume_out_place(const struct gpume_out *out);
const char *__wrap_gpume_out_place(const struct gpume_out *out);

/* The files are complete when their place is asked for, and are then read. */
const char *__wrap_gpume_out_place(const struct gpume_out *out)
{
    const char *path = __real_gpume_out_place(out);
    if (planned.damage != NONE && planned.file-- == 0) {
        damage_file(path);
    }
    return path;
}

static void require_found_in(const struct gpume_encode_options *options,
    const struct gpume_encode_target *target, int file, enum damage damage, long at)
{
    const bool x264 = options->encoder == gpume_encoder_find("x264");
    const char *path = file == 0   ? "a: "
                       : file == 2 ? "a.qpfile: "
                       : x264      ? "a.mbtree: "
                                   : "a.cutree: ";
    planned.damage = damage;
    planned.file = file;
    planned.at = at;
    logged.errors = 0;
    REQUIRE_EQUAL(write_target(options, target, 5, 48, 32), GPUME_FORMAT);
    REQUIRE_EQUAL(logged.errors, 1);
    REQUIRE(begins(logged.last, path));
    REQUIRE(access("a", F_OK) != 0);
    planned.damage = NONE;
}

static void require_found(
    const struct gpume_encode_options *options, int file, enum damage damage, long at)
{
    const struct gpume_encode_target target = {GPUME_GOAL_BITRATE, 100000};
    require_found_in(options, &target, file, damage, at);
}

static void test_damage(void)
{
    for (size_t i = 0; i < count_texts(); i++) {
        const struct gpume_encode_options options = options_of(gpume_encoders[i]);
        unsigned char text[8192];
        REQUIRE_EQUAL(write_files(&options, 100000, 5, 48, 32), GPUME_OK);
        const long bytes = (long)take("a", text, sizeof(text));
        const long tree_bytes =
            (long)take(strcmp(gpume_encoders[i]->name, "x264") == 0 ? "a.mbtree" : "a.cutree", text,
                sizeof(text));
        for (long at = 0; at < bytes; at++) {
            require_found(&options, 0, CHANGED, at);
        }
        for (long length = 0; length < bytes; length++) {
            require_found(&options, 0, SHORTENED, length);
        }
        require_found(&options, 0, EXTENDED, 0);
        require_found(&options, 1, CHANGED, tree_bytes / 3); /* the type of the second frame */
        require_found(&options, 1, SHORTENED, tree_bytes - 1);
        require_found(&options, 1, EXTENDED, 0);
    }
    const struct gpume_encode_options options = options_of(gpume_encoder_find("x264"));
    const struct gpume_encode_target crf = {GPUME_GOAL_CRF, 2400};
    require_found_in(&options, &crf, 2, CHANGED, 5);
    require_found_in(&options, &crf, 2, SHORTENED, 34);
    require_found_in(&options, &crf, 2, EXTENDED, 0);
}

/* --- records: SVT-AV1 */

enum { RECORD = 56 };

/* By the layout that gpume-formats(5) gives. */
static void test_record(void)
{
    static const unsigned char expected[RECORD] = {
        0,
        0,
        0,
        0,
        0,
        0,
        0x1c,
        0x40, /* 7.0 */
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0, /* 0.0 */
        0x55,
        0x55,
        0x55,
        0x55,
        0xed,
        0x74,
        0x19,
        0x41, /* 1e7 * 1001 / 24000 */
        0,
        0,
        0,
        0,
        0,
        0,
        0xf0,
        0x3f, /* 1.0 */
        7,
        0,
        0,
        0,
        0,
        0,
        0,
        0, /* position */
        0xd2,
        4,
        0,
        0,
        0,
        0,
        0,
        0, /* 1234 bits */
        160,
        160,
        0,
        0,
        0,
        0,
        0,
        0,
    };
    static const unsigned char total[RECORD] = {
        0, 0, 0, 0, 0, 0, 0x18, 0x40, /* 0 + 1 + 2 + 3 */
        0, 0, 0, 0, 0, 0, 0, 0, 0x55, 0x55, 0x55, 0x55, 0xed, 0x74, 0x39,
        0x41,                         /* four times as long */
        0, 0, 0, 0, 0, 0, 0x10, 0x40, /* 4.0 */
    };
    const struct gpume_pass_video video = {64, 64, 24000, 1001};
    const struct gpume_pass_frame frame = {
        .video = &video, .display = 7, .coded = 2, .qp = 3200, .texture = 1000, .vectors = 234};
    const struct gpume_encoder *encoder = gpume_encoder_find("svt-av1");
    char line[GPUME_PASS_LINE_BYTES];
    REQUIRE_EQUAL(encoder->write_frame(line, &frame), RECORD);
    REQUIRE(memcmp(line, expected, RECORD) == 0);
    REQUIRE_EQUAL(encoder->fixed->write_end(line, &video, 4), RECORD);
    REQUIRE(memcmp(line, total, RECORD) == 0);
}

/* Frames in coded order of a video that ends with frame 18, with their references and what the
 * records say of them: a run of 16, one of two, and a frame alone. */
struct planned_record {
    uint64_t display, past, future;
    enum gpume_frame_type type;
    enum { KEY, END, OF_16, OF_8, OF_4, OF_2 } kind;
};

/* The tables of svt_av1.c. */
static const struct numbers of_kinds[] = {
    [KEY] = {-0.447, 0.0571, 2.965, 0.000, 0.000, 0.000, 16.444},
    [END] = {-1.797, 0.0951, 1.910, 0.657, 2.176, -2.296, 0.000},
    [OF_16] = {-1.444, 0.1090, 2.782, 0.000, 3.034, -1.889, 0.380},
    [OF_8] = {-0.810, 0.1135, 3.890, 0.061, 1.441, -2.600, 0.000},
    [OF_4] = {0.357, 0.0980, 6.525, 1.057, 1.051, -2.330, 0.011},
    [OF_2] = {1.320, 0.0893, 11.483, 3.229, 1.021, -1.497, 0.026},
};
static const double reuse_of_kinds[] = {
    [KEY] = 14343 / 65536.0, [END] = 16319 / 65536.0, [OF_2] = 0};

static const struct planned_record records[] = {
    {0, 0, 0, GPUME_FRAME_IDR, KEY},
    {16, 0, 16, GPUME_FRAME_P, END},
    {8, 0, 16, GPUME_FRAME_B_REF, OF_16},
    {4, 0, 8, GPUME_FRAME_B_REF, OF_8},
    {2, 0, 4, GPUME_FRAME_B_REF, OF_4},
    {1, 0, 2, GPUME_FRAME_B, OF_2},
    {3, 2, 4, GPUME_FRAME_B, OF_2},
    {6, 4, 8, GPUME_FRAME_B_REF, OF_4},
    {5, 4, 6, GPUME_FRAME_B, OF_2},
    {7, 6, 8, GPUME_FRAME_B, OF_2},
    {12, 8, 16, GPUME_FRAME_B_REF, OF_8},
    {10, 8, 12, GPUME_FRAME_B_REF, OF_4},
    {9, 8, 10, GPUME_FRAME_B, OF_2},
    {11, 10, 12, GPUME_FRAME_B, OF_2},
    {14, 12, 16, GPUME_FRAME_B_REF, OF_4},
    {13, 12, 14, GPUME_FRAME_B, OF_2},
    {15, 14, 16, GPUME_FRAME_B, OF_2},
    {18, 16, 18, GPUME_FRAME_P, END},
    {17, 16, 18, GPUME_FRAME_B, OF_2},
    {19, 18, 19, GPUME_FRAME_P, OF_2},
};

enum { RECORDS = sizeof(records) / sizeof(records[0]) };

/* Every frame costs a quarter of its intra cost. */
static int write_records(uint64_t bitrate)
{
    struct gpume_encode_options options = options_of(gpume_encoder_find("svt-av1"));
    struct gpume_out_set set = {.overwrite = true, .together = true};
    const struct gpume_pass_params params = {
        .options = &options, .width = 64, .height = 64, .set = &set, .log = counting_log};
    const struct gpume_pass_video video = {64, 64, 25, 1};
    const struct gpume_encode_target target = {GPUME_GOAL_BITRATE, bitrate};
    struct gpume_pass *pass = NULL;
    int status = gpume_pass_open(&pass, &params);
    status = status ? status : gpume_pass_add(pass, &video, &target, "a");
    for (uint64_t i = 0; i < RECORDS && status == GPUME_OK; i++) {
        const bool is_key = records[i].type == GPUME_FRAME_IDR;
        const struct gpume_spectrum spectrum = {.blocks = 16,
            .sampled = 16,
            .differing = 16,
            .details = {[14] = (uint16_t)(100 + i)},
            .vectors = {[18] = is_key ? 0 : 20}};
        const struct gpume_decision decision = {
            .display = records[i].display,
            .coded = i,
            .type = records[i].type,
            .has_past = !is_key,
            .has_future = gpume_type_is_b(records[i].type),
            .past = records[i].past,
            .future = records[i].future,
            .weight = GPUME_WEIGHT_NONE,
            .cost = is_key ? 4000 : 1000,
            .intra_cost = 4000,
            .spectrum = &spectrum,
        };
        status = gpume_pass_add_frame(pass, &decision);
    }
    status = status ? status : gpume_pass_finish(pass);
    status = status ? status : gpume_out_set_name(&set, &counting_log);
    gpume_pass_close(&pass);
    return status;
}

/* The number of 8 bytes in record number `index`. */
static uint64_t number_of(const unsigned char *data, uint64_t index, size_t at)
{
    uint64_t value = 0;
    for (size_t i = 8; i-- > 0;) {
        value = value << 8 | data[index * RECORD + at + i];
    }
    return value;
}

/* Records in display order, with the bits of the formulas of bits.h and encoder.h. */
static void test_records(void)
{
    static unsigned char data[(RECORDS + 2) * RECORD];
    REQUIRE_EQUAL(write_records(9000), GPUME_OK); /* 5 times 64x64 bits in 60 frames: index 160 */
    REQUIRE_EQUAL(take("a", data, sizeof(data)), (RECORDS + 1) * RECORD);
    for (uint64_t i = 0; i < RECORDS; i++) {
        const struct planned_record *r = &records[i];
        const struct measured measured = {
            100 + (double)i, 0, r->type == GPUME_FRAME_IDR ? 0 : 20, 16};
        const double coded = formula(&of_kinds[r->kind], &measured, 32);
        const double bits =
            144 + (i == 0 ? 216 : 0) +
            coded * pow(4, reuse_of_kinds[r->kind]) * pow(640 * 360 / (64.0 * 64), 0.18) * 0.87;
        const double written = (double)number_of(data, r->display, 40);
        REQUIRE_EQUAL(number_of(data, r->display, 32), r->display);
        REQUIRE(fabs(written - bits) < 2 + bits / 500);
        REQUIRE_EQUAL(data[r->display * RECORD + 49], 160);
    }
    REQUIRE_EQUAL(number_of(data, RECORDS, 32), 0);
    /* What is expected of the coarsest quantizer, in SVT-AV1's own numbers. */
    logged.warnings = 0;
    REQUIRE_EQUAL(write_records(1000), GPUME_OK);
    REQUIRE_EQUAL(logged.warnings, 1);
    REQUIRE(strstr(logged.last, "svt-av1 is unlikely to keep to 1 kbit/s: even at QP 63 it is"));
    take("a", data, sizeof(data));
}

/* The index of a bitrate's quality: that of SVT-AV1 2.3's own first pass at each of these. */
static void test_record_quality(void)
{
    static const struct {
        uint64_t bitrate;
        unsigned char index;
    } cases[] = {{1000, 220}, {1706, 220}, {1707, 200}, {3413, 200}, {3414, 180}, {6826, 180},
        {6827, 160}, {10239, 160}, {10240, 140}, {13653, 140}, {13654, 120}, {1000000, 120}};
    static unsigned char data[(RECORDS + 2) * RECORD];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        REQUIRE_EQUAL(write_records(cases[i].bitrate), GPUME_OK);
        take("a", data, sizeof(data));
        REQUIRE_EQUAL(data[49], cases[i].index);
    }
}

static void test_damaged_records(void)
{
    const long bytes = (RECORDS + 1) * RECORD;
    for (long at = 0; at <= bytes; at++) {
        for (enum damage damage = CHANGED; damage <= EXTENDED; damage++) {
            planned.damage = at < bytes || damage == EXTENDED ? damage : NONE;
            planned.file = 0;
            planned.at = at;
            logged.errors = 0;
            if (planned.damage != NONE) {
                REQUIRE_EQUAL(write_records(100000), GPUME_FORMAT);
                REQUIRE_EQUAL(logged.errors, 1);
                REQUIRE(access("a", F_OK) != 0);
            }
            planned.damage = NONE;
        }
    }
}

int main(void)
{
    char folder[] = "encode_pass.XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        return 1;
    }
    test_options();
    test_refused_options();
    test_encoders();
    test_files();
    test_sizes();
    test_rates();
    test_planned_bits();
    test_buffer();
    test_rates_in_buffer();
    test_short();
    test_ended();
    test_model();
    test_model_x265();
    test_weights();
    test_lines();
    test_targets();
    test_expected_bitrate();
    test_lone_vectors();
    has_losses = true;
    test_fidelity();
    test_expected();
    test_corrected();
    test_expected_of_scenes();
    chunks = true;
    test_fidelity();
    test_size_of_chunks();
    test_bits_of_chunks();
    chunks = false;
    has_losses = false;
    test_size();
    test_complexity();
    test_quality();
    test_noise();
    test_quiet();
    test_quiet_part();
    test_noisy_tree();
    test_long_tree();
    test_damage();
    logged.lines = 0;
    test_record();
    test_records();
    test_record_quality();
    test_damaged_records();
    REQUIRE(chdir("..") == 0 && rmdir(folder) == 0);
    return harness_verdict();
}
