/* SPDX-License-Identifier: BSD-2-Clause */
/* Macros to interpose library functions, for the files of fault_calls. */
#ifndef GPUME_TESTS_FAULT_CALLS_H
#define GPUME_TESTS_FAULT_CALLS_H

#include <stdbool.h>

#define SHOWN __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* The next function of that name after this library's. */
void *fault_next(const char *name);

/* True, with errno set: this call has to fail. kind: see fault.h. */
bool fault_call_falls(const void *caller, const char *kind, const char *function, int error);

/* `real` is the real function, looked up once; racing threads find the same. */
#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real) {                                                                                   \
        *(void **)&real = fault_next(#name);                                                       \
    }

/* Defines a function that either fails or calls the real one; the last arguments are types. */
#define MAY_FAIL(type, name, kind, error, failure, parameters, arguments, ...)                     \
    SHOWN type name parameters                                                                     \
    {                                                                                              \
        REAL(type, name, __VA_ARGS__)                                                              \
        return fault_call_falls(CALLER, kind, #name, error) ? failure : real arguments;            \
    }

#endif
