/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The input of `gpume sort`: the first byte selects text or words, descending or ascending; the
 * rest is the file. strtoll reads accepted text a second time and must find the same integers.
 */
#include "console.h"
#include "fuzz.h"
#include "sort/read.h"

/* Count and sum, which sorting does not change. */
struct tally {
    uint64_t count, negatives;
    int64_t sum;
};

static void count_value(struct tally *tally, int64_t value)
{
    tally->count++;
    tally->negatives += value < 0;
    tally->sum += value;
}

static struct tally tally_text(char *text, size_t bytes)
{
    struct tally tally = {0};
    for (size_t at = 0; at < bytes;) {
        char *end = text + at;
        if (gpume_sort_is_space((unsigned char)text[at])) {
            at++;
            continue;
        }
        const long long value = strtoll(text + at, &end, 10);
        FUZZ_REQUIRE(end > text + at && value >= GPUME_SORT_VALUE_MIN);
        FUZZ_REQUIRE(value <= GPUME_SORT_VALUE_MAX);
        at = (size_t)(end - text);
        FUZZ_REQUIRE(at == bytes || gpume_sort_is_space((unsigned char)text[at]));
        count_value(&tally, value);
    }
    return tally;
}

static struct tally tally_words(const struct gpume_sort_input *input, bool descending)
{
    struct tally tally = {0};
    const uint64_t others = input->count - input->negatives;
    for (uint64_t i = 0; i < input->count; i++) {
        const uint32_t word = input->words[i];
        const bool apart = descending ? i >= others : i < input->negatives;
        const bool negative = input->split ? apart : input->negatives > 0 && word >> 31;
        FUZZ_REQUIRE(!input->split || !apart || word >> 31);
        count_value(&tally, negative ? (int64_t)(int32_t)word : (int64_t)word);
    }
    return tally;
}

int FUZZ_TARGET(const uint8_t *data, size_t bytes)
{
    if (bytes < 1) {
        return 0;
    }
    const uint8_t flags = data[0];
    const enum gpume_sort_form forms[] = {
        GPUME_SORT_TEXT, GPUME_SORT_TEXT, GPUME_SORT_U32, GPUME_SORT_I32};
    struct gpume_sort_options options = {
        .common = {.inputs = {fuzz_file(data + 1, bytes - 1)}, .input_count = 1},
        .binary = forms[flags & 3],
        .descending = flags & 4,
    };
    struct gpume_sort_input input = {0};
    const enum gpume_exit result = gpume_sort_input_read(&input, &options);
    FUZZ_REQUIRE(result == GPUME_EXIT_DONE || result == GPUME_EXIT_INPUT);
    FUZZ_ALWAYS(result != GPUME_EXIT_USAGE);
    if (result == GPUME_EXIT_DONE && options.binary) {
        FUZZ_ALWAYS(input.count * 4 == bytes - 1 && input.negatives <= input.count);
        FUZZ_ALWAYS(input.count == 0 || memcmp(input.words, data + 1, bytes - 1) == 0);
    } else if (result == GPUME_EXIT_DONE) {
        char *text = malloc(bytes);
        FUZZ_ALWAYS(text);
        memcpy(text, data + 1, bytes - 1);
        text[bytes - 1] = '\0';
        const struct tally expected = tally_text(text, bytes - 1);
        const struct tally found = tally_words(&input, options.descending);
        FUZZ_ALWAYS(found.count == expected.count);
        FUZZ_ALWAYS(found.negatives == expected.negatives);
        FUZZ_ALWAYS(found.sum == expected.sum);
        free(text);
    }
    gpume_sort_input_finish(&input);
    gpume_console_forget_error();
    return 0;
}
