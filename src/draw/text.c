/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A glyph is a list of strokes, separated by blanks. A stroke is a list of points of two letters, x
 * and y, from a to q. Capitals and digits reach from y = a to the base line m, small letters from
 * e, and what hangs below it ends at q. The first and the last point of a stroke are its ends; the
 * others are the control points of a quadratic spline, which a point given twice passes through as
 * a corner.
 */
#include "draw/text.h"

#include <stddef.h>
#include <string.h>

#include <cairo.h>

#define CAPITAL 12.0 /* units from a to m */
#define GAP 3.5      /* units from a glyph to the next */
#define BLANK 3.0    /* units of width */
#define BOLD 7.0     /* heights of a capital in the width of a line */

static const struct {
    char character;
    const char *strokes;
} glyphs[] = {
    {'0', "agaagagmamag"},
    {'1', "bcdadadm"},
    {'2', "adaagagfamamgm"},
    {'3', "acaagagfcf cfgfgmamak"},
    {'4', "fmfafaaiaigi"},
    {'5', "faaaaaafafgegmamak"},
    {'6', "faaaai aiaegegmamai"},
    {'7', "aagagacm"},
    {'8', "daaaafgfgada dfafamgmgfdf"},
    {'9', "bmgmge gegiaiaagage"},
    {'A', "ameaeaim bihi"},
    {'B', "aaam aadadagaggdgdgag agdgdghghmdmdmam"},
    {'a', "gegm ghgeaeamgmgj"},
    {'b', "aaam ahaegegmamaj"},
    {'c', "gggeaeamgmgk"},
    {'d', "gagm ghgeaeamgmgj"},
    {'e', "aigigigeaeamgmgk"},
    {'f', "facacdcdcm aeee"},
    {'g', "gegngngqaqao ghgeaeamgmgj"},
    {'h', "aaam ahaegegigigm"},
    {'i', "aeam abab"},
    {'j', "cececocqaq cbcb"},
    {'k', "aaam feai chgm"},
    {'l', "aaam"},
    {'m', "aeam ahaeeeeieiem eheeieiiiiim"},
    {'n', "aeam ahaegegigigm"},
    {'o', "aiaegegmamai"},
    {'p', "aeaq ahaegegmamaj"},
    {'q', "gegq ghgeaeamgmgj"},
    {'r', "aeam aiaeee"},
    {'s', "gggeaeaigigmamak"},
    {'t', "cbcjcjcmfm aefe"},
    {'u', "aeaiaiamgmgj gegm"},
    {'v', "aedmdmge"},
    {'w', "aecmcmeeeegmgmie"},
    {'x', "aegm geam"},
    {'y', "aedm gebq"},
    {'z', "aegegeamamgm"},
    {'.', "amam"},
    {',', "bmao"},
    {'-', "ahfh"},
    {'=', "aggg ajgj"},
    {'<', "geaiaigm"},
    {'>', "aegigiam"},
    {'/', "amga"},
    {'%', "acaadadeaeac haam ekeihihmemek"},
};

static const char *strokes_of(char character)
{
    for (size_t i = 0; i < sizeof(glyphs) / sizeof(glyphs[0]); i++) {
        if (glyphs[i].character == character) {
            return glyphs[i].strokes;
        }
    }
    return "";
}

static double width_of(const char *strokes)
{
    double width = *strokes ? 0 : BLANK;
    for (; *strokes; strokes += *strokes == ' ' ? 1 : 2) {
        const double x = *strokes - 'a';
        width = *strokes != ' ' && x > width ? x : width;
    }
    return width;
}

double gpume_text_width(const char *text, double height)
{
    double width = *text ? -GAP : 0;
    for (; *text; text++) {
        width += width_of(strokes_of(*text)) + GAP;
    }
    return width * height / CAPITAL;
}

struct point {
    double x, y;
};

static struct point point_of(const char *stroke, size_t i)
{
    return (struct point){stroke[2 * i] - 'a', stroke[2 * i + 1] - 'a'};
}

static struct point between(struct point a, struct point b, double share)
{
    return (struct point){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

static void add_stroke(cairo_t *cairo, const char *stroke, size_t count)
{
    struct point at = point_of(stroke, 0);
    cairo_move_to(cairo, at.x, at.y);
    for (size_t i = 1; i + 1 < count; i++) {
        const struct point control = point_of(stroke, i), next = point_of(stroke, i + 1);
        const struct point end = i + 2 < count ? between(control, next, 0.5) : next;
        const struct point first = between(at, control, 2.0 / 3),
                           second = between(end, control, 2.0 / 3);
        cairo_curve_to(cairo, first.x, first.y, second.x, second.y, end.x, end.y);
        at = end;
    }
    if (count == 2) {
        at = point_of(stroke, 1);
        cairo_line_to(cairo, at.x, at.y);
    }
}

static void add_glyph(cairo_t *cairo, const char *strokes)
{
    while (*strokes) {
        const size_t letters = strcspn(strokes, " ");
        add_stroke(cairo, strokes, letters / 2);
        strokes += letters;
        strokes += *strokes == ' ';
    }
}

void gpume_text_draw(cairo_t *cairo, const char *text, double x, double y, double height)
{
    const double unit = height / CAPITAL, line = height / BOLD;
    cairo_save(cairo);
    cairo_translate(cairo, x, y);
    cairo_scale(cairo, unit, unit);
    cairo_new_path(cairo);
    for (; *text; text++) {
        const char *strokes = strokes_of(*text);
        add_glyph(cairo, strokes);
        cairo_translate(cairo, width_of(strokes) + GAP, 0);
    }
    cairo_restore(cairo);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_set_line_width(cairo, line > 1 ? line : 1);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cairo);
}
