/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/shell.h"

#include "draw/legend.h"
#include "draw/overlay.h"
#include "files/forms.h"
#include "files/path.h"

#include <inttypes.h>
#include <math.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Base64 */

#define PART_BYTES 3072u /* a multiple of 3: only the last part is padded */

void gpume_base64_write(struct gpume_out *out, const unsigned char *data, size_t count)
{
    char text[BASE64_ENCODE_RAW_LENGTH(PART_BYTES)];
    while (count > 0) {
        const size_t part = count < PART_BYTES ? count : PART_BYTES;
        base64_encode_raw(text, part, data);
        (void)gpume_out_write(out, text, BASE64_ENCODE_RAW_LENGTH(part));
        data += part;
        count -= part;
    }
}

void gpume_json_base64(
    struct gpume_json *json, const char *key, const unsigned char *data, size_t count)
{
    gpume_json_digits(json, key, "\"");
    gpume_base64_write(json->out, data, count);
    (void)gpume_out_text(json->out, "\"");
}

/* --- the page */

/* Sizes of the colour tables. */
#define HEAT_STEPS 256u
#define DIRECTION_STEPS 360u

/* Where a page's file leaves room: "<!--gpume:NAME-->". */
#define MARK "<!--gpume:"

/* A SHA-256, given in hexadecimal, as a source of the policy. */
static void put_hash(struct gpume_out *out, const char *sha256)
{
    unsigned char bytes[32];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        unsigned value = 0;
        (void)sscanf(sha256 + 2 * i, "%2x", &value);
        bytes[i] = (unsigned char)value;
    }
    gpume_html_put(out, " 'sha256-");
    gpume_base64_write(out, bytes, sizeof(bytes));
    gpume_html_put(out, "'");
}

/* What comes before the title. The policy forbids the page to load anything, and all scripts and
 * styles but our own and, in a folder, the scripts beside it. */
static void put_head(struct gpume_out *out, const struct gpume_report_shell *shell)
{
    gpume_html_put(out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "img-src data:; base-uri 'none'; form-action 'none'; style-src");
    for (const struct gpume_report_asset *asset = shell->assets->styles; asset->data; asset++) {
        put_hash(out, asset->sha256);
    }
    if (shell->assets->scripts->data) {
        gpume_html_put(out, shell->in_folder ? "; script-src 'self' file:" : "; script-src");
    }
    for (const struct gpume_report_asset *asset = shell->assets->scripts; asset->data; asset++) {
        put_hash(out, asset->sha256);
    }
    gpume_html_put(out,
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" "
        "href=\"data:,\">\n");
}

static void put_assets(
    struct gpume_out *out, const struct gpume_report_asset *asset, const char *element)
{
    for (; asset->data; asset++) {
        gpume_html_put(out, "<");
        gpume_html_put(out, element);
        gpume_html_put(out, ">");
        (void)gpume_out_write(out, asset->data, asset->bytes);
        gpume_html_put(out, "</");
        gpume_html_put(out, element);
        gpume_html_put(out, ">\n");
    }
}

/* The size of the whole page. rest: bytes of page.html that are not written yet. */
static void put_size(struct gpume_out *out, const struct gpume_report_shell *shell, size_t rest)
{
    char element[96];
    static const char form[] = "<script type=\"text/plain\" id=\"bytes\">%020" PRIu64 "</script>\n";
    const int bytes = snprintf(element, sizeof(element), form, (uint64_t)0);
    uint64_t whole = gpume_out_bytes(out) + (uint64_t)bytes + rest;
    for (const struct gpume_report_asset *asset = shell->assets->scripts; asset->data; asset++) {
        whole += sizeof("<script></script>\n") - 1 + asset->bytes;
    }
    snprintf(element, sizeof(element), form, whole);
    gpume_html_put(out, element);
}

static void put_marked(
    struct gpume_out *out, const struct gpume_report_shell *shell, const char *mark, size_t rest)
{
    if (strcmp(mark, "styles") == 0) {
        put_assets(out, shell->assets->styles, "style");
    } else if (strcmp(mark, "licence") == 0) {
        gpume_html_put(out, "<!--\n");
        (void)gpume_out_write(out, shell->assets->licence.data, shell->assets->licence.bytes);
        gpume_html_put(out, "\n-->");
    } else if (strcmp(mark, "scripts") == 0) {
        put_size(out, shell, rest);
        put_assets(out, shell->assets->scripts, "script");
    } else {
        shell->put(out, mark, shell->opaque);
    }
}

void gpume_report_shell_write(const struct gpume_report_shell *shell, struct gpume_out *out)
{
    const char *at = (const char *)shell->assets->html.data;
    const char *const end = at + shell->assets->html.bytes;
    put_head(out, shell);
    for (const char *found = at; found + sizeof(MARK) <= end; found++) {
        if (memcmp(found, MARK, sizeof(MARK) - 1) != 0) {
            continue;
        }
        char mark[16] = "";
        const char *name = found + sizeof(MARK) - 1;
        const size_t length =
            (size_t)((const char *)memchr(name, '-', (size_t)(end - name)) - name);
        memcpy(mark, name, length < sizeof(mark) ? length : sizeof(mark) - 1);
        (void)gpume_out_write(out, at, (size_t)(found - at));
        at = name + length + sizeof("-->") - 1;
        put_marked(out, shell, mark, (size_t)(end - at));
    }
    (void)gpume_out_write(out, at, (size_t)(end - at));
}

void gpume_report_put_name(struct gpume_out *out, const char *path)
{
    char *name = gpume_path_last(path);
    gpume_html_escaped(out, name ? name : "");
    free(name);
}

/* Heat from 0 to 1, and directions clockwise from the right. */
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
    gpume_json_real(json, "return_small", GPUME_OVERLAY_RETURN_SMALL, 3);
    gpume_json_real(json, "return_full", GPUME_OVERLAY_RETURN_FULL, 3);
    gpume_json_real(json, "cost_share", GPUME_COLOUR_COST_SHARE / 256.0, 4);
    gpume_json_end(json);
}
