#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# regenerate.sh ORACLE: makes the golden clips and gpume's expected output, with the oracle alone
# (tests/support/oracle.c), never with gpume.
set -eu
oracle=$(realpath "$1")
cd "$(dirname "$0")"

# NAME WIDTH HEIGHT BITS FRAMES | BLOCK WINDOW_X WINDOW_Y EDGE DISTANCE
make() {
    "$oracle" clip "$2" "$3" "$4" "$5" 7 >"$1.y4m"
    "$oracle" vectors "$1.y4m" "$6" "$7" "$8" "$9" "${10}" >"$1.vectors.csv"
    "$oracle" frames "$1.y4m" "$6" "$7" "$8" "$9" "${10}" >"$1.frames.csv"
}
make cut-blocks-8bit 61 35 8 4 8 7 7 extend 1
make inside-10bit 34 22 10 4 4 5 3 inside 1
make far-reference-16bit 20 20 16 5 16 2 9 extend 3
make smaller-than-a-block 3 2 8 2 128 7 7 extend 1
