/* SPDX-License-Identifier: BSD-2-Clause */
/* --surface X,Y: every candidate of the block that holds pixel (X,Y), by the metric of results and
 * without rate; displacements that are no candidates have no cost. */
#include "oracle.h"

void print_surface_header(void)
{
    printf("frame,ref,x,y,w,h,dx,dy,cost\n");
}

void print_surface(const struct run *run, int target, int ref)
{
    const struct options *options = run->options;
    const struct shape shape = options->shapes[0];
    const int x = options->surface_x / shape.width * shape.width;
    const int y = options->surface_y / shape.height * shape.height;
    const int width = run->clip->width - x, height = run->clip->height - y;
    const struct search search = {.options = options,
        .target = &run->clip->pictures[target],
        .reference = &run->clip->pictures[ref],
        .place = {x, y, width < shape.width ? width : shape.width,
            height < shape.height ? height : shape.height, 0}};
    const struct place *place = &search.place;
    for (int dy = -options->window_y * options->subpel; dy <= options->window_y * options->subpel;
         dy++) {
        for (int dx = -options->window_x * options->subpel;
             dx <= options->window_x * options->subpel; dx++) {
            const struct vector vector = {dx, dy};
            printf("%d,%d,%d,%d,%d,%d,", target, ref, x, y, place->w, place->h);
            print_pixels(stdout, dx, options->subpel);
            printf(",");
            print_pixels(stdout, dy, options->subpel);
            printf(",");
            if (is_candidate(&search, vector)) {
                printf("%llu", (unsigned long long)evaluate(&search, options->refine_metric, vector)
                                   .distortion);
            }
            printf("\n");
        }
    }
}
