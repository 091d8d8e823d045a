/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/common.h"

const char *const gpume_choices_backend[] = {"auto", "vulkan", "cpu", NULL};
const char *const gpume_choices_edge[] = {"extend", "inside", NULL};
const char *const gpume_choices_interpolation[] = {"h264", "hevc", "bilinear", NULL};
const char *const gpume_choices_metric[] = {"sad", "satd", "ssd", NULL};
const char *const gpume_choices_shell[] = {"bash", "zsh", "fish", NULL};
const char *const gpume_choices_subpel_search[] = {"refine", "full", NULL};
