/* SPDX-License-Identifier: BSD-2-Clause */
#include "deadline.h"

#include "base/log.h"
#include "console.h"
#include "exit.h"
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define GRACE_SECONDS                                                                              \
    10.0 /* for a run to finish or remove its outputs; a device or pipe may hang */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    double seconds;
    bool started, stopping;
} deadline = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* False: the run ended before. */
static bool wait_for(double seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double whole = (double)(time_t)seconds;
    end.tv_sec += (time_t)seconds;
    end.tv_nsec += (long)((seconds - whole) * 1e9);
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    int error = 0;
    pthread_mutex_lock(&deadline.mutex);
    while (!deadline.stopping && error != ETIMEDOUT) {
        error = pthread_cond_timedwait(&deadline.changed, &deadline.mutex, &end);
    }
    const bool passed = !deadline.stopping;
    pthread_mutex_unlock(&deadline.mutex);
    return passed;
}

static void *watch(void *unused)
{
    (void)unused;
    if (!wait_for(deadline.seconds)) {
        return NULL;
    }
    gpume_console_error(
        "--timeout %g: the run did not end in time; raise the limit or reduce the work",
        deadline.seconds);
    /* A run that ended meanwhile has reported its own result. */
    if (!gpume_signals_expire() || wait_for(GRACE_SECONDS)) {
        gpume_console_flush_error();
        _exit(GPUME_EXIT_FAILED);
    }
    return NULL;
}

bool gpume_deadline_start(double seconds)
{
    pthread_condattr_t monotonic;
    if (seconds == 0) {
        return true;
    }
    deadline.seconds = seconds;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&deadline.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    deadline.started = pthread_create(&deadline.thread, NULL, watch, NULL) == 0;
    if (!deadline.started) {
        (void)gpume_log_no_thread(&(struct gpume_log){.fn = gpume_console_log});
    }
    return deadline.started;
}

void gpume_deadline_stop(void)
{
    if (deadline.started) {
        pthread_mutex_lock(&deadline.mutex);
        deadline.stopping = true;
        pthread_cond_broadcast(&deadline.changed);
        pthread_mutex_unlock(&deadline.mutex);
        pthread_join(deadline.thread, NULL);
        deadline.started = false;
    }
}
