/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread waits for signals, so the response is ordinary code and need not be async-signal-safe. A
 * signal that the parent process has set to be ignored (nohup, a background job) stays ignored.
 */
#include "signals.h"

#include "base/log.h"
#include "console.h"
#include "exit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Wakes the waiting thread after `stopping` is set; otherwise ignored. */
#define STOP_SIGNAL SIGUSR1

static struct {
    pthread_mutex_t mutex;
    pthread_t thread;
    sigset_t taken; /* the signals to wait for: those not ignored */
    bool started, attached, detached, caught, overdue, stopping;
    bool begun; /* output has begun that cannot be removed */
    gpume *ctx;
    struct gpume_source *source;
    void (*leave)(void *opaque);
    void *leave_opaque;
} signals = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void set(bool *flag)
{
    pthread_mutex_lock(&signals.mutex);
    *flag = true;
    pthread_mutex_unlock(&signals.mutex);
}

static bool get(const bool *flag)
{
    pthread_mutex_lock(&signals.mutex);
    const bool value = *flag;
    pthread_mutex_unlock(&signals.mutex);
    return value;
}

/* The program ends with the mutex locked, so no other thread uses what is removed here. */
static void leave(void)
{
    if (signals.leave) {
        signals.leave(signals.leave_opaque);
    }
}

static void cancel_run(void)
{
    pthread_mutex_lock(&signals.mutex);
    if (signals.attached) {
        signals.caught = true;
        if (signals.source) {
            gpume_source_cancel(signals.source);
        } else {
            gpume_console_error("interrupted; unfinished outputs were removed");
        }
    } else if (!signals.detached) {
        gpume_console_error(signals.begun ? "interrupted; the output is not complete"
                                          : "interrupted before any output was begun");
        gpume_console_flush_error();
        leave();
        _exit(GPUME_EXIT_FAILED);
    }
    pthread_mutex_unlock(&signals.mutex);
}

/* Not even one frame pair was completed. */
static void give_up(void)
{
    pthread_mutex_lock(&signals.mutex);
    if (signals.attached && signals.source) {
        gpume_cancel(signals.ctx);
    }
    pthread_mutex_unlock(&signals.mutex);
}

bool gpume_signals_expire(void)
{
    pthread_mutex_lock(&signals.mutex);
    const bool attached = signals.attached, completing = signals.detached;
    signals.caught = signals.caught || attached;
    signals.overdue = signals.overdue || attached;
    if (attached && signals.source) {
        gpume_cancel(signals.ctx);
        gpume_source_cancel(signals.source);
    }
    if (!attached && !completing) {
        leave();
        return false;
    }
    pthread_mutex_unlock(&signals.mutex);
    return true;
}

/* Waits for a signal, up to the limit if there is one. False: the limit has passed, or the thread
 * must stop. STOP_SIGNAL is sent after `stopping` is set, so no wait misses it. */
static bool await_signal(const struct timespec *limit)
{
    sigset_t set = signals.taken;
    sigaddset(&set, STOP_SIGNAL);
    while (!get(&signals.stopping)) {
        const int number = limit ? sigtimedwait(&set, NULL, limit) : sigwaitinfo(&set, NULL);
        if (number < 0 && errno != EINTR) {
            return false;
        }
        if (number > 0 && number != STOP_SIGNAL) {
            return true;
        }
    }
    return false;
}

static void *wait_for_signals(void *unused)
{
    static const struct timespec same_event = {.tv_nsec = 300000000}, rest = {.tv_nsec = 700000000},
                                 long_pair = {.tv_sec = 9};
    (void)unused;
    if (!await_signal(NULL)) {
        return NULL;
    }
    cancel_run();
    /* Terminals and timeout(1) may send a signal twice: to the process and to its group. */
    (void)await_signal(&same_event);
    /* The next signal has its default action, which ends the program. */
    pthread_sigmask(SIG_UNBLOCK, &signals.taken, NULL);
    sigemptyset(&signals.taken);
    (void)await_signal(&rest);
    set(&signals.overdue); /* time for the frame pairs in progress is up */
    (void)await_signal(&long_pair);
    give_up();
    (void)await_signal(NULL);
    return NULL;
}

static void take(int number)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
        sigaddset(&signals.taken, number);
    }
}

bool gpume_signals_start(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* exceeding a file size limit then is a failed write */
    sigemptyset(&signals.taken);
    take(SIGINT);
    take(SIGTERM);
    take(SIGHUP);
    sigset_t blocked = signals.taken;
    sigaddset(&blocked, STOP_SIGNAL);
    if (pthread_sigmask(SIG_BLOCK, &blocked, NULL) != 0 ||
        pthread_create(&signals.thread, NULL, wait_for_signals, NULL) != 0) {
        (void)gpume_log_no_thread(&(struct gpume_log){.fn = gpume_console_log});
        return false;
    }
    signals.started = true;
    return true;
}

void gpume_signals_attach(gpume *ctx, struct gpume_source *source)
{
    pthread_mutex_lock(&signals.mutex);
    signals.ctx = ctx;
    signals.source = source;
    signals.attached = true;
    pthread_mutex_unlock(&signals.mutex);
}

void gpume_signals_set_leave(void (*function)(void *opaque), void *opaque)
{
    pthread_mutex_lock(&signals.mutex);
    signals.leave = function;
    signals.leave_opaque = opaque;
    pthread_mutex_unlock(&signals.mutex);
}

void gpume_signals_keep(void)
{
    gpume_signals_attach(NULL, NULL);
}

void gpume_signals_end(void)
{
    set(&signals.begun);
}

void gpume_signals_detach(void)
{
    pthread_mutex_lock(&signals.mutex);
    signals.attached = false;
    signals.detached = true;
    pthread_mutex_unlock(&signals.mutex);
}

bool gpume_signals_caught(void)
{
    return get(&signals.caught);
}

bool gpume_signals_overdue(void)
{
    return get(&signals.overdue);
}

void gpume_signals_stop(void)
{
    if (signals.started) {
        set(&signals.stopping);
        pthread_kill(signals.thread, STOP_SIGNAL);
        pthread_join(signals.thread, NULL);
        signals.started = false;
    }
}
