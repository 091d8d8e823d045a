/* SPDX-License-Identifier: BSD-2-Clause */
/* Interprets the name of a picture output: the extension is the format, %d numbers stills, and what
 * is no file gets a video. */
#include "files/pattern.h"
#include "files/text_file.h"
#include "media/picture_kind.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct {
    const char *extension;
    enum gpume_picture_kind kind;
} extensions[] = {
    {".png", GPUME_PICTURE_PNG},
    {".pgm", GPUME_PICTURE_PGM},
    {".ppm", GPUME_PICTURE_PPM},
    {".bmp", GPUME_PICTURE_BMP},
    {".jpg", GPUME_PICTURE_JPG},
    {".jpeg", GPUME_PICTURE_JPG},
    {".y4m", GPUME_PICTURE_Y4M},
    {".mkv", GPUME_PICTURE_MKV},
    {".nut", GPUME_PICTURE_NUT},
    {".mp4", GPUME_PICTURE_MP4},
};

enum gpume_picture_kind gpume_picture_kind(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof extensions / sizeof extensions[0]; i++) {
        if (strcasecmp(dot, extensions[i].extension) == 0) {
            return extensions[i].kind;
        }
    }
    return gpume_text_is_special(path) ? GPUME_PICTURE_Y4M : GPUME_PICTURE_NONE;
}

/* Returns what is wrong with the name and how to correct it, or NULL. */
static const char *fault(const char *path, bool single, uint32_t bits, bool colour)
{
    enum gpume_picture_kind kind = gpume_picture_kind(path);
    enum gpume_pattern_kind pattern = gpume_pattern_kind(path);
    if (kind == GPUME_PICTURE_NONE) {
        return colour ? "unknown picture format; give .png .ppm .bmp .jpg with %d in the name, "
                        "or .y4m .mkv .nut .mp4"
                      : "unknown picture format; give .png .pgm .bmp .jpg with %d in the name, "
                        "or .y4m .mkv .nut .mp4";
    }
    if (kind == (colour ? GPUME_PICTURE_PGM : GPUME_PICTURE_PPM)) {
        return colour ? "pgm holds gray alone, the pictures have colours; use .ppm or .png"
                      : "ppm holds colours, the pictures are gray; use .pgm or .png";
    }
    if (gpume_text_is_stdout(path) && isatty(STDOUT_FILENO)) {
        return "a terminal cannot show video; name a file, or pipe it to a program";
    }
    if (!gpume_picture_is_still(kind)) {
        return pattern == GPUME_PATTERN_NUMBERED ? "a video is one file; leave the %d out" : NULL;
    }
    if (pattern == GPUME_PATTERN_WRONG || pattern == GPUME_PATTERN_PAIR) {
        return "give exactly one %d or %0Nd, in the file's own name (%% is a percent sign)";
    }
    if (pattern == GPUME_PATTERN_PLAIN && !single) {
        return "there will be many pictures; put %d in the name, such as name%05d.png";
    }
    if (kind == GPUME_PICTURE_BMP && bits > 8) {
        return "bmp holds 8 bits, the pictures have more; use .png or .pgm";
    }
    return NULL;
}

int gpume_picture_check_name(
    const char *path, bool single, uint32_t bits, bool colour, const struct gpume_log *log)
{
    const char *what = fault(path, single, bits, colour);
    if (!what) {
        return GPUME_OK;
    }
    const int status = gpume_text_check_file(path, "name%05d", ".png", log);
    return status ? status : gpume_log_fail(log, GPUME_INVALID, "%s: %s", path, what);
}

bool gpume_picture_can_continue(const char *path)
{
    return gpume_picture_kind(path) == GPUME_PICTURE_Y4M && gpume_text_can_continue(path);
}

bool gpume_picture_is_series(const char *path)
{
    return gpume_picture_is_still(gpume_picture_kind(path));
}
