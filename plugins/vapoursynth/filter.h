/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume.Filter: a clip without its noise. README.md describes it. */
#ifndef GPUME_PLUGINS_VAPOURSYNTH_FILTER_H
#define GPUME_PLUGINS_VAPOURSYNTH_FILTER_H

#include <VapourSynth4.h>

#define GPUME_FILTER_ARGUMENTS                                                                     \
    "clip:vnode;strength:float:opt;noise:float:opt;radius:int:opt;window:int[]:opt;"               \
    "metric:data:opt;despot:int:opt;fields:int:opt;devices:data:opt;threads:int:opt;"              \
    "spatial:float:opt;"

void VS_CC gpume_filter_create(
    const VSMap *in, VSMap *out, void *user, VSCore *core, const VSAPI *vsapi);

#endif
