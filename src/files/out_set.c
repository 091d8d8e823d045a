/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/out_set.h"

#include "base/status.h"
#include "files/out.h"
#include "files/path.h"
#include "files/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For free(); NULL without memory. */
static char *other_name(const struct gpume_out_mark *mark, const char *final)
{
    return gpume_path_join(final, strlen(final), mark->other ? mark->other : "");
}

void gpume_out_set_date(struct gpume_out_mark *mark)
{
    struct stat info;
    char *final = gpume_path_resolve(mark->path);
    char *other = final ? other_name(mark, final) : NULL;
    mark->dated = other && stat(other, &info) == 0;
    if (mark->dated) {
        mark->changed_s = (uint64_t)info.st_mtim.tv_sec;
        mark->changed_ns = (uint64_t)info.st_mtim.tv_nsec;
    }
    free(other);
    free(final);
}

static bool is_of_date(const struct stat *info, const struct gpume_out_mark *mark)
{
    return (uint64_t)info->st_mtim.tv_sec == mark->changed_s &&
           (uint64_t)info->st_mtim.tv_nsec == mark->changed_ns;
}

static int look_at(
    const char *path, const struct gpume_out_mark *mark, bool dated, const char **why)
{
    struct stat info;
    const int fd = gpume_temporary_adopt(path);
    if (fd < 0) {
        const bool gone = errno == ENOENT, busy = errno == EWOULDBLOCK;
        *why = gone   ? "is not there any more"
               : busy ? "is being written by a run that is still under way"
                      : "cannot be opened and locked";
        return gone ? GPUME_EOF : busy ? GPUME_AGAIN : GPUME_IO;
    }
    const bool whole = fstat(fd, &info) == 0 && (uint64_t)info.st_size >= mark->bytes;
    (void)close(fd);
    *why = whole ? "has been written since" : "is shorter than it was";
    return whole && (!dated || is_of_date(&info, mark)) ? GPUME_OK : GPUME_INVALID;
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

int gpume_out_set_look(const struct gpume_out_mark *mark, bool *moved, const char **why)
{
    int status = GPUME_NOMEM;
    char *final = gpume_path_resolve(mark->path);
    char *temporary = final ? gpume_temporary_name(final, mark->id) : NULL;
    char *other = final ? other_name(mark, final) : NULL;
    *why = "cannot be looked at: out of memory";
    if (temporary && other) {
        *moved = mark->other && access(temporary, F_OK) != 0;
        status = look_at(*moved ? other : temporary, mark, *moved && mark->dated, why);
    }
    free(other);
    free(temporary);
    free(final);
    return status;
}

int gpume_out_set_unused(const char *path, struct gpume_temporary *id)
{
    char *final = gpume_path_resolve(path);
    const bool found = final && gpume_temporary_unused(final, id);
    free(final);
    return found ? GPUME_OK : GPUME_NOMEM;
}

int gpume_out_claim_open(struct gpume_out_claim *claim, const struct gpume_out_set *set,
    const char *path, const struct gpume_log *log)
{
    *claim = (struct gpume_out_claim){
        .set = {.overwrite = true, .own = true, .alone = true, .label = path}};
    if (!set->alone) {
        return GPUME_OK;
    }
    char *series = gpume_pattern_series(path);
    const int status = series ? gpume_out_open_in(&claim->out, &claim->set, series, log)
                              : gpume_log_nomem(log, path);
    free(series);
    return status;
}

void gpume_out_claim_close(struct gpume_out_claim *claim)
{
    gpume_out_close(&claim->out);
}
