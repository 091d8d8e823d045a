/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that say how overlays look, for the commands that draw them. */
#ifndef GPUME_CLI_OPTIONS_LOOK_H
#define GPUME_CLI_OPTIONS_LOOK_H

#include "options/common.h"
#include "sinks/sink.h"

extern const struct gpume_option_type gpume_type_flow_max; /* a double: a number, or auto */

extern const char *const gpume_look_keys[];
extern const char *const gpume_look_lengths[];

/* Rows, all but --overlay-style, whose names differ; m: a struct gpume_overlay_look. */
#define GPUME_OPTIONS_LOOK(s, m)                                                                   \
    {GPUME_ROW_CHOICE("overlay-key", "auto|on|off", s, m.key, gpume_look_keys),                    \
        .help = "draw a colour key in a corner; auto: only if it covers little of the picture "    \
                "(default auto)",                                                                  \
        .needs = "overlay"},                                                                       \
        {GPUME_ROW_CHOICE("arrow-length", "true|fit", s, m.arrow_length, gpume_look_lengths),      \
            .help = "true: arrows as long as the motion, from where the content was to where it "  \
                    "is; fit: arrows that stay inside their blocks (default fit)",                 \
            .needs = "overlay"},                                                                   \
        {GPUME_ROW_NUMBER("arrow-spacing", s, m.arrow_spacing, 1, 1024),                           \
            .help =                                                                                \
                "pixels of the overlay between arrows, at least, 1 to 1024; of smaller blocks "    \
                "several share their mean (default: 1/27 of the shorter side, 20 or more)",        \
            .needs = "overlay"},                                                                   \
        {GPUME_ROW_REAL("arrow-width", "N", s, m.arrow_width, 0.5, 64),                            \
            .help = "width of arrows in pixels of the overlay, 0.5 to 64 (default: by their "      \
                    "spacing)",                                                                    \
            .needs = "overlay"},                                                                   \
        {GPUME_ROW_REAL("min-length", "N", s, m.min_length, 0, 1024),                              \
            .help = "draw no vectors shorter than N pixels, 0 to 1024 (default 0)",                \
            .needs = "overlay"},                                                                   \
        {GPUME_ROW("flow-max", "N|auto", flow_max, s, m.flow_max), .min = 0.25, .max = 1024,       \
            .help = "motion in pixels that flow shows in full colour, 0.25 to 1024; auto: by the " \
                    "frame (default: the longest vector in the window)",                           \
            .needs = "overlay", .words = "auto"},                                                  \
        {GPUME_ROW_NUMBER("dim", s, m.dim, 0, 100),                                                \
            .help = "darken the frame below the drawing by N percent, 0 to 100 (default 0)",       \
            .needs = "overlay"},                                                                   \
    {                                                                                              \
        GPUME_ROW_NUMBER("scale", s, m.scale, 1, GPUME_OVERLAY_SCALE_MAX),                         \
            .help = "enlarge overlays, 1 to 16 times (default 1)", .needs = "overlay"              \
    }

/* Refuses what changes nothing in this style; GPUME_INVALID after one line. */
int gpume_check_look(const struct gpume_overlay_look *look, const struct gpume_line *line);

#endif
