/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion of the command line by bash, zsh and fish, made from the table of options. */
#ifndef GPUME_CLI_OPTIONS_COMPLETION_H
#define GPUME_CLI_OPTIONS_COMPLETION_H

enum gpume_shell { GPUME_SHELL_BASH, GPUME_SHELL_ZSH, GPUME_SHELL_FISH };

/* Standard output; the caller checks that it arrived. */
void gpume_completion_print(enum gpume_shell shell);

#endif
