/* SPDX-License-Identifier: BSD-2-Clause */
#include "sinks/sink.h"

#include "files/path.h"

#include <stdlib.h>

int gpume_sink_open(struct gpume_sink **sink, const struct gpume_sink_ops *ops, const char *path,
    const struct gpume_run *run)
{
    struct gpume_sink *self = calloc(1, ops->bytes);
    if (!self) {
        return gpume_log_nomem(&run->log, path);
    }
    self->ops = ops;
    self->run = run;
    self->path = path;
    *sink = self;
    const int status = ops->open(self);
    if (status != GPUME_OK) {
        gpume_sink_close(sink);
    }
    return status;
}

int gpume_sinks_let_go(struct gpume_sink *const *sinks, size_t count)
{
    int status = GPUME_OK;
    for (size_t i = 0; i < count; i++) {
        const int of_sink = sinks[i]->ops->let_go ? sinks[i]->ops->let_go(sinks[i]) : GPUME_OK;
        status = status == GPUME_OK ? of_sink : status;
    }
    return status;
}

int gpume_sink_check(const struct gpume_sink_ops *ops, const char *path,
    const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    return ops->check    ? ops->check(path, shape, log)
           : ops->ending ? gpume_text_check(path, ops->stem, ops->ending, log)
                         : gpume_text_check_file(path, "output", "", log);
}

bool gpume_sink_is_series(const struct gpume_sink_ops *ops, const char *path)
{
    return ops->is_series && ops->is_series(path);
}

int gpume_sink_finish_out(struct gpume_sink *sink)
{
    return gpume_out_finish(sink->out);
}

void gpume_sink_close(struct gpume_sink **sink)
{
    struct gpume_sink *self = *sink;
    if (self) {
        if (self->ops->close) {
            self->ops->close(self);
        }
        gpume_out_close(&self->out);
        free(self);
        *sink = NULL;
    }
}
