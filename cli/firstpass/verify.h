/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --verify: encodes the luma of the analysed frames with libavcodec, once with the encoder's own
 * two passes and once with gpume's files, and prints rate, PSNR and time of both. Main thread only.
 */
#ifndef GPUME_CLI_FIRSTPASS_VERIFY_H
#define GPUME_CLI_FIRSTPASS_VERIFY_H

#include "firstpass/firstpass.h"
#include "firstpass/report.h"

/* Can it be done? Otherwise one line has been logged. */
enum gpume_exit gpume_firstpass_verify_check(
    const struct gpume_encode_options *encode, const struct gpume_source_info *info);

/* seconds: of the analysis. */
enum gpume_exit gpume_firstpass_verify(const struct gpume_firstpass_options *options,
    const struct gpume_encode_options *encode, const struct gpume_firstpass_report *report,
    double seconds);

#endif
