/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * summary.json. A small writer keeps commas and indentation right; its text goes straight into the
 * output, whose failure is sticky, so that only the end asks for it. Counts are exact integers;
 * a figure that JSON cannot hold (infinity) is null.
 */
#include "report/summary.h"

#include "base/out.h"
#include "base/status.h"
#include "report/summary_figures.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct json {
    struct gpume_out *out;
    unsigned depth;
    bool filled; /* the innermost object has a member */
};

static void put(struct json *json, const char *text)
{
    (void)gpume_out_write(json->out, text, strlen(text));
}

/* Length of the UTF-8 sequence at text, 0 if it is none. */
static size_t utf8_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    if (text[0] < 0x80) {
        return 1;
    }
    for (size_t form = 0; form < 3; form++) {
        if ((text[0] & forms[form].mask) != forms[form].lead) {
            continue;
        }
        uint32_t code = text[0] & (unsigned char)~forms[form].mask;
        for (size_t i = 1; i <= form + 1; i++) {
            if ((text[i] & 0xc0) != 0x80) {
                return 0;
            }
            code = code << 6 | (text[i] & 0x3f);
        }
        const bool surrogate = code >= 0xd800 && code <= 0xdfff;
        return code >= forms[form].least && code <= 0x10ffff && !surrogate ? form + 2 : 0;
    }
    return 0;
}

/* Names of files are bytes: what is no UTF-8 becomes the replacement character. */
static void put_string(struct json *json, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    put(json, "\"");
    while (*at) {
        char text[8] = {0};
        const size_t length = utf8_length(at);
        if (length == 0) {
            snprintf(text, sizeof(text), "\\ufffd");
        } else if (*at == '"' || *at == '\\') {
            snprintf(text, sizeof(text), "\\%c", *at);
        } else if (*at < 0x20 || *at == 0x7f) {
            snprintf(text, sizeof(text), "\\u%04x", *at);
        } else {
            memcpy(text, at, length);
        }
        put(json, text);
        at += length ? length : 1;
    }
    put(json, "\"");
}

static void put_line_start(struct json *json)
{
    put(json, "\n");
    for (unsigned i = 0; i < json->depth; i++) {
        put(json, "  ");
    }
}

static void put_key(struct json *json, const char *key)
{
    if (json->filled) {
        put(json, ",");
    }
    put_line_start(json);
    put_string(json, key);
    put(json, ": ");
    json->filled = true;
}

static void begin(struct json *json, const char *key)
{
    if (key) {
        put_key(json, key);
    }
    put(json, "{");
    json->depth++;
    json->filled = false;
}

static void end(struct json *json)
{
    json->depth--;
    put_line_start(json);
    put(json, "}");
    json->filled = true;
}

static void text(struct json *json, const char *key, const char *value)
{
    put_key(json, key);
    if (value) {
        put_string(json, value);
    } else {
        put(json, "null");
    }
}

static void count(struct json *json, const char *key, uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    put_key(json, key);
    put(json, digits);
}

static void real(struct json *json, const char *key, double value, int decimals)
{
    char digits[64] = "null";
    if (isfinite(value)) {
        snprintf(digits, sizeof(digits), "%.*f", decimals, value);
    }
    put_key(json, key);
    put(json, digits);
}

static void truth(struct json *json, const char *key, bool value)
{
    put_key(json, key);
    put(json, value ? "true" : "false");
}

/* 128 bits in decimal: long division by 10 of four 32-bit limbs. */
static void total(struct json *json, const char *key, const struct gpume_total *value)
{
    uint32_t limbs[4] = {(uint32_t)(value->high >> 32), (uint32_t)value->high,
        (uint32_t)(value->low >> 32), (uint32_t)value->low};
    char digits[48];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do {
        uint64_t rest = 0;
        for (size_t i = 0; i < 4; i++) {
            rest = rest << 32 | limbs[i];
            limbs[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digits[--at] = (char)('0' + rest);
    } while (limbs[0] | limbs[1] | limbs[2] | limbs[3]);
    put_key(json, key);
    put(json, digits + at);
}

static void put_input(struct json *json, const struct gpume_summary *summary)
{
    const struct gpume_run *run = summary->run;
    char rate[32];
    const bool known = run->rate_num > 0 && run->rate_den > 0;
    snprintf(rate, sizeof(rate), "%" PRIu32 "/%" PRIu32, run->rate_num, run->rate_den);
    begin(json, "input");
    text(json, "name", run->input);
    if (run->reference) {
        text(json, "reference", run->reference);
    }
    text(json, "codec", summary->codec);
    text(json, "decoder", summary->decoder);
    text(json, "pixel_format", summary->pixel_format);
    count(json, "width", run->params.width);
    count(json, "height", run->params.height);
    count(json, "bits", run->params.bits);
    truth(json, "full_range", run->full_range);
    text(json, "frame_rate", known ? rate : NULL);
    real(json, "frames_per_second",
        known ? (double)run->rate_num / (double)run->rate_den : (double)INFINITY, 6);
    count(json, "frames", summary->delivered);
    count(json, "refused", summary->refused);
    count(json, "scaled", summary->scaled);
    end(json);
}

static void put_parameters(struct json *json, const struct gpume_run *run)
{
    static const char *const backends[] = {"auto", "vulkan", "cpu"};
    const struct gpume_params *params = &run->params;
    char window[32];
    snprintf(window, sizeof(window), "%" PRIu32 "x%" PRIu32, params->window_x, params->window_y);
    begin(json, "parameters");
    count(json, "block", params->block);
    text(json, "window", window);
    text(json, "edge", params->edge == GPUME_EDGE_INSIDE ? "inside" : "extend");
    text(json, "metric", "sad");
    count(json, "ref-distance", params->ref_distance);
    count(json, "start", run->start);
    if (run->frames > 0) {
        count(json, "frames", run->frames);
    } else {
        text(json, "frames", NULL);
    }
    text(json, "vf", run->filter);
    if (run->stream >= 0) {
        count(json, "stream", (uint64_t)run->stream);
    } else {
        text(json, "stream", NULL);
    }
    text(json, "hwaccel", run->hwaccel ? run->hwaccel : "none");
    text(json, "residual-mode", run->residual_signed ? "signed" : "absolute");
    real(json, "gain", run->gain, 6);
    real(json, "gamma", run->gamma, 6);
    text(json, "backend", backends[params->backend]);
    text(json, "device", params->device);
    if (params->threads > 0) {
        count(json, "threads", params->threads);
    } else {
        text(json, "threads", NULL);
    }
    text(json, "search", params->search);
    truth(json, "no-elimination", params->no_elimination);
    truth(json, "check", params->check);
    truth(json, "validate", params->validate);
    end(json);
}

static void put_engine(struct json *json, const struct gpume_summary *summary)
{
    begin(json, "engine");
    text(json, "backend", summary->backend);
    text(json, "device", summary->device);
    text(json, "driver", summary->driver);
    text(json, "search", summary->search);
    count(json, "host_bytes", summary->host_bytes);
    count(json, "device_bytes", summary->device_bytes);
    end(json);
}

static void put_figures(struct json *json, const struct gpume_summary *summary)
{
    const double fields = (double)summary->fields;
    begin(json, "totals");
    count(json, "blocks", gpume_summary_blocks(summary) * summary->fields);
    total(json, "zero", &summary->zero);
    total(json, "sad_before", &summary->sad_before);
    total(json, "sad_after", &summary->sad_after);
    total(json, "sse_before", &summary->sse_before);
    total(json, "sse_after", &summary->sse_after);
    real(json, "psnr_before", gpume_summary_psnr(summary, &summary->sse_before), 3);
    real(json, "psnr_after", gpume_summary_psnr(summary, &summary->sse_after), 3);
    end(json);
    begin(json, "means");
    real(json, "zero", gpume_total_value(&summary->zero) / fields, 3);
    real(json, "sad_before", gpume_total_value(&summary->sad_before) / fields, 3);
    real(json, "sad_after", gpume_total_value(&summary->sad_after) / fields, 3);
    real(json, "sse_before", gpume_total_value(&summary->sse_before) / fields, 3);
    real(json, "sse_after", gpume_total_value(&summary->sse_after) / fields, 3);
    real(json, "psnr_before", gpume_summary_psnr_mean(&summary->psnr_before), 3);
    real(json, "psnr_after", gpume_summary_psnr_mean(&summary->psnr_after), 3);
    count(json, "psnr_before_infinite", summary->fields - summary->psnr_before.finite);
    count(json, "psnr_after_infinite", summary->fields - summary->psnr_after.finite);
    end(json);
}

static void put_elimination(struct json *json, const struct gpume_summary *summary)
{
    const struct gpume_elimination shares = gpume_summary_elimination(summary);
    begin(json, "elimination");
    count(json, "candidates", summary->stats.candidates);
    real(json, "dropped_by_block_sums", shares.by_blocks, 9);
    real(json, "dropped_by_part_sums", shares.by_parts, 9);
    real(json, "compared", shares.compared, 9);
    end(json);
}

static void put_stages(struct json *json, const struct gpume_summary *summary)
{
    struct gpume_stage_time stages[GPUME_SUMMARY_STAGES];
    gpume_summary_stages(summary, stages);
    begin(json, "stages");
    for (size_t i = 0; i < GPUME_SUMMARY_STAGES; i++) {
        const uint64_t ns = stages[i].ns;
        begin(json, stages[i].name);
        real(json, "seconds", (double)ns / 1e9, 9);
        real(json, "fields_per_second",
            ns > 0 ? gpume_summary_rate(summary->fields, ns) : (double)INFINITY, 3);
        real(json, "busy", stages[i].busy, 6);
        end(json);
    }
    end(json);
}

int gpume_summary_write(const struct gpume_summary *summary, const char *path)
{
    int status;
    struct json json = {0};
    const struct gpume_run *run = summary->run;
    GPUME_TRY(gpume_out_open(&json.out, path, run->overwrite, &run->log));
    begin(&json, NULL);
    count(&json, "format", GPUME_SUMMARY_FORMAT);
    text(&json, "gpume", gpume_version());
    put_input(&json, summary);
    put_parameters(&json, run);
    put_engine(&json, summary);
    count(&json, "fields", summary->fields);
    count(&json, "first_field", summary->first_field);
    count(&json, "last_field", summary->last_field);
    count(&json, "blocks_per_field", gpume_summary_blocks(summary));
    count(&json, "candidates_per_block", summary->candidates);
    put_figures(&json, summary);
    put_elimination(&json, summary);
    put_stages(&json, summary);
    if (run->params.check) {
        count(&json, "checked", summary->checked);
        count(&json, "matched", summary->matched);
    }
    end(&json);
    put(&json, "\n");
    GPUME_TRY(gpume_out_finish(json.out));
fail:
    gpume_out_close(&json.out);
    return status;
}
