/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a run: inputs, which are never replaced (claims.c), temporaries beside the files
 * that they will become (claims.c), threads that write (writer.c), and over them outputs, which
 * appear only when they are complete (out.c).
 */
#ifndef GPUME_FILES_OUT_H
#define GPUME_FILES_OUT_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * --- The files that this process reads. No output replaces one of them (out.h), and none is
 * removed as what a killed run has left, under whatever name: a file is known by its
 * device and its number there, which links, other spellings, mounts and descriptors share. Any
 * thread.
 */

/* Adds the files that the name of an input stands for: one file, standard input ("-"), all pictures
 * of a numbered name, the tables and the summary in the folder of a run, or those after a protocol
 * of FFmpeg ("concat:a|b"). A name of none adds nothing. GPUME_NOMEM, not logged. */
int gpume_inputs_add(const char *name);

/* The same, but all files of a folder. */
int gpume_inputs_add_all(const char *name);

/* Adds the files that a text stands for, if it is such a name. Unlike gpume_inputs_add, it takes
 * "-" and the names of folders for other texts. */
int gpume_inputs_add_text(const char *text);

/* Whether it is one of them. Only regular files are. */
bool gpume_inputs_have(const struct stat *info);

/* The same of the file of this name, links followed; false if there is none. */
bool gpume_inputs_have_name(const char *path);

/* Forgets all of them. */
void gpume_inputs_forget(void);

/* --- a short text that tells the contents of two files apart, wherever they lie and whatever they
 * are called: sizes, and a checksum of samples of the bytes */

#define GPUME_CONTENT_BYTES 48

/* path: a file, or the pattern of numbered files. "": it is neither, or cannot be read. */
void gpume_content_of_input(const char *path, char text[GPUME_CONTENT_BYTES]);

void gpume_content_of_bytes(const void *data, size_t bytes, char text[GPUME_CONTENT_BYTES]);

/*
 * --- Temporary files beside the files that they will become: `.NAME.gpume-PID-N.tmp`. The process
 * that writes one holds a lock (flock) on it, which ends with the process. A file that can be
 * locked is therefore abandoned. Without locks in the file system, all files count as live. Any
 * thread; -1 is failure, with errno.
 */

/* Bytes of the final name in the temporary one (gpume_path_fit): far below any NAME_MAX. */
#define GPUME_TEMPORARY_SHOWN 100

/* The numbers in a temporary's name. */
struct gpume_temporary {
    uint64_t pid, number;
};

/* The name for free(), or NULL without memory. */
char *gpume_temporary_name(const char *final, struct gpume_temporary id);

/* Creates a new one, open for reading and writing, and locked. *name is for free(); NULL on
 * failure. */
int gpume_temporary_create(const char *final, struct gpume_temporary *id, char **name);

/* Numbers that no file has yet; false: out of memory. */
bool gpume_temporary_unused(const char *final, struct gpume_temporary *id);

/* Opens and locks an abandoned one. EWOULDBLOCK: its run is still under way. */
int gpume_temporary_adopt(const char *path);

/* Does the name, without ".gpume-PID-N.tmp", belong to an output? */
typedef bool (*gpume_temporary_match_fn)(const void *opaque, const char *stem);

/* Removes the abandoned ones in the folder of `path` that match; NULL: those of path itself. One
 * that is an input stays. */
void gpume_temporary_clear(const char *path, gpume_temporary_match_fn match, const void *opaque);

/* Whether a live run is writing another temporary of the final name than `own`. If two runs ask at
 * the same time, at least one of them learns of the other. */
bool gpume_temporary_has_rival(const char *final, const char *own);

/* Removes abandoned temporaries of the files of a numbered series, and of the series itself. */
void gpume_temporary_clear_series(const char *path);

/* GPUME_INVALID after one line: a folder or an input has the name that a partial result would get.
 */
int gpume_text_check_partial(const char *path, const struct gpume_log *log);

/* Removes the partial result of this output. */
void gpume_text_remove_partial(const char *path);

/* Removes the temporary files of killed runs; nothing if path is a device or a pipe. */
void gpume_text_clear(const char *path, bool series);

/* --- Threads that make what is written, one that writes it, and whether a write waits for a
 * reader. */

/*
 * A thread that writes buffers to a descriptor while callers fill the next ones. Buffers are
 * numbered from 0, are claimed and committed once each, by any thread, and are written in order.
 */

struct gpume_writer;

/* Writes all bytes on the calling thread. Returns 0 or an errno. */
int gpume_write_all(int fd, const unsigned char *data, size_t bytes);

/* NULL without memory or a thread. The descriptor stays the caller's and must outlive the writer.
 * bytes: of each buffer. */
struct gpume_writer *gpume_writer_open(int fd, size_t bytes);

/* Waits for the memory of the buffer with that number; all earlier numbers must have been claimed.
 * Returns 0, or the errno of a failed write, after which nothing is written. */
int gpume_writer_claim(struct gpume_writer *writer, uint64_t number, unsigned char **buffer);

/* Hands the buffer, with that many bytes, to the writer. */
void gpume_writer_commit(struct gpume_writer *writer, uint64_t number, size_t bytes);

/* Waits until all buffers before number `end` are written. Returns as claim does. */
int gpume_writer_drain(struct gpume_writer *writer, uint64_t end);

/* Discards buffers that are not yet written. Sets *writer to NULL. */
void gpume_writer_close(struct gpume_writer **writer);

/*
 * Threads that make the items of jobs and hand them to a writer. Several jobs are under way at
 * once, so a job need not have work for all threads. Items are begun in the order of the jobs: the
 * oldest one under way always has a buffer of the writer, and nobody waits forever for one.
 *
 * One thread adds jobs and waits for them.
 */

struct gpume_makers;

/* Writes an item to `at` and returns its number of bytes. */
typedef size_t (*gpume_make_fn)(void *opaque, uint32_t item, char *at);

/* The memory is the caller's, who does not touch it until the job has been waited for. Zeroed at
 * first. */
struct gpume_job {
    gpume_make_fn make; /* called once for every item < count, from any thread */
    /* Called once when no call of make is left to come or under way, from any thread; NULL: none */
    void (*done)(void *opaque);
    void *opaque;
    uint32_t count; /* of items, 1 or more */

    /* the makers' own */
    struct gpume_writer *writer;
    uint64_t first; /* number of the first item's buffer */
    uint32_t begun; /* items */
    uint32_t left;  /* items that are not complete; 0: the job is none of theirs any more */
    struct gpume_job *next;
};

/* NULL without memory or threads. */
struct gpume_makers *gpume_makers_open(uint32_t threads);

uint32_t gpume_makers_count(const struct gpume_makers *makers);

/* Queues the job, whose items get the writer's buffers from number `first` on. After a failed write
 * its items are not made, but it ends all the same. */
void gpume_makers_add(struct gpume_makers *makers, struct gpume_job *job,
    struct gpume_writer *writer, uint64_t first);

/* Returns when the job has ended, or has never been added. No makers (NULL) have no jobs. */
void gpume_makers_wait(struct gpume_makers *makers, const struct gpume_job *job);

/* Returns when all jobs have ended. */
void gpume_makers_wait_all(struct gpume_makers *makers);

/* All jobs have ended. Sets *makers to NULL; NULL is fine. */
void gpume_makers_close(struct gpume_makers **makers);

/*
 * Writes to pipes and terminals, which wait for as long as their readers do not read. Who wants to
 * end the process asks here whether one of them waits. Any thread.
 */

/* Around each write that may wait. */
void gpume_stall_begin(void);
void gpume_stall_end(void);

/* Whether one is under way and none has ended since the last look. last: of this caller; starts as
 * 0. */
bool gpume_stall_look(uint64_t *last);

/* What to do about an errno of writing, for messages. */
const char *gpume_out_remedy(int error);

/*
 * --- An output that appears under its name only when it is complete: bytes go to a temporary file
 * in the same folder, every write is checked, and finishing renames it. "-" is standard output;
 * devices and pipes are written directly. A file that this process reads is
 * refused as an output, and so are two names of one file; what killed runs have left of an output
 * is removed when it is opened. One thread at a time.
 */

struct gpume_out;
struct gpume_out_set;

/* GPUME_IO after one line that names the file, the reason and a remedy. Without overwrite an
 * existing regular file is refused with GPUME_INVALID. GPUME_AGAIN: the name is taken, by an input.
 */
int gpume_out_open(
    struct gpume_out **out, const char *path, bool overwrite, const struct gpume_log *log);

/* Opens an output of a run. GPUME_AGAIN: the name is taken, by another run that
 * is writing it, by an input, or by another output of the set. */
int gpume_out_open_in(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log);

/* Opens a numbered file of a run. It gets its name as soon as it is finished, and replaces an older
 * file if the run replaces files or continues another run. */
int gpume_out_open_one(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log);

/* The same for a name that gpume chose: a link of that name is replaced, not followed. */
int gpume_out_open_own(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log);

/* Numbered files are finished and named one by one. A claim, an empty temporary file that is named
 * after the whole series, reserves all of them for one run until it is closed. path: the numbered
 * name. *claim is NULL if the set's outputs may be shared. GPUME_AGAIN after one line: another run
 * writes these files. What killed runs have left of them is removed. */
int gpume_out_open_claim(struct gpume_out **claim, const struct gpume_out_set *set,
    const char *path, const struct gpume_log *log);

/* Whether it continues the output of an earlier run, so that its head has been written. */
bool gpume_out_is_continued(const struct gpume_out *out);

/* Bytes that the earlier run wrote. */
uint64_t gpume_out_continued_bytes(const struct gpume_out *out);

/* Buffered. Large outputs are written by another thread, so errors may be returned by a
 * later call. GPUME_IO is sticky and logged once. */
int gpume_out_write(struct gpume_out *out, const void *data, size_t bytes);

/* Bytes so far, by gpume_out_write and gpume_out_text. */
uint64_t gpume_out_bytes(const struct gpume_out *out);

/* Writes a string. */
int gpume_out_text(struct gpume_out *out, const char *text);

#define GPUME_OUT_ITEM_BYTES ((size_t)512 * 1024) /* the most of an item */

/* Threads for gpume_out_add on a machine with this number of processors (0: this machine), beside a
 * decoder and an engine. NULL: none. They are closed after the output. */
struct gpume_makers *gpume_out_makers(uint32_t processors);

/* Appends the items of a job, in their order, which the makers make in the output's memory while
 * the caller goes on and appends others. `make` may write to bytes_max bytes, at most
 * GPUME_OUT_ITEM_BYTES.
 * Without makers (NULL) they are made here. The job ends, and its `done` is called, in any case. An
 * output gets jobs from one set of makers only, and those makers none from another output. */
int gpume_out_add(
    struct gpume_out *out, struct gpume_makers *makers, struct gpume_job *job, size_t bytes_max);

/* Absolute position; GPUME_UNSUPPORTED on pipes (not logged). */
int gpume_out_seek(struct gpume_out *out, uint64_t position);

/* Writes all bytes, closes the file and renames it: it has its final name only on GPUME_OK. An
 * output of a set with `together` gets its name from gpume_out_set_name. */
int gpume_out_finish(struct gpume_out *out);

/* The name of the file that holds the bytes of a finished output: a temporary, until the output has
 * its name. NULL: it was written in place. */
const char *gpume_out_place(const struct gpume_out *out);

/* Closes it and removes an unfinished temporary file. Sets *out to NULL. */
void gpume_out_close(struct gpume_out **out);

/*
 * --- what the outputs of one run share: how they are opened and finished, and how far they have
 * come. The caller fills it in before the first output is opened, and it outlives them all. One
 * thread.
 *
 * Outputs are written to temporary files and get their names together, in the order of a list, when
 * all are complete. So a disk that fills leaves no output, and if a rename fails, those before it
 * are undone. At every moment, also when the run is killed (tests/cli/test_kills.sh kills it at
 * each rename, link and unlink):
 *
 * - A file under its final name is complete.
 * - Where the seal of the set stands (summary.json or summary.json.partial), all other files are
 *   complete and of its run. It comes last in the list. An older one is removed before any other
 *   file of the set gets its name, and with --resume it is the first to lose its name.
 * - Numbered files get their names one by one, as frames are completed. The first of them that
 * could replace an older one breaks the seal as well.
 */

/* Suffix of the names that an interrupted run gives its outputs. */
#define GPUME_OUT_PARTIAL ".partial"

/* A temporary file and the number of its valid bytes, from which a later run continues it. */
struct gpume_out_mark {
    const char *path;  /* of the output, as the user named it */
    const char *other; /* suffix of the name that the file may have been given: GPUME_OUT_PARTIAL,
                          "" for its own, NULL: it has its temporary name */
    struct gpume_temporary id;
    uint64_t bytes;
    bool dated; /* under its other name it was last modified at: */
    uint64_t changed_s, changed_ns;
};

struct gpume_out_set {
    bool overwrite;  /* existing files are replaced */
    bool own;        /* gpume chose the names: links are replaced, not followed */
    bool alone;      /* outputs that another run is writing are refused */
    bool keep;       /* temporaries that are closed unfinished stay, to be continued */
    bool together;   /* finished outputs wait for gpume_out_set_name */
    bool over_input; /* an output may replace an input, which has been read */
    bool leaves;     /* what killed runs have left of an output stays: it is one of many */
    /* The output whose presence means that all others are complete. An older one is removed before
     * any file gets its name. NULL: there is none. */
    const char *seal;
    bool broken; /* an older seal has been removed; internal */
    /* Finished outputs are called NAME.partial and replace an older file of that name. May change
     * while outputs are open, as may sync. */
    bool partial;
    bool sync; /* they are on the disk before they get their names, and then their folder is */
    /* Outputs of these paths continue from their marks. */
    const struct gpume_out_mark *marks;
    size_t mark_count;
    const char *label;       /* for messages while outputs are opened; NULL: the name of each */
    struct gpume_out *first; /* of the open temporaries, in the order of opening; internal */
};

/* Gives all finished outputs their names, in the order in which they were opened. GPUME_IO after
 * one line: none has its name. */
int gpume_out_set_name(struct gpume_out_set *set, const struct gpume_log *log);

/* Writes all bytes of the open output mark->path and marks their end. GPUME_EOF: no such output is
 * open, or it is not a file. Failures have been logged. */
int gpume_out_set_mark(const struct gpume_out_set *set, struct gpume_out_mark *mark);

/* Records when the file under the mark's other name was last modified, if it exists. */
void gpume_out_set_date(struct gpume_out_mark *mark);

/* Checks that the output can be continued from the mark: its file exists, is long enough, is not
 * being written, and has not been modified since it got its other name. *moved: it has that name.
 * Otherwise *why is the reason. GPUME_EOF: the file is missing. GPUME_AGAIN: another run is writing
 * it. GPUME_INVALID: it cannot be continued. GPUME_IO, GPUME_NOMEM: the check failed. */
int gpume_out_set_look(const struct gpume_out_mark *mark, bool *moved, const char **why);

/* Before the output is opened again: a file with the mark's other name gets its temporary one; and
 * the reverse, for a run that adds nothing. GPUME_IO after one line. */
int gpume_out_set_take_back(const struct gpume_out_mark *mark, const struct gpume_log *log);
int gpume_out_set_give_back(const struct gpume_out_mark *mark, const struct gpume_log *log);

/* Numbers of a temporary of the path that does not exist yet. GPUME_NOMEM. */
int gpume_out_set_unused(const char *path, struct gpume_temporary *id);

#endif
