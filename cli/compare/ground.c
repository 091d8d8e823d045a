/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/ground.h"

#include "console.h"

#include <inttypes.h>
#include <stdlib.h>

struct gpume_ground {
    const char *path;
    struct gpume_source *source;
    struct gpume_source_info info;
    struct gpume_plane luma; /* of the frame read last, which nobody looks at */
    uint64_t next;           /* number of the frame to read */
};

enum gpume_exit gpume_ground_open(struct gpume_ground **result,
    const struct gpume_common_options *common, const struct gpume_source_choice *choice,
    const char *path, uint32_t *width, uint32_t *height)
{
    struct gpume_ground *ground = calloc(1, sizeof(*ground));
    if (!ground) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory", path);
    }
    *result = ground;
    ground->path = path;
    const struct gpume_params params = {0};
    struct gpume_source_options wanted = gpume_source_options_make(common, choice, &params);
    wanted.paths[0] = path;
    wanted.path_count = 1;
    wanted.colour = true;
    const int status = gpume_source_open_inputs(&ground->source, &wanted, &ground->info);
    if (status != GPUME_OK) {
        return gpume_source_exit(status);
    }
    if (ground->info.width < *width || ground->info.height < *height) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "--video %s: has pictures of %" PRIu32 "x%" PRIu32 " pixels, but the blocks cover "
            "%" PRIu32 "x%" PRIu32 "; give the video that both runs searched, with their --vf",
            path, ground->info.width, ground->info.height, *width, *height);
    }
    *width = ground->info.width;
    *height = ground->info.height;
    ground->luma = gpume_source_plane(&ground->info);
    return ground->luma.data ? GPUME_EXIT_DONE
                             : gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory", path);
}

enum gpume_exit gpume_ground_take(
    struct gpume_ground *ground, uint64_t frame, struct gpume_plane *rgb)
{
    int status = GPUME_OK;
    while (status == GPUME_OK && ground->next <= frame) {
        int64_t time_us;
        const struct gpume_plane *plane = ground->next == frame ? &ground->luma : NULL;
        status = gpume_source_read(ground->source, plane, &time_us);
        ground->next++;
    }
    if (status == GPUME_EOF) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: ends before frame %" PRIu64 ", which both runs have; give the video that they "
            "searched, with their --vf",
            ground->path, frame);
    }
    status = status ? status : gpume_source_take_colour(ground->source, frame, rgb);
    return status ? gpume_source_exit(status) : GPUME_EXIT_DONE;
}

void gpume_ground_close(struct gpume_ground **pointer)
{
    struct gpume_ground *ground = *pointer;
    if (ground) {
        gpume_source_close(&ground->source);
        free(ground->luma.data);
        free(ground);
        *pointer = NULL;
    }
}
