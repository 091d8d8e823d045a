/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sort_numbers: sorts the numbers of a text file.
 *
 *     sort_numbers [-n] [-r] [-v] [FILE]
 *
 *     -n  appends to each number the line that it came from
 *     -r  sorts in decreasing order
 *     -v  says on standard error which device sorted and how long it took
 *
 * FILE, or standard input, contains integers from 0 to 4294967295, separated by white space. They
 * are printed one per line. Arrays in host memory need three calls:
 *
 *     1. gpume_compute_open   the best GPU, else the CPU
 *     2. gpume_sort           keys, and a 32-bit payload that moves with each key
 *     3. gpume_compute_close
 *
 * The payload is anything that belongs to a key: here the line number, in other programs usually
 * the index of a larger record, which then need not be moved. The sort is stable: equal numbers
 * keep the order in which they were read, with -r too, as -n shows.
 *
 * Exit status: 0 success, 1 failure, 2 wrong usage.
 */
#define _POSIX_C_SOURCE 200809L

#include <gpume/compute.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_MAX (UINT64_C(1) << 30) /* limit of gpume_sort */

struct numbers {
    uint32_t *keys, *lines; /* the payload */
    uint64_t count, capacity;
};

/* Each error or warning is one line of text, logged once. */
static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    bool *logged = opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "sort_numbers: %s\n", line);
        *logged = *logged || level == GPUME_LOG_ERROR;
    }
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "sort_numbers: %s: %s\n", what, why);
    return -1;
}

static int fail_at(const char *name, uint32_t line, const char *why)
{
    fprintf(stderr, "sort_numbers: %s:%" PRIu32 ": %s\n", name, line, why);
    return -1;
}

static int grow(struct numbers *numbers)
{
    const uint64_t capacity = numbers->capacity > 0 ? 2 * numbers->capacity : 1024;
    uint32_t *keys = realloc(numbers->keys, capacity * sizeof *keys);
    numbers->keys = keys ? keys : numbers->keys;
    uint32_t *lines = realloc(numbers->lines, capacity * sizeof *lines);
    numbers->lines = lines ? lines : numbers->lines;
    if (!keys || !lines) {
        return -1;
    }
    numbers->capacity = capacity;
    return 0;
}

static bool is_blank(int character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

/* Reads a number whose first character has been read. False: not a number, or too large. */
static bool read_number(FILE *file, int *character, uint32_t *number)
{
    uint64_t value = 0;
    for (; *character >= '0' && *character <= '9'; *character = getc(file)) {
        value = 10 * value + (uint64_t)(*character - '0');
        if (value > UINT32_MAX) {
            return false;
        }
    }
    *number = (uint32_t)value;
    return *character == EOF || is_blank(*character);
}

static int read_numbers(FILE *file, const char *name, struct numbers *numbers)
{
    uint32_t line = 1;
    int character = getc(file);
    while (character != EOF) {
        if (is_blank(character)) {
            line += character == '\n';
            character = getc(file);
            continue;
        }
        uint32_t number = 0;
        if (!read_number(file, &character, &number)) {
            return fail_at(name, line, "not an integer from 0 to 4294967295");
        }
        if (numbers->count == COUNT_MAX) {
            return fail_at(name, line, "more than 2^30 numbers");
        }
        if (numbers->count == numbers->capacity && grow(numbers) < 0) {
            return fail_at(name, line, "out of memory");
        }
        numbers->keys[numbers->count] = number;
        numbers->lines[numbers->count++] = line;
    }
    return ferror(file) ? fail(name, strerror(errno)) : 0;
}

static int read_file(const char *path, struct numbers *numbers)
{
    if (!path || strcmp(path, "-") == 0) {
        return read_numbers(stdin, "standard input", numbers);
    }
    FILE *file = fopen(path, "r");
    if (!file) {
        return fail(path, strerror(errno));
    }
    const int result = read_numbers(file, path, numbers);
    fclose(file);
    return result;
}

static void print_times(const gpume_compute *compute, uint64_t count)
{
    struct gpume_compute_info info;
    struct gpume_compute_times times;
    gpume_compute_get_info(compute, &info);
    gpume_compute_get_times(compute, &times);
    fprintf(stderr, "sort_numbers: %" PRIu64 " numbers on %s (%s): %.3f ms", count, info.device,
        info.backend, (double)times.run_ns / 1e6);
    fprintf(stderr, ", plus %.3f ms for transfers\n",
        (double)(times.to_device_ns + times.from_device_ns) / 1e6);
}

static int sort(struct numbers *numbers, bool with_lines, bool descending, bool verbose)
{
    bool logged = false;
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.log = print_log;
    params.log_opaque = &logged;
    gpume_compute *compute = NULL;
    int status = gpume_compute_open(&compute, &params);
    if (status == GPUME_OK) {
        struct gpume_sort_params order;
        gpume_sort_params_default(&order);
        order.descending = descending;
        uint32_t *payload = with_lines ? numbers->lines : NULL; /* NULL: less data to move */
        status = gpume_sort(compute, &order, numbers->keys, payload, numbers->count);
    }
    if (status == GPUME_OK && verbose) {
        print_times(compute, numbers->count);
    }
    const int closed = gpume_compute_close(&compute);
    status = status != GPUME_OK ? status : closed;
    if (status != GPUME_OK && !logged) {
        fail("sorting", gpume_status_text(status));
    }
    return status == GPUME_OK ? 0 : -1;
}

static int print(const struct numbers *numbers, bool with_lines)
{
    for (uint64_t i = 0; i < numbers->count; i++) {
        printf("%" PRIu32, numbers->keys[i]);
        if (with_lines) {
            printf(" %" PRIu32, numbers->lines[i]);
        }
        putchar('\n');
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return fail("standard output", "cannot be written");
    }
    return 0;
}

int main(int argc, char **argv)
{
    bool with_lines = false, descending = false, verbose = false, usable = true;
    opterr = 0; /* the usage is printed instead */
    for (int option = getopt(argc, argv, "nrv"); option != -1; option = getopt(argc, argv, "nrv")) {
        with_lines = with_lines || option == 'n';
        descending = descending || option == 'r';
        verbose = verbose || option == 'v';
        usable = usable && option != '?';
    }
    if (!usable || argc - optind > 1) {
        fprintf(stderr, "usage: sort_numbers [-n] [-r] [-v] [FILE]\n");
        return 2;
    }
    struct numbers numbers = {0};
    int result = read_file(argv[optind], &numbers);
    if (result == 0) {
        result = sort(&numbers, with_lines, descending, verbose);
    }
    if (result == 0) {
        result = print(&numbers, with_lines);
    }
    free(numbers.lines);
    free(numbers.keys);
    return result == 0 ? 0 : 1;
}
