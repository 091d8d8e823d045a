/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the text or the bytes of words in the output's own memory, on several threads if there are
 * many processors.
 */
#include "sort/integers.h"

#include "base/status.h"
#include "files/digits.h"
#include "files/little_endian.h"
#include "files/out.h"
#include "files/out_set.h"
#include "files/path.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Words that a thread converts at a time, about 100 us of work, and the number of such items
 * between two checks whether to stop. */
#define ITEM_WORDS 32768u
#define ROUND_ITEMS 32u

#define NUMBER_BYTES 12u /* "-2147483648" and the line's end */
#define SLACK_BYTES 16u  /* see digits.h */
_Static_assert(ITEM_WORDS *NUMBER_BYTES + SLACK_BYTES <= GPUME_OUT_ITEM_BYTES, "an item fits");

struct making {
    const struct gpume_integers *integers;
    uint64_t first; /* word of item 0 */
};

/* The first word of an item, and the end. */
static uint64_t bounds(const struct making *making, uint32_t item, uint64_t *end)
{
    const uint64_t begin = making->first + (uint64_t)item * ITEM_WORDS;
    const uint64_t left = making->integers->count - begin;
    *end = begin + (left < ITEM_WORDS ? left : ITEM_WORDS);
    return begin;
}

/* A gpume_make_fn, like the next one; any thread calls it. */
static size_t make_text(void *opaque, uint32_t item, char *start)
{
    const struct making *making = opaque;
    const struct gpume_integers *integers = making->integers;
    uint64_t end;
    char *at = start;
    for (uint64_t i = bounds(making, item, &end); i < end; i++) {
        uint32_t value = integers->words[i];
        if (i - integers->negative_first < integers->negative_count) {
            *at++ = '-';
            value = 0 - value;
        }
        at = gpume_digits_put(at, value);
        *at++ = '\n';
    }
    return (size_t)(at - start);
}

static size_t make_binary(void *opaque, uint32_t item, char *start)
{
    const struct making *making = opaque;
    uint64_t end;
    unsigned char *at = (unsigned char *)start;
    for (uint64_t i = bounds(making, item, &end); i < end; i++) {
        at = gpume_le_put32(at, making->integers->words[i]);
    }
    return (size_t)(at - (unsigned char *)start);
}

struct gpume_integers_file {
    const char *path;
    struct gpume_out_set set;
    struct gpume_out *out; /* NULL: in_place, and writing has not begun */
    struct gpume_log log;
    bool in_place;
};

static bool is_in_place(const char *path)
{
    struct stat info;
    return gpume_path_descriptor(path) >= 0 ||
           (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

int gpume_integers_open(struct gpume_integers_file **result, const char *path, bool overwrite,
    const struct gpume_log *log)
{
    int status = GPUME_OK;
    struct gpume_integers_file *file = calloc(1, sizeof(*file));
    if (!file) {
        return gpume_log_nomem(log, path);
    }
    file->path = path;
    file->set = (struct gpume_out_set){.overwrite = overwrite, .alone = true, .over_input = true};
    file->log = *log;
    file->in_place = is_in_place(path);
    if (!file->in_place) {
        GPUME_TRY(gpume_out_open_in(&file->out, &file->set, path, log));
    }
    *result = file;
    return GPUME_OK;
fail:
    gpume_integers_close(&file);
    return status;
}

bool gpume_integers_is_in_place(const struct gpume_integers_file *file)
{
    return file->in_place;
}

int gpume_integers_write(struct gpume_integers_file *file, const struct gpume_integers *integers,
    bool binary, bool (*stop)(void))
{
    struct making making = {.integers = integers};
    struct gpume_makers *makers =
        integers->count > (uint64_t)ROUND_ITEMS * ITEM_WORDS ? gpume_out_makers(0) : NULL;
    int status = GPUME_OK;
    gpume_digits_init();
    if (!file->out) {
        GPUME_TRY(gpume_out_open_in(&file->out, &file->set, file->path, &file->log));
    }
    while (making.first < integers->count) {
        const uint64_t left = (integers->count - making.first + ITEM_WORDS - 1) / ITEM_WORDS;
        struct gpume_job job = {.make = binary ? make_binary : make_text,
            .opaque = &making,
            .count = left < ROUND_ITEMS ? (uint32_t)left : ROUND_ITEMS};
        GPUME_TRY(stop() ? GPUME_CANCELLED : GPUME_OK);
        GPUME_TRY(gpume_out_add(
            file->out, makers, &job, ITEM_WORDS * (binary ? 4 : NUMBER_BYTES) + SLACK_BYTES));
        gpume_makers_wait(makers, &job);
        making.first += (uint64_t)job.count * ITEM_WORDS;
    }
    GPUME_TRY(stop() ? GPUME_CANCELLED : GPUME_OK);
    status = gpume_out_finish(file->out);
fail:
    gpume_out_close(&file->out);
    gpume_makers_close(&makers);
    return status;
}

void gpume_integers_close(struct gpume_integers_file **file)
{
    if (*file) {
        gpume_out_close(&(*file)->out);
        free(*file);
        *file = NULL;
    }
}
