/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A script a shell. All three find the command by the first name on the line, as the parser does,
 * and know by the masks of option_checks which options it takes. What stands for a value follows
 * from the option's kind; for texts it is said here.
 */
#include "options/completion.h"

#include "options/option_checks.h"
#include "options/option_table.h"
#include "options/option_value.h"
#include "options/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum gpume_command id;
    const char *name;
    const char *help;
} commands[] = {
    {GPUME_COMMAND_ESTIMATE, "estimate", ""}, /* has no name on the line */
    {GPUME_COMMAND_SORT, "sort", "sort integers"},
    {GPUME_COMMAND_BENCH, "bench", "time every engine side by side"},
    {GPUME_COMMAND_COMPARE, "compare", "say where two runs differ"},
    {GPUME_COMMAND_CONVERT, "convert", "turn a file of vectors into another format"},
    {GPUME_COMMAND_DEVICES, "devices", "list what can be used on this machine"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define NAMES "sort bench compare convert devices"

enum value { VALUE_NONE, VALUE_WORDS, VALUE_FILE, VALUE_DEVICE, VALUE_COUNT };

#define WORDS_BYTES 256
#define SEARCHES_MAX 32u /* more than there are */

/* The indices in the table of 'gpume devices', behind the command's own name. */
#define DEVICES "devices 2>/dev/null | sed -n \"s/^ *\\([0-9][0-9]*\\)  .*/\\1/p\""

static bool takes(const struct gpume_option_row *row, size_t command)
{
    return gpume_option_mask(commands[command].id) >> row->id & 1;
}

/* The names of searches: what this build has, whether the machine can run them or not. */
static void put_searches(char *words, size_t bytes)
{
    struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t count = 0;
    if (gpume_list_searches(NULL, searches, SEARCHES_MAX, &count) != GPUME_OK) {
        return;
    }
    for (uint32_t i = 0; i < count && i < SEARCHES_MAX; i++) {
        const size_t used = strlen(words);
        snprintf(words + used, bytes - used, "%s%s", i > 0 ? " " : "", searches[i].name);
    }
}

/* words: those that the option may have, or begin with, separated by blanks. */
static enum value value_of(const struct gpume_option_row *row, char *words, size_t bytes)
{
    words[0] = '\0';
    if (row->kind == GPUME_KIND_CHOICE) {
        for (size_t i = 0; i < 4 && row->choices[i]; i++) {
            const size_t used = strlen(words);
            snprintf(words + used, bytes - used, "%s%s", i > 0 ? " " : "", row->choices[i]);
        }
        return VALUE_WORDS;
    }
    if (row->kind == GPUME_KIND_FORMAT) {
        gpume_option_formats(row, " ", words, bytes);
        return VALUE_WORDS;
    }
    switch (row->id) {
    case GPUME_OPTION_PREFILTER:
        snprintf(words, bytes, "gauss: box: median:3 median:5 bilateral: kernel:");
        return VALUE_WORDS;
    case GPUME_OPTION_HWACCEL:
        snprintf(words, bytes, "none auto cuda vaapi vulkan");
        return VALUE_WORDS;
    case GPUME_OPTION_SEARCH:
        put_searches(words, bytes);
        return VALUE_WORDS;
    case GPUME_OPTION_VF:
        snprintf(
            words, bytes, "bwdif crop= format= fps= hflip hqdn3d scale= transpose= vflip yadif");
        return VALUE_WORDS;
    case GPUME_OPTION_DEVICE:
        return VALUE_DEVICE;
    case GPUME_OPTION_OUTPUT:
    case GPUME_OPTION_VECTORS:
    case GPUME_OPTION_PREDICTED:
    case GPUME_OPTION_RESIDUAL:
    case GPUME_OPTION_DIFFERENCE:
    case GPUME_OPTION_OVERLAY:
    case GPUME_OPTION_REPORT:
    case GPUME_OPTION_MAP:
        return VALUE_FILE;
    default:
        return VALUE_NONE;
    }
}

/* Help on one line, between single quotes: quote stands for one. */
static void print_help(const struct gpume_option_row *row, const char *quote)
{
    for (const char *at = row->help; *at; at++) {
        if (*at == '\'') {
            fputs(quote, stdout);
        } else {
            putchar(*at == '\n' ? ' ' : *at);
        }
    }
}

/* "--block | -b | --window | ...", a case's pattern in bash and zsh: of all options with such a
 * value, and of them all if it is VALUE_COUNT. */
static void print_pattern(enum value wanted)
{
    char words[WORDS_BYTES];
    const char *between = "";
    for (size_t i = 0; i < GPUME_OPTION_COUNT; i++) {
        const struct gpume_option_row *row = &gpume_option_rows[i];
        if (row->kind == GPUME_KIND_FLAG ||
            (wanted != VALUE_COUNT && value_of(row, words, sizeof(words)) != wanted)) {
            continue;
        }
        printf("%s--%s", between, row->name);
        between = " | ";
        if (row->letter) {
            printf(" | -%c", row->letter);
        }
    }
}

static void print_bash_values(void)
{
    printf("    ");
    print_pattern(VALUE_NONE);
    printf(") return ;;\n    ");
    print_pattern(VALUE_FILE);
    printf(") _gpume_files && return ;;\n    ");
    print_pattern(VALUE_DEVICE);
    printf(")\n"
           "        COMPREPLY=($(compgen -W \"$(\"${COMP_WORDS[0]}\" " DEVICES
           ")\" -- \"$current\"))\n"
           "        return ;;\n");
    for (size_t i = 0; i < GPUME_OPTION_COUNT; i++) {
        const struct gpume_option_row *row = &gpume_option_rows[i];
        char words[WORDS_BYTES];
        if (row->kind != GPUME_KIND_FLAG && value_of(row, words, sizeof(words)) == VALUE_WORDS) {
            printf("    --%s) COMPREPLY=($(compgen -W '%s' -- \"$current\"))\n        return ;;\n",
                row->name, words);
        }
    }
}

static void print_bash_options(void)
{
    for (size_t c = 0; c < COMMANDS; c++) {
        printf("        %s) options='", commands[c].name);
        const char *between = "";
        for (size_t i = 0; i < GPUME_OPTION_COUNT; i++) {
            const struct gpume_option_row *row = &gpume_option_rows[i];
            if (takes(row, c)) {
                printf("%s--%s", between, row->name);
                between = " ";
            }
        }
        printf("' ;;\n");
    }
}

static void print_bash(void)
{
    printf("# Completion of gpume in bash, made by 'gpume --completion bash'.\n"
           "_gpume_files() {\n"
           "    local IFS=$'\\n'\n"
           "    compopt -o filenames 2>/dev/null\n"
           "    COMPREPLY+=($(compgen -f -- \"$current\"))\n"
           "    return 0\n"
           "}\n"
           "_gpume() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} command= options= i\n"
           "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    COMPREPLY=()\n"
           "    # bash takes --edge=inside for three words.\n"
           "    if [[ $current == = ]]; then\n"
           "        current=\n"
           "    elif [[ $before == = ]] && ((COMP_CWORD > 2)); then\n"
           "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
           "    fi\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in\n"
           "        ");
    print_pattern(VALUE_COUNT);
    printf(")\n"
           "            [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))\n"
           "            ((i++)) ;;\n"
           "        -?*) ;;\n"
           "        *) command=${COMP_WORDS[i]} && break ;;\n"
           "        esac\n"
           "    done\n"
           "    case $before in\n");
    print_bash_values();
    printf("    esac\n"
           "    if [[ $current == -* ]]; then\n"
           "        case $command in\n"
           "        sort | bench | compare | convert | devices) ;;\n"
           "        *) command=estimate ;;\n"
           "        esac\n"
           "        case $command in\n");
    print_bash_options();
    printf("        esac\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
           "        return\n"
           "    fi\n"
           "    [[ $command ]] || COMPREPLY=($(compgen -W '" NAMES "' -- \"$current\"))\n"
           "    [[ $command == devices ]] || _gpume_files\n"
           "}\n"
           "complete -F _gpume gpume\n");
}

static void print_zsh_option(const struct gpume_option_row *row)
{
    char words[WORDS_BYTES];
    const bool valued = row->kind != GPUME_KIND_FLAG;
    if (row->letter) {
        printf("            '(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, row->name, row->letter,
            valued ? "+" : "", row->name, valued ? "=" : "");
    } else {
        printf("            '--%s%s[", row->name, valued ? "=" : "");
    }
    print_help(row, "'\\''");
    printf("]");
    if (valued) {
        printf(":%s:", row->name);
        switch (value_of(row, words, sizeof(words))) {
        case VALUE_WORDS:
            printf("(");
            for (const char *at = words; *at; at++) {
                printf("%s%c", *at == ':' ? "\\" : "", *at);
            }
            printf(")");
            break;
        case VALUE_FILE:
            printf("_files");
            break;
        case VALUE_DEVICE:
            printf("_gpume_devices");
            break;
        default:
            printf(" ");
            break;
        }
    }
    printf("'\n");
}

static void print_zsh(void)
{
    printf("#compdef gpume\n"
           "# Completion of gpume in zsh, made by 'gpume --completion zsh'.\n"
           "_gpume_devices() {\n"
           "    compadd -- $(${words[1]} " DEVICES ")\n"
           "}\n"
           "_gpume_first() {\n"
           "    local -a names\n"
           "    names=(\n");
    for (size_t c = 1; c < COMMANDS; c++) {
        printf("        '%s:%s'\n", commands[c].name, commands[c].help);
    }
    printf("    )\n"
           "    _describe -t commands command names\n"
           "    _files\n"
           "}\n"
           "_gpume() {\n"
           "    local command=estimate i\n"
           "    local -a options\n"
           "    for ((i = 2; i < CURRENT; i++)); do\n"
           "        case $words[i] in\n"
           "        ");
    print_pattern(VALUE_COUNT);
    printf(") ((i++)) ;;\n"
           "        -?*) ;;\n"
           "        sort | bench | compare | convert | devices) command=$words[i] && break ;;\n"
           "        *) break ;;\n"
           "        esac\n"
           "    done\n"
           "    case $command in\n");
    for (size_t c = 0; c < COMMANDS; c++) {
        printf("    %s)\n        options=(\n", commands[c].name);
        for (size_t i = 0; i < GPUME_OPTION_COUNT; i++) {
            if (takes(&gpume_option_rows[i], c)) {
                print_zsh_option(&gpume_option_rows[i]);
            }
        }
        printf("        ) ;;\n");
    }
    printf("    esac\n"
           "    if [[ $command == devices ]]; then\n"
           "        _arguments -s : $options '1: :_gpume_first'\n"
           "    else\n"
           "        _arguments -s : $options '1: :_gpume_first' '*:file:_files'\n"
           "    fi\n"
           "}\n"
           "if [[ $funcstack[1] == _gpume ]]; then\n"
           "    _gpume \"$@\"\n"
           "else\n"
           "    compdef _gpume gpume\n"
           "fi\n");
}

static void print_fish_option(const struct gpume_option_row *row)
{
    char words[WORDS_BYTES];
    printf("complete -c gpume -n '__gpume_for");
    for (size_t c = 0; c < COMMANDS; c++) {
        if (takes(row, c)) {
            printf(" %s", commands[c].name);
        }
    }
    printf("' -l %s", row->name);
    if (row->letter) {
        printf(" -s %c", row->letter);
    }
    if (row->kind != GPUME_KIND_FLAG) {
        switch (value_of(row, words, sizeof(words))) {
        case VALUE_WORDS:
            printf(" -x -a '%s'", words);
            break;
        case VALUE_FILE:
            printf(" -r -F");
            break;
        case VALUE_DEVICE:
            printf(" -x -a '(__gpume_devices)'");
            break;
        default:
            printf(" -x");
            break;
        }
    }
    printf(" -d '");
    print_help(row, "\\'");
    printf("'\n");
}

static void print_fish(void)
{
    printf("# Completion of gpume in fish, made by 'gpume --completion fish'.\n"
           "function __gpume_devices\n"
           "    set -l words (commandline -opc)\n"
           "    $words[1] " DEVICES "\n"
           "end\n"
           "function __gpume_command\n"
           "    set -l skip\n"
           "    for word in (commandline -opc)[2..-1]\n"
           "        if test -n \"$skip\"\n"
           "            set skip\n"
           "            continue\n"
           "        end\n"
           "        switch $word\n"
           "            case");
    for (size_t i = 0; i < GPUME_OPTION_COUNT; i++) {
        const struct gpume_option_row *row = &gpume_option_rows[i];
        if (row->kind != GPUME_KIND_FLAG) {
            printf(" --%s", row->name);
            if (row->letter) {
                printf(" -%c", row->letter);
            }
        }
    }
    printf("\n"
           "                set skip 1\n"
           "            case '-?*'\n"
           "            case " NAMES "\n"
           "                echo $word\n"
           "                return\n"
           "            case '*'\n"
           "                echo estimate\n"
           "                return\n"
           "        end\n"
           "    end\n"
           "end\n"
           "function __gpume_for\n"
           "    set -l command (__gpume_command)\n"
           "    test -n \"$command\"; or set command estimate\n"
           "    contains -- $command $argv\n"
           "end\n"
           "complete -c gpume -n '__gpume_for devices' -f\n");
    for (size_t c = 1; c < COMMANDS; c++) {
        printf("complete -c gpume -n 'test -z \"$(__gpume_command)\"' -a %s -d '%s'\n",
            commands[c].name, commands[c].help);
    }
    for (size_t i = 0; i < GPUME_OPTION_COUNT; i++) {
        print_fish_option(&gpume_option_rows[i]);
    }
}

void gpume_completion_print(enum gpume_shell shell)
{
    switch (shell) {
    case GPUME_SHELL_BASH:
        print_bash();
        break;
    case GPUME_SHELL_ZSH:
        print_zsh();
        break;
    case GPUME_SHELL_FISH:
        print_fish();
        break;
    }
}
