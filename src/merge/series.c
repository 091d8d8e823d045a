/* SPDX-License-Identifier: BSD-2-Clause */
#include "merge/series.h"

#include "base/status.h"
#include "files/pattern.h"
#include "files/text_file.h"
#include "merge/join.h"
#include "merge/lengths.h"

#include <stdlib.h>

/* For free(); NULL after one line. */
static char *name_in(const char *folder, const char *pattern, uint64_t frame, uint64_t ref,
    const struct gpume_log *log)
{
    char *name = gpume_pattern_name_pair(pattern, (struct gpume_pattern_numbers){frame, ref});
    char *path = name ? gpume_text_join(folder, name) : NULL;
    if (!path) {
        (void)gpume_log_nomem(log, folder);
    }
    free(name);
    return path;
}

int gpume_merge_series_check(const struct gpume_merge_part *part, const char *pattern,
    uint64_t frame, uint64_t ref, const struct gpume_log *log)
{
    char *path = name_in(part->folder, pattern, frame, ref, log);
    const int status = path ? gpume_merge_length_still(path, log) : GPUME_NOMEM;
    free(path);
    return status;
}

int gpume_merge_series_copy(const struct gpume_merge_part *part, const char *pattern,
    uint64_t frame, uint64_t ref, const char *folder, struct gpume_out_set *set,
    const struct gpume_log *log)
{
    int status = GPUME_NOMEM;
    struct gpume_out *out = NULL;
    char *from = name_in(part->folder, pattern, frame, ref, log);
    char *to = from ? name_in(folder, pattern, frame, ref, log) : NULL;
    GPUME_TRY(to ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(gpume_out_open_one(&out, set, to, log));
    GPUME_TRY(gpume_join_copy(out, from, log));
    GPUME_TRY(gpume_out_finish(out));
fail:
    gpume_out_close(&out);
    free(from);
    free(to);
    return status;
}
