/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processors that the process was started with (taskset's, a container's), in an order in which
 * each is of another physical core as long as there is one: siblings of a core taken come last. A
 * virtual machine may show its host's siblings as cores; that is not seen from inside.
 */
#ifndef GPUME_TESTS_PROCESSORS_H
#define GPUME_TESTS_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

#define PROCESSORS_MAX 1024u /* of cpu_set_t */

struct processors {
    uint32_t count;
    uint32_t cores; /* physical ones that they are of; 0 where the system does not say */
    uint32_t order[PROCESSORS_MAX];
};

/* False, with errno, where the system has more than PROCESSORS_MAX. */
bool processors_find(struct processors *processors);

/*
 * The calling thread, and the threads that it starts from now on, run on the first `count` of them:
 * on all again with processors->count. False, with errno, where they were taken away meanwhile.
 */
bool processors_confine(const struct processors *processors, uint32_t count);

#endif
