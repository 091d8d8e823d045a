/* SPDX-License-Identifier: BSD-2-Clause */
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int fail(const struct output *output, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", output->program, what, why);
    return -1;
}

static char *with_ending(const char *name, const char *ending)
{
    const size_t bytes = strlen(name) + strlen(ending) + 1;
    char *made = malloc(bytes);
    if (made) {
        snprintf(made, bytes, "%s%s", name, ending);
    }
    return made;
}

int output_choose(struct output *output, const char *input, const char *path)
{
    struct stat in, out;
    const bool exists = stat(path, &out) == 0;
    output->name = path;
    if (exists && !S_ISREG(out.st_mode)) {
        return 0;
    }
    if (exists && input && strcmp(input, "-") != 0 && stat(input, &in) == 0 &&
        in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
        return fail(output, path, "is the input; give the output another name");
    }
    if (exists && !output->overwrite) {
        return fail(output, path, "exists already; replace it with -y or choose another name");
    }
    output->final = with_ending(path, "");
    output->partial = with_ending(path, ".partial");
    output->name = output->partial;
    return output->final && output->partial ? 0 : fail(output, path, "out of memory for its name");
}

int output_finish(struct output *output, int status)
{
    if (output->partial && status != 0) {
        remove(output->partial);
    } else if (output->partial && rename(output->partial, output->final) != 0) {
        status = fail(output, output->final, "cannot be named");
    }
    free(output->partial);
    free(output->final);
    output->partial = output->final = NULL;
    return status;
}
