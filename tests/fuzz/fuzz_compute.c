/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compute.h on the CPU, for fuzz_api: calls in any order with any numbers, including invalid ones.
 * Arrays must equal a plain copy.
 */
#include "fuzz_api.h"
#include "gpume/compute.h"

#define ARRAYS_MAX 4u
#define BYTES_MAX 512u
#define WORDS_MAX (BYTES_MAX / 4)

struct session {
    gpume_compute *compute;
    gpume_array *arrays[ARRAYS_MAX];
    uint64_t bytes[ARRAYS_MAX];
    uint8_t copies[ARRAYS_MAX][BYTES_MAX];
};

/* Mostly within an array, sometimes at the ends of the 64-bit range. */
static uint64_t take_place(struct fuzz_bytes *from)
{
    const uint8_t kind = fuzz_u8(from);
    const uint64_t value = fuzz_u64(from);
    return kind < 200 ? value % (BYTES_MAX + 1) : kind < 220 ? UINT64_MAX - value % 64 : value;
}

static bool fits(const struct session *session, size_t i, uint64_t offset, uint64_t bytes)
{
    return session->arrays[i] && offset <= session->bytes[i] && bytes <= session->bytes[i] - offset;
}

/* Allocations above BYTES_MAX fail, whatever memory the machine has. */
static void make(struct session *session, struct fuzz_bytes *from, size_t i)
{
    const uint64_t bytes = take_place(from);
    gpume_array_destroy(&session->arrays[i]);
    FUZZ_REQUIRE(!session->arrays[i]);
    if (bytes > BYTES_MAX && bytes < UINT64_C(1) << 60) {
        return;
    }
    const int status = gpume_array_create(session->compute, &session->arrays[i], bytes);
    FUZZ_REQUIRE(status == (bytes <= BYTES_MAX ? GPUME_OK : GPUME_NOMEM));
    FUZZ_REQUIRE((status == GPUME_OK) == (session->arrays[i] != NULL));
    session->bytes[i] = bytes;
    if (status == GPUME_OK) {
        memset(session->copies[i], 0, BYTES_MAX);
        FUZZ_REQUIRE(
            gpume_array_write(session->arrays[i], 0, session->copies[i], bytes) == GPUME_OK);
    }
}

static void move(struct session *session, struct fuzz_bytes *from, size_t i)
{
    uint8_t data[BYTES_MAX];
    const uint64_t offset = take_place(from), bytes = take_place(from);
    const int expected = fits(session, i, offset, bytes) ? GPUME_OK : GPUME_INVALID;
    memset(data, fuzz_u8(from), sizeof data);
    if (fuzz_u8(from) & 1) {
        FUZZ_REQUIRE(gpume_array_write(session->arrays[i], offset, data, bytes) == expected);
        if (expected == GPUME_OK) {
            memcpy(session->copies[i] + offset, data, bytes);
        }
        return;
    }
    FUZZ_REQUIRE(gpume_array_read(session->arrays[i], offset, data, bytes) == expected);
    FUZZ_REQUIRE(expected != GPUME_OK || memcmp(data, session->copies[i] + offset, bytes) == 0);
}

/* The same by a batch, which changes nothing any more. */
static void copy_again(gpume_compute *compute, gpume_array *to, uint64_t to_offset,
    const gpume_array *from, uint64_t from_offset, uint64_t bytes, int expected)
{
    gpume_batch *batch = NULL;
    FUZZ_REQUIRE(gpume_batch_create(compute, &batch, 1) == GPUME_OK);
    if (!batch) {
        return;
    }
    FUZZ_REQUIRE(gpume_batch_copy(batch, to, to_offset, from, from_offset, bytes) == expected);
    FUZZ_REQUIRE(gpume_batch_submit(batch) == GPUME_OK);
    FUZZ_REQUIRE(gpume_batch_submit(batch) == GPUME_INVALID);
    FUZZ_REQUIRE(gpume_batch_wait(batch) == GPUME_OK);
    gpume_batch_destroy(&batch);
}

static void copy(struct session *session, struct fuzz_bytes *from, size_t i)
{
    const size_t j = fuzz_u8(from) % ARRAYS_MAX;
    const uint64_t to = take_place(from), at = take_place(from), bytes = take_place(from);
    const int status = gpume_array_copy(session->arrays[i], to, session->arrays[j], at, bytes);
    const bool good = fits(session, i, to, bytes) && fits(session, j, at, bytes) &&
                      (to | at | bytes) % 4 == 0 && !(i == j && to < at + bytes && at < to + bytes);
    FUZZ_REQUIRE(status == (good ? GPUME_OK : GPUME_INVALID));
    copy_again(session->compute, session->arrays[i], to, session->arrays[j], at, bytes, status);
    if (good) {
        memcpy(session->copies[i] + to, session->copies[j] + at, bytes);
    }
}

static void sort(struct session *session, struct fuzz_bytes *from, size_t i)
{
    struct gpume_segment segments[3];
    struct gpume_sort_params params;
    gpume_sort_params_default(&params);
    params.type = (enum gpume_key_type)fuzz_about(from, 0, 1);
    params.method = (enum gpume_sort_method)fuzz_about(from, 0, 2);
    params.descending = fuzz_u8(from) & 1;
    params.key_bits = fuzz_about(from, 0, 32);
    params.segment_count = fuzz_u8(from) % 4;
    params.segments = params.segment_count > 0 ? segments : NULL;
    for (uint32_t s = 0; s < 3; s++) {
        segments[s] = (struct gpume_segment){fuzz_about(from, 0, 40), fuzz_about(from, 0, 40)};
    }
    const size_t j = fuzz_u8(from) % (ARRAYS_MAX + 1);
    const uint64_t count = take_place(from);
    gpume_array *payload = j < ARRAYS_MAX ? session->arrays[j] : NULL;
    const int status = gpume_array_sort(&params, session->arrays[i], payload, count);
    FUZZ_REQUIRE(status == GPUME_OK || status == GPUME_INVALID);
    if (status != GPUME_OK) {
        return;
    }
    FUZZ_REQUIRE(count <= WORDS_MAX && fits(session, i, 0, 4 * count));
    uint32_t keys[WORDS_MAX];
    FUZZ_REQUIRE(gpume_array_read(session->arrays[i], 0, keys, 4 * count) == GPUME_OK);
    const bool whole = !params.segments && (params.key_bits == 0 || params.key_bits == 32);
    const uint32_t flip = params.type == GPUME_KEY_I32 ? UINT32_C(1) << 31 : 0;
    for (uint64_t k = 1; whole && k < count; k++) {
        const uint32_t a = keys[k - 1] ^ flip, b = keys[k] ^ flip;
        FUZZ_REQUIRE(params.descending ? a >= b : a <= b);
    }
    memcpy(session->copies[i], keys, 4 * count);
    if (payload && count > 0) {
        FUZZ_REQUIRE(gpume_array_read(payload, 0, session->copies[j], 4 * count) == GPUME_OK);
    }
}

static void reduce(struct session *session, struct fuzz_bytes *from, size_t i)
{
    static uint64_t bins[GPUME_HISTOGRAM_MAX];
    const enum gpume_element element = (enum gpume_element)fuzz_about(from, 0, 2);
    const uint64_t first = take_place(from), count = take_place(from);
    const uint32_t shift = fuzz_about(from, 0, 31);
    const uint32_t bin_count = fuzz_about(from, 1, 64);
    const gpume_array *array = session->arrays[i];
    struct gpume_minimum minimum;
    uint64_t sum = 0, counted = 0;
    const int status = gpume_array_sum(array, element, first, count, &sum);
    FUZZ_REQUIRE(status == GPUME_OK || status == GPUME_INVALID);
    const int smallest = gpume_array_minimum(array, element, first, count, &minimum);
    FUZZ_REQUIRE(smallest == (count == 0 ? GPUME_INVALID : status));
    FUZZ_REQUIRE(smallest != GPUME_OK || (minimum.index < count && minimum.value <= sum));
    const int binned = gpume_array_histogram(array, element, first, count, shift, bin_count, bins);
    const bool can = shift <= 31 && bin_count >= 1 && bin_count <= GPUME_HISTOGRAM_MAX;
    FUZZ_REQUIRE(binned == (can ? status : GPUME_INVALID));
    for (uint32_t b = 0; binned == GPUME_OK && b < bin_count; b++) {
        counted += bins[b];
    }
    FUZZ_REQUIRE(counted <= count);
}

/* The functions on host memory, with data of BYTES_MAX bytes, so that larger counts must be
 * refused. */
static void use_host(struct session *session, struct fuzz_bytes *from)
{
    static uint32_t data[WORDS_MAX], payload[WORDS_MAX];
    const uint64_t count = take_place(from);
    const enum gpume_element element = (enum gpume_element)fuzz_about(from, 0, 2);
    struct gpume_sort_params params;
    uint64_t sum;
    gpume_sort_params_default(&params);
    params.method = (enum gpume_sort_method)fuzz_about(from, 0, 2);
    fuzz_take(from, data, sizeof data);
    if (count <= WORDS_MAX || count > GPUME_REDUCE_MAX) {
        const int expected =
            count > GPUME_REDUCE_MAX || (unsigned)element > 2 ? GPUME_INVALID : GPUME_OK;
        FUZZ_REQUIRE(gpume_sum(session->compute, element, data, count, &sum) == expected);
        const int sorted = gpume_sort(session->compute, &params, data, payload, count);
        FUZZ_REQUIRE(sorted == GPUME_OK || sorted == GPUME_INVALID);
    }
}

static void ask(struct session *session)
{
    static const uint32_t groups[3] = {1, 1, 1};
    struct gpume_compute_info info;
    struct gpume_compute_times times;
    struct gpume_program_params kernel = {
        .size = sizeof kernel, .spirv = groups, .spirv_bytes = sizeof groups};
    gpume_program *program = NULL;
    gpume_compute_get_info(session->compute, &info);
    gpume_compute_get_times(session->compute, &times);
    FUZZ_REQUIRE(info.program_bytes_max == 0);
    FUZZ_REQUIRE(gpume_program_create(session->compute, &program, &kernel) == GPUME_UNSUPPORTED);
    FUZZ_REQUIRE(gpume_program_run(program, NULL, NULL, groups) == GPUME_INVALID);
}

void fuzz_compute(struct fuzz_bytes *from)
{
    struct session session = {0};
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.backend = GPUME_BACKEND_CPU;
    FUZZ_REQUIRE(gpume_compute_open(&session.compute, &params) == GPUME_OK);
    if (!session.compute) {
        return;
    }
    while (from->left > 0 && !fuzz_starved()) {
        const uint8_t what = fuzz_u8(from) % 8;
        const size_t i = fuzz_u8(from) % ARRAYS_MAX;
        if (what == 0) {
            make(&session, from, i);
        } else if (what < 3) {
            move(&session, from, i);
        } else if (what == 3) {
            copy(&session, from, i);
        } else if (what == 4) {
            sort(&session, from, i);
        } else if (what == 5) {
            reduce(&session, from, i);
        } else if (what == 6) {
            use_host(&session, from);
        } else {
            ask(&session);
        }
    }
    for (size_t i = 0; i < ARRAYS_MAX; i++) {
        gpume_array_destroy(&session.arrays[i]);
    }
    FUZZ_REQUIRE(gpume_compute_close(&session.compute) == GPUME_OK);
}
