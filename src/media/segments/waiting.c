/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/segments/waiting.h"

#include "base/status.h"

#include <stdlib.h>

#include <libavutil/frame.h>

static void append(struct gpume_waiting *list, struct gpume_waiting_frame *place)
{
    place->next = NULL;
    if (list->newest) {
        list->newest->next = place;
    } else {
        list->oldest = place;
    }
    list->newest = place;
    list->count++;
}

static struct gpume_waiting_frame *pop(struct gpume_waiting *list)
{
    struct gpume_waiting_frame *place = list->oldest;
    list->oldest = place->next;
    list->newest = list->oldest ? list->newest : NULL;
    list->count--;
    return place;
}

int gpume_places_init(struct gpume_places *places, uint32_t count)
{
    places->all = calloc(count, sizeof(*places->all));
    if (!places->all) {
        return GPUME_NOMEM;
    }
    for (; places->count < count; places->count++) {
        struct gpume_waiting_frame *place = &places->all[places->count];
        place->frame = av_frame_alloc();
        if (!place->frame) {
            return GPUME_NOMEM;
        }
        append(&places->free, place);
    }
    return GPUME_OK;
}

void gpume_places_finish(struct gpume_places *places)
{
    for (uint32_t i = 0; i < places->count; i++) {
        av_frame_free(&places->all[i].frame);
    }
    free(places->all);
    *places = (struct gpume_places){0};
}

void gpume_waiting_put(struct gpume_waiting *list, struct gpume_places *places, AVFrame *frame,
    const struct gpume_damage *damage)
{
    struct gpume_waiting_frame *place = pop(&places->free);
    av_frame_move_ref(place->frame, frame);
    place->damage = *damage;
    append(list, place);
}

struct gpume_damage gpume_waiting_take(
    struct gpume_waiting *list, struct gpume_places *places, AVFrame *frame)
{
    struct gpume_waiting_frame *place = pop(list);
    av_frame_move_ref(frame, place->frame);
    append(&places->free, place);
    return place->damage;
}

void gpume_waiting_join(struct gpume_waiting *list, struct gpume_waiting *from)
{
    while (from->count > 0) {
        append(list, pop(from));
    }
}

void gpume_waiting_clear(struct gpume_waiting *list, struct gpume_places *places)
{
    while (list->count > 0) {
        struct gpume_waiting_frame *place = pop(list);
        av_frame_unref(place->frame);
        append(&places->free, place);
    }
}
