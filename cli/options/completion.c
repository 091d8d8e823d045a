/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each shell has a script in options/shells, in which a table of all options takes the place of
 * "@TABLE@". A row of it is "COMMAND|--NAME|-LETTER|KIND|WORDS|HELP"; a row without a name lists a
 * command, and HELP is what it does. The scripts find the command and its options as the parser
 * does: the first operand, if it is the name of a command.
 */
#include "commands.h"
#include "options/help.h"

#include <stdio.h>
#include <string.h>

#define PLACE "@TABLE@"
#define WORDS_BYTES 256

#include "completion_bash.inc"
#include "completion_fish.inc"
#include "completion_zsh.inc"

/* How the value is completed. words: what it may be, or begin with, separated by blanks. */
static const char *kind_of(const struct gpume_option *option, char words[WORDS_BYTES])
{
    words[0] = '\0';
    if (!option->value) {
        return "flag";
    }
    if (option->complete == GPUME_COMPLETE_FILES) {
        return "file";
    }
    if (option->complete == GPUME_COMPLETE_DEVICES) {
        snprintf(words, WORDS_BYTES, "%s", option->words ? option->words : "");
        return "device";
    }
    if (option->type->words) {
        option->type->words(option, words, WORDS_BYTES);
    } else if (option->words) {
        snprintf(words, WORDS_BYTES, "%s", option->words);
    }
    return words[0] ? "words" : "value";
}

/* The table is between single quotes: `quote` stands for one within it. */
static void print_text(const char *text, const char *quote)
{
    for (; *text; text++) {
        printf(*text == '\'' ? "%s" : "%.1s", *text == '\'' ? quote : text);
    }
}

static void print_table(const char *quote)
{
    const char *between = "";
    for (size_t c = 0; gpume_commands[c]; c++) {
        const struct gpume_command *command = gpume_commands[c];
        if (c > 0) { /* motion estimation needs no name */
            printf("%s%s|||||", between, command->name);
            print_text(command->summary, quote);
        }
        for (size_t i = 0; i < command->option_count; i++) {
            const struct gpume_option *option = &command->options[i];
            const char letter[] = {'-', option->letter, '\0'};
            char words[WORDS_BYTES];
            if (option->name) {
                const char *kind = kind_of(option, words);
                printf("%s%s|--%s|%s|%s|%s|", between, command->name, option->name,
                    option->letter ? letter : "", kind, words);
                print_text(option->help, quote);
                between = "\n";
            }
        }
    }
}

void gpume_completion_print(enum gpume_request shell)
{
    const char *script = shell == GPUME_REQUEST_BASH  ? completion_bash
                         : shell == GPUME_REQUEST_ZSH ? completion_zsh
                                                      : completion_fish;
    const char *place = strstr(script, PLACE);
    printf("%.*s", (int)(place - script), script);
    print_table(shell == GPUME_REQUEST_FISH ? "\\'" : "'\\''");
    fputs(place + strlen(PLACE), stdout);
}
