/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What opening an input may reach. The user's own name is one file of this machine, however local
 * protocols spell it. What that file names in turn (playlists, segments, references in a film) and
 * what lies on the network is opened only where the user has said so.
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
    /* the rest: of an input that is being opened */
    bool opened;       /* the user's own name has been */
    char refused[512]; /* the first name that was not opened; "" for none */
    bool is_remote;    /* that name */
    int (*open)(struct AVFormatContext *format, struct AVIOContext **stream, const char *url,
        int flags, struct AVDictionary **options); /* libavformat's */
};

/* The option without which a name that is no file's must not be opened, "" where none lets it be;
 * NULL: it may be. */
const char *gpume_reach_lacks(const struct gpume_reach *reach, const char *name);

/* Before the format is opened. given: what it reads is open already. *reach stays where it is as
 * long as the format. Memory may run out: GPUME_NOMEM. */
int gpume_reach_attach(struct gpume_reach *reach, struct AVFormatContext *format, bool given);

/* After opening, or its failure for `reason`: has something been refused? */
bool gpume_reach_has_refused(struct gpume_reach *reach, const char *reason);

/* What would have let it be opened: the option's name. NULL: it was given, and is not enough. */
const char *gpume_reach_option(const struct gpume_reach *reach);

#endif
