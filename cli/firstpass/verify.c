/* SPDX-License-Identifier: BSD-2-Clause */
#include "firstpass/report.h"

#include "encode/encoder.h"
#include "firstpass/trial.h"
#include "job.h"
#include "media/ffmpeg.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTINGS_BYTES 8192
#define PATH_BYTES 4096

/* Bitrates are verified with FFmpeg's encoder. */
static enum gpume_exit check_bitrates(
    const struct gpume_encode_options *encode, const struct gpume_source_info *info)
{
    const char *encoder = encode->encoder->library;
    if (!encoder) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "--verify: encodes with FFmpeg, whose %s reads no statistics; leave it out",
            encode->encoder->name);
    }
    if (!gpume_trial_has(encoder)) {
        return gpume_refuse(
            GPUME_EXIT_USAGE, "--verify: this FFmpeg has no %s; leave it out", encoder);
    }
    if (info->bits != 8 || encode->bits != 8) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "--verify: takes 8 bits per sample with --bitrate, before and after encoding; leave it "
            "out");
    }
    return GPUME_EXIT_DONE;
}

enum gpume_exit gpume_firstpass_verify_check(const struct gpume_firstpass_options *options,
    const struct gpume_encode_options *encode, const struct gpume_source_info *info)
{
    const struct gpume_firstpass_rungs *lists[] = {&options->targets, &options->rungs};
    bool has_bitrate = false, has_quality = false;
    for (size_t list = 0; list < 2; list++) {
        for (uint32_t i = 0; i < lists[list]->count; i++) {
            const bool is_bitrate = !gpume_goal_is_quality(lists[list]->items[i].target.goal);
            has_bitrate |= is_bitrate;
            has_quality |= !is_bitrate;
        }
    }
    const enum gpume_exit result =
        has_quality ? gpume_trial_check_program("--verify", encode->encoder->name)
                    : GPUME_EXIT_DONE;
    return result || !has_bitrate ? result : check_bitrates(encode, info);
}

struct verify {
    const struct gpume_firstpass_options *options;
    const struct gpume_encode_options *encode;
    const struct gpume_firstpass_entry *entry;
    char folder[PATH_BYTES]; /* for the encoder's own files */
    char stats[PATH_BYTES + 16];
};

/* The encoder's settings for one pass; stats: path of the statistics. The flag makes libx264 take
 * its faster settings for a first pass. */
static enum gpume_exit write_settings(
    const struct verify *verify, int pass, const char *stats, char settings[SETTINGS_BYTES])
{
    const struct gpume_encode_options second =
        gpume_firstpass_second(verify->encode, verify->entry);
    const bool is_own = stats != verify->entry->stats;
    char *list = gpume_command_settings(
        is_own ? verify->encode : &second, &verify->entry->video, pass, stats);
    if (!list) {
        return gpume_refuse(GPUME_EXIT_FAILED, "--verify: out of memory");
    }
    const char *tune = verify->encode->tune;
    const int length = snprintf(settings, SETTINGS_BYTES, "b=%" PRIu64 ":preset=%s%s%s:%s%s",
        verify->entry->outcome.bitrate, verify->encode->preset, tune ? ":tune=" : "",
        tune ? tune : "", pass == 1 ? "flags=+pass1:" : "", list);
    free(list);
    return length > 0 && length < SETTINGS_BYTES
               ? GPUME_EXIT_DONE
               : gpume_refuse(GPUME_EXIT_FAILED, "--verify: %s: the name is too long", stats);
}

static int encode_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    (void)time_us;
    return gpume_trial_put(opaque, luma);
}

#define LINE_BYTES 1024

/* Keeps the first error, whose cause may be a full disk. Those that follow are shown with -v. */
static void note_encoder_error(void *opaque, enum gpume_log_level level, const char *line)
{
    char *kept = opaque;
    if (level == GPUME_LOG_ERROR && !kept[0]) {
        snprintf(kept, LINE_BYTES, "%s", line);
    } else if (level == GPUME_LOG_ERROR) {
        gpume_console_info("then: %s", line);
    } else {
        gpume_console_log(NULL, level, line);
    }
}

/* Reports that the encoder's own files find no room, or else what the encoder said. */
static enum gpume_exit report_encoder_error(const struct verify *verify, const char *line)
{
    const int fd = open(verify->stats, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    enum gpume_exit result = GPUME_EXIT_DONE;
    if (fd >= 0) {
        result = gpume_trial_check_room("--verify", fd, verify->folder);
        (void)close(fd);
    }
    if (result == GPUME_EXIT_DONE) {
        gpume_console_error("%s", line);
    }
    return GPUME_EXIT_FAILED;
}

/* Encodes the video, which is opened here, in one pass. */
static enum gpume_exit encode_video(const struct verify *verify, struct gpume_cli_job *job,
    int pass, const char *stats, struct gpume_trial_result *measured)
{
    const struct gpume_pass_video *size = &verify->entry->video;
    char settings[SETTINGS_BYTES], label[64], line[LINE_BYTES] = "";
    struct gpume_trial *trial = NULL;
    snprintf(label, sizeof(label), "--verify: pass %d with %s files", pass,
        stats == verify->entry->stats ? "gpume's" : "the encoder's own");
    enum gpume_exit result = write_settings(verify, pass, stats, settings);
    job->wanted = gpume_source_options_make(job->common, job->choice, job->params);
    job->wanted.log = gpume_console_errors; /* warnings were printed before */
    result = result ? result : gpume_job_open_video(job, true);
    const struct gpume_trial_options trial_options = {
        .label = label,
        .encoder = verify->encode->encoder->library,
        .settings = settings,
        .decode = pass == 2,
        .width = size->width,
        .height = size->height,
        .rate_num = size->rate_num,
        .rate_den = size->rate_den,
        .log = {.fn = note_encoder_error, .opaque = line},
    };
    int status = result ? GPUME_INVALID : gpume_trial_open(&trial, &trial_options);
    if (status == GPUME_OK) {
        result = gpume_job_read(job, encode_frame, trial);
        status = result ? GPUME_INVALID : gpume_trial_finish(trial, measured);
        result = result ? result : gpume_job_result(GPUME_EXIT_DONE);
    }
    gpume_trial_close(&trial);
    gpume_job_close(job);
    return line[0]  ? report_encoder_error(verify, line)
           : result ? result
           : status ? GPUME_EXIT_FAILED
                    : GPUME_EXIT_DONE;
}

/* One pass over the input. */
static enum gpume_exit encode(
    const struct verify *verify, int pass, const char *stats, struct gpume_trial_result *measured)
{
    const struct gpume_pass_video *size = &verify->entry->video;
    struct gpume_video_options input = verify->options->video;
    char *scaling = NULL;
    if (verify->options->sizes.count > 0 || verify->options->rungs.count > 0) {
        scaling = gpume_command_scaling(input.source.filter, size->width, size->height, false);
        if (!scaling) {
            return gpume_refuse(GPUME_EXIT_FAILED, "--verify: out of memory");
        }
        input.source.filter = scaling;
    }
    struct gpume_cli_job job = gpume_job_of(&input);
    job.unguarded = true;
    const enum gpume_exit result = encode_video(verify, &job, pass, stats, measured);
    free(scaling);
    return result;
}

static void print_measured(const struct verify *verify, const char *name,
    const struct gpume_trial_result *measured, double first)
{
    const struct gpume_pass_video *video = &verify->entry->video;
    const double seconds = (double)measured->frames * video->rate_den / video->rate_num;
    const uint64_t pixels = (uint64_t)video->width * video->height * measured->frames;
    const double rate = (double)measured->bytes * 8 / seconds;
    const double wanted = (double)verify->entry->outcome.bitrate;
    printf("#   %-15s %9.1f kbit/s %+7.1f %% %8.3f dB %8.2f s + %.2f s\n", name, rate / 1000,
        (rate / wanted - 1) * 100, gpume_psnr(8, pixels, measured->sse), first,
        (double)measured->ns / 1e9);
}

/* Removes the files of the encoder's own first pass, and their folder. */
static void clean(void *opaque)
{
    const struct verify *verify = opaque;
    const char *const *endings = verify->encode->encoder->own_files;
    char path[PATH_BYTES + 32];
    size_t count = 0;
    while (endings[count]) {
        count++;
    }
    while (count > 0) { /* from the last: the encoder may be giving a temporary its name */
        snprintf(path, sizeof(path), "%s%s", verify->stats, endings[--count]);
        (void)unlink(path);
    }
    (void)rmdir(verify->folder);
}

/* What the printed command line gives. */
static enum gpume_exit verify_quality(const struct verify *verify)
{
    const struct gpume_firstpass_entry *entry = verify->entry;
    const struct gpume_trial_pass pass = {.option = "--verify",
        .video = &verify->options->video,
        .encoder = verify->encode->encoder,
        .entry = entry};
    struct gpume_trial_measured measured;
    char value[GPUME_TARGET_TEXT_BYTES];
    const enum gpume_exit result = gpume_trial_run(&pass, &measured);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    const struct gpume_fidelity_scores *scores = &measured.scores;
    gpume_target_text(&entry->outcome.target, value);
    printf("# luma of %" PRIu32 "x%" PRIu32 ", %s %s, %" PRIu64
           " frame%s; rate, how far it is from "
           "the expected one, PSNR, SSIM, XPSNR\n",
        entry->video.width, entry->video.height, gpume_target_option(entry->outcome.target.goal),
        value, scores->frames, gpume_plural(scores->frames));
    printf("#   %-15s %9.1f kbit/s %+7.1f %% %8.3f dB %8.5f %8.3f dB\n",
        verify->encode->encoder->name, measured.bitrate / 1000,
        (measured.bitrate / (double)entry->outcome.bitrate - 1) * 100, scores->psnr, scores->ssim,
        scores->xpsnr);
    return gpume_console_flush_output(NULL) ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

/* Two passes at a bitrate, with both kinds of files. */
static enum gpume_exit verify_bitrate(struct verify *verify, double seconds)
{
    struct gpume_trial_result first = {0}, own = {0}, ours = {0};
    const int length =
        snprintf(verify->folder, sizeof(verify->folder), "%s.XXXXXX", verify->entry->name);
    errno = ENAMETOOLONG;
    if (length >= (int)sizeof(verify->folder) || !mkdtemp(verify->folder)) {
        return gpume_refuse(GPUME_EXIT_FAILED,
            "--verify: no folder can be made beside %s: %s; leave it out", verify->entry->name,
            strerror(errno));
    }
    snprintf(verify->stats, sizeof(verify->stats), "%s/stats", verify->folder);
    gpume_signals_set_leave(clean, verify);
    gpume_signals_leave_at_once(); /* an encoder may take seconds for a frame */
    enum gpume_exit result = encode(verify, 1, verify->stats, &first);
    result = result ? result : encode(verify, 2, verify->stats, &own);
    result = result ? result : encode(verify, 2, verify->entry->stats, &ours);
    gpume_signals_keep();
    clean(verify);
    gpume_signals_set_leave(NULL, NULL);
    result = gpume_job_result(result);
    if (result == GPUME_EXIT_DONE) {
        printf("# luma of %" PRIu32 "x%" PRIu32 ", %" PRIu64 " kbit/s, %" PRIu64
               " frame%s; time of the first and the second pass\n",
            verify->entry->video.width, verify->entry->video.height,
            verify->entry->outcome.bitrate / 1000, own.frames, gpume_plural(own.frames));
        print_measured(verify, "own two passes", &own, (double)first.ns / 1e9);
        print_measured(verify, "with gpume", &ours, seconds);
        printf("#   times are of %s alone; that of gpume's first pass includes decoding\n",
            verify->encode->encoder->library);
        result = gpume_console_flush_output(NULL) ? result : GPUME_EXIT_FAILED;
    }
    return result;
}

enum gpume_exit gpume_firstpass_verify(const struct gpume_firstpass_options *options,
    const struct gpume_encode_options *encode_options, const struct gpume_firstpass_report *report,
    double seconds)
{
    gpume_trial_begin();
    enum gpume_exit result = gpume_job_result(GPUME_EXIT_DONE);
    for (size_t i = 0; i < report->count && result == GPUME_EXIT_DONE; i++) {
        struct verify verify = {
            .options = options, .encode = encode_options, .entry = &report->entries[i]};
        result = !gpume_goal_is_quality(verify.entry->target.goal)
                     ? verify_bitrate(&verify, seconds)
                     : verify_quality(&verify);
    }
    return result;
}
