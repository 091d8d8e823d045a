/* SPDX-License-Identifier: BSD-2-Clause */
/* Scripts by which bash, zsh and fish complete command lines, made from the tables of options. */
#ifndef GPUME_CLI_OPTIONS_COMPLETION_H
#define GPUME_CLI_OPTIONS_COMPLETION_H

#include "options/common.h"

/* shell: GPUME_REQUEST_BASH, _ZSH or _FISH. Standard output; the caller checks that it arrived. */
void gpume_completion_print(enum gpume_request shell);

#endif
