/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saved states of runs, which --resume reads. Bit 0 of the first byte: the rest is the file, or a
 * list of edits to a valid state; bit 1: that state has a temporary file; bit 2: its checksum is
 * corrected.
 */
#include "base/base.h"
#include "fuzz.h"
#include "media/video.h"
#include "resume/state.h"

#define TEXT_MAX ((size_t)64 * 1024)
#define END_BYTES 37 /* ,\n  "checksum": "0123456789abcdef"\n}\n */

static const struct gpume_log silent;
static char folder[] = "/tmp/gpume-fuzz-XXXXXX", path[64], output_path[64];

static void remove_folder(void)
{
    (void)unlink(path);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    if (path[0] == '\0') {
        FUZZ_REQUIRE(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/state", folder);
        snprintf(output_path, sizeof output_path, "%s/v.csv", folder);
        FUZZ_REQUIRE(atexit(remove_folder) == 0);
    }
}

/* An ordinary run. */
struct saved_run {
    struct gpume_run run;
    struct gpume_run_input input;
    struct gpume_summary summary;
    struct gpume_run_state_output output;
    struct gpume_run_state state;
};

static void fill(struct saved_run *saved, bool marked)
{
    static const struct gpume_run_request asked = {.source.stream = -1};
    static const struct gpume_source_info video = {.codec = "rawvideo"};
    *saved = (struct saved_run){
        .run = {.asked = &asked,
            .input = "in.y4m",
            .video = &video,
            .params = {.block = 8, .device = "0"}},
        .input = {.name = "1:2:", .files = UINT64_MAX},
        .summary = {.run = &saved->run, .targets = 3, .last_field = 3},
        .output = {.name = "vectors", .path = output_path, .marked = marked},
        .state = {.summary = &saved->summary,
            .input = &saved->input,
            .outputs = &saved->output,
            .output_count = 1,
            .synced = true},
    };
    saved->summary.all = (struct gpume_statistics){
        .fields = 3, .sse_before = {UINT64_MAX, 1}, .psnr_before = {-1.5, 3}};
    saved->output.mark = (struct gpume_out_mark){.dated = true, .bytes = 12};
}

static size_t read_file(uint8_t *text)
{
    FILE *file = fopen(path, "rb");
    FUZZ_REQUIRE(file);
    const size_t count = fread(text, 1, TEXT_MAX, file);
    fclose(file);
    return count;
}

static void write_file(const uint8_t *text, size_t count)
{
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file && fwrite(text, 1, count, file) == count && fclose(file) == 0);
}

/* Replaces some bytes by others, several times. */
static size_t edit(struct fuzz_bytes *from, uint8_t *text, size_t count)
{
    while (from->left > 0) {
        uint8_t inserted[256];
        const size_t at = (size_t)(fuzz_u8(from) << 8 | fuzz_u8(from)) % (count + 1);
        const size_t dropped = fuzz_u8(from) % (count - at + 1), added = fuzz_u8(from);
        if (count - dropped + added > TEXT_MAX) {
            break;
        }
        fuzz_take(from, inserted, added);
        memmove(text + at + added, text + at + dropped, count - at - dropped);
        memcpy(text + at, inserted, added);
        count += added;
        count -= dropped;
    }
    return count;
}

static void correct_checksum(uint8_t *text, size_t count)
{
    char end[END_BYTES + 1];
    if (count >= END_BYTES) {
        const unsigned long long sum =
            gpume_checksum(GPUME_CHECKSUM_BEGIN, text, count - END_BYTES);
        snprintf(end, sizeof end, ",\n  \"checksum\": \"%016llx\"\n}\n", sum);
        memcpy(text + count - END_BYTES, end, END_BYTES);
    }
}

/* Sums are restored only from a state that can be resumed. */
static void read_state(bool marked, bool edited)
{
    static struct saved_run now;
    static struct gpume_summary summary, before;
    fill(&now, marked);
    before = summary = (struct gpume_summary){.run = &now.run};
    const int status = gpume_run_state_read(&now.state, &summary, path, &silent);
    if (!edited) {
        FUZZ_REQUIRE(status == (marked ? GPUME_EOF : GPUME_OK));
        FUZZ_REQUIRE(marked || memcmp(&summary.all, &now.summary.all, sizeof summary.all) == 0);
    }
    FUZZ_ALWAYS(status == GPUME_OK || memcmp(&summary, &before, sizeof summary) == 0);
}

int FUZZ_TARGET(const uint8_t *data, size_t bytes)
{
    static uint8_t text[TEXT_MAX];
    static struct saved_run was;
    struct fuzz_bytes from = {data, bytes};
    const uint8_t kind = fuzz_u8(&from);
    const bool marked = kind & 2, edited = from.left > 0;
    make_folder();
    if (kind & 1) {
        write_file(from.at, from.left);
        read_state(marked, true);
        return 0;
    }
    fill(&was, marked);
    const int status = gpume_run_state_write(&was.state, path, &silent);
    FUZZ_REQUIRE(status == GPUME_OK);
    if (status != GPUME_OK) {
        return 0;
    }
    size_t count = edit(&from, text, read_file(text));
    if (kind & 4) {
        correct_checksum(text, count);
    }
    write_file(text, count);
    read_state(marked, edited);
    return 0;
}
