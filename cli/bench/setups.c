/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/setups.h"

#include "base/status.h"
#include "bench/ceiling.h"
#include "bench/ffmpeg.h"
#include "console.h"
#include "options/checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEVICES_MAX 16u
#define SEARCHES_MAX 32u
#define LIST_BYTES 4096u

struct finder {
    struct gpume_bench_setups *setups;
    const struct gpume_bench_options *options;
    const struct gpume_params *work;
    struct gpume_bench *bench;
    struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t search_count;
};

/* Adds a note to be printed above the table; drops it if there are too many. */
__attribute__((format(printf, 2, 3))) static void add_note(
    struct gpume_bench *bench, const char *format, ...)
{
    if (bench->note_count < GPUME_BENCH_NOTES_MAX) {
        char *note = bench->notes[bench->note_count++];
        va_list args;
        va_start(args, format);
        vsnprintf(note, sizeof(bench->notes[0]), format, args);
        va_end(args);
    }
}

static int list_searches(struct finder *finder, const char *device)
{
    const int status =
        gpume_list_searches(device, finder->searches, SEARCHES_MAX, &finder->search_count);
    if (finder->search_count > SEARCHES_MAX) {
        finder->search_count = SEARCHES_MAX;
    }
    return status;
}

/* Do --backend and --search select it? */
static bool wanted(const struct finder *finder, const struct gpume_search_info *search)
{
    const struct gpume_params *asked = &finder->options->params;
    return (asked->backend == GPUME_BACKEND_AUTO || asked->backend == search->backend) &&
           (!asked->search || strcmp(asked->search, search->name) == 0);
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Is the same search measured under another name? */
static bool has(const struct gpume_bench_setups *setups, const struct gpume_params *params,
    const struct gpume_bench_setup *setup)
{
    for (uint32_t i = 0; i < setups->count; i++) {
        const struct gpume_bench_one *one = &setups->ones[i];
        if (strcmp(one->setup.search, setup->search) == 0 &&
            is_same_text(one->params.device, params->device) &&
            one->params.backend == params->backend && one->params.threads == params->threads &&
            one->params.no_elimination == params->no_elimination) {
            return true;
        }
    }
    return false;
}

/* Skips elimination where the engine does not use it, and a search that does not support these
 * blocks, window or bits unless --search names it. */
static int add(struct finder *finder, const struct gpume_params *params, double ceiling)
{
    struct gpume_bench_setups *setups = finder->setups;
    struct gpume_bench_setup setup = {0};
    struct gpume_params quiet = *params;
    quiet.log = NULL;
    int status = gpume_bench_look(&quiet, &setup);
    if (status == GPUME_UNSUPPORTED && params->search && !finder->options->params.search) {
        if (params->no_elimination) { /* note it once */
            add_note(finder->bench,
                "%s is not measured: it does not support %u bits with block %u and window %ux%u",
                params->search, (unsigned)params->bits, (unsigned)params->block,
                (unsigned)params->window_x, (unsigned)params->window_y);
        }
        return GPUME_OK;
    }
    if (status != GPUME_OK) {
        status = gpume_bench_look(params, &setup); /* again, to log the reason */
    }
    if (status != GPUME_OK || (!params->no_elimination && !setup.eliminates) ||
        has(setups, params, &setup)) {
        return status;
    }
    if (setups->count == GPUME_BENCH_SETUPS_MAX) {
        add_note(finder->bench, "only the first %u setups are measured",
            (unsigned)GPUME_BENCH_SETUPS_MAX);
        return GPUME_OK;
    }
    setups->ones[setups->count++] = (struct gpume_bench_one){
        .engine = params->devices                        ? "several"
                  : params->backend == GPUME_BACKEND_CPU ? "cpu"
                                                         : "vulkan",
        .params = *params,
        .once = gpume_bench_once,
        .measure = gpume_bench_measure,
        .setup = setup,
        .ceiling = ceiling,
    };
    return GPUME_OK;
}

static void add_ffmpeg(struct finder *finder)
{
    struct gpume_params params = finder->setups->reference;
    const char *obstacle = gpume_bench_ffmpeg_params(&params);
    params.search = "mestimate";
    if (obstacle) {
        add_note(finder->bench, "FFmpeg's mestimate is not measured: %s", obstacle);
        return;
    }
    finder->setups->ones[finder->setups->count++] = (struct gpume_bench_one){
        .engine = "ffmpeg",
        .params = params,
        .once = gpume_bench_ffmpeg_once,
        .measure = gpume_bench_ffmpeg_measure,
        .setup = {.device = "FFmpeg"},
    };
}

/* The highest ceiling of the searches that run on a device. */
static double find_ceiling(const struct finder *finder, const struct gpume_params *on)
{
    double best = 0;
    for (uint32_t i = 0; i < finder->search_count && on->bits == 8; i++) {
        if (finder->searches[i].backend == on->backend) {
            const double value = gpume_bench_ceiling(&finder->searches[i], on->device, on->threads);
            best = value > best ? value : best;
        }
    }
    return best;
}

/* Adds the searches that run on a device or a number of threads, without elimination first. */
static int add_searches(struct finder *finder, const struct gpume_params *on, double ceiling)
{
    const bool core = on->backend == GPUME_BACKEND_CPU && on->threads == 1;
    for (uint32_t i = 0; i < finder->search_count; i++) {
        const struct gpume_search_info *search = &finder->searches[i];
        for (int full = 1; full >= 0; full--) {
            /* The fastest search on one core is the base of all comparisons. */
            const bool base = core && search->automatic && full;
            if (search->backend != on->backend || !search->available ||
                !(base || wanted(finder, search))) {
                continue;
            }
            struct gpume_params params = *on;
            params.search = search->name;
            params.no_elimination = full;
            GPUME_CHECK(add(finder, &params, ceiling));
        }
    }
    return GPUME_OK;
}

static int add_cpu(struct finder *finder, uint32_t threads)
{
    struct gpume_params on = *finder->work;
    on.backend = GPUME_BACKEND_CPU;
    on.threads = 1;
    /* On a busy machine several threads may be slower than one on a free core. */
    const double one = find_ceiling(finder, &on);
    on.threads = threads;
    const double all = threads > 1 ? find_ceiling(finder, &on) : 0;
    return add_searches(finder, &on, all > one ? all : one);
}

static int add_device(struct finder *finder, const char *device)
{
    struct gpume_params on = *finder->work;
    on.backend = GPUME_BACKEND_VULKAN;
    on.device = device;
    const int status = list_searches(finder, device);
    return status ? status : add_searches(finder, &on, find_ceiling(finder, &on));
}

static int add_devices(struct finder *finder)
{
    static struct gpume_device devices[DEVICES_MAX];
    static char indexes[DEVICES_MAX][16]; /* live as long as the setups, which point to them */
    uint32_t count = 0;
    int status = gpume_list_devices(devices, DEVICES_MAX, &count);
    for (uint32_t i = 0; status == GPUME_OK && i < count && i < DEVICES_MAX; i++) {
        const bool hardware = devices[i].type != GPUME_DEVICE_SOFTWARE;
        if (devices[i].unusable[0]) {
            add_note(finder->bench, "%.100s is not measured: it %s", devices[i].name,
                devices[i].unusable);
        } else if (hardware || finder->options->params.backend == GPUME_BACKEND_VULKAN) {
            snprintf(indexes[i], sizeof(indexes[i]), "%u", (unsigned)devices[i].index);
            status = add_device(finder, indexes[i]);
        } else {
            add_note(finder->bench,
                "%.100s is a software driver and not measured; use --backend vulkan",
                devices[i].name);
        }
    }
    return status;
}

static struct gpume_params all_of(const struct finder *finder, const char *list)
{
    struct gpume_params together = *finder->work;
    together.backend = finder->options->params.backend;
    together.search = finder->options->params.search;
    together.devices = list;
    return together;
}

/* Refuses a device that this machine does not have, and what is no list of devices. */
static int check_devices(struct finder *finder)
{
    const struct gpume_params *asked = &finder->options->params;
    if (asked->devices) {
        struct gpume_bench_setup setup = {0};
        const struct gpume_params together = all_of(finder, asked->devices);
        return gpume_bench_look(&together, &setup);
    }
    return asked->device ? list_searches(finder, asked->device) : GPUME_OK;
}

/* Each device of the list alone, then all of them together, as in a run: it chooses the searches.
 */
static int add_list(struct finder *finder, const char *list)
{
    static char names[LIST_BYTES]; /* live as long as the setups, which point to them */
    char *rest = names;
    int status;
    struct gpume_bench_setup setup = {0};
    struct gpume_params together = all_of(finder, list);
    GPUME_TRY(gpume_bench_look(&together, &setup));
    snprintf(names, sizeof(names), "%s", list);
    for (char *name = gpume_next_device(&rest); name; name = gpume_next_device(&rest)) {
        const bool is_cpu = strcmp(name, "cpu") == 0; /* which is measured in any case */
        GPUME_TRY(strcmp(name, "all") == 0 ? add_devices(finder)
                  : is_cpu                 ? GPUME_OK
                                           : add_device(finder, name));
    }
    for (int full = 1; full >= 0 && setup.engines > 1; full--) {
        together.no_elimination = full;
        GPUME_TRY(add(finder, &together, 0));
    }
    if (setup.engines < 2) {
        add_note(finder->bench, "--device %.60s: is only one engine on this machine: %.100s", list,
            setup.device);
    }
fail:
    return status;
}

enum gpume_exit gpume_bench_setups_find(struct gpume_bench_setups *setups,
    const struct gpume_bench_options *options, const struct gpume_params *work,
    struct gpume_bench *bench)
{
    static struct finder finder; /* static: the setups point to its names */
    finder = (struct finder){.setups = setups, .options = options, .work = work, .bench = bench};
    const struct gpume_params *asked = &options->params;
    const uint32_t threads = asked->threads ? asked->threads : bench->processors;
    setups->reference = *work;
    setups->reference.backend = GPUME_BACKEND_CPU;
    setups->reference.threads = threads;
    setups->reference.no_elimination = true;
    add_ffmpeg(&finder);
    int status = check_devices(&finder); /* before anything is measured */
    status = status ? status : list_searches(&finder, NULL);
    status = status ? status : add_cpu(&finder, 1);
    if (status == GPUME_OK && threads > 1) {
        status = add_cpu(&finder, threads);
    }
    if (status == GPUME_OK && asked->backend != GPUME_BACKEND_CPU) {
        status = asked->devices  ? add_list(&finder, asked->devices)
                 : asked->device ? add_device(&finder, asked->device)
                                 : add_devices(&finder);
    }
    if (asked->device && status == GPUME_DEVICE) {
        gpume_console_error(
            "--device %s: no such device; 'gpume devices' lists them", asked->device);
    }
    if (status != GPUME_OK) {
        return gpume_exit_of_engine(status);
    }
    const struct gpume_bench_one *last =
        &setups->ones[setups->count - 1]; /* one CPU core is always measured */
    if (asked->backend == GPUME_BACKEND_VULKAN && last->params.backend != GPUME_BACKEND_VULKAN) {
        return gpume_refuse(GPUME_EXIT_DEVICE,
            "--backend vulkan: no device supports this search; 'gpume devices' lists the devices");
    }
    return GPUME_EXIT_DONE;
}
