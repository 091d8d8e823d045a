/* SPDX-License-Identifier: BSD-2-Clause */
/* cli/run_window: which frames a resumed run reads. */
#include "estimate/run_window.h"
#include "harness.h"

static struct gpume_estimate_options options;
static struct gpume_summary done;

static struct gpume_run_window make(
    enum gpume_direction direction, uint32_t distance, uint64_t first, uint64_t last)
{
    options.params.direction = direction;
    options.params.ref_distance = distance;
    done.first_field = first;
    done.last_field = last;
    done.targets = last - first + 1;
    return gpume_run_window_make(&options, &done);
}

static void test_known(void)
{
    const struct gpume_summary nothing = {0};
    options.params.ref_distance = 3;
    REQUIRE_EQUAL(gpume_run_window_make(&options, &nothing).known, 0);
    REQUIRE_EQUAL(make(GPUME_DIRECTION_PAST, 3, 3, 10).known, 11);
    done.directions[1].fields = 11;
    REQUIRE_EQUAL(make(GPUME_DIRECTION_FUTURE, 3, 0, 10).known, 14);
    REQUIRE_EQUAL(make(GPUME_DIRECTION_BOTH, 3, 0, 10).known, 14);
    done.directions[1].fields = 10; /* the last one had none ahead: there was the input's end */
    REQUIRE_EQUAL(make(GPUME_DIRECTION_BOTH, 3, 0, 10).known, 11);
    done.directions[1].fields = 0;
}

/* All fields are complete: the same frames are read again, to check that they still exist. */
static void test_nothing_left(void)
{
    options.frames = 8;
    struct gpume_run_window window = make(GPUME_DIRECTION_PAST, 3, 3, 10);
    REQUIRE_EQUAL(window.first_frame + window.send, 11);
    REQUIRE(window.send > 0 && window.first_target == UINT64_MAX);
    done.directions[1].fields = 8;
    window = make(GPUME_DIRECTION_FUTURE, 3, 0, 7);
    REQUIRE_EQUAL(window.first_frame + window.send, 11);
    done.directions[1].fields = 0;
    options.frames = 9; /* one is */
    window = make(GPUME_DIRECTION_PAST, 3, 3, 10);
    REQUIRE_EQUAL(window.first_frame + window.send, 12);
    REQUIRE_EQUAL(window.first_target, 11);
    options.frames = 0;
}

int main(void)
{
    test_known();
    test_nothing_left();
    return harness_verdict();
}
