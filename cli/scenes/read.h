/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a video into a list of its frames and scenes, and writes what a command makes of it. Main
 * thread only.
 */
#ifndef GPUME_CLI_SCENES_READ_H
#define GPUME_CLI_SCENES_READ_H

#include "encode/scenes.h"
#include "job.h"
#include "options/option.h"
#include "scenes/chunks.h"

/* Starts as zero. */
struct gpume_scene_list {
    uint64_t frames;
    int64_t *times_us;               /* of each frame */
    struct gpume_scene_frame *facts; /* about each frame, if the command wants them; else NULL */
    int64_t start_us;                /* where the container's time begins: times_us[0] or before */
    int64_t frame_us;                /* how long the last frame lasts */
    struct gpume_change
        *changes; /* those that are confident enough, in the order of their frames */
    size_t change_count;
    uint64_t *starts; /* first frames of scenes; the first is 0 */
    size_t start_count;
    struct gpume_chunks *chunks; /* of these scenes; NULL: none are wanted */
};

/* The frame after the last one of a scene. */
static inline uint64_t gpume_scene_end(const struct gpume_scene_list *list, size_t scene)
{
    return scene + 1 < list->start_count ? list->starts[scene + 1] : list->frames;
}

/* How long a frame is shown, in microseconds; where times jump back, as long as the last one. */
int64_t gpume_scene_duration(const struct gpume_scene_list *list, uint64_t frame);

/* The first member of such a command's options. */
struct gpume_scene_options {
    struct gpume_video_options video;
    double confidence; /* the least of a change */
    /* Of scenes. Zero: not given. */
    struct gpume_place length_min, length_max;
    struct gpume_chunk_options chunks;
};

/* shortest: what the help says beside the default of --min-length. */
#define GPUME_OPTIONS_SCENES(s, m, shortest)                                                       \
    {GPUME_ROW_REAL("confidence", "C", s, m.confidence, 0, 1),                                     \
        .help = "ignore changes of less confidence, 0 to 1 (default 0.5)"},                        \
        {GPUME_ROW("min-length", "N|TIME", place, s, m.length_min), .min = 1, .max = 1000000,      \
            .help = "begin no scene less than N frames, or a time such as 1.5s, after another "    \
                    "one or before the end (default 1" shortest ")"},                              \
    {                                                                                              \
        GPUME_ROW("max-length", "N|TIME", place, s, m.length_max),                                 \
            .min = 1, .max = UINT32_MAX,                                                           \
            .help = "divide longer scenes into equal parts (default: no limit)"                    \
    }

/* For set_defaults and check. */
void gpume_scene_options_default(void *options);
int gpume_scene_options_check(void *options, const struct gpume_line *line);

/* Writes the list to the output, whose errors are sticky. options: the command's. */
typedef void (*gpume_scene_write_fn)(
    struct gpume_out *out, const struct gpume_scene_list *list, const void *options);

/* The whole run of a command. */
enum gpume_exit gpume_scene_run(
    const struct gpume_scene_options *options, bool wants_facts, gpume_scene_write_fn write);

#endif
