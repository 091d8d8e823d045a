/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads large blocks into one buffer; an incomplete word at its end is kept for the next block. The
 * array of words grows by half when it is full, which moves pages rather than copies them. Main
 * thread only.
 */
#include "sort/read.h"

#include "console.h"
#include "files/bytes.h"
#include "files/path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- parsing: eight digits at a time in a 64-bit word, and digit by digit beyond 15 digits */

/* Up to eight digits at text as a number; *count: how many. Reads eight bytes. */
static uint32_t take_eight(const unsigned char *text, unsigned *count)
{
    uint64_t word = gpume_le_get64(text);
    word ^= UINT64_C(0x3030303030303030); /* digits are 0 to 9 now */
    /* The top bit of every byte above 9. Carries into higher bytes do not matter, since only the
     * first such byte is used. */
    const uint64_t others =
        ((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);
    *count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    if (*count == 0) {
        return 0;
    }
    word <<= 64 - 8 * *count; /* leading zeros; the last digit in the highest byte */
    word = (word * 10 + (word >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
    word = (word * 100 + (word >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
    return (uint32_t)(word * 10000 + (word >> 32));
}

/* Any number of digits; values out of range stay out of range. */
static const unsigned char *take_all(const unsigned char *text, int64_t *value)
{
    int64_t sum = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        sum = sum > GPUME_SORT_VALUE_MAX ? sum : sum * 10 + (*text - '0');
    }
    *value = sum;
    return text;
}

/* Returns the end of the digits; text itself if there are none. */
static inline const unsigned char *take_digits(const unsigned char *text, int64_t *value)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    unsigned count, more;
    *value = take_eight(text, &count);
    if (count < 8) {
        return text + count;
    }
    const uint32_t rest = take_eight(text + 8, &more);
    if (more == 8) {
        return take_all(text, value);
    }
    *value = *value * powers[more] + rest;
    return text + 8 + more;
}

size_t gpume_sort_parse(
    const unsigned char *text, size_t bytes, int64_t *values, const unsigned char **bad)
{
    const unsigned char *at = text, *const end = text + bytes;
    size_t count = 0;
    *bad = NULL;
    while (at < end) {
        if (gpume_sort_is_space(*at)) {
            at++;
            continue;
        }
        const unsigned char *digits = at + (*at == '-' || *at == '+');
        int64_t value;
        const unsigned char *behind = take_digits(digits, &value);
        value = *at == '-' ? -value : value;
        if (behind == digits || !gpume_sort_is_space(*behind) || value < GPUME_SORT_VALUE_MIN ||
            value > GPUME_SORT_VALUE_MAX) {
            *bad = at;
            break;
        }
        values[count++] = value;
        at = behind + 1;
    }
    return count;
}

/* --- reading */

#define BUFFER_BYTES ((size_t)128 * 1024)
#define WORD_BYTES_MAX                                                                             \
    ((size_t)4096)      /* of text without leading zeros: far longer than any integer */
#define SHOWN_BYTES 32u /* of a word that a message quotes */
#define SORT_BYTES 8u   /* per integer: itself, and scratch memory of the same size */
#define FIRST_WORDS ((uint64_t)1 << 16)

/* A list of words that grows. */
struct list {
    uint32_t *words;
    uint64_t count, room;
};

struct integer_reader {
    const char *name;
    int fd;
    bool negative, large; /* the input has negative values, values above 2^31 - 1 */
    bool split;
    struct list words;
    struct list negatives; /* used once there are both */
    uint64_t negative_count;
    uint64_t count_max, memory_max; /* integers; bytes, 0: no limit */
    uint64_t line;                  /* at the start of the buffer, from 1 */
    size_t kept;                    /* bytes in the buffer */
    bool shortened;                 /* its first word has lost zeros; it began with: */
    unsigned char head[SHOWN_BYTES + 1];
    unsigned char text[BUFFER_BYTES + 1 + GPUME_SORT_TEXT_SLACK];
    int64_t values[BUFFER_BYTES / 2 + 1];
};

static enum gpume_exit reserve_words(
    const struct integer_reader *reader, struct list *list, uint64_t more)
{
    const uint64_t needed = list->count + more;
    const uint64_t all = reader->words.count + reader->negatives.count + more;
    if (all > reader->count_max && reader->count_max < GPUME_SORT_COUNT_MAX) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: holds more than %" PRIu64
            " integers; sorting takes %u bytes for each, --max-memory allows %" PRIu64,
            reader->name, reader->count_max, SORT_BYTES, reader->memory_max);
    }
    if (all > GPUME_SORT_COUNT_MAX) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: holds more than %" PRIu64
            " integers, the most that can be sorted at once; sort it in parts",
            reader->name, GPUME_SORT_COUNT_MAX);
    }
    if (needed <= list->room) {
        return GPUME_EXIT_DONE;
    }
    uint64_t room = list->room + list->room / 2;
    room = room < FIRST_WORDS ? FIRST_WORDS : room;
    room = room < reader->count_max ? room : reader->count_max;
    room = room < needed ? needed : room;
    uint32_t *words =
        room > SIZE_MAX / sizeof *words ? NULL : realloc(list->words, room * sizeof *words);
    if (!words) {
        return gpume_refuse(GPUME_EXIT_FAILED,
            "%s: out of memory after %" PRIu64 " integers; sort it in parts", reader->name,
            list->count);
    }
    list->words = words;
    list->room = room;
    return GPUME_EXIT_DONE;
}

static enum gpume_exit refuse_read(const struct integer_reader *reader)
{
    return gpume_refuse(GPUME_EXIT_INPUT, "%s: cannot be read: %s", reader->name, strerror(errno));
}

/* 0 at the end; negative with errno set. */
static ssize_t read_some(int fd, void *to, size_t bytes)
{
    ssize_t got;
    do {
        got = read(fd, to, bytes);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* Gives negative words their own list and moves those read so far to it. */
static enum gpume_exit split_negatives(struct integer_reader *reader, bool negatives_so_far)
{
    struct list *all = &reader->words;
    reader->split = true;
    if (!negatives_so_far) {
        return GPUME_EXIT_DONE;
    }
    const uint64_t count = all->count;
    all->count = 0; /* they only change lists */
    const enum gpume_exit result =
        reserve_words(reader, &reader->negatives, reader->negative_count);
    for (uint64_t i = 0; result == GPUME_EXIT_DONE && i < count; i++) {
        struct list *to = all->words[i] >> 31 ? &reader->negatives : all;
        to->words[to->count++] = all->words[i];
    }
    return result;
}

static enum gpume_exit collect_values(struct integer_reader *reader, size_t count)
{
    const int64_t *values = reader->values;
    const bool negatives_so_far = reader->negative;
    int64_t signs = 0, tops = 0;
    uint64_t negative_count = 0;
    for (size_t i = 0; i < count; i++) {
        signs |= values[i];
        tops |= values[i] & ~(values[i] >> 63);
        negative_count += (uint64_t)values[i] >> 63;
    }
    reader->negative = reader->negative || signs < 0;
    reader->large = reader->large || (tops >> 31 & 1) != 0;
    enum gpume_exit result = GPUME_EXIT_DONE;
    if (reader->negative && reader->large && !reader->split) {
        result = split_negatives(reader, negatives_so_far);
    }
    const uint64_t kept_apart = reader->split ? negative_count : 0;
    result = result ? result : reserve_words(reader, &reader->words, count - kept_apart);
    result = result ? result : reserve_words(reader, &reader->negatives, kept_apart);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    reader->negative_count += negative_count;
    if (count > 0 && !reader->split) {
        uint32_t *to = reader->words.words + reader->words.count;
        for (size_t i = 0; i < count; i++) {
            to[i] = (uint32_t)values[i];
        }
        reader->words.count += count;
        return GPUME_EXIT_DONE;
    }
    for (size_t i = 0; i < count; i++) {
        struct list *list = values[i] < 0 ? &reader->negatives : &reader->words;
        list->words[list->count++] = (uint32_t)values[i];
    }
    return GPUME_EXIT_DONE;
}

static uint64_t count_lines(const unsigned char *text, size_t bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < bytes; i++) {
        lines += text[i] == '\n';
    }
    return lines;
}

/* What to do about a word that is not an integer, by what is shown of it. */
static const char *advice(const unsigned char *word, size_t length)
{
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
    if (length >= sizeof mark && memcmp(word, mark, sizeof mark) == 0) {
        return "save the text without a byte order mark";
    }
    for (size_t i = 0; i < length; i++) {
        if (word[i] < ' ' || word[i] >= 0x7f) {
            return "remove it, or use --binary u32 or i32 if the file is not text";
        }
    }
    if (memchr(word, ',', length) || memchr(word, ';', length)) {
        return "separate integers with white space";
    }
    return "correct or remove it";
}

/* bad: a word in the buffer, before reader->text + kept. Of a long one only the start may have been
 * read: what is said does not depend on the rest. */
static enum gpume_exit refuse_word(const struct integer_reader *reader, const unsigned char *bad)
{
    const bool shortened = reader->shortened && bad == reader->text;
    const unsigned char *word = shortened ? reader->head : bad;
    const unsigned char *end = shortened ? word + sizeof reader->head : reader->text + reader->kept;
    char shown[4 * SHOWN_BYTES + 4] = "";
    size_t length = 0, used = 0;
    while (length <= SHOWN_BYTES && word + length < end && !gpume_sort_is_space(word[length])) {
        length++;
    }
    const bool more = length > SHOWN_BYTES;
    length = more ? SHOWN_BYTES : length;
    for (size_t i = 0; i < length; i++) {
        const bool plain = word[i] > ' ' && word[i] < 0x7f;
        used += (size_t)snprintf(
            shown + used, sizeof shown - used, plain ? "%c" : "\\x%02x", (unsigned)word[i]);
    }
    return gpume_refuse(GPUME_EXIT_INPUT,
        "%s: line %" PRIu64 ": '%s%s' is not an integer from %" PRId64 " to %" PRId64 "; %s",
        reader->name, reader->line + count_lines(reader->text, (size_t)(bad - reader->text)), shown,
        more ? "..." : "", GPUME_SORT_VALUE_MIN, GPUME_SORT_VALUE_MAX, advice(word, length));
}

/* The buffer holds the start of one long word: removes all but one of its leading zeros. */
static enum gpume_exit shorten_word(struct integer_reader *reader)
{
    size_t first = reader->text[0] == '-' || reader->text[0] == '+', after = first;
    while (after < reader->kept && reader->text[after] == '0') {
        after++;
    }
    if (after > first + 1) {
        if (!reader->shortened) {
            memcpy(reader->head, reader->text, sizeof reader->head);
            reader->shortened = true;
        }
        memmove(reader->text + first + 1, reader->text + after, reader->kept - after);
        reader->kept -= after - first - 1;
    }
    return reader->kept > WORD_BYTES_MAX ? refuse_word(reader, reader->text) : GPUME_EXIT_DONE;
}

/* Parses the complete words in the buffer and removes them from it. */
static enum gpume_exit take_words(struct integer_reader *reader)
{
    const unsigned char *bad;
    size_t whole = reader->kept;
    while (whole > 0 && !gpume_sort_is_space(reader->text[whole - 1])) {
        whole--;
    }
    const size_t count = gpume_sort_parse(reader->text, whole, reader->values, &bad);
    if (bad) {
        return refuse_word(reader, bad);
    }
    const enum gpume_exit result = collect_values(reader, count);
    reader->shortened = reader->shortened && whole == 0;
    reader->line += count_lines(reader->text, whole);
    reader->kept -= whole;
    memmove(reader->text, reader->text + whole, reader->kept);
    return result == GPUME_EXIT_DONE && reader->kept > WORD_BYTES_MAX ? shorten_word(reader)
                                                                      : result;
}

static enum gpume_exit read_text(struct integer_reader *reader)
{
    enum gpume_exit result = GPUME_EXIT_DONE;
    reader->line = 1;
    for (bool ended = false; !ended && result == GPUME_EXIT_DONE;) {
        const ssize_t got =
            read_some(reader->fd, reader->text + reader->kept, BUFFER_BYTES - reader->kept);
        if (got < 0) {
            return refuse_read(reader);
        }
        reader->kept += (size_t)got;
        if (got == 0) { /* ends the last word; the buffer has one spare byte */
            ended = true;
            reader->text[reader->kept++] = ' ';
        }
        result = take_words(reader);
    }
    return result;
}

static enum gpume_exit refuse_size(const struct integer_reader *reader, uint64_t bytes)
{
    return gpume_refuse(GPUME_EXIT_INPUT,
        "%s: %" PRIu64
        " bytes are not a whole number of 32-bit words; if this is text, leave out --binary",
        reader->name, bytes);
}

/* The size of a regular file is known in advance. */
static enum gpume_exit expect_binary(struct integer_reader *reader)
{
    struct stat info;
    const off_t at = lseek(reader->fd, 0, SEEK_CUR);
    if (at < 0 || fstat(reader->fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= at) {
        return GPUME_EXIT_DONE;
    }
    const uint64_t bytes = (uint64_t)(info.st_size - at);
    return bytes % 4 ? refuse_size(reader, bytes)
                     : reserve_words(reader, &reader->words, bytes / 4);
}

static enum gpume_exit read_binary(struct integer_reader *reader, bool is_signed)
{
    struct list *list = &reader->words;
    uint64_t bytes = 0;
    enum gpume_exit result = expect_binary(reader);
    for (;;) {
        unsigned char byte;
        const bool full = list->count == list->room && bytes % 4 == 0;
        /* A full list grows only if there is more input. */
        const ssize_t got = result != GPUME_EXIT_DONE ? 0
                            : full                    ? read_some(reader->fd, &byte, 1)
                                   : read_some(reader->fd, (unsigned char *)list->words + bytes,
                                         list->room * 4 - bytes);
        if (got < 0) {
            return refuse_read(reader);
        }
        if (got == 0) {
            break;
        }
        if (full) {
            result = reserve_words(reader, list, 1);
            if (result == GPUME_EXIT_DONE) {
                memcpy((unsigned char *)list->words + bytes, &byte, 1);
            }
        }
        bytes += (uint64_t)got;
        list->count = bytes / 4;
    }
    if (result == GPUME_EXIT_DONE && bytes % 4) {
        return refuse_size(reader, bytes);
    }
    for (uint64_t i = 0; i < list->count; i++) {
        list->words[i] = gpume_le_get32((const unsigned char *)&list->words[i]);
        reader->negative_count += is_signed ? list->words[i] >> 31 : 0;
    }
    return result;
}

static enum gpume_exit open_integers(struct integer_reader *reader, const char *path)
{
    struct stat info;
    const bool standard = !path || strcmp(path, "-") == 0;
    reader->name = standard ? "standard input" : path;
    reader->fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (reader->fd < 0) {
        return gpume_refuse(GPUME_EXIT_INPUT, "%s: cannot be opened: %s; %s", reader->name,
            strerror(errno),
            errno == ENOENT ? "is the name right?" : gpume_remedy(errno, "is it yours to read?"));
    }
    if (fstat(reader->fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        (void)gpume_text_refuse_folder(reader->name, NULL, NULL, &gpume_console);
        return GPUME_EXIT_INPUT;
    }
    return GPUME_EXIT_DONE;
}

/* Joins the lists, with the negative words before or behind the others. */
static enum gpume_exit join_negatives(struct integer_reader *reader, bool behind)
{
    struct list *list = &reader->words, *apart = &reader->negatives;
    if (!reader->split) {
        return GPUME_EXIT_DONE;
    }
    const uint64_t moved = apart->count, others = list->count;
    apart->count = 0; /* they only change lists */
    const enum gpume_exit result = reserve_words(reader, list, moved);
    if (result == GPUME_EXIT_DONE) {
        if (!behind) {
            memmove(list->words + moved, list->words, others * sizeof *list->words);
        }
        memcpy(list->words + (behind ? others : 0), apart->words, moved * sizeof *list->words);
        list->count += moved;
    }
    return result;
}

enum gpume_exit gpume_sort_input_read(
    struct gpume_sort_input *input, const struct gpume_sort_options *options)
{
    struct integer_reader *reader = malloc(sizeof *reader); /* the buffers need no zeroing */
    if (!reader) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    memset(reader, 0, offsetof(struct integer_reader, text));
    const uint64_t memory_max = options->params.memory_max;
    reader->memory_max = memory_max;
    reader->count_max = memory_max > 0 && memory_max / SORT_BYTES < GPUME_SORT_COUNT_MAX
                            ? memory_max / SORT_BYTES
                            : GPUME_SORT_COUNT_MAX;
    enum gpume_exit result = open_integers(reader, options->common.inputs[0]);
    if (result == GPUME_EXIT_DONE) {
        result = options->binary ? read_binary(reader, options->binary == GPUME_SORT_I32)
                                 : read_text(reader);
    }
    result = result ? result : join_negatives(reader, options->descending);
    *input = (struct gpume_sort_input){
        .words = reader->words.words,
        .count = reader->words.count,
        .negatives = reader->negative_count,
        .split = reader->split,
    };
    if (reader->fd >= 0) {
        (void)close(reader->fd);
    }
    free(reader->negatives.words);
    free(reader);
    return result;
}

void gpume_sort_input_finish(struct gpume_sort_input *input)
{
    free(input->words);
    *input = (struct gpume_sort_input){0};
}
