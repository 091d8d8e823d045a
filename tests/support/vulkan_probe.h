/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out whether this machine has a Vulkan driver for the tests, with its own Vulkan calls and
 * none of the code under test. If it finds a driver, the test has to pass: a failure or a crash is
 * never "skipped".
 */
#ifndef GPUME_TESTS_VULKAN_PROBE_H
#define GPUME_TESTS_VULKAN_PROBE_H

#include <stdbool.h>

/* Returns if there is a driver and, with `validation`, the validation layer. Otherwise prints what
 * is missing and ends the process with exit status 77 (skipped), or with 1 if $GPUME_TEST_VULKAN is
 * "required". */
void vulkan_probe_or_skip(bool validation);

#endif
