/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Half planes on a GPU, and what its kernels compute of their blocks: the same as costs.h. Work is
 * started, and finished later in the same order, so that the GPU has more to do while results are
 * taken. One thread at a time. A failure leaves results untouched, and then the device can only be
 * closed. Only the first failure is logged, as a warning, since the processor can do the same work.
 */
#ifndef GPUME_ENCODE_DEVICE_H
#define GPUME_ENCODE_DEVICE_H

#include "encode/blocks.h"

struct gpume_encode_device;

enum gpume_block_job_kind {
    GPUME_JOB_INTRA, /* also copies the frame to the device, in place of the oldest one */
    GPUME_JOB_MATCH,
    GPUME_JOB_MEAN,
    GPUME_JOB_WEIGHING,
    GPUME_JOB_KINDS
};

#define GPUME_WORK_JOBS 32u /* of a kind, at most */

/* Jobs that are done together, the frames first. */
struct gpume_encode_work {
    struct gpume_block_job *jobs[GPUME_JOB_KINDS][GPUME_WORK_JOBS];
    uint32_t counts[GPUME_JOB_KINDS];
};

/* No device is no failure: *device is then NULL. GPUME_NOMEM is logged. */
int gpume_encode_device_open(
    struct gpume_encode_device **device, const struct gpume_blocks_params *params);

/* Host memory for the planes of as many frames as are kept, from which they are copied: frame n has
 * place n % frames. */
uint8_t *gpume_encode_device_planes(const struct gpume_encode_device *device);

/* Work that may be started and not yet finished. */
#define GPUME_ENCODE_FLIGHTS 3u

/* The work stays where it is until it is finished. Planes of its frames must not change until then,
 * nor vectors. */
int gpume_encode_device_start(
    struct gpume_encode_device *device, const struct gpume_encode_work *work);

/* Waits for the work that was started first, and fills in its results. */
int gpume_encode_device_finish(struct gpume_encode_device *device);

/* NULL is fine. */
void gpume_encode_device_close(struct gpume_encode_device **device);

#endif
