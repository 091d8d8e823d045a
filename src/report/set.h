/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pictures and blocks of one field, small enough for a page: first raw samples of reduced size
 * (a draft), then encoded files (a set). One thread.
 */
#ifndef GPUME_REPORT_SET_H
#define GPUME_REPORT_SET_H

#include "files/bytes.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order of picture_names in set.c. */
enum gpume_report_picture {
    GPUME_REPORT_COLOUR, /* the target in the colours of the input, if the run has them */
    GPUME_REPORT_REFERENCE,
    GPUME_REPORT_TARGET,
    GPUME_REPORT_PREDICTED,
    GPUME_REPORT_DIFFERENCE,
    GPUME_REPORT_RESIDUAL,
    GPUME_REPORT_PICTURES,
};

/* Gamma of difference and residual. */
#define GPUME_REPORT_GAMMA 1.5

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
    struct gpume_report_rating rating;
    unsigned char *samples[GPUME_REPORT_PICTURES];
    struct gpume_bytes lists[GPUME_REPORT_LISTS];
};

/* Numbers in the lists are written by gpume_bytes_number. All lists are empty if there are more
 * blocks than GPUME_REPORT_BLOCKS_MAX. */
struct gpume_report_set {
    struct gpume_report_rating rating;
    struct gpume_bytes pictures[GPUME_REPORT_PICTURES];
    struct gpume_bytes lists[GPUME_REPORT_LISTS];
};

/* What a set holds. */
enum gpume_report_contents {
    GPUME_REPORT_FILM,  /* the target in colour (luma, if the run has none) and the blocks */
    GPUME_REPORT_WHOLE, /* all pictures and the blocks; pictures of luma are larger */
    GPUME_REPORT_LARGE, /* the same; all pictures are larger */
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

/* Fills a draft, which is zero or has been used before. */
int gpume_report_draft_take(struct gpume_report_draft *draft, struct gpume_report_encoder *encoder,
    const struct gpume_field *field, bool cut);
void gpume_report_draft_finish(struct gpume_report_draft *draft);

/* Encodes a draft, replacing the contents of the set. The draft is empty afterwards. */
int gpume_report_set_make(struct gpume_report_set *set, struct gpume_report_encoder *encoder,
    struct gpume_report_draft *draft);
void gpume_report_set_finish(struct gpume_report_set *set);

struct gpume_json;

/* Writes an object: pictures and lists in base 64, by their names. */
void gpume_report_set_put(const struct gpume_report_set *set, struct gpume_json *json);

/* Bytes of the set in the page. */
uint64_t gpume_report_set_bytes(const struct gpume_report_set *set);

/* --- the liveliest frame pair: the one in which the search gains most, apart from possible scene
 * cuts, with its luma sample for sample, so that the page can compute the cost surface of each of
 * its blocks */

struct gpume_report_lively {
    bool full;      /* there is such a pair */
    uint64_t frame; /* of the target */
    uint64_t gain;  /* SAD before the search less the one after it; above 0 */
    /* The planes one below the other: target and reference or, above 8 bits, the upper and then the
     * lower byte of both. NULL: not wanted. */
    unsigned char *samples;
    struct gpume_bytes file; /* all of them as one PNG; empty: not wanted, or too large */
};

/* Whether the field is the liveliest so far; then it is taken. Of equals the first stays.
 * with_samples: the same for all fields of a run. GPUME_NOMEM is not logged. */
int gpume_report_lively_add(struct gpume_report_lively *lively, const struct gpume_field *field,
    bool cut, bool with_samples, bool *taken);

/* No more fields will come: encodes the samples, unless that takes more than bytes_max in the page.
 * Failures are logged. label: in messages. */
int gpume_report_lively_complete(struct gpume_report_lively *lively,
    const struct gpume_params *params, uint64_t bytes_max, const char *label,
    const struct gpume_log *log);

void gpume_report_lively_finish(struct gpume_report_lively *lively);

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

#endif
