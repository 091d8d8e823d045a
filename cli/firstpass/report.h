/* SPDX-License-Identifier: BSD-2-Clause */
/* NAME.json and the printed text: which second pass reads which files. Main thread only. */
#ifndef GPUME_CLI_FIRSTPASS_REPORT_H
#define GPUME_CLI_FIRSTPASS_REPORT_H

#include "encode/commands.h"
#include "encode/pass.h"
#include "firstpass/firstpass.h"
#include "media/source.h"

struct gpume_out;
struct gpume_out_set;

/* One second pass. */
struct gpume_firstpass_entry {
    struct gpume_pass_video video;
    struct gpume_encode_target target; /* as asked */
    struct gpume_pass_outcome outcome; /* known at the end */
    char *name;                        /* of its files, without their endings */
    char *stats, *tree, *qps;          /* tree, qps NULL: there is none */
    struct gpume_argv ffmpeg, encoder, feed;
};

/* Starts as zero, except for the name. */
struct gpume_firstpass_report {
    const char *name; /* as the user gave it */
    struct gpume_firstpass_entry *entries;
    size_t count;
    uint64_t frames;
    const struct gpume_encoder *encoder;
    struct gpume_argv filter;      /* in front of all others; empty: none */
    const struct gpume_pass *pass; /* from report_make on: its scenes are reported */
};

struct gpume_firstpass_source {
    const char *input, *filter; /* filter NULL: none */
    const struct gpume_source_info *info;
    uint64_t frames;
    const struct gpume_filter_options *filtered; /* NULL: the encoder gets the video itself */
    const char *kept; /* file of the filtered video; NULL: the filter is in the command lines */
};

/* Names another second pass. *entry is valid until the next call. */
int gpume_firstpass_report_add(struct gpume_firstpass_report *report,
    const struct gpume_encode_options *options, const struct gpume_pass_video *video,
    const struct gpume_encode_target *target, const struct gpume_firstpass_entry **entry);

/* The options of its second pass: those of the analysis, with what its outcome adds. */
struct gpume_encode_options gpume_firstpass_second(
    const struct gpume_encode_options *options, const struct gpume_firstpass_entry *entry);

/* Makes the command lines. */
int gpume_firstpass_report_make(struct gpume_firstpass_report *report,
    const struct gpume_encode_options *options, const struct gpume_firstpass_source *source);

int gpume_firstpass_report_write(
    const struct gpume_firstpass_report *report, struct gpume_out *json);

/* On standard output, for a shell. */
void gpume_firstpass_report_print(const struct gpume_firstpass_report *report);

void gpume_firstpass_report_finish(struct gpume_firstpass_report *report);

/* Encodes by the encoder's program with the files of each fidelity, and corrects its CRFs by what
 * came out, up to options->probes times; files and command lines are then new, and so is that of
 * the report, the seal of the set, which replaces files and outlives the pass. The files have their
 * names. */
enum gpume_exit gpume_firstpass_probe(const struct gpume_firstpass_options *options,
    const struct gpume_encode_options *encode, const struct gpume_firstpass_source *source,
    struct gpume_pass *pass, struct gpume_firstpass_report *report, struct gpume_out_set *set);

/* --- --verify (verify.c): for a bitrate, encodes the luma of the analysed frames with libavcodec,
 * once with the encoder's own two passes and once with gpume's files, and prints rate, PSNR and
 * time of both. For a quality, runs the printed command line (trial.h), and prints rate, PSNR, SSIM
 * and XPSNR. */

/* Whether it can be done. If not, one line has been logged. */
enum gpume_exit gpume_firstpass_verify_check(const struct gpume_firstpass_options *options,
    const struct gpume_encode_options *encode, const struct gpume_source_info *info);

/* seconds: of the analysis. */
enum gpume_exit gpume_firstpass_verify(const struct gpume_firstpass_options *options,
    const struct gpume_encode_options *encode, const struct gpume_firstpass_report *report,
    double seconds);

#endif
