/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One mutex keeps lines of several threads whole and apart from the status line. File names may
 * contain line ends and terminal controls, which are shown as '?'. Who writes holds the mutex while
 * the reader of standard error does not read; gpume_console_hurry ends that.
 */
#include "console.h"

#include "base/os.h"
#include "files/out.h"
#include "files/path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_BYTES 2048
#define POLL_MS 100 /* longest delay until a write that waits is given up */

/* Of a closing summary, which waits here until all of it is flushed. */
#define OUTPUT_BYTES (256 * 1024)

#define RED "\033[1;31m"    /* errors */
#define YELLOW "\033[1;33m" /* warnings */

static struct {
    pthread_mutex_t mutex;
    int verbosity;
    bool has_error;
    bool of_library; /* the error */
    char error[LINE_BYTES];
    atomic_bool hurried;
    int status_width; /* columns that the status line takes on the screen; 0: none */
} console = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void gpume_console_init(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
            /* The wrong direction on purpose: using a closed stream must fail. */
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
        }
    }
    static char output[OUTPUT_BYTES], messages[OUTPUT_BYTES];
    if (!isatty(STDOUT_FILENO)) {
        (void)setvbuf(stdout, output, _IOFBF, sizeof(output));
    }
    if (!isatty(STDERR_FILENO)) {
        (void)setvbuf(stderr, messages, _IOFBF, sizeof(messages));
    }
}

void gpume_console_set_verbosity(int verbosity)
{
    console.verbosity = verbosity;
}

void gpume_console_hurry(void)
{
    atomic_store(&console.hurried, true);
}

/* False: the program is to end, and who has the mutex waits for a reader. */
static bool lock(void)
{
    int tries = 0;
    while (atomic_load(&console.hurried) && tries < POLL_MS) {
        if (pthread_mutex_trylock(&console.mutex) == 0) {
            return true;
        }
        (void)poll(NULL, 0, 1);
        tries++;
    }
    return tries < POLL_MS && pthread_mutex_lock(&console.mutex) == 0;
}

/* Writes to standard error what its reader takes. A pipe that poll() calls writable has room for
 * PIPE_BUF bytes, so no write to it waits; one to a terminal may. */
static void put_text(const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
        const int found = poll(&ready, 1, POLL_MS);
        if (found == 0 && atomic_load(&console.hurried)) {
            return;
        }
        gpume_stall_begin();
        const ssize_t done =
            found > 0 ? write(ready.fd, text, left < PIPE_BUF ? left : PIPE_BUF) : 0;
        gpume_stall_end(); /* changes no errno */
        if ((found < 0 || done < 0) && errno != EINTR && errno != EAGAIN) {
            return;
        }
        text += done > 0 ? done : 0;
        left -= done > 0 ? (size_t)done : 0;
    }
}

static void erase_status(void)
{
    if (console.status_width > 0) {
        char blank[LINE_BYTES];
        snprintf(blank, sizeof(blank), "\r%*s\r", console.status_width, "");
        put_text(blank);
        console.status_width = 0;
    }
}

/* True if a line of the stream can be overwritten in place. */
static bool console_rewrites(FILE *stream)
{
    const char *terminal = getenv("TERM");
    return isatty(fileno(stream)) == 1 && !(terminal && strcmp(terminal, "dumb") == 0);
}

/* True if the stream may be coloured: it is a terminal that can, and NO_COLOR is not set. */
static bool takes_colour(FILE *stream)
{
    const char *terminal = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    return terminal && terminal[0] && !(no_colour && no_colour[0]) && console_rewrites(stream);
}

const char *gpume_console_bold(FILE *stream)
{
    return takes_colour(stream) ? "\033[1m" : "";
}

const char *gpume_console_plain(FILE *stream)
{
    return takes_colour(stream) ? "\033[0m" : "";
}

/* Call with the mutex locked. colour: for the program's name. */
static void print_message(const char *colour, const char *kind, const char *line)
{
    char clean[LINE_BYTES], text[LINE_BYTES + 64];
    snprintf(clean, sizeof(clean), "%s", line);
    gpume_visible_clean(clean);
    erase_status();
    const bool coloured = colour[0] && takes_colour(stderr);
    snprintf(text, sizeof(text), "%sgpume:%s %s%s\n", coloured ? colour : "",
        coloured ? "\033[0m" : "", kind, clean);
    put_text(text);
}

void gpume_console_log(void *opaque, enum gpume_log_level level, const char *line)
{
    if (!lock()) {
        return;
    }
    if (level == GPUME_LOG_ERROR) {
        if (!console.has_error) {
            console.has_error = true;
            console.of_library = opaque != NULL;
            snprintf(console.error, sizeof(console.error), "%s", line);
        } else if (console.verbosity > 0) {
            print_message("", "then: ", line);
        }
    } else if (level == GPUME_LOG_WARNING) {
        print_message(YELLOW, "warning: ", line);
    } else if (console.verbosity > 0) {
        print_message("", "", line);
    }
    pthread_mutex_unlock(&console.mutex);
}

const struct gpume_log gpume_console = {.fn = gpume_console_log};

static void log_without_warnings(void *opaque, enum gpume_log_level level, const char *line)
{
    if (level != GPUME_LOG_WARNING) {
        gpume_console_log(opaque, level, line);
    }
}

const struct gpume_log gpume_console_errors = {.fn = log_without_warnings};

void gpume_console_print(enum gpume_log_level level, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    gpume_console_log(NULL, level, line);
}

void gpume_console_error_about(const char *subject)
{
    char line[2 * LINE_BYTES];
    if (!lock()) {
        return;
    }
    snprintf(line, sizeof(line), "%.*s: %s", LINE_BYTES - 3, subject, console.error);
    line[LINE_BYTES - 1] = '\0';
    memcpy(console.error, line, LINE_BYTES);
    pthread_mutex_unlock(&console.mutex);
}

void gpume_console_error_add(const char *more)
{
    if (lock()) {
        gpume_text_join(console.error, LINE_BYTES, "", "; %s", more);
        pthread_mutex_unlock(&console.mutex);
    }
}

/* Columns of the terminal on standard error; 80 if unknown. */
static int console_columns(void)
{
    struct winsize size;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

void gpume_console_status(const char *text, bool rewrite)
{
    if (!lock()) {
        return;
    }
    if (!text) {
        erase_status();
    } else if (rewrite) {
        /* Padding overwrites the rest of a longer line; a line must not wrap. */
        const int most = console_columns() - 1;
        const int padded = console.status_width < most ? console.status_width : most;
        const int length = (int)strlen(text);
        const int width = length < most ? length : most;
        char line[LINE_BYTES];
        snprintf(line, sizeof(line), "\r%-*.*s", padded, width, text);
        put_text(line);
        console.status_width = width;
    } else {
        char line[LINE_BYTES];
        snprintf(line, sizeof(line), "%s\n", text);
        put_text(line);
    }
    pthread_mutex_unlock(&console.mutex);
}

void gpume_console_forget_error(void)
{
    if (!lock()) {
        return;
    }
    if (console.has_error && console.of_library && console.verbosity > 0) {
        print_message("", "", console.error);
    }
    console.has_error = console.has_error && !console.of_library;
    pthread_mutex_unlock(&console.mutex);
}

void gpume_console_flush_error(void)
{
    if (!lock()) {
        return;
    }
    erase_status();
    if (console.has_error) {
        print_message(RED, "", console.error);
        console.has_error = false;
    }
    pthread_mutex_unlock(&console.mutex);
}

void gpume_console_print_name(const char *name, FILE *stream)
{
    gpume_visible_put(name, stream);
}

void gpume_console_print_written(const char *name, FILE *stream)
{
    fprintf(stream, "written      ");
    gpume_console_print_name(name, stream);
    putc('\n', stream);
}

bool gpume_console_flush_output(const char *unneeded)
{
    gpume_stall_begin();
    const bool done = fflush(stdout) == 0 && !ferror(stdout);
    const int error = errno;
    (void)fflush(stderr); /* a summary, beside data on standard output */
    gpume_stall_end();
    if (done) {
        return true;
    }
    if (unneeded) {
        gpume_console_error("standard output: %s; -q omits %s", strerror(error), unneeded);
    } else {
        gpume_console_error("standard output: %s; %s", strerror(error),
            error == EPIPE   ? "the reader closed the pipe early"
            : error == EBADF ? "it is closed; write elsewhere"
                             : "free some space or write elsewhere");
    }
    return false;
}

/* --- progress: "12/239 frame pairs, 31.4 per second, 7 s left, PSNR 38.21 dB" */

#define TERMINAL_NS 100000000u
#define LINES_NS 1000000000u
#define PROGRESS_BYTES 160

void gpume_progress_init(
    struct gpume_progress *progress, const struct gpume_common_options *options, uint64_t total)
{
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const bool wanted =
        options->progress == GPUME_PROGRESS_ON ||
        (options->progress == GPUME_PROGRESS_AUTO && terminal && options->verbosity >= 0);
    *progress = (struct gpume_progress){
        .shown = wanted,
        .rewrite = console_rewrites(stderr),
        .total = total,
        .unit = "frame pairs",
        .psnr = (double)NAN,
        .start_ns = gpume_clock_ns(),
    };
}

/* Appends a part if it fits into the width of the terminal. */
static void append_part(
    const struct gpume_progress *progress, char line[PROGRESS_BYTES], const char *part)
{
    const size_t used = strlen(line), length = strlen(part);
    const size_t room = progress->rewrite ? (size_t)console_columns() : PROGRESS_BYTES;
    if (used + length < room && used + length < PROGRESS_BYTES) {
        memcpy(line + used, part, length + 1);
    }
}

static void format_rest(char *text, size_t bytes, double seconds)
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

static void draw_progress(struct gpume_progress *progress, uint64_t done, uint64_t now)
{
    char line[PROGRESS_BYTES] = "", part[64], total[32] = "";
    const double seconds = (double)(now - progress->start_ns) / 1e9;
    const double rate = seconds > 0 ? (double)done / seconds : 0;
    /* The container's count is an estimate: once it is exceeded, the total is unknown. */
    const bool bounded = progress->total >= done && progress->total > 0;
    if (bounded) {
        snprintf(total, sizeof(total), "/%" PRIu64, progress->total);
    }
    snprintf(part, sizeof(part), "%" PRIu64 "%s %s", done, total, progress->unit);
    append_part(progress, line, part);
    snprintf(part, sizeof(part), ", %.1f per second", rate);
    append_part(progress, line, part);
    if (bounded) {
        format_rest(part, sizeof(part), rate > 0 ? (double)(progress->total - done) / rate : 0);
        append_part(progress, line, part);
    }
    if (!isnan(progress->psnr)) {
        char psnr[32] = "inf";
        if (isfinite(progress->psnr)) {
            snprintf(psnr, sizeof(psnr), "%.2f dB", progress->psnr);
        }
        snprintf(part, sizeof(part), ", PSNR %s", psnr);
        append_part(progress, line, part);
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
            draw_progress(progress, done, now);
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
        draw_progress(progress, done, gpume_clock_ns());
    }
    progress->shown = false;
}

/* --- the library's messages */

static void append(char *line, const char *before, const char *text)
{
    const size_t used = strlen(line);
    if (text) {
        snprintf(line + used, LINE_BYTES - used, "%s%s", before, text);
    }
}

/* "--window 600"; "bits 16" where no option sets the parameter. */
static void append_option(
    char *line, const char *before, const struct gpume_param *param, const char *value)
{
    append(line, before, param->option ? "--" : "");
    append(line, "", param->option ? param->option : param->name);
    append(line, " ", value);
}

void gpume_library_log(void *opaque, enum gpume_log_level level, const char *line)
{
    const struct gpume_message *message = gpume_log_message();
    char text[LINE_BYTES] = "";
    (void)opaque;
    if (!message) {
        gpume_console_log(text, level, line);
        return;
    }
    if (message->param) {
        append_option(text, "", message->param, message->value);
        append(text, "", ": ");
    }
    append(text, "", message->text);
    if (message->other) {
        append_option(text, " ", message->other, message->other_value);
    }
    append(text, "", message->rest);
    const char *option = message->param ? message->param->option : NULL;
    if (option && message->value && strcmp(option, "device") == 0) {
        append(text, "; ", "'gpume devices' lists them");
    }
    gpume_console_log(text, level, text);
}

int gpume_library_check(const struct gpume_params *params)
{
    struct gpume_params checked = *params;
    checked.log = gpume_library_log;
    return gpume_params_check(&checked);
}
