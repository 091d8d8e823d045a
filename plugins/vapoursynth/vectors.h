/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume.Vectors: motion fields as properties of frames. README.md describes it. */
#ifndef GPUME_PLUGINS_VAPOURSYNTH_VECTORS_H
#define GPUME_PLUGINS_VAPOURSYNTH_VECTORS_H

#include <VapourSynth4.h>

#define GPUME_VECTORS_ARGUMENTS                                                                    \
    "clip:vnode;block:int[]:opt;window:int[]:opt;delta:int:opt;backward:int:opt;"                  \
    "subpel:int:opt;metric:data:opt;edge:data:opt;price:float:opt;predictor:data:opt;"             \
    "devices:data:opt;threads:int:opt;"

void VS_CC gpume_vectors_create(
    const VSMap *in, VSMap *out, void *user, VSCore *core, const VSAPI *vsapi);

#endif
