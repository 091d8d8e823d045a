/* SPDX-License-Identifier: BSD-2-Clause */
#include "library_log.h"

#include "console.h"

#include <stdio.h>
#include <string.h>

#define LINE_BYTES 2048

static void append(char *line, const char *before, const char *text)
{
    const size_t used = strlen(line);
    if (text) {
        snprintf(line + used, LINE_BYTES - used, "%s%s", before, text);
    }
}

/* "--window 600"; "bits 16" where no option sets the parameter. */
static void append_option(
    char *line, const char *before, const struct gpume_param *param, const char *value)
{
    append(line, before, param->option ? "--" : "");
    append(line, "", param->option ? param->option : param->name);
    append(line, " ", value);
}

void gpume_library_log(void *opaque, enum gpume_log_level level, const char *line)
{
    const struct gpume_message *message = gpume_log_message();
    char text[LINE_BYTES] = "";
    (void)opaque;
    if (!message) {
        gpume_console_log(text, level, line);
        return;
    }
    if (message->param) {
        append_option(text, "", message->param, message->value);
        append(text, "", ": ");
    }
    append(text, "", message->text);
    if (message->other) {
        append_option(text, " ", message->other, message->other_value);
    }
    append(text, "", message->rest);
    const char *option = message->param ? message->param->option : NULL;
    if (option && message->value && strcmp(option, "device") == 0) {
        append(text, "; ", "'gpume devices' lists them");
    }
    gpume_console_log(text, level, text);
}

int gpume_library_check(const struct gpume_params *params)
{
    struct gpume_params checked = *params;
    checked.log = gpume_library_log;
    return gpume_params_check(&checked);
}
