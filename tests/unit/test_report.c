/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a report keeps of a run: which fields get pictures, packed numbers, scene cuts, histogram.
 */
#include "harness.h"
#include "report/bytes.h"
#include "report/report_figures.h"
#include "report/report_picks.h"

#include <stdlib.h>
#include <string.h>

#define SIDE 8u

static uint8_t samples[SIDE * SIDE];
static const struct gpume_vector vectors[1];
static const uint32_t costs[1], ranks[1];

static struct gpume_run make_run(uint64_t expected)
{
    struct gpume_run run = {.expected = expected};
    gpume_params_default(&run.params);
    run.params.width = SIDE;
    run.params.height = SIDE;
    return run;
}

static struct gpume_field make_field(uint64_t frame, uint64_t sad_after)
{
    const struct gpume_plane plane = {samples, SIDE, SIDE, SIDE, 8};
    return (struct gpume_field){
        .frame = frame,
        .blocks_x = 1,
        .blocks_y = 1,
        .vectors = vectors,
        .costs = costs,
        .ranks = ranks,
        .sums = {.sad_before = sad_after, .sad_after = sad_after, .sse_after = sad_after},
        .predicted = plane,
        .target = plane,
        .reference = plane,
    };
}

struct found {
    unsigned sets;
    bool first, worst;
    uint64_t gap; /* the largest between two fields with pictures, or to an end */
};

static void note(struct found *found, const struct gpume_report_set *set, uint64_t worst)
{
    found->sets += set->full;
    found->first = found->first || (set->full && set->frame == 0);
    found->worst = found->worst || (set->full && set->frame == worst);
}

/* A run of that length, its worst field somewhere. */
static struct found pick(unsigned fields, uint32_t pictures, uint64_t expected, uint64_t worst)
{
    struct gpume_report_picks picks;
    struct found found = {0};
    const struct gpume_run run = make_run(expected);
    REQUIRE_EQUAL(gpume_report_picks_init(&picks, "test", &run, pictures, UINT64_MAX), GPUME_OK);
    for (unsigned i = 0; i < fields; i++) {
        const struct gpume_field field = make_field(i, i == worst ? 1000 : (i * 37u) % 101);
        REQUIRE_EQUAL(gpume_report_picks_add(&picks, &field, false), GPUME_OK);
    }
    REQUIRE_EQUAL(gpume_report_picks_complete(&picks, UINT64_MAX), GPUME_OK);
    uint64_t last = 0;
    for (size_t i = 0; i < picks.count; i++) {
        const uint64_t frame = picks.segments[i].first.frame;
        note(&found, &picks.segments[i].first, worst);
        note(&found, &picks.segments[i].worst, worst);
        found.gap = frame - last > found.gap ? frame - last : found.gap;
        last = frame;
    }
    found.gap = fields - last > found.gap ? fields - last : found.gap;
    gpume_report_picks_finish(&picks);
    return found;
}

static void test_picks(void)
{
    for (unsigned fields = 1; fields < 90; fields += fields < 20 ? 1 : 7) {
        for (uint32_t pictures = 1; pictures < 12; pictures++) {
            /* Known, unknown, too short and too long. */
            const uint64_t expected[] = {fields, 0, fields / 3 + 1, 3 * fields};
            for (size_t i = 0; i < 4; i++) {
                const uint64_t worst = (fields * 5u / 7) % fields;
                const struct found found = pick(fields, pictures, expected[i], worst);
                REQUIRE(found.sets >= 1 && found.sets <= pictures && found.sets <= fields);
                REQUIRE(found.first);
                REQUIRE(found.worst || pictures == 1);
                if (expected[i] <= fields) {
                    /* Segments of twice their least length at most, or all of the run. */
                    const uint64_t segments = pictures > 1 ? pictures / 2 : 1;
                    REQUIRE(found.gap <= 2 * (fields / segments + 1));
                }
            }
        }
    }
}

static void test_room(void)
{
    struct gpume_report_picks picks;
    const struct gpume_run run = make_run(0);
    REQUIRE_EQUAL(gpume_report_picks_init(&picks, "test", &run, 1000, 4000), GPUME_OK);
    for (unsigned i = 0; i < 200; i++) {
        const struct gpume_field field = make_field(i, i);
        REQUIRE_EQUAL(gpume_report_picks_add(&picks, &field, i == 77), GPUME_OK);
    }
    for (uint64_t room = 4000; room > 0; room /= 2) {
        uint64_t bytes = 0;
        bool cut = false;
        REQUIRE_EQUAL(gpume_report_picks_complete(&picks, room), GPUME_OK);
        for (size_t i = 0; i < picks.count; i++) {
            bytes += gpume_report_set_bytes(&picks.segments[i].first) +
                     gpume_report_set_bytes(&picks.segments[i].worst);
            cut = cut || (picks.segments[i].worst.full && picks.segments[i].worst.frame == 77);
        }
        REQUIRE(bytes <= room);
        REQUIRE(cut || room < 4000);
    }
    gpume_report_picks_finish(&picks);
}

static void test_numbers(void)
{
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    static const size_t lengths[] = {1, 1, 1, 2, 2, 3, 5, 10};
    struct gpume_bytes bytes = {0};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        gpume_bytes_clear(&bytes);
        gpume_bytes_number(&bytes, values[i]);
        uint64_t value = 0;
        for (size_t k = 0; k < bytes.count; k++) {
            value |= (uint64_t)(bytes.data[k] & 0x7f) << 7 * k;
        }
        REQUIRE_EQUAL(bytes.count, lengths[i]);
        REQUIRE(value == values[i]);
    }
    gpume_bytes_clear(&bytes);
    for (int value = -2; value <= 2; value++) {
        gpume_bytes_signed(&bytes, value);
    }
    REQUIRE(bytes.count == 5 && memcmp(bytes.data, "\3\1\0\2\4", 5) == 0);
    gpume_bytes_clear(&bytes);
    gpume_bytes_signed(&bytes, INT64_MIN);
    REQUIRE(bytes.count == 10 && bytes.data[0] == 0xff && bytes.data[9] == 1);
    gpume_bytes_finish(&bytes);
}

static void test_cuts(void)
{
    /* 64 pixels: 256 is four steps each. The last of a row's figures: is it a cut? */
    static const uint64_t rows[][3] = {{256, 256, 0}, {127, 127, 0}, {300, 255, 0}, {100, 100, 0},
        {512, 256, 1}, {1100, 512, 0}, {1024, 1023, 0}, {3000, 2046, 1}};
    struct gpume_run run = make_run(0);
    struct gpume_report_cuts cuts;
    struct gpume_report_figures figures;
    for (uint32_t bits = 8; bits <= 16; bits += 8) {
        run.params.bits = bits;
        gpume_report_cuts_init(&cuts, &run.params);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            struct gpume_field field = make_field(i, rows[i][1] << (bits - 8));
            field.sums.sad_before = rows[i][0] << (bits - 8);
            gpume_report_figures_make(&figures, &cuts, NULL, &field);
            REQUIRE_EQUAL(figures.cut, rows[i][2]);
        }
    }
}

static void test_histogram(void)
{
    static const uint32_t windows[][2] = {{0, 0}, {7, 3}, {64, 64}, {65, 1}, {512, 512}, {512, 0}};
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        struct gpume_report_histogram histogram;
        struct gpume_run run = make_run(0);
        run.params.window_x = windows[i][0];
        run.params.window_y = windows[i][1];
        REQUIRE_EQUAL(gpume_report_histogram_init(&histogram, &run.params), GPUME_OK);
        const int32_t side = (int32_t)histogram.side, half = (side - 1) / 2;
        REQUIRE(side % 2 == 1 && histogram.reach_x <= 64 && histogram.reach_y <= 64);
        for (int32_t dx = -(int32_t)windows[i][0]; dx <= (int32_t)windows[i][0]; dx++) {
            const int32_t bin = (int32_t)histogram.bins_x[dx + (int32_t)windows[i][0]];
            const int32_t middle = (bin - (int32_t)histogram.reach_x) * side;
            REQUIRE(bin >= 0 && bin <= 2 * (int32_t)histogram.reach_x);
            REQUIRE(dx >= middle - half && dx <= middle + half);
        }
        gpume_report_histogram_finish(&histogram);
    }
}

int main(void)
{
    test_picks();
    test_room();
    test_numbers();
    test_cuts();
    test_histogram();
    return harness_verdict();
}
