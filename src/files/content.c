/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/content.h"

#include "base/checksum.h"
#include "files/path.h"
#include "files/pattern.h"
#include "gpume/gpume.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of up to SAMPLES * SAMPLE_BYTES = 1 MiB is read as a whole; of a longer one, samples at
 * equal distances, the first and the last bytes among them. */
#define SAMPLES 16u
#define SAMPLE_BYTES ((size_t)64 * 1024)

/* Of a series, this many files are sampled; the sizes of all files count. */
#define FILES_MAX 16u

struct content {
    uint64_t bytes, sum;
    bool failed;
};

static void add_samples(struct content *content, int fd, uint64_t size)
{
    unsigned char *sample = malloc(SAMPLE_BYTES);
    const bool whole = size <= SAMPLES * SAMPLE_BYTES;
    const uint64_t last = whole ? 0 : size - SAMPLE_BYTES;
    content->failed = content->failed || !sample;
    for (uint64_t i = 0; i < SAMPLES && !content->failed; i++) {
        const uint64_t at = whole             ? i * SAMPLE_BYTES
                            : i + 1 < SAMPLES ? last / (SAMPLES - 1) * i
                                              : last;
        if (at >= size) {
            break;
        }
        const ssize_t got = pread(fd, sample, SAMPLE_BYTES, (off_t)at);
        content->failed = got <= 0;
        content->sum = gpume_checksum(content->sum, sample, got > 0 ? (size_t)got : 0);
    }
    free(sample);
}

static void add_file_content(struct content *content, const char *path, bool sampled)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const bool is_file = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    content->failed = content->failed || !is_file;
    if (is_file) {
        const uint64_t size = (uint64_t)info.st_size;
        content->bytes += size;
        content->sum = gpume_checksum(content->sum, &size, sizeof(size));
        if (sampled) {
            add_samples(content, fd, size);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void add_series_content(struct content *content, const char *pattern)
{
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    content->failed = gpume_pattern_list(pattern, &numbers, &count) != GPUME_OK || count == 0;
    const size_t step = count / FILES_MAX + 1;
    for (size_t i = 0; i < count && !content->failed; i++) {
        char *name = gpume_pattern_name(pattern, numbers[i].first);
        content->failed = !name;
        if (name) {
            add_file_content(content, name, i % step == 0);
        }
        free(name);
    }
    free(numbers);
}

static void put_content(const struct content *content, char text[GPUME_CONTENT_BYTES])
{
    text[0] = '\0';
    if (!content->failed) {
        snprintf(
            text, GPUME_CONTENT_BYTES, "%" PRIu64 "-%016" PRIx64, content->bytes, content->sum);
    }
}

void gpume_content_of_input(const char *path, char text[GPUME_CONTENT_BYTES])
{
    struct content content = {.sum = GPUME_CHECKSUM_BEGIN};
    const char *name = gpume_path_of_input(path);
    if (access(name, F_OK) != 0 && gpume_pattern_kind(name) == GPUME_PATTERN_NUMBERED) {
        add_series_content(&content, name);
    } else {
        add_file_content(&content, name, true);
    }
    put_content(&content, text);
}

void gpume_content_of_bytes(const void *data, size_t bytes, char text[GPUME_CONTENT_BYTES])
{
    const struct content content = {
        .bytes = bytes, .sum = gpume_checksum(GPUME_CHECKSUM_BEGIN, data, bytes)};
    put_content(&content, text);
}
