/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume.h on the CPU engine, for fuzz_api: parameters, then calls in any order, including invalid
 * ones. Fields must equal the brute-force answer; those of the general search must keep what
 * gpume.h promises, and equal a second search. One thread: no call may block forever.
 */
#include "brute.h"
#include "fuzz_api.h"
#include "fuzz_search.h"
#include "gpume/gpume.h"

#define HELD_MAX 12u
#define FRAMES_MAX 24u

struct session {
    gpume *ctx;
    struct gpume_params params;
    gpume_frame *frames[HELD_MAX];
    struct gpume_plane planes[HELD_MAX]; /* of the frames */
    const struct gpume_field *fields[HELD_MAX];
    struct gpume_plane sent[FRAMES_MAX]; /* copies */
    uint32_t sent_count, received_count;
    bool finished, cancelled;
    bool general; /* the fields have no brute-force answer */
    struct fuzz_predictor predictor;
    uint64_t newest; /* target of the last field */
};

static void take_filter(struct fuzz_bytes *from, struct gpume_prefilter *filter, double *weights)
{
    *filter = (struct gpume_prefilter){
        .size = sizeof(*filter),
        .kind = (enum gpume_prefilter_kind)fuzz_about(from, 0, GPUME_PREFILTER_KERNEL),
        .width = fuzz_about(from, 1, 7),
        .sigma = fuzz_u8(from) / 16.0,
        .range = fuzz_u8(from),
        .weights = weights,
    };
    filter->height = filter->width;
    for (size_t i = 0; i < 49; i++) {
        weights[i] = fuzz_u8(from) - 100.0;
    }
}

static void take_params(struct fuzz_bytes *from, struct gpume_params *params)
{
    const uint8_t flags = fuzz_u8(from);
    gpume_params_default(params);
    params->width = fuzz_small(from, 1, 24, 1u << 20);
    params->height = fuzz_small(from, 1, 24, 1u << 20);
    params->bits = fuzz_about(from, 8, 16);
    params->block = flags & 1 ? 4 + 4 * (fuzz_u8(from) % 32u) : fuzz_about(from, 4, 16);
    params->window_x = fuzz_small(from, 0, 6, GPUME_WINDOW_MAX);
    params->window_y = fuzz_small(from, 0, 6, GPUME_WINDOW_MAX);
    params->edge = (enum gpume_edge)fuzz_about(from, 0, 1);
    params->metric = (enum gpume_metric)fuzz_about(from, 0, 0);
    params->ref_distance = fuzz_small(from, 1, 3, GPUME_DISTANCE_MAX);
    params->backend = GPUME_BACKEND_CPU;
    params->threads = 1 + fuzz_u8(from) % 3u;
    params->want_frames = flags & 2;
    params->want_predicted = flags & 4;
    params->check = flags & 8;
    params->no_elimination = flags & 16;
}

/* Samples within their depth: noise, or few values, so that there are ties. */
static void fill_plane(struct fuzz_bytes *from, const struct gpume_plane *plane)
{
    uint32_t state = fuzz_u32(from);
    const uint32_t mask = (state & 1 ? 3u : UINT32_MAX) & ((1u << plane->bits) - 1);
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *row = (uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        for (uint32_t x = 0; x < plane->width; x++) {
            const uint16_t sample = (uint16_t)((state >> 13) & mask);
            state = (uint32_t)(state * UINT64_C(1664525) + 1013904223);
            if (plane->bits > 8) {
                memcpy(row + 2 * x, &sample, 2);
            } else {
                row[x] = (uint8_t)sample;
            }
        }
    }
}

static struct gpume_plane new_plane(const struct gpume_params *params)
{
    struct gpume_plane plane = {
        .stride = (ptrdiff_t)params->width * (params->bits > 8 ? 2 : 1),
        .width = params->width,
        .height = params->height,
        .bits = params->bits,
    };
    plane.data = malloc((size_t)plane.stride * plane.height);
    FUZZ_REQUIRE(plane.data);
    return plane;
}

static void keep_copy(struct session *session, const struct gpume_plane *plane)
{
    struct gpume_plane copy = new_plane(&session->params);
    for (uint32_t y = 0; y < copy.height; y++) {
        memcpy((uint8_t *)copy.data + (ptrdiff_t)y * copy.stride,
            (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride, (size_t)copy.stride);
    }
    session->sent[session->sent_count++] = copy;
}

static void drop_copy(struct session *session)
{
    free(session->sent[--session->sent_count].data);
}

static bool may_fail(const struct session *session, int status)
{
    return (session->cancelled && status == GPUME_CANCELLED) ||
           (session->params.predictor == GPUME_PREDICTOR_GIVEN && status == GPUME_IO) ||
           (session->finished && status == GPUME_INVALID);
}

static void send_plane(struct session *session, struct fuzz_bytes *from)
{
    if (session->sent_count == FRAMES_MAX) {
        return;
    }
    struct gpume_plane plane = new_plane(&session->params), upside = plane;
    fill_plane(from, &plane);
    keep_copy(session, &plane);
    if (fuzz_u8(from) & 1) { /* the same rows from the last one up */
        struct gpume_plane *copy = &session->sent[session->sent_count - 1];
        const size_t row_bytes = (size_t)plane.stride;
        upside.data = (uint8_t *)plane.data + (plane.height - 1) * row_bytes;
        upside.stride = -plane.stride;
        for (uint32_t y = 0; y < plane.height; y++) {
            memcpy((uint8_t *)copy->data + (plane.height - 1 - y) * row_bytes,
                (uint8_t *)plane.data + y * row_bytes, row_bytes);
        }
    }
    const int status = gpume_send_plane(session->ctx, &upside, fuzz_u32(from));
    if (status != GPUME_OK) {
        FUZZ_REQUIRE(status == GPUME_AGAIN || may_fail(session, status));
        drop_copy(session);
    }
    free(plane.data);
}

static void send_wrong_plane(struct session *session, struct fuzz_bytes *from)
{
    static uint8_t byte;
    struct gpume_plane plane = {
        .data = fuzz_u8(from) & 1 ? &byte : NULL,
        .stride = (ptrdiff_t)fuzz_u64(from),
        .width = fuzz_about(from, 1, 24),
        .height = fuzz_about(from, 1, 24),
        .bits = fuzz_about(from, 8, 16),
    };
    if (plane.data && plane.width == session->params.width &&
        plane.height == session->params.height && plane.bits == session->params.bits) {
        plane.width++;
    }
    FUZZ_REQUIRE(gpume_send_plane(session->ctx, &plane, 0) == GPUME_INVALID);
}

static void use_frame(struct session *session, struct fuzz_bytes *from)
{
    const size_t i = fuzz_u8(from) % HELD_MAX;
    const uint8_t what = fuzz_u8(from) % 4;
    if (!session->frames[i]) {
        const int status =
            gpume_frame_acquire(session->ctx, &session->frames[i], &session->planes[i], 0);
        FUZZ_REQUIRE(status == GPUME_OK || status == GPUME_AGAIN || may_fail(session, status));
        FUZZ_REQUIRE((status == GPUME_OK) == (session->frames[i] != NULL));
    } else if (what == 0 || session->sent_count == FRAMES_MAX) {
        gpume_frame_release(&session->frames[i]);
        FUZZ_REQUIRE(!session->frames[i]);
    } else {
        fill_plane(from, &session->planes[i]);
        keep_copy(session, &session->planes[i]);
        const int status = gpume_send(session->ctx, &session->frames[i], INT64_MIN);
        FUZZ_REQUIRE(!session->frames[i]);
        if (status != GPUME_OK) {
            FUZZ_REQUIRE(may_fail(session, status));
            drop_copy(session);
        }
    }
}

static void check_brute(const struct session *session, const struct gpume_field *field)
{
    fuzz_feed(true);
    struct brute brute =
        brute_field(&session->params, &session->sent[field->frame], &session->sent[field->ref]);
    FUZZ_ALWAYS(brute.blocks == field->blocks_x * field->blocks_y);
    for (uint32_t i = 0; i < brute.blocks; i++) {
        FUZZ_ALWAYS(brute.dx[i] == field->vectors[i].dx && brute.dy[i] == field->vectors[i].dy);
        FUZZ_ALWAYS(brute.costs[i] == field->costs[i] && brute.ranks[i] == field->ranks[i]);
    }
    FUZZ_ALWAYS(brute.zero == field->sums.zero);
    FUZZ_ALWAYS(brute.sad_before == field->sums.sad_before);
    FUZZ_ALWAYS(brute.sse_after == field->sums.sse_after);
    brute_free(&brute);
    fuzz_feed(false);
}

static void check_field(struct session *session, const struct gpume_field *field)
{
    const struct gpume_params *params = &session->params;
    FUZZ_ALWAYS(field->frame < session->sent_count && field->ref < session->sent_count);
    FUZZ_ALWAYS(field->checked == field->matched);
    FUZZ_ALWAYS((field->predicted.data != NULL) == params->want_predicted);
    FUZZ_ALWAYS((field->target.data != NULL) == params->want_frames);
    if (session->general) {
        FUZZ_ALWAYS(field->frame >= session->newest);
        session->newest = field->frame;
        fuzz_check_search(params, field);
        return;
    }
    FUZZ_ALWAYS(field->frame == params->ref_distance + session->received_count - UINT64_C(1));
    FUZZ_ALWAYS(field->ref == field->frame - params->ref_distance);
    if (!params->prefilter) { /* with one, params.check compares with another search */
        check_brute(session, field);
    }
}

/* The receiver waits only if a field, or the end, is certain to come. */
static void use_field(struct session *session, struct fuzz_bytes *from)
{
    const size_t i = fuzz_u8(from) % HELD_MAX;
    if (session->fields[i]) {
        gpume_field_release(&session->fields[i]);
        FUZZ_REQUIRE(!session->fields[i]);
        return;
    }
    bool kept = false;
    for (size_t j = 0; j < HELD_MAX; j++) {
        kept = kept || session->fields[j];
    }
    const uint32_t flags = session->finished && !kept ? GPUME_WAIT : 0;
    const int status = gpume_receive(session->ctx, &session->fields[i], flags);
    if (status == GPUME_OK) {
        session->received_count++;
        check_field(session, session->fields[i]);
        return;
    }
    FUZZ_REQUIRE(!session->fields[i]);
    FUZZ_REQUIRE((status == GPUME_AGAIN && flags == 0) ||
                 (status == GPUME_EOF && session->finished) || may_fail(session, status));
}

static void step(struct session *session, struct fuzz_bytes *from)
{
    struct gpume_info info;
    struct gpume_stats stats;
    switch (fuzz_u8(from) % 16) {
    case 0:
        session->finished = true; /* even after cancelling */
        (void)gpume_finish(session->ctx);
        break;
    case 1:
        if (fuzz_u8(from) < 32) {
            session->cancelled = true;
            gpume_cancel(session->ctx);
        }
        break;
    case 2:
        gpume_get_info(session->ctx, &info);
        gpume_get_stats(session->ctx, &stats);
        FUZZ_REQUIRE(info.device && info.driver && info.search);
        break;
    case 3:
        send_wrong_plane(session, from);
        break;
    case 4:
    case 5:
    case 6:
    case 7:
        use_frame(session, from);
        break;
    case 8:
    case 9:
    case 10:
        use_field(session, from);
        break;
    default:
        send_plane(session, from);
    }
}

static void finish(struct session *session)
{
    for (size_t i = 0; i < HELD_MAX; i++) {
        gpume_frame_release(&session->frames[i]);
        gpume_field_release(&session->fields[i]);
    }
    const int status = gpume_close(&session->ctx);
    FUZZ_REQUIRE(status == GPUME_OK || may_fail(session, status));
    FUZZ_REQUIRE(!session->ctx);
    while (session->sent_count > 0) {
        drop_copy(session);
    }
}

static void take_general(struct session *session, struct fuzz_bytes *from)
{
    struct gpume_params *params = &session->params;
    fuzz_take_search(from, params, true);
    session->predictor.seed = fuzz_u32(from);
    session->predictor.fails_at = fuzz_u32(from) % 64;
    params->predict_opaque = &session->predictor;
}

void fuzz_motion(struct fuzz_bytes *from, bool general)
{
    struct session session = {.general = general};
    struct gpume_prefilter filter;
    double weights[49];
    take_params(from, &session.params);
    if (fuzz_u8(from) > 192) {
        take_filter(from, &filter, weights);
        session.params.prefilter = &filter;
    }
    if (general) {
        take_general(&session, from);
    }
    const int status = gpume_open(&session.ctx, &session.params);
    FUZZ_REQUIRE(status == GPUME_OK || status == GPUME_INVALID);
    FUZZ_ALWAYS((status == GPUME_OK) == (session.ctx != NULL));
    FUZZ_ALWAYS(status == GPUME_OK || status == GPUME_INVALID || status == GPUME_NOMEM);
    if (status == GPUME_OK) {
        session.predictor.blocks = fuzz_count_blocks(&session.params);
        while (from->left > 0) {
            step(&session, from);
        }
        finish(&session);
    }
}
