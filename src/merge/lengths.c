/* SPDX-License-Identifier: BSD-2-Clause */
#include "merge/lengths.h"

#include "base/status.h"
#include "files/little_endian.h"
#include "files/remedy.h"
#include "vectors/formats/npy_header.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NPY_SHAPE "'shape': ("
#define FRAME_LINE "FRAME\n"
#define FRAME_BYTES (sizeof(FRAME_LINE) - 1)
#define FIELD_BYTES 48u /* of an .mvf: the head of a field */
#define STILL_BYTES 64u /* of a picture: its head, but for that of a .png */

int gpume_merge_refuse(const char *path, const char *why, const struct gpume_log *log)
{
    return gpume_log_fail(log, GPUME_INVALID, "%s: %s; run that part again", path, why);
}

int gpume_merge_complain(const char *path, int error, const struct gpume_log *log)
{
    if (error == ENOENT || error == ENOTDIR) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is missing: the part is incomplete, or was run without this output", path);
    }
    return gpume_log_fail(log, GPUME_IO, "%s: cannot be read: %s; %s", path, strerror(error),
        gpume_remedy(error, "check its permissions"));
}

ssize_t gpume_merge_read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    ssize_t got;
    do {
        got = pread(fd, to, bytes, (off_t)at);
    } while (got < 0 && errno == EINTR);
    return got;
}

static bool read_all(int fd, void *to, size_t bytes, uint64_t at)
{
    return gpume_merge_read_at(fd, to, bytes, at) == (ssize_t)bytes;
}

/* The samples of a picture in bytes, by the line that gpume writes; 0: it is another one. */
static uint64_t y4m_picture_bytes(const struct gpume_join_file *file)
{
    static const struct {
        const char *space;
        unsigned bytes;
    } spaces[] = {{" Cmono ", 1}, {" C444 ", 3}, {" Cmono9 ", 2}, {" Cmono10 ", 2},
        {" Cmono12 ", 2}, {" Cmono16 ", 2}};
    char line[1024];
    uint32_t width = 0, height = 0;
    snprintf(line, sizeof(line), "%.*s", (int)file->head_bytes, (const char *)file->head);
    if (sscanf(line, "YUV4MPEG2 W%9" SCNu32 " H%9" SCNu32 " ", &width, &height) != 2) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        if (strstr(line, spaces[i].space)) {
            return (uint64_t)width * height * spaces[i].bytes;
        }
    }
    return 0;
}

/* Every frame is its line and a picture of the size that the head gives. */
int gpume_merge_length_y4m(struct gpume_join_file *file, int fd, const struct gpume_log *log)
{
    const uint64_t body = file->bytes - file->head_bytes, picture = y4m_picture_bytes(file);
    const uint64_t step = FRAME_BYTES + picture;
    bool fits = picture > 0 && body % step == 0;
    file->rows = body / step;
    for (uint64_t i = 0; i < file->rows && fits; i++) {
        char line[FRAME_BYTES];
        fits = read_all(fd, line, sizeof(line), file->head_bytes + i * step) &&
               memcmp(line, FRAME_LINE, sizeof(line)) == 0;
    }
    return fits ? GPUME_OK
                : gpume_merge_refuse(file->path, "does not consist of whole pictures", log);
}

/* The heads of its fields say how long each is, and how many records it has. */
int gpume_merge_length_mvf(struct gpume_join_file *file, int fd, const struct gpume_log *log)
{
    const uint64_t record = gpume_le_get32(file->head + 32);
    uint64_t at = file->head_bytes;
    bool fits = at >= GPUME_MERGE_MVF_HEAD_BYTES && record > 0;
    for (; at < file->bytes && fits; file->fields++) {
        unsigned char head[FIELD_BYTES];
        fits = read_all(fd, head, sizeof(head), at) && memcmp(head, "FIEL", 4) == 0 &&
               gpume_le_get32(head + 4) >= sizeof(head);
        const uint64_t bytes = fits ? gpume_le_get64(head + 8) : 0;
        const uint64_t records =
            fits ? (uint64_t)gpume_le_get32(head + 40) * gpume_le_get32(head + 44) : 0;
        fits = fits && bytes < file->bytes && bytes % record == 0 && bytes / record == records;
        at += fits ? gpume_le_get32(head + 4) + bytes : 0;
        file->rows += records;
    }
    return fits && at == file->bytes
               ? GPUME_OK
               : gpume_merge_refuse(file->path, "is not as long as its heads say", log);
}

/* Finds the number of rows in the head, as gpume writes it. */
static bool find_rows(struct gpume_join_file *file)
{
    char text[40];
    const size_t length =
        (size_t)snprintf(text, sizeof(text), NPY_SHAPE "%" PRIu64 ",", file->rows);
    for (size_t i = 10; i + length < file->head_bytes; i++) {
        if (memcmp(file->head + i, text, length) == 0) {
            file->rows_at = i + sizeof(NPY_SHAPE) - 1;
            file->rows_digits = length - sizeof(NPY_SHAPE);
            return true;
        }
    }
    return false;
}

static int read_npy(const char *path, struct gpume_npy *npy, const struct gpume_log *log)
{
    struct gpume_stream *stream = NULL;
    int status;
    GPUME_TRY(gpume_stream_open(&stream, path, log));
    status = gpume_npy_read(stream, npy);
fail:
    gpume_stream_close(&stream);
    return status;
}

/* Whether the array fills this many bytes. */
static bool npy_fits(const struct gpume_npy *npy, uint64_t bytes)
{
    const uint64_t items = bytes / npy->item_bytes, rows = npy->shape[0],
                   across = npy->dimensions == 2 ? npy->shape[1] : 1;
    return bytes % npy->item_bytes == 0 && rows > 0 && across > 0 && items % rows == 0 &&
           items / rows == across;
}

/* The head says how many rows there are, and how long each is. */
int gpume_merge_length_npy(struct gpume_join_file *file, int fd, const struct gpume_log *log)
{
    struct gpume_npy npy;
    (void)fd;
    GPUME_CHECK(read_npy(file->path, &npy, log));
    file->rows = npy.shape[0];
    if (npy.dimensions != 1 || !find_rows(file)) {
        return gpume_merge_refuse(file->path, "was written by another program", log);
    }
    return npy_fits(&npy, file->bytes - file->head_bytes)
               ? GPUME_OK
               : gpume_merge_refuse(
                     file->path, "has another number of rows than its head says", log);
}

static uint32_t big_endian32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Chunks of a length, a name, their data and a checksum, of which the last is IEND. */
static bool png_fits(int fd, uint64_t bytes)
{
    unsigned char chunk[8];
    uint64_t at = 8;
    while (at < bytes && read_all(fd, chunk, sizeof(chunk), at)) {
        at += 12 + (uint64_t)big_endian32(chunk);
        if (memcmp(chunk + 4, "IEND", 4) == 0) {
            return at == bytes;
        }
    }
    return false;
}

/* Where the first scan of a .jpg begins, after segments that state their lengths; 0: nowhere. */
static uint64_t jpg_scan(int fd, uint64_t bytes)
{
    unsigned char segment[4];
    uint64_t at = 2;
    while (at < bytes && read_all(fd, segment, sizeof(segment), at) && segment[0] == 0xff) {
        at += 2 + (uint64_t)(segment[2] << 8 | segment[3]);
        if (segment[1] == 0xda) {
            return at;
        }
    }
    return 0;
}

/* The first mark of an end after it is that of the file. */
static bool jpg_fits(int fd, uint64_t bytes)
{
    unsigned char data[4096];
    ssize_t got = 1;
    bool marked = false; /* the last byte may begin a mark */
    for (uint64_t at = jpg_scan(fd, bytes); at > 0 && got > 0; at += (uint64_t)got) {
        got = gpume_merge_read_at(fd, data, sizeof(data), at);
        for (ssize_t i = 0; i < got; i++) {
            if (marked && data[i] == 0xd9) {
                return at + (uint64_t)i + 1 == bytes;
            }
            marked = data[i] == 0xff;
        }
        got = got < 0 ? 0 : got;
    }
    return false;
}

/* PGM, of one sample per pixel, and PPM, of three. */
static bool pnm_fits(const char *head, uint64_t bytes)
{
    uint32_t width = 0, height = 0, most = 0;
    int length = 0;
    if (sscanf(head + 2, "%9" SCNu32 " %9" SCNu32 " %9" SCNu32 "%n", &width, &height, &most,
            &length) != 3) {
        return false;
    }
    const uint64_t samples = (uint64_t)width * height * (head[1] == '6' ? 3 : 1);
    return bytes == 2 + (uint64_t)length + 1 + samples * (most > 255 ? 2 : 1);
}

/* head: of STILL_BYTES, zero where the file has fewer, and one zero more. */
static bool still_fits(const unsigned char *head, int fd, uint64_t bytes)
{
    const char *text = (const char *)head;
    if (memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0) {
        return png_fits(fd, bytes);
    }
    if (memcmp(head, "\xff\xd8\xff", 3) == 0) {
        return jpg_fits(fd, bytes);
    }
    if (memcmp(head, "P5", 2) == 0 || memcmp(head, "P6", 2) == 0) {
        return pnm_fits(text, bytes);
    }
    if (memcmp(head, "BM", 2) == 0) {
        return gpume_le_get32(head + 2) == bytes;
    }
    return memcmp(head, "PIEH", 4) == 0 && /* .flo: two floats for each pixel */
           bytes == 12 + 8 * (uint64_t)gpume_le_get32(head + 4) * gpume_le_get32(head + 8);
}

static int check_still(const char *path, int fd, const struct gpume_log *log)
{
    unsigned char head[STILL_BYTES + 1] = {0};
    struct stat info;
    struct gpume_npy npy;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
        return gpume_merge_refuse(path, "is empty, or no file", log);
    }
    const uint64_t bytes = (uint64_t)info.st_size;
    if (gpume_merge_read_at(fd, head, STILL_BYTES, 0) < 0) {
        return gpume_log_fail(log, GPUME_IO, "%s: cannot be read: %s; %s", path, strerror(errno),
            gpume_remedy(errno, "check its permissions"));
    }
    bool fits;
    if (memcmp(head, GPUME_NPY_MAGIC "\x01", GPUME_NPY_MAGIC_BYTES + 1) == 0) {
        GPUME_CHECK(read_npy(path, &npy, log));
        const uint64_t start = 10u + gpume_le_get16(head + 8);
        fits = bytes >= start && npy_fits(&npy, bytes - start);
    } else {
        fits = still_fits(head, fd, bytes);
    }
    return fits ? GPUME_OK : gpume_merge_refuse(path, "is not as long as its head says", log);
}

int gpume_merge_length_still(const char *path, const struct gpume_log *log)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return gpume_merge_complain(path, errno, log);
    }
    const int status = check_still(path, fd, log);
    (void)close(fd);
    return status;
}
