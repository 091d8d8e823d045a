/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/checks.h"

#include "base/base.h"
#include "console.h"
#include "host.h"
#include "options/look.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEARCHES_MAX 32u /* more than any build has */

/* Refuses options that concern GPUs if `option` with `value` selects the CPU engine. */
static int refuse_gpu(const struct gpume_params *params, const char *option, const char *value)
{
    const bool named = params->device || params->devices;
    if (!named && !params->validate) {
        return GPUME_OK;
    }
    return gpume_refuse(GPUME_INVALID, "--%s: has no effect with --%s %s; leave one of them out",
        named ? "device" : "validate", option, value);
}

/* The first comma between two names, which may contain one before a space. */
static size_t comma_in(const char *text)
{
    size_t at = strcspn(text, ",");
    while (text[at] && text[at + 1] == ' ') {
        at += 1 + strcspn(text + at + 1, ",");
    }
    return at;
}

char *gpume_next_device(char **list)
{
    char *name = *list;
    if (name) {
        char *comma = name + comma_in(name);
        *list = *comma ? comma + 1 : NULL;
        *comma = '\0';
    }
    return name;
}

void gpume_take_device_list(struct gpume_params *params)
{
    const char *text = params->device;
    if (text && (strcmp(text, "all") == 0 || strcmp(text, "cpu") == 0 || text[comma_in(text)])) {
        params->devices = text;
        params->device = NULL;
    }
}

static int check_search(const struct gpume_params *params)
{
    static struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t count = 0;
    char names[256] = "";
    if (gpume_list_searches(NULL, searches, SEARCHES_MAX, &count) != GPUME_OK) {
        return GPUME_OK;
    }
    for (uint32_t i = 0; i < count && i < SEARCHES_MAX; i++) {
        const enum gpume_backend backend = searches[i].backend;
        if (params->backend != GPUME_BACKEND_AUTO && params->backend != backend) {
            continue;
        }
        if (strcmp(params->search, searches[i].name) == 0) {
            return backend == GPUME_BACKEND_CPU ? refuse_gpu(params, "search", params->search)
                                                : GPUME_OK;
        }
        const size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", used ? " or " : "", searches[i].name);
    }
    return gpume_refuse(GPUME_INVALID, "--search %s: must be %s; 'gpume devices' lists them",
        params->search, names);
}

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

int gpume_check_mode(const struct gpume_line *line, const struct gpume_mode *mode)
{
    static const char *const always[] = {
        "timeout", "quiet", "verbose", "progress", "no-progress", NULL};
    for (size_t i = 0; i < line->command->option_count; i++) {
        const char *name = line->command->options[i].name;
        if (line->given[i] && strcmp(name, mode->option) != 0 && !is_among(mode->takes, name) &&
            !is_among(always, name)) {
            return gpume_refuse(GPUME_INVALID,
                "--%s: cannot be combined with --%s, which %s; leave one of them out", name,
                mode->option, mode->does);
        }
    }
    return GPUME_OK;
}

int gpume_settle_engine(struct gpume_params *params)
{
    GPUME_CHECK(gpume_check_engine(params));
    const bool asks = params->device || params->devices || params->search || params->validate;
    if (params->backend == GPUME_BACKEND_AUTO && !asks && !gpume_host_may_have_gpu()) {
        params->backend = GPUME_BACKEND_CPU;
    }
    return GPUME_OK;
}

int gpume_check_engine(const struct gpume_params *params)
{
    if (params->search) {
        GPUME_CHECK(check_search(params));
    }
    return params->backend == GPUME_BACKEND_CPU ? refuse_gpu(params, "backend", "cpu") : GPUME_OK;
}

static bool is_stream(const char *name, struct stat *info)
{
    const int failed = strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, info) : stat(name, info);
    return failed == 0 && (S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode));
}

int gpume_check_streams(const struct gpume_common_options *common, const char *what)
{
    struct stat a, b;
    const char *const *names = common->inputs;
    if (common->input_count < 2) {
        return GPUME_OK;
    }
    if (strcmp(names[0], "-") == 0 && strcmp(names[1], "-") == 0) {
        return gpume_refuse(
            GPUME_INVALID, "-: standard input can be one of the two %s, not both", what);
    }
    if (is_stream(names[0], &a) && is_stream(names[1], &b) && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino) {
        return gpume_refuse(
            GPUME_INVALID, "%s: a pipe can be one of the two %s, not both", names[1], what);
    }
    return GPUME_OK;
}

const char *const gpume_look_keys[] = {"auto", "on", "off", NULL};
const char *const gpume_look_lengths[] = {"fit", "true", NULL};

int gpume_check_look(const struct gpume_overlay_look *look, const struct gpume_line *line)
{
    static const struct {
        const char *option, *styles;
        bool of_use[GPUME_OVERLAY_RETURN + 1];
    } rows[] = {
        {"arrow-length", "arrows", {[GPUME_OVERLAY_ARROWS] = true}},
        {"arrow-spacing", "arrows", {[GPUME_OVERLAY_ARROWS] = true}},
        {"arrow-width", "arrows", {[GPUME_OVERLAY_ARROWS] = true}},
        {"flow-max", "flow", {[GPUME_OVERLAY_FLOW] = true}},
        {"min-length", "arrows or flow",
            {[GPUME_OVERLAY_ARROWS] = true, [GPUME_OVERLAY_FLOW] = true}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (gpume_line_has(line, rows[i].option) && !rows[i].of_use[look->style]) {
            return gpume_refuse(GPUME_INVALID, "--%s: changes nothing without --overlay-style %s",
                rows[i].option, rows[i].styles);
        }
    }
    return GPUME_OK;
}

const char *const gpume_choices_shell[] = {"bash", "zsh", "fish", NULL};
