/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/run_sums.h"

#include <stdio.h>

static void list_sum(
    struct gpume_run_sums *sums, const char *prefix, const char *key, uint64_t *value, double *real)
{
    struct gpume_run_sum *sum = &sums->all[sums->count++];
    snprintf(sum->key, sizeof sum->key, "%s%s", prefix, key);
    sum->value = value;
    sum->real = real;
}

static void list_figures(struct gpume_run_sums *sums, const char *prefix, struct gpume_figures *f)
{
    list_sum(sums, prefix, "fields", &f->fields, NULL);
    list_sum(sums, prefix, "zero", &f->zero.low, NULL);
    list_sum(sums, prefix, "zero_high", &f->zero.high, NULL);
    list_sum(sums, prefix, "sad_before", &f->sad_before.low, NULL);
    list_sum(sums, prefix, "sad_before_high", &f->sad_before.high, NULL);
    list_sum(sums, prefix, "sad_after", &f->sad_after.low, NULL);
    list_sum(sums, prefix, "sad_after_high", &f->sad_after.high, NULL);
    list_sum(sums, prefix, "sse_before", &f->sse_before.low, NULL);
    list_sum(sums, prefix, "sse_before_high", &f->sse_before.high, NULL);
    list_sum(sums, prefix, "sse_after", &f->sse_after.low, NULL);
    list_sum(sums, prefix, "sse_after_high", &f->sse_after.high, NULL);
    list_sum(sums, prefix, "psnr_before_finite", &f->psnr_before.finite, NULL);
    list_sum(sums, prefix, "psnr_after_finite", &f->psnr_after.finite, NULL);
    list_sum(sums, prefix, "psnr_before_bits", NULL, &f->psnr_before.sum);
    list_sum(sums, prefix, "psnr_after_bits", NULL, &f->psnr_after.sum);
}

void gpume_run_sums_list(struct gpume_summary *s, struct gpume_run_sums *sums)
{
    const struct {
        const char *key;
        uint64_t *value;
    } others[] = {
        {"targets", &s->targets},
        {"first_field", &s->first_field},
        {"last_field", &s->last_field},
        {"checked", &s->checked},
        {"matched", &s->matched},
        {"candidates", &s->stats.candidates},
        {"past_blocks", &s->stats.past_blocks},
        {"past_parts", &s->stats.past_parts},
        {"upload_ns", &s->stats.upload_ns},
        {"match_ns", &s->stats.match_ns},
        {"reduce_ns", &s->stats.reduce_ns},
        {"rank_ns", &s->stats.rank_ns},
        {"readback_ns", &s->stats.readback_ns},
        {"busy_ns", &s->stats.busy_ns},
        {"decode_ns", &s->decode_ns},
        {"write_ns", &s->write_ns},
        {"whole_ns", &s->whole_ns},
    };
    sums->count = 0;
    list_figures(sums, "", &s->all);
    list_figures(sums, "past_", &s->ways[0]);
    list_figures(sums, "future_", &s->ways[1]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        list_sum(sums, "", others[i].key, others[i].value, NULL);
    }
}
