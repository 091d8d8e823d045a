/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume ladder: what is known of a video's sizes when it has been analysed. ladder.c finds it,
 * output.c writes it. Main thread only.
 */
#ifndef GPUME_CLI_LADDER_LADDER_H
#define GPUME_CLI_LADDER_LADDER_H

#include "encode/ladder.h"
#include "encode/options.h"
#include "encode/target.h"
#include "files/forms.h"
#include "firstpass/firstpass.h"
#include "job.h"

#define GPUME_LADDER_OUTPUTS_MAX 8u
#define GPUME_LADDER_RUNGS_MAX 16u

struct gpume_ladder_names {
    const char *items[GPUME_LADDER_OUTPUTS_MAX + 1]; /* all in use: too many */
    uint32_t count;
};

/* Strings point into argv. */
struct gpume_ladder_options {
    struct gpume_video_options video;
    struct gpume_ladder_names outputs;
    const struct gpume_encoder *encoder;
    const char *preset, *tune;          /* NULL: not given */
    struct gpume_encode_options encode; /* from the check on; not settled */
    struct gpume_firstpass_rungs sizes, crfs;
    uint32_t rungs, probes;
    uint64_t min_bitrate, max_bitrate; /* 0: not given */
    bool verify;
};

/* A point of a size's curve. */
struct gpume_ladder_row {
    uint32_t width, height;
    double crf, bitrate; /* bits per second */
    double psnr;         /* at the size of the input, scaled back up */
    double scaling_psnr; /* of scaling down and up alone; NAN: it is not scaled */
    bool best;           /* no size is better at this bitrate */
};

struct gpume_ladder_size {
    uint32_t width, height;
    struct gpume_rescale *rescale; /* NULL: it is the input's */
    uint64_t error;                /* of the frames that were measured, in 1/65536 */
    struct gpume_ladder_facts facts;
    struct gpume_ladder_encode expected[GPUME_FIRSTPASS_MAX];
    struct gpume_ladder_encode encodes[GPUME_LADDER_ENCODES_MAX];
    struct gpume_ladder_point points[GPUME_FIRSTPASS_MAX];
};

/* From one bitrate to another this size is the best. */
struct gpume_ladder_hull_row {
    char size[24];
    uint32_t width, height;
    double from, to, psnr_from, psnr_to, crf_from, crf_to;
    double kbit_from, kbit_to; /* the same bitrates */
};

/* At this bitrate, two sizes are equally good. */
struct gpume_ladder_crossing_row {
    uint32_t width, height, smaller_width, smaller_height;
    double bitrate, psnr;
};

struct gpume_ladder_rung_row {
    char size[24];
    uint32_t width, height;
    double crf, bitrate, psnr;
    double measured_bitrate, measured_psnr; /* of an encode; NAN: there was none */
    double bitrate_off, psnr_off;           /* by how much more, in per cent and dB */
    double kbit, measured_kbit;             /* the same bitrates */
    char rung[64];                          /* for --rung of gpume firstpass */
};

#define GPUME_LADDER_CRF_TOP 22 /* of the largest size at the upper end, unless it is given */
#define GPUME_LADDER_STRETCHES_MAX (2 * GPUME_FIRSTPASS_MAX)

struct gpume_ladder {
    struct gpume_cli_job job;
    const struct gpume_ladder_options *options;
    struct gpume_encode_options encode;                  /* settled */
    struct gpume_ladder_size sizes[GPUME_FIRSTPASS_MAX]; /* the largest first */
    size_t size_count;
    uint32_t crfs[GPUME_FIRSTPASS_MAX]; /* in 1/100, rising */
    size_t crf_count;
    uint64_t measured; /* frames that were scaled */
    uint32_t encodes;  /* that corrected the curves */

    /* the result */
    struct gpume_ladder_curve curves[GPUME_FIRSTPASS_MAX];
    struct gpume_ladder_row rows[GPUME_FIRSTPASS_MAX * GPUME_FIRSTPASS_MAX];
    size_t row_count;
    struct gpume_ladder_hull_row hull[GPUME_LADDER_STRETCHES_MAX];
    size_t hull_count;
    struct gpume_ladder_crossing_row crossings[GPUME_FIRSTPASS_MAX];
    size_t crossing_count;
    struct gpume_ladder_rung_row rungs[GPUME_LADDER_RUNGS_MAX];
    size_t rung_count;
};

/* --- curves.c: what follows from the analysis and from encodes */

/* Fills the curves. */
void gpume_ladder_fill_curves(struct gpume_ladder *ladder);

/* All the rest of the result. */
enum gpume_exit gpume_ladder_find(struct gpume_ladder *ladder);

/* --- trials.c */

/* Whether the encodes that were asked for can be made. If not, one line has been logged. */
enum gpume_exit gpume_ladder_trials_check(const struct gpume_ladder *ladder);

/* Encodes where neighbouring sizes are expected to cross, and corrects the curves, as often as was
 * asked for. */
enum gpume_exit gpume_ladder_probe(struct gpume_ladder *ladder);

/* Encodes the proposed rungs. */
enum gpume_exit gpume_ladder_verify(struct gpume_ladder *ladder);

/* --- output.c */

/* For the job. */
void gpume_ladder_print(const void *client);
void gpume_ladder_put_csv(const void *client, struct gpume_out *out);
void gpume_ladder_put_json(const void *client, struct gpume_json *json);

/* By the ending of its name. */
int gpume_ladder_write(const struct gpume_ladder *ladder, const char *name, struct gpume_out *out);

/* Whether outputs may have this ending: .csv, .json, .html. */
bool gpume_ladder_knows(const char *name);

#endif
