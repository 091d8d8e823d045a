/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one table of options: read by the parser and by --help, and through --help by the test of the
 * man page.
 */
#ifndef GPUME_CLI_OPTION_TABLE_H
#define GPUME_CLI_OPTION_TABLE_H

enum gpume_option_kind {
    GPUME_KIND_FLAG,
    GPUME_KIND_UINT,
    GPUME_KIND_REAL,
    GPUME_KIND_WINDOW,
    GPUME_KIND_SIZE,
    GPUME_KIND_AMOUNT,
    GPUME_KIND_CHOICE,
    GPUME_KIND_PREFILTER,
    GPUME_KIND_TEXT
};

enum gpume_option_id {
    GPUME_OPTION_BLOCK,
    GPUME_OPTION_WINDOW,
    GPUME_OPTION_EDGE,
    GPUME_OPTION_METRIC,
    GPUME_OPTION_REF_DISTANCE,
    GPUME_OPTION_PREFILTER,
    GPUME_OPTION_START,
    GPUME_OPTION_FRAMES,
    GPUME_OPTION_VF,
    GPUME_OPTION_STREAM,
    GPUME_OPTION_HWACCEL,
    GPUME_OPTION_ALLOW_NETWORK,
    GPUME_OPTION_ALLOW_FILES,
    GPUME_OPTION_MAX_PIXELS,
    GPUME_OPTION_MAX_MEMORY,
    GPUME_OPTION_TIMEOUT,
    GPUME_OPTION_OUTPUT,
    GPUME_OPTION_VECTORS,
    GPUME_OPTION_PREDICTED,
    GPUME_OPTION_RESIDUAL,
    GPUME_OPTION_RESIDUAL_MODE,
    GPUME_OPTION_DIFFERENCE,
    GPUME_OPTION_GAIN,
    GPUME_OPTION_GAMMA,
    GPUME_OPTION_OVERLAY,
    GPUME_OPTION_OVERLAY_STYLE,
    GPUME_OPTION_SCALE,
    GPUME_OPTION_REPORT,
    GPUME_OPTION_REPORT_PICTURES,
    GPUME_OPTION_OVERWRITE,
    GPUME_OPTION_BACKEND,
    GPUME_OPTION_DEVICE,
    GPUME_OPTION_THREADS,
    GPUME_OPTION_SEARCH,
    GPUME_OPTION_NO_ELIMINATION,
    GPUME_OPTION_CHECK,
    GPUME_OPTION_VALIDATE,
    GPUME_OPTION_SIZE,
    GPUME_OPTION_BITS,
    GPUME_OPTION_BENCH_SORT,
    GPUME_OPTION_BENCH_REDUCE,
    GPUME_OPTION_SECONDS,
    GPUME_OPTION_DESCENDING,
    GPUME_OPTION_BINARY,
    GPUME_OPTION_TIME,
    GPUME_OPTION_MAP,
    GPUME_OPTION_JSON,
    GPUME_OPTION_CSV,
    GPUME_OPTION_QUIET,
    GPUME_OPTION_VERBOSE,
    GPUME_OPTION_PROGRESS,
    GPUME_OPTION_NO_PROGRESS,
    GPUME_OPTION_COMPLETION,
    GPUME_OPTION_HELP,
    GPUME_OPTION_VERSION,
    GPUME_OPTION_COUNT
};

struct gpume_option_row {
    enum gpume_option_id id;
    enum gpume_option_kind kind;
    char letter; /* 0: none */
    const char *name;
    const char *value;      /* how --help writes the value */
    const char *help;       /* lines of at most 47 columns */
    double min, max;        /* GPUME_KIND_UINT, _REAL, _SIZE, _AMOUNT */
    const char *choices[4]; /* GPUME_KIND_CHOICE: in the order of the enum they stand for */
};

/* GPUME_OPTION_COUNT of them, in the order of --help. */
extern const struct gpume_option_row gpume_option_rows[];

#endif
