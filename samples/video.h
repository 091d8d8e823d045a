/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The libav side of the samples that read a video: a file, its best video stream, that stream's
 * frames, and their luma as gpume takes it. Nothing of gpume but struct gpume_plane.
 *
 *     struct video video = {.program = "name"};
 *     video_open(&video, path);
 *     while (video_next(&video) > 0)         video.frame, video_time_us, video_fill
 *     video_close(&video);
 *
 * Functions that fail return a negative number, after a line on standard error that begins with the
 * program's name.
 */
#ifndef SAMPLES_VIDEO_H
#define SAMPLES_VIDEO_H

#include <gpume/gpume.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

struct video {
    const char *program; /* for messages */
    AVFormatContext *format;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame; /* the newest decoded frame */
    int stream;
    uint32_t bits;                   /* of a luma sample */
    int width, height, pixel_format; /* of the first frame, and so of all */
};

int video_open(struct video *video, const char *path);

/* Also after video_open failed. */
void video_close(struct video *video);

/* 1: video->frame is the next frame, of the first one's size and format; 0: there is none left. */
int video_next(struct video *video);

/* Presentation time of the frame, microseconds; 0 if the file does not tell. */
int64_t video_time_us(const struct video *video);

/* Copies the frame's luma to where gpume reads it. */
void video_fill(const struct video *video, const struct gpume_plane *plane);

#endif
