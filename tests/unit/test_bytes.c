/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bytes: the CPU engine gives the same bytes wherever it runs. Sums of the results of a few
 * searches are compared with those that an x86-64 Linux gave, where other tests compare the same
 * results with independent searches.
 */
#include "base/base.h"
#include "gpume/gpume.h"
#include "harness.h"
#include "logged.h"
#include "synth.h"

#include <inttypes.h>

#define WIDTH 150u
#define HEIGHT 85u
#define FRAMES 5u

static uint64_t sum_of_field(uint64_t sum, const struct gpume_field *field)
{
    for (uint32_t i = 0; i < field->layer_count; i++) {
        const struct gpume_layer *layer = field->layers[i];
        const size_t blocks = (size_t)layer->blocks_x * layer->blocks_y;
        sum = gpume_checksum(sum, layer->vectors, blocks * sizeof(*layer->vectors));
        sum = gpume_checksum(sum, layer->costs, blocks * sizeof(*layer->costs));
        sum = gpume_checksum(sum, layer->ranks, blocks * sizeof(*layer->ranks));
    }
    return sum;
}

/* Of the fields that are there. */
static uint64_t receive(gpume *ctx, uint64_t sum, uint32_t *fields, uint32_t flags)
{
    const struct gpume_field *field = NULL;
    while (gpume_receive(ctx, &field, flags) == GPUME_OK) {
        sum = sum_of_field(sum, field);
        gpume_field_release(&field);
        ++*fields;
    }
    return sum;
}

static void check(const char *name, struct gpume_params *params, uint64_t wanted)
{
    gpume *ctx = NULL;
    uint32_t fields = 0;
    uint64_t sum = GPUME_CHECKSUM_BEGIN;
    params->width = WIDTH;
    params->height = HEIGHT;
    params->backend = GPUME_BACKEND_CPU;
    params->threads = 3;
    params->log = logged_line;
    REQUIRE_EQUAL(gpume_open(&ctx, params), GPUME_OK);
    for (uint32_t i = 0; ctx && i < FRAMES; i++) {
        struct gpume_plane plane = synth_plane(WIDTH, HEIGHT, params->bits);
        synth_fill(&plane, SYNTH_GRAIN, i, 5);
        REQUIRE_EQUAL(gpume_send_plane(ctx, &plane, i), GPUME_OK);
        sum = receive(ctx, sum, &fields, 0);
        free(plane.data);
    }
    REQUIRE_EQUAL(gpume_finish(ctx), GPUME_OK);
    sum = receive(ctx, sum, &fields, GPUME_WAIT);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    REQUIRE(fields >= FRAMES - 1);
    printf("%s: %u fields, %016" PRIx64 "\n", name, fields, sum);
    REQUIRE(sum == wanted);
}

int main(void)
{
    struct gpume_params params;
    gpume_params_default(&params);
    check("8 bits", &params, UINT64_C(0x72422f2f19921bcd));
    gpume_params_default(&params);
    params.bits = 10;
    params.block = 16;
    params.window_x = params.window_y = 24;
    check("10 bits", &params, UINT64_C(0xbc6f0dfe944ef571));
    gpume_params_default(&params);
    params.metric = GPUME_METRIC_SATD;
    params.block = 16;
    params.subpel = 4;
    params.window_x = params.window_y = 6;
    params.direction = GPUME_DIRECTION_BOTH;
    check("SATD, quarter pixels", &params, UINT64_C(0x96ed79b7e1a347db));
    gpume_params_default(&params);
    params.bits = 12;
    params.metric = GPUME_METRIC_SSD;
    params.subpel = 2;
    params.block = 16;
    params.window_x = params.window_y = 5;
    check("SSD, half pixels", &params, UINT64_C(0x91b1e4bbd4e96659));
    return harness_verdict();
}
