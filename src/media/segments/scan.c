/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/segments/scan.h"

#include "base/status.h"
#include "media/coded_picture.h"

#include <stdlib.h>

#include <libavcodec/avcodec.h>

#define DELAY_MAX 32u           /* as in seek.c */
#define RECENT (2u * DELAY_MAX) /* packets that the order of a new one is compared with */

struct shown {
    int64_t time;
    struct gpume_coded_picture picture;
};

struct gpume_scan {
    struct gpume_coded_pictures pictures;
    uint64_t delay; /* packets for which the decoder waits */
    struct shown recent[RECENT];
    uint64_t taken;
    int64_t first;     /* time of the first packet */
    int64_t latest;    /* the latest time of all packets */
    int64_t left;      /* the latest time of those that are no longer among the recent */
    int64_t decoded;   /* the latest time of decoding that is known */
    const char *doubt; /* NULL: none */
};

int gpume_scan_open(struct gpume_scan **result, const AVCodecParameters *codec)
{
    struct gpume_scan *scan = calloc(1, sizeof(*scan));
    if (!scan) {
        return GPUME_NOMEM;
    }
    *result = scan;
    scan->delay = codec->video_delay > 0 ? (uint64_t)codec->video_delay : 0;
    scan->latest = scan->left = scan->decoded = INT64_MIN;
    const int status = gpume_coded_pictures_open(&scan->pictures, codec);
    if (status != GPUME_OK) {
        gpume_scan_close(result);
    }
    return status == GPUME_UNSUPPORTED ? GPUME_OK : status;
}

static bool comes_before(const struct gpume_coded_picture *a, const struct gpume_coded_picture *b)
{
    return a->section < b->section || (a->section == b->section && a->number < b->number);
}

/* Whether its time and its number put it at the same place among the recent packets, and not
 * further back than the decoder waits. */
static bool has_place(const struct gpume_scan *scan, const struct shown *shown)
{
    uint64_t later = 0; /* packets that came before it and are shown after it */
    const uint64_t count = scan->taken < RECENT ? scan->taken : RECENT;
    for (uint64_t i = 0; i < count; i++) {
        const struct shown *other = &scan->recent[i];
        const bool is_later = other->time > shown->time;
        later += is_later;
        if (other->time == shown->time ||
            comes_before(&other->picture, &shown->picture) == is_later ||
            comes_before(&shown->picture, &other->picture) != is_later) {
            return false;
        }
    }
    return shown->time > scan->left && later <= scan->delay && later < DELAY_MAX;
}

static void keep(struct gpume_scan *scan, const struct shown *shown)
{
    struct shown *place = &scan->recent[scan->taken % RECENT];
    if (scan->taken >= RECENT && place->time > scan->left) {
        scan->left = place->time;
    }
    *place = *shown;
    scan->first = scan->taken == 0 ? shown->time : scan->first;
    scan->latest = shown->time > scan->latest ? shown->time : scan->latest;
    scan->taken++;
}

/* NULL: none. */
static const char *find_doubt(struct gpume_scan *scan, const AVPacket *packet, struct shown *shown)
{
    if (packet->pts == AV_NOPTS_VALUE ||
        (packet->dts != AV_NOPTS_VALUE && packet->dts <= scan->decoded)) {
        return "times of its packets are missing or unordered";
    }
    if (gpume_coded_pictures_take(&scan->pictures, packet, &shown->picture) != GPUME_OK) {
        return "not every packet is known to hold one frame with the parameters of the first";
    }
    shown->time = packet->pts;
    const bool starts = scan->taken > 0 ? packet->pts > scan->first : shown->picture.restarts;
    return starts && has_place(scan, shown)
               ? NULL
               : "the times of its packets leave the order of its frames in doubt";
}

bool gpume_scan_take(struct gpume_scan *scan, const AVPacket *packet)
{
    struct shown shown = {0};
    scan->doubt = scan->doubt ? scan->doubt : find_doubt(scan, packet, &shown);
    if (scan->doubt) {
        return false;
    }
    const bool restarts =
        shown.picture.restarts && (packet->flags & AV_PKT_FLAG_KEY) && packet->pts > scan->latest;
    scan->decoded = packet->dts != AV_NOPTS_VALUE ? packet->dts : scan->decoded;
    keep(scan, &shown);
    return restarts;
}

uint64_t gpume_scan_taken(const struct gpume_scan *scan)
{
    return scan->taken;
}

bool gpume_scan_is_certain(const struct gpume_scan *scan)
{
    return !scan->doubt;
}

const char *gpume_scan_doubt(const struct gpume_scan *scan)
{
    return scan->doubt;
}

void gpume_scan_close(struct gpume_scan **pointer)
{
    struct gpume_scan *scan = *pointer;
    if (scan) {
        gpume_coded_pictures_close(&scan->pictures);
        free(scan);
        *pointer = NULL;
    }
}
