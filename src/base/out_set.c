/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/out_set.h"

#include "base/out.h"
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char gpume_out_set_gone[] = "is not there any more";

static const char *refuse_file(const char *path, uint64_t bytes)
{
    struct stat info;
    const int fd = gpume_temporary_adopt(path);
    if (fd < 0) {
        return errno == ENOENT        ? gpume_out_set_gone
               : errno == EWOULDBLOCK ? "is being written by a run that is still under way"
                                      : "cannot be opened and locked";
    }
    const bool whole = fstat(fd, &info) == 0 && (uint64_t)info.st_size >= bytes;
    (void)close(fd);
    return whole ? NULL : "is shorter than it was";
}

int gpume_out_set_check_alone(
    const char *label, const char *final, const char *temporary, const struct gpume_log *log)
{
    if (!gpume_temporary_has_rival(final, temporary)) {
        return GPUME_OK;
    }
    gpume_log_write(log, GPUME_LOG_ERROR,
        "%s: is being written by a run that is still under way; wait for its end or choose another "
        "name",
        label);
    return GPUME_AGAIN;
}

bool gpume_out_set_is_temporary(const struct gpume_out_mark *mark)
{
    char *final = gpume_path_resolve(mark->path);
    char *temporary = final ? gpume_temporary_name(final, mark->id) : NULL;
    const bool there = temporary && access(temporary, F_OK) == 0;
    free(temporary);
    free(final);
    return there;
}

const char *gpume_out_set_refuses(const struct gpume_out_mark *mark)
{
    const char *why = "cannot be looked at: out of memory";
    char *final = gpume_path_resolve(mark->path);
    char *temporary = final ? gpume_temporary_name(final, mark->id) : NULL;
    const char *suffix = mark->other ? mark->other : "";
    char *other = final ? gpume_path_join(final, strlen(final), suffix) : NULL;
    if (temporary && other) {
        const bool moved = mark->other && access(temporary, F_OK) != 0;
        why = refuse_file(moved ? other : temporary, mark->bytes);
    }
    free(other);
    free(temporary);
    free(final);
    return why;
}

struct gpume_temporary gpume_out_set_unused(const char *path)
{
    char *final = gpume_path_resolve(path);
    const struct gpume_temporary id =
        final ? gpume_temporary_unused(final) : (struct gpume_temporary){0};
    free(final);
    return id;
}
