/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roi: encodes a video with a map of QP offsets for each frame, through FFmpeg's regions of
 * interest.
 *
 *     gpume qpmap INPUT -o MAP --side 16
 *     roi [-y] INPUT MAP OUTPUT [ENCODER [BITRATE]]
 *
 * MAP is a text as `gpume qpmap --format kvazaar` writes it: for each frame the columns and rows of
 * a map, then its offsets. This program shows how to turn such a map into side data of type
 * AV_FRAME_DATA_REGIONS_OF_INTEREST, one region for each run of equal offsets in a row, and gives
 * the frames to an encoder of libavcodec that reads it: libx264 (default), libx265, libvpx or
 * libvpx-vp9. If the map ends before the video, it begins again, as kvazaar does. The trees of
 * libx264 and libx265 are off, for the map has the offsets of one already. The squares of a map
 * have the largest side, of 64, 48, 32 and 16 pixels, at which they are as many as the map says; if
 * there is none, the map is stretched over the picture. libvpx takes three different offsets in a
 * frame, libvpx-vp9 seven; libavcodec warns of more, and ignores them.
 *
 * BITRATE is in bits per second (default: a million). ENCODER must accept the pixel format of
 * INPUT. -y replaces OUTPUT if it exists. Exit status: 0 success, 1 failure, 2 wrong usage.
 */
#include "output.h"
#include "video.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QP_RANGE 51 /* libavcodec multiplies a region's offset by this, for 8 bits */
#define MAP_MAX 1000000
#define SIDE_MAX 64 /* of `gpume qpmap`, in pixels */
#define SIDE_STEP 16

struct encoding {
    struct video video;
    struct output file;
    const char *path, *encoder_name;
    int64_t bitrate;
    FILE *map;
    int columns, rows;
    int *offsets; /* of the current frame, in QP */
    AVCodecContext *encoder;
    AVFormatContext *output;
    AVPacket *packet;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "roi: %s: %s\n", what, why);
    return -1;
}

static int fail_libav(const char *what, int error)
{
    char why[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(error, why, sizeof why);
    return fail(what, why);
}

/* Reads the columns and rows of the next map; at the end of the file those of the first one. */
static int read_size(struct encoding *encoding)
{
    int columns = 0, rows = 0;
    int read = fscanf(encoding->map, "%d %d", &columns, &rows);
    if (read == EOF) {
        rewind(encoding->map);
        read = fscanf(encoding->map, "%d %d", &columns, &rows);
    }
    if (read != 2 || columns < 1 || rows < 1 || columns > MAP_MAX / rows) {
        return fail("the map", "columns and rows expected");
    }
    int *offsets = realloc(encoding->offsets, (size_t)(columns * rows) * sizeof *offsets);
    if (!offsets) {
        return fail("the map", "out of memory");
    }
    encoding->offsets = offsets;
    encoding->columns = columns;
    encoding->rows = rows;
    return 0;
}

static int read_map(struct encoding *encoding)
{
    if (read_size(encoding) < 0) {
        return -1;
    }
    for (int i = 0; i < encoding->columns * encoding->rows; i++) {
        if (fscanf(encoding->map, "%d", &encoding->offsets[i]) != 1) {
            return fail("the map", "it ends within a frame");
        }
    }
    return 0;
}

/* The side of squares, as gpume has them, of which the map has as many as the picture. 0: none; the
 * map is stretched over the picture. */
static int find_side(const struct encoding *encoding)
{
    for (int side = SIDE_MAX; side > 0; side -= SIDE_STEP) {
        if (encoding->columns == (encoding->video.width + side - 1) / side &&
            encoding->rows == (encoding->video.height + side - 1) / side) {
            return side;
        }
    }
    return 0;
}

/* Square `index` of `count` begins at this pixel. */
static int edge(int index, int count, int side, int pixels)
{
    const int64_t at = side > 0 ? (int64_t)index * side : (int64_t)index * pixels / count;
    return at < pixels ? (int)at : pixels;
}

/* Writes a region for each run of equal offsets, and returns their number. */
static size_t make_regions(const struct encoding *encoding, AVRegionOfInterest *regions)
{
    const int width = encoding->video.width, height = encoding->video.height;
    const int side = find_side(encoding);
    size_t count = 0;
    for (int y = 0; y < encoding->rows; y++) {
        const int *row = encoding->offsets + y * encoding->columns;
        for (int x = 0, end; x < encoding->columns; x = end) {
            for (end = x + 1; end < encoding->columns && row[end] == row[x]; end++) {
            }
            const int offset = row[x] < -QP_RANGE  ? -QP_RANGE
                               : row[x] > QP_RANGE ? QP_RANGE
                                                   : row[x];
            regions[count++] = (AVRegionOfInterest){
                .self_size = sizeof *regions,
                .top = edge(y, encoding->rows, side, height),
                .bottom = edge(y + 1, encoding->rows, side, height),
                .left = edge(x, encoding->columns, side, width),
                .right = edge(end, encoding->columns, side, width),
                .qoffset = {offset, QP_RANGE},
            };
        }
    }
    return count;
}

/* Attaches the next map of the file to the frame. */
static int attach_map(struct encoding *encoding, AVFrame *frame)
{
    if (read_map(encoding) < 0) {
        return -1;
    }
    const size_t squares = (size_t)(encoding->columns * encoding->rows);
    AVRegionOfInterest *regions = calloc(squares, sizeof *regions);
    const size_t count = regions ? make_regions(encoding, regions) : 0;
    AVFrameSideData *data = count > 0
                                ? av_frame_new_side_data(frame, AV_FRAME_DATA_REGIONS_OF_INTEREST,
                                      count * sizeof *regions)
                                : NULL;
    if (data) {
        memcpy(data->data, regions, count * sizeof *regions);
    }
    free(regions);
    return data ? 0 : fail("regions", "out of memory");
}

/* What an encoder needs to read regions, and not to use its own tree. */
static int set_options(AVDictionary **options, const char *encoder)
{
    static const struct {
        const char *encoder, *key, *value;
    } needed[] = {{"libx264", "mbtree", "0"}, {"libx265", "x265-params", "cutree=0"},
        {"libvpx-vp9", "deadline", "realtime"}, {"libvpx-vp9", "cpu-used", "5"},
        {"libvpx-vp9", "aq-mode", "0"}};
    int error = 0;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0] && error >= 0; i++) {
        if (strcmp(encoder, needed[i].encoder) == 0) {
            error = av_dict_set(options, needed[i].key, needed[i].value, 0);
        }
    }
    return error;
}

static int open_encoder(struct encoding *encoding)
{
    const struct video *video = &encoding->video;
    const char *name = encoding->encoder_name;
    const AVStream *stream = video->format->streams[video->stream];
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    AVCodecContext *encoder = codec ? avcodec_alloc_context3(codec) : NULL;
    encoding->encoder = encoder;
    if (!encoder) {
        return fail(name, "this libavcodec has no such encoder");
    }
    encoder->width = video->width;
    encoder->height = video->height;
    encoder->pix_fmt = video->pixel_format;
    encoder->time_base = stream->time_base;
    encoder->framerate = stream->avg_frame_rate;
    encoder->bit_rate = encoding->bitrate;
    if (encoding->output->oformat->flags & AVFMT_GLOBALHEADER) {
        encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    }
    AVDictionary *options = NULL;
    int error = set_options(&options, name);
    error = error < 0 ? error : avcodec_open2(encoder, codec, &options);
    av_dict_free(&options);
    return error < 0 ? fail_libav(name, error) : 0;
}

/* Needs the first frame, which says size and format. */
static int open_output(struct encoding *encoding)
{
    const char *path = encoding->path;
    int error = avformat_alloc_output_context2(&encoding->output, NULL, NULL, path);
    if (error < 0) {
        return fail_libav(path, error);
    }
    encoding->output->flags |= AVFMT_FLAG_BITEXACT; /* no date, no random numbers */
    if (open_encoder(encoding) < 0) {
        return -1;
    }
    AVStream *stream = avformat_new_stream(encoding->output, NULL);
    encoding->packet = av_packet_alloc();
    if (!stream || !encoding->packet) {
        return fail(path, "out of memory");
    }
    stream->time_base = encoding->encoder->time_base;
    error = avcodec_parameters_from_context(stream->codecpar, encoding->encoder);
    error =
        error < 0 ? error : avio_open(&encoding->output->pb, encoding->file.name, AVIO_FLAG_WRITE);
    error = error < 0 ? error : avformat_write_header(encoding->output, NULL);
    return error < 0 ? fail_libav(path, error) : 0;
}

/* frame NULL: no more frames. */
static int encode(struct encoding *encoding, const AVFrame *frame)
{
    int error = avcodec_send_frame(encoding->encoder, frame);
    while (error >= 0) {
        error = avcodec_receive_packet(encoding->encoder, encoding->packet);
        if (error >= 0) {
            av_packet_rescale_ts(encoding->packet, encoding->encoder->time_base,
                encoding->output->streams[0]->time_base);
            error = av_interleaved_write_frame(encoding->output, encoding->packet);
        }
    }
    return error == AVERROR(EAGAIN) || error == AVERROR_EOF ? 0 : fail_libav("encoding", error);
}

static int run(struct encoding *encoding)
{
    int got;
    while ((got = video_next(&encoding->video)) > 0) {
        AVFrame *frame = encoding->video.frame;
        frame->pict_type = AV_PICTURE_TYPE_NONE; /* the encoder's choice, not the input's */
        if (!encoding->output && open_output(encoding) < 0) {
            return -1;
        }
        if (attach_map(encoding, frame) < 0 || encode(encoding, frame) < 0) {
            return -1;
        }
    }
    if (got < 0 || !encoding->output) {
        return got < 0 ? got : fail("the video", "it has no frames");
    }
    if (encode(encoding, NULL) < 0) {
        return -1;
    }
    int error = av_write_trailer(encoding->output);
    const int closed = avio_closep(&encoding->output->pb);
    error = error < 0 ? error : closed;
    return error < 0 ? fail_libav("the output", error) : 0;
}

static void close_all(struct encoding *encoding)
{
    if (encoding->output && encoding->output->pb) {
        avio_closep(&encoding->output->pb);
    }
    avformat_free_context(encoding->output);
    avcodec_free_context(&encoding->encoder);
    av_packet_free(&encoding->packet);
    if (encoding->map) {
        fclose(encoding->map);
    }
    free(encoding->offsets);
    video_close(&encoding->video);
}

int main(int argc, char **argv)
{
    const bool overwrite = argc > 1 && strcmp(argv[1], "-y") == 0;
    argc -= overwrite;
    argv += overwrite;
    struct encoding encoding = {
        .video = {.program = "roi"},
        .file = {.program = "roi", .overwrite = overwrite},
        .path = argc > 3 ? argv[3] : NULL,
        .encoder_name = argc > 4 ? argv[4] : "libx264",
        .bitrate = argc > 5 ? atoll(argv[5]) : 1000000,
    };
    if (argc < 4 || argc > 6 || encoding.bitrate <= 0) {
        fprintf(stderr, "usage: roi [-y] INPUT MAP OUTPUT [ENCODER [BITRATE]]\n");
        return 2;
    }
    encoding.map = fopen(argv[2], "r");
    int status = encoding.map ? output_choose(&encoding.file, argv[1], argv[3])
                              : fail(argv[2], "cannot be read");
    status = status < 0 ? status : video_open(&encoding.video, argv[1]);
    status = status < 0 ? status : run(&encoding);
    close_all(&encoding);
    status = output_finish(&encoding.file, status);
    return status < 0 ? 1 : 0;
}
