/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of gpume methods: one file without scripts. Main thread only. */
#ifndef GPUME_CLI_METHODS_PAGE_H
#define GPUME_CLI_METHODS_PAGE_H

#include "files/out.h"
#include "methods/tally.h"

struct gpume_methods_page {
    const char *input, *label; /* label: the page's name, for messages */
    uint32_t window;
    /* Of all searches: the exact one, methods, and none at last. */
    size_t count;
    const char *const *names;
    const struct gpume_tally *tallies;
    const struct gpume_worst *worst;
};

/* GPUME_OK, or a status after one line. */
int gpume_methods_page_write(struct gpume_out *out, const struct gpume_methods_page *page);

#endif
