/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of encoders. A new one is a file in this folder, its declaration and its row; where it
 * encodes chunks, another row at the end. */
#include "encode/encoder.h"

#include "encode/chunk_encoders.h"

#include <math.h>
#include <string.h>

extern const struct gpume_encoder gpume_x264, gpume_x265, gpume_svt_av1;

const struct gpume_encoder *const gpume_encoders[] = {
    &gpume_x264, &gpume_x265, &gpume_svt_av1, NULL};

const struct gpume_encoder *gpume_encoder_find(const char *name)
{
    const struct gpume_encoder *const *encoder = gpume_encoders;
    while (*encoder && strcmp((*encoder)->name, name) != 0) {
        encoder++;
    }
    return *encoder;
}

const char *const gpume_colour_primaries[GPUME_COLOUR_PRIMARIES] = {NULL, "bt709", NULL, NULL,
    "bt470m", "bt470bg", "smpte170m", "smpte240m", "film", "bt2020", "smpte428", "smpte431",
    "smpte432"};

const char *const gpume_colour_transfers[GPUME_COLOUR_TRANSFERS] = {NULL, "bt709", NULL, NULL,
    "bt470m", "bt470bg", "smpte170m", "smpte240m", "linear", "log100", "log316", "iec61966-2-4",
    "bt1361e", "iec61966-2-1", "bt2020-10", "bt2020-12", "smpte2084", "smpte428", "arib-std-b67"};

/* --- encoders of chunks (chunk_encoders.h) */

static const struct gpume_chunk_word x26x_words[] = {
    {"--preset", GPUME_CHUNK_WORD},
    {"", GPUME_CHUNK_PRESET},
    {"--output-depth", GPUME_CHUNK_WORD},
    {"", GPUME_CHUNK_DEPTH},
    {"--crf", GPUME_CHUNK_WORD},
    {"", GPUME_CHUNK_CRF},
    {0},
};

static const struct gpume_chunk_word svt_av1_words[] = {
    {"--preset", GPUME_CHUNK_WORD},
    {"", GPUME_CHUNK_PRESET},
    {"--rc", GPUME_CHUNK_WORD},
    {"0", GPUME_CHUNK_WORD},
    {"--crf", GPUME_CHUNK_WORD},
    {"", GPUME_CHUNK_CRF},
    {0},
};

static const struct gpume_chunk_word aom_words[] = {
    {"--cpu-used=", GPUME_CHUNK_PRESET},
    {"--end-usage=q", GPUME_CHUNK_WORD},
    {"--cq-level=", GPUME_CHUNK_CRF},
    {0},
};

static const char *const svt_av1_presets[] = {
    "13", "12", "11", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1", "0", NULL};
static const char *const aom_presets[] = {"6", "5", "4", "3", "2", "1", "0", NULL};

/* aomenc has no options for the range, which Y4M tells it, nor for HDR10's display and light. */
const char *const gpume_av1_places[GPUME_CHROMA_TOP_LEFT + 1] = {
    [GPUME_CHROMA_TOP_LEFT] = "colocated"};
static const char *const aom_primaries[] = {NULL, "bt709", NULL, NULL, "bt470m", "bt470bg", "bt601",
    "smpte240", "film", "bt2020", "xyz", "smpte431", "smpte432"};
static const char *const aom_transfers[] = {NULL, "bt709", NULL, NULL, "bt470m", "bt470bg", "bt601",
    "smpte240", "lin", "log100", "log100sq10", "iec61966", "bt1361", "srgb", "bt2020-10bit",
    "bt2020-12bit", "smpte2084", "smpte428", "hlg"};
static const char *const aom_matrices[] = {NULL, "bt709", NULL, NULL, "fcc73", "bt470bg", "bt601",
    "smpte240", "ycgco", "bt2020ncl", "bt2020cl", "smpte2085", "chromncl", "chromcl", "ictcp"};
static const struct gpume_colour_options aom_colours = {
    .primaries = GPUME_CODED_OPTION("color-primaries", aom_primaries),
    .transfer = GPUME_CODED_OPTION("transfer-characteristics", aom_transfers),
    .matrix = GPUME_CODED_OPTION("matrix-coefficients", aom_matrices),
    .place = GPUME_CODED_OPTION("chroma-sample-position", gpume_av1_places),
    .joins = true};

/* The numbers are fitted to encodes with these presets, which tests/bench/firstpass/README.md
 * lists. */
const struct gpume_chunk_encoder gpume_chunk_encoders[GPUME_CHUNK_ENCODERS] = {
    {.name = "x264",
        .av1an = "x264",
        .model = "x264",
        .words = x26x_words,
        .colours = &gpume_x264.colours,
        .crf_max = 51},
    {.name = "x265",
        .av1an = "x265",
        .model = "x265",
        .words = x26x_words,
        .colours = &gpume_x265.colours,
        .crf_max = 51},
    {.name = "svt-av1",
        .av1an = "svt_av1",
        .model = "x265",
        .words = svt_av1_words,
        .colours = &gpume_svt_av1.colours,
        .crf_max = 63,
        .presets = svt_av1_presets,
        .preset = "8",
        .side_min = 64,
        .first = 11.53,
        .step = 0.3724,
        .bits = 0.07,
        .bits_step = -0.0077,
        .bits_power = -0.095},
    {.name = "aom",
        .av1an = "aom",
        .model = "x265",
        .words = aom_words,
        .colours = &aom_colours,
        .crf_max = 63,
        .presets = aom_presets,
        .preset = "6",
        .first = 11.46,
        .step = 0.3716,
        .bits = 0.13,
        .bits_step = -0.0116,
        .bits_power = -0.1},
};

unsigned gpume_chunk_model_crf(const struct gpume_chunk_encoder *encoder, unsigned crf)
{
    return encoder->presets ? (unsigned)lround(100 * (encoder->first + encoder->step * crf))
                            : 100 * crf;
}

uint64_t gpume_chunk_crf(const struct gpume_chunk_encoder *encoder, uint64_t model_crf)
{
    if (!encoder->presets) {
        return model_crf;
    }
    const double crf = round(((double)model_crf / 100 - encoder->first) / encoder->step);
    return 100 * (uint64_t)fmin(fmax(crf, 1), encoder->crf_max);
}

double gpume_chunk_bits(const struct gpume_chunk_encoder *encoder, uint64_t crf, uint64_t pixels)
{
    return exp(encoder->bits + encoder->bits_step * (double)crf / 100) *
           pow((double)pixels / (640 * 360), encoder->bits_power);
}
