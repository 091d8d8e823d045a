/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/page.h"

#include "base/status.h"
#include "console.h"
#include "files/out.h"
#include "files/text_file.h"
#include "names.h"

enum gpume_exit gpume_compare_page_check(
    const char *path, const char *const inputs[2], bool overwrite)
{
    if (!path) {
        return GPUME_EXIT_DONE;
    }
    if (gpume_name_is_stdout(path)) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "--report %s: the result of the comparison goes to standard output; name a file", path);
    }
    if (gpume_text_check_named(path, "comparison", ".html", &gpume_console) != GPUME_OK ||
        gpume_name_is_input(inputs, 2, path)) {
        return GPUME_EXIT_USAGE;
    }
    return gpume_text_exists(path, false) && !overwrite
               ? gpume_refuse(GPUME_EXIT_USAGE,
                     "%s: exists already; replace it with -y or choose another name", path)
               : GPUME_EXIT_DONE;
}

int gpume_compare_page_open(struct gpume_compare_page *page, const char *path, bool overwrite)
{
    page->path = path;
    return path ? gpume_out_open(&page->out, path, overwrite, &gpume_console) : GPUME_OK;
}

/* Blocks may leave edges of the picture out. */
static int add_picture(
    struct gpume_compare_page *page, const struct gpume_plane *rgb, struct gpume_bytes *picture)
{
    int status = page->pictures ? GPUME_OK
                                : gpume_report_small_open(&page->pictures, page->path, rgb->width,
                                      rgb->height, &gpume_console);
    page->compared.width = rgb->width;
    page->compared.height = rgb->height;
    return status ? status : gpume_report_small_encode(page->pictures, rgb, picture);
}

int gpume_compare_page_add(struct gpume_compare_page *page,
    const struct gpume_compared_field *field, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_plane *rgb)
{
    const struct gpume_compared *blocks = &field->blocks;
    struct gpume_report_compared_pair pair = {
        .frame = field->frame,
        .refs = {field->ref[0], field->ref[1]},
        .has_refs = field->has_refs,
        .blocks = blocks->blocks,
        .differ = blocks->blocks - blocks->both_equal,
        .cheaper = {blocks->cheaper[0], blocks->cheaper[1]},
    };
    if (!page->out) {
        return GPUME_OK;
    }
    int status = rgb ? add_picture(page, rgb, &pair.picture) : GPUME_OK;
    if (status == GPUME_OK && gpume_report_compared_add(&page->compared, &pair, a, b) != GPUME_OK) {
        status = gpume_log_nomem(&gpume_console, page->path);
    }
    gpume_bytes_finish(&pair.picture);
    return status;
}

int gpume_compare_page_write(
    struct gpume_compare_page *page, const struct gpume_comparison *comparison)
{
    const struct gpume_compared *blocks = &comparison->blocks;
    struct gpume_report_compared_setting settings[2 * GPUME_READ_SETTINGS_MAX];
    struct gpume_report_compared_totals totals = {
        .names = {comparison->names[0], comparison->names[1]},
        .has_costs = blocks->has_costs,
        .blocks = blocks->blocks,
        .vectors_equal = blocks->vectors_equal,
        .cheaper = {blocks->cheaper[0], blocks->cheaper[1]},
        .costs = {blocks->costs[0], blocks->costs[1]},
        .only = {comparison->only[0], comparison->only[1]},
        .settings = settings,
    };
    const char *name, *values[2];
    uint32_t at = 0;
    if (!page->out) {
        return GPUME_OK;
    }
    while (totals.setting_count < sizeof(settings) / sizeof(settings[0]) &&
           gpume_comparison_setting(comparison, &at, &name, values)) {
        settings[totals.setting_count++] =
            (struct gpume_report_compared_setting){.name = name, .values = {values[0], values[1]}};
    }
    if (page->pictures) {
        totals.picture = gpume_report_small_size(page->pictures);
    }
    gpume_report_compared_write(&page->compared, &totals, page->out);
    return gpume_out_finish(page->out);
}

void gpume_compare_page_close(struct gpume_compare_page *page)
{
    gpume_out_close(&page->out);
    gpume_report_small_close(&page->pictures);
    gpume_report_compared_finish(&page->compared);
}
