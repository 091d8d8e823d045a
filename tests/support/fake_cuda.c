/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A substitute for libcuda.so.1 and libnvcuvid.so.1, which FFmpeg loads: device memory is host
 * memory, and the decoder reads the next picture from a raw file that was decoded beforehand (NV12,
 * or P010 for more than 8 bits), in decoding order. It makes the command's path through FFmpeg's
 * hardware decoding testable on any machine; only the samples do not come from hardware.
 *
 * GPUME_FAKE_NVDEC=FILE:WIDTH:HEIGHT names that file and the size of its pictures; without it no
 * stream is supported. Streams coded wider than the next multiple of 64 are not supported either.
 * A decoder begins with the first picture of the file, unless FILE.index exists: GPUME_FAKE_LEARN
 * makes it, with a hash of the coded data of every picture, by which a decoder that begins within
 * the stream finds its pictures.
 * There is one device, or GPUME_FAKE_CUDA_DEVICES; the number of each that is asked for is appended
 * to the file GPUME_FAKE_CUDA_OPENED. The structures match the parts of NVIDIA's cuda.h and
 * cuviddec.h that are used.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, OUT_OF_MEMORY = 2, UNSUPPORTED = 801, SURFACES = 64, HOST = 1 };

#define SHOWN __attribute__((visibility("default")))

/* Functions that FFmpeg looks up but this test does not need. */
#define STUB(name)                                                                                 \
    SHOWN int name(void);                                                                          \
    int name(void)                                                                                 \
    {                                                                                              \
        return UNSUPPORTED;                                                                        \
    }
/* clang-format off */
STUB(cuDeviceGetCount) STUB(cuDeviceGetName) STUB(cuDeviceComputeCapability) STUB(cuCtxSetLimit)
STUB(cuMemAllocPitch_v2) STUB(cuMemAllocManaged) STUB(cuMemsetD8Async) STUB(cuMemcpy)
STUB(cuMemcpyAsync) STUB(cuMemcpyHtoD_v2) STUB(cuMemcpyHtoDAsync_v2) STUB(cuMemcpyDtoH_v2)
STUB(cuMemcpyDtoHAsync_v2) STUB(cuMemcpyDtoD_v2) STUB(cuMemcpyDtoDAsync_v2) STUB(cuCtxGetDevice)
STUB(cuDevicePrimaryCtxRetain) STUB(cuDevicePrimaryCtxRelease) STUB(cuDevicePrimaryCtxSetFlags)
STUB(cuDevicePrimaryCtxGetState) STUB(cuDevicePrimaryCtxReset) STUB(cuStreamCreate)
STUB(cuStreamQuery) STUB(cuStreamDestroy_v2) STUB(cuStreamAddCallback) STUB(cuEventCreate)
STUB(cuEventDestroy_v2) STUB(cuEventSynchronize) STUB(cuEventQuery) STUB(cuEventRecord)
STUB(cuLaunchKernel) STUB(cuLinkCreate) STUB(cuLinkAddData) STUB(cuLinkComplete)
STUB(cuLinkDestroy) STUB(cuModuleLoadData) STUB(cuModuleUnload) STUB(cuModuleGetFunction)
STUB(cuModuleGetGlobal) STUB(cuTexObjectCreate) STUB(cuTexObjectDestroy) STUB(cuGLGetDevices_v2)
STUB(cuGraphicsGLRegisterImage) STUB(cuGraphicsUnregisterResource) STUB(cuGraphicsMapResources)
STUB(cuGraphicsUnmapResources) STUB(cuDeviceGetUuid) STUB(cuImportExternalMemory)
STUB(cuDestroyExternalMemory) STUB(cuMipmappedArrayGetLevel) STUB(cuMipmappedArrayDestroy)
STUB(cuImportExternalSemaphore) STUB(cuDestroyExternalSemaphore)
STUB(cuWaitExternalSemaphoresAsync) STUB(cuArray3DCreate_v2) STUB(cuArrayDestroy)
STUB(cuEGLStreamProducerConnect) STUB(cuEGLStreamProducerDisconnect)
STUB(cuEGLStreamConsumerDisconnect) STUB(cuGraphicsSubResourceGetMappedArray)
STUB(cuGraphicsResourceGetMappedPointer_v2) STUB(cuExternalMemoryGetMappedBuffer)
STUB(cuExternalMemoryGetMappedMipmappedArray) STUB(cuSignalExternalSemaphoresAsync)
STUB(cuEGLStreamProducerPresentFrame) STUB(cuEGLStreamProducerReturnFrame)
/* since FFmpeg 7 */
STUB(cuDriverGetVersion) STUB(cuCtxGetCurrent) STUB(cuStreamWaitEvent) STUB(cuDeviceGetUuid_v2)
STUB(cuDeviceGetLuid) STUB(cuDeviceGetByPCIBusId) STUB(cuDeviceGetPCIBusId) STUB(cuArrayCreate_v2)
/* of libnvcuvid */
STUB(cuvidGetDecodeStatus) STUB(cuvidReconfigureDecoder) STUB(cuvidCtxLockCreate)
STUB(cuvidCtxLockDestroy) STUB(cuvidCtxLock) STUB(cuvidCtxUnlock) STUB(cuvidCreateVideoSource)
STUB(cuvidCreateVideoSourceW) STUB(cuvidDestroyVideoSource) STUB(cuvidSetVideoSourceState)
STUB(cuvidGetVideoSourceState) STUB(cuvidGetSourceVideoFormat) STUB(cuvidGetSourceAudioFormat)
STUB(cuvidCreateVideoParser) STUB(cuvidParseVideoData) STUB(cuvidDestroyVideoParser)
    /* clang-format on */

    /* --- libcuda */

    struct copy {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    unsigned long long from_device;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    int to_type;
    void *to_host;
    unsigned long long to_device;
    void *to_array;
    size_t to_pitch, width_bytes, height;
};

SHOWN int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    (void)flags;
    return OK;
}

SHOWN int cuDeviceGet(int *device, int ordinal);
int cuDeviceGet(int *device, int ordinal)
{
    const char *devices = getenv("GPUME_FAKE_CUDA_DEVICES");
    const char *list = getenv("GPUME_FAKE_CUDA_OPENED");
    FILE *opened = list ? fopen(list, "a") : NULL;
    *device = ordinal;
    if (opened) {
        fprintf(opened, "%d\n", ordinal);
        fclose(opened);
    }
    return ordinal < (devices ? atoi(devices) : 1) ? OK : UNSUPPORTED;
}

SHOWN int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)attribute;
    (void)device;
    *value = 256; /* the only attribute that FFmpeg queries: texture alignment */
    return OK;
}

SHOWN int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    static char place;
    (void)flags;
    (void)device;
    *context = &place;
    return OK;
}

SHOWN int cuCtxPushCurrent_v2(void *context);
int cuCtxPushCurrent_v2(void *context)
{
    (void)context;
    return OK;
}

SHOWN int cuCtxPopCurrent_v2(void **context);
int cuCtxPopCurrent_v2(void **context)
{
    *context = NULL;
    return OK;
}

SHOWN int cuCtxDestroy_v2(void *context);
int cuCtxDestroy_v2(void *context)
{
    (void)context;
    return OK;
}

SHOWN int cuMemAlloc_v2(unsigned long long *device, size_t bytes);
int cuMemAlloc_v2(unsigned long long *device, size_t bytes)
{
    void *memory = calloc(1, bytes);
    *device = (unsigned long long)(uintptr_t)memory;
    return memory ? OK : OUT_OF_MEMORY;
}

SHOWN int cuMemFree_v2(unsigned long long device);
int cuMemFree_v2(unsigned long long device)
{
    free((void *)(uintptr_t)device);
    return OK;
}

SHOWN int cuMemcpy2D_v2(const struct copy *copy);
int cuMemcpy2D_v2(const struct copy *copy)
{
    const char *from =
        copy->from_type == HOST ? copy->from_host : (const void *)(uintptr_t)copy->from_device;
    char *to = copy->to_type == HOST ? copy->to_host : (void *)(uintptr_t)copy->to_device;
    for (size_t y = 0; y < copy->height; y++) {
        memcpy(to + (copy->to_y + y) * copy->to_pitch + copy->to_x,
            from + (copy->from_y + y) * copy->from_pitch + copy->from_x, copy->width_bytes);
    }
    return OK;
}

SHOWN int cuMemcpy2DAsync_v2(const struct copy *copy, void *stream);
int cuMemcpy2DAsync_v2(const struct copy *copy, void *stream)
{
    (void)stream;
    return cuMemcpy2D_v2(copy);
}

SHOWN int cuStreamSynchronize(void *stream);
int cuStreamSynchronize(void *stream)
{
    (void)stream;
    return OK;
}

SHOWN int cuGetErrorName(int error, const char **text);
int cuGetErrorName(int error, const char **text)
{
    (void)error;
    *text = "CUDA_ERROR_FAKE";
    return OK;
}

SHOWN int cuGetErrorString(int error, const char **text);
int cuGetErrorString(int error, const char **text)
{
    (void)error;
    *text = "the fake device cannot do it";
    return OK;
}

/* --- libnvcuvid */

struct capabilities {
    int codec, chroma;
    unsigned bits_minus_8, reserved1[3];
    unsigned char supported, engines;
    unsigned short formats;
    unsigned max_width, max_height, max_blocks;
    unsigned short min_width, min_height;
};

struct creation {
    unsigned long width, height, surfaces;
    int codec, chroma;
    unsigned long flags, bits_minus_8;
};

struct picture {
    int width_blocks, height_blocks, surface, field, bottom, second;
    unsigned bytes;
    const unsigned char *data;
};

struct decoder {
    FILE *file;
    unsigned width, height;   /* of the pictures in it */
    size_t pitch, rows, wide; /* of a surface, in bytes, lines and bytes a sample */
    unsigned char *surfaces[SURFACES];
    unsigned next; /* picture of the file */
    char index[1040];
};

static FILE *open_file(char path[1024], unsigned *width, unsigned *height)
{
    const char *text = getenv("GPUME_FAKE_NVDEC");
    if (!text || sscanf(text, "%1023[^:]:%u:%u", path, width, height) != 3) {
        return NULL;
    }
    return fopen(path, "rb");
}

SHOWN int cuvidGetDecoderCaps(struct capabilities *is);
int cuvidGetDecoderCaps(struct capabilities *is)
{
    unsigned width = 0, height = 0;
    char path[1024];
    FILE *file = open_file(path, &width, &height);
    is->supported = file != NULL;
    is->engines = 1;
    is->formats = 3; /* NV12, P016 */
    is->max_width = (width + 63) / 64 * 64;
    is->max_height = is->max_blocks = 65535;
    is->min_width = is->min_height = 1;
    if (file) {
        fclose(file);
    }
    return OK;
}

static atomic_uint decoders;

SHOWN int cuvidCreateDecoder(struct decoder **result, const struct creation *how);
int cuvidCreateDecoder(struct decoder **result, const struct creation *how)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder || (atomic_fetch_add(&decoders, 1) > 0 && getenv("GPUME_FAKE_SINGLE"))) {
        free(decoder);
        return OUT_OF_MEMORY;
    }
    char path[1024] = "";
    decoder->file = open_file(path, &decoder->width, &decoder->height);
    snprintf(decoder->index, sizeof decoder->index, "%s.index", path);
    decoder->wide = how->bits_minus_8 > 0 ? 2 : 1;
    decoder->pitch = (how->width * decoder->wide + 255) / 256 * 256;
    decoder->rows = how->height;
    *result = decoder;
    return decoder->file && how->surfaces <= SURFACES ? OK : UNSUPPORTED;
}

SHOWN int cuvidDestroyDecoder(struct decoder *decoder);
int cuvidDestroyDecoder(struct decoder *decoder)
{
    for (int i = 0; i < SURFACES; i++) {
        free(decoder->surfaces[i]);
    }
    if (decoder->file) {
        fclose(decoder->file);
    }
    free(decoder);
    return OK;
}

static uint64_t hash(const struct picture *picture)
{
    uint64_t value = 0xcbf29ce484222325u; /* FNV-1a */
    for (unsigned i = 0; i < picture->bytes; i++) {
        value = (value ^ picture->data[i]) * 0x100000001b3u;
    }
    return value;
}

/* Sets decoder->next to the picture with this coded data: the next one, else the first. */
static void find(struct decoder *decoder, const struct picture *picture)
{
    const uint64_t wanted = hash(picture);
    const char *mode = getenv("GPUME_FAKE_LEARN") ? "ab+" : "rb";
    FILE *index = fopen(decoder->index, mode);
    uint64_t is;
    if (!index) {
        return;
    }
    if (*mode == 'a') {
        fwrite(&wanted, sizeof wanted, 1, index);
    } else if (fseek(index, (long)(decoder->next * sizeof is), SEEK_SET) != 0 ||
               fread(&is, sizeof is, 1, index) != 1 || is != wanted) {
        rewind(index);
        decoder->next = 0;
        while (fread(&is, sizeof is, 1, index) == 1 && is != wanted) {
            decoder->next++;
        }
    }
    fclose(index);
}

SHOWN int cuvidDecodePicture(struct decoder *decoder, const struct picture *picture);
int cuvidDecodePicture(struct decoder *decoder, const struct picture *picture)
{
    unsigned char **surface = &decoder->surfaces[picture->surface % SURFACES];
    const size_t bytes = (decoder->width + 1) / 2 * 2 * decoder->wide;
    const unsigned rows = decoder->height + (decoder->height + 1) / 2;
    if (!*surface) {
        *surface = malloc(decoder->pitch * decoder->rows * 3 / 2);
    }
    if (!*surface) {
        return OUT_OF_MEMORY;
    }
    find(decoder, picture);
    fseek(decoder->file, (long)(decoder->next++ * rows * bytes), SEEK_SET);
    memset(*surface, 0xaa, decoder->pitch * decoder->rows * 3 / 2);
    for (unsigned y = 0; y < rows; y++) {
        const size_t row = y < decoder->height ? y : decoder->rows + y - decoder->height;
        if (fread(*surface + row * decoder->pitch, 1, bytes, decoder->file) != bytes) {
            return UNSUPPORTED;
        }
    }
    return OK;
}

SHOWN int cuvidMapVideoFrame64(struct decoder *decoder, int surface, unsigned long long *device,
    unsigned *pitch, void *parameters);
int cuvidMapVideoFrame64(struct decoder *decoder, int surface, unsigned long long *device,
    unsigned *pitch, void *parameters)
{
    (void)parameters;
    *device = (unsigned long long)(uintptr_t)decoder->surfaces[surface % SURFACES];
    *pitch = (unsigned)decoder->pitch;
    return *device ? OK : UNSUPPORTED;
}

SHOWN int cuvidUnmapVideoFrame64(struct decoder *decoder, unsigned long long device);
int cuvidUnmapVideoFrame64(struct decoder *decoder, unsigned long long device)
{
    (void)decoder;
    (void)device;
    return OK;
}
