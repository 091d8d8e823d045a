/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Manages files, threads and headers; the format defines their bytes. A header with the number of
 * rows is written first with 0 and rewritten when the number is known; if the output cannot seek,
 * an unnamed temporary file holds the array until then.
 */
#include "vectors/vectors.h"

#include "base/base.h"
#include "files/bytes.h"
#include "files/out.h"
#include "files/pack.h"
#include "files/path.h"
#include "vectors/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the bytes of fields: made on the caller's thread, or on machines with many processors on
 * several threads, for several fields at once. They do not depend on the threads. A compressed file
 * consists of members, each of which is made of a part of one field. GPUME_NOMEM is never logged.
 */

/* Rows that a thread makes at a time, as far as they fit a buffer: up to 100 us of work, many times
 * the cost of handing it over. */
#define ITEM_ROWS 16384u

/* Of a compressed file, whose items are members: 32 KB, gzip's window, so that more would be little
 * smaller, and a field of 1080p has enough of them for all threads. */
#define PACKED_ROWS 1024u
#define PACKED_BYTES ((size_t)256 * 1024)

/* Smaller fields are made sooner than handed over. */
#define APART_BLOCKS 2048u

#define AHEAD 16u /* fields under way: as many as a large output has buffers */

struct field_job {
    struct gpume_job job;
    const struct field_jobs *jobs;
    struct gpume_vectors_field field;
    struct gpume_vectors_target target;
    size_t item_blocks;
    size_t head_bytes; /* of the field */
    char head[GPUME_VECTORS_HEAD_BYTES];
    atomic_size_t bytes; /* of all rows */
    struct gpume_packed packed;
};

struct field_jobs {
    const struct gpume_vectors_target *target;
    const struct gpume_vectors_writer_ops *ops;
    struct gpume_makers *makers; /* NULL: the caller makes everything */
    struct gpume_packer *packer; /* NULL: the file is not compressed */
    uint64_t bytes;              /* of the rows of fields that have ended and are counted */
    uint32_t next;
    struct field_job ring[AHEAD];
};

struct head_text {
    const char *text;
    size_t bytes;
};

/* target: of the writer, for info and state. processors: that the run may use; 0: all. */
static int field_jobs_open(struct field_jobs *self, const struct gpume_vectors_target *target,
    const struct gpume_vectors_format *format, uint32_t processors)
{
    self->target = target;
    self->ops = format->writer;
    if (format->packing == GPUME_PACKING_NONE) {
        /* A numbered file is complete before the next one begins. */
        self->makers = format->numbered ? NULL : gpume_out_makers(processors);
        return GPUME_OK;
    }
    self->makers = gpume_packer_makers(processors);
    return gpume_packer_create(&self->packer, format->packing, PACKED_BYTES,
        self->makers ? gpume_makers_count(self->makers) : 1);
}

/* Appends items. If the file is compressed, each becomes a separate member. bytes_max: of an
 * item before that. packed lasts as long as the job. */
static int add_items(struct field_jobs *jobs, struct gpume_out *out, struct gpume_makers *makers,
    struct gpume_job *job, struct gpume_packed *packed, size_t bytes_max)
{
    if (!jobs->packer) {
        return gpume_out_add(out, makers, job, bytes_max);
    }
    *packed = (struct gpume_packed){jobs->packer, job->make, job->opaque};
    job->make = gpume_packer_make;
    job->opaque = packed;
    const int status = gpume_out_add(out, makers, job, gpume_packer_bound(jobs->packer));
    return status == GPUME_OK && gpume_packer_failed(jobs->packer) ? GPUME_NOMEM : status;
}

/* A gpume_make_fn. */
static size_t copy_head(void *opaque, uint32_t item, char *at)
{
    const struct head_text *head = opaque;
    (void)item;
    memcpy(at, head->text, head->bytes);
    return head->bytes;
}

/* Appends a header. A compressed file gets a member for it even if it is empty, since a file
 * without members is none. */
static int field_jobs_put_head(
    struct field_jobs *jobs, struct gpume_out *out, const char *text, size_t bytes)
{
    struct head_text head = {text, bytes};
    struct gpume_packed packed;
    struct gpume_job job = {.make = copy_head, .opaque = &head, .count = 1};
    return add_items(jobs, out, NULL, &job, &packed, bytes);
}

static char *make_rows(const struct field_job *job, size_t first, size_t end, char *at)
{
    const struct gpume_vectors_target *target = &job->target;
    const struct gpume_vectors_writer_ops *ops = job->jobs->ops;
    struct gpume_vectors_block room[GPUME_VECTORS_PART];
    const size_t most = GPUME_VECTORS_PART / target->info->candidates;
    const struct gpume_layer *layer =
        ops->plain ? gpume_vectors_plain(target->info, &job->field) : NULL;
    if (layer) {
        return ops->plain(target, layer, first, end - first, at);
    }
    for (; first < end; first += most) {
        const struct gpume_vectors_block *blocks;
        const size_t part = end - first < most ? end - first : most;
        const size_t count =
            gpume_vectors_take(target->info, &job->field, first, part, room, &blocks);
        at = ops->rows(target, blocks, count, at);
    }
    return at;
}

/* A gpume_make_fn: the field's head, and part of its rows. */
static size_t make_item(void *opaque, uint32_t item, char *begin)
{
    struct field_job *job = opaque;
    const size_t first = item * job->item_blocks, rest = job->field.count - first;
    const size_t end = first + (rest < job->item_blocks ? rest : job->item_blocks);
    const size_t head = item == 0 ? job->head_bytes : 0;
    memcpy(begin, job->head, head);
    const char *at = make_rows(job, first, end, begin + head);
    atomic_fetch_add(&job->bytes, (size_t)(at - begin) - head);
    return (size_t)(at - begin);
}

/* A gpume_make_fn. */
static size_t make_whole(void *opaque, uint32_t item, char *at)
{
    struct field_job *job = opaque;
    (void)item;
    return job->jobs->ops->whole(&job->target, at);
}

/* The function `done` of a job whose field was lent. */
static void release_lent(void *opaque)
{
    const struct field_job *job = opaque;
    gpume_vectors_release(&job->field);
}

/* The function `done` of one whose file is compressed. */
static void release_packed(void *opaque)
{
    release_lent(((const struct gpume_packed *)opaque)->opaque);
}

/* The next place in the ring, when the field before it there has ended. */
static struct field_job *next_job(struct field_jobs *jobs)
{
    struct field_job *job = &jobs->ring[jobs->next++ % AHEAD];
    gpume_makers_wait(jobs->makers, &job->job);
    jobs->bytes += atomic_exchange(&job->bytes, 0);
    return job;
}

/* Appends a field and releases it, then or later. */
static int field_jobs_put(
    struct field_jobs *jobs, struct gpume_out *out, const struct gpume_vectors_field *field)
{
    const struct gpume_vectors_writer_ops *ops = jobs->ops;
    const struct gpume_vectors_info *info = jobs->target->info;
    const bool further = info->columns & GPUME_VECTORS_FURTHER;
    const size_t block_bytes = (ops->row_bytes + (further ? ops->further : 0)) * info->candidates;
    struct field_job *job = next_job(jobs);
    job->jobs = jobs;
    job->field = *field;
    job->target = *jobs->target;
    job->target.field = &job->field;
    job->head_bytes = ops->begin ? ops->begin(&job->target, job->head) : 0;
    const size_t extra = GPUME_VECTORS_SLACK_BYTES + job->head_bytes;
    size_t bytes_max = GPUME_VECTORS_HEAD_BYTES;
    job->job = (struct gpume_job){.opaque = job, .count = 1};
    if (ops->whole) {
        job->job.make = make_whole;
    } else {
        const size_t most =
            ((jobs->packer ? PACKED_BYTES : GPUME_OUT_ITEM_BYTES) - extra) / block_bytes;
        const size_t wanted = jobs->packer ? PACKED_ROWS : ITEM_ROWS;
        job->item_blocks = most < wanted ? most : wanted;
        const size_t longest = field->count < job->item_blocks ? field->count : job->item_blocks;
        job->job.make = make_item;
        job->job.count = (uint32_t)((field->count + job->item_blocks - 1) / job->item_blocks);
        bytes_max = longest * block_bytes + extra;
    }
    job->job.done = !field->release ? NULL : jobs->packer ? release_packed : release_lent;
    const bool apart = jobs->packer || ops->whole || field->count >= APART_BLOCKS;
    const int status =
        add_items(jobs, out, apart ? jobs->makers : NULL, &job->job, &job->packed, bytes_max);
    if (!field->release) { /* it is gone after this call */
        gpume_makers_wait(jobs->makers, &job->job);
    }
    return status;
}

/* Waits until all fields are released. *bytes: of their rows, since the last call. */
static int field_jobs_wait(struct field_jobs *jobs, uint64_t *bytes)
{
    for (uint32_t i = 0; i < AHEAD; i++) {
        (void)next_job(jobs);
    }
    *bytes = jobs->bytes;
    jobs->bytes = 0;
    return jobs->packer && gpume_packer_failed(jobs->packer) ? GPUME_NOMEM : GPUME_OK;
}

/* --- files and arrays */

struct gpume_vectors_writer {
    const struct gpume_vectors_format *format;
    struct gpume_vectors_info info;
    unsigned known; /* columns of the source */
    bool is_single; /* the format holds one match per block */
    struct gpume_log log;
    char *path;
    struct gpume_out_set *set;
    struct gpume_out *claim;      /* on the names of numbered files; NULL: none */
    enum gpume_pattern_kind kind; /* in formats with one file per frame */
    bool in_place; /* standard output, a pipe or a device: holds any number of arrays */
    struct field_jobs jobs;
    struct gpume_vectors_target target; /* what the format gets */
    bool is_open;                       /* whether the format has been opened */
    struct gpume_out *file;             /* what the user named, or the current file of a pattern */
    struct gpume_out *out;              /* the same, or the spool's file */
    FILE *spool;                        /* NULL: the file can seek, or does not have to */
    bool has_array;                     /* its header has been written */
    uint64_t frame;                     /* of the array's last field */
    uint64_t start;                     /* position of the array in `out` */
    uint64_t rows;                      /* in the array, of a counted format */
    char head[GPUME_VECTORS_HEAD_BYTES];
};

static int refuse_output(struct gpume_vectors_writer *writer, int status, const char *what)
{
    return gpume_log_fail(&writer->log, status, "%s: %s", writer->path, what);
}

static int check_needs(struct gpume_vectors_writer *writer)
{
    const struct gpume_vectors_format *format = writer->format;
    const struct gpume_vectors_info *info = &writer->info;
    char what[160];
    if (writer->kind == GPUME_PATTERN_WRONG) {
        return refuse_output(writer, GPUME_UNSUPPORTED,
            "give one %d or %0Nd in the file's own name, or two with more than digits between "
            "them");
    }
    if (format->needs & ~info->columns) {
        snprintf(
            what, sizeof(what), "%s needs the costs of blocks, which are unknown", format->name);
        return refuse_output(writer, GPUME_INVALID, what);
    }
    const bool mixed = info->joined || (writer->known & GPUME_VECTORS_REF2);
    const char *limit = writer->known & GPUME_VECTORS_CANDIDATE && writer->is_single
                            ? "one match per block, not several candidates"
                        : format->needs_grid && mixed
                            ? "one reference for all blocks of a frame pair"
                        : format->needs_grid && info->block_w == 0
                            ? "blocks of one size, in a grid that covers the picture"
                        : format->any_order && info->overlaps
                            ? "one vector per place and direction, not several shapes"
                            : NULL;
    if (limit) {
        snprintf(
            what, sizeof(what), "%s holds %s; choose csv, jsonl, npy or mvf", format->name, limit);
        return refuse_output(writer, GPUME_INVALID, what);
    }
    return GPUME_OK;
}

static int refuse_spool(struct gpume_vectors_writer *writer)
{
    return gpume_log_fail(&writer->log, GPUME_IO, "a temporary file cannot be used: %s; %s",
        strerror(errno), gpume_remedy(errno, "write to a file, or to a format that needs none"));
}

/* Empties the spool and opens it as the output, which can seek. */
static int begin_spool(struct gpume_vectors_writer *writer)
{
    char name[32];
    const int fd = fileno(writer->spool);
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0) {
        return refuse_spool(writer);
    }
    snprintf(name, sizeof(name), "/dev/fd/%d", fd);
    return gpume_out_open(&writer->out, name, true, &writer->log);
}

/* Completes the spool and appends its bytes to the file. */
static int pour_spool(struct gpume_vectors_writer *writer)
{
    unsigned char part[16384];
    size_t got;
    int status;
    GPUME_TRY(gpume_out_finish(writer->out));
    gpume_out_close(&writer->out);
    rewind(writer->spool);
    while ((got = fread(part, 1, sizeof(part), writer->spool)) > 0) {
        GPUME_TRY(gpume_out_write(writer->file, part, got));
    }
    status = ferror(writer->spool) ? refuse_spool(writer) : GPUME_OK;
fail:
    return status;
}

/* Opens the output, or one of its numbered files. */
static int open_file(struct gpume_vectors_writer *writer, const char *path)
{
    int status;
    if (writer->kind == GPUME_PATTERN_PLAIN) {
        GPUME_TRY(gpume_out_open_in(&writer->file, writer->set, path, &writer->log));
    } else {
        GPUME_TRY(gpume_out_open_one(&writer->file, writer->set, path, &writer->log));
    }
    writer->out = writer->file;
    writer->start = 0;
    if (writer->format->counted && !gpume_out_is_continued(writer->file) &&
        gpume_out_seek(writer->file, 0) == GPUME_UNSUPPORTED && !writer->spool) {
        writer->spool = tmpfile();
        status = writer->spool ? GPUME_OK : refuse_spool(writer);
    }
fail:
    return status;
}

int gpume_vectors_writer_open(struct gpume_vectors_writer **result,
    const struct gpume_vectors_output *output, const struct gpume_vectors_info *info)
{
    int status = GPUME_NOMEM;
    struct gpume_vectors_writer *self = calloc(1, sizeof(*self));
    const struct gpume_vectors_writer_ops *ops = output->format->writer;
    gpume_digits_init();
    if (self) {
        self->format = output->format;
        self->info = *info;
        self->known = info->columns;
        self->is_single = output->format->needs_grid || output->format->any_order;
        self->info.columns &= output->format->columns;
        self->info.units += self->info.units == 0;
        self->info.candidates += self->info.candidates == 0;
        self->log = output->log;
        self->set = output->set;
        self->in_place = !gpume_text_can_continue(output->path);
        self->path = strdup(output->path);
        self->kind =
            output->format->numbered ? gpume_pattern_kind(output->path) : GPUME_PATTERN_PLAIN;
        self->target.info = &self->info;
        self->target.log = &self->log;
        self->target.state = calloc(1, ops->state_bytes > 0 ? ops->state_bytes : 1);
    }
    if (!self || !self->path || !self->target.state) {
        gpume_log_write(&output->log, GPUME_LOG_ERROR, "%s: out of memory", output->path);
        goto fail;
    }
    GPUME_TRY(check_needs(self));
    self->is_open = true;
    status = ops->open ? ops->open(&self->target) : GPUME_OK;
    if (status != GPUME_OK) {
        gpume_log_write(&output->log, GPUME_LOG_ERROR, "%s: out of memory", output->path);
        goto fail;
    }
    GPUME_TRY(self->kind == GPUME_PATTERN_PLAIN
                  ? open_file(self, self->path)
                  : gpume_out_open_claim(&self->claim, self->set, self->path, &self->log));
    if (field_jobs_open(&self->jobs, &self->target, self->format, output->processors)) {
        GPUME_TRY(gpume_log_nomem(&self->log, self->path));
    }
    *result = self;
    return GPUME_OK;
fail:
    gpume_vectors_writer_close(&self);
    return status;
}

static int check_jobs(struct gpume_vectors_writer *writer, int status)
{
    return status == GPUME_NOMEM ? gpume_log_nomem(&writer->log, writer->path) : status;
}

/* Waits until all fields are in the output's hands, and counts their rows. */
static int wait_for_jobs(struct gpume_vectors_writer *writer)
{
    const struct gpume_vectors_writer_ops *ops = writer->format->writer;
    uint64_t bytes;
    const int status = check_jobs(writer, field_jobs_wait(&writer->jobs, &bytes));
    writer->rows += ops->fixed_bytes ? bytes / ops->fixed_bytes(&writer->target) : 0;
    return status;
}

/* Writes the array's header, or rewrites it. */
static int put_head(struct gpume_vectors_writer *writer)
{
    const struct gpume_vectors_writer_ops *ops = writer->format->writer;
    const size_t bytes = ops->head ? ops->head(&writer->target, writer->rows, writer->head) : 0;
    return check_jobs(writer, field_jobs_put_head(&writer->jobs, writer->out, writer->head, bytes));
}

/* Continues the array of an earlier run, whose header and rows are in the file. */
static void continue_array(struct gpume_vectors_writer *writer)
{
    const struct gpume_vectors_format *format = writer->format;
    if (format->counted) {
        const size_t head = format->writer->head(&writer->target, 0, writer->head);
        writer->rows = (gpume_out_continued_bytes(writer->file) - head) /
                       format->writer->fixed_bytes(&writer->target);
    }
    writer->has_array = true;
}

static int begin_array(struct gpume_vectors_writer *writer)
{
    int status;
    writer->rows = 0;
    if (gpume_out_is_continued(writer->file)) {
        continue_array(writer);
        return GPUME_OK;
    }
    if (writer->spool) {
        writer->out = NULL;
        writer->start = 0;
        GPUME_TRY(begin_spool(writer));
    }
    GPUME_TRY(put_head(writer));
    writer->has_array = true;
fail:
    return status;
}

/* Rewrites the header with the number of rows, and returns to the end. */
static int finish_array(struct gpume_vectors_writer *writer)
{
    const struct gpume_vectors_writer_ops *ops = writer->format->writer;
    int status;
    const bool pending = writer->has_array && writer->format->counted;
    writer->has_array = false;
    GPUME_TRY(wait_for_jobs(writer));
    if (!pending) {
        return GPUME_OK;
    }
    GPUME_TRY(gpume_out_seek(writer->out, writer->start));
    GPUME_TRY(put_head(writer));
    if (writer->spool) {
        GPUME_TRY(pour_spool(writer));
    } else {
        writer->start += ops->head(&writer->target, writer->rows, writer->head) +
                         writer->rows * ops->fixed_bytes(&writer->target);
        GPUME_TRY(gpume_out_seek(writer->out, writer->start));
    }
fail:
    return status;
}

static int finish_file(struct gpume_vectors_writer *writer)
{
    const struct gpume_vectors_writer_ops *ops = writer->format->writer;
    int status;
    GPUME_TRY(finish_array(writer));
    GPUME_TRY(ops->finish ? ops->finish(&writer->target, writer->out) : GPUME_OK);
    GPUME_TRY(gpume_out_finish(writer->file));
fail:
    return status;
}

/* Completes the current file; the next frame gets another. */
static int leave_file(struct gpume_vectors_writer *writer)
{
    const int status = finish_file(writer);
    if (status == GPUME_OK) {
        gpume_out_close(&writer->file);
        writer->out = NULL;
    }
    return status;
}

/* In formats with one file per frame: completes the current file or array unless this field belongs
 * to it. */
static int leave(struct gpume_vectors_writer *writer, const struct gpume_vectors_field *field)
{
    const bool same = field->frame == writer->frame;
    const bool pair = writer->kind == GPUME_PATTERN_PAIR;
    if (same && !pair && !writer->format->one_field) {
        return GPUME_OK;
    }
    if (writer->kind != GPUME_PATTERN_PLAIN) {
        return same && !pair
                   ? refuse_output(writer, GPUME_UNSUPPORTED,
                         "a frame has two motion fields; put two %d in the name, such as "
                         "name%05d-%05d.flo, for the numbers of the frame and of its reference")
                   : leave_file(writer);
    }
    return writer->in_place
               ? finish_array(writer)
               : refuse_output(writer, GPUME_UNSUPPORTED,
                     "holds only one frame; put %d in the name for the frame's number");
}

static int turn_to(struct gpume_vectors_writer *writer, const struct gpume_vectors_field *field)
{
    int status = GPUME_OK;
    if (writer->format->numbered && writer->has_array) {
        GPUME_TRY(leave(writer, field));
    }
    if (!writer->file) {
        char *name = gpume_pattern_name_pair(
            writer->path, (struct gpume_pattern_numbers){field->frame, field->ref});
        if (!name) {
            return gpume_log_fail(&writer->log, GPUME_NOMEM, "%s: out of memory", writer->path);
        }
        status = open_file(writer, name);
        free(name);
    }
    GPUME_TRY(status);
    GPUME_TRY(writer->has_array ? GPUME_OK : begin_array(writer));
fail:
    return status;
}

/* What the field of a target, if it is a list, has that the format cannot hold in a file whose
 * header has been decided; NULL: nothing. */
static const char *excess_of(
    const struct gpume_vectors_format *format, const struct gpume_vectors_target *target)
{
    const uint32_t units = target->info->units;
    if (!target->field->blocks) {
        return NULL;
    }
    if (format->fixed_units && gpume_vectors_units(target->field, units) > units) {
        return "smaller fractions of a pixel than the frames before it";
    }
    return format->writer->excess ? format->writer->excess(target) : NULL;
}

/* Refuses a field that the format cannot hold, and else makes the output ready for it. */
static int prepare(struct gpume_vectors_writer *writer, const struct gpume_vectors_field *field)
{
    char what[160];
    if (writer->format->needs_grid && !gpume_vectors_on_grid(&writer->info, field)) {
        snprintf(what, sizeof(what),
            "the blocks of frame %" PRIu64
            " form another grid than the first frame's; %s needs one grid for all frames",
            field->frame, writer->format->name);
        return refuse_output(writer, GPUME_INVALID, what);
    }
    writer->target.field = field;
    const char *more = excess_of(writer->format, &writer->target);
    if (more) {
        snprintf(what, sizeof(what),
            "frame %" PRIu64 " has %s, which %s cannot hold; choose csv or jsonl", field->frame,
            more, writer->format->name);
        return refuse_output(writer, GPUME_INVALID, what);
    }
    return turn_to(writer, field);
}

int gpume_vectors_writer_field(
    struct gpume_vectors_writer *writer, const struct gpume_vectors_field *field)
{
    const struct gpume_vectors_writer_ops *ops = writer->format->writer;
    int status = prepare(writer, field);
    if (status == GPUME_OK && !ops->field) {
        status = check_jobs(writer, field_jobs_put(&writer->jobs, writer->out, field));
    } else {
        status = status == GPUME_OK ? ops->field(&writer->target, writer->out) : status;
        gpume_vectors_release(field);
    }
    writer->frame = status == GPUME_OK ? field->frame : writer->frame;
    return status;
}

int gpume_vectors_writer_wait(struct gpume_vectors_writer *writer)
{
    return wait_for_jobs(writer);
}

int gpume_vectors_writer_settle(struct gpume_vectors_writer *writer)
{
    return writer->kind != GPUME_PATTERN_PLAIN && writer->file ? leave_file(writer) : GPUME_OK;
}

int gpume_vectors_writer_finish(struct gpume_vectors_writer *writer)
{
    int status = GPUME_OK;
    if (writer->file && !writer->has_array && !writer->format->numbered) {
        GPUME_TRY(begin_array(writer)); /* no field came: a file with none in it */
    }
    GPUME_TRY(writer->file ? finish_file(writer) : GPUME_OK);
fail:
    return status;
}

void gpume_vectors_writer_close(struct gpume_vectors_writer **writer)
{
    struct gpume_vectors_writer *self = *writer;
    if (self) {
        if (self->out != self->file) {
            gpume_out_close(&self->out);
        }
        gpume_out_close(&self->file);
        gpume_out_close(&self->claim);
        if (self->spool) {
            (void)fclose(self->spool);
        }
        gpume_makers_close(&self->jobs.makers);
        gpume_packer_destroy(&self->jobs.packer);
        if (self->is_open && self->format->writer->close) {
            self->format->writer->close(&self->target);
        }
        free(self->target.state);
        free(self->path);
        free(self);
        *writer = NULL;
    }
}
