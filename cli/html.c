/* SPDX-License-Identifier: BSD-2-Clause */
#include "html.h"

#include <string.h>

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
    "<title>";

static const char rules[] =
    ":root { --coded: #c2410c; --exact: #1d4ed8; --line: #8884; }\n"
    "@media (prefers-color-scheme: dark) { :root { --coded: #fb923c; --exact: #7dabff; } }\n"
    "body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; "
    "padding: 0 1rem; }\n"
    "h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }\n"
    "h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }\n"
    "p { max-width: 48rem; }\n.kind, .note { opacity: .75; }\n"
    ".cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); "
    "gap: 1rem; margin: 1.5rem 0; }\n"
    ".cards div { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; }\n"
    ".cards dt { opacity: .75; }\n.cards dd { margin: 0; font-size: 1.25rem; }\n"
    ".coded { color: var(--coded); stroke: var(--coded); }\n"
    ".exact { color: var(--exact); stroke: var(--exact); }\n"
    "svg { width: 100%; height: auto; overflow: visible; }\n"
    "polyline { fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke; }\n"
    "svg line { stroke: var(--line); }\n"
    "svg text { fill: currentColor; font-size: 11px; }\n"
    "@media (max-width: 40rem) { .chart { overflow-x: auto; padding-left: 1rem; }\n"
    ".chart svg { min-width: 40rem; }\nsvg text { font-size: 16px; } }\n"
    ".table { overflow-x: auto; }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: .2rem .5rem; text-align: right; border-bottom: 1px solid var(--line); }\n"
    "td:first-child { white-space: nowrap; }\n"
    "th:first-child, td:first-child { text-align: left; }\n";

void gpume_html_begin(struct gpume_out *out, const struct gpume_html_page *page, const char *path)
{
    const char *slash = strrchr(path, '/');
    gpume_html_put(out, head);
    gpume_html_put(out, page->title);
    gpume_html_put(out, "</title>\n<style>\n");
    gpume_html_put(out, rules);
    gpume_html_put(out, page->style);
    gpume_html_put(out, "</style>\n</head>\n<body>\n<header>\n<p class=\"kind\">");
    gpume_html_put(out, page->kind);
    gpume_html_put(out, "</p>\n<h1>");
    gpume_html_escaped(out, slash ? slash + 1 : path);
    gpume_html_put(out, "</h1>\n<p>");
}

void gpume_html_body(struct gpume_out *out)
{
    gpume_html_put(out, "</p>\n</header>\n<main>\n");
}

void gpume_html_end(struct gpume_out *out)
{
    gpume_html_put(out, "</main>\n</body>\n</html>\n");
}
