/* SPDX-License-Identifier: BSD-2-Clause */
/* The work of one workgroup of ceiling.comp; both C and GLSL read this file. */
#ifndef GPUME_CLI_BENCH_CEILING_SHAPE_H
#define GPUME_CLI_BENCH_CEILING_SHAPE_H

#define GPUME_CEILING_LOCAL 128 /* invocations */
#define GPUME_CEILING_FIXED 32  /* words that an invocation keeps in registers, */
#define GPUME_CEILING_MOVING 4  /* and words that it compares with each of them per iteration */

#endif
