/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a report keeps of a run: the fields with pictures, packed numbers, scene cuts, the
 * histogram, the costliest blocks, the lists of blocks.
 */
#include "files/bytes.h"
#include "harness.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#define SIDE 8u

static uint8_t samples[SIDE * SIDE];
static const struct gpume_vector vectors[1];
static const uint32_t costs[1], ranks[1];

static struct gpume_run make_run(uint64_t expected)
{
    static const struct gpume_run_request asked;
    struct gpume_run run = {.asked = &asked, .expected = expected};
    gpume_params_default(&run.params);
    run.params.width = SIDE;
    run.params.height = SIDE;
    return run;
}

static struct gpume_field make_field(uint64_t frame, uint64_t sad_after)
{
    static const struct gpume_layer layer = {.block_w = SIDE,
        .block_h = SIDE,
        .blocks_x = 1,
        .blocks_y = 1,
        .vectors = vectors,
        .costs = costs,
        .ranks = ranks};
    static const struct gpume_layer *const layers[] = {&layer};
    const struct gpume_plane plane = {samples, SIDE, SIDE, SIDE, 8};
    return (struct gpume_field){
        .frame = frame,
        .blocks_x = 1,
        .blocks_y = 1,
        .vector_units = 1,
        .layers = layers,
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
    size_t sets;
    bool first, worst;
    uint64_t gap;   /* the largest between two fields with pictures, or to an end */
    uint64_t bytes; /* of all */
};

/* A field's picture: the more noise, the more bytes. */
static void fill_samples(uint64_t frame)
{
    uint64_t seed = frame + 1;
    const size_t noise = (size_t)(harness_random(&seed) % sizeof(samples));
    memset(samples, 0, sizeof(samples));
    for (size_t i = 0; i < noise; i++) {
        samples[i] = (uint8_t)harness_random(&seed);
    }
}

/* A run of that length, with its worst field at any position. */
static struct found pick(
    unsigned fields, uint32_t pictures, uint64_t expected, uint64_t worst, uint64_t room)
{
    struct gpume_report_picks picks;
    struct found found = {0};
    const struct gpume_run run = make_run(expected);
    REQUIRE_EQUAL(gpume_report_picks_init(&picks, "test", &run, pictures, room), GPUME_OK);
    for (unsigned i = 0; i < fields; i++) {
        const struct gpume_field field = make_field(i, i == worst ? 1000 : (i * 37u) % 101);
        if (room < UINT64_MAX) {
            fill_samples(i);
        }
        REQUIRE_EQUAL(gpume_report_picks_add(&picks, &field, false, false), GPUME_OK);
    }
    REQUIRE_EQUAL(gpume_report_picks_complete(&picks, NULL, room), GPUME_OK);
    uint64_t last = 0;
    found.sets = picks.count;
    for (size_t i = 0; i < picks.count; i++) {
        const struct gpume_report_set *set = &picks.picks[i].set;
        /* Luma, or a way to it. */
        REQUIRE(set->sides[0].pictures[GPUME_REPORT_CHANGE].count > 0);
        REQUIRE_EQUAL(set->sides[0].pictures[GPUME_REPORT_LUMA].count > 0,
            i == 0 || set->rating.frame != last + 1 || set->rating.frame % 8 == 0);
        REQUIRE(i == 0 || set->rating.frame > last);
        found.first = found.first || set->rating.frame == 0;
        found.worst = found.worst || set->rating.frame == worst;
        found.gap = set->rating.frame - last > found.gap ? set->rating.frame - last : found.gap;
        found.bytes += gpume_report_set_bytes(set);
        last = set->rating.frame;
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
                const struct found found = pick(fields, pictures, expected[i], worst, UINT64_MAX);
                /* If fewer fields arrive than promised, proportionally fewer pictures. */
                const size_t most = pictures < fields ? pictures : fields;
                REQUIRE(found.sets <= most && 3 * found.sets >= most);
                REQUIRE(found.sets == most || expected[i] > fields);
                REQUIRE(found.first);
                REQUIRE(found.worst || pictures == 1);
            }
        }
    }
}

/* As many as requested, evenly spaced: distances are at most three times the mean, which the
 * theorem allows for half of them. */
static void test_counts(void)
{
    static const unsigned lengths[] = {1, 2, 7, 59, 60, 61, 99, 100, 119, 120, 250, 999, 3000};
    static const uint32_t asked[] = {
        1, 2, 3, 5, 9, 25, 26, 30, 59, 60, 61, 99, 100, 101, 250, 1000};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) {
            const unsigned fields = lengths[i];
            for (uint64_t expected = 0; expected <= fields; expected += fields) {
                const struct found found = pick(fields, asked[k], expected, fields / 2, UINT64_MAX);
                REQUIRE_EQUAL(found.sets, asked[k] < fields ? asked[k] : fields);
                REQUIRE(found.gap <= 3 * (fields / ((asked[k] + 1) / 2) + 1));
            }
        }
    }
}

/* If space is the limit, requesting more or allowing more space never gives fewer pictures. */
static void test_room(void)
{
    static const uint32_t asked[] = {1, 3, 10, 26, 40, 60, 80, 100, 200, 500, 1000};
    size_t in_less_room = 0;
    for (uint64_t room = 1000; room <= 64000; room *= 4) {
        struct found last = {0};
        for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) {
            const struct found found = pick(300, asked[k], k % 2 ? 300 : 0, 77, room);
            REQUIRE(found.bytes <= room);
            REQUIRE(found.sets >= last.sets && found.sets <= asked[k]);
            REQUIRE(found.first && (found.worst || asked[k] == 1 || room < 4000));
            last = found;
        }
        REQUIRE(last.bytes > room / 2);
        REQUIRE(last.sets > in_less_room);
        in_less_room = last.sets;
    }
}

/* Space may turn out to be smaller in the end; pictures of cuts are dropped last. */
static void test_less_room(void)
{
    struct gpume_report_picks picks;
    const struct gpume_run run = make_run(0);
    REQUIRE_EQUAL(gpume_report_picks_init(&picks, "test", &run, 1000, 8000), GPUME_OK);
    memset(samples, 0, sizeof(samples));
    for (unsigned i = 0; i < 200; i++) {
        const struct gpume_field field = make_field(i, i);
        REQUIRE_EQUAL(gpume_report_picks_add(&picks, &field, i == 77, false), GPUME_OK);
    }
    for (uint64_t room = 8000; room > 0; room /= 2) {
        uint64_t bytes = 0;
        bool cut = false;
        REQUIRE_EQUAL(gpume_report_picks_complete(&picks, NULL, room), GPUME_OK);
        for (size_t i = 0; i < picks.count; i++) {
            bytes += gpume_report_set_bytes(&picks.picks[i].set);
            cut = cut || picks.picks[i].set.rating.frame == 77;
        }
        REQUIRE(bytes <= room);
        REQUIRE(cut || room < 2000);
    }
    gpume_report_picks_finish(&picks);
}

/* The liveliest field is the first in which the search gains most, cuts aside; it gets a picture as
 * the fourth. */
static void test_liveliest(void)
{
    for (uint32_t pictures = 1; pictures < 7; pictures++) {
        struct gpume_report_picks picks;
        struct gpume_report_lively lively = {0};
        const struct gpume_run run = make_run(300);
        bool found = false;
        REQUIRE_EQUAL(
            gpume_report_picks_init(&picks, "test", &run, pictures, UINT64_MAX), GPUME_OK);
        for (unsigned i = 0; i < 300; i++) {
            struct gpume_field field = make_field(i, 50);
            field.sums.sad_before = i == 41 || i == 43 ? 90 : i == 99 ? 400 : 50 + i % 37;
            fill_samples(i);
            const bool taken = gpume_report_lively_add(&lively, &field, i == 99);
            REQUIRE_EQUAL(gpume_report_picks_add(&picks, &field, i == 99, taken), GPUME_OK);
        }
        REQUIRE(lively.full && lively.frame == 41 && lively.gain == 40);
        REQUIRE_EQUAL(gpume_report_picks_complete(&picks, NULL, UINT64_MAX), GPUME_OK);
        for (size_t i = 0; i < picks.count; i++) {
            found = found || picks.picks[i].set.rating.frame == 41;
        }
        REQUIRE_EQUAL(picks.count, pictures);
        REQUIRE_EQUAL(found, pictures >= 4);
        gpume_report_picks_finish(&picks);
    }
}

/* Every field or, if space is short, every second, fourth... from the first on. */
static void test_film(void)
{
    for (uint64_t room = 100; room < 400000; room *= 3) {
        for (unsigned fields = 1; fields < 500; fields = 3 * fields + 1) {
            struct gpume_report_film film;
            const struct gpume_run run = make_run(0);
            REQUIRE_EQUAL(gpume_report_film_init(&film, "test", &run, room), GPUME_OK);
            for (unsigned i = 0; i < fields; i++) {
                const struct gpume_field field = make_field(i + 5, 1);
                REQUIRE_EQUAL(gpume_report_film_add(&film, &field), GPUME_OK);
            }
            gpume_report_film_complete(&film, room / 2);
            REQUIRE_EQUAL(film.count, (fields + film.step - 1) / film.step);
            REQUIRE(film.bytes <= room / 2 || film.count == 1);
            REQUIRE(film.step == 1 || 4 * film.bytes > room / 2 || film.count == 1);
            for (size_t i = 0; i < film.count; i++) {
                REQUIRE_EQUAL(film.sets[i].rating.frame, 5 + i * film.step);
                REQUIRE(film.sets[i].sides[0].pictures[GPUME_REPORT_TARGET].count > 0);
                REQUIRE_EQUAL(film.sets[i].sides[0].pictures[GPUME_REPORT_RESIDUAL].count, 0);
                REQUIRE(film.sets[i].sides[0].lists[GPUME_REPORT_VECTORS].count > 0);
            }
            gpume_report_film_finish(&film);
        }
    }
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
    /* sad_before and sad_after of 64 pixels, to the frame so far before (negative: after), and is
     * it a cut? 256 is four gray levels per pixel. Other distances are compared with their own. */
    static const struct {
        uint64_t before, after;
        int64_t distance;
        bool cut;
    } rows[] = {{256, 256, 1, false}, {127, 127, 1, false}, {300, 255, 1, false},
        {100, 100, 1, false}, {512, 256, 1, true}, {1100, 512, 1, false}, {1024, 1023, 1, false},
        {9000, 4000, 4, false}, {9000, 4000, -1, false}, {3000, 2046, 1, true},
        {9000, 5000, 4, false}, {9000, 8000, -1, true}, {9000, 9000, 70, false},
        {19000, 18000, 80, true}};
    struct gpume_run run = make_run(0);
    struct gpume_report_cuts cuts;
    struct gpume_report_statistics statistics;
    for (uint32_t bits = 8; bits <= 16; bits += 8) {
        run.params.bits = bits;
        gpume_report_cuts_init(&cuts, &run.params);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            struct gpume_field field = make_field(i + 100, rows[i].after << (bits - 8));
            field.ref = field.frame - (uint64_t)rows[i].distance;
            field.sums.sad_before = rows[i].before << (bits - 8);
            gpume_report_measure(&statistics, &cuts, NULL, &field);
            REQUIRE_EQUAL(statistics.cut, rows[i].cut);
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

/* Blocks of 8 x 4 pixels in a picture that cuts the last column: the two costliest of each field.
 */
static void test_gallery(void)
{
    static const uint32_t layer_costs[6] = {1, 2, 3, 4, 5, 6}, layer_ranks[6] = {5, 4, 3, 2, 1, 0};
    static const struct gpume_vector layer_vectors[6];
    static const struct gpume_layer layer = {.block_w = 8,
        .block_h = 4,
        .blocks_x = 3,
        .blocks_y = 2,
        .vectors = layer_vectors,
        .costs = layer_costs,
        .ranks = layer_ranks};
    static const struct gpume_layer *const layers[] = {&layer};
    struct gpume_report_gallery gallery;
    struct gpume_run run = make_run(0);
    run.params.width = 20;
    gpume_report_gallery_init(&gallery, &run, false);
    const struct gpume_field field = {.layer_count = 1, .layers = layers};
    REQUIRE_EQUAL(gpume_report_gallery_add(&gallery, &field), GPUME_OK);
    REQUIRE_EQUAL(gallery.count, 2);
    const struct gpume_report_block *const first = &gallery.blocks[0], *const second = first + 1;
    REQUIRE(first->cost == 6 && first->x == 16 && first->y == 4);
    REQUIRE(first->width == 4 && first->height == 4);
    REQUIRE(second->cost == 5 && second->x == 8 && second->y == 4);
    REQUIRE(second->width == 8 && second->height == 4);
    gpume_report_gallery_finish(&gallery);
}

static void require_list(const struct gpume_report_set *set, enum gpume_report_list list,
    const char *bytes, size_t count)
{
    REQUIRE_EQUAL(set->sides[0].lists[list].count, count);
    REQUIRE(count == 0 || memcmp(set->sides[0].lists[list].data, bytes, count) == 0);
}

/* A square of 8 x 8 in two shapes, of which a partition chooses the halves; the window of a pixel
 * in half pixels has 5 x 5 vectors. */
static void test_lists(void)
{
    static const struct gpume_vector halves[2] = {{-2, -2}, {1, 0}};
    static const uint32_t half_costs[2] = {5, 200}, seconds[2] = {GPUME_NONE, 299};
    static const uint32_t half_ranks[2] = {1, 0}, second[1] = {0};
    static const uint32_t whole_refs[1] = {0}, half_refs[2] = {1, 0};
    static const uint64_t references[2] = {298, 301};
    static const struct gpume_part parts[2] = {{1, 0, 1}, {1, 1, 0}};
    struct gpume_run run = make_run(1);
    run.params.window_x = run.params.window_y = 1;
    run.params.subpel = 2;
    struct gpume_report_encoder *encoder = NULL;
    REQUIRE_EQUAL(gpume_report_encoder_open(&encoder, "test", &run, GPUME_REPORT_WHOLE), GPUME_OK);
    struct gpume_report_draft draft = {0};
    struct gpume_report_set set = {0};
    struct gpume_field field = make_field(0, 0);
    struct gpume_layer whole = *field.layers[0], half = whole;
    half.block_h = SIDE / 2;
    half.blocks_y = 2;
    half.vectors = halves;
    half.costs = half_costs;
    half.ranks = half_ranks;
    const struct gpume_layer *const layers[] = {&whole, &half};
    field.layers = layers;
    field.layer_count = 2;

    REQUIRE_EQUAL(gpume_report_draft_take(&draft, encoder, &field, false), GPUME_OK);
    REQUIRE_EQUAL(gpume_report_set_make(&set, encoder, &draft), GPUME_OK);
    require_list(&set, GPUME_REPORT_VECTORS, "\14\0", 2);
    require_list(&set, GPUME_REPORT_PARTS, NULL, 0);
    require_list(&set, GPUME_REPORT_SECONDS, NULL, 0);
    require_list(&set, GPUME_REPORT_REFERENCES, NULL, 0);
    const uint64_t plain = gpume_report_set_bytes(&set);

    whole.second = second;
    half.second = seconds;
    whole.refs = whole_refs;
    half.refs = half_refs;
    field.frame = 300;
    field.refs = references;
    field.ref_count = 2;
    field.parts = parts;
    field.part_count = 2;
    REQUIRE_EQUAL(gpume_report_draft_take(&draft, encoder, &field, false), GPUME_OK);
    REQUIRE_EQUAL(gpume_report_set_make(&set, encoder, &draft), GPUME_OK);
    require_list(&set, GPUME_REPORT_VECTORS, "\0\15\5\310\1", 5);
    require_list(&set, GPUME_REPORT_PARTS, "\1\0\1\1", 4);
    require_list(&set, GPUME_REPORT_SECONDS, "\0\254\2", 3);
    require_list(&set, GPUME_REPORT_REFERENCES, "\2\3", 2); /* 1 and -2 */
    REQUIRE_EQUAL(gpume_report_set_bytes(&set), plain + 4 + 8 + 4 + 4);
    gpume_report_set_finish(&set);
    gpume_report_draft_finish(&draft);
    gpume_report_encoder_close(&encoder);
}

int main(void)
{
    test_picks();
    test_liveliest();
    test_counts();
    test_room();
    test_less_room();
    test_film();
    test_numbers();
    test_cuts();
    test_histogram();
    test_gallery();
    test_lists();
    return harness_verdict();
}
