/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume filter once more, written from gpume-filter(1) alone, with plain loops and 64-bit integers.
 *
 *   filter_oracle pictures CLIP                    CLIP without its repeated frames, as Y4M
 *   filter_oracle samples CLIP                     the samples of CLIP, in 16 bits
 *   filter_oracle filter CLIP VECTORS RADIUS WINDOW STRENGTH SIGMA SPATIAL [LEAST TYPES]
 *                                                  the filtered samples of CLIP, in 16 bits
 *   filter_oracle despot CLIP VECTORS              the samples of CLIP without spots, in 16 bits
 *
 * VECTORS: vectors.csv of the search that gpume-filter(1) names for it, of `pictures`. STRENGTH and
 * SPATIAL: in 1/32. SIGMA: in 1/100, or -1: auto. LEAST: the same, of frames whose letter in TYPES
 * is not b. CLIP: Y4M of 8 to 16 bits, gray, 4:2:0, 4:2:2 or 4:4:4. Exits with 1 on any trouble.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 64
#define RADIUS_MAX 4

static char head[400];
static int width, height, bits, sx, sy, planes, radius, window, k, c;
static int pw[3], ph[3];
static uint16_t *frames[FRAMES_MAX][3];
static int frame_count, picture_of[FRAMES_MAX], first_of[FRAMES_MAX], picture_count;

static struct vector {
    bool there;
    int dx, dy;
} * vectors;                        /* picture, reference index, block */
static int side = 16, across, down; /* of a block; blocks */

static void die(const char *why)
{
    fprintf(stderr, "filter_oracle: %s\n", why);
    exit(1);
}

static void *need(size_t bytes)
{
    void *memory = calloc(bytes > 0 ? bytes : 1, 1);
    if (!memory) {
        die("out of memory");
    }
    return memory;
}

static int number_after(const char *text, const char *what)
{
    const char *at = strstr(text, what);
    return at ? atoi(at + strlen(what)) : 0;
}

static void read_head(FILE *file)
{
    if (!fgets(head, sizeof(head), file)) {
        die("no Y4M");
    }
    width = number_after(head, " W");
    height = number_after(head, " H");
    const char *space = strstr(head, " C");
    if (width <= 0 || height <= 0 || !space) {
        die("no size or colour space");
    }
    planes = strncmp(space, " Cmono", 6) == 0 ? 1 : 3;
    sx = strncmp(space, " C444", 5) != 0 && planes == 3;
    sy = strncmp(space, " C420", 5) == 0;
    if (planes == 1) {
        bits = atoi(space + 6) > 0 ? atoi(space + 6) : 8;
    } else {
        bits = space[5] == 'p' && space[6] >= '0' && space[6] <= '9' ? atoi(space + 6) : 8;
    }
    for (int p = 0; p < planes; p++) {
        pw[p] = p > 0 ? (width + sx) >> sx : width;
        ph[p] = p > 0 ? (height + sy) >> sy : height;
    }
    k = bits > 10 ? bits - 10 : 0;
    c = bits - k;
}

static uint16_t *read_plane(FILE *file, int p)
{
    const size_t count = (size_t)pw[p] * (size_t)ph[p];
    uint16_t *plane = need(count * 2);
    for (size_t i = 0; i < count; i++) {
        const int low = fgetc(file), high = bits > 8 ? fgetc(file) : 0;
        if (low == EOF || high == EOF) {
            die("a frame is cut");
        }
        plane[i] = (uint16_t)(low | high << 8);
    }
    return plane;
}

static bool is_same(int a, int b)
{
    for (int p = 0; p < planes; p++) {
        if (memcmp(frames[a][p], frames[b][p], (size_t)pw[p] * (size_t)ph[p] * 2) != 0) {
            return false;
        }
    }
    return true;
}

static void read_clip(const char *path)
{
    char line[400];
    FILE *file = fopen(path, "rb");
    if (!file) {
        die("the clip cannot be opened");
    }
    read_head(file);
    while (fgets(line, sizeof(line), file)) {
        if (frame_count == FRAMES_MAX) {
            die("too many frames");
        }
        for (int p = 0; p < planes; p++) {
            frames[frame_count][p] = read_plane(file, p);
        }
        if (frame_count == 0 || !is_same(frame_count - 1, frame_count)) {
            first_of[picture_count++] = frame_count;
        }
        picture_of[frame_count++] = picture_count - 1;
    }
    fclose(file);
}

static void put_samples(const uint16_t *plane, int p, bool wide)
{
    for (int i = 0; i < pw[p] * ph[p]; i++) {
        putchar(plane[i] & 255);
        if (wide) {
            putchar(plane[i] >> 8);
        }
    }
}

/* --- what the manual defines */

static int64_t sample(const uint16_t *plane, int p, int x, int y)
{
    x = x < 0 ? 0 : x >= pw[p] ? pw[p] - 1 : x;
    y = y < 0 ? 0 : y >= ph[p] ? ph[p] - 1 : y;
    return plane[y * pw[p] + x];
}

static int64_t limited(int64_t value)
{
    const int64_t peak = (INT64_C(1) << bits) - 1;
    return value < 0 ? 0 : value > peak ? peak : value;
}

/* H.264, 8.4.2.2.1, by the names of its figure 8-4. */
static int64_t six(const uint16_t *plane, int x, int y, bool down_wards)
{
    static const int taps[6] = {1, -5, 20, 20, -5, 1};
    int64_t sum = 0;
    for (int i = 0; i < 6; i++) {
        sum +=
            taps[i] * sample(plane, 0, x + (down_wards ? 0 : i - 2), y + (down_wards ? i - 2 : 0));
    }
    return sum;
}

static int64_t half_b(const uint16_t *plane, int x, int y)
{
    return limited((six(plane, x, y, false) + 16) >> 5);
}

static int64_t half_h(const uint16_t *plane, int x, int y)
{
    return limited((six(plane, x, y, true) + 16) >> 5);
}

static int64_t half_j(const uint16_t *plane, int x, int y)
{
    static const int taps[6] = {1, -5, 20, 20, -5, 1};
    int64_t sum = 0;
    for (int i = 0; i < 6; i++) {
        sum += taps[i] * six(plane, x, y + i - 2, false);
    }
    return limited((sum + 512) >> 10);
}

static int64_t luma_at(const uint16_t *plane, int x4, int y4)
{
    const int x = x4 >> 2, y = y4 >> 2, fx = x4 & 3, fy = y4 & 3;
    const int64_t g = sample(plane, 0, x, y), b = half_b(plane, x, y), h = half_h(plane, x, y);
    const int64_t m = half_h(plane, x + 1, y), s = half_b(plane, x, y + 1);
    const int64_t j = half_j(plane, x, y);
    const int64_t right = sample(plane, 0, x + 1, y), below = sample(plane, 0, x, y + 1);
    switch (fy * 4 + fx) {
    case 0:
        return g;
    case 1:
        return (g + b + 1) >> 1;
    case 2:
        return b;
    case 3:
        return (right + b + 1) >> 1;
    case 4:
        return (g + h + 1) >> 1;
    case 5:
        return (b + h + 1) >> 1;
    case 6:
        return (b + j + 1) >> 1;
    case 7:
        return (b + m + 1) >> 1;
    case 8:
        return h;
    case 9:
        return (h + j + 1) >> 1;
    case 10:
        return j;
    case 11:
        return (j + m + 1) >> 1;
    case 12:
        return (below + h + 1) >> 1;
    case 13:
        return (h + s + 1) >> 1;
    case 14:
        return (j + s + 1) >> 1;
    default:
        return (s + m + 1) >> 1;
    }
}

static int64_t chroma_at(const uint16_t *plane, int p, int x8, int y8)
{
    static const int taps[8][4] = {{0, 64, 0, 0}, {-2, 58, 10, -2}, {-4, 54, 16, -2},
        {-6, 46, 28, -4}, {-4, 36, 36, -4}, {-4, 28, 46, -6}, {-2, 16, 54, -4}, {-2, 10, 58, -2}};
    int64_t sum = 0;
    for (int j = -1; j <= 2; j++) {
        for (int i = -1; i <= 2; i++) {
            sum += taps[x8 & 7][i + 1] * taps[y8 & 7][j + 1] *
                   sample(plane, p, (x8 >> 3) + i, (y8 >> 3) + j);
        }
    }
    return limited((sum + 2048) >> 12);
}

struct guess {
    bool there, used;
    uint16_t *plane[3];
    bool *rejected[3]; /* per block */
};

static struct guess guesses[2 * RADIUS_MAX]; /* by distance, the past first */

static struct vector *vector_of(int t, int i, int block)
{
    return &vectors[((size_t)t * 2 * RADIUS_MAX + (size_t)i) * (size_t)(across * down) +
                    (size_t)block];
}

static int block_of(int p, int x, int y)
{
    return ((p > 0 ? y << sy : y) / side) * across + (p > 0 ? x << sx : x) / side;
}

static void guess_picture(int t, int i)
{
    struct guess *guess = &guesses[i];
    const int reference = i % 2 ? t + i / 2 + 1 : t - i / 2 - 1;
    guess->there = reference >= 0 && reference < picture_count && i / 2 < radius;
    guess->used = false;
    for (int p = 0; p < planes && guess->there; p++) {
        const uint16_t *from = frames[first_of[reference]][p];
        free(guess->plane[p]);
        free(guess->rejected[p]);
        guess->plane[p] = need((size_t)pw[p] * (size_t)ph[p] * 2);
        guess->rejected[p] = need((size_t)(across * down) * sizeof(bool));
        for (int y = 0; y < ph[p]; y++) {
            for (int x = 0; x < pw[p]; x++) {
                const struct vector *v = vector_of(t, i, block_of(p, x, y));
                if (!v->there) {
                    die("a vector is missing");
                }
                guess->plane[p][y * pw[p] + x] =
                    (uint16_t)(p == 0 ? luma_at(from, 4 * x + v->dx, 4 * y + v->dy)
                                      : chroma_at(from, p, 8 * x + v->dx * (sx ? 1 : 2),
                                            8 * y + v->dy * (sy ? 1 : 2)));
            }
        }
    }
}

/* The rectangle of a block in a plane. */
struct area {
    int x, y, w, h;
    bool whole;
};

static struct area area_of(int p, int block)
{
    const int bw = p > 0 ? 16 >> sx : 16, bh = p > 0 ? 16 >> sy : 16;
    struct area area = {block % across * bw, block / across * bh, bw, bh, true};
    if (area.x + bw > pw[p]) {
        area.w = pw[p] - area.x;
        area.whole = false;
    }
    if (area.y + bh > ph[p]) {
        area.h = ph[p] - area.y;
        area.whole = false;
    }
    return area;
}

/* The variance, times this, of the work samples of a block, less those of another plane. */
static int64_t spread_of(
    const uint16_t *plane, const uint16_t *other, int p, struct area area, int64_t times)
{
    int64_t s = 0, q = 0, n = area.w * area.h;
    for (int y = area.y; y < area.y + area.h; y++) {
        for (int x = area.x; x < area.x + area.w; x++) {
            const int64_t d =
                (sample(plane, p, x, y) >> k) - (other ? sample(other, p, x, y) >> k : 0);
            s += d;
            q += d * d;
        }
    }
    return times * (n * q - s * s) / (n * n);
}

/* q */
static int64_t cell_of(const uint16_t *plane, int p, struct area area)
{
    int64_t least = INT64_MAX;
    for (int y = area.y; y < area.y + area.h; y += 8) {
        for (int x = area.x; x < area.x + area.w; x += 8) {
            const int64_t q = spread_of(plane, NULL, p, (struct area){x, y, 8, 8, true}, 256);
            least = q < least ? q : least;
        }
    }
    return least;
}

static int rising(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t four_to(int power)
{
    return INT64_C(1) << 2 * power;
}

static int64_t variance_of_sigma(int64_t sigma)
{
    return (256 * sigma * sigma * four_to(c - 8) + 5000) / 10000;
}

/* Whether the luma of a block lies between the first and the last line across and down in which
 * anything is brighter than bars are. */
static bool is_beyond_bars(const uint16_t *luma, int block)
{
    const int64_t a = luma[0] >> k, b = luma[width * height - 1] >> k, darker = a < b ? a : b;
    const int64_t most = darker > 20 << (c - 8) ? -1 : darker + (2 << (c - 8));
    const int x0 = block % across * 16, y0 = block / across * 16;
    bool above = false, below = false, before = false, after = false;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (luma[y * width + x] >> k > most) {
                above = above || y <= y0;
                below = below || y >= y0 + 15;
                before = before || x <= x0;
                after = after || x >= x0 + 15;
            }
        }
    }
    return above && below && before && after;
}

static int64_t measured(int t, int p)
{
    const uint16_t *plane = frames[first_of[t]][p];
    int64_t *textures = need((size_t)(across * down) * sizeof(int64_t));
    int64_t *cells = need((size_t)(across * down) * sizeof(int64_t));
    int64_t *residuals = need((size_t)(across * down) * sizeof(int64_t));
    int count = 0, flat = 0;
    for (int b = 0; b < across * down; b++) {
        const struct area area = area_of(p, b);
        if (!area.whole || !is_beyond_bars(frames[first_of[t]][0], b)) {
            continue;
        }
        const int64_t t256 = spread_of(plane, NULL, p, area, 256);
        if (t256 == 0) {
            flat++;
            continue;
        }
        int64_t least = INT64_MAX;
        for (int i = 0; i < 2; i++) {
            if (guesses[i].there) {
                const int64_t v = spread_of(plane, guesses[i].plane[p], p, area, 128);
                least = v < least ? v : least;
            }
        }
        textures[count] = t256;
        cells[count] = cell_of(plane, p, area);
        residuals[count++] = least;
    }
    int64_t variance = 0;
    if (flat <= count && count > 0 && (guesses[0].there || guesses[1].there)) {
        qsort(textures, (size_t)count, sizeof(int64_t), rising);
        qsort(cells, (size_t)count, sizeof(int64_t), rising);
        qsort(residuals, (size_t)count, sizeof(int64_t), rising);
        const int64_t texture = textures[count / 12], v = residuals[count / 8];
        const int64_t q = cells[count / 12], u = v < q ? v : q;
        variance = u < texture / 32 ? 0 : 2 * (u - texture / 32) - 21;
        variance = variance < 0 ? 0 : variance;
        variance = variance > variance_of_sigma(5000) ? variance_of_sigma(5000) : variance;
    }
    free(textures);
    free(cells);
    free(residuals);
    return variance;
}

/* Step 2. False: the light has changed too much. */
static bool adjust(
    uint16_t *guess, const uint16_t *plane, int p, struct area area, int64_t variance)
{
    int64_t s = 0;
    const int64_t n = area.w * area.h;
    for (int y = area.y; y < area.y + area.h; y++) {
        for (int x = area.x; x < area.x + area.w; x++) {
            s += sample(plane, p, x, y) - sample(guess, p, x, y);
        }
    }
    if (256 * s * s <= 18 * n * (variance << 2 * k)) {
        return true;
    }
    const int64_t size = (2 * (s < 0 ? -s : s) + n) / (2 * n), a = s < 0 ? -size : size;
    if (size > 16 << (bits - 8)) {
        return false;
    }
    for (int y = area.y; y < area.y + area.h; y++) {
        for (int x = area.x; x < area.x + area.w; x++) {
            uint16_t *at = &guess[y * pw[p] + x];
            *at = (uint16_t)limited(*at + a);
        }
    }
    return true;
}

static bool fits(const uint16_t *guess, const uint16_t *plane, struct area area, int64_t variance)
{
    int64_t sum = 0;
    for (int y = area.y; y < area.y + area.h; y++) {
        for (int x = area.x; x < area.x + area.w; x++) {
            const int64_t e = (sample(plane, 0, x, y) >> k) - (sample(guess, 0, x, y) >> k);
            sum += e * e;
        }
    }
    return 256 * sum <= area.w * area.h * (16 * variance + 4096 * four_to(c - 8));
}

static int64_t positive(int64_t value)
{
    return value > 0 ? value : 0;
}

/* Adds to R and T of the manual what a block of luma gives. */
static void add_likeness(const uint16_t *guess, const uint16_t *plane, struct area area,
    int64_t variance, int64_t *r, int64_t *t)
{
    const int64_t n = area.w * area.h;
    int64_t sum = 0, squares = 0, differences = 0;
    for (int y = area.y; y < area.y + area.h; y++) {
        for (int x = area.x; x < area.x + area.w; x++) {
            const int64_t u = sample(plane, 0, x, y) >> k;
            const int64_t e = u - (sample(guess, 0, x, y) >> k);
            sum += u;
            squares += u * u;
            differences += e * e;
        }
    }
    const int64_t b = n * squares - sum * sum;
    *r += positive(256 * differences - 4 * n * variance);
    *t += positive(256 * b / n - 2 * n * variance) + n * (variance + 4096 * four_to(c - 8));
}

static bool begins[FRAMES_MAX]; /* a scene */

static void choose_blocks(int t, const int64_t *variances)
{
    bool open[2] = {true, true};
    for (int i = 0; i < 2 * radius; i++) {
        struct guess *guess = &guesses[i];
        int used = 0;
        int64_t r = 0, texture = 0;
        for (int b = 0; b < across * down && guess->there; b++) {
            const struct vector *v = vector_of(t, i, b);
            const bool border = abs(v->dx) == 4 * window || abs(v->dy) == 4 * window;
            bool luma = false;
            for (int p = 0; p < planes; p++) {
                const uint16_t *plane = frames[first_of[t]][p];
                const struct area area = area_of(p, b);
                const bool lit = adjust(guess->plane[p], plane, p, area, variances[p]);
                if (p == 0) {
                    luma = lit && !border && fits(guess->plane[0], plane, area, variances[0]);
                    used += luma;
                    add_likeness(guess->plane[0], plane, area, variances[0], &r, &texture);
                }
                guess->rejected[p][b] = !luma || !lit;
            }
        }
        open[i % 2] = open[i % 2] && guess->there && 2 * used >= across * down &&
                      (i % 2 == 0 && i > 0 ? !begins[t - i / 2] : 2 * r <= texture);
        guess->used = open[i % 2];
    }
    begins[t] = !guesses[0].used;
}

/* Whether a sample's place in the reference lies within the picture. */
static bool is_within(int t, int i, int p, int x, int y)
{
    const struct vector *v = vector_of(t, i, block_of(p, x, y));
    const int u = x + (p > 0 && sx ? v->dx >> 3 : v->dx >> 2);
    const int w = y + (p > 0 && sy ? v->dy >> 3 : v->dy >> 2);
    return u >= 0 && u < pw[p] && w >= 0 && w < ph[p];
}

/* The weights of a sample and of its predictions, and the sum of these by them. */
struct mean {
    int64_t sum, weights;
};

static struct mean mean_at(int t, int p, int x, int y, int64_t variance, int strength, bool within)
{
    const uint16_t *plane = frames[first_of[t]][p];
    const int64_t lo = 75 * variance >> 9, hi = 375 * variance >> 9;
    int64_t sum = 4096 * sample(plane, p, x, y), weights = 4096;
    for (int i = 0; i < 2 * radius && hi > lo; i++) {
        const struct guess *guess = &guesses[i];
        if (!guess->used || guess->rejected[p][block_of(p, x, y)] ||
            (within && !is_within(t, i, p, x, y))) {
            continue;
        }
        int64_t d = 0;
        for (int v = y - 2; v <= y + 2; v++) {
            for (int u = x - 2; u <= x + 2; u++) {
                const int64_t e =
                    (sample(plane, p, u, v) >> k) - (sample(guess->plane[p], p, u, v) >> k);
                d += e * e;
            }
        }
        const int64_t f = d <= lo ? 256 : d >= hi ? 0 : ((hi - d) * ((1 << 24) / (hi - lo))) >> 16;
        const int64_t w = ((f * f) >> 10) * strength;
        sum += w * sample(guess->plane[p], p, x, y);
        weights += w;
    }
    return (struct mean){sum, weights};
}

/* --- within a picture */

static const int rows_of_h[8][8] = {
    {8, 8, 8, 8, 8, 8, 8, 8},
    {10, 9, 6, 2, -2, -6, -9, -10},
    {10, 4, -4, -10, -10, -4, 4, 10},
    {9, -2, -10, -6, 6, 10, 2, -9},
    {8, -8, -8, 8, 8, -8, -8, 8},
    {6, -10, 2, 9, -9, -2, 10, -6},
    {4, -10, 10, -4, -4, 10, -10, 4},
    {2, -6, 9, -10, 10, -9, 6, -2},
};

/* A window: what it gives back by k and j, and how much it counts. */
struct window_made {
    int64_t b[8][8], o;
};

/* value / 2^by, rounded down. */
static int64_t down_by(int64_t value, int by)
{
    const int64_t one = INT64_C(1) << by, rest = ((value % one) + one) % one;
    return (value - rest) / one;
}

static int64_t n_of(int row, int64_t value)
{
    const int64_t parts[] = {0, 81, 53, 81};
    return value + down_by(parts[row % 4] * value, 9);
}

static int64_t isqrt(int64_t value)
{
    int64_t root = 0;
    while ((root + 1) * (root + 1) <= value) {
        root++;
    }
    return root;
}

static int mirror(int i, int n)
{
    const int inside = i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
    return inside < 0 ? 0 : inside >= n ? n - 1 : inside;
}

static int64_t threshold(
    const struct mean *means, int p, int left, int top, int64_t variance, int64_t m_most, int z)
{
    int64_t sum = 0;
    for (int i = 0; i < 64; i++) {
        sum += means[mirror(top + i / 8, ph[p]) * pw[p] + mirror(left + i % 8, pw[p])].weights;
    }
    const int64_t q = (1 << 18) / (sum / 4096), g = q + m_most * (4096 - q) / 4096;
    const int64_t t = 295 * z * isqrt(256 * variance) / (INT64_C(1) << (c - 1));
    return t * isqrt(q * g / 4) / 2048;
}

static struct window_made make_window(
    const struct mean *means, int p, int left, int top, int64_t limit)
{
    int64_t a[8][8] = {0}, cs[8][8] = {0}, kept = 0;
    struct window_made made = {.o = 64};
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            const struct mean *m = &means[mirror(top + i, ph[p]) * pw[p] + mirror(left + j, pw[p])];
            const int64_t x = ((m->sum << (16 - bits)) + m->weights / 2) / m->weights - 32768;
            for (int row = 0; row < 8; row++) {
                a[row][j] += rows_of_h[row][i] * x;
            }
        }
    }
    for (int n = 0; n < 64; n++) {
        for (int j = 0; j < 8; j++) {
            cs[n / 8][n % 8] += rows_of_h[n % 8][j] * down_by(a[n / 8][j] + 8, 4);
        }
        if (n > 0 && llabs(cs[n / 8][n % 8]) <= limit) {
            cs[n / 8][n % 8] = 0;
        } else {
            kept++;
        }
    }
    while (made.o * kept > 64) {
        made.o /= 2;
    }
    for (int n = 0; n < 64; n++) {
        int64_t sum = 32;
        for (int l = 0; l < 8; l++) {
            sum += rows_of_h[l][n % 8] * n_of(l, cs[n / 8][l]);
        }
        made.b[n / 8][n % 8] = down_by(sum, 6);
    }
    return made;
}

/* windows: those that begin at 2 X - 6, 2 Y - 6. */
static uint16_t sample_within(const struct window_made *windows, int across_made, int x, int y)
{
    int64_t sum = 0, weight = 0;
    for (int row = y / 2; row <= y / 2 + 3; row++) {
        const int i = y + 6 - 2 * row;
        int64_t f = 1;
        for (int n = 0; n < 8; n++) {
            int64_t e = 64;
            for (int column = x / 2; column <= x / 2 + 3; column++) {
                const struct window_made *made = &windows[row * across_made + column];
                e += made->o * made->b[n][x + 6 - 2 * column];
                weight += n == 0 ? made->o : 0;
            }
            f += rows_of_h[n][i] * n_of(n, down_by(e, 7));
        }
        sum += down_by(f, 1);
    }
    const int64_t unit = weight << (16 - bits);
    sum += 32768 * weight + unit / 2;
    return (uint16_t)limited(sum < 0 ? 0 : sum / unit);
}

static void filter_within(
    const struct mean *means, int p, int64_t variance, int64_t strength, int z, uint16_t *result)
{
    const int across_made = (pw[p] + 1) / 2 + 3, down_made = (ph[p] + 1) / 2 + 3;
    struct window_made *windows = need((size_t)across_made * (size_t)down_made * sizeof(*windows));
    for (int i = 0; i < across_made * down_made; i++) {
        const int left = 2 * (i % across_made) - 6, top = 2 * (i / across_made) - 6;
        windows[i] = make_window(
            means, p, left, top, threshold(means, p, left, top, variance, 64 * strength, z));
    }
    for (int i = 0; i < pw[p] * ph[p]; i++) {
        result[i] = sample_within(windows, across_made, i % pw[p], i / pw[p]);
    }
    free(windows);
}

static void filter_picture(int t, int strength, int sigma, int least, int z, uint16_t **result)
{
    int64_t variances[3] = {0}, strengths[3] = {0};
    for (int i = 0; i < 2 * RADIUS_MAX; i++) {
        guess_picture(t, i);
    }
    for (int p = 0; p < planes; p++) {
        variances[p] = sigma < 0 ? measured(t, p) : variance_of_sigma(sigma);
        strengths[p] = strength;
        if (variance_of_sigma(least) > variances[p] && variances[p] > 0) {
            const int64_t noise = variances[p];
            variances[p] =
                variance_of_sigma(least) < 4 * noise ? variance_of_sigma(least) : 4 * noise;
            strengths[p] = strength * (variances[p] + noise) / (2 * variances[p]);
        }
        fprintf(stderr, "picture %d plane %d: V %" PRId64 "\n", t, p, variances[p]);
    }
    choose_blocks(t, variances);
    for (int p = 0; p < planes; p++) {
        const size_t samples = (size_t)pw[p] * (size_t)ph[p];
        struct mean *means = need(samples * sizeof(*means));
        result[p] = need(samples * 2);
        for (int i = 0; i < (int)samples; i++) {
            means[i] = mean_at(t, p, i % pw[p], i / pw[p], variances[p], (int)strengths[p], z > 0);
            result[p][i] = (uint16_t)((means[i].sum + means[i].weights / 2) / means[i].weights);
        }
        if (z > 0 && 75 * variances[p] >> 9 < 375 * variances[p] >> 9) {
            filter_within(means, p, variances[p], strengths[p], z, result[p]);
        }
        free(means);
    }
}

/* --- spots */

static int64_t work(const uint16_t *plane, int x, int y)
{
    return sample(plane, 0, x, y) >> k;
}

static int64_t away(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

static int64_t cell_at(const uint16_t *plane, int x, int y)
{
    int64_t sum = 0;
    for (int i = 0; i < 64; i++) {
        sum += work(plane, x * 8 + i % 8, y * 8 + i / 8);
    }
    return sum;
}

static bool same_scene(const uint16_t *own, const uint16_t *guess)
{
    const int cells = width / 8 * (height / 8);
    int64_t sum = 0, r = 0, t = 0;
    for (int i = 0; i < cells; i++) {
        sum += cell_at(own, i % (width / 8), i / (width / 8));
    }
    for (int i = 0; i < cells; i++) {
        const int x = i % (width / 8), y = i / (width / 8);
        const int64_t a = cell_at(own, x, y), b = cell_at(guess, x, y), m = sum / cells;
        r += away(a, b);
        t += away(a, m);
    }
    return 8 * r <= t + 16 * cells * (INT64_C(64) << (c - 8));
}

/* The larger difference of a sample from its two predictions. */
static int64_t e_at(const uint16_t *own, int x, int y)
{
    const int64_t past = away(work(own, x, y), work(guesses[0].plane[0], x, y));
    const int64_t future = away(work(own, x, y), work(guesses[1].plane[0], x, y));
    return past > future ? past : future;
}

static int64_t usual_e(const uint16_t *own)
{
    for (int64_t e = 0;; e++) {
        int64_t count = 0;
        for (int i = 0; i < width * height; i++) {
            count += e_at(own, i % width, i / width) >> (c - 8) <= e;
        }
        if (2 * count > (int64_t)width * height) {
            return e;
        }
    }
}

/* 0, or a weak sample: 1 bright, -1 dark; twice that: a strong one. */
static int mark_of(const uint16_t *own, int x, int y, int64_t usual)
{
    const uint16_t *past = guesses[0].plane[0], *future = guesses[1].plane[0];
    const int64_t u = work(own, x, y), a = work(past, x, y), b = work(future, x, y);
    const int64_t step = INT64_C(1) << (c - 8);
    int64_t sum = 0, count = 0, lowest = INT64_MAX, highest = 0;
    for (int v = y / 16 * 16; v < y / 16 * 16 + 16 && v < height; v++) {
        for (int w = x / 16 * 16; w < x / 16 * 16 + 16 && w < width; w++) {
            sum += away(work(past, w, v), work(future, w, v));
            count++;
        }
    }
    if (away(a, b) > (32 + usual) * step || sum > count * (24 + usual) * step) {
        return 0;
    }
    for (int i = 0; i < 18; i++) {
        const int64_t other = work(i < 9 ? past : future, x + i % 3 - 1, y + i / 3 % 3 - 1);
        lowest = other < lowest ? other : lowest;
        highest = other > highest ? other : highest;
    }
    if (u - a > (6 + usual / 2) * step && u - b > (6 + usual / 2) * step) {
        return u - highest > (14 + usual) * step ? 2 : 1;
    }
    if (a - u > (6 + usual / 2) * step && b - u > (6 + usual / 2) * step) {
        return lowest - u > (14 + usual) * step ? -2 : -1;
    }
    return 0;
}

static int64_t contrast_of(const uint16_t *own, int x, int y)
{
    return away(work(own, x, y),
        (work(guesses[0].plane[0], x, y) + work(guesses[1].plane[0], x, y) + 1) / 2);
}

static int sign_of(int mark)
{
    return (mark > 0) - (mark < 0);
}

/* A region has a number in `regions`, the lowest index of its samples plus one: the numbers of
 * those that touch are made equal until nothing changes. */
static void number_regions(const int *marks, int *regions)
{
    bool changed = true;
    for (int i = 0; i < width * height; i++) {
        regions[i] = marks[i] ? i + 1 : 0;
    }
    while (changed) {
        changed = false;
        for (int i = 0; i < width * height; i++) {
            for (int j = 0; j < 9 && marks[i]; j++) {
                const int x = i % width + j % 3 - 1, y = i / width + j / 3 - 1, n = y * width + x;
                if (x >= 0 && y >= 0 && x < width && y < height &&
                    sign_of(marks[n]) == sign_of(marks[i]) && regions[n] < regions[i]) {
                    regions[i] = regions[n];
                    changed = true;
                }
            }
        }
    }
}

static bool near_sign(const int *marks, int x, int y, int sign)
{
    for (int j = 0; j < 9; j++) {
        const int u = x + j % 3 - 1, v = y + j / 3 - 1;
        if (u >= 0 && v >= 0 && u < width && v < height && sign_of(marks[v * width + u]) == sign) {
            return true;
        }
    }
    return false;
}

/* Whether the region of this number is a spot. */
static bool is_spot(int t, const int *marks, const int *regions, int number, int64_t usual)
{
    const uint16_t *own = frames[first_of[t]][0];
    const int sign = sign_of(marks[number - 1]);
    int left = width, right = 0, top = height, bottom = 0, area = 0, strong = 0;
    int64_t contrast = 0, ring = 0, samples = 0, box = 0;
    for (int i = 0; i < width * height; i++) {
        if (regions[i] == number) {
            const int x = i % width, y = i / width;
            left = x < left ? x : left;
            right = x > right ? x : right;
            top = y < top ? y : top;
            bottom = y > bottom ? y : bottom;
            area++;
            strong += abs(marks[i]) == 2;
            contrast += contrast_of(own, x, y);
        }
    }
    for (int y = top - 2; y <= bottom + 2; y++) {
        for (int x = left - 2; x <= right + 2; x++) {
            const bool inside = x >= 0 && y >= 0 && x < width && y < height;
            if (inside && !near_sign(marks, x, y, sign)) {
                ring += e_at(own, x, y);
                samples++;
            }
            if (inside && x >= left - 1 && x <= right + 1 && y >= top - 1 && y <= bottom + 1) {
                box += contrast_of(own, x, y);
            }
        }
    }
    if (right - left >= 32 || bottom - top >= 32 || strong < 2 || samples == 0 ||
        4 * area * (ring - samples * usual * (INT64_C(1) << (c - 8))) > contrast * samples) {
        return false;
    }
    for (int j = 0; j < 2 * 33 * 33; j++) {
        const uint16_t *other = frames[first_of[j % 2 ? t + 1 : t - 1]][0];
        const int dx = j / 2 % 33 - 16, dy = j / 66 - 16;
        int64_t sum = 0;
        for (int y = top - 1; y <= bottom + 1; y++) {
            for (int x = left - 1; x <= right + 1; x++) {
                sum += x >= 0 && y >= 0 && x < width && y < height
                           ? away(work(own, x, y), work(other, x + dx, y + dy))
                           : 0;
            }
        }
        if (3 * sum < 2 * box) {
            return false;
        }
    }
    return true;
}

static void despot_picture(int t, uint16_t **result)
{
    const uint16_t *own = frames[first_of[t]][0];
    const size_t samples = (size_t)width * (size_t)height;
    for (int p = 0; p < planes; p++) {
        const size_t bytes = (size_t)pw[p] * (size_t)ph[p] * 2;
        result[p] = need(bytes);
        memcpy(result[p], frames[first_of[t]][p], bytes);
    }
    guess_picture(t, 0);
    guess_picture(t, 1);
    if (!guesses[0].there || !guesses[1].there || !same_scene(own, guesses[0].plane[0]) ||
        !same_scene(own, guesses[1].plane[0])) {
        return;
    }
    int *marks = need(samples * sizeof *marks), *regions = need(samples * sizeof *regions);
    bool *spots = need(samples + 1);
    const int64_t usual = usual_e(own);
    for (int i = 0; i < width * height; i++) {
        marks[i] = mark_of(own, i % width, i / width, usual);
    }
    number_regions(marks, regions);
    for (int i = 0; i < width * height; i++) { /* a region's number is that of its first sample */
        spots[i + 1] = regions[i] == i + 1 && is_spot(t, marks, regions, i + 1, usual);
    }
    for (int i = 0; i < width * height; i++) {
        for (int p = 0; p < planes && spots[regions[i]]; p++) {
            const int x = i % width >> (p ? sx : 0), y = i / width >> (p ? sy : 0);
            result[p][y * pw[p] + x] = (uint16_t)((sample(guesses[0].plane[p], p, x, y) +
                                                      sample(guesses[1].plane[p], p, x, y) + 1) /
                                                  2);
        }
    }
    free(marks);
    free(regions);
    free(spots);
}

/* --- */

/* frame,ref,x,y,w,h,dx,dy,... with vectors in pixels. */
static void read_vectors(const char *path)
{
    char line[400];
    int frame, ref, x, y;
    double dx, dy;
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof(line), file)) {
        die("no vectors");
    }
    vectors =
        need((size_t)picture_count * 2 * RADIUS_MAX * (size_t)(across * down) * sizeof(*vectors));
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%d,%d,%d,%d,%*d,%*d,%lf,%lf", &frame, &ref, &x, &y, &dx, &dy) != 6) {
            die("a row of vectors is not understood");
        }
        const int distance = abs(frame - ref);
        if (distance <= RADIUS_MAX && frame < picture_count) {
            *vector_of(frame, 2 * (distance - 1) + (ref > frame), y / side * across + x / side) =
                (struct vector){true, (int)(dx * 4), (int)(dy * 4)};
        }
    }
    fclose(file);
}

static void put_frames(uint16_t *results[][3], bool only_first)
{
    for (int i = 0; i < frame_count; i++) {
        if (only_first && first_of[picture_of[i]] != i) {
            continue;
        }
        if (only_first) {
            printf("FRAME\n");
        }
        for (int p = 0; p < planes; p++) {
            put_samples(
                results ? results[picture_of[i]][p] : frames[i][p], p, !only_first || bits > 8);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        die("usage: see the top of filter_oracle.c");
    }
    side = strcmp(argv[1], "despot") == 0 ? 32 : 16;
    read_clip(argv[2]);
    across = (width + side - 1) / side;
    down = (height + side - 1) / side;
    if (strcmp(argv[1], "pictures") == 0) {
        fputs(head, stdout);
        put_frames(NULL, true);
    } else if (strcmp(argv[1], "samples") == 0) {
        put_frames(NULL, false);
    } else if (strcmp(argv[1], "filter") == 0 && (argc == 9 || argc == 11)) {
        static uint16_t *results[FRAMES_MAX][3];
        radius = atoi(argv[4]);
        window = atoi(argv[5]);
        read_vectors(argv[3]);
        for (int t = 0; t < picture_count; t++) {
            bool referred = false;
            for (int i = 0; i < frame_count && argc == 11; i++) {
                referred = referred || (picture_of[i] == t && argv[10][i] != 'b');
            }
            filter_picture(t, atoi(argv[6]), atoi(argv[7]), referred ? atoi(argv[9]) : 0,
                atoi(argv[8]), results[t]);
        }
        put_frames(results, false);
    } else if (strcmp(argv[1], "despot") == 0 && argc == 4) {
        static uint16_t *results[FRAMES_MAX][3];
        radius = 1;
        read_vectors(argv[3]);
        for (int t = 0; t < picture_count; t++) {
            despot_picture(t, results[t]);
        }
        put_frames(results, false);
    } else {
        die("unknown arguments");
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
