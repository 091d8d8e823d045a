/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors/field_jobs.h"

#include "base/status.h"
#include "files/pack.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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
    const struct gpume_field_jobs *jobs;
    struct gpume_vectors_field field;
    struct gpume_vectors_target target;
    size_t item_blocks;
    size_t head_bytes; /* of the field */
    char head[GPUME_VECTORS_HEAD_BYTES];
    atomic_size_t bytes; /* of all rows */
    struct gpume_packed packed;
};

struct gpume_field_jobs {
    const struct gpume_vectors_target *target;
    const struct gpume_vectors_writer_ops *ops;
    struct gpume_makers *makers; /* NULL: the caller makes everything */
    struct gpume_packer *packer; /* NULL: the file is not compressed */
    uint64_t bytes;              /* of the rows of fields that have ended and are counted */
    uint32_t next;
    struct field_job ring[AHEAD];
};

struct head {
    const char *text;
    size_t bytes;
};

int gpume_field_jobs_open(struct gpume_field_jobs **result,
    const struct gpume_vectors_target *target, const struct gpume_vectors_format *format,
    uint32_t processors)
{
    struct gpume_field_jobs *self = calloc(1, sizeof(*self));
    if (!self) {
        return GPUME_NOMEM;
    }
    self->target = target;
    self->ops = format->writer;
    if (format->packing == GPUME_PACKING_NONE) {
        /* A numbered file is complete before the next one begins. */
        self->makers = format->numbered ? NULL : gpume_out_makers(processors);
    } else {
        self->makers = gpume_packer_makers(processors);
        const uint32_t threads = self->makers ? gpume_makers_count(self->makers) : 1;
        if (gpume_packer_create(&self->packer, format->packing, PACKED_BYTES, threads)) {
            gpume_field_jobs_close(&self);
            return GPUME_NOMEM;
        }
    }
    *result = self;
    return GPUME_OK;
}

/* Appends items. If the file is compressed, each becomes a separate member. bytes_max: of an
 * item before that. packed lasts as long as the job. */
static int add(struct gpume_field_jobs *jobs, struct gpume_out *out, struct gpume_makers *makers,
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
    const struct head *head = opaque;
    (void)item;
    memcpy(at, head->text, head->bytes);
    return head->bytes;
}

int gpume_field_jobs_head(
    struct gpume_field_jobs *jobs, struct gpume_out *out, const char *text, size_t bytes)
{
    struct head head = {text, bytes};
    struct gpume_packed packed;
    struct gpume_job job = {.make = copy_head, .opaque = &head, .count = 1};
    return add(jobs, out, NULL, &job, &packed, bytes);
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
static void release(void *opaque)
{
    const struct field_job *job = opaque;
    gpume_vectors_release(&job->field);
}

/* The function `done` of one whose file is compressed. */
static void release_packed(void *opaque)
{
    release(((const struct gpume_packed *)opaque)->opaque);
}

/* The next place in the ring, when the field before it there has ended. */
static struct field_job *take_place(struct gpume_field_jobs *jobs)
{
    struct field_job *job = &jobs->ring[jobs->next++ % AHEAD];
    gpume_makers_wait(jobs->makers, &job->job);
    jobs->bytes += atomic_exchange(&job->bytes, 0);
    return job;
}

int gpume_field_jobs_put(
    struct gpume_field_jobs *jobs, struct gpume_out *out, const struct gpume_vectors_field *field)
{
    const struct gpume_vectors_writer_ops *ops = jobs->ops;
    const struct gpume_vectors_info *info = jobs->target->info;
    const bool further = info->columns & GPUME_VECTORS_FURTHER;
    const size_t block_bytes = (ops->row_bytes + (further ? ops->further : 0)) * info->candidates;
    struct field_job *job = take_place(jobs);
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
    job->job.done = !field->release ? NULL : jobs->packer ? release_packed : release;
    const bool apart = jobs->packer || ops->whole || field->count >= APART_BLOCKS;
    const int status =
        add(jobs, out, apart ? jobs->makers : NULL, &job->job, &job->packed, bytes_max);
    if (!field->release) { /* it is gone after this call */
        gpume_makers_wait(jobs->makers, &job->job);
    }
    return status;
}

int gpume_field_jobs_wait(struct gpume_field_jobs *jobs, uint64_t *bytes)
{
    for (uint32_t i = 0; i < AHEAD; i++) {
        (void)take_place(jobs);
    }
    *bytes = jobs->bytes;
    jobs->bytes = 0;
    return jobs->packer && gpume_packer_failed(jobs->packer) ? GPUME_NOMEM : GPUME_OK;
}

void gpume_field_jobs_close(struct gpume_field_jobs **pointer)
{
    struct gpume_field_jobs *self = *pointer;
    if (self) {
        *pointer = NULL;
        gpume_makers_close(&self->makers);
        gpume_packer_destroy(&self->packer);
        free(self);
    }
}
