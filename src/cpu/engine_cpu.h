/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU engine with a given search, for --check and for tests. */
#ifndef GPUME_CPU_ENGINE_CPU_H
#define GPUME_CPU_ENGINE_CPU_H

#include "cpu/search/search.h"
#include "frame/engine.h"

/* As gpume_engine_cpu.open. The search must be available on this processor. */
int gpume_engine_cpu_open(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, struct gpume_plan *plan, const struct gpume_search *search);

#endif
