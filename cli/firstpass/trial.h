/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trial of a second pass: its printed command line is run, by the programs that a user would run,
 * and the result is compared with the source. The encoded video is a temporary file beside the
 * files of the second pass, and is removed in any case. Main thread only, one trial at a time,
 * after the files have their names.
 *
 * The source is read a second time, through the filters, the scaling and the pixel format of the
 * command line, so that it is compared as the encoder got it.
 */
#ifndef GPUME_CLI_FIRSTPASS_TRIAL_H
#define GPUME_CLI_FIRSTPASS_TRIAL_H

#include "encode/fidelity.h"
#include "firstpass/report.h"

/* What is tried. */
struct gpume_trial_pass {
    const char *option;                      /* that asks for it, for messages: "--verify" */
    const struct gpume_video_options *video; /* how the source was read; it can be read again */
    const struct gpume_encoder *encoder;
    const struct gpume_firstpass_entry *entry; /* with its command lines */
    struct gpume_fidelity_frame *frames;       /* gets the first of them; NULL: none are wanted */
    uint64_t frames_max;                       /* for which it has room */
    /* The source, to whose size the encoded video is scaled and compared there; NULL: they are
     * compared as they were encoded. */
    const struct gpume_source_info *restored;
};

struct gpume_trial_measured {
    struct gpume_fidelity_scores scores; /* of luma; .frames counts those of the encoded video */
    uint64_t bytes;                      /* of the encoded video */
    double bitrate;                      /* bits per second */
    double seconds;                      /* that the programs took */
};

/* Fails after one line: a program is not installed, or fails, which shows its last messages; the
 * encoded video has other frames than the source; or either cannot be read. A signal or --timeout
 * ends the programs. */
enum gpume_exit gpume_trial_run(
    const struct gpume_trial_pass *pass, struct gpume_trial_measured *measured);

/* Whether a file of an encoder could still grow: encoders do not say that the disk is full, and
 * some go on. Fails after one line. */
enum gpume_exit gpume_trial_check_room(const char *option, int fd, const char *path);

/* Refuses an option if there is no such program where the system looks for programs. */
enum gpume_exit gpume_trial_check_program(const char *option, const char *name);

/* Refuses it, with this status, for frames that the encoder's program does not read. */
enum gpume_exit gpume_trial_check_video(enum gpume_exit status, const char *option,
    const struct gpume_encoder *encoder, const struct gpume_pass_video *video);

/* Refuses it for an input that can be read only once. */
int gpume_trial_check_input(const char *option, const char *input);

/* Call it before the first trial of files that are complete: messages of signals say so. */
void gpume_trial_begin(void);

#endif
