/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/common.h"

const char *const gpume_choices_backend[] = {"auto", "vulkan", "cpu", NULL};
const char *const gpume_choices_edge[] = {"extend", "inside", NULL};
const char *const gpume_choices_metric[] = {"sad", NULL};
const char *const gpume_choices_shell[] = {"bash", "zsh", "fish", NULL};
