/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/own_params.h"

#include <stdlib.h>
#include <string.h>

static int copy_prefilter(struct gpume_own_params *own, const struct gpume_prefilter *prefilter)
{
    own->prefilter = *prefilter;
    own->params.prefilter = &own->prefilter;
    if (prefilter->kind != GPUME_PREFILTER_KERNEL || !prefilter->weights ||
        prefilter->width > GPUME_PREFILTER_SIDE_MAX ||
        prefilter->height > GPUME_PREFILTER_SIDE_MAX) { /* the first engine refuses it */
        return GPUME_OK;
    }
    const size_t bytes = (size_t)prefilter->width * prefilter->height * sizeof(double);
    own->weights = malloc(bytes > 0 ? bytes : 1);
    if (!own->weights) {
        return GPUME_NOMEM;
    }
    memcpy(own->weights, prefilter->weights, bytes);
    own->prefilter.weights = own->weights;
    return GPUME_OK;
}

int gpume_own_params_init(struct gpume_own_params *own, const struct gpume_params *params)
{
    own->params = *params;
    const char **const texts[GPUME_OWN_TEXTS] = {
        &own->params.search, &own->params.cache_dir, &own->params.device, &own->params.devices};
    for (uint32_t i = 0; i < GPUME_OWN_TEXTS; i++) {
        if (*texts[i] && !(own->texts[i] = strdup(*texts[i]))) {
            return GPUME_NOMEM;
        }
        *texts[i] = own->texts[i];
    }
    return params->prefilter ? copy_prefilter(own, params->prefilter) : GPUME_OK;
}

void gpume_own_params_finish(struct gpume_own_params *own)
{
    free(own->weights);
    for (uint32_t i = 0; i < GPUME_OWN_TEXTS; i++) {
        free(own->texts[i]);
    }
    *own = (struct gpume_own_params){0};
}
