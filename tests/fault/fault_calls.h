/* SPDX-License-Identifier: BSD-2-Clause */
/* How functions are put before those of a library. For the files of fault_calls. */
#ifndef GPUME_TESTS_FAULT_CALLS_H
#define GPUME_TESTS_FAULT_CALLS_H

#include <stdbool.h>

#define SHOWN __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* The function of that name behind this library. */
void *fault_next(const char *name);

/* Does this call fail? Sets errno if so. kind: see fault.h. */
bool fault_call_falls(const void *caller, const char *kind, const char *function, int error);

/* `real` is the real function, found once; threads that race find the same. */
#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real) {                                                                                   \
        *(void **)&real = fault_next(#name);                                                       \
    }

/* A whole function that does nothing but fail or go on; the last arguments are types. */
#define MAY_FAIL(type, name, kind, error, failure, parameters, arguments, ...)                     \
    SHOWN type name parameters                                                                     \
    {                                                                                              \
        REAL(type, name, __VA_ARGS__)                                                              \
        return fault_call_falls(CALLER, kind, #name, error) ? failure : real arguments;            \
    }

#endif
