/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/common.h"

const char *const gpume_choices_shell[] = {"bash", "zsh", "fish", NULL};
