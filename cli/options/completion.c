/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One script per shell. Like the parser, each takes the first operand for the command if it is the
 * name of one, and offers the options of that command's table.
 */
#include "options/completion.h"

#include "commands.h"

#include <stdio.h>
#include <string.h>

enum value { VALUE_NONE, VALUE_WORDS, VALUE_FILE, VALUE_DEVICE, VALUE_ANY };

#define WORDS_BYTES 256

/* Prints the indices in the table of 'gpume devices'; goes after the name of the program. */
#define DEVICES "devices 2>/dev/null | sed -n \"s/^ *\\([0-9][0-9]*\\)  .*/\\1/p\""

/* words: what the value may be, or begin with, separated by blanks. */
static enum value value_of(const struct gpume_option *option, char words[WORDS_BYTES])
{
    words[0] = '\0';
    if (option->complete == GPUME_COMPLETE_FILES) {
        return VALUE_FILE;
    }
    if (option->complete == GPUME_COMPLETE_DEVICES) {
        return VALUE_DEVICE;
    }
    if (option->type->words) {
        option->type->words(option, words, WORDS_BYTES);
    } else if (option->words) {
        snprintf(words, WORDS_BYTES, "%s", option->words);
    }
    return words[0] ? VALUE_WORDS : VALUE_NONE;
}

static bool has(const struct gpume_command *command, const struct gpume_option *option)
{
    return gpume_command_option(command, option->name, strlen(option->name)) != NULL;
}

/* Walks over the options of all commands, each name once; start with c = i = 0. NULL at the end. */
static const struct gpume_option *next_option(size_t *c, size_t *i)
{
    for (; gpume_commands[*c]; ++*c, *i = 0) {
        while (*i < gpume_commands[*c]->option_count) {
            const struct gpume_option *option = &gpume_commands[*c]->options[(*i)++];
            bool seen = !option->name;
            for (size_t before = 0; before < *c && !seen; before++) {
                seen = has(gpume_commands[before], option);
            }
            if (!seen) {
                return option;
            }
        }
    }
    return NULL;
}

/* The names that are typed, with `between` between them. */
static void print_commands(const char *between)
{
    for (size_t c = 1; gpume_commands[c]; c++) {
        printf("%s%s", c > 1 ? between : "", gpume_commands[c]->name);
    }
}

/* Help between single quotes: `quote` stands for one. */
static void print_help(const struct gpume_option *option, const char *quote)
{
    for (const char *at = option->help; *at; at++) {
        if (*at == '\'') {
            fputs(quote, stdout);
        } else {
            putchar(*at);
        }
    }
}

/* "--block | -b | --window | ...", the pattern of a case in bash and zsh: all options with such a
 * value. */
static void print_pattern(enum value wanted)
{
    char words[WORDS_BYTES];
    const struct gpume_option *option;
    const char *between = "";
    for (size_t c = 0, i = 0; (option = next_option(&c, &i)) != NULL;) {
        if (!option->value || (wanted != VALUE_ANY && value_of(option, words) != wanted)) {
            continue;
        }
        printf("%s--%s", between, option->name);
        between = " | ";
        if (option->letter) {
            printf(" | -%c", option->letter);
        }
    }
}

static void print_bash_values(void)
{
    char words[WORDS_BYTES];
    const struct gpume_option *option;
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
    for (size_t c = 0, i = 0; (option = next_option(&c, &i)) != NULL;) {
        if (option->value && value_of(option, words) == VALUE_WORDS) {
            printf("    --%s) COMPREPLY=($(compgen -W '%s' -- \"$current\"))\n        return ;;\n",
                option->name, words);
        }
    }
}

static void print_bash_options(void)
{
    for (size_t c = 0; gpume_commands[c]; c++) {
        const struct gpume_command *command = gpume_commands[c];
        printf("        %s) options='", command->name);
        const char *between = "";
        for (size_t i = 0; i < command->option_count; i++) {
            if (command->options[i].name) {
                printf("%s--%s", between, command->options[i].name);
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
    print_pattern(VALUE_ANY);
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
           "        ");
    print_commands(" | ");
    printf(") ;;\n"
           "        *) command=estimate ;;\n"
           "        esac\n"
           "        case $command in\n");
    print_bash_options();
    printf("        esac\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
           "        return\n"
           "    fi\n"
           "    if [[ ! $command || $command == help ]]; then\n"
           "        COMPREPLY=($(compgen -W '");
    print_commands(" ");
    printf("' -- \"$current\"))\n"
           "    fi\n"
           "    [[ $command == devices || $command == help ]] || _gpume_files\n"
           "}\n"
           "complete -F _gpume gpume\n");
}

static void print_zsh_value(const struct gpume_option *option)
{
    char words[WORDS_BYTES];
    switch (value_of(option, words)) {
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

static void print_zsh_option(const struct gpume_option *option)
{
    if (option->letter) {
        printf("            '(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name,
            option->letter, option->value ? "+" : "", option->name, option->value ? "=" : "");
    } else {
        printf("            '--%s%s[", option->name, option->value ? "=" : "");
    }
    print_help(option, "'\\''");
    printf("]");
    if (option->value) {
        printf(":%s:", option->name);
        print_zsh_value(option);
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
    for (size_t c = 1; gpume_commands[c]; c++) {
        printf("        '%s:%s'\n", gpume_commands[c]->name, gpume_commands[c]->summary);
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
    print_pattern(VALUE_ANY);
    printf(") ((i++)) ;;\n"
           "        -?*) ;;\n"
           "        ");
    print_commands(" | ");
    printf(") command=$words[i] && break ;;\n"
           "        *) break ;;\n"
           "        esac\n"
           "    done\n"
           "    case $command in\n");
    for (size_t c = 0; gpume_commands[c]; c++) {
        printf("    %s)\n        options=(\n", gpume_commands[c]->name);
        for (size_t i = 0; i < gpume_commands[c]->option_count; i++) {
            if (gpume_commands[c]->options[i].name) {
                print_zsh_option(&gpume_commands[c]->options[i]);
            }
        }
        printf("        ) ;;\n");
    }
    printf("    esac\n"
           "    if [[ $command == devices ]]; then\n"
           "        _arguments -s : $options '1: :_gpume_first'\n"
           "    elif [[ $command == help ]]; then\n"
           "        _arguments -s : $options '1: :_gpume_first' '2: :_gpume_first'\n"
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

static void print_fish_option(const struct gpume_option *option)
{
    char words[WORDS_BYTES];
    printf("complete -c gpume -n '__gpume_for");
    for (size_t c = 0; gpume_commands[c]; c++) {
        if (has(gpume_commands[c], option)) {
            printf(" %s", gpume_commands[c]->name);
        }
    }
    printf("' -l %s", option->name);
    if (option->letter) {
        printf(" -s %c", option->letter);
    }
    if (option->value) {
        switch (value_of(option, words)) {
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
    print_help(option, "\\'");
    printf("'\n");
}

static void print_fish(void)
{
    const struct gpume_option *option;
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
    for (size_t c = 0, i = 0; (option = next_option(&c, &i)) != NULL;) {
        if (option->value) {
            printf(" --%s", option->name);
            if (option->letter) {
                printf(" -%c", option->letter);
            }
        }
    }
    printf("\n"
           "                set skip 1\n"
           "            case '-?*'\n"
           "            case ");
    print_commands(" ");
    printf("\n"
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
           "complete -c gpume -n '__gpume_for devices help' -f\n");
    for (size_t c = 1; gpume_commands[c]; c++) {
        printf(
            "complete -c gpume -n 'contains -- \"$(__gpume_command)\" \"\" help' -a %s -d '%s'\n",
            gpume_commands[c]->name, gpume_commands[c]->summary);
    }
    for (size_t c = 0, i = 0; (option = next_option(&c, &i)) != NULL;) {
        print_fish_option(option);
    }
}

void gpume_completion_print(enum gpume_request shell)
{
    if (shell == GPUME_REQUEST_BASH) {
        print_bash();
    } else if (shell == GPUME_REQUEST_ZSH) {
        print_zsh();
    } else {
        print_fish();
    }
}
