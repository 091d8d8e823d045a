/* SPDX-License-Identifier: BSD-2-Clause */
#include "cache_folder.h"

#include <stdio.h>
#include <stdlib.h>

const char *gpume_cache_folder(void)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"XDG_CACHE_HOME", "gpume"}, {"HOME", ".cache/gpume"}};
    static char folder[4096];
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        const char *root = getenv(places[i].variable);
        if (root && root[0] == '/') { /* the specification ignores others */
            const int length = snprintf(folder, sizeof(folder), "%s/%s", root, places[i].below);
            return length > 0 && (size_t)length < sizeof(folder) ? folder : NULL;
        }
    }
    return NULL;
}
