/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processors that the process was started with (taskset's, a container's), ordered so that the
 * first ones belong to different physical cores; further siblings of a core come last. A virtual
 * machine may present its host's siblings as cores, which cannot be detected from inside.
 */
#ifndef GPUME_TESTS_PROCESSORS_H
#define GPUME_TESTS_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

#define PROCESSORS_MAX 1024u /* of cpu_set_t */

struct processors {
    uint32_t count;
    uint32_t cores; /* physical cores to which they belong; 0: not reported by the system */
    uint32_t order[PROCESSORS_MAX];
};

/* False, with errno, if the system has more than PROCESSORS_MAX. */
bool processors_find(struct processors *processors);

/*
 * Confines the calling thread, and threads that it starts from now on, to the first `count` of
 * them; processors->count lifts the limit. False, with errno, if they are no longer available.
 */
bool processors_confine(const struct processors *processors, uint32_t count);

#endif
