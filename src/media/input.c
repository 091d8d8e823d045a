/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A path that exists is that file, even if its name contains ':' or '%'. "-" is standard input,
 * read through poll() so that a cancelled run does not wait for data, and seekable if it is a file.
 * libavformat interprets any other path: numbered pictures, URLs.
 */
#include "media/input.h"
#include "files/pattern.h"
#include "files/remedy.h"
#include "media/libav.h"
#include "media/lists.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavformat/avformat.h>
#include <libavutil/mem.h>

#define PIPE_BYTES (64 * 1024) /* capacity of a Linux pipe */
#define POLL_MS 100            /* longest delay until a cancelled read returns */

const char *gpume_input_label(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool gpume_input_is_file(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

const char *gpume_input_remedy(const struct gpume_input *input, const char *otherwise)
{
    return input->pipe && !input->pipe->seek
               ? "some files cannot be read from a pipe: give the file's name"
               : otherwise;
}

static int interrupted(void *opaque)
{
    const struct gpume_input *input = opaque;
    return atomic_load(input->cancel) ? 1 : 0;
}

static int pipe_read(void *opaque, uint8_t *data, int bytes)
{
    struct gpume_input *input = opaque;
    for (;;) {
        if (interrupted(input)) {
            return AVERROR_EXIT;
        }
        struct pollfd ready = {.fd = input->fd, .events = POLLIN};
        int count = poll(&ready, 1, POLL_MS);
        if (count == 0 || (count < 0 && errno == EINTR)) {
            continue;
        }
        ssize_t done = read(input->fd, data, (size_t)bytes);
        if (done >= 0) {
            input->piped = input->piped || done > 0;
            return done > 0 ? (int)done : AVERROR_EOF;
        }
        if (errno != EINTR && errno != EAGAIN) {
            return AVERROR(errno);
        }
    }
}

static int64_t pipe_seek(void *opaque, int64_t offset, int whence)
{
    const struct gpume_input *input = opaque;
    struct stat st;
    if (fstat(input->fd, &st) != 0) {
        return AVERROR(errno);
    }
    if (whence & AVSEEK_SIZE) {
        return st.st_size;
    }
    off_t at = lseek(input->fd, (off_t)offset, whence & ~AVSEEK_FORCE);
    return at < 0 ? AVERROR(errno) : (int64_t)at;
}

/* Makes libav's name for the path, in *url for free(), and the options that keep libav from
 * guessing. */
static int make_url(const char *path, bool exists, char **url, AVDictionary **options)
{
    size_t bytes = strlen(path) + sizeof "file:";
    *url = malloc(bytes);
    if (!*url) {
        return GPUME_NOMEM;
    }
    snprintf(*url, bytes, "%s%s", exists ? "file:" : "", path);
    /* Programs may appear late in a transport stream; the ffmpeg program sets the same option. */
    int error = av_dict_set(options, "scan_all_pmts", "1", 0);
    uint64_t first = 0;
    if (exists) {
        error |= av_dict_set(options, "pattern_type", "none", 0);
        error |= av_dict_set(
            options, "safe", "0", 0); /* the concat demuxer's own check; reach.h is stricter */
    } else if (gpume_pattern_find_input(path, &first) && first <= INT32_MAX) {
        error |= av_dict_set_int(options, "start_number", (int64_t)first, 0);
    }
    return error < 0 ? GPUME_NOMEM : GPUME_OK;
}

static bool is_empty(const struct gpume_input *input, const struct stat *st)
{
    return input->pipe ? !input->piped : st && S_ISREG(st->st_mode) && st->st_size == 0;
}

/* Does it look like a list of files without the first line by which FFmpeg knows one? */
static bool is_bare_list(const char *path)
{
    char text[4096] = "";
    FILE *file = fopen(path, "rb");
    const size_t bytes = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    const char *at = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
    if (file) {
        fclose(file);
    }
    text[bytes] = '\0';
    while (*at == '#' || *at == '\n' || *at == '\r') { /* comments and empty lines */
        at += *at == '#' ? strcspn(at, "\n") : 1;
    }
    return strncmp(at, "file ", 5) == 0;
}

static int refuse(
    const struct gpume_input *input, const char *path, int error, const struct gpume_log *log)
{
    const char *label = gpume_input_label(path);
    struct stat st;
    bool exists = strcmp(path, "-") != 0 && stat(path, &st) == 0;
    if (error == AVERROR(ENOMEM)) {
        return GPUME_NOMEM; /* logged by source.c */
    }
    if (exists && S_ISDIR(st.st_mode)) {
        return gpume_log_fail(log, GPUME_IO,
            "%s: is a folder; give a video file, or numbered pictures as folder/name%%03d.png",
            label);
    }
    bool useless = error == AVERROR_INVALIDDATA || error == AVERROR_EOF;
    if ((useless || error == AVERROR(EINVAL)) && is_empty(input, exists ? &st : NULL)) {
        return gpume_log_fail(log, GPUME_FORMAT, "%s: is empty; give a file with video", label);
    }
    if (error == AVERROR(ENOENT) && exists) {
        return gpume_log_fail(log, GPUME_IO,
            "%s: a file that it names does not exist; check the names in it, and its folder",
            label);
    }
    if (error == AVERROR(ENOENT) || (!exists && error == AVERROR_PROTOCOL_NOT_FOUND)) {
        bool numbered = gpume_pattern_kind(path) == GPUME_PATTERN_NUMBERED;
        return gpume_log_fail(log, GPUME_IO, "%s: %s; check the name and the folder", label,
            numbered ? "no picture with such a number" : "no such file");
    }
    if (error == AVERROR(EACCES) || error == AVERROR(EPERM)) {
        return gpume_log_fail(
            log, GPUME_IO, "%s: no permission to read it; change its permissions", label);
    }
    if (useless && exists && S_ISREG(st.st_mode) && is_bare_list(path)) {
        return gpume_log_fail(log, GPUME_FORMAT,
            "%s: not a video or picture that FFmpeg can read; if it is a list of files, add "
            "'ffconcat "
            "version 1.0' as its first line",
            label);
    }
    if (useless) {
        return gpume_log_fail(log, GPUME_FORMAT,
            "%s: not a video or picture that FFmpeg can read (%s); %s", label,
            gpume_libav_reason(error), gpume_input_remedy(input, "give a file with video"));
    }
    const char *dot = strrchr(path, '.');
    if (error == AVERROR(EINVAL) && dot && strcmp(dot, ".yuv") == 0) {
        return gpume_log_fail(log, GPUME_FORMAT,
            "%s: does not say the size of its pictures; convert it to Y4M first: ffmpeg -f "
            "rawvideo -pixel_format yuv420p -video_size WxH -framerate 25 -i FILE.yuv FILE.y4m",
            label);
    }
    return gpume_log_fail(log, GPUME_IO, "%s: cannot be opened: %s; %s", label,
        gpume_libav_reason(error),
        gpume_remedy(AVUNERROR(error), gpume_input_remedy(input, "check the name or the file")));
}

/* Logs a name in the input that was not opened, even if opening the input succeeded. */
static bool refuse_reach(struct gpume_input *input, const char *path, const struct gpume_log *log)
{
    if (!gpume_reach_has_refused(&input->reach, gpume_libav_reason(0))) {
        return false;
    }
    const char *label = gpume_input_label(path), *what = input->reach.refused;
    const char *option = gpume_reach_option(&input->reach);
    if (input->pipe && !input->reach.is_remote) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "%s: refers to other files, which cannot be found from a pipe; give the file's name "
            "and, where it can be trusted, --allow-files",
            label);
    } else if (option) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "%s: refers to %s, which is opened only with %s; give it where the file can be trusted",
            label, what, option);
    } else {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "%s: refers to %s, which no option opens; give the name of the video itself", label,
            what);
    }
    return true;
}

/* Opens standard input or a named pipe so that waiting for its writer can be cancelled. */
static int open_pipe(struct gpume_input *input, const char *path, const struct gpume_log *log)
{
    bool named = strcmp(path, "-") != 0;
    input->fd = named ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : STDIN_FILENO;
    if (input->fd < 0) {
        return refuse(input, path, AVERROR(errno), log);
    }
    if (!named && isatty(STDIN_FILENO)) {
        return gpume_log_fail(log, GPUME_IO,
            "standard input: is a terminal; pipe a video into it, or give a file name instead of "
            "-");
    }
    struct stat st;
    bool file =
        fstat(input->fd, &st) == 0 && S_ISREG(st.st_mode) && lseek(input->fd, 0, SEEK_CUR) == 0;
    uint8_t *buffer = av_malloc(PIPE_BYTES);
    if (buffer) {
        input->pipe = avio_alloc_context(
            buffer, PIPE_BYTES, 0, input, pipe_read, NULL, file ? pipe_seek : NULL);
    }
    if (!input->pipe) {
        av_free(buffer);
        return GPUME_NOMEM;
    }
    input->format->pb = input->pipe;
    return GPUME_OK;
}

static int open_format(struct gpume_input *input, const char *path, const struct gpume_log *log)
{
    struct stat st;
    const bool exists = stat(path, &st) == 0;
    const bool piped = strcmp(path, "-") == 0 || (exists && S_ISFIFO(st.st_mode));
    char *url = NULL;
    AVDictionary *options = NULL;
    const char *lacking = exists || piped ? NULL : gpume_reach_lacks(&input->reach, path);
    if (lacking) {
        if (lacking[0]) {
            gpume_log_write(log, GPUME_LOG_ERROR, "%s: is opened only with %s", path, lacking);
        } else {
            gpume_log_write(log, GPUME_LOG_ERROR,
                "%s: is the name of a protocol that is never opened; give the name that it wraps",
                path);
        }
        return GPUME_IO;
    }
    int status = make_url(piped ? "pipe:" : path, exists && !piped, &url, &options);
    if (status == GPUME_OK && piped) {
        status = open_pipe(input, path, log);
    }
    if (status == GPUME_OK) {
        status = gpume_reach_attach(&input->reach, input->format, piped);
    }
    if (status == GPUME_OK) {
        gpume_libav_quiet();
        const int error =
            gpume_libav_check_memory(avformat_open_input(&input->format, url, NULL, &options));
        if (error < 0) {
            status = atomic_load(input->cancel)       ? GPUME_CANCELLED
                     : refuse_reach(input, path, log) ? GPUME_IO
                                                      : refuse(input, path, error, log);
        } else if (strcmp(input->format->iformat->name, "tty") == 0) {
            /* libavformat would render any .txt file as a terminal screen */
            gpume_log_write(log, GPUME_LOG_ERROR, "%s: is text; give a file with video",
                gpume_input_label(path));
            status = GPUME_FORMAT;
        } else {
            status = gpume_lists_add(path, input->format->iformat->name);
        }
    }
    av_dict_free(&options);
    free(url);
    return status;
}

/* Probes the streams with decoders that enforce the limit on pixels. */
static int find_streams(struct gpume_input *input)
{
    const unsigned count = input->format->nb_streams;
    AVDictionary **options = count > 0 ? av_calloc(count, sizeof *options) : NULL;
    for (unsigned i = 0; options && i < count; i++) {
        (void)av_dict_set_int(&options[i], "max_pixels", input->max_pixels, 0);
    }
    gpume_libav_quiet();
    input->data = input->format->pb ? avio_tell(input->format->pb) : 0;
    const int error = gpume_libav_check_memory(avformat_find_stream_info(input->format, options));
    input->cut = gpume_libav_cut();
    for (unsigned i = 0; options && i < count; i++) {
        av_dict_free(&options[i]);
    }
    av_free(options);
    return error;
}

int gpume_input_open(
    struct gpume_input *input, const char *path, atomic_bool *cancel, const struct gpume_log *log)
{
    input->cancel = cancel;
    input->fd = -1;
    input->format = avformat_alloc_context();
    if (!input->format) {
        return GPUME_NOMEM;
    }
    input->format->interrupt_callback = (AVIOInterruptCB){.callback = interrupted, .opaque = input};
    int status = open_format(input, path, log);
    if (status != GPUME_OK) {
        return status;
    }
    int error = find_streams(input);
    if (atomic_load(cancel)) {
        return GPUME_CANCELLED;
    }
    if (refuse_reach(input, path, log)) {
        return GPUME_IO;
    }
    return error < 0 ? refuse(input, path, error, log) : GPUME_OK;
}

bool gpume_input_has_pictures(const struct gpume_input *input)
{
    const char *name = input->format->iformat->name; /* image2, image2pipe, png_pipe, ... */
    return strncmp(name, "image2", 6) == 0 || strstr(name, "_pipe") != NULL;
}

void gpume_input_close(struct gpume_input *input)
{
    avformat_close_input(&input->format);
    if (input->pipe) {
        av_freep(&input->pipe->buffer);
        avio_context_free(&input->pipe);
    }
    if (input->fd > STDIN_FILENO) {
        close(input->fd);
    }
    input->fd = -1;
}
