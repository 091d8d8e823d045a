#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Appends the results of gpume bench on this machine to RESULTS, a CSV file that is created if missing: three sizes,
# three blocks, four windows. A combination is left out where its answers alone, on the CPU, would take more than LIMIT
# seconds (default 60).
# Usage: run.sh GPUME RESULTS [LIMIT [OPTION of gpume bench...]]
set -eu
LC_ALL=C
export LC_ALL
usage="usage: run.sh GPUME RESULTS [LIMIT [OPTION...]]"
gpume=${1:?$usage}
results=${2:?$usage}
shift 2
limit=60
if [ $# -gt 0 ]; then
    limit=$1
    shift
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
processors=$(getconf _NPROCESSORS_ONLN)

# seconds WIDTH HEIGHT WINDOW: twelve fields at 30 G pixel differences a second and processor.
seconds() {
    awk -v w="$1" -v h="$2" -v r="$3" -v n="$processors" \
        'BEGIN { printf "%d", 12 * w * h * (2 * r + 1) ^ 2 / (3e10 * n) }'
}

for size in 352x288 1920x1080 3840x2160; do
    for block in 8 16 32; do
        for window in 7 16 32 64; do
            estimate=$(seconds "${size%x*}" "${size#*x}" "$window")
            if [ "$estimate" -gt "$limit" ]; then
                echo "$size, block $block, window $window: left out, about $estimate s" >&2
                continue
            fi
            "$gpume" bench --csv --size "$size" -b "$block" -w "$window" "$@" >"$scratch/rows"
            if [ ! -s "$results" ]; then
                head -n 1 "$scratch/rows" >"$results"
            fi
            tail -n +2 "$scratch/rows" >>"$results"
            echo "$size, block $block, window $window: $(($(wc -l <"$scratch/rows") - 1)) rows" >&2
        done
    done
done
