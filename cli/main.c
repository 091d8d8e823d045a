/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume: from the command line to an exit status. Whatever fails ends here with its one line on
 * standard error. At the top of this folder is what several commands share; each command has its
 * own file or folder.
 */
#include "console.h"
#include "files/out.h"
#include "job.h"
#include "options/common.h"
#include "options/option.h"

#include <stdio.h>

static enum gpume_exit answer(const struct gpume_line *line)
{
    switch (line->options->request) {
    case GPUME_REQUEST_HELP_ALL:
        gpume_help_print_all();
        break;
    case GPUME_REQUEST_VERSION:
        printf("gpume %s\n", gpume_version());
        break;
    case GPUME_REQUEST_BASH:
    case GPUME_REQUEST_ZSH:
    case GPUME_REQUEST_FISH:
        gpume_completion_print(line->options->request);
        break;
    default:
        gpume_help_print(line->command);
        break;
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit run_command(const struct gpume_line *line)
{
    enum gpume_exit result = GPUME_EXIT_FAILED;
    if (gpume_signals_start(line->command->catches_signals, line->options->timeout)) {
        result = line->command->run(line->options);
        /* While signals are still taken: the readers may not read. */
        if (result == GPUME_EXIT_DONE && !gpume_console_flush_output(NULL)) {
            result = GPUME_EXIT_FAILED;
        }
        if (result != GPUME_EXIT_DONE) {
            gpume_console_flush_error();
        }
        gpume_signals_stop();
    }
    return result;
}

static enum gpume_exit run_line(struct gpume_line *line, int argc, char **argv)
{
    if (gpume_api_version() < GPUME_API_VERSION) {
        return gpume_refuse(GPUME_EXIT_FAILED,
            "this program needs version %u or later of the gpume library's API, not version %u; "
            "install the two together",
            (unsigned)GPUME_API_VERSION, (unsigned)gpume_api_version());
    }
    const int status = gpume_line_parse(line, gpume_commands, argc, argv);
    if (status != GPUME_OK) {
        return status == GPUME_INVALID ? GPUME_EXIT_USAGE : GPUME_EXIT_FAILED;
    }
    gpume_console_set_verbosity(line->options->verbosity);
    const enum gpume_exit result = line->options->request ? answer(line) : run_command(line);
    return result == GPUME_EXIT_DONE && !gpume_console_flush_output(NULL) ? GPUME_EXIT_FAILED
                                                                          : result;
}

int main(int argc, char **argv)
{
    struct gpume_line line = {0};
    gpume_console_init();
    const enum gpume_exit result = run_line(&line, argc, argv);
    if (result != GPUME_EXIT_DONE) {
        gpume_console_flush_error();
    }
    gpume_line_finish(&line);
    gpume_inputs_forget();
    return (int)result;
}
