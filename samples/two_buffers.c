/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * two_buffers: the shortest complete use of gpume. No files, no video library, one thread.
 *
 * It paints a texture into one buffer, and into a second one again, 5 pixels further to the right
 * and 3 pixels further up, and asks the library where each block of the second picture came from.
 * The steps, in order:
 *
 *     1. gpume_params_default, then the parameters that differ; width and height have no default
 *     2. gpume_open           checks the parameters, chooses the engine, allocates everything
 *     3. gpume_send_plane     once per frame, in presentation order; the plane is copied
 *     4. gpume_finish         no more frames will come
 *     5. gpume_receive        one field per target frame, until GPUME_EOF
 *     6. gpume_field_release  for every field: its memory belongs to the library
 *     7. gpume_close          releases everything else and returns the first failure of the run
 *
 * Two frames give one field, since the first frame has no reference. A vector points from a block
 * of the target to its match in the reference, so content that moved by (+5,-3) has the vector
 * (-5,+3).
 *
 * Output: the field as a grid with "(dx,dy) cost" for each block, then its sums. Exit status: 0 if
 * the motion was found, 1 if it was not or the library failed.
 */
#include <gpume/gpume.h>

#include <inttypes.h>
#include <stdio.h>

enum { WIDTH = 76, HEIGHT = 60, BLOCK = 16, WINDOW = 7 };

/* The vector to be found: where samples of the target lie in the reference. */
enum { TRUE_DX = -5, TRUE_DY = 3 };

/* Each error or warning is one line of text, logged once, possibly from another thread. */
static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "two_buffers: %s\n", line);
    }
}

/* A sample of an endless texture without nearby repetitions: a hash of the position. */
static uint8_t texture(int x, int y)
{
    uint32_t bits = (uint32_t)(x + 1000) * 0x9E3779B1u + (uint32_t)(y + 1000) * 0x85EBCA77u;
    bits = (bits ^ (bits >> 15)) * 0x2C1B3C6Du;
    bits = (bits ^ (bits >> 12)) * 0x297A2D39u;
    return (uint8_t)(bits >> 24);
}

/* Paints the texture as seen through a window whose upper left corner is at (left,top). */
static void paint(uint8_t samples[HEIGHT][WIDTH], int left, int top)
{
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            samples[y][x] = texture(left + x, top + y);
        }
    }
}

/* The stride is the distance of rows in bytes, which may exceed the width. */
static int send_samples(gpume *ctx, uint8_t samples[HEIGHT][WIDTH], int64_t time_us)
{
    const struct gpume_plane plane = {
        .data = samples, .stride = WIDTH, .width = WIDTH, .height = HEIGHT, .bits = 8};
    return gpume_send_plane(ctx, &plane, time_us);
}

static void print_field(const struct gpume_field *field)
{
    printf("frame %" PRIu64 " predicted from frame %" PRIu64 ", %" PRIu32 " x %" PRIu32 " blocks\n",
        field->frame, field->ref, field->blocks_x, field->blocks_y);
    for (uint32_t y = 0; y < field->blocks_y; y++) {
        for (uint32_t x = 0; x < field->blocks_x; x++) {
            const uint32_t block = y * field->blocks_x + x; /* raster order */
            const struct gpume_vector vector = field->vectors[block];
            printf(" (%+3d,%+3d) %5" PRIu32, vector.dx, vector.dy, field->costs[block]);
        }
        printf("\n");
    }
    const struct gpume_sums *sums = &field->sums;
    const uint64_t pixels = (uint64_t)WIDTH * HEIGHT;
    printf("zero vectors %" PRIu64 "\n", sums->zero);
    printf("SAD  %" PRIu64 " before, %" PRIu64 " after\n", sums->sad_before, sums->sad_after);
    printf("SSE  %" PRIu64 " before, %" PRIu64 " after\n", sums->sse_before, sums->sse_after);
    printf("PSNR %.3f dB before, %.3f dB after\n", gpume_psnr(8, pixels, sums->sse_before),
        gpume_psnr(8, pixels, sums->sse_after));
}

/* Does the true match lie wholly inside the reference? Otherwise part of the block has entered the
 * picture over an edge, and no match is exact. */
static bool is_visible(uint32_t block_x, uint32_t block_y)
{
    const int left = (int)block_x * BLOCK + TRUE_DX, top = (int)block_y * BLOCK + TRUE_DY;
    const int right = left + BLOCK, bottom = top + BLOCK;
    return left >= 0 && top >= 0 && right <= WIDTH && bottom <= HEIGHT;
}

static bool is_found(const struct gpume_field *field)
{
    bool found = true;
    for (uint32_t y = 0; y < field->blocks_y; y++) {
        for (uint32_t x = 0; x < field->blocks_x; x++) {
            const uint32_t block = y * field->blocks_x + x;
            const struct gpume_vector vector = field->vectors[block];
            const bool exact = vector.dx == TRUE_DX && vector.dy == TRUE_DY;
            if (is_visible(x, y) && (!exact || field->costs[block] != 0)) {
                fprintf(stderr, "two_buffers: block %" PRIu32 ",%" PRIu32 ": wrong vector\n", x, y);
                found = false;
            }
        }
    }
    return found;
}

/* Everything between gpume_open and gpume_close. */
static int run(gpume *ctx, bool *found)
{
    static uint8_t reference[HEIGHT][WIDTH], target[HEIGHT][WIDTH];
    paint(reference, 0, 0);
    paint(target, TRUE_DX, TRUE_DY);
    int status = send_samples(ctx, reference, 0);
    if (status == GPUME_OK) {
        status = send_samples(ctx, target, 40000); /* microseconds; comes back as field->time_us */
    }
    if (status == GPUME_OK) {
        status = gpume_finish(ctx);
    }
    while (status == GPUME_OK) {
        const struct gpume_field *field = NULL;
        status = gpume_receive(ctx, &field, 0); /* waits for work under way */
        if (status == GPUME_OK) {
            print_field(field);
            *found = is_found(field);
            gpume_field_release(&field);
        }
    }
    return status == GPUME_EOF ? GPUME_OK : status;
}

int main(void)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = WIDTH;
    params.height = HEIGHT;
    params.block = BLOCK;
    params.window_x = WINDOW;
    params.window_y = WINDOW;
    params.log = print_log;

    gpume *ctx = NULL;
    int status = gpume_open(&ctx, &params);
    if (status != GPUME_OK) {
        fprintf(stderr, "two_buffers: %s\n", gpume_status_text(status));
        return 1;
    }
    struct gpume_info info;
    gpume_get_info(ctx, &info);
    printf("engine %s: %s\n", info.backend, info.device);

    bool found = false;
    status = run(ctx, &found);
    const int closed = gpume_close(&ctx);
    status = status != GPUME_OK ? status : closed;
    if (status != GPUME_OK) {
        fprintf(stderr, "two_buffers: %s\n", gpume_status_text(status));
        return 1;
    }
    printf("%s\n", found ? "the motion was found" : "the motion was NOT found");
    return found ? 0 : 1;
}
