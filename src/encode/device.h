/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Half planes on a GPU, and what its kernels compute of their blocks: the same as costs.h. One
 * thread at a time. Results are untouched on failure, after which the device is only to be closed.
 * Failures are logged as warnings, for the processor can do the same work.
 */
#ifndef GPUME_ENCODE_DEVICE_H
#define GPUME_ENCODE_DEVICE_H

#include "encode/blocks.h"

struct gpume_encode_device;

/* No device is no failure: *device is then NULL. GPUME_NOMEM is logged. */
int gpume_encode_device_open(
    struct gpume_encode_device **device, const struct gpume_blocks_params *params);

/* Copies the planes of the frame with this number to the device, in place of the oldest one. */
int gpume_encode_device_write(
    struct gpume_encode_device *device, uint64_t frame, const struct gpume_half *half);

/* Intra costs of `count` > 0 frames that are on the device, up to GPUME_ENCODE_BATCH. */
int gpume_encode_device_predict(
    struct gpume_encode_device *device, struct gpume_intra *const *frames, uint32_t count);

/* Refines `count` > 0 matches between frames that are on the device, up to GPUME_ENCODE_BATCH. */
int gpume_encode_device_refine(
    struct gpume_encode_device *device, struct gpume_match *const *matches, uint32_t count);

/* Costs of `count` > 0 means of refined matches, up to GPUME_ENCODE_BATCH. */
int gpume_encode_device_mean(
    struct gpume_encode_device *device, struct gpume_mean *const *means, uint32_t count);

/* NULL is fine. */
void gpume_encode_device_close(struct gpume_encode_device **device);

#endif
