/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line per field with the SHA-256 of its vectors and costs, like FFmpeg's framehash, so that
 * diff shows whether two runs agree. The hash covers the rows in the order of vectors.csv: dx and
 * dy in units of the run as 16-bit and the cost as a 32-bit little-endian number, then as 64-bit
 * numbers the reference, where blocks of a frame differ in theirs, and each further column that the
 * run asks for.
 */
#include "base/params.h"
#include "files/bytes.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>

#define ROW_BYTES (16u + 8u * (GPUME_BLOCK_COLUMNS - GPUME_BLOCK_SHAPE))
#define FIRST_LINE "#format: gpume field hashes\n"

/* The parameters that determine the vectors; engines and devices do not. */
static size_t hash_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    const struct gpume_vectors_info *info = target->info;
    (void)rows;
    char block[48] = "";
    if (info->block_h != info->block_w) {
        snprintf(block, sizeof(block), "#block: %" PRIu32 "x%" PRIu32 "\n", info->block_w,
            info->block_h);
    } else if (info->block_w > 0) { /* blocks of one shape */
        snprintf(block, sizeof(block), "#block: %" PRIu32 "\n", info->block_w);
    }
    int length = snprintf(at, GPUME_VECTORS_HEAD_BYTES,
        FIRST_LINE "#version: 1\n#hash: SHA256\n"
                   "#size: %" PRIu32 "x%" PRIu32 "\n%s",
        info->width, info->height, block);
    if (info->has_search) {
        length += snprintf(at + length, GPUME_VECTORS_HEAD_BYTES - (size_t)length,
            "#bits: %" PRIu32 "\n#window: %" PRIu32 "x%" PRIu32
            "\n#edge: %s\n#metric: %s\n#prefilter: %.1000s\n",
            info->bits, info->window_x, info->window_y, gpume_names_edge[info->edge],
            gpume_names_metric[info->metric], info->prefilter ? info->prefilter : "none");
    }
    length += snprintf(
        at + length, GPUME_VECTORS_HEAD_BYTES - (size_t)length, "#frame,ref,blocks,hash\n");
    return (size_t)length;
}

static unsigned char *hash_put_row(const struct gpume_vectors_info *info,
    const struct gpume_vectors_block *block, unsigned char *at)
{
    const int32_t divisor = GPUME_VECTORS_UNITS / (int32_t)info->units;
    at = gpume_le_put16(at, (uint16_t)(block->dx / divisor));
    at = gpume_le_put16(at, (uint16_t)(block->dy / divisor));
    at = gpume_le_put32(at, block->cost);
    at = info->joined ? gpume_le_put64(at, block->ref) : at;
    for (unsigned i = GPUME_BLOCK_SHAPE; i < GPUME_BLOCK_COLUMNS; i++) {
        if (gpume_block_has(info->columns, i)) {
            at = gpume_le_put64(at, (uint64_t)gpume_block_number(block, i));
        }
    }
    return at;
}

static unsigned char *put_plain(
    const struct gpume_layer *layer, size_t index, size_t count, unsigned char *at)
{
    for (size_t i = index; i < index + count; i++) {
        at = gpume_le_put16(at, (uint16_t)layer->vectors[i].dx);
        at = gpume_le_put16(at, (uint16_t)layer->vectors[i].dy);
        at = gpume_le_put32(at, layer->costs[i]);
    }
    return at;
}

static void digest(const struct gpume_vectors_target *target, uint8_t sum[SHA256_DIGEST_SIZE])
{
    const struct gpume_vectors_field *field = target->field;
    const struct gpume_vectors_block *blocks;
    struct gpume_vectors_block buffer[GPUME_VECTORS_PART];
    unsigned char bytes[GPUME_VECTORS_PART * ROW_BYTES];
    const size_t most = GPUME_VECTORS_PART / target->info->candidates;
    const struct gpume_layer *plain = gpume_vectors_plain(target->info, field);
    struct sha256_ctx context;
    sha256_init(&context);
    for (size_t first = 0; first < field->count; first += most) {
        const size_t left = field->count - first, part = left < most ? left : most;
        const size_t count =
            plain ? 0 : gpume_vectors_take(target->info, field, first, part, buffer, &blocks);
        unsigned char *at = plain ? put_plain(plain, first, part, bytes) : bytes;
        for (size_t i = 0; i < count; i++) {
            at = hash_put_row(target->info, &blocks[i], at);
        }
        sha256_update(&context, (size_t)(at - bytes), bytes);
    }
    sha256_digest(&context, SHA256_DIGEST_SIZE, sum);
}

static size_t hash_whole(const struct gpume_vectors_target *target, char *at)
{
    const struct gpume_vectors_field *field = target->field;
    uint8_t sum[SHA256_DIGEST_SIZE];
    char ref[24] = "";
    digest(target, sum);
    if (field->columns & GPUME_VECTORS_REF) {
        snprintf(ref, sizeof(ref), "%" PRIu64, field->ref);
    }
    size_t length = (size_t)snprintf(
        at, GPUME_VECTORS_HEAD_BYTES, "%" PRIu64 ",%s,%zu,", field->frame, ref, field->count);
    for (size_t i = 0; i < SHA256_DIGEST_SIZE; i++) {
        length += (size_t)snprintf(at + length, GPUME_VECTORS_HEAD_BYTES - length, "%02x", sum[i]);
    }
    at[length++] = '\n';
    return length;
}

static const struct gpume_vectors_writer_ops writer = {
    .head = hash_head,
    .whole = hash_whole,
};

const struct gpume_vectors_format gpume_vectors_hash = {
    .name = "hash",
    .extension = ".hash",
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_FURTHER,
    .needs = GPUME_VECTORS_COST,
    .begins = FIRST_LINE,
    .fixed_units = true,
    .writer = &writer,
    .unread = "holds hashes of motion fields, not vectors; compare two such files with diff",
};
