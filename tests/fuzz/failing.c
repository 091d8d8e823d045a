/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Around a fuzz target: memory runs out. Each input is used once as it is, which counts the
 * allocations of gpume's code, and then again with one of them failing, or with that and all later
 * ones. The last two bytes of the input choose which; replay.c has four of them fail, one after the
 * other. Nothing may crash, hang or leak, and no result may be wrong. gpume's code is linked with
 * the option --wrap, so the calls that it makes come here first; the C library's own do not.
 */
#include "fuzz.h"

#include <errno.h>
#include <stdatomic.h>

/* Of libFuzzer or replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#ifdef FUZZ_REPLAY
#define PLACES 4u
#else
#define PLACES 1u
#endif

static struct {
    atomic_bool on, starved;
    atomic_uint counted;
    unsigned at; /* 0: none */
    bool onwards;
} plan;

bool fuzz_starved(void)
{
    return atomic_load(&plan.starved);
}

void fuzz_feed(bool always)
{
    atomic_store(&plan.on, !always);
}

static bool falls(void)
{
    if (!atomic_load(&plan.on)) {
        return false;
    }
    const unsigned number = atomic_fetch_add(&plan.counted, 1) + 1;
    const bool chosen = plan.at > 0 && (number == plan.at || (plan.onwards && number > plan.at));
    if (chosen) {
        atomic_store(&plan.starved, true);
        errno = ENOMEM;
    }
    return chosen;
}

/* Defines the function that is called in place of `name`. */
#define MAY_FAIL(type, name, parameters, arguments)                                                \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return falls() ? NULL : __real_##name arguments;                                           \
    }

MAY_FAIL(void *, malloc, (size_t bytes), (bytes))
MAY_FAIL(void *, calloc, (size_t count, size_t bytes), (count, bytes))
MAY_FAIL(void *, realloc, (void *old, size_t bytes), (old, bytes))
MAY_FAIL(char *, strdup, (const char *text), (text))
MAY_FAIL(char *, strndup, (const char *text, size_t bytes), (text, bytes))

static void use(const uint8_t *data, size_t bytes, unsigned at, bool onwards)
{
    plan.at = at;
    plan.onwards = onwards;
    atomic_store(&plan.counted, 0);
    atomic_store(&plan.starved, false);
    atomic_store(&plan.on, true);
    FUZZ_TARGET(data, bytes);
    atomic_store(&plan.on, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    use(data, bytes, 0, false);
    const unsigned count = atomic_load(&plan.counted);
    const unsigned chosen = bytes < 2 ? 0 : data[bytes - 2] * 256u + data[bytes - 1];
    for (unsigned i = 0; i < PLACES && i < count; i++) {
        use(data, bytes, 1 + (chosen / 2 + i * count / PLACES) % count, (chosen + i) % 2);
    }
    return 0;
}
