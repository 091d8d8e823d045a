#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test_golden.sh GPUME BACKEND: compares the files written for every golden clip with the stored ones, byte for byte.
set -eu
gpume=$(realpath "$1")
backend=$2
here=$(realpath "$(dirname "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
XDG_CACHE_HOME=${GPUME_TEST_CACHE:-$scratch/cache}
export XDG_CACHE_HOME

# NAME OPTION...: the options that regenerate.sh used
golden() {
    name=$1
    shift
    "$gpume" "$here/$name.y4m" "$@" --backend "$backend" --check -q -o "$scratch/$name"
    for file in vectors frames; do
        cmp "$scratch/$name/$file.csv" "$here/$name.$file.csv" || exit 1
    done
    echo "$name: same"
}
if [ "$backend" = vulkan ]; then
    "${GPUME_VULKAN_PROBE:-$(dirname "$gpume")/tests/vulkan_probe}" || exit $?
fi
golden cut-blocks-8bit
golden inside-10bit -b 4 -w 5x3 --edge inside
golden far-reference-16bit -b 16 -w 2x9 --ref-distance 3
golden smaller-than-a-block -b 128
