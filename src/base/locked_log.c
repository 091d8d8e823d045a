/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/locked_log.h"

static void write_line(void *opaque, enum gpume_log_level level, const char *line)
{
    struct gpume_locked_log *locked = opaque;
    pthread_mutex_lock(&locked->mutex);
    locked->fn(locked->opaque, level, line);
    pthread_mutex_unlock(&locked->mutex);
}

void gpume_locked_log_init(struct gpume_locked_log *locked, gpume_log_fn fn, void *opaque)
{
    pthread_mutex_init(&locked->mutex, NULL);
    locked->fn = fn;
    locked->opaque = opaque;
    locked->log = (struct gpume_log){.fn = fn ? write_line : NULL, .opaque = locked};
}

void gpume_locked_log_finish(struct gpume_locked_log *locked)
{
    pthread_mutex_destroy(&locked->mutex);
}
