/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of `gpume compare --report`. Without a path, NULL, all functions do nothing. */
#ifndef GPUME_CLI_COMPARE_PAGE_H
#define GPUME_CLI_COMPARE_PAGE_H

#include "compare/comparison.h"
#include "exit.h"
#include "report/compared.h"

/* Starts as zero. */
struct gpume_compare_page {
    const char *path;
    struct gpume_out *out;
    struct gpume_report_small *pictures; /* NULL: no picture yet */
    struct gpume_report_compared compared;
};

/* Before any work. */
enum gpume_exit gpume_compare_page_check(
    const char *path, const char *const inputs[2], bool overwrite);

int gpume_compare_page_open(struct gpume_compare_page *page, const char *path, bool overwrite);

/* field: what the comparison of a and b gave. rgb: the target frame, of one size throughout; NULL:
 * unknown. */
int gpume_compare_page_add(struct gpume_compare_page *page,
    const struct gpume_compared_field *field, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_plane *rgb);

int gpume_compare_page_write(
    struct gpume_compare_page *page, const struct gpume_comparison *comparison);

void gpume_compare_page_close(struct gpume_compare_page *page);

#endif
