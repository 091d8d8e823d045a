/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by fault_calls (for LD_PRELOAD) and fault_layer (a Vulkan layer). Both count the calls
 * that could fail, make one of them fail, or that one and all later ones, and write a report at the
 * end of the process. Environment variables control them:
 *
 *     GPUME_FAULT_AT=N: call number N of the C library or libav, from 1, fails.
 *         N+: that and all later ones. 0 or unset: none.
 *
 *     GPUME_FAULT_KIND=W: only calls of one kind are counted.
 *         memory, thread, open, read, write, name or libav. Unset: all.
 *
 *     GPUME_FAULT_SIGNAL=S: the call is made, after the process has got this signal.
 *         9 kills it before. With this variable or the next, unlink belongs to the kind name, too.
 *
 *     GPUME_FAULT_TERM_AT=N: the process gets SIGTERM before counted call N.
 *
 *     GPUME_FAULT_CLOCK_S=N: whenever gpume reads the clock, N more seconds have passed.
 *         So it does periodic work as often as possible.
 *
 *     GPUME_FAULT_WRITE_MS=N: each write takes N milliseconds longer.
 *
 *     GPUME_FAULT_LIBAV_THREADS=1: libav cannot start threads.
 *
 *     GPUME_FAULT_VK_AT=N: as GPUME_FAULT_AT, for Vulkan calls.
 *
 *     GPUME_FAULT_VK_KIND=F: one function, such as vkQueueSubmit. Unset: all.
 *
 *     GPUME_FAULT_VK_RESULT=R: what they return.
 *         memory (of the device; the default), host or lost. lost: functions that may return it are
 *         counted, and all after the failing one return it, too.
 *
 *     GPUME_FAULT_VK_TYPE=discrete: every device says that it is a GPU, also a software driver's.
 *
 *     GPUME_FAULT_VK_SORT=1: the kernels of the sort compare keys with a bit turned over.
 *
 *     GPUME_FAULT_VK_ORDER=1: barriers between kernels are left out.
 *
 *     GPUME_FAULT_REPORT=F: where the report goes.
 *         "failed FUNCTION", "left WHAT" for everything that was created but never freed, and
 *         finally "counted N" and "counted_vk N".
 */
#ifndef GPUME_TESTS_FAULT_H
#define GPUME_TESTS_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct fault_plan {
    uint64_t at; /* 0: none */
    bool onwards;
    const char *kind; /* NULL: all */
    atomic_ullong counted;
    const char *_Atomic failed; /* the first function that failed; NULL: none */
};

/* at, kind: the values of the environment variables. */
static inline void fault_plan_init(struct fault_plan *plan, const char *at, const char *kind)
{
    char *end = NULL;
    plan->at = at ? strtoull(at, &end, 10) : 0;
    plan->onwards = end && *end == '+';
    plan->kind = kind;
    atomic_store(&plan->counted, 0);
    atomic_store(&plan->failed, NULL);
}

/* Counts this call. True: it has to fail. */
static inline bool fault_falls(struct fault_plan *plan, const char *kind, const char *function)
{
    if (plan->kind && strcmp(plan->kind, kind) != 0) {
        return false;
    }
    const uint64_t number = atomic_fetch_add(&plan->counted, 1) + 1;
    if (plan->at == 0 || number < plan->at || (number > plan->at && !plan->onwards)) {
        return false;
    }
    const char *none = NULL;
    (void)atomic_compare_exchange_strong(&plan->failed, &none, function);
    return true;
}

#endif
