/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/shell.h"

#include "draw/colours.h"
#include "files/bytes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sizes of the colour tables. */
#define HEAT_STEPS 256u
#define DIRECTION_STEPS 360u

/* Placeholders in page.html: "<!--gpume:NAME-->". */
#define MARK "<!--gpume:"

static void put(struct gpume_json *json, const void *data, size_t bytes)
{
    (void)gpume_out_write(json->out, data, bytes);
    json->bytes += bytes;
}

void gpume_report_put_text(struct gpume_json *json, const char *text)
{
    put(json, text, strlen(text));
}

void gpume_report_put_base64(struct gpume_json *json, const unsigned char *data, size_t count)
{
    gpume_base64_write(json->out, data, count);
    json->bytes += gpume_base64_length(count);
}

/* A SHA-256, given in hexadecimal, as a source of the policy. */
static void put_hash(struct gpume_json *json, const char *sha256)
{
    unsigned char bytes[32];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        unsigned value = 0;
        (void)sscanf(sha256 + 2 * i, "%2x", &value);
        bytes[i] = (unsigned char)value;
    }
    gpume_report_put_text(json, " 'sha256-");
    gpume_report_put_base64(json, bytes, sizeof(bytes));
    gpume_report_put_text(json, "'");
}

/* Forbids the page to load anything, and all scripts and styles but our own and, in a
 * folder, the scripts beside it. */
static void put_policy(struct gpume_json *json, const struct gpume_report_shell *shell)
{
    gpume_report_put_text(json,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "img-src data:; base-uri 'none'; form-action 'none'; style-src");
    for (const struct gpume_report_asset *asset = shell->assets->styles; asset->data; asset++) {
        put_hash(json, asset->sha256);
    }
    gpume_report_put_text(json, shell->in_folder ? "; script-src 'self' file:" : "; script-src");
    for (const struct gpume_report_asset *asset = shell->assets->scripts; asset->data; asset++) {
        put_hash(json, asset->sha256);
    }
    gpume_report_put_text(json, "\">");
}

static void put_assets(
    struct gpume_json *json, const struct gpume_report_asset *asset, const char *element)
{
    for (; asset->data; asset++) {
        gpume_report_put_text(json, "<");
        gpume_report_put_text(json, element);
        gpume_report_put_text(json, ">");
        put(json, asset->data, asset->bytes);
        gpume_report_put_text(json, "</");
        gpume_report_put_text(json, element);
        gpume_report_put_text(json, ">\n");
    }
}

/* The colours of --overlay, with which the page draws its own overlays: heat from 0 to 1, and
 * directions clockwise from the right. */
void gpume_report_put_colours(struct gpume_json *json)
{
    struct gpume_colour heat[HEAT_STEPS], directions[DIRECTION_STEPS];
    _Static_assert(sizeof(heat[0]) == 3, "red, green, blue");
    for (size_t i = 0; i < HEAT_STEPS; i++) {
        heat[i] = gpume_colour_of_heat((double)i / (HEAT_STEPS - 1));
    }
    for (size_t i = 0; i < DIRECTION_STEPS; i++) {
        const double angle = 2 * 3.14159265358979323846 * (double)i / DIRECTION_STEPS;
        directions[i] = gpume_colour_of_direction(cos(angle), sin(angle));
    }
    gpume_json_begin(json, "colours");
    gpume_json_base64(json, "heat", (const unsigned char *)heat, sizeof(heat));
    gpume_json_base64(json, "directions", (const unsigned char *)directions, sizeof(directions));
    gpume_json_count(json, "cost_full", GPUME_COLOUR_COST_FULL);
    gpume_json_real(json, "cost_share", GPUME_COLOUR_COST_SHARE / 256.0, 4);
    gpume_json_end(json);
}

/* The size of the whole page. rest: bytes of page.html that are not written yet. */
static void put_size(struct gpume_json *json, const struct gpume_report_shell *shell, size_t rest)
{
    char element[96];
    static const char form[] = "<script type=\"text/plain\" id=\"bytes\">%020" PRIu64 "</script>\n";
    const int bytes = snprintf(element, sizeof(element), form, (uint64_t)0);
    uint64_t whole = json->bytes + (uint64_t)bytes + rest;
    for (const struct gpume_report_asset *asset = shell->assets->scripts; asset->data; asset++) {
        whole += sizeof("<script></script>\n") - 1 + asset->bytes;
    }
    snprintf(element, sizeof(element), form, whole);
    gpume_report_put_text(json, element);
}

static void put_marked(struct gpume_json *json, const struct gpume_report_shell *shell,
    const char *name, size_t length, size_t rest)
{
    if (strncmp(name, "policy", length) == 0) {
        put_policy(json, shell);
    } else if (strncmp(name, "styles", length) == 0) {
        put_assets(json, shell->assets->styles, "style");
    } else if (strncmp(name, "data", length) == 0) {
        shell->put_data(json, shell->opaque);
    } else if (strncmp(name, "licence", length) == 0) {
        gpume_report_put_text(json, "<!--\n");
        put(json, shell->assets->licence.data, shell->assets->licence.bytes);
        gpume_report_put_text(json, "\n-->");
    } else if (strncmp(name, "scripts", length) == 0) {
        put_size(json, shell, rest);
        put_assets(json, shell->assets->scripts, "script");
    }
}

void gpume_report_shell_write(const struct gpume_report_shell *shell, struct gpume_out *out)
{
    struct gpume_json json = {.out = out, .embedded = true};
    const char *at = (const char *)shell->assets->html.data;
    const char *const end = at + shell->assets->html.bytes;
    for (const char *mark = at; mark + sizeof(MARK) <= end; mark++) {
        if (memcmp(mark, MARK, sizeof(MARK) - 1) != 0) {
            continue;
        }
        const char *name = mark + sizeof(MARK) - 1;
        const size_t length =
            (size_t)((const char *)memchr(name, '-', (size_t)(end - name)) - name);
        put(&json, at, (size_t)(mark - at));
        at = name + length + sizeof("-->") - 1;
        put_marked(&json, shell, name, length, (size_t)(end - at));
    }
    put(&json, at, (size_t)(end - at));
}
