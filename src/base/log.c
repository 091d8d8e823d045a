/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 1024

/* The line that this thread is logging. */
static _Thread_local const struct gpume_message *current;

const struct gpume_message *gpume_log_current(void)
{
    return current;
}

void gpume_text_join(char *text, size_t bytes, const char *between, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    snprintf(text + used, bytes - used, "%s", used > 0 ? between : "");
    used = strlen(text);
    va_start(args, format);
    vsnprintf(text + used, bytes - used, format, args);
    va_end(args);
}

void gpume_log_write(
    const struct gpume_log *log, enum gpume_log_level level, const char *format, ...)
{
    if (!log || !log->fn) {
        return;
    }
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    log->fn(log->opaque, level, line);
}

void gpume_log_repeat(const struct gpume_log *log, enum gpume_log_level level,
    const struct gpume_message *message, const char *line)
{
    const struct gpume_message *before = current;
    current = message;
    gpume_log_write(log, level, "%s", line);
    current = before;
}

/* "params.window_x 600"; a value that has a constant's name is called by that alone. */
static void name_param(const struct gpume_param *param, const char *value, char *text, size_t bytes)
{
    const size_t used = strlen(text);
    bool is_choice = false;
    for (size_t i = 0; value && param->choices && param->choices[i]; i++) {
        is_choice = is_choice || strcmp(param->choices[i], value) == 0;
    }
    if (!is_choice) {
        snprintf(text + used, bytes - used, "params.%s%s%s", param->name, value ? " " : "",
            value ? value : "");
        return;
    }
    snprintf(text + used, bytes - used, "%s%s", param->constants, value);
    for (char *at = text + used; *at; at++) {
        *at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
    }
}

void gpume_log_tell(const struct gpume_log *log, enum gpume_log_level level,
    struct gpume_message message, const char *format, ...)
{
    char text[LINE_BYTES], line[LINE_BYTES] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    message.text = text;
    if (message.param) {
        name_param(message.param, message.value, line, sizeof(line));
    }
    gpume_text_join(line, sizeof(line), ": ", "%s", text);
    if (message.other) {
        gpume_text_join(line, sizeof(line), "", " ");
        name_param(message.other, message.other_value, line, sizeof(line));
    }
    gpume_text_join(line, sizeof(line), "", "%s", message.rest ? message.rest : "");
    gpume_log_repeat(log, level, &message, line);
}

int gpume_log_nomem(const struct gpume_log *log, const char *what)
{
    return gpume_log_fail(log, GPUME_NOMEM, "out of memory for %s", what);
}

int gpume_log_no_thread(const struct gpume_log *log)
{
    return gpume_log_fail(log, GPUME_NOMEM,
        "no more threads can be started: the limit on processes (ulimit -u) or on memory (ulimit "
        "-v) is reached; use fewer threads or raise the limit");
}

/* --- a callback that never runs in two threads at once */

static void write_locked(void *opaque, enum gpume_log_level level, const char *line)
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
    locked->log = (struct gpume_log){.fn = fn ? write_locked : NULL, .opaque = locked};
}

void gpume_locked_log_finish(struct gpume_locked_log *locked)
{
    pthread_mutex_destroy(&locked->mutex);
}
