/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line, described by tables. Each command has a struct for its options and a table with
 * one row per option: its spelling, the field where its value goes, how to read the value, and its
 * help. The parser (line.c), the help and the shell completion (commands.c) all read these tables,
 * so a new option is a row, a field, and an entry in the man page. A row that sets a parameter of
 * the library names it, and the table of parameters (base/params.h) says the rest.
 */
#ifndef GPUME_CLI_OPTIONS_OPTION_H
#define GPUME_CLI_OPTIONS_OPTION_H

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- Exit statuses; scripts rely on them. */

enum gpume_exit {
    GPUME_EXIT_DONE = 0,
    GPUME_EXIT_FAILED = 1,
    GPUME_EXIT_USAGE = 2,
    GPUME_EXIT_INPUT = 3,
    GPUME_EXIT_DEVICE = 4,
    GPUME_EXIT_MISMATCH = 5,
};

/* The exit status for a failure of an engine, */
static inline enum gpume_exit gpume_exit_of_engine(int status)
{
    switch (status) {
    case GPUME_OK:
        return GPUME_EXIT_DONE;
    case GPUME_INVALID: /* the options have been checked: it is the input */
        return GPUME_EXIT_INPUT;
    case GPUME_DEVICE:
    case GPUME_UNSUPPORTED:
        return GPUME_EXIT_DEVICE;
    case GPUME_FORMAT: /* two engines disagree */
        return GPUME_EXIT_MISMATCH;
    default:
        return GPUME_EXIT_FAILED;
    }
}

/* of reading a file, */
static inline enum gpume_exit gpume_exit_of_reader(int status)
{
    return status == GPUME_OK      ? GPUME_EXIT_DONE
           : status == GPUME_NOMEM ? GPUME_EXIT_FAILED
                                   : GPUME_EXIT_INPUT;
}

/* and of writing one: its format cannot hold the input, or another run is writing it. */
static inline enum gpume_exit gpume_exit_of_writer(int status)
{
    return status == GPUME_OK                                     ? GPUME_EXIT_DONE
           : status == GPUME_INVALID                              ? GPUME_EXIT_INPUT
           : status == GPUME_UNSUPPORTED || status == GPUME_AGAIN ? GPUME_EXIT_USAGE
                                                                  : GPUME_EXIT_FAILED;
}

struct gpume_option;
struct gpume_line;
struct gpume_common_options;

/* How to read one type of value. Types are listed below. */
struct gpume_option_type {
    size_t bytes; /* size of the field; 0: an integer of any size */

    /* Stores the value in the field. False: the text is not permitted, and nothing was stored. */
    bool (*parse)(const struct gpume_option *option, const char *text, void *field);

    /* What is permitted, with the row's unit, to follow "must be". NULL: see `permitted`. */
    void (*describe)(const struct gpume_option *option, char *text, size_t bytes);

    /* Words that a shell offers, separated by blanks. NULL: those of the row. */
    void (*words)(const struct gpume_option *option, char *text, size_t bytes);

    /* The same as describe: a format of the row's min and max. NULL: anything but an empty text. */
    const char *permitted;

    /* How to write what a text that is not permitted may mean; unchanged: not known. NULL: never
     * known. */
    void (*hint)(const struct gpume_option *option, const char *text, char *hint, size_t bytes);
};

enum gpume_complete {
    GPUME_COMPLETE_WORDS, /* those of the type or of the row, if any */
    GPUME_COMPLETE_FILES,
    GPUME_COMPLETE_DEVICES, /* indices of Vulkan devices, and words */
};

/* One row: an option, or, with all other members zero, a heading for those that follow. */
struct gpume_option {
    const char *heading;
    size_t param; /* offset in struct gpume_params: its row of the table of parameters has what this
                     one leaves out; 0: none */
    const char *name;
    char letter;       /* 0: none */
    const char *value; /* the value's name in help; NULL: the option is a flag */
    const struct gpume_option_type *type;
    size_t offset, bytes;       /* the field in the command's struct: GPUME_FIELD */
    int stored;                 /* what a flag stores, or the value of a choice's first name */
    double min, max;            /* limits of a number */
    const char *unit;           /* of a number, for messages; NULL: none, or its help says it */
    unsigned step;              /* a number must be a multiple of it; 0: any */
    const char *const *choices; /* names of an enum's values, then NULL */
    const char *help;           /* one paragraph; help.c breaks it into lines */
    const char *brief;          /* for the short help; NULL: not listed there */
    const char *needs;          /* name of an option without which this one does nothing */
    const char *excludes;       /* name of an option that cannot go with this one */
    const char *follows;        /* name of an option: a choice that is not given is the one that the
                                   name of that file ends in */
    unsigned uses;              /* bits: see gpume_line_unused; 0: always of use */
    bool reads;                 /* its value may be the name of a file that is read */
    enum gpume_complete complete;
    const char *words; /* for completion, separated by blanks */
};

#define GPUME_FIELD(type, member)                                                                  \
    .offset = offsetof(type, member), .bytes = sizeof(((type *)NULL)->member)

struct gpume_command {
    const char *name;
    const char *summary; /* a line for lists of commands; of the first, for the short help */
    const char *usage;   /* one or more lines, without "gpume" */
    const char *about;   /* a paragraph for the full help */
    struct gpume_option *options; /* rows without a name or heading are empty */
    size_t option_count;
    size_t bytes; /* of its struct, which begins with a struct gpume_common_options */
    uint32_t operands_min, operands_max;
    bool last_is_output;  /* of the operands; all others are inputs */
    bool reads_folders;   /* that are operands: all files in them, not only those of every run */
    const char *operands; /* describes the operands in messages */
    bool catches_signals; /* it has outputs to finish or remove */

    /* Fills in rows that are made from other tables, before any row is read. NULL: none. */
    void (*make_options)(void);

    /* Fills in defaults other than zero. NULL: none. */
    void (*set_defaults)(void *options);

    /* Checks options against each other and derives values. GPUME_OK, or GPUME_INVALID after one
     * line through gpume_console_error. NULL: nothing to check. */
    int (*check)(void *options, const struct gpume_line *line);

    enum gpume_exit (*run)(const void *options);
};

/* Initialisers of a command: its table and its struct; */
#define GPUME_COMMAND_OPTIONS(table, type)                                                         \
    .options = table, .option_count = sizeof(table) / sizeof((table)[0]), .bytes = sizeof(type)

/* operands that are one video. */
#define GPUME_COMMAND_ONE_VIDEO .operands_min = 1, .operands_max = 1, .operands = "one video"

#define GPUME_OPTIONS_MAX 96u /* rows of a command's table */

/* The command line as parsed: a command and its options. */
struct gpume_line {
    const struct gpume_command *const *commands; /* all there are, as in gpume_commands */
    const struct gpume_command *command;
    struct gpume_common_options *options; /* the command's struct, which begins with these */
    bool given[GPUME_OPTIONS_MAX];        /* by row: the option was on the command line */
};

/* Was the option of this name given? */
bool gpume_line_has(const struct gpume_line *line, const char *name);

/* The first option given that is of no use: its row names uses, but none of these. NULL: there is
 * none. */
const struct gpume_option *gpume_line_unused(const struct gpume_line *line, unsigned uses);

/* --- The types of values. A type of one option alone may lie beside its command. */

extern const struct gpume_option_type gpume_type_flag;           /* stores `stored`, or 1 */
extern const struct gpume_option_type gpume_type_number;         /* a whole number; limits, step */
extern const struct gpume_option_type gpume_type_number_or_auto; /* the same; auto is 0 */
extern const struct gpume_option_type gpume_type_real;           /* a double; limits */
extern const struct gpume_option_type gpume_type_window; /* two uint32_t: N or XxY; limits */
extern const struct gpume_option_type gpume_type_size;   /* two uint32_t: WxH; limits */
extern const struct gpume_option_type gpume_type_pixel;  /* two uint32_t: X,Y; limits */
extern const struct gpume_option_type gpume_type_count;  /* a uint64_t with K or M; limits */
extern const struct gpume_option_type gpume_type_bytes;  /* the same, also G, T, KiB ... */
extern const struct gpume_option_type gpume_type_choice; /* an enum, `stored` its first value */
extern const struct gpume_option_type gpume_type_text;   /* a string, not empty */
extern const struct gpume_option_type gpume_type_search; /* a string: a search implementation */
extern const struct gpume_option_type gpume_type_format; /* a struct gpume_vectors_format * */
extern const struct gpume_option_type gpume_type_readable_format; /* ... that can be read */

/* Their functions, for other types that are read or listed alike. */
bool gpume_type_number_parse(const struct gpume_option *option, const char *text, void *field);
bool gpume_type_real_parse(const struct gpume_option *option, const char *text, void *field);
bool gpume_type_choice_parse(const struct gpume_option *option, const char *text, void *field);
void gpume_type_choice_describe(const struct gpume_option *option, char *text, size_t bytes);
void gpume_type_choice_words(const struct gpume_option *option, char *text, size_t bytes);

/* Parses `length` digits, a number up to max, which is at most 2^50. */
bool gpume_parse_digits(const char *text, size_t length, uint64_t max, uint64_t *number);

/* Parses digits with at most one point, followed by `end`; strtod would take signs, exponents,
 * hexadecimals and words too. Returns the end, or NULL: malformed or out of range. */
const char *gpume_parse_real(const char *text, char end, double min, double max, double *real);

/* A frame's number or a time; of a length, the number of frames or the duration. */
struct gpume_place {
    bool is_time;
    uint64_t frame; /* if it is no time */
    int64_t us;     /* if it is one: microseconds */
};

extern const struct gpume_option_type gpume_type_place;    /* a struct gpume_place; limits */
extern const struct gpume_option_type gpume_type_duration; /* an int64_t: microseconds, above 0 */

/* As given, such as "16x8,8" or "64..8+rect"; a shape may be named twice. */
struct gpume_shape_list {
    struct gpume_block_size shapes[GPUME_SHAPES_MAX];
    uint32_t count; /* 0: not given */
};

struct gpume_distance_list {
    uint32_t distances[GPUME_DISTANCES_MAX]; /* rising; a distance may be given twice */
    uint32_t count;                          /* 0: not given */
};

extern const struct gpume_option_type gpume_type_shapes;    /* a struct gpume_shape_list */
extern const struct gpume_option_type gpume_type_distances; /* a struct gpume_distance_list */
extern const struct gpume_option_type gpume_type_subpel;    /* a uint32_t: 1, 2 or 4 */

/* Sets the members of *params that say which shapes are searched. */
void gpume_shape_list_apply(const struct gpume_shape_list *list, struct gpume_params *params);

/* The same for distances; params->ref_distance is the nearest one. */
void gpume_distance_list_apply(const struct gpume_distance_list *list, struct gpume_params *params);

/* The price of vectors: --lambda or --qp, of which the other one is negative. */
void gpume_lambda_apply(double lambda, double qp, struct gpume_params *params);

/* --- The list of commands. Each, gpume_NAME_command, is defined beside the code that runs it. */

/* The first is motion estimation, which needs no name on the command line. Ends with NULL. */
extern const struct gpume_command *const gpume_commands[];

#endif
