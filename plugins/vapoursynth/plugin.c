/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry of the VapourSynth plugin. README.md describes its functions. */
#include "analyse.h"
#include "filter.h"
#include "vectors.h"

VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin *plugin, const VSPLUGINAPI *vspapi);

VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin *plugin, const VSPLUGINAPI *vspapi)
{
    vspapi->configPlugin("org.gpume.vapoursynth", "gpume", "Exact block motion estimation",
        VS_MAKE_VERSION(GPUME_PLUGIN_MAJOR, GPUME_PLUGIN_MINOR), VAPOURSYNTH_API_VERSION, 0,
        plugin);
    vspapi->registerFunction(
        "Vectors", GPUME_VECTORS_ARGUMENTS, "clip:vnode;", gpume_vectors_create, NULL, plugin);
    vspapi->registerFunction(
        "Analyse", GPUME_ANALYSE_ARGUMENTS, "clip:vnode;", gpume_analyse_create, NULL, plugin);
    vspapi->registerFunction(
        "Filter", GPUME_FILTER_ARGUMENTS, "clip:vnode;", gpume_filter_create, NULL, plugin);
}
