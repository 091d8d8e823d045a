/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Y4M in and out for gpume-denoise, and out for codecview: a line of text, then a line and the
 * samples of every frame, one plane after the other, above 8 bits in two little-endian bytes.
 * Functions that fail print one line to standard error and return a negative number.
 */
#ifndef SAMPLES_Y4M_H
#define SAMPLES_Y4M_H

#include "output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct y4m {
    const char *program; /* for messages */
    bool overwrite;      /* replace an output that exists */
    FILE *in, *out;
    struct output file;
    uint32_t width, height, bits;
    size_t luma;        /* samples of the first plane */
    size_t frame_bytes; /* of all planes */
};

/* Takes the head from the input and copies it to the output. No name, or -: standard input or
 * output. A file is written as FILE.partial until it is complete. Close follows in any case. */
int y4m_open(struct y4m *y4m, const char *input, const char *output);

/* The output alone, for a program that reads another way and writes to y4m->out itself. */
int y4m_open_output(struct y4m *y4m, const char *input, const char *output);

/* 1 with a frame of frame_bytes; 0 at the end of the input. */
int y4m_read(struct y4m *y4m, uint8_t *bytes);

int y4m_write(struct y4m *y4m, const uint8_t *bytes);

/* complete: names a file that was written; else it is removed. */
int y4m_close(struct y4m *y4m, bool complete);

static inline uint32_t y4m_sample(const struct y4m *y4m, const uint8_t *bytes, size_t i)
{
    return y4m->bits == 8 ? bytes[i] : bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
}

static inline void y4m_set_sample(const struct y4m *y4m, uint8_t *bytes, size_t i, uint32_t value)
{
    if (y4m->bits == 8) {
        bytes[i] = (uint8_t)value;
    } else {
        bytes[2 * i] = (uint8_t)value;
        bytes[2 * i + 1] = (uint8_t)(value >> 8);
    }
}

#endif
