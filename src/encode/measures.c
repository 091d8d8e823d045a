/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/measures.h"

#include <math.h>

/* Frames that are the same count as if they differed by this much. */
#define ERROR_LEAST 1e-4
#define SSIM_LEAST 1e-7

static double same(double value)
{
    return value;
}

/* error: of a sample, on the average. */
static double psnr_of(const struct gpume_measured_frames *frames, double error)
{
    const double peak = (double)((UINT32_C(1) << frames->bits) - 1);
    return 10 * log10(peak * peak / fmax(error, ERROR_LEAST));
}

static double pixels_of(const struct gpume_measured_frames *frames)
{
    return (double)frames->width * frames->height;
}

/* --- PSNR */

static double expect_psnr(
    const struct gpume_loss *mean, const struct gpume_loss_model *model, uint64_t pixels)
{
    (void)model;
    (void)pixels;
    return gpume_loss_psnr(mean);
}

static double given_psnr(const struct gpume_measured_frames *frames)
{
    double sum = 0;
    for (uint64_t i = 0; i < frames->count; i++) {
        sum += (double)frames->of[i].sse;
    }
    return psnr_of(frames, sum / (pixels_of(frames) * (double)frames->count));
}

/* --- SSIM */

static double expect_ssim(
    const struct gpume_loss *mean, const struct gpume_loss_model *model, uint64_t pixels)
{
    (void)pixels;
    return gpume_loss_ssim(mean, model);
}

static double given_ssim(const struct gpume_measured_frames *frames)
{
    double sum = 0;
    for (uint64_t i = 0; i < frames->count; i++) {
        sum += frames->of[i].ssim;
    }
    return sum / (double)frames->count;
}

static double decibels_of_ssim(double ssim)
{
    return -10 * log10(fmax(1 - ssim, SSIM_LEAST));
}

static double ssim_of_decibels(double decibels)
{
    return 1 - pow(10, -decibels / 10);
}

/* --- XPSNR */

static double expect_xpsnr(
    const struct gpume_loss *mean, const struct gpume_loss_model *model, uint64_t pixels)
{
    return gpume_loss_xpsnr(mean, model, pixels);
}

static double given_xpsnr(const struct gpume_measured_frames *frames)
{
    double sum = 0;
    for (uint64_t i = 0; i < frames->count; i++) {
        sum += sqrt((double)frames->of[i].wsse);
    }
    const double root = sum / (double)frames->count;
    return psnr_of(frames, root * root / pixels_of(frames));
}

/* --- all */

const struct gpume_measure gpume_measures[GPUME_MEASURES] = {
    [GPUME_MEASURE_PSNR] = {.goal = GPUME_GOAL_PSNR,
        .name = "psnr",
        .article = "a",
        .people = "PSNR",
        .unit = " dB",
        .decimals = 2,
        .digits = 1,
        .score = offsetof(struct gpume_fidelity_scores, psnr),
        .expected = expect_psnr,
        .given = given_psnr,
        .power = 1,
        .decibels = same,
        .of_decibels = same},
    [GPUME_MEASURE_SSIM] = {.goal = GPUME_GOAL_SSIM,
        .name = "ssim",
        .article = "an",
        .people = "SSIM",
        .unit = "",
        .decimals = 4,
        .digits = 4,
        .score = offsetof(struct gpume_fidelity_scores, ssim),
        .expected = expect_ssim,
        .given = given_ssim,
        .power = 1,
        .decibels = decibels_of_ssim,
        .of_decibels = ssim_of_decibels},
    [GPUME_MEASURE_XPSNR] = {.goal = GPUME_GOAL_XPSNR,
        .name = "xpsnr",
        .article = "an",
        .people = "XPSNR",
        .unit = " dB",
        .decimals = 2,
        .digits = 1,
        .score = offsetof(struct gpume_fidelity_scores, xpsnr),
        .weighs = true,
        .expected = expect_xpsnr,
        .given = given_xpsnr,
        .power = 0.5,
        .decibels = same,
        .of_decibels = same},
};

const struct gpume_measure *gpume_measure_of(enum gpume_goal goal)
{
    const struct gpume_measure *found = NULL;
    for (size_t i = 0; i < GPUME_MEASURES; i++) {
        found = gpume_measures[i].goal == goal ? &gpume_measures[i] : found;
    }
    return found;
}

double gpume_measure_wanted(
    const struct gpume_measure *measure, const struct gpume_encode_target *target)
{
    return (double)target->value / pow(10, measure->decimals);
}

double gpume_measure_score(
    const struct gpume_measure *measure, const struct gpume_fidelity_scores *scores)
{
    return *(const double *)(const void *)((const char *)scores + measure->score);
}
