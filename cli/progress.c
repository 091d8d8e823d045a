/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "12/239 frame pairs, 31.4 per second, 7 s left, PSNR 38.21 dB": redrawn ten times per second on a
 * terminal, once per second elsewhere.
 */
#include "progress.h"

#include "base/clock.h"
#include "console.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TERMINAL_NS 100000000u
#define LINES_NS 1000000000u
#define LINE_BYTES 160

void gpume_progress_init(
    struct gpume_progress *progress, const struct gpume_common_options *options, uint64_t total)
{
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const bool wanted =
        options->progress == GPUME_PROGRESS_ON ||
        (options->progress == GPUME_PROGRESS_AUTO && terminal && options->verbosity >= 0);
    *progress = (struct gpume_progress){
        .shown = wanted,
        .rewrite = gpume_console_rewrites(stderr),
        .total = total,
        .unit = "frame pairs",
        .psnr = (double)NAN,
        .start_ns = gpume_clock_ns(),
    };
}

/* Appends a part if it fits into the width of the terminal. */
static void append(const struct gpume_progress *progress, char line[LINE_BYTES], const char *part)
{
    const size_t used = strlen(line), length = strlen(part);
    const size_t room = progress->rewrite ? (size_t)gpume_console_columns() : LINE_BYTES;
    if (used + length < room && used + length < LINE_BYTES) {
        memcpy(line + used, part, length + 1);
    }
}

static void format_left(char *text, size_t bytes, double seconds)
{
    const uint64_t rest = (uint64_t)seconds;
    if (rest >= 3600) {
        snprintf(
            text, bytes, ", %" PRIu64 " h %02u min left", rest / 3600, (unsigned)(rest / 60 % 60));
    } else if (rest >= 60) {
        snprintf(text, bytes, ", %u min %02u s left", (unsigned)(rest / 60), (unsigned)(rest % 60));
    } else {
        snprintf(text, bytes, ", %.0f s left", seconds);
    }
}

static void draw(struct gpume_progress *progress, uint64_t done, uint64_t now)
{
    char line[LINE_BYTES] = "", part[64], total[32] = "";
    const double seconds = (double)(now - progress->start_ns) / 1e9;
    const double rate = seconds > 0 ? (double)done / seconds : 0;
    /* The container's count is an estimate: once it is exceeded, the total is unknown. */
    const bool bounded = progress->total >= done && progress->total > 0;
    if (bounded) {
        snprintf(total, sizeof(total), "/%" PRIu64, progress->total);
    }
    snprintf(part, sizeof(part), "%" PRIu64 "%s %s", done, total, progress->unit);
    append(progress, line, part);
    snprintf(part, sizeof(part), ", %.1f per second", rate);
    append(progress, line, part);
    if (bounded) {
        format_left(part, sizeof(part), rate > 0 ? (double)(progress->total - done) / rate : 0);
        append(progress, line, part);
    }
    if (!isnan(progress->psnr)) {
        char psnr[32] = "inf";
        if (isfinite(progress->psnr)) {
            snprintf(psnr, sizeof(psnr), "%.2f dB", progress->psnr);
        }
        snprintf(part, sizeof(part), ", PSNR %s", psnr);
        append(progress, line, part);
    }
    gpume_console_status(line, progress->rewrite);
    progress->last_ns = now;
    progress->last_done = done;
}

void gpume_progress_step(struct gpume_progress *progress, uint64_t done, double psnr)
{
    progress->psnr = psnr;
    if (progress->shown) {
        const uint64_t now = gpume_clock_ns();
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
        draw(progress, done, gpume_clock_ns());
    }
    progress->shown = false;
}
