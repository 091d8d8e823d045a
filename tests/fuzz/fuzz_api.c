/* SPDX-License-Identifier: BSD-2-Clause */
/* The public API: the first byte selects one of its halves. */
#include "fuzz_api.h"

/* Inputs may request arrays larger than memory. The sanitizers' libraries look up these functions.
 * */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

int FUZZ_TARGET(const uint8_t *data, size_t bytes)
{
    struct fuzz_bytes from = {data, bytes};
    const uint8_t kind = fuzz_u8(&from);
    if (kind % 2 == 0) {
        fuzz_motion(&from, kind & 2);
    } else {
        fuzz_compute(&from);
    }
    return 0;
}
