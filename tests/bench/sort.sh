#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Compares the sort on the device with NVIDIA's CUB, one after the other on the same device: milliseconds, G
# keys/s and the ratio. CUB is tests/bench/cub_sort.cu, compiled by hand; without it gpume stands alone.
# Usage: sort.sh BENCHSORT [CUB_SORT]
set -eu
LC_ALL=C
export LC_ALL
usage="usage: sort.sh BENCHSORT [CUB_SORT]"
benchsort=${1:?$usage}
cub=${2:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/cub"
if [ -n "$cub" ]; then
    "$cub" 26 >"$scratch/cub"
fi
"$benchsort" >"$scratch/gpume"
awk '
    FILENAME == ARGV[1] { rate[$2, $3, $4] = $7; next }
    $1 !~ /^gpume/ { print; next }
    {
        key = $2 SUBSEP $3 SUBSEP $4
        known = $1 == "gpume" && NF == 8 && (key in rate)
        beside = known ? sprintf(", CUB %.2f, ratio %.2f", rate[key], $7 / rate[key]) : ""
        bits = NF > 8 ? " (16 bits)" : ""
        printf "%-14s %-5s 2^%-2d keys, 2^%-2d segments: %8.4f ms %7.2f G/s%s%s\n", $1, $2, $3, $4,
            $5, $7, bits, beside
    }' "$scratch/cub" "$scratch/gpume"
