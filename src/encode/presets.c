/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of x264 0.164 and x265 3.5: what `x264 --fullhelp` says, and what both write into the first line
 * of their statistics, with which tests/cli/test_presets.sh compares this.
 */
#include "encode/presets.h"

#include "base/grid.h"

const char *const gpume_preset_names[] = {"ultrafast", "superfast", "veryfast", "faster", "fast",
    "medium", "slow", "slower", "veryslow", "placebo", NULL};
enum { PRESETS = sizeof(gpume_preset_names) / sizeof(gpume_preset_names[0]) - 1, MEDIUM = 5 };

struct preset {
    uint32_t ref, bframes, b_adapt, rc_lookahead, weightp, weightb, aq_mode, scenecut;
    bool tree;
};

/* x264's two fastest presets have no lookahead, which a second pass refuses. Without mbtree its
 * length changes nothing, but it has to be longer than a run of B frames. */
static const struct preset presets[GPUME_ENCODERS][PRESETS] =
    {
        [GPUME_ENCODER_X264] =
            {
                {1, 0, 0, 20, 0, 0, 0, 0, false},
                {1, 3, 1, 20, 1, 1, 1, 40, false},
                {1, 3, 1, 10, 1, 1, 1, 40, true},
                {2, 3, 1, 20, 1, 1, 1, 40, true},
                {2, 3, 1, 30, 1, 1, 1, 40, true},
                {3, 3, 1, 40, 2, 1, 1, 40, true},
                {5, 3, 1, 50, 2, 1, 1, 40, true},
                {8, 3, 2, 60, 2, 1, 1, 40, true},
                {16, 8, 2, 60, 2, 1, 1, 40, true},
                {16, 16, 2, 60, 2, 1, 1, 40, true},
            },
        [GPUME_ENCODER_X265] =
            {
                {1, 3, 0, 5, 0, 0, 0, 0, true},
                {1, 3, 0, 10, 0, 0, 0, 40, true},
                {2, 4, 0, 15, 1, 0, 2, 40, true},
                {2, 4, 0, 15, 1, 0, 2, 40, true},
                {3, 4, 0, 15, 1, 0, 2, 40, true},
                {3, 4, 2, 20, 1, 0, 2, 40, true},
                {4, 4, 2, 25, 1, 0, 2, 40, true},
                {5, 8, 2, 40, 1, 1, 2, 40, true},
                {5, 8, 2, 40, 1, 1, 2, 40, true},
                {5, 8, 2, 60, 1, 1, 2, 40, true},
            },
};

void gpume_encode_options_preset(
    struct gpume_encode_options *options, enum gpume_encoder encoder, uint32_t number)
{
    const struct preset *preset = &presets[encoder][number];
    const bool x265 = encoder == GPUME_ENCODER_X265;
    *options = (struct gpume_encode_options){
        .encoder = encoder,
        .preset = gpume_preset_names[number],
        .bits = 8,
        .keyint = 250,
        .min_keyint = 25,
        .scenecut = preset->scenecut,
        .bframes = preset->bframes,
        .b_adapt = preset->b_adapt,
        .b_pyramid = x265 ? 1 : 2,
        .weightp = preset->weightp,
        .weightb = preset->weightb,
        .rc_lookahead = preset->rc_lookahead,
        .horizon = GPUME_HORIZON,
        .open_gop = x265,
        .tree = preset->tree,
        .ref = preset->ref,
        .aq_mode = preset->aq_mode,
        .aq_strength = x265 && preset->aq_mode == 0 ? 0 : 1.0,
        .qcomp = 0.6,
        .ipratio = 1.4,
        .pbratio = 1.3,
    };
}

void gpume_encode_options_default(struct gpume_encode_options *options, enum gpume_encoder encoder)
{
    gpume_encode_options_preset(options, encoder, MEDIUM);
}

enum tune { PSNR, SSIM, FILM, ANIMATION, GRAIN, STILLIMAGE, FASTDECODE };
const char *const gpume_tune_names[] = {
    "psnr", "ssim", "film", "animation", "grain", "stillimage", "fastdecode", NULL};

static void tune_animation(struct gpume_encode_options *options)
{
    const uint32_t more = options->bframes + 2;
    if (options->encoder == GPUME_ENCODER_X264) {
        options->aq_strength = 0.6;
        options->bframes = gpume_min_u32(more, GPUME_BFRAMES_MAX);
        options->ref = options->ref > 1 ? gpume_min_u32(2 * options->ref, GPUME_REF_MAX) : 1;
    } else {
        options->aq_strength = 0.4;
        options->bframes = more < options->rc_lookahead ? more : options->bframes;
    }
}

static void tune_grain(struct gpume_encode_options *options)
{
    options->ipratio = 1.1;
    if (options->encoder == GPUME_ENCODER_X264) {
        options->aq_strength = 0.5;
        options->qcomp = 0.8;
        options->pbratio = 1.1;
    } else {
        options->aq_mode = 0;
        options->tree = false;
        options->pbratio = 1.0;
    }
}

bool gpume_encode_options_tune(struct gpume_encode_options *options, uint32_t tune)
{
    const bool x265 = options->encoder == GPUME_ENCODER_X265;
    switch ((enum tune)tune) {
    case PSNR:
        options->aq_mode = 0;
        options->aq_strength = x265 ? 0 : options->aq_strength;
        break;
    case SSIM:
        options->aq_mode = 2;
        break;
    case FILM:
        break;
    case ANIMATION:
        tune_animation(options);
        break;
    case GRAIN:
        tune_grain(options);
        break;
    case STILLIMAGE:
        options->aq_strength = 1.2;
        break;
    case FASTDECODE:
        options->weightp = options->weightb = 0;
        break;
    }
    options->tune = gpume_tune_names[tune];
    return !x265 || (tune != FILM && tune != STILLIMAGE);
}
