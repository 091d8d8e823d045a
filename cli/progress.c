/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress: fields done of all, fields a second since the start, time left by that rate. A terminal
 * is redrawn ten times a second, a file or pipe gets a line a second.
 */
#include "progress.h"

#include "console.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define TERMINAL_NS 100000000u
#define LINES_NS 1000000000u

uint64_t gpume_progress_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void gpume_progress_init(
    struct gpume_progress *progress, const struct gpume_options *options, uint64_t total)
{
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const bool wanted =
        options->progress == GPUME_PROGRESS_ON ||
        (options->progress == GPUME_PROGRESS_AUTO && terminal && options->verbosity >= 0);
    *progress = (struct gpume_progress){
        .shown = wanted,
        .rewrite = terminal,
        .total = total,
        .start_ns = gpume_progress_clock_ns(),
    };
}

static void draw(struct gpume_progress *progress, uint64_t done, uint64_t now)
{
    char line[160], total[32] = "", left[48] = "";
    const double seconds = (double)(now - progress->start_ns) / 1e9;
    const double rate = seconds > 0 ? (double)done / seconds : 0;
    /* The container's count is an estimate: past it, say nothing about the end. */
    if (progress->total >= done && progress->total > 0) {
        const double rest = rate > 0 ? (double)(progress->total - done) / rate : 0;
        snprintf(total, sizeof(total), "/%" PRIu64, progress->total);
        if (rest >= 60) {
            snprintf(left, sizeof(left), ", %.0f min %02.0f s left", (double)(uint64_t)(rest / 60),
                (double)((uint64_t)rest % 60));
        } else {
            snprintf(left, sizeof(left), ", %.0f s left", rest);
        }
    }
    snprintf(line, sizeof(line), "%" PRIu64 "%s fields, %.1f a second%s", done, total, rate, left);
    gpume_console_status(line, progress->rewrite);
    progress->last_ns = now;
    progress->last_done = done;
}

void gpume_progress_step(struct gpume_progress *progress, uint64_t done)
{
    if (progress->shown) {
        const uint64_t now = gpume_progress_clock_ns();
        if (now - progress->last_ns >= (progress->rewrite ? TERMINAL_NS : LINES_NS)) {
            draw(progress, done, now);
        }
    }
}

void gpume_progress_finish(struct gpume_progress *progress, uint64_t done)
{
    if (!progress->shown) {
        return;
    }
    if (progress->rewrite) {
        gpume_console_status(NULL, true);
    } else if (done != progress->last_done) {
        draw(progress, done, gpume_progress_clock_ns());
    }
    progress->shown = false;
}
