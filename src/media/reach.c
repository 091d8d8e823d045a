/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Demultiplexers open other files in two ways: through the format's io_open, which sees every name
 * (hls, dash, imf, mov), and through protocols, whose whitelist nested formats and sockets inherit
 * (concat, vobsub, sdp, rtsp). Both are restricted.
 */
#include "media/reach.h"

#include "base/status.h"
#include "files/inputs.h"

#include <stdio.h>
#include <string.h>

#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/opt.h>

/* Protocols that read files, or parts of files, that the user has named. cache and async, which
 * write and prefetch, are never opened. */
#define LOCAL "file,pipe,fd,concat,subfile,crypto,data"
#define LISTS "concatf" /* reads names from a file */
#define FILES "file,crypto,data"
#define NETWORK                                                                                    \
    "crypto,data,ffrtmphttp,ftp,gopher,gophers,hls,http,httpproxy,https,mmsh,mmst,rist,rtmp,"      \
    "rtmpe,rtmps,rtmpt,rtmpte,rtmpts,rtp,sctp,sftp,srt,srtp,tcp,tls,udp,udplite"
#define NOTHING "none"

static bool is_in(const char *protocol, const char *list)
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

const char *gpume_reach_lacks(const struct gpume_reach *reach, const char *name)
{
    const char *protocol = avio_find_protocol_name(name);
    if (protocol && is_in(protocol, LISTS)) {
        return reach->files ? NULL : "--allow-files";
    }
    if (names_format(name) || (protocol && is_in(protocol, NETWORK) && !is_in(protocol, LOCAL))) {
        return reach->network ? NULL : "--allow-network";
    }
    return !protocol || is_in(protocol, LOCAL) ? NULL : "";
}

/* Protocols that names found in the input may use. */
static const char *inner(const struct gpume_reach *reach)
{
    if (reach->network) {
        return reach->files ? FILES "," NETWORK : NETWORK;
    }
    return reach->files ? FILES : NOTHING;
}

static int set_protocols(AVFormatContext *format, const char *list)
{
    return av_opt_set(format, "protocol_whitelist", list, 0) < 0 ? GPUME_NOMEM : GPUME_OK;
}

static int open_name(AVFormatContext *format, AVIOContext **stream, const char *url, int flags,
    AVDictionary **options)
{
    struct gpume_reach *reach = format->opaque;
    /* Numbered pictures: the user has named all of them */
    const bool own = !reach->opened || (format->iformat && !format->pb &&
                                           strcmp(format->iformat->name, "image2") == 0);
    const char *protocol = avio_find_protocol_name(url);
    if (!own && !(protocol && is_in(protocol, inner(reach)))) {
        if (reach->refused[0] == '\0') {
            snprintf(reach->refused, sizeof reach->refused, "%s", url);
            reach->is_remote = !protocol || !is_in(protocol, LOCAL);
        }
        return AVERROR(EPERM);
    }
    int error = reach->open(format, stream, url, flags, options);
    if (error >= 0 && gpume_inputs_add(url) != GPUME_OK) {
        avio_closep(stream);
        return AVERROR(ENOMEM);
    }
    if (error >= 0 && !reach->opened &&
        !(format->iformat && !strcmp(format->iformat->name, "image2"))) {
        reach->opened = true;
        if (set_protocols(format, inner(reach)) != GPUME_OK) {
            avio_closep(stream);
            return AVERROR(ENOMEM);
        }
    }
    return error;
}

int gpume_reach_attach(struct gpume_reach *reach, AVFormatContext *format, bool given)
{
    reach->opened = given;
    reach->refused[0] = '\0';
    reach->open = format->io_open;
    format->opaque = reach;
    format->io_open = open_name;
    if (given) {
        return set_protocols(format, inner(reach));
    }
    char list[512];
    snprintf(list, sizeof list, LOCAL "%s%s", reach->files ? "," LISTS : "",
        reach->network ? "," NETWORK : "");
    return set_protocols(format, list);
}

bool gpume_reach_has_refused(struct gpume_reach *reach, const char *reason)
{
    char protocol[32];
    if (reach->refused[0] == '\0' && strstr(reason, "not on whitelist") &&
        sscanf(reason, "Protocol '%31[^']'", protocol) == 1) {
        reach->is_remote = !is_in(protocol, LOCAL "," LISTS);
        snprintf(reach->refused, sizeof reach->refused,
            reach->is_remote ? "the network (%s)" : "another %s", protocol);
    }
    return reach->refused[0] != '\0';
}

const char *gpume_reach_option(const struct gpume_reach *reach)
{
    if (reach->is_remote) {
        return reach->network ? NULL : "--allow-network";
    }
    return reach->files ? NULL : "--allow-files";
}
