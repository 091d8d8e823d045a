/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What NVIDIA's CUB takes for the sorts of tests/kernel/benchsort.c, in lines of the same form.
 * Compiled by hand where there is a CUDA compiler; nothing else needs it:
 *
 *     nvcc -O3 -std=c++17 -arch=sm_90 -o cub_sort tests/bench/cub_sort.cu
 */
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define ROUNDS 15

static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static uint32_t *device_words(size_t count)
{
    void *memory;
    check(cudaMalloc(&memory, count * 4));
    return static_cast<uint32_t *>(memory);
}

struct memory {
    uint32_t *keys, *before, *other_keys, *payload, *other_payload;
    int *offsets;
    void *scratch;
    size_t scratch_bytes;
};

static void sort(memory &m, size_t &bytes, void *scratch, int count, int segments, bool pairs)
{
    cub::DoubleBuffer<uint32_t> keys(m.keys, m.other_keys), payload(m.payload, m.other_payload);
    if (segments > 1) {
        int *first = m.offsets, *past = m.offsets + 1;
        check(pairs ? cub::DeviceSegmentedSort::StableSortPairs(
                          scratch, bytes, keys, payload, count, segments, first, past)
                    : cub::DeviceSegmentedSort::StableSortKeys(
                          scratch, bytes, keys, count, segments, first, past));
    } else {
        check(pairs ? cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, payload, count)
                    : cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, count));
    }
}

static void bench(memory &m, int bits, int segment_bits, bool pairs)
{
    int count = 1 << bits, segments = 1 << segment_bits;
    std::vector<int> offsets(segments + 1);
    for (int i = 0; i <= segments; i++) {
        offsets[i] = i << (bits - segment_bits);
    }
    check(cudaMemcpy(
        m.offsets, offsets.data(), offsets.size() * sizeof(int), cudaMemcpyHostToDevice));
    size_t bytes = 0;
    sort(m, bytes, nullptr, count, segments, pairs);
    if (bytes > m.scratch_bytes) {
        check(cudaFree(m.scratch));
        check(cudaMalloc(&m.scratch, bytes));
        m.scratch_bytes = bytes;
    }
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::vector<float> ms(ROUNDS);
    for (int i = 0; i < 3 + ROUNDS; i++) {
        check(cudaMemcpy(m.keys, m.before, (size_t)count * 4, cudaMemcpyDeviceToDevice));
        check(cudaEventRecord(begin));
        sort(m, bytes, m.scratch, count, segments, pairs);
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&ms[i < 3 ? 0 : i - 3], begin, end));
    }
    std::sort(ms.begin(), ms.end());
    double median = ms[ROUNDS / 2];
    printf("cub %s %d %d %.4f ms %.2f G/s\n", pairs ? "pairs" : "keys", bits, segment_bits, median,
        count / median / 1e6);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : 26;
    size_t count = (size_t)1 << most;
    std::vector<uint32_t> keys(count);
    uint64_t state = 20061123;
    for (uint32_t &key : keys) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        key = (uint32_t)(state * 0x2545F4914F6CDD1Dull >> 32);
    }
    memory m = {};
    m.keys = device_words(count);
    m.before = device_words(count);
    m.other_keys = device_words(count);
    m.payload = device_words(count);
    m.other_payload = device_words(count);
    m.offsets = reinterpret_cast<int *>(device_words((1 << 18) + 1));
    check(cudaMemcpy(m.before, keys.data(), count * 4, cudaMemcpyHostToDevice));
    for (int bits = 16; bits <= most; bits += 2) {
        bench(m, bits, 0, false);
        bench(m, bits, 0, true);
    }
    for (int segments = 6; most >= 22 && segments <= 18; segments += 2) {
        bench(m, 22, segments, false);
        bench(m, 22, segments, true);
    }
    return 0;
}
