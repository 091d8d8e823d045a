/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src/compare compares the outputs of two runs, A and B, for `gpume compare`: what it reads of a
 * run besides its vectors, the comparison, which adds up the fields of both runs and keeps the
 * first and the worst differences, and what it writes; and a run with the true flow. One thread.
 */
#ifndef GPUME_COMPARE_COMPARISON_H
#define GPUME_COMPARE_COMPARISON_H

#include "base/log.h"
#include "draw/overlay.h"
#include "files/out.h"
#include "vectors/vectors.h"

#include <stdbool.h>
#include <stdint.h>

/* --- a run's frames.csv, row by row, and the settings in its summary.json */

struct gpume_read_statistics {
    bool known;
    bool has_time; /* does the table have this column? */
    int64_t time_us;
    uint64_t sad_before, sad_after;
    double psnr_before, psnr_after; /* may be infinite */
};

/* The statistics of fields, by rising frame and reference. Errors are logged in one line. */
struct gpume_frames_reader;

/* GPUME_IO: cannot be read; GPUME_INVALID: not such a table. */
int gpume_frames_reader_open(
    struct gpume_frames_reader **reader, const char *path, const struct gpume_log *log);

/* The row of a field; fields must be requested in rising order. `known` is false if there is none.
 * With ref NULL, or without a column for references: the frame's first row. */
int gpume_frames_reader_seek(struct gpume_frames_reader *reader, uint64_t frame,
    const uint64_t *ref, struct gpume_read_statistics *statistics);

/* Sets *reader to NULL. NULL is fine. */
void gpume_frames_reader_close(struct gpume_frames_reader **reader);

/* Input, parameters and engine. */
#define GPUME_READ_SETTINGS_MAX 64u

struct gpume_read_setting {
    char name[48];   /* "--window", "engine device", "input name" */
    char value[160]; /* without quotes; longer ones are truncated */
};

struct gpume_read_settings {
    struct gpume_read_setting items[GPUME_READ_SETTINGS_MAX];
    uint32_t count;
};

/* GPUME_IO: the file cannot be read; GPUME_INVALID: it is not a complete summary; GPUME_NOMEM.
 * There are no settings then. Nothing is logged. */
int gpume_read_settings(struct gpume_read_settings *settings, const char *path);

/* NULL: there is no such setting. */
const char *gpume_read_settings_find(const struct gpume_read_settings *settings, const char *name);

/* --- the comparison */

/* Raise it by one when a key of the JSON object or a column is removed or changes its meaning. */
#define GPUME_COMPARISON_FORMAT 1

#define GPUME_COMPARISON_WORST 5u /* fields listed */

/* Counts of blocks and sums over blocks, of one field or several. [0] is A, [1] is B. */
struct gpume_compared {
    bool has_costs; /* in both? If not, members about costs are 0, and both_equal ignores costs */
    uint64_t blocks, vectors_equal, costs_equal, both_equal;
    uint64_t cheaper[2];               /* blocks with a lower cost in this one */
    uint64_t zero[2];                  /* vectors (0,0) */
    uint64_t costs[2];                 /* sums of costs */
    double distance_sum, distance_max; /* between the two vectors, in pixels */
    uint64_t cost_difference_max;
};

struct gpume_compared_field {
    uint64_t frame, ref[2];
    bool has_refs;
    struct gpume_compared blocks;
    struct gpume_read_statistics statistics[2];
};

/* Sums over the rows of frames.csv for the compared fields; if both runs have one, for those fields
 * that are in both. */
struct gpume_compared_statistics {
    uint64_t fields, pixels; /* of all pictures */
    double sad_before, sad_after;
    double psnr_sum; /* after; of the fields where it is finite */
    uint64_t psnr_finite;
};

struct gpume_comparison {
    const char *names[2];                   /* as given by the user */
    bool has_statistics[2];                 /* is there a frames.csv? */
    bool has_costs[2];                      /* do its vectors have costs? */
    struct gpume_read_settings settings[2]; /* none without summary.json */
    uint64_t fields, equal_fields;
    uint64_t only[2];     /* fields that the other run lacks */
    uint64_t refs_differ; /* fields with different references */
    uint64_t unknown[2];  /* compared fields without a row in an existing frames.csv */
    struct gpume_compared blocks;
    struct gpume_compared_statistics statistics[2];
    struct gpume_compared_field worst[GPUME_COMPARISON_WORST]; /* by number of unequal blocks */
    uint32_t worst_count;
    bool has_first; /* difference */
    bool first_has_ref;
    uint64_t first_frame, first_ref; /* of A */
    struct gpume_vectors_block first[2];
};

/* Adds a field of each run, of the same frame and direction. GPUME_INVALID, logged: their blocks
 * form different grids. */
int gpume_comparison_add(struct gpume_comparison *comparison, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_read_statistics statistics[2],
    struct gpume_compared_field *field, const struct gpume_log *log);

/* Iterates over the settings that differ; *at starts as 0. values[i] is NULL if that run lacks the
 * setting. False after the last one, and if the settings of a run are unknown. */
bool gpume_comparison_setting(const struct gpume_comparison *comparison, uint32_t *at,
    const char **name, const char *values[2]);

/* Whether both runs have the same fields, vectors and costs. */
bool gpume_comparison_equal(const struct gpume_comparison *comparison);

/* A CSV table: its head, and one row per field. gpume_out_finish returns errors of rows. */
void gpume_comparison_csv_head(struct gpume_out *csv);
void gpume_comparison_csv_row(struct gpume_out *csv, const struct gpume_compared_field *field);

struct gpume_json;

/* Members of the open object. */
void gpume_comparison_put_json(const struct gpume_comparison *comparison, struct gpume_json *json);

/* --- pictures and the page */

/*
 * Maps of the differences between two runs, one picture or video frame per field, alone or over the
 * frames that were searched. Equal blocks are gray; blocks are orange if A has the lower cost, blue
 * if B has it, and green if different vectors have the same cost. The larger the distance of the
 * vectors, the lighter the colour. One thread per map.
 */
struct gpume_compare_map;

/* Before any work: GPUME_INVALID, logged, if the name is unsuitable. */
int gpume_compare_map_check(const char *path, const struct gpume_log *log);

/* Does the name stand for numbered pictures? */
bool gpume_compare_map_is_series(const char *path);

struct gpume_compare_map_options {
    const char *path; /* outlives the map */
    bool overwrite;
    uint32_t width, height;      /* of all pictures, pixels; 0: as the first field's */
    uint32_t rate_num, rate_den; /* frames per second; 0: 25 */
    enum gpume_overlay_key key;  /* in words */
    struct gpume_log log;
};

/* The file is opened with the first field. Errors are logged; GPUME_INVALID: the picture is too
 * large. */
int gpume_compare_map_create(
    struct gpume_compare_map **map, const struct gpume_compare_map_options *options);

/* Draws two fields of the same frame with the same grid; frame numbers rise. rgb: the frame, of
 * the picture's size, which is shown in gray below the blocks that differ; NULL: none. time_us: the
 * picture's presentation time; NULL: one frame after the last. Errors are logged; GPUME_INVALID:
 * blocks outside the picture, or it is too large; GPUME_AGAIN: another run is writing the file. */
int gpume_compare_map_draw(struct gpume_compare_map *map, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_plane *rgb, const int64_t *time_us);

/* Completes the file. */
int gpume_compare_map_finish(struct gpume_compare_map *map);

/* Removes an unfinished file. Sets *map to NULL. NULL is fine. */
void gpume_compare_map_destroy(struct gpume_compare_map **map);

/*
 * The page of --report: the vectors of both runs side by side. It holds the blocks, and pictures,
 * of every frame pair or, where these take too many bytes, of every second, fourth... one. One
 * thread. Failures are logged.
 */
struct gpume_comparison_page;

/* out: the open file, which remains the caller's; path: its name. All outlive the page. */
int gpume_comparison_page_open(struct gpume_comparison_page **page, struct gpume_out *out,
    const char *path, const struct gpume_log *log);

/* field: what gpume_comparison_add gave for a and b. rgb: the target frame, of one size throughout;
 * NULL: unknown. */
int gpume_comparison_page_add(struct gpume_comparison_page *page,
    const struct gpume_compared_field *field, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_plane *rgb);

/* Completes the file. */
int gpume_comparison_page_finish(
    struct gpume_comparison_page *page, const struct gpume_comparison *comparison);

/* Sets *page to NULL. NULL is fine. */
void gpume_comparison_page_close(struct gpume_comparison_page **page);

/*
 * --- Dense flow, one vector per pixel, as benchmarks give it as ground truth, and the errors of a
 * field of blocks against it. Vectors count in fixed units, so that every threshold is decided by
 * integers. One thread.
 */

#define GPUME_FLOW_ONE 32768                                /* units in a pixel */
#define GPUME_FLOW_MAX 16384                                /* pixels: largest component */
#define GPUME_FLOW_UNKNOWN INT32_MIN                        /* u of a pixel without truth */
#define GPUME_FLOW_LIMITS 3u                                /* thresholds of the end-point error */
extern const uint32_t gpume_flow_limits[GPUME_FLOW_LIMITS]; /* pixels */

struct gpume_flow_vector {
    int32_t u, v; /* in units: to the right, downwards */
};

struct gpume_flow {
    uint32_t width, height;
    struct gpume_flow_vector *vectors; /* in raster order; NULL: there is no flow */
};

/* Sums over pixels. */
struct gpume_flow_errors {
    uint64_t known;                    /* pixels with truth */
    uint64_t pixels;                   /* those of them that have a vector */
    uint64_t above[GPUME_FLOW_LIMITS]; /* end-point error above a threshold */
    uint64_t outliers;                 /* above 3 pixels and above 5 % of the true length */
    double distance_sum, distance_max; /* end-point error, pixels */
    double opposite_sum;               /* of end-point errors, if all vectors were negated */
    double angle_sum;                  /* degrees */
};

/* Reads the truth of a field from names[1], a Middlebury .flo file or a KITTI .png file, by its
 * first bytes; names[0] has the field. Failures are logged: GPUME_IO, GPUME_INVALID (damaged, or
 * not of the field's size), GPUME_NOMEM. To be released with gpume_flow_finish in either case. */
int gpume_flow_read(struct gpume_flow *flow, const struct gpume_vectors_field *field,
    const char *const names[2], const struct gpume_log *log);
void gpume_flow_finish(struct gpume_flow *flow);

/* Every pixel takes the vector of its block. flow: read for this field. Failures are logged with
 * the run's name: GPUME_INVALID (several vectors for one pixel), GPUME_NOMEM. */
int gpume_flow_measure(struct gpume_flow_errors *errors, const struct gpume_flow *flow,
    const struct gpume_vectors_field *field, const char *run, const struct gpume_log *log);

void gpume_flow_add(struct gpume_flow_errors *total, const struct gpume_flow_errors *errors);

#endif
