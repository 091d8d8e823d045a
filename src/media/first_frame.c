/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/first_frame.h"
#include "base/status.h"

#include <libavutil/frame.h>

/* Whether a frame follows the first one; the decoder tells where the container does not. */
static int find_other(const struct gpume_decoder *decoder, void *state,
    const struct gpume_decode_facts *facts, bool *other)
{
    *other = facts->frames > 1;
    if (facts->frames > 0 || facts->picture) {
        return GPUME_OK;
    }
    AVFrame *second = av_frame_alloc();
    const int status = second ? decoder->next(state, second) : GPUME_NOMEM;
    av_frame_free(&second);
    *other = status == GPUME_OK;
    return status == GPUME_EOF ? GPUME_OK : status;
}

int gpume_first_frame(const struct gpume_decoder *decoder, void *state,
    const struct gpume_decode_facts *facts, bool others_allowed, const char *label,
    const struct gpume_log *log, struct AVFrame **frame)
{
    bool other = false;
    *frame = av_frame_alloc();
    int status = *frame ? decoder->next(state, *frame) : GPUME_NOMEM;
    if (status == GPUME_EOF) {
        return decoder->no_frame(state);
    }
    GPUME_TRY(status);
    GPUME_TRY(others_allowed ? GPUME_OK : find_other(decoder, state, facts, &other));
    if (other) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: has more than one frame, but two inputs must be still pictures; give one video "
            "alone, or add --pictures to take the first frame of each",
            label);
    }
fail:
    return status;
}
