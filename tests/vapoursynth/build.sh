#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Builds VapourSynth and, if its source is named too, MVTools from source for the tests of the plugin. On Debian 12, R65 of
# VapourSynth works with zimg as packaged. Packages: autoconf automake cython3 g++ libtool libzimg-dev make pkg-config python3-dev;
# for MVTools also libfftw3-dev meson nasm.
# Usage: build.sh PREFIX VAPOURSYNTH_SOURCE [MVTOOLS_SOURCE]
set -eu
[ $# -ge 2 ] || { echo "usage: $0 PREFIX VAPOURSYNTH_SOURCE [MVTOOLS_SOURCE]" >&2; exit 2; }
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
(cd "$2" && ./autogen.sh && ./configure --prefix="$prefix" PYTHON=/usr/bin/python3 && make && make install)
if [ $# -gt 2 ]; then
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
    export PKG_CONFIG_PATH
    meson setup "$3/build" "$3" --prefix "$prefix" --libdir lib/vapoursynth
    ninja -C "$3/build" install
fi
echo "now configure with -DGPUME_VAPOURSYNTH_PREFIX=$prefix"
