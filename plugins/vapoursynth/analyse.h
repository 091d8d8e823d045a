/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume.Analyse: motion fields for MVTools, in place of mv.Analyse. README.md describes it. */
#ifndef GPUME_PLUGINS_VAPOURSYNTH_ANALYSE_H
#define GPUME_PLUGINS_VAPOURSYNTH_ANALYSE_H

#include <VapourSynth4.h>

#define GPUME_ANALYSE_ARGUMENTS                                                                    \
    "super:vnode;blksize:int:opt;blksizev:int:opt;overlap:int:opt;overlapv:int:opt;isb:int:opt;"   \
    "delta:int:opt;window:int[]:opt;price:float:opt;predictor:data:opt;devices:data:opt;"          \
    "threads:int:opt;"

void VS_CC gpume_analyse_create(
    const VSMap *in, VSMap *out, void *user, VSCore *core, const VSAPI *vsapi);

#endif
