/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenes/chunk_encoders.h"

#include <math.h>

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

/* The numbers are fitted to encodes with these presets, which tests/bench/firstpass/README.md
 * lists. */
const struct gpume_chunk_encoder gpume_chunk_encoders[GPUME_CHUNK_ENCODERS] = {
    {.name = "x264", .av1an = "x264", .model = "x264", .words = x26x_words, .crf_max = 51},
    {.name = "x265", .av1an = "x265", .model = "x265", .words = x26x_words, .crf_max = 51},
    {.name = "svt-av1",
        .av1an = "svt_av1",
        .model = "x265",
        .words = svt_av1_words,
        .crf_max = 63,
        .presets = svt_av1_presets,
        .preset = "8",
        .side_min = 64,
        .first = 11.53,
        .step = 0.3724,
        .bits = 0.004,
        .bits_step = -0.0085},
    {.name = "aom",
        .av1an = "aom",
        .model = "x265",
        .words = aom_words,
        .crf_max = 63,
        .presets = aom_presets,
        .preset = "6",
        .first = 11.46,
        .step = 0.3716,
        .bits = 0.307,
        .bits_step = -0.01576},
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

double gpume_chunk_bits(const struct gpume_chunk_encoder *encoder, uint64_t crf)
{
    return exp(encoder->bits + encoder->bits_step * (double)crf / 100);
}
