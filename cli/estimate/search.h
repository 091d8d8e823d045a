/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of the search that become parameters together. */
#ifndef GPUME_CLI_ESTIMATE_SEARCH_H
#define GPUME_CLI_ESTIMATE_SEARCH_H

#include "options/types.h"

/* The value of --predictor. file points into argv; NULL: not a file. */
struct gpume_predictor_option {
    enum gpume_predictor kind;
    const char *file;
};

struct gpume_search_choice {
    struct gpume_shape_list shapes;
    struct gpume_distance_list distances;
    double lambda, qp; /* negative: not given */
    struct gpume_predictor_option predictor;
};

extern const struct gpume_option_type gpume_type_predictor; /* a struct gpume_predictor_option */

/* Sets the parameters that the choice describes and checks all of those that describe the search.
 * GPUME_OK, or GPUME_INVALID after one line through gpume_console_error. */
int gpume_search_choice_apply(const struct gpume_search_choice *choice,
    const struct gpume_line *line, struct gpume_params *params);

/* Refuses options that change nothing, such as --passes without --predictor median. Returns as
 * apply does. */
int gpume_search_choice_check_used(
    const struct gpume_line *line, const struct gpume_params *params);

#endif
