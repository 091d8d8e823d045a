/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks of outputs, from which a later run continues them. */
#include "files/out_inside.h"

#include "base/status.h"
#include "files/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The names that the file of a mark may have. */
struct places {
    char *temporary, *other; /* for free(); both NULL without memory */
};

static struct places places_of(const struct gpume_out_mark *mark)
{
    char *final = gpume_path_resolve(mark->path);
    struct places places = {
        .temporary = final ? gpume_temporary_name(final, mark->id) : NULL,
        .other = final ? gpume_path_with_suffix(final, mark->other ? mark->other : "") : NULL,
    };
    free(final);
    if (!places.temporary || !places.other) {
        free(places.temporary);
        free(places.other);
        places = (struct places){0};
    }
    return places;
}

static void forget(struct places *places)
{
    free(places->temporary);
    free(places->other);
}

int gpume_out_set_mark(const struct gpume_out_set *set, struct gpume_out_mark *mark)
{
    for (struct gpume_out *out = set->first; out; out = out->next) {
        if (out->temp && strcmp(out->path, mark->path) == 0) {
            const int status = gpume_out_settle(out);
            const off_t at = status == GPUME_OK ? lseek(out->fd, 0, SEEK_CUR) : 0;
            if (at < 0) {
                return gpume_out_complain(out, "cannot be written", errno);
            }
            mark->id = out->id;
            mark->bytes = (uint64_t)at;
            return status;
        }
    }
    return GPUME_EOF;
}

void gpume_out_set_date(struct gpume_out_mark *mark)
{
    struct stat info;
    struct places places = places_of(mark);
    mark->dated = places.other && stat(places.other, &info) == 0;
    if (mark->dated) {
        mark->changed_s = (uint64_t)info.st_mtim.tv_sec;
        mark->changed_ns = (uint64_t)info.st_mtim.tv_nsec;
    }
    forget(&places);
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
        *why = gone   ? "is missing"
               : busy ? "is being written by a run that is still under way"
                      : "cannot be opened and locked";
        return gone ? GPUME_EOF : busy ? GPUME_AGAIN : GPUME_IO;
    }
    const bool whole = fstat(fd, &info) == 0 && (uint64_t)info.st_size >= mark->bytes;
    (void)close(fd);
    *why = whole ? "has been modified since" : "is shorter than before";
    return whole && (!dated || is_of_date(&info, mark)) ? GPUME_OK : GPUME_INVALID;
}

int gpume_out_set_look(const struct gpume_out_mark *mark, bool *moved, const char **why)
{
    int status = GPUME_NOMEM;
    struct places places = places_of(mark);
    *why = "cannot be examined: out of memory";
    if (places.temporary) {
        *moved = mark->other && access(places.temporary, F_OK) != 0;
        status =
            look_at(*moved ? places.other : places.temporary, mark, *moved && mark->dated, why);
    }
    forget(&places);
    return status;
}

int gpume_out_set_unused(const char *path, struct gpume_temporary *id)
{
    char *final = gpume_path_resolve(path);
    const bool found = final && gpume_temporary_unused(final, id);
    free(final);
    return found ? GPUME_OK : GPUME_NOMEM;
}

static int refuse(const struct gpume_out_mark *mark, int error, const struct gpume_log *log)
{
    return gpume_log_fail(
        log, GPUME_IO, "%s: cannot be continued: %s; try again", mark->path, strerror(error));
}

/* Is it one file with two names? Its run was killed between link() and unlink() (out_name.c). */
static bool is_one_file(const struct places *places)
{
    struct stat a, b;
    return lstat(places->temporary, &a) == 0 && lstat(places->other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int gpume_out_set_take_back(const struct gpume_out_mark *mark, const struct gpume_log *log)
{
    struct places places = places_of(mark);
    int error = places.temporary ? 0 : ENOMEM;
    if (error == 0 && mark->other) {
        const bool moved = access(places.temporary, F_OK) != 0;
        if (moved ? rename(places.other, places.temporary) != 0
                  : is_one_file(&places) && unlink(places.other) != 0) {
            error = errno;
        }
    }
    forget(&places);
    return error == 0 ? GPUME_OK : refuse(mark, error, log);
}

int gpume_out_set_give_back(const struct gpume_out_mark *mark, const struct gpume_log *log)
{
    struct places places = places_of(mark);
    const int error = !places.temporary                             ? ENOMEM
                      : rename(places.temporary, places.other) != 0 ? errno
                                                                    : 0;
    forget(&places);
    return error == 0 ? GPUME_OK : refuse(mark, error, log);
}
