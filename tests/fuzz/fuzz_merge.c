/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of parts, which gpume merge reads. The first byte chooses one: a summary.json, a
 * frames.csv, a file whose bytes are joined, a report, a numbered file, or the window of a summary
 * and a report. The others are those of an ordinary part.
 */
#include "fuzz.h"
#include "gpume/gpume.h"
#include "merge/parts.h"

#include <inttypes.h>

static const struct gpume_log silent;
static char folder[] = "/tmp/gpume-fuzz-XXXXXX", summary_path[64], frames_path[64], other_path[64];

enum kind { SUMMARY, FRAMES_CSV, JOINED, REPORT, NUMBERED, OF_WINDOW, KINDS };

/* %s: the window */
static const char summary[] =
    "{\"format\": 1, \"gpume\": \"0\", \"input\": {\"name\": \"a\", \"width\": 16, \"height\": 16, "
    "\"bits\": 8, \"frames\": 3}, \"parameters\": {\"window\": \"%s\", \"ref-distance\": 1, "
    "\"direction\": \"past\", \"start\": 0, \"frames\": 2}, \"fields\": 2, \"blocks_per_field\": "
    "4, "
    "\"totals\": {\"blocks\": 8, \"sad_after\": 30}, \"stages\": {}}";
static const char frames[] = "frame,ref,blocks,zero,sad_before,sad_after,sse_before,sse_after\n"
                             "1,0,4,0,20,10,40,20\n2,1,4,1,40,20,80,40\n";

static void remove_folder(void)
{
    (void)unlink(summary_path);
    (void)unlink(frames_path);
    (void)unlink(other_path);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    if (summary_path[0] == '\0') {
        FUZZ_REQUIRE(mkdtemp(folder));
        snprintf(summary_path, sizeof summary_path, "%s/summary.json", folder);
        snprintf(frames_path, sizeof frames_path, "%s/frames.csv", folder);
        snprintf(other_path, sizeof other_path, "%s/other", folder);
        FUZZ_REQUIRE(atexit(remove_folder) == 0);
    }
}

static void put_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

/* A summary, whose window may be the two numbers that come first. */
static void put_summary(struct fuzz_bytes *from, bool chosen)
{
    char text[sizeof summary + 32], window[32] = "7x7";
    if (chosen) {
        const uint32_t x = fuzz_u32(from), y = fuzz_u32(from);
        snprintf(window, sizeof window, "%" PRIu32 "x%" PRIu32, x, y);
    }
    const int bytes = snprintf(text, sizeof text, summary, window);
    put_file(summary_path, text, (size_t)bytes);
}

static struct gpume_out *open_nowhere(void)
{
    struct gpume_out *out = NULL;
    FUZZ_REQUIRE(gpume_out_open(&out, "/dev/null", true, &silent) == GPUME_OK);
    return out;
}

static void join(const struct gpume_merge_total *total, bool report)
{
    const struct gpume_merge_part *part = &total->parts[0];
    struct gpume_join_file file = {0};
    struct gpume_out *out = open_nowhere();
    if (!out) {
        return;
    }
    if (gpume_join_look(&file, strdup(other_path), &silent) == GPUME_OK) {
        FUZZ_REQUIRE(file.head_bytes <= file.bytes && file.head_bytes <= GPUME_JOIN_HEAD_MAX);
        FUZZ_REQUIRE(gpume_join_check(&file, &file, &silent) == GPUME_OK);
        if (report) {
            (void)gpume_merge_report_write(out, &file, total, &silent);
        } else if (gpume_join_count(&file, part, &silent) == GPUME_OK) {
            (void)gpume_join_head(out, &file, 1, &silent);
            (void)gpume_join_append(out, &file, NULL, &silent);
        }
    }
    gpume_join_finish(&file);
    gpume_out_close(&out);
}

static void merge(struct gpume_merge_part *part, bool report)
{
    struct gpume_merge_total total;
    gpume_merge_total_begin(&total, part, 1);
    if (gpume_merge_total_add(&total, part, NULL, NULL, &silent) == GPUME_OK) {
        struct gpume_out *out = open_nowhere();
        FUZZ_ALWAYS(total.summary.all.fields == part->fields);
        if (out) {
            gpume_merge_total_write(&total, out);
            gpume_out_close(&out);
            join(&total, report);
        }
    }
}

int FUZZ_TARGET(const uint8_t *data, size_t bytes)
{
    struct fuzz_bytes from = {data, bytes};
    const uint8_t kind = fuzz_u8(&from) % KINDS;
    struct gpume_merge_part part = {0};
    make_folder();
    put_summary(&from, kind == OF_WINDOW);
    put_file(frames_path, frames, sizeof frames - 1);
    put_file(kind == SUMMARY      ? summary_path
             : kind == FRAMES_CSV ? frames_path
                                  : other_path,
        from.at, from.left);
    if (kind == NUMBERED) {
        (void)gpume_merge_length_still(other_path, &silent);
    }
    if (gpume_merge_part_read(&part, folder, &silent) == GPUME_OK) {
        FUZZ_REQUIRE(part.fields > 0 && (part.is_open || part.end > part.first));
        FUZZ_REQUIRE(gpume_merge_parts_check(&part, 1, false, &silent) == GPUME_OK);
        merge(&part, kind == REPORT || kind == OF_WINDOW);
    } else {
        FUZZ_REQUIRE(kind == SUMMARY || kind == OF_WINDOW);
    }
    gpume_merge_part_finish(&part);
    return 0;
}
