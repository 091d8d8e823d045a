/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A path that exists is that file, even if its name contains ':' or '%'. "-" is standard input,
 * read through poll() so that a cancelled run does not wait for data, and seekable if it is a file.
 * libavformat interprets any other path: numbered pictures, URLs.
 */
#include "media/packets.h"

#include "base/base.h"
#include "files/out.h"
#include "files/path.h"
#include "gpume/gpume.h"
#include "media/libav.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavcodec/codec_par.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

#define PIPE_BYTES (64 * 1024) /* capacity of a Linux pipe */
#define PLAIN_LIST "concatf:"  /* its lists have one name per line */
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

bool gpume_input_is_read_once(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0) {
        return !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    }
    return strcmp(path, "-") == 0 || strchr(path, ':') ||
           gpume_pattern_kind(path) == GPUME_PATTERN_NUMBERED;
}

const char *gpume_input_remedy(const struct gpume_input *input, const char *otherwise)
{
    return input->pipe && !input->pipe->seek
               ? "some files cannot be read from a pipe: give the file's name"
               : otherwise;
}

/* --- what it may open */

/*
 * The name that the user gives may be any local file, also by a local protocol. Names in that file
 * (playlists, segments, references) and inputs on the network are opened only if the user allows
 * it. Demultiplexers open other files in two ways: through the format's io_open, which sees every
 * name (hls, dash, imf, mov), and through protocols, whose whitelist nested formats and sockets
 * inherit (concat, vobsub, sdp, rtsp). Both are restricted.
 */

/* Protocols that read files, or parts of files, that the user has named. cache and async, which
 * write and prefetch, are never opened. */
#define LOCAL "file,pipe,fd,concat,subfile,crypto,data"
#define LISTS "concatf" /* reads names from a file */
#define FILES "file,crypto,data"
#define NETWORK                                                                                    \
    "crypto,data,ffrtmphttp,ftp,gopher,gophers,hls,http,httpproxy,https,mmsh,mmst,rist,rtmp,"      \
    "rtmpe,rtmps,rtmpt,rtmpte,rtmpts,rtp,sctp,sftp,srt,srtp,tcp,tls,udp,udplite"
#define NOTHING "none"

static bool is_protocol_of(const char *protocol, const char *list)
{
    return av_match_list(protocol, list, ',') > 0;
}

/* Whether a demultiplexer is named like a protocol: "rtsp" in "rtsp://host". */
static bool names_format(const char *name)
{
    char scheme[16];
    const size_t length = strcspn(name, ":");
    if (length >= sizeof scheme || strncmp(name + length, "://", 3) != 0) {
        return false;
    }
    memcpy(scheme, name, length);
    scheme[length] = '\0';
    const AVInputFormat *format = av_find_input_format(scheme);
    return format && (format->flags & AVFMT_NOFILE);
}

/* The option that is needed to open a name that is not a file; "": no option allows it; NULL: none
 * is needed. */
static const char *lacking_option(const struct gpume_input *input, const char *name)
{
    const char *protocol = avio_find_protocol_name(name);
    if (protocol && is_protocol_of(protocol, LISTS)) {
        return input->options->trust.files ? NULL : "--allow-files";
    }
    if (names_format(name) ||
        (protocol && is_protocol_of(protocol, NETWORK) && !is_protocol_of(protocol, LOCAL))) {
        return input->options->trust.network ? NULL : "--allow-network";
    }
    return !protocol || is_protocol_of(protocol, LOCAL) ? NULL : "";
}

/* Protocols that names found in the input may use. */
static const char *inner_protocols(const struct gpume_input *input)
{
    if (input->options->trust.network) {
        return input->options->trust.files ? FILES "," NETWORK : NETWORK;
    }
    return input->options->trust.files ? FILES : NOTHING;
}

static int allow_protocols(AVFormatContext *format, const char *list)
{
    return av_opt_set(format, "protocol_whitelist", list, 0) < 0 ? GPUME_NOMEM : GPUME_OK;
}

static int open_name(AVFormatContext *format, AVIOContext **stream, const char *url, int flags,
    AVDictionary **options)
{
    struct gpume_input *input = format->opaque;
    /* Numbered pictures: the user has named all of them */
    const bool own = !input->opened || (format->iformat && !format->pb &&
                                           strcmp(format->iformat->name, "image2") == 0);
    const char *protocol = avio_find_protocol_name(url);
    if (!own && !(protocol && is_protocol_of(protocol, inner_protocols(input)))) {
        if (input->refused[0] == '\0') {
            snprintf(input->refused, sizeof input->refused, "%s", url);
            input->is_remote = !protocol || !is_protocol_of(protocol, LOCAL);
        }
        return AVERROR(EPERM);
    }
    int error = input->open(format, stream, url, flags, options);
    if (error >= 0 && gpume_inputs_add(url) != GPUME_OK) {
        avio_closep(stream);
        return AVERROR(ENOMEM);
    }
    if (error >= 0 && !input->opened &&
        !(format->iformat && !strcmp(format->iformat->name, "image2"))) {
        input->opened = true;
        if (allow_protocols(format, inner_protocols(input)) != GPUME_OK) {
            avio_closep(stream);
            return AVERROR(ENOMEM);
        }
    }
    return error;
}

/* Before opening the format. */
static int restrict_names(struct gpume_input *input, bool piped)
{
    char list[512];
    input->opened = piped;
    input->open = input->format->io_open;
    input->format->opaque = input;
    input->format->io_open = open_name;
    if (piped) {
        return allow_protocols(input->format, inner_protocols(input));
    }
    snprintf(list, sizeof list, LOCAL "%s%s", input->options->trust.files ? "," LISTS : "",
        input->options->trust.network ? "," NETWORK : "");
    return allow_protocols(input->format, list);
}

/* Logs a name in the input that was not opened, even if opening the input succeeded. reason: for
 * which it has failed, if it has. */
static bool refuse_name(struct gpume_input *input, const char *reason)
{
    char protocol[32];
    char *refused = input->refused;
    const struct gpume_trust *trust = &input->options->trust;
    if (refused[0] == '\0' && strstr(reason, "not on whitelist") &&
        sscanf(reason, "Protocol '%31[^']'", protocol) == 1) {
        input->is_remote = !is_protocol_of(protocol, LOCAL "," LISTS);
        snprintf(refused, sizeof input->refused,
            input->is_remote ? "the network (%s)" : "another %s", protocol);
    }
    if (refused[0] == '\0') {
        return false;
    }
    if (input->pipe && !input->is_remote) {
        gpume_log_write(&input->options->log, GPUME_LOG_ERROR,
            "%s: refers to other files, which cannot be found from a pipe; give the file's name "
            "and, where it can be trusted, --allow-files",
            input->label);
    } else if (input->is_remote ? !trust->network : !trust->files) {
        gpume_log_write(&input->options->log, GPUME_LOG_ERROR,
            "%s: refers to %s, which is opened only with --allow-%s; give it where the file can be "
            "trusted",
            input->label, refused, input->is_remote ? "network" : "files");
    } else {
        gpume_log_write(&input->options->log, GPUME_LOG_ERROR,
            "%s: refers to %s, which no option opens; give the name of the video itself",
            input->label, refused);
    }
    return true;
}

/* --- lists of videos, whose files FFmpeg opens one after the other, without a word to us */

/* Adds a name from the list, which is relative to the list's folder. */
static int add_listed_name(const char *list, const char *name)
{
    const size_t folder = name[0] == '/' || strstr(name, ":/") ? 0 : gpume_path_folder(list);
    char *path = gpume_path_join(list, folder, name);
    const int status = path ? gpume_inputs_add(path) : GPUME_NOMEM;
    free(path);
    return status;
}

/* plain: the line is a name; otherwise the name follows the word "file". */
static int add_listed_line(const char *list, const char *line, bool plain)
{
    static const char blanks[] = " \n\t\r";
    const char *at = line + strspn(line, blanks);
    if (!plain) {
        if (strncmp(at, "file", 4) != 0 || !at[4] || !strchr(blanks, at[4])) {
            return GPUME_OK;
        }
        at += 4;
    }
    char *name = av_get_token(&at, plain ? "\r\n" : blanks);
    const int status = name ? add_listed_name(plain ? "" : list, name) : GPUME_NOMEM;
    av_free(name);
    return status;
}

/* Adds the files that the input names, if it is a list, to those that are read. GPUME_NOMEM. */
static int add_listed(const struct gpume_input *input)
{
    const bool plain = strncmp(input->path, PLAIN_LIST, strlen(PLAIN_LIST)) == 0;
    if (!plain && strcmp(input->format->iformat->name, "concat") != 0) {
        return GPUME_OK;
    }
    int status = GPUME_OK;
    const char *list = plain ? input->path + strlen(PLAIN_LIST) : gpume_path_of_input(input->path);
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(list, "r");
    while (file && status == GPUME_OK && getline(&line, &room, file) >= 0) {
        status = add_listed_line(list, line, plain);
    }
    free(line);
    if (file) {
        fclose(file);
    }
    return status;
}

/* --- opening */

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
static int make_input_url(const char *path, bool exists, char **url, AVDictionary **options)
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
            options, "safe", "0", 0); /* the concat demuxer's own check; open_name is stricter */
    } else if (gpume_pattern_find_input(path, &first) && first <= INT32_MAX) {
        error |= av_dict_set_int(options, "start_number", (int64_t)first, 0);
    }
    return error < 0 ? GPUME_NOMEM : GPUME_OK;
}

/* Whether it looks like a list of files without the first line by which FFmpeg knows one. */
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

static int refuse_input(const struct gpume_input *input, int error)
{
    const char *path = input->path, *label = input->label;
    const struct gpume_log *log = &input->options->log;
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
    const bool useless = error == AVERROR_INVALIDDATA || error == AVERROR_EOF;
    const bool empty =
        input->pipe ? !input->piped : exists && S_ISREG(st.st_mode) && st.st_size == 0;
    if ((useless || error == AVERROR(EINVAL)) && empty) {
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
            "'ffconcat version 1.0' as its first line",
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

/* Opens standard input or a named pipe so that waiting for its writer can be cancelled. */
static int open_pipe(struct gpume_input *input)
{
    bool named = strcmp(input->path, "-") != 0;
    input->fd = named ? open(input->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : STDIN_FILENO;
    if (input->fd < 0) {
        return refuse_input(input, AVERROR(errno));
    }
    if (!named && isatty(STDIN_FILENO)) {
        return gpume_log_fail(&input->options->log, GPUME_IO,
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

static int open_format(struct gpume_input *input)
{
    int status = GPUME_OK;
    struct stat st;
    char *url = NULL;
    AVDictionary *options = NULL;
    const bool exists = stat(input->path, &st) == 0;
    const bool piped = strcmp(input->path, "-") == 0 || (exists && S_ISFIFO(st.st_mode));
    const char *lacking = exists || piped ? NULL : lacking_option(input, input->path);
    if (lacking) {
        return lacking[0] ? gpume_log_fail(&input->options->log, GPUME_IO,
                                "%s: is opened only with %s", input->path, lacking)
                          : gpume_log_fail(&input->options->log, GPUME_IO,
                                "%s: is the name of a protocol that is never opened; give the name "
                                "that it wraps",
                                input->path);
    }
    GPUME_TRY(make_input_url(piped ? "pipe:" : input->path, exists && !piped, &url, &options));
    GPUME_TRY(piped ? open_pipe(input) : GPUME_OK);
    GPUME_TRY(restrict_names(input, piped));
    gpume_libav_quiet();
    const int error =
        gpume_libav_check_memory(avformat_open_input(&input->format, url, NULL, &options));
    if (error < 0) {
        status = atomic_load(input->cancel)                  ? GPUME_CANCELLED
                 : refuse_name(input, gpume_libav_reason(0)) ? GPUME_IO
                                                             : refuse_input(input, error);
    } else if (strcmp(input->format->iformat->name, "tty") == 0) {
        /* libavformat would render any .txt file as a terminal screen */
        status = gpume_log_fail(&input->options->log, GPUME_FORMAT,
            "%s: is text; give a file with video", input->label);
    } else {
        status = add_listed(input);
    }
fail:
    av_dict_free(&options);
    free(url);
    return status;
}

/* Probes the streams with decoders that enforce the limit on pixels. */
static int find_streams(struct gpume_input *input)
{
    const unsigned count = input->format->nb_streams;
    const int64_t max_pixels = gpume_limits_decoder(&input->options->trust);
    AVDictionary **options = count > 0 ? av_calloc(count, sizeof *options) : NULL;
    for (unsigned i = 0; options && i < count; i++) {
        (void)av_dict_set_int(&options[i], "max_pixels", max_pixels, 0);
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

int gpume_input_open(struct gpume_input *input, const struct gpume_source_options *options,
    uint32_t index, atomic_bool *cancel)
{
    *input = (struct gpume_input){
        .options = options,
        .path = options->paths[index],
        .label = gpume_input_label(options->paths[index]),
        .cancel = cancel,
        .fd = -1,
        .format = avformat_alloc_context(),
    };
    if (!input->format) {
        return GPUME_NOMEM;
    }
    input->format->interrupt_callback = (AVIOInterruptCB){.callback = interrupted, .opaque = input};
    GPUME_CHECK(open_format(input));
    const int error = find_streams(input);
    if (atomic_load(cancel)) {
        return GPUME_CANCELLED;
    }
    if (refuse_name(input, gpume_libav_reason(0))) {
        return GPUME_IO;
    }
    return error < 0 ? refuse_input(input, error) : GPUME_OK;
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

/* --- how large pictures may be */

/* 16384 x 16384: limits the memory that a forged header can claim. */
#define PIXELS_MAX (INT64_C(1) << 28)
#define ROUNDED_PIXELS (1u << 20) /* rounding can make narrow pictures more than 4 times larger */

/* Decoders apply the limit to sides rounded up to multiples of 64 and more, so it is lenient here;
 * the frames that they return are checked against the exact limit. */
static uint64_t by_pixels(const struct gpume_trust *trust)
{
    return trust->max_pixels > 0 ? 4 * trust->max_pixels + ROUNDED_PIXELS : UINT64_MAX;
}

/* Every pixel takes at least one byte, in the decoder or in the engine. */
static uint64_t by_memory(const struct gpume_trust *trust)
{
    return trust->max_memory > 0 ? trust->max_memory + ROUNDED_PIXELS : UINT64_MAX;
}

int64_t gpume_limits_decoder(const struct gpume_trust *trust)
{
    const uint64_t pixels = by_pixels(trust), memory = by_memory(trust);
    const uint64_t limit = pixels < memory ? pixels : memory;
    return limit < PIXELS_MAX ? (int64_t)limit : PIXELS_MAX;
}

uint64_t gpume_limits_bytes(const struct AVCodecParameters *codec)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get((enum AVPixelFormat)codec->format);
    const bool known = format && codec->width > 0 && codec->height > 0;
    const uint64_t bits = known ? (uint64_t)av_get_padded_bits_per_pixel(format) : 0;
    return known ? (uint64_t)codec->width * (uint64_t)codec->height * bits / 8 : 0;
}

int gpume_limits_check_size(const struct gpume_trust *trust, const char *label, const char *graph,
    int width, int height, const struct gpume_log *log)
{
    if (trust->max_pixels == 0 || width <= 0 || height <= 0 ||
        (uint64_t)width * (uint64_t)height <= trust->max_pixels) {
        return GPUME_OK;
    }
    return gpume_log_fail(log, GPUME_UNSUPPORTED,
        "%s: %s%s%s%dx%d, more pixels than --max-pixels %" PRIu64 " allows; raise it or %s", label,
        graph ? "--vf " : "its pictures are ", graph ? graph : "", graph ? " gives " : "", width,
        height, trust->max_pixels, graph ? "correct the graph" : "give a smaller video");
}

int gpume_limits_check_sides(const char *label, const char *graph, uint32_t width, uint32_t height,
    const struct gpume_log *log)
{
    if (width <= GPUME_SIDE_MAX && height <= GPUME_SIDE_MAX) {
        return GPUME_OK;
    }
    return gpume_log_fail(log, GPUME_UNSUPPORTED,
        "%s: its pictures are %ux%u%s%s, and no side may be above %d; give smaller pictures", label,
        width, height, graph ? " after --vf " : "", graph ? graph : "", GPUME_SIDE_MAX);
}

int gpume_limits_check_bytes(const struct gpume_trust *trust, const char *label, uint64_t bytes,
    uint32_t inputs, const struct gpume_log *log)
{
    if (trust->max_memory == 0 || bytes <= trust->max_memory) {
        return GPUME_OK;
    }
    return gpume_log_fail(log, GPUME_UNSUPPORTED,
        "%s: decoding%s alone takes at least %" PRIu64 " bytes of memory, --max-memory allows "
        "%" PRIu64 "; raise it or give smaller pictures",
        label, inputs > 1 ? " both inputs" : "", bytes, trust->max_memory);
}

int gpume_limits_refuse(const struct gpume_trust *trust, const char *label, uint64_t frames,
    const struct gpume_log *log)
{
    const bool memory = by_memory(trust) < by_pixels(trust);
    if (gpume_limits_decoder(trust) == PIXELS_MAX) {
        return GPUME_OK;
    }
    return gpume_log_fail(log, GPUME_UNSUPPORTED,
        "%s: after frame %" PRIu64 " it has pictures of more %s than %s %" PRIu64
        " allows; raise it or give a smaller video",
        label, frames, memory ? "bytes" : "pixels", memory ? "--max-memory" : "--max-pixels",
        memory ? trust->max_memory : trust->max_pixels);
}
