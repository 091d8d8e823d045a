/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether this machine has a Vulkan driver for the tests. The probe makes Vulkan calls of its own
 * and uses none of the code under test: where it finds a driver, a test has to pass, and a failure
 * or a crash is never "skipped".
 */
#ifndef GPUME_TESTS_VULKAN_PROBE_H
#define GPUME_TESTS_VULKAN_PROBE_H

#include <stdbool.h>

/* Returns where there is a driver, and with `validation` the validation layer too. Otherwise prints
 * what is missing and ends the process with exit status 77 (skipped), or with 1 if
 * $GPUME_TEST_VULKAN is "required". */
void vulkan_probe_or_skip(bool validation);

#endif
