/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plugin with a libgpume of an older API version, which this program plays by its own
 * gpume_api_version: every function of the plugin fails with one line that names both versions.
 * Plays VapourSynth, too, so it needs no more than its header. Usage: plugin_version PLUGIN.so
 */
#include "gpume/gpume.h"

#include <VapourSynth4.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define OTHER (GPUME_API_VERSION - 1)

static int functions, failures;

uint32_t gpume_api_version(void)
{
    return OTHER;
}

static VSNode *VS_CC get_node(const VSMap *map, const char *key, int index, int *error)
{
    static char node;
    (void)map, (void)key, (void)index, (void)error;
    return (VSNode *)&node;
}

static const VSVideoInfo *VS_CC video_info(VSNode *node)
{
    static const VSVideoInfo info = {.format = {cfGray, stInteger, 8, 1, 0, 0, 1},
        .fpsNum = 25,
        .fpsDen = 1,
        .width = 64,
        .height = 48,
        .numFrames = 3};
    (void)node;
    return &info;
}

static const VSFrame *VS_CC no_frame(int n, VSNode *node, char *text, int bytes)
{
    (void)n, (void)node;
    snprintf(text, (size_t)bytes, "no frames");
    return NULL;
}

/* No argument is given. */
static int64_t VS_CC get_int(const VSMap *map, const char *key, int index, int *error)
{
    (void)map, (void)key, (void)index;
    *error = peUnset;
    return 0;
}

static double VS_CC get_float(const VSMap *map, const char *key, int index, int *error)
{
    return (double)get_int(map, key, index, error);
}

static const char *VS_CC get_data(const VSMap *map, const char *key, int index, int *error)
{
    get_int(map, key, index, error);
    return NULL;
}

static int VS_CC count_elements(const VSMap *map, const char *key)
{
    (void)map, (void)key;
    return -1;
}

static void VS_CC free_node(VSNode *node)
{
    (void)node;
}

static void VS_CC free_frame(const VSFrame *frame)
{
    (void)frame;
}

static void VS_CC set_error(VSMap *map, const char *text)
{
    snprintf((char *)map, 512, "%s", text);
}

static int VS_CC configure(const char *identifier, const char *namespace, const char *name,
    int version, int api, int flags, VSPlugin *plugin)
{
    (void)identifier, (void)namespace, (void)name, (void)version, (void)api, (void)flags;
    (void)plugin;
    return 1;
}

static int VS_CC call_function(const char *name, const char *arguments, const char *returns,
    VSPublicFunction create, void *data, VSPlugin *plugin)
{
    static const VSAPI vsapi = {.mapGetNode = get_node,
        .getVideoInfo = video_info,
        .mapGetInt = get_int,
        .mapGetFloat = get_float,
        .mapGetData = get_data,
        .mapNumElements = count_elements,
        .getFrame = no_frame,
        .freeNode = free_node,
        .freeFrame = free_frame,
        .mapSetError = set_error};
    char said[512] = "", wanted[512];
    (void)arguments, (void)returns, (void)plugin;
    create(NULL, (VSMap *)said, data, NULL, &vsapi);
    snprintf(wanted, sizeof(wanted),
        "%s: libgpume has API version %d, and this plugin needs %d or later; install both of one "
        "version of gpume",
        name, OTHER, GPUME_API_VERSION);
    functions++;
    if (strcmp(said, wanted) != 0) {
        printf("said: %s\nnot:  %s\n", said, wanted);
        failures++;
    }
    return 1;
}

int main(int argc, char **argv)
{
    static const VSPLUGINAPI plugin_api = {
        .configPlugin = configure, .registerFunction = call_function};
    void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *found = plugin ? dlsym(plugin, "VapourSynthPluginInit2") : NULL;
    VSInitPlugin init;
    if (!found) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: plugin_version PLUGIN.so");
        return 1;
    }
    memcpy(&init, &found, sizeof(init));
    init(NULL, &plugin_api);
    return functions == 0 || failures > 0;
}
