/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a video with libav for the samples: opens a file, decodes its best video stream and copies
 * the luma of its frames for gpume.
 *
 *     struct video video = {.program = "name"};
 *     video_open(&video, path);
 *     while (video_next(&video) > 0)         video.frame, video_time_us, video_fill
 *     video_close(&video);
 *
 * Functions that fail print one line to standard error, beginning with the program's name, and
 * return a negative number.
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
    int width, height, pixel_format; /* of all frames */
};

int video_open(struct video *video, const char *path);

/* Needed after a failed video_open too. */
void video_close(struct video *video);

/* Returns 1 with the next frame in video->frame; 0 at the end. All frames have the size and format
 * of the first; another one is a failure. */
int video_next(struct video *video);

/* The presentation time of the frame in microseconds; 0 if unknown. */
int64_t video_time_us(const struct video *video);

/* Copies the frame's luma to *plane. */
void video_fill(const struct video *video, const struct gpume_plane *plane);

#endif
