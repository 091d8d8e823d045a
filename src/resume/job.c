/* SPDX-License-Identifier: BSD-2-Clause */
#include "resume/job.h"

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 120 /* bytes of a line in a message */

static bool has_key(const char *line, const char *key)
{
    size_t at = strspn(line, " ");
    bool same = at == 4 && line[at++] == '"';
    for (; same && *key != '\0'; key++) {
        same = line[at++] == *key;
    }
    return same && line[at] == '"';
}

/* What changes speed alone, or goes with the machine, may be other than it was. */
static bool may_differ(const char *was, const char *now)
{
    static const char *const keys[] = {
        "backend", "device", "threads", "search", "no-elimination", "validate", "decoder"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (has_key(was, keys[i]) && has_key(now, keys[i])) {
            return true;
        }
    }
    return false;
}

/* Is the line of that key the same in both? */
static bool is_same(const char *was, const char *now, const char *key)
{
    char start[64];
    snprintf(start, sizeof start, "\n    \"%s\": ", key);
    const char *a = strstr(was, start), *b = strstr(now, start);
    const size_t length = a ? strcspn(a + 1, "\n") : 0;
    return a && b && length == strcspn(b + 1, "\n") && strncmp(a, b, length + 1) == 0;
}

/* A file is the same if its name is, or what that stands for; what an input holds is compared by
 * another line. was and now: of the lines, jobs: the whole. */
static bool is_same_file(const char *was, const char *now, const char *was_job, const char *now_job)
{
    static const char identity[] = GPUME_RUN_JOB_IDENTITY;
    const size_t tail = sizeof identity - 1;
    char name[64], key[64 + sizeof identity];
    const size_t indent = strspn(was, " \"");
    size_t length = strcspn(was + indent, "\"\n");
    if (length > tail && strncmp(was + indent + length - tail, identity, tail) == 0) {
        length -= tail;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, was + indent);
    snprintf(key, sizeof key, "%s%s", name, identity);
    const bool both =
        (has_key(was, name) && has_key(now, name)) || (has_key(was, key) && has_key(now, key));
    return both && (is_same(was_job, now_job, name) || is_same(was_job, now_job, key));
}

/* A line without its indentation and comma. */
static void trim(const char **line, size_t *length)
{
    while (*length > 0 && **line == ' ') {
        (*line)++;
        (*length)--;
    }
    *length -= *length > 0 && (*line)[*length - 1] == ',';
    *length = *length < SHOWN_MAX ? *length : SHOWN_MAX;
}

int gpume_run_job_compare(
    const char *was, const char *end, const char *now, const struct gpume_log *log)
{
    const char *const was_job = was, *const now_job = now;
    while (was < end && *now) {
        size_t a = strcspn(was, "\n"), b = strcspn(now, "\n");
        const size_t x = a - (a > 0 && was[a - 1] == ','), y = b - (b > 0 && now[b - 1] == ',');
        if ((x != y || memcmp(was, now, x) != 0) && !may_differ(was, now) &&
            !is_same_file(was, now, was_job, now_job)) {
            if (has_key(was, GPUME_RUN_JOB_FILES)) {
                gpume_log_write(log, GPUME_LOG_ERROR,
                    "--resume: the input has changed since the run opened it; give the one that it "
                    "had, or start anew without --resume");
                return GPUME_INVALID;
            }
            trim(&was, &a);
            trim(&now, &b);
            if (*was == '}' || *now == '}') { /* the end of the list: outputs come last */
                gpume_log_write(log, GPUME_LOG_ERROR,
                    "--resume: the run that was broken off had other outputs; name the same, or "
                    "start anew without --resume");
                return GPUME_INVALID;
            }
            gpume_log_write(log, GPUME_LOG_ERROR,
                "--resume: the run that was broken off had %.*s, this one has %.*s; give the same, "
                "or start anew without --resume",
                (int)a, was, (int)b, now);
            return GPUME_INVALID;
        }
        was += a + (was[a] != '\0');
        now += b + (now[b] != '\0');
    }
    return GPUME_OK;
}
