/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/parallel.h"

#include <pthread.h>
#include <stdbool.h>

#define THREADS_MAX 64u

struct call {
    void (*fn)(void *opaque, uint32_t index);
    void *opaque;
    uint32_t index;
    pthread_t thread;
    bool started;
};

static void *call_main(void *opaque)
{
    const struct call *call = opaque;
    call->fn(call->opaque, call->index);
    return NULL;
}

void gpume_parallel(void (*fn)(void *opaque, uint32_t index), void *opaque, uint32_t count)
{
    struct call calls[THREADS_MAX];
    const uint32_t apart = count < THREADS_MAX ? count : THREADS_MAX;
    for (uint32_t i = 1; i < apart; i++) {
        calls[i] = (struct call){.fn = fn, .opaque = opaque, .index = i};
        calls[i].started = pthread_create(&calls[i].thread, NULL, call_main, &calls[i]) == 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || i >= apart || !calls[i].started) {
            fn(opaque, i);
        }
    }
    for (uint32_t i = 1; i < apart; i++) {
        if (calls[i].started) {
            pthread_join(calls[i].thread, NULL);
        }
    }
}
