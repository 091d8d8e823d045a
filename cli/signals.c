/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread waits for signals and for points in time, so the response is ordinary code and need not
 * be async-signal-safe. A signal that the parent process has set to be ignored (nohup, a background
 * job) stays ignored.
 */
#include "job.h"

#include "base/log.h"
#include "base/os.h"
#include "console.h"
#include "files/out.h"
#include "options/option.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Wakes the waiting thread after `stopping` is set; otherwise ignored. */
#define STOP_SIGNAL SIGUSR1

#define LEFT_BYTES 192

static struct {
    pthread_mutex_t mutex;
    pthread_t thread;
    sigset_t taken; /* the signals to wait for: those not ignored */
    bool started, attached, detached, caught, overdue, expired, stopping;
    bool late;       /* one came while detached: caught if the run goes on */
    bool forced;     /* the next one ends the program, after `leave` */
    bool completing; /* detached, and outputs are being completed */
    bool begun;      /* output has begun that cannot be removed */
    bool told;       /* `left` follows the message of --timeout */
    bool untold;     /* what becomes of the outputs is to follow the message "interrupted" */
    double limit;    /* seconds: --timeout */
    gpume *ctx;
    gpume_filter *filter;
    struct gpume_source *source;
    void (*leave)(void *opaque);
    void *leave_opaque;
    char left[LEFT_BYTES]; /* "": outputs that were removed */
} signals = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void raise_flag(bool *flag)
{
    pthread_mutex_lock(&signals.mutex);
    *flag = true;
    pthread_mutex_unlock(&signals.mutex);
}

static bool get_flag(const bool *flag)
{
    pthread_mutex_lock(&signals.mutex);
    const bool value = *flag;
    pthread_mutex_unlock(&signals.mutex);
    return value;
}

/* The program ends with the mutex locked, so no other thread uses what is removed here. */
static void call_leave(void)
{
    if (signals.leave) {
        signals.leave(signals.leave_opaque);
    }
}

static void say_removed(void)
{
    static const char removed[] = "unfinished outputs were removed";
    if (signals.untold) {
        gpume_console_error_add(removed);
        signals.untold = false;
        return;
    }
    gpume_console_error("interrupted; %s", signals.left[0] ? signals.left
                                           : signals.begun ? "the output is not complete"
                                                           : removed);
}

static void end_program(void)
{
    gpume_console_flush_error();
    _exit(GPUME_EXIT_FAILED);
}

static void cancel_run(void)
{
    pthread_mutex_lock(&signals.mutex);
    if (signals.attached) {
        signals.caught = true;
        if (signals.source) {
            gpume_source_cancel(signals.source);
        } else if (signals.leave && !signals.left[0] && !signals.begun) {
            /* another signal may end the program before they are removed */
            gpume_console_error("interrupted");
            signals.untold = true;
        } else {
            say_removed();
        }
    } else if (signals.detached) {
        signals.late = true;
        if (signals.completing) {
            gpume_console_warning("interrupted, but all frames are done: the outputs are being "
                                  "completed; a second interrupt ends the program at once");
        }
    } else {
        if (signals.begun) {
            say_removed();
        } else {
            gpume_console_error("interrupted before any output was begun");
        }
        call_leave();
        end_program();
    }
    pthread_mutex_unlock(&signals.mutex);
}

/* The run has not ended in time. */
static void end_late(void)
{
    pthread_mutex_lock(&signals.mutex);
    if (signals.untold) {
        gpume_console_error_add("the program ended at once, so unfinished outputs may remain; the "
                                "next run with these outputs removes them");
    }
    call_leave();
    end_program();
}

/* What the thread does at a time of gpume_clock_ns. */
struct event {
    uint64_t at;
    void (*act)(void);
};

/* True if something is to be removed before the program ends. */
static bool get_leave(void)
{
    pthread_mutex_lock(&signals.mutex);
    const bool is_set = signals.leave != NULL;
    pthread_mutex_unlock(&signals.mutex);
    return is_set;
}

/* From now on a signal ends the program: by its default action, if nothing is to be removed. */
static void release_signals(void)
{
    signals.forced = get_leave();
    if (signals.forced) {
        return;
    }
    pthread_sigmask(SIG_UNBLOCK, &signals.taken, NULL);
    sigemptyset(&signals.taken);
}

static void set_overdue(void)
{
    raise_flag(&signals.overdue);
}

/* Printed only on a terminal, where the user would otherwise see nothing. */
static void say_waiting(void)
{
    if (isatty(STDERR_FILENO) && !get_flag(&signals.stopping)) {
        gpume_console_warning("interrupted, and waiting for the frame pair in progress, 10 s at "
                              "most; a second interrupt ends the run at once");
    }
}

/* Not even one frame pair was completed. */
static void give_up(void)
{
    pthread_mutex_lock(&signals.mutex);
    if (signals.attached && signals.source) {
        gpume_cancel(signals.ctx);
        gpume_filter_cancel(signals.filter);
    }
    pthread_mutex_unlock(&signals.mutex);
}

static void expire(void);

#define NEVER UINT64_MAX
#define SECOND UINT64_C(1000000000)

#define LOOK_NS (SECOND / 10)
#define LOOKS 10u /* in a row that find a reader who does not read */

enum { RELEASE, OVERDUE, WAITING, GIVE_UP, EXPIRE, END, EVENTS };
static struct event events[EVENTS] = {
    [RELEASE] = {NEVER, release_signals},
    [OVERDUE] = {NEVER, set_overdue},
    [WAITING] = {NEVER, say_waiting},
    [GIVE_UP] = {NEVER, give_up},
    [EXPIRE] = {NEVER, expire},
    [END] = {NEVER, end_late},
};

/* The run is to end, but may wait for ever for the reader of a pipe or for a stopped terminal. */
static bool looks_for_stall;

static void look_for_stall(void)
{
    static uint64_t last;
    static unsigned found;
    found = gpume_stall_look(&last) ? found + 1 : 0;
    if (found == LOOKS) {
        gpume_console_error("interrupted; standard output or a pipe did not take the rest of what "
                            "was written to it");
        end_late();
    }
}

static void hurry(void)
{
    gpume_console_hurry();
    looks_for_stall = true;
}

/* The time of --timeout is up. A run that has begun ends as after a signal, at once; one that is
 * completing its outputs has reported its result. Either may hang on a device or a pipe. */
static void expire(void)
{
    hurry();
    pthread_mutex_lock(&signals.mutex);
    signals.expired = true;
    signals.late = signals.detached && !signals.attached;
    signals.caught |= signals.attached;
    signals.overdue |= signals.attached;
    gpume_console_error(
        "--timeout %g: the run did not end in time; raise the limit or reduce the work",
        signals.limit);
    if (signals.attached) {
        if (signals.source) {
            gpume_cancel(signals.ctx);
            gpume_filter_cancel(signals.filter);
            gpume_source_cancel(signals.source);
        }
    } else if (!signals.detached) {
        if (signals.left[0]) {
            gpume_console_error_add(signals.left);
        }
        call_leave();
        end_program();
    }
    pthread_mutex_unlock(&signals.mutex);
    events[END].at = gpume_clock_ns() + 10 * SECOND;
}

static void take_signal(void)
{
    const uint64_t now = gpume_clock_ns();
    hurry();
    if (events[RELEASE].at != NEVER) {
        events[RELEASE].at = now;
        return;
    }
    if (signals.forced) {
        end_late();
    }
    cancel_run();
    /* Terminals and timeout(1) may send a signal twice: to the process and to its group. */
    events[RELEASE].at = now + SECOND * 3 / 10;
    events[OVERDUE].at = now + SECOND; /* time for the frame pairs in progress is up */
    events[WAITING].at = now + 2 * SECOND;
    events[GIVE_UP].at = now + 10 * SECOND;
    if (get_leave()) { /* what runs is no frame pair, which could be given up */
        events[END].at = now + 10 * SECOND;
    }
}

/* Waits for a signal, as long as `left_ns`; meanwhile looks for a stall, if wanted. The number of
 * the signal, or -1. */
static int wait_for_signal(uint64_t left_ns)
{
    sigset_t set = signals.taken;
    sigaddset(&set, STOP_SIGNAL);
    int number = -1;
    while (number < 0 && left_ns > 0) {
        const uint64_t ns = looks_for_stall && left_ns > LOOK_NS ? LOOK_NS : left_ns;
        const struct timespec limit = {(time_t)(ns / SECOND), (long)(ns % SECOND)};
        number = sigtimedwait(&set, NULL, &limit);
        left_ns -= ns;
        if (number < 0 && looks_for_stall) {
            look_for_stall();
        }
    }
    return number;
}

/* Waits for signals and for the times of events. STOP_SIGNAL is sent after `stopping` is set, so no
 * wait misses it. */
static void *watch(void *unused)
{
    (void)unused;
    while (!get_flag(&signals.stopping)) {
        struct event *next = &events[0];
        for (size_t i = 1; i < EVENTS; i++) {
            next = events[i].at < next->at ? &events[i] : next;
        }
        const uint64_t now = gpume_clock_ns();
        if (next->at <= now) {
            next->at = NEVER;
            next->act();
            continue;
        }
        const int number = wait_for_signal(next->at - now);
        if (number > 0 && number != STOP_SIGNAL) {
            take_signal();
        }
    }
    return NULL;
}

static void take_unless_ignored(int number)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
        sigaddset(&signals.taken, number);
    }
}

bool gpume_signals_start(bool catches, double limit)
{
    sigemptyset(&signals.taken);
    if (catches) {
        struct sigaction ignore = {.sa_handler = SIG_IGN};
        sigemptyset(&ignore.sa_mask);
        sigaction(SIGPIPE, &ignore, NULL);
        sigaction(SIGXFSZ, &ignore, NULL); /* exceeding a file size limit then is a failed write */
        take_unless_ignored(SIGINT);
        take_unless_ignored(SIGTERM);
        take_unless_ignored(SIGHUP);
    } else if (limit == 0) {
        return true;
    }
    if (limit > 0) {
        signals.limit = limit;
        events[EXPIRE].at = gpume_clock_ns() + (uint64_t)(limit * (double)SECOND);
    }
    sigset_t blocked = signals.taken;
    sigaddset(&blocked, STOP_SIGNAL);
    if (pthread_sigmask(SIG_BLOCK, &blocked, NULL) != 0 ||
        pthread_create(&signals.thread, NULL, watch, NULL) != 0) {
        (void)gpume_log_no_thread(&gpume_console);
        return false;
    }
    signals.started = true;
    return true;
}

void gpume_signals_attach(gpume *ctx, gpume_filter *filter, struct gpume_source *source)
{
    pthread_mutex_lock(&signals.mutex);
    signals.ctx = ctx;
    signals.filter = filter;
    signals.source = source;
    signals.attached = true;
    signals.caught |= signals.late;
    pthread_mutex_unlock(&signals.mutex);
}

void gpume_signals_set_leave(void (*function)(void *opaque), void *opaque)
{
    pthread_mutex_lock(&signals.mutex);
    signals.leave = function;
    signals.leave_opaque = opaque;
    pthread_mutex_unlock(&signals.mutex);
}

void gpume_signals_set_left(const char *text)
{
    pthread_mutex_lock(&signals.mutex);
    snprintf(signals.left, sizeof(signals.left), "%s", text);
    pthread_mutex_unlock(&signals.mutex);
}

void gpume_signals_keep(void)
{
    gpume_signals_attach(NULL, NULL, NULL);
}

void gpume_signals_leave_at_once(void)
{
    pthread_mutex_lock(&signals.mutex);
    signals.attached = signals.detached = false;
    pthread_mutex_unlock(&signals.mutex);
}

void gpume_signals_end(void)
{
    raise_flag(&signals.begun);
}

void gpume_signals_detach(bool completing)
{
    pthread_mutex_lock(&signals.mutex);
    signals.attached = false;
    signals.detached = true;
    signals.completing = completing;
    pthread_mutex_unlock(&signals.mutex);
}

void gpume_signals_say_interrupted(void)
{
    pthread_mutex_lock(&signals.mutex);
    if (!signals.expired) {
        say_removed();
    } else if (signals.left[0] && !signals.told) { /* --timeout has said that the run ended early */
        gpume_console_error_add(signals.left);
        signals.told = true;
    }
    pthread_mutex_unlock(&signals.mutex);
}

bool gpume_signals_caught(void)
{
    return get_flag(&signals.caught);
}

bool gpume_signals_overdue(void)
{
    return get_flag(&signals.overdue);
}

void gpume_signals_end_with_reader(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigemptyset(&usual.sa_mask);
    sigaction(SIGPIPE, &usual, NULL);
    raise_flag(&signals.begun);
}

void gpume_signals_stop(void)
{
    if (signals.started) {
        raise_flag(&signals.stopping);
        pthread_kill(signals.thread, STOP_SIGNAL);
        pthread_join(signals.thread, NULL);
        signals.started = false;
    }
}
