/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/cut.h"

#include "encode/changes.h"

/* Each of these alone may be low at a cut, but what is far below any of them is none. */
#define SHARE_FULL 0.5
#define STRUCTURE_FULL 0.25
#define CHANGED_FULL 0.9
#define RESIDUAL_FULL 2.5
#define RELATIVE_FULL 0.4

/* Structure below which it is the same picture in another light, or with other noise. */
#define STRUCTURE_LEAST 0.15
/* Part of the usual residual by which a residual must exceed it: noise is noise, cut or not. */
#define EXCESS 0.5

static void lower(double *value, double other)
{
    *value = other < *value ? other : *value;
}

void gpume_difference_lower(
    struct gpume_difference *difference, const struct gpume_difference *other)
{
    lower(&difference->unlike.plain, other->unlike.plain);
    lower(&difference->unlike.residual, other->unlike.residual);
    lower(&difference->unlike.relative, other->unlike.relative);
    lower(&difference->unlike.share, other->unlike.share);
    lower(&difference->unlike.structure, other->unlike.structure);
    lower(&difference->cost, other->cost);
    lower(&difference->changed, other->changed);
}

/* The weakest evidence, 1 at most. */
static double weakest(const struct gpume_difference *difference)
{
    const struct gpume_unlike *unlike = &difference->unlike;
    double least = 1;
    lower(&least, unlike->share / SHARE_FULL);
    lower(&least, unlike->structure / STRUCTURE_FULL);
    lower(&least, difference->changed / CHANGED_FULL);
    lower(&least, unlike->residual / RESIDUAL_FULL);
    lower(&least, unlike->relative / RELATIVE_FULL);
    return least;
}

double gpume_cut_confidence(
    const struct gpume_difference *difference, const struct gpume_usual *usual)
{
    /* Fitted to several hundred cuts of films and made videos, coded in several ways. */
    static const double weights[] = {
        1.65, 3.37, 3.42, 1.63, 2.09, 4.74, 5.35, -2.63, -2.38, -11.83};
    const struct gpume_unlike *unlike = &difference->unlike;
    const double evidence[] = {
        gpume_saturate(unlike->relative, 0.3),
        unlike->share,
        difference->cost,
        difference->changed,
        gpume_saturate(unlike->relative, 3 * usual->relative + 0.05),
        gpume_saturate(unlike->structure, usual->structure + 0.05),
        weakest(difference),
        usual->cost,
        gpume_saturate(usual->plain, 10),
        1,
    };
    const double score = gpume_score(weights, evidence, sizeof(evidence) / sizeof(evidence[0]));
    const double excess = unlike->residual - usual->quiet;
    return gpume_confidence(score) * gpume_limit_to_one(unlike->structure / STRUCTURE_LEAST) *
           difference->other *
           (excess < EXCESS * usual->quiet ? gpume_limit_to_one(excess / (EXCESS * usual->quiet))
                                           : 1);
}
