/* SPDX-License-Identifier: BSD-2-Clause */
#include "resume/sums.h"

#include <stdio.h>

static void list_sum(struct gpume_run_sums *sums, const char *prefix, const char *key,
    const char *suffix, uint64_t *value, double *real)
{
    struct gpume_run_sum *sum = &sums->all[sums->count++];
    snprintf(sum->key, sizeof sum->key, "%s%s%s", prefix, key, suffix);
    sum->value = value;
    sum->real = real;
}

static void list_total(
    struct gpume_run_sums *sums, const char *prefix, const char *key, struct gpume_total *total)
{
    list_sum(sums, prefix, key, "", &total->low, NULL);
    list_sum(sums, prefix, key, "_high", &total->high, NULL);
}

static void list_psnr(
    struct gpume_run_sums *sums, const char *prefix, const char *key, struct gpume_psnr_sum *psnr)
{
    list_sum(sums, prefix, key, "_finite", &psnr->finite, NULL);
    list_sum(sums, prefix, key, "_bits", NULL, &psnr->sum);
}

static void list_statistics(
    struct gpume_run_sums *sums, const char *prefix, struct gpume_statistics *statistics)
{
    list_sum(sums, prefix, "fields", "", &statistics->fields, NULL);
    list_total(sums, prefix, "zero", &statistics->zero);
    list_total(sums, prefix, "sad_before", &statistics->sad_before);
    list_total(sums, prefix, "sad_after", &statistics->sad_after);
    list_total(sums, prefix, "sse_before", &statistics->sse_before);
    list_total(sums, prefix, "sse_after", &statistics->sse_after);
    list_psnr(sums, prefix, "psnr_before", &statistics->psnr_before);
    list_psnr(sums, prefix, "psnr_after", &statistics->psnr_after);
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
        {"upload_ns", gpume_summary_stage_ns(&s->stats, "upload")},
        {"match_ns", gpume_summary_stage_ns(&s->stats, "match")},
        {"reduce_ns", gpume_summary_stage_ns(&s->stats, "reduce")},
        {"rank_ns", gpume_summary_stage_ns(&s->stats, "rank")},
        {"readback_ns", gpume_summary_stage_ns(&s->stats, "readback")},
        {"busy_ns", &s->stats.busy_ns},
        {"decode_ns", &s->decode_ns},
        {"write_ns", &s->write_ns},
        {"whole_ns", &s->whole_ns},
    };
    sums->count = 0;
    list_statistics(sums, "", &s->all);
    list_statistics(sums, "past_", &s->directions[0]);
    list_statistics(sums, "future_", &s->directions[1]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        list_sum(sums, "", others[i].key, "", others[i].value, NULL);
    }
}
