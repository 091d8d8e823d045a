/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of a run: a page (.html), or its data for programs (.json, .csv); and what it shows:
 * statistics, pictures, blocks. One thread. */
#ifndef GPUME_REPORT_REPORT_H
#define GPUME_REPORT_REPORT_H

#include "files/bytes.h"
#include "files/forms.h"
#include "sinks/sink.h"
#include "sinks/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sink for the form that the extension of the name says. Its check refuses other names. */
const struct gpume_sink_ops *gpume_sink_report(const char *path);

/* A folder with a page, index.html, and the pictures of all fields. The path is that of the page.
 */
extern const struct gpume_sink_ops gpume_sink_report_folder;

/*
 * --- Statistics of a motion field, the vector histogram of a whole run, and scene cut detection.
 * One thread.
 */

/* Of one field. Vectors count in its units, but for the mean of their lengths, which is in
 * thousandths of a pixel, rounded. */
struct gpume_report_statistics {
    uint64_t blocks; /* that are shown */
    double units;    /* in a pixel */
    int64_t dx_sum, dy_sum;
    uint64_t length_mean_milli;
    uint32_t length_max_squared;
    uint32_t cost_max; /* of the block of rank 0 */
    bool cut;
};

/* Counts of vectors in square bins, the middle one centred on (0,0). Along each axis bin i covers
 * i * side - (side - 1) / 2 to i * side + (side - 1) / 2; side is odd. */
struct gpume_report_histogram {
    uint32_t side;                /* pixels */
    uint32_t reach_x, reach_y;    /* bins on either side of the middle one */
    uint32_t window_x, window_y;  /* pixels */
    uint32_t bins_x[2 * 512 + 1]; /* column of each dx, from -window_x on */
    uint32_t bins_y[2 * 512 + 1];
    uint64_t *counts; /* (2 reach_y + 1) rows of (2 reach_x + 1) */
};

/* GPUME_NOMEM is not logged. Release with gpume_report_histogram_finish, also after a failure. */
int gpume_report_histogram_init(
    struct gpume_report_histogram *histogram, const struct gpume_params *params);

void gpume_report_histogram_finish(struct gpume_report_histogram *histogram);

/* Writes an object: side, and a list of [dx, dy, count] with the centres of the bins that are not
 * empty. */
void gpume_report_histogram_put(
    const struct gpume_report_histogram *histogram, struct gpume_json *json);

/* Farther references count as equally far. */
#define GPUME_REPORT_DISTANCES 64u

/* What the next field is compared with: the one before at the same distance, [0] if it refers to
 * the past, [1] to the future. The prediction from a far frame costs more without any cut. */
struct gpume_report_cuts {
    uint64_t least;                           /* smallest sad_after of a cut */
    uint64_t last[2][GPUME_REPORT_DISTANCES]; /* sad_after of the field before, plus 1; 0: none */
};

void gpume_report_cuts_init(struct gpume_report_cuts *cuts, const struct gpume_params *params);

/* Whether the next field is a cut. */
bool gpume_report_is_cut(
    struct gpume_report_cuts *cuts, uint64_t frame, uint64_t ref, const struct gpume_sums *sums);

/* Measures the next field, and adds its vectors to the histogram (may be NULL). */
void gpume_report_measure(struct gpume_report_statistics *statistics,
    struct gpume_report_cuts *cuts, struct gpume_report_histogram *histogram,
    const struct gpume_field *field);

/*
 * --- The pictures and blocks of one field, small enough for a page: first raw samples of reduced
 * size (a draft), then encoded files (a set). One thread.
 */

/* In the order of picture_names in set.c. */
enum gpume_report_picture {
    GPUME_REPORT_COLOUR, /* the target in the colours of the input, if the run has them */
    GPUME_REPORT_REFERENCE,
    GPUME_REPORT_TARGET,
    GPUME_REPORT_PREDICTED,
    GPUME_REPORT_DIFFERENCE,
    GPUME_REPORT_RESIDUAL,
    /* Lossless and of full size, from which the page makes all others but the one in colour, and
     * computes the cost surface of any block. Above 8 bits the upper bytes stand above the lower
     * ones. Where the set of the frame's reference is kept, too, luma follows from it. */
    GPUME_REPORT_LUMA,   /* of the target */
    GPUME_REPORT_CHANGE, /* reference less target, modulo 2^8 or 2^16 */
    GPUME_REPORT_PICTURES,
};

/* Gamma of difference and residual. */
#define GPUME_REPORT_GAMMA 1.5

/* A target of GPUME_DIRECTION_BOTH has two fields: that of the past comes first, if there is one,
 * and that of the future adds its side to the same set. Other runs have the first side alone. */
enum gpume_report_side { GPUME_REPORT_PAST, GPUME_REPORT_FUTURE, GPUME_REPORT_SIDES };

/* What the page knows about each block, in the order of list_names in set.c. */
enum gpume_report_list {
    /* For every block the index of its vector in the window, in units and raster order from
     * (-window_x, -window_y), in as few bytes as any index needs, lowest byte first; then for every
     * block its cost. */
    GPUME_REPORT_VECTORS,
    GPUME_REPORT_PARTS,   /* of a partition: for every block its layer and its index there */
    GPUME_REPORT_SECONDS, /* with confidence: for every block 1 + the second cost, or 0 */
    /* With several references: for every block how many frames its reference comes after the
     * target, signed. */
    GPUME_REPORT_REFERENCES,
    /* With confidence in both directions: for every block 1 + how far the reverse vector leads
     * away, in units, or 0. */
    GPUME_REPORT_RETURNS,
    GPUME_REPORT_LISTS,
};

/* The pictures of a side; those of the target are in the first one. */
struct gpume_report_side_data {
    struct gpume_bytes pictures[GPUME_REPORT_PICTURES];
    struct gpume_bytes lists[GPUME_REPORT_LISTS];
};

/* Fields with more blocks have no lists in the page. 4096 x 2160 pixels have 552,960 of 4 x 4. */
#define GPUME_REPORT_BLOCKS_MAX ((uint64_t)600000)

struct gpume_report_encoder; /* makes drafts and sets */

/* What decides how bad a field is. */
struct gpume_report_rating {
    uint64_t frame;
    bool cut;
    uint64_t sse_after;
};

struct gpume_report_draft {
    bool full;
    bool with[GPUME_REPORT_SIDES]; /* that side is in it */
    bool with_target;              /* so are the target's own pictures */
    struct gpume_report_rating rating;
    struct gpume_report_draft_side {
        unsigned char *samples[GPUME_REPORT_PICTURES];
        struct gpume_bytes lists[GPUME_REPORT_LISTS];
    } sides[GPUME_REPORT_SIDES];
};

/* Numbers in the lists are written by gpume_bytes_number. All lists are empty if there are more
 * blocks than GPUME_REPORT_BLOCKS_MAX. */
struct gpume_report_set {
    struct gpume_report_rating rating;
    struct gpume_report_side_data sides[GPUME_REPORT_SIDES];
};

/* What a set holds. */
enum gpume_report_contents {
    GPUME_REPORT_FILM,  /* the target in colour (luma, if the run has none) and the blocks */
    GPUME_REPORT_WHOLE, /* the same, and luma and change or, if these are not useful or too large,
                           all other pictures */
    GPUME_REPORT_LARGE, /* the same; all pictures are larger */
    GPUME_REPORT_ALL,   /* all pictures: those of GPUME_REPORT_WHOLE, luma and change */
};

/* label and the strings, colours and log target of *run must outlive the encoder. Failures are
 * logged. */
int gpume_report_encoder_open(struct gpume_report_encoder **encoder, const char *label,
    const struct gpume_run *run, enum gpume_report_contents contents);
void gpume_report_encoder_close(struct gpume_report_encoder **encoder);

/* How many pixels of the video, across and down, make one of its pictures of luma. For those in
 * colour, ask an encoder for films. */
uint32_t gpume_report_encoder_scale(const struct gpume_report_encoder *encoder);

/* Whether it writes PNG rather than JPEG. */
bool gpume_report_encoder_lossless(const struct gpume_report_encoder *encoder);

/* Whether targets may have two fields. */
bool gpume_report_is_both(const struct gpume_params *params);

/* Whether its sets have luma and change. */
bool gpume_report_encoder_exact(const struct gpume_report_encoder *encoder);

/* Whether the next sets have luma. */
void gpume_report_encoder_want_luma(struct gpume_report_encoder *encoder, bool wanted);

/* Whether blocks of the run have cost surfaces: not if the window is so large that they would take
 * too long, nor where the search measures something else than their costs. */
bool gpume_report_has_surfaces(const struct gpume_run *run);

/* Whether luma and change of a run's frame pairs are useful, and a plane has at most that many
 * bytes. */
bool gpume_report_wants_exact(const struct gpume_run *run, uint64_t bytes_max);

/* Of each eight frames in a chain of references one keeps its luma, so that the page need not
 * follow the chain for long. */
bool gpume_report_is_key(const struct gpume_params *params, uint64_t frame);

/* Fills a draft, which is zero or has been used before. */
int gpume_report_draft_take(struct gpume_report_draft *draft, struct gpume_report_encoder *encoder,
    const struct gpume_field *field, bool cut);

/* Adds the second field of a target to its draft, or to its set by way of a draft that is not full.
 */
int gpume_report_draft_add(struct gpume_report_draft *draft, struct gpume_report_encoder *encoder,
    const struct gpume_field *field);
int gpume_report_set_add(struct gpume_report_set *set, struct gpume_report_draft *draft,
    struct gpume_report_encoder *encoder, const struct gpume_field *field);
void gpume_report_draft_finish(struct gpume_report_draft *draft);

/* Encodes a draft, replacing the contents of the set. The draft is empty afterwards. */
int gpume_report_set_make(struct gpume_report_set *set, struct gpume_report_encoder *encoder,
    struct gpume_report_draft *draft);
void gpume_report_set_finish(struct gpume_report_set *set);

struct gpume_json;

/* Writes an object: pictures and lists in base 64, by their names; those of the second side in an
 * object "future". */
void gpume_report_set_put(const struct gpume_report_set *set, struct gpume_json *json);

/* Bytes of the set in the page. */
uint64_t gpume_report_set_bytes(const struct gpume_report_set *set);

/* The liveliest frame pair: the one in which the search gains most, apart from possible scene
 * cuts. */
struct gpume_report_lively {
    bool full;      /* there is such a pair */
    uint64_t frame; /* of the target */
    uint64_t gain;  /* SAD before the search less the one after it; above 0 */
};

/* Whether the field is the liveliest so far; then it is taken. Of equals the first stays. */
bool gpume_report_lively_add(
    struct gpume_report_lively *lively, const struct gpume_field *field, bool cut);

/* --- small pictures in colour alone: reduced by a whole factor, each sample is the mean of a
 * square */

struct gpume_report_size {
    uint32_t scale, width, height; /* scale: pixels of the video, across and down, in a sample */
    bool lossless;                 /* PNG rather than JPEG */
};

/* Reduces and encodes the frames of a video in colour. */
struct gpume_report_small;

/* label: in messages; kept, not copied. Failures of all functions are logged. */
int gpume_report_small_open(struct gpume_report_small **small, const char *label, uint32_t width,
    uint32_t height, const struct gpume_log *log);

/* Appends a picture file. */
int gpume_report_small_encode(
    struct gpume_report_small *small, const struct gpume_plane *rgb, struct gpume_bytes *bytes);

struct gpume_report_size gpume_report_small_size(const struct gpume_report_small *small);

/* Sets *small to NULL. NULL is fine. */
void gpume_report_small_close(struct gpume_report_small **small);

/*
 * --- The costliest blocks of a run, at most two per field, with small crops of the pictures around
 * them and their cost surfaces; and the cost surfaces of a block that was asked for. One thread.
 */

#define GPUME_REPORT_GALLERY 24u   /* blocks */
#define GPUME_REPORT_GALLERY_OF 2u /* per field */

enum gpume_report_crop {
    GPUME_REPORT_CROP_TARGET,
    GPUME_REPORT_CROP_PREDICTED,
    GPUME_REPORT_CROP_RESIDUAL,
    GPUME_REPORT_CROPS,
};

struct gpume_report_block {
    uint64_t frame, ref;
    uint32_t x, y, width, height; /* pixels of the video */
    struct gpume_vector vector;
    uint32_t units; /* of the vector in a pixel */
    uint32_t cost, rank;
    uint32_t left, top;         /* of the crops in the video */
    unsigned char *crops;       /* GPUME_REPORT_CROPS of columns * rows samples; may be NULL */
    struct gpume_bytes surface; /* of each cell 1 + its least cost, or 0 without a candidate */
};

struct gpume_report_gallery {
    uint32_t width, height, bits; /* of the video */
    /* Zero until the first field shows the shape of the blocks. */
    uint32_t crop_width, crop_height; /* pixels of the video */
    uint32_t scale;                   /* pixels of the video, across and down, per sample */
    uint32_t columns, rows;           /* samples of a crop */
    bool with_crops;
    /* Cost surfaces, for which a cell is the least cost of step x step displacements; step 0: there
     * are none. */
    struct gpume_params params;
    uint32_t step, cells_x, cells_y;
    uint32_t *costs; /* of every displacement */
    /* Of the block that --surface names: of each field its frame, whether the reference comes
     * after it, the block's x and y, and the cells. */
    bool with_asked;
    uint32_t asked_x, asked_y; /* a pixel of the block */
    struct gpume_bytes asked;
    size_t count;
    struct gpume_report_block blocks[GPUME_REPORT_GALLERY]; /* by decreasing cost */
};

void gpume_report_gallery_init(
    struct gpume_report_gallery *gallery, const struct gpume_run *run, bool with_crops);

/* GPUME_NOMEM is not logged. */
int gpume_report_gallery_add(struct gpume_report_gallery *gallery, const struct gpume_field *field);

/* Writes the list of blocks; crops are 8-bit samples, and surfaces numbers, in base 64. */
void gpume_report_gallery_put(const struct gpume_report_gallery *gallery, struct gpume_json *json);

/* Writes the form of cost surfaces, and those of the block that was asked for. */
void gpume_report_gallery_put_surfaces(
    const struct gpume_report_gallery *gallery, struct gpume_json *json);

/* What all surfaces take in the page. */
uint64_t gpume_report_gallery_surface_bytes(const struct gpume_report_gallery *gallery);

void gpume_report_gallery_finish(struct gpume_report_gallery *gallery);

/*
 * --- Chooses the fields of a run that get pictures, while the length of the run is unknown. Fields
 * are ranked in two orders, neither of which depends on the number of pictures wanted or on their
 * size; so asking for more pictures, or allowing more bytes, never gives fewer:
 *
 * - spread: by the fractional part of index / golden ratio. The fields below any limit are evenly
 *   spaced, with gaps of at most three lengths (the three-distance theorem; Slater, "Gaps and steps
 *   for the sequence n theta mod 1", 1967). Multiplied by 2^64 this is Fibonacci hashing (Knuth,
 *   The Art of Computer Programming 3, 6.4).
 * - worst: the worst field of each group of neighbours. A possible scene cut is worse than any
 * other field; otherwise the larger sse_after is worse.
 *
 * Fields are taken from the two orders alternately until the number or the bytes are used up. The
 * fourth is the liveliest one (above), with which the page opens. One thread.
 */

/* Why a field's pictures are kept. */
enum gpume_report_reason {
    GPUME_REPORT_SPREAD = 1,
    GPUME_REPORT_WORST = 2,
    GPUME_REPORT_LEADS = 4, /* the worst so far of a group that is not complete */
    GPUME_REPORT_LIVELIEST = 8,
};

struct gpume_report_pick {
    struct gpume_report_set set;
    uint64_t key;     /* of the spread order, lowest first */
    unsigned reasons; /* one or more of gpume_report_reason */
};

struct gpume_report_picks {
    struct gpume_report_encoder *encoder;
    struct gpume_report_encoder *lively_encoder; /* NULL: the other one */
    const struct gpume_params *params;           /* of the run */
    uint64_t bytes_max;                          /* in the page, per order */
    size_t pictures;                             /* wanted */
    size_t spread_max, worst_max;                /* kept per order while fields arrive */
    uint64_t neighbours;                         /* fields per group */
    uint64_t fields;                             /* seen */
    uint64_t key_end;                            /* keys from here on are not taken */
    bool has_refused;
    struct gpume_report_rating refused; /* the worst of those dropped from the worst order */
    struct gpume_report_pick *picks;    /* after completion in order of frames */
    size_t count;
    struct gpume_report_draft draft; /* if full: the leader of its group, not encoded yet */
    uint64_t draft_index;            /* index of its field */
    struct gpume_report_draft spare;
    struct gpume_report_draft lively; /* if full: the liveliest field so far */
    uint64_t lively_index;            /* index of its field */
};

/* pictures: the largest number of fields with pictures, 1 or more. Failures are logged. Release
 * with gpume_report_picks_finish, also after a failure. */
int gpume_report_picks_init(struct gpume_report_picks *picks, const char *label,
    const struct gpume_run *run, uint32_t pictures, uint64_t bytes_max);

/* liveliest: of the fields until now. */
int gpume_report_picks_add(
    struct gpume_report_picks *picks, const struct gpume_field *field, bool cut, bool liveliest);

/* The second field of a target goes where its first one went. */
int gpume_report_picks_add_second(
    struct gpume_report_picks *picks, const struct gpume_field *field);

struct gpume_report_film;

/* No more fields will come. Drops pictures until the number wanted and bytes_max are kept, which is
 * for the film, too, but not for its sets of the same fields. film: NULL: there is none. */
int gpume_report_picks_complete(
    struct gpume_report_picks *picks, const struct gpume_report_film *film, uint64_t bytes_max);

void gpume_report_picks_finish(struct gpume_report_picks *picks);

/*
 * What the page plays: one small picture and the blocks of every field or, if these take too many
 * bytes, of every second, fourth... field, beginning with the first. Which fields these are depends
 * on nothing but the sizes of their sets, so equal runs have equal films.
 */
struct gpume_report_film {
    const char *label;
    struct gpume_log log;
    struct gpume_report_encoder *encoder;
    uint64_t bytes_max;            /* in the page */
    uint64_t bytes;                /* of all sets in the page */
    uint64_t step;                 /* of every `step` fields one is kept: a power of 2 */
    uint64_t fields;               /* seen */
    struct gpume_report_set *sets; /* of fields 0, step, 2 step... */
    size_t count, room;
    struct gpume_report_draft draft;
};

/* Failures are logged. Release with gpume_report_film_finish, also after a failure. */
int gpume_report_film_init(struct gpume_report_film *film, const char *label,
    const struct gpume_run *run, uint64_t bytes_max);

int gpume_report_film_add(struct gpume_report_film *film, const struct gpume_field *field);

int gpume_report_film_add_second(struct gpume_report_film *film, const struct gpume_field *field);

/* No more fields will come. Keeps fewer, if all would take more than bytes_max. */
void gpume_report_film_complete(struct gpume_report_film *film, uint64_t bytes_max);

void gpume_report_film_finish(struct gpume_report_film *film);

#endif
