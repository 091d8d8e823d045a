/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/lists.h"

#include "base/status.h"
#include "files/inputs.h"
#include "files/path.h"

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/mem.h>

static const char protocol[] = "concatf:"; /* its lists have one name per line */

/* Adds a name from the list, which is relative to the list's folder. */
static int add_name(const char *list, const char *name)
{
    const size_t folder = name[0] == '/' || strstr(name, ":/") ? 0 : gpume_path_folder(list);
    char *path = gpume_path_join(list, folder, name);
    const int status = path ? gpume_inputs_add(path) : GPUME_NOMEM;
    free(path);
    return status;
}

/* plain: the line is a name; otherwise the name follows the word "file". */
static int add_line(const char *list, const char *line, bool plain)
{
    static const char blanks[] = " \n\t\r";
    const char *at = line + strspn(line, blanks);
    if (!plain) {
        if (strncmp(at, "file", 4) != 0 || !at[4] || !strchr(blanks, at[4])) {
            return GPUME_OK;
        }
        at += 4;
    }
    char *name = av_get_token(&at, plain ? "\r\n" : blanks);
    const int status = name ? add_name(plain ? "" : list, name) : GPUME_NOMEM;
    av_free(name);
    return status;
}

int gpume_lists_add(const char *name, const char *format)
{
    const bool plain = strncmp(name, protocol, sizeof protocol - 1) == 0;
    if (!plain && strcmp(format, "concat") != 0) {
        return GPUME_OK;
    }
    int status = GPUME_OK;
    const char *list = plain ? name + sizeof protocol - 1 : gpume_path_of_input(name);
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(list, "r");
    while (file && status == GPUME_OK && getline(&line, &room, file) >= 0) {
        status = add_line(list, line, plain);
    }
    free(line);
    if (file) {
        fclose(file);
    }
    return status;
}
