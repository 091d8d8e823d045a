/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/frame_time.h"

#include <stdbool.h>

#include <libavutil/avutil.h>
#include <libavutil/frame.h>
#include <libavutil/mathematics.h>

int64_t gpume_frame_time_next(struct gpume_frame_time *time, const AVFrame *frame)
{
    const AVRational time_base = frame->time_base;
    int64_t us = INT64_MIN;
    if (frame->pts != AV_NOPTS_VALUE && time_base.num > 0 && time_base.den > 0) {
        us = av_rescale_q(frame->pts, time_base, AV_TIME_BASE_Q);
    }
    if (us == INT64_MIN) { /* unknown, or beyond what 64 bits hold */
        const int64_t after = av_rescale_q(time->since, time->step, AV_TIME_BASE_Q);
        const bool fits = after >= 0 && time->known_us < INT64_MAX - after;
        us = fits ? time->known_us + after : time->known_us;
    } else {
        time->known_us = us;
        time->since = 0;
    }
    time->since++;
    return us;
}
