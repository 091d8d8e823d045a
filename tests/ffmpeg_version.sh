#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume with another FFmpeg than the system's: builds SOURCE, an unpacked FFmpeg, and gpume against it, both below FOLDER, with the
# compiler CC, and runs the tests that read or write media, with that FFmpeg's programs. Needs the packages that gpume's build needs,
# make and pkgconf; nasm, libx264-dev, libx265-dev, libvpx-dev, libtheora-dev and libdav1d-dev are used where they are.
# Ubuntu 24.04 has FFmpeg 6.1 and GCC 13, which on Debian 13 is the package gcc-13:
#     CC=gcc-13 sh tests/ffmpeg_version.sh ../ffmpeg-6.1.1 build-ffmpeg-6.1
# Headers of Vulkan that are newer than FFmpeg need FFMPEG_OPTIONS=--disable-vulkan, as for this pair.
# FFMPEG_OPTIONS has more options of FFmpeg's configure, CMAKE_OPTIONS of cmake. FOLDER/ffmpeg stays; remove it to build it again.
# Usage: ffmpeg_version.sh SOURCE FOLDER [OPTION OF CTEST...]
set -eu
usage="usage: ffmpeg_version.sh SOURCE FOLDER [OPTION OF CTEST...]"
source=$(cd "${1:?$usage}" && pwd)
folder=${2:?$usage}
shift 2
mkdir -p "$folder/objects"
folder=$(cd "$folder" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
prefix=$folder/ffmpeg
: "${CC:=cc}"
export CC

# quietly LOG COMMAND...
quietly() {
    log=$folder/$1.log
    shift
    "$@" >"$log" 2>&1 || { tail -n 30 "$log"; exit 1; }
}
# found PACKAGE OPTION: the option, if pkg-config knows the package.
found() {
    ! pkg-config --exists "$1" || echo "--enable-$2"
}

if [ ! -x "$prefix/bin/ffmpeg" ]; then
    assembler=$(command -v nasm >/dev/null || echo --disable-x86asm)
    cd "$folder/objects"
    # shellcheck disable=SC2046,SC2086 # words
    quietly ffmpeg-configure sh "$source/configure" --prefix="$prefix" --cc="$CC" --enable-shared --disable-static --enable-gpl \
        --disable-doc --disable-debug --disable-ffplay --disable-devices --enable-indev=lavfi $assembler $(found x264 libx264) \
        $(found x265 libx265) $(found vpx libvpx) $(found theora libtheora) $(found dav1d libdav1d) ${FFMPEG_OPTIONS:-}
    quietly ffmpeg-make make -j "$(nproc)"
    quietly ffmpeg-install make install
    cd - >/dev/null
fi
PATH=$prefix/bin:$PATH
LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PKG_CONFIG_PATH=$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PATH LD_LIBRARY_PATH PKG_CONFIG_PATH
# shellcheck disable=SC2086 # words
quietly gpume-configure cmake -S "$here/.." -B "$folder/gpume" -G Ninja -DGPUME_WERROR=ON ${CMAKE_OPTIONS:-}
quietly gpume-build ninja -C "$folder/gpume"
"$CC" --version | head -n 1
"$folder/gpume/gpume" --version | head -n 1
ffmpeg -version | sed -n '1p;/^lib/p'
loaded=$(ldd "$folder/gpume/gpume" | sed -n 's/.*libavcodec[^ ]* => \([^ ]*\).*/\1/p')
[ "${loaded#"$prefix"/}" != "$loaded" ] || { echo "gpume loads another FFmpeg: $loaded"; exit 1; }
[ $# -gt 0 ] || set -- -R "^(unit-(media|segments|seek|avframe|hwframe|colour|report)|cli-(against|aspect|compat|damage|decoders\
|direction|filter|firstpass|formats|hwaccel|input|left|limits|luma|merge|names|outputs|pictures|reach|repeats|resume|scenes|seek|shots\
|surprises|threads|times|usage|values|vectors)|golden-cpu|bench-decode)"
ctest --test-dir "$folder/gpume" --output-on-failure "$@"
