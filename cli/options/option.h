/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line, described by tables. Each command has a struct for its options and a table with
 * one row per option: its spelling, the field where its value goes, how to read the value, and its
 * help. The parser (line.c), the help and the shell completion all read these tables, so a new
 * option is a row, a field, and an entry in the man page. A row that sets a parameter of the
 * library names it, and the table of parameters (base/params.h) says the rest.
 */
#ifndef GPUME_CLI_OPTIONS_OPTION_H
#define GPUME_CLI_OPTIONS_OPTION_H

#include "exit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_option;
struct gpume_line;
struct gpume_common_options;

/* How to read one type of value. types.h lists them. */
struct gpume_option_type {
    size_t bytes; /* size of the field; 0: an integer of any size */

    /* Stores the value in the field. False: the text is not permitted, and nothing was stored. */
    bool (*parse)(const struct gpume_option *option, const char *text, void *field);

    /* What is permitted, to follow "must be". NULL: see `permitted`. */
    void (*describe)(const struct gpume_option *option, char *text, size_t bytes);

    /* Words that a shell offers, separated by blanks. NULL: those of the row. */
    void (*words)(const struct gpume_option *option, char *text, size_t bytes);

    /* The same as describe: a format of the row's min and max. NULL: anything but an empty text. */
    const char *permitted;
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
    unsigned step;              /* a number must be a multiple of it; 0: any */
    const char *const *choices; /* names of an enum's values, then NULL */
    const char *help;           /* one paragraph; help.c breaks it into lines */
    const char *brief;          /* for the short help; NULL: not listed there */
    const char *needs;          /* name of an option without which this one does nothing */
    const char *excludes;       /* name of an option that cannot go with this one */
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

/* Makes the rows of all commands that are made from other tables. Call it first. */
void gpume_options_complete_rows(void);

/* Initialisers of a command: its table and its struct; */
#define GPUME_COMMAND_OPTIONS(table, type)                                                         \
    .options = table, .option_count = sizeof(table) / sizeof((table)[0]), .bytes = sizeof(type)

/* operands that are one video. */
#define GPUME_COMMAND_ONE_VIDEO .operands_min = 1, .operands_max = 1, .operands = "one video"

/* The option of this name, which has `length` bytes; NULL: the command has none. */
const struct gpume_option *gpume_command_option(
    const struct gpume_command *command, const char *name, size_t length);

#define GPUME_OPTIONS_MAX 96u /* rows of a command's table */

/* The command line as parsed: a command and its options. */
struct gpume_line {
    const struct gpume_command *command;
    struct gpume_common_options *options; /* the command's struct, which begins with these */
    bool given[GPUME_OPTIONS_MAX];        /* by row: the option was on the command line */
};

/* Was the option of this name given? */
bool gpume_line_has(const struct gpume_line *line, const char *name);

/* The first option given that is of no use: its row names uses, but none of these. NULL: there is
 * none. */
const struct gpume_option *gpume_line_unused(const struct gpume_line *line, unsigned uses);

#endif
