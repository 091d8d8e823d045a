/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/option_value.h"

/* Of gpume bench, gpume sort and gpume compare. */
static void store_command(
    struct gpume_options *options, enum gpume_option_id id, const union gpume_option_value *value)
{
    switch (id) {
    case GPUME_OPTION_SECONDS:
        options->seconds = value->real;
        break;
    case GPUME_OPTION_JSON:
        options->form = GPUME_FORM_JSON;
        break;
    case GPUME_OPTION_CSV:
        options->form = GPUME_FORM_CSV;
        break;
    case GPUME_OPTION_DESCENDING:
        options->descending = true;
        break;
    case GPUME_OPTION_BINARY:
        options->sort_binary = value->choice ? GPUME_SORT_I32 : GPUME_SORT_U32;
        break;
    case GPUME_OPTION_TIME:
        options->time = true;
        break;
    case GPUME_OPTION_MAP:
        options->map = value->text;
        break;
    case GPUME_OPTION_FROM:
        options->from = value->format;
        break;
    case GPUME_OPTION_BENCH_SORT:
        options->bench_sort = true;
        break;
    case GPUME_OPTION_BENCH_REDUCE:
        options->bench_reduce = true;
        break;
    default:
        break;
    }
}

static void store_output(
    struct gpume_options *options, enum gpume_option_id id, const union gpume_option_value *value)
{
    switch (id) {
    case GPUME_OPTION_OUTPUT:
        options->output = value->text;
        break;
    case GPUME_OPTION_VECTORS:
        options->vectors = value->text;
        break;
    case GPUME_OPTION_FORMAT:
        options->format = value->format;
        break;
    case GPUME_OPTION_PREDICTED:
        options->predicted = value->text;
        break;
    case GPUME_OPTION_RESIDUAL:
        options->residual = value->text;
        break;
    case GPUME_OPTION_RESIDUAL_MODE:
        options->residual_signed = value->choice == 1;
        break;
    case GPUME_OPTION_DIFFERENCE:
        options->difference = value->text;
        break;
    case GPUME_OPTION_REPORT:
        options->report = value->text;
        break;
    case GPUME_OPTION_REPORT_PICTURES:
        options->report_pictures = (uint32_t)value->number;
        break;
    case GPUME_OPTION_GAIN:
        options->gain = value->real;
        break;
    case GPUME_OPTION_GAMMA:
        options->gamma = value->real;
        break;
    case GPUME_OPTION_OVERLAY:
        options->overlay = value->text;
        break;
    case GPUME_OPTION_OVERLAY_STYLE:
        options->overlay_style = value->choice;
        break;
    case GPUME_OPTION_OVERLAY_KEY:
        options->overlay_key = value->choice;
        break;
    case GPUME_OPTION_SCALE:
        options->scale = (uint32_t)value->number;
        break;
    default:
        store_command(options, id, value);
        break;
    }
}

static void store_rest(
    struct gpume_options *options, enum gpume_option_id id, const union gpume_option_value *value)
{
    switch (id) {
    case GPUME_OPTION_START:
        options->start = value->number;
        break;
    case GPUME_OPTION_FRAMES:
        options->frames = value->number;
        break;
    case GPUME_OPTION_PREFILTER:
        options->prefilter = value->prefilter;
        break;
    case GPUME_OPTION_COMPAT:
        options->compat_ffmpeg = true;
        break;
    case GPUME_OPTION_VF:
        options->filter = value->text;
        break;
    case GPUME_OPTION_STREAM:
        options->stream = (int)value->number;
        break;
    case GPUME_OPTION_HWACCEL:
        options->hwaccel = value->text;
        break;
    case GPUME_OPTION_ALLOW_NETWORK:
        options->allow_network = true;
        break;
    case GPUME_OPTION_ALLOW_FILES:
        options->allow_files = true;
        break;
    case GPUME_OPTION_MAX_PIXELS:
        options->max_pixels = value->number;
        break;
    case GPUME_OPTION_TIMEOUT:
        options->timeout = value->real;
        break;
    case GPUME_OPTION_OVERWRITE:
        options->overwrite = true;
        break;
    case GPUME_OPTION_RESUME:
        options->resume = true;
        break;
    case GPUME_OPTION_QUIET:
        options->verbosity = -1;
        break;
    case GPUME_OPTION_VERBOSE:
        options->verbosity = 1;
        break;
    case GPUME_OPTION_PROGRESS:
        options->progress = GPUME_PROGRESS_ON;
        break;
    case GPUME_OPTION_NO_PROGRESS:
        options->progress = GPUME_PROGRESS_OFF;
        break;
    case GPUME_OPTION_COMPLETION:
        options->command = GPUME_COMMAND_COMPLETION;
        options->completion = value->choice;
        break;
    case GPUME_OPTION_HELP:
        options->command = GPUME_COMMAND_HELP;
        break;
    case GPUME_OPTION_VERSION:
        options->command = GPUME_COMMAND_VERSION;
        break;
    default:
        store_output(options, id, value);
        break;
    }
}

/* The library's parameters here, the program's own above. */
void gpume_option_store(
    struct gpume_options *options, enum gpume_option_id id, const union gpume_option_value *value)
{
    struct gpume_params *params = &options->params;
    switch (id) {
    case GPUME_OPTION_BLOCK:
        params->block = (uint32_t)value->number;
        options->has_block = true;
        break;
    case GPUME_OPTION_WINDOW:
        params->window_x = value->pair[0];
        params->window_y = value->pair[1];
        break;
    case GPUME_OPTION_EDGE:
        params->edge = value->choice ? GPUME_EDGE_INSIDE : GPUME_EDGE_EXTEND;
        break;
    case GPUME_OPTION_METRIC:
        params->metric = GPUME_METRIC_SAD;
        break;
    case GPUME_OPTION_REF_DISTANCE:
        params->ref_distance = (uint32_t)value->number;
        break;
    case GPUME_OPTION_DIRECTION:
        params->direction = (enum gpume_direction)value->choice;
        break;
    case GPUME_OPTION_SIZE:
        params->width = value->pair[0];
        params->height = value->pair[1];
        break;
    case GPUME_OPTION_BITS:
        params->bits = (uint32_t)value->number;
        break;
    case GPUME_OPTION_BACKEND:
        params->backend = (enum gpume_backend)value->choice;
        break;
    case GPUME_OPTION_DEVICE:
        params->device = value->text;
        break;
    case GPUME_OPTION_THREADS:
        params->threads = (uint32_t)value->number;
        break;
    case GPUME_OPTION_SEARCH:
        params->search = value->text;
        break;
    case GPUME_OPTION_NO_ELIMINATION:
        params->no_elimination = true;
        break;
    case GPUME_OPTION_CHECK:
        params->check = true;
        break;
    case GPUME_OPTION_VALIDATE:
        params->validate = true;
        break;
    case GPUME_OPTION_MAX_MEMORY:
        params->memory_max = value->number;
        break;
    default:
        store_rest(options, id, value);
    }
}
