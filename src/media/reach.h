/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Restricts what an input can open. The name that the user gives may be any local file, also by a
 * local protocol. Names in that file (playlists, segments, references) and inputs on the network
 * are opened only if the user allows it.
 */
#ifndef GPUME_MEDIA_REACH_H
#define GPUME_MEDIA_REACH_H

#include <stdbool.h>

struct AVFormatContext;
struct AVIOContext;
struct AVDictionary;

struct gpume_reach {
    bool network; /* --allow-network */
    bool files;   /* --allow-files: other local files that the input names */
    /* state while an input is open: */
    bool opened;       /* the name that the user gave has been opened */
    char refused[512]; /* the first name that was refused; "": none */
    bool is_remote;    /* the refused name is remote */
    int (*open)(struct AVFormatContext *format, struct AVIOContext **stream, const char *url,
        int flags, struct AVDictionary **options); /* libavformat's own io_open */
};

/* Returns the option that is needed to open a name that is not a file; "" if no option allows it;
 * NULL if none is needed. */
const char *gpume_reach_lacks(const struct gpume_reach *reach, const char *name);

/* Call this before opening the format. given: its input is already open. *reach must outlive the
 * format and must not move. GPUME_NOMEM. */
int gpume_reach_attach(struct gpume_reach *reach, struct AVFormatContext *format, bool given);

/* Whether a name has been refused. Call this after opening has succeeded, or failed for `reason`.
 */
bool gpume_reach_has_refused(struct gpume_reach *reach, const char *reason);

/* Returns the option that would have allowed it; NULL: it was given and does not suffice. */
const char *gpume_reach_option(const struct gpume_reach *reach);

#endif
