/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An independent implementation for the tests of the program, written from the definitions in
 * gpume.h: plain loops over clamped pixels that share no code with the program.
 *
 *   oracle clip W H BITS FRAMES SEED                     a gray y4m clip, to standard output
 *   oracle stream SECONDS                                a 64x48 clip, a frame every 50 ms
 *   oracle flat W H FRAMES NUM DEN                       that many frames of a few, at a rate
 *   oracle memory COMMAND...                             runs it; its largest memory in KiB
 *   oracle vectors    CLIP BLOCK WX WY EDGE DISTANCE     what vectors.csv must hold
 *   oracle frames     CLIP BLOCK WX WY EDGE DISTANCE     what frames.csv must hold
 *   oracle predicted  CLIP BLOCK WX WY EDGE DISTANCE     raw samples, little endian, of all fields
 *   oracle difference CLIP BLOCK WX WY EDGE DISTANCE GAIN GAMMA
 *   oracle residual   CLIP BLOCK WX WY EDGE DISTANCE GAIN GAMMA
 *   oracle signed     CLIP BLOCK WX WY EDGE DISTANCE GAIN GAMMA
 *
 * DISTANCE looks into the past, +DISTANCE into the future, both:DISTANCE both ways. CLIP is a y4m
 * file of 25 frames a second, gray or 4:2:0. One thread; exits with 1 on any trouble.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct clip {
    int width, height, bits, count;
    uint16_t *samples;
};

struct task {
    const char *what;
    struct clip clip;
    int block, wx, wy, distance;
    bool past, future;
    bool inside;
    double gain, gamma;
};

struct match {
    int dx, dy;
    uint64_t cost;
    int rank;
};

static void die(const char *why)
{
    fprintf(stderr, "oracle: %s\n", why);
    exit(1);
}

static void *need(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) {
        die("out of memory");
    }
    return memory;
}

static int number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static void put_sample(unsigned value, int bits)
{
    putchar((int)(value & 255));
    if (bits > 8) {
        putchar((int)(value >> 8));
    }
}

/* Coarse noise of few levels, so that costs tie often, and a flat corner. It moves a little in each
 * frame, and a few samples change. */
static unsigned texture(int x, int y, unsigned seed, unsigned peak)
{
    uint32_t hash = (uint32_t)(x / 3 + 1000) * 2654435761u ^ (uint32_t)(y / 2 + 1000) * 40503u ^
                    seed * 2246822519u;
    hash ^= hash >> 15;
    hash *= 2654435761u;
    hash ^= hash >> 13;
    return hash % 5 * (peak / 4);
}

static void put_frame(int width, int height, int bits, int index, unsigned seed)
{
    const unsigned peak = (1u << bits) - 1;
    printf("FRAME\n");
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            unsigned value = texture(x + 3 * index, y - 2 * index, seed, peak);
            if (x < width / 3 && y < height / 3) {
                value = peak / 2;
            }
            if ((x * 7 + y * 13 + index * 5) % 41 == 0) {
                value = peak - value;
            }
            put_sample(value, bits);
        }
    }
}

static void put_header(int width, int height, int bits)
{
    char depth[12] = "";
    if (bits > 8) {
        snprintf(depth, sizeof(depth), "%d", bits);
    }
    printf("YUV4MPEG2 W%d H%d F25:1 Ip A1:1 Cmono%s\n", width, height, depth);
}

static void make_stream(int seconds)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    put_header(64, 48, 8);
    for (int i = 0; i < seconds * 20 && !ferror(stdout); i++) {
        put_frame(64, 48, 8, i, 1);
        fflush(stdout);
        nanosleep(&pause, NULL);
    }
}

/* Writes the same eight frames again and again, as fast as possible. */
static void make_flat(int width, int height, int frames, int num, int den)
{
    printf("YUV4MPEG2 W%d H%d F%d:%d Ip A1:1 Cmono\n", width, height, num, den);
    unsigned char *samples = need((size_t)width * (size_t)height);
    for (int i = 0; i < frames && !ferror(stdout); i++) {
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                samples[y * width + x] = (unsigned char)(x * 31 + y * 57 + i % 8 * (x ^ y));
            }
        }
        printf("FRAME\n");
        fwrite(samples, (size_t)width, (size_t)height, stdout);
    }
    free(samples);
}

static int measure_memory(char **command)
{
    int status = 0;
    struct rusage usage;
    const pid_t child = fork();
    if (child == 0) {
        execv(command[0], command);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child ||
        getrusage(RUSAGE_CHILDREN, &usage) != 0 || !WIFEXITED(status)) {
        die("the command cannot be run");
    }
    printf("%ld\n", usage.ru_maxrss);
    return WEXITSTATUS(status);
}

static struct clip read_clip(const char *path)
{
    struct clip clip = {.bits = 8};
    char line[256];
    FILE *file = fopen(path, "rb");
    if (!file || !fgets(line, sizeof(line), file) || strncmp(line, "YUV4MPEG2 ", 10) != 0) {
        die("not a y4m file");
    }
    const bool mono = strstr(line, " Cmono") != NULL;
    const char *depth = strstr(line, mono ? " Cmono" : " C420p");
    clip.width = number(strstr(line, " W") + 2);
    clip.height = number(strstr(line, " H") + 2);
    if (depth && depth[6] >= '1' && depth[6] <= '9') {
        clip.bits = number(depth + 6);
    }
    const size_t pixels = (size_t)clip.width * (size_t)clip.height;
    const size_t chroma = (size_t)((clip.width + 1) / 2) * (size_t)((clip.height + 1) / 2) * 2;
    const size_t unit = clip.bits > 8 ? 2 : 1;
    unsigned char *raw = need((pixels + chroma) * unit);
    while (fgets(line, sizeof(line), file) && strncmp(line, "FRAME", 5) == 0) {
        const size_t bytes = (pixels + (mono ? 0 : chroma)) * unit;
        if (fread(raw, 1, bytes, file) != bytes) {
            die("the clip is cut off");
        }
        const size_t at = pixels * (size_t)clip.count++;
        clip.samples = realloc(clip.samples, (at + pixels) * sizeof(*clip.samples));
        if (!clip.samples) {
            die("out of memory");
        }
        for (size_t i = 0; i < pixels; i++) {
            clip.samples[at + i] =
                (uint16_t)(unit == 1 ? raw[i] : raw[2 * i] | raw[2 * i + 1] << 8);
        }
    }
    free(raw);
    fclose(file);
    return clip;
}

static int sample(const struct clip *clip, int frame, int x, int y)
{
    x = x < 0 ? 0 : x >= clip->width ? clip->width - 1 : x;
    y = y < 0 ? 0 : y >= clip->height ? clip->height - 1 : y;
    return clip->samples[((size_t)frame * (size_t)clip->height + (size_t)y) * (size_t)clip->width +
                         (size_t)x];
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static struct match search(const struct task *task, int frame, int ref, int x0, int y0)
{
    const struct clip *clip = &task->clip;
    const int w = least(task->block, clip->width - x0), h = least(task->block, clip->height - y0);
    struct match best = {.cost = UINT64_MAX};
    for (int dy = -task->wy; dy <= task->wy; dy++) {
        for (int dx = -task->wx; dx <= task->wx; dx++) {
            uint64_t cost = 0;
            if (task->inside && (x0 + dx < 0 || y0 + dy < 0 || x0 + dx + w > clip->width ||
                                    y0 + dy + h > clip->height)) {
                continue;
            }
            for (int y = y0; y < y0 + h; y++) {
                for (int x = x0; x < x0 + w; x++) {
                    cost += (uint64_t)abs(
                        sample(clip, frame, x, y) - sample(clip, ref, x + dx, y + dy));
                }
            }
            const bool still = dx == 0 && dy == 0;
            if (cost < best.cost || (cost == best.cost && still)) {
                best = (struct match){.dx = dx, .dy = dy, .cost = cost};
            }
        }
    }
    return best;
}

static struct match *search_all(
    const struct task *task, int frame, int ref, int *columns, int *count)
{
    const struct clip *clip = &task->clip;
    *columns = (clip->width + task->block - 1) / task->block;
    *count = *columns * ((clip->height + task->block - 1) / task->block);
    struct match *all = need((size_t)*count * sizeof(*all));
    for (int i = 0; i < *count; i++) {
        all[i] = search(task, frame, ref, i % *columns * task->block, i / *columns * task->block);
    }
    for (int i = 0; i < *count; i++) {
        for (int j = 0; j < *count; j++) {
            all[i].rank += all[j].cost > all[i].cost || (all[j].cost == all[i].cost && j < i);
        }
    }
    return all;
}

static void print_vectors(
    const struct task *task, int frame, int ref, const struct match *all, int columns, int count)
{
    for (int i = 0; i < count; i++) {
        const int x = i % columns * task->block, y = i / columns * task->block;
        printf("%d,%d,%d,%d,%d,%d,%d,%d,%" PRIu64 ",%d\n", frame, ref, x, y,
            least(task->block, task->clip.width - x), least(task->block, task->clip.height - y),
            all[i].dx, all[i].dy, all[i].cost, all[i].rank);
    }
}

static void print_psnr(const struct clip *clip, uint64_t sse, char end)
{
    const double peak = (double)((1 << clip->bits) - 1);
    if (sse == 0) {
        printf("inf%c", end);
    } else {
        printf("%.3f%c",
            10 * log10(peak * peak * (double)clip->width * (double)clip->height / (double)sse),
            end);
    }
}

static unsigned shown(const struct task *task, int difference)
{
    const int bits = task->clip.bits;
    const double peak = (double)((1 << bits) - 1);
    double value = strcmp(task->what, "signed") == 0
                       ? (double)(1 << (bits - 1)) + difference * task->gain
                       : abs(difference) * task->gain;
    value = fmin(fmax(value, 0), peak);
    return (unsigned)floor(peak * pow(value / peak, 1 / task->gamma) + 0.5);
}

/* The sums of one motion field, or its picture. */
static void do_pixels(
    const struct task *task, int frame, int ref, const struct match *all, int columns, int count)
{
    const struct clip *clip = &task->clip;
    const bool sums = strcmp(task->what, "frames") == 0;
    uint64_t sad[2] = {0}, sse[2] = {0};
    int zero = 0;
    for (int i = 0; i < count; i++) {
        zero += all[i].dx == 0 && all[i].dy == 0;
    }
    for (int y = 0; y < clip->height; y++) {
        for (int x = 0; x < clip->width; x++) {
            const struct match *m = &all[y / task->block * columns + x / task->block];
            const int predicted = sample(clip, ref, x + m->dx, y + m->dy);
            const int target = sample(clip, frame, x, y);
            const int d[2] = {target - sample(clip, ref, x, y), target - predicted};
            for (int k = 0; k < 2; k++) {
                sad[k] += (uint64_t)abs(d[k]);
                sse[k] += (uint64_t)((int64_t)d[k] * d[k]);
            }
            if (!sums) {
                put_sample(strcmp(task->what, "predicted") == 0    ? (unsigned)predicted
                           : strcmp(task->what, "difference") == 0 ? shown(task, d[0])
                                                                   : shown(task, d[1]),
                    clip->bits);
            }
        }
    }
    if (sums) {
        printf("%d,%d,%d.%02d0000,%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", frame,
            ref, frame / 25, frame % 25 * 4, count, zero, sad[0], sad[1], sse[0], sse[1]);
        print_psnr(clip, sse[0], ',');
        print_psnr(clip, sse[1], '\n');
    }
}

static void run_field(const struct task *task, int frame, int ref)
{
    int columns, count;
    struct match *all = search_all(task, frame, ref, &columns, &count);
    if (strcmp(task->what, "vectors") == 0) {
        print_vectors(task, frame, ref, all, columns, count);
    } else {
        do_pixels(task, frame, ref, all, columns, count);
    }
    free(all);
}

static void run_task(const struct task *task)
{
    const bool vectors = strcmp(task->what, "vectors") == 0;
    if (vectors) {
        printf("frame,ref,x,y,w,h,dx,dy,cost,rank\n");
    } else if (strcmp(task->what, "frames") == 0) {
        printf("frame,ref,time,blocks,zero,sad_before,sad_after,sse_before,sse_after,"
               "psnr_before,psnr_after\n");
    }
    for (int frame = 0; frame < task->clip.count; frame++) {
        const int before = frame - task->distance, behind = frame + task->distance;
        if (task->past && before >= 0) {
            run_field(task, frame, before);
        }
        if (task->future && behind < task->clip.count) {
            run_field(task, frame, behind);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 7 && strcmp(argv[1], "clip") == 0) {
        const int bits = number(argv[4]);
        put_header(number(argv[2]), number(argv[3]), bits);
        for (int i = 0; i < number(argv[5]); i++) {
            put_frame(number(argv[2]), number(argv[3]), bits, i, (unsigned)number(argv[6]));
        }
    } else if (argc >= 3 && strcmp(argv[1], "memory") == 0) {
        return measure_memory(argv + 2);
    } else if (argc == 7 && strcmp(argv[1], "flat") == 0) {
        make_flat(
            number(argv[2]), number(argv[3]), number(argv[4]), number(argv[5]), number(argv[6]));
    } else if (argc == 3 && strcmp(argv[1], "stream") == 0) {
        make_stream(number(argv[2]));
    } else if (argc == 8 || argc == 10) {
        const bool both = strncmp(argv[7], "both:", 5) == 0;
        struct task task = {
            .what = argv[1],
            .clip = read_clip(argv[2]),
            .block = number(argv[3]),
            .wx = number(argv[4]),
            .wy = number(argv[5]),
            .inside = strcmp(argv[6], "inside") == 0,
            .distance =
                number(argv[7] + (both ? strlen("both:") : 0)), /* strtol accepts the plus */
            .past = both || argv[7][0] != '+',
            .future = both || argv[7][0] == '+',
            .gain = argc == 10 ? strtod(argv[8], NULL) : 1,
            .gamma = argc == 10 ? strtod(argv[9], NULL) : 1,
        };
        run_task(&task);
        free(task.clip.samples);
    } else {
        die("see the head of oracle.c");
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
