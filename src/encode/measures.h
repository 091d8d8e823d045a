/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The measures of how close an encode is to its source: a row each, for targets, for what is
 * expected of a pass, and for what an encode gave. Any thread.
 */
#ifndef GPUME_ENCODE_MEASURES_H
#define GPUME_ENCODE_MEASURES_H

#include "encode/distortion.h"
#include "encode/fidelity.h"
#include "encode/target.h"

enum gpume_measure_kind {
    GPUME_MEASURE_PSNR,
    GPUME_MEASURE_SSIM,
    GPUME_MEASURE_XPSNR,
    GPUME_MEASURES
};

/* Frames of an encode, one after the other. */
struct gpume_measured_frames {
    const struct gpume_fidelity_frame *of;
    uint64_t count;
    uint32_t width, height, bits;
};

struct gpume_measure {
    enum gpume_goal goal;         /* that asks for it */
    const char *name;             /* in options and reports: "psnr" */
    const char *article, *people; /* in sentences: "a", "PSNR" */
    const char *unit;             /* " dB", or "" */
    int decimals;                 /* of targets and reports: a target is in units of the last one */
    int digits;                   /* decimals in sentences */
    size_t score;                 /* offset of its double in struct gpume_fidelity_scores */
    bool weighs; /* it is expected only where the analysis finds the weights of XPSNR */
    /* pixels: of the pictures that were analysed. NAN: it was not measured. */
    double (*expected)(
        const struct gpume_loss *mean, const struct gpume_loss_model *model, uint64_t pixels);
    double (*given)(const struct gpume_measured_frames *frames);
    /* Frames are averaged as errors, 10^(-power * decibels / 10): 1 averages mean squares, 0.5
     * their roots (XPSNR). */
    double power;
    /* As decibels, which change with the CRF about as those of PSNR do, and back. */
    double (*decibels)(double value);
    double (*of_decibels)(double decibels);
};

extern const struct gpume_measure gpume_measures[GPUME_MEASURES];

/* NULL: the goal is none. */
const struct gpume_measure *gpume_measure_of(enum gpume_goal goal);

/* Of a target with this measure. */
double gpume_measure_wanted(
    const struct gpume_measure *measure, const struct gpume_encode_target *target);

double gpume_measure_score(
    const struct gpume_measure *measure, const struct gpume_fidelity_scores *scores);

#endif
