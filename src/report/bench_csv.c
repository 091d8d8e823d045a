/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/bench_rows.h"

#include "base/out.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

static const char header[] =
    "device,driver,commit,size,bits,content,block,window,engine,search,elimination,threads,"
    "us_per_field,px_per_s,speedup_core,speedup_mestimate,wall_us_per_field,share_of_ceiling,"
    "rows\n";

static void put(struct gpume_out *out, const char *text)
{
    (void)gpume_out_write(out, text, strlen(text));
}

/* Quoted where it has to be. */
static void put_text(struct gpume_out *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    put(out, quoted ? "\"" : "");
    for (; *text; text++) {
        (void)gpume_out_write(out, text, 1);
        if (*text == '"') {
            put(out, "\"");
        }
    }
    put(out, quoted ? "\"," : ",");
}

static void put_real(struct gpume_out *out, double value, int decimals)
{
    char text[64] = "";
    if (value > 0) {
        snprintf(text, sizeof(text), "%.*f", decimals, value);
    }
    put_text(out, text);
}

static void put_row(
    struct gpume_out *out, const struct gpume_bench *bench, const struct gpume_bench_row *row)
{
    const struct gpume_params *params = &bench->params;
    char text[96];
    put_text(out, row->device);
    put_text(out, row->driver);
    put_text(out, bench->commit);
    snprintf(text, sizeof(text), "%ux%u,%u,", params->width, params->height, params->bits);
    put(out, text);
    put_text(out, row->content);
    snprintf(text, sizeof(text), "%u,%ux%u,", params->block, params->window_x, params->window_y);
    put(out, text);
    put_text(out, row->engine);
    put_text(out, row->search);
    put_text(out, row->elimination ? "on" : "off");
    put_real(out, row->threads, 0);
    put_real(out, row->search_us, 3);
    put_real(out, row->differences_per_second, 0);
    put_real(out, row->over_core, 6);
    put_real(out, row->over_mestimate, 6);
    put_real(out, row->wall_us, 3);
    put_real(out, row->ceiling > 0 ? row->differences_per_second / row->ceiling : 0, 6);
    snprintf(text, sizeof(text), "%u\n", row->rows);
    put(out, text);
}

int gpume_bench_write_csv(const struct gpume_bench *bench, const struct gpume_log *log)
{
    int status;
    struct gpume_out *out = NULL;
    GPUME_TRY(gpume_out_open(&out, "-", true, log));
    put(out, header);
    for (uint32_t i = 0; i < bench->count; i++) {
        put_row(out, bench, &bench->rows[i]);
    }
    GPUME_TRY(gpume_out_finish(out));
fail:
    gpume_out_close(&out);
    return status;
}
