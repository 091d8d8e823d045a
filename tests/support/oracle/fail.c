/* SPDX-License-Identifier: BSD-2-Clause */
#include "oracle.h"

#include <stdarg.h>
#include <stdlib.h>

void fail(int status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("search_oracle: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(status);
}

void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fail(EXIT_FAILED, "out of memory");
    }
    return memory;
}
