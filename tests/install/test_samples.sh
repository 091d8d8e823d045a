#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs a build into a prefix of its own, looks at what lies there, builds the samples against it
# with make + pkg-config and with CMake, runs them and checks what they print.
# Usage: test_samples.sh BUILD_DIR SOURCE_DIR
set -eu
LC_ALL=C
export LC_ALL
unset DESTDIR || :

[ $# -eq 2 ] || { echo "usage: $0 BUILD_DIR SOURCE_DIR" >&2; exit 1; }
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
cache=$build/CMakeCache.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

fail() {
    echo "FAILED: $*" >&2
    if [ -s "$scratch/log" ]; then sed 's/^/  | /' "$scratch/log" | tail -25 >&2; fi
    exit 1
}

skip() {
    echo "SKIPPED: $*"
    exit 77
}

# quietly WHAT COMMAND...: its output is shown only if it fails.
quietly() {
    what=$1
    shift
    "$@" >"$scratch/log" 2>&1 || fail "$what"
    : >"$scratch/log"
}

# cached NAME: a variable of the build.
cached() {
    sed -n "s/^$1:[A-Z]*=//p" "$cache"
}

# only_file NAME: the one file of that name under the prefix.
only_file() {
    find "$prefix" -name "$1" >"$scratch/found"
    [ "$(wc -l <"$scratch/found")" -eq 1 ] || fail "not exactly one $1 is installed"
    cat "$scratch/found"
}

[ -f "$cache" ] || fail "$build is no build folder"
for tool in cmake make pkg-config; do
    command -v "$tool" >/dev/null 2>&1 || skip "$tool is not here"
done

# 1. The installed tree.
quietly "cmake --install" cmake --install "$build" --prefix "$prefix"
header=$(only_file gpume.h)
pc=$(only_file gpume.pc)
config=$(only_file gpumeConfig.cmake)
only_file gpumeConfigVersion.cmake >/dev/null
only_file gpume.cmake >/dev/null
[ "$header" = "$prefix/include/gpume/gpume.h" ] || fail "the header lies at $header"
[ "$(find "$prefix/include" -type f | wc -l)" -eq 1 ] || fail "more than one header is installed"
library=$(find "$prefix" -name 'libgpume.so' -o -name 'libgpume.a' -o -name 'libgpume.dylib')
[ -n "$library" ] || fail "no library is installed"
[ "$(find "$prefix" -name 'libgpume_io*' | wc -l)" -eq 0 ] || fail "a private library is installed"
if grep -l -F -e "$source" -e "$build" "$pc" "$(dirname "$config")"/*; then
    fail "installed files name the source or build folder"
fi

library_dir=$(dirname "$library")
LD_LIBRARY_PATH=$library_dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
version=$(sed -n 's/^ *project(gpume VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
if [ "$(cached GPUME_TOOL)" != OFF ]; then
    [ -x "$prefix/bin/gpume" ] || fail "bin/gpume is not installed"
    [ "$(only_file gpume.1)" = "$prefix/share/man/man1/gpume.1" ] || fail "gpume.1 is misplaced"
    said=$("$prefix/bin/gpume" --version) || fail "the installed gpume --version does not run"
    [ "$said" = "gpume $version" ] || fail "gpume --version says '$said', not 'gpume $version'"
fi

# 2. pkg-config, as a user's own prefix needs it.
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion gpume)" = "$version" ] || fail "gpume.pc: not version $version"
named=$(pkg-config --variable=prefix gpume)
[ "$(cd "$named" 2>/dev/null && pwd -P)" = "$(cd "$prefix" && pwd -P)" ] ||
    fail "gpume.pc: prefix is $named after an installation to $prefix"

# 3. Build both ways.
compiler=$(cached CMAKE_C_COMPILER)
flags="-O2 -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wvla -Werror"
sanitizers=$(cached GPUME_SANITIZE)
if [ -n "$sanitizers" ]; then
    flags="$flags -fsanitize=$sanitizers"
fi
static=
case $library in
*.a) static=--static ;;
esac
programs=two_buffers
if pkg-config --exists libavformat libavcodec libavutil; then
    programs="two_buffers motion_energy"
fi
cp -R "$source/samples" "$scratch/make"
rm -rf "$scratch/make/build"
(cd "$scratch/make" && make clean >/dev/null)
# shellcheck disable=SC2086 # several names
quietly "make in samples" make -C "$scratch/make" CC="$compiler" CFLAGS="$flags" \
    STATIC="$static" $programs
if [ "$programs" != two_buffers ]; then
    quietly "cmake in samples" cmake -S "$source/samples" -B "$scratch/cmake" \
        -G "$(cached CMAKE_GENERATOR)" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags" \
        -DCMAKE_PREFIX_PATH="$prefix"
    found=$(sed -n 's/^gpume_DIR:[A-Z]*=//p' "$scratch/cmake/CMakeCache.txt")
    [ "$found" = "$(dirname "$config")" ] || fail "find_package(gpume) found $found"
    quietly "building samples with CMake" cmake --build "$scratch/cmake"
fi

# 4. Run.
# clip FILE DX DY: 6 frames of noise at 25 a second; what stands in the target at (x,y) stands in the
# reference at (x+DX,y+DY).
clip() {
    awk -v dx="$2" -v dy="$3" 'BEGIN {
        width = 96; height = 64; frames = 6; seed = 1
        for (i = 0; i < 160 * 160; i++) {
            seed = seed * 16807 % 2147483647
            noise[i] = 1 + int(seed / 2147483647 * 254)
        }
        printf "YUV4MPEG2 W%d H%d F25:1 Ip A1:1 Cmono\n", width, height
        for (t = 0; t < frames; t++) {
            printf "FRAME\n"
            for (y = 0; y < height; y++)
                for (x = 0; x < width; x++)
                    printf "%c", noise[(y + 40 + t * dy) * 160 + x + 30 + t * dx]
        }
    }' >"$1"
}

# energy_is PROGRAM CLIP LOW HIGH ZERO_LOW ZERO_HIGH: five rows, each within the limits.
energy_is() {
    "$1" "$2" 16 7 >"$scratch/log" || fail "$1 $2: exit status $?"
    awk -F, -v low="$3" -v high="$4" -v zero_low="$5" -v zero_high="$6" '
        NR == 1 && $0 != "time,energy,zero_share" { bad = 1 }
        NR > 1 && (NF != 3 || $1 != sprintf("%.6f", (NR - 1) * 0.04)) { bad = 1 }
        NR > 1 && ($2 < low || $2 > high || $3 < zero_low || $3 > zero_high) { bad = 1 }
        END { exit bad || NR != 6 }' "$scratch/log" ||
        fail "$1 $2: not 5 rows of energy $3 to $4, zero share $5 to $6, but:"
    : >"$scratch/log"
}

clip "$scratch/pan.y4m" 3 -2
clip "$scratch/still.y4m" 0 0
echo "no video" >"$scratch/text.y4m"
for way in make cmake; do
    [ -d "$scratch/$way" ] || continue
    quietly "$way: two_buffers" "$scratch/$way/two_buffers"
    "$scratch/$way/two_buffers" >"$scratch/log"
    grep -q '( *-5, *+3) *0' "$scratch/log" ||
        fail "$way: two_buffers does not print the vector"
    : >"$scratch/log"
    energy=$scratch/$way/motion_energy
    [ -x "$energy" ] || continue
    energy_is "$energy" "$scratch/pan.y4m" 12.99 13.01 0 0
    energy_is "$energy" "$scratch/still.y4m" 0 0 1 1
    if "$energy" "$scratch/text.y4m" >"$scratch/log" 2>&1; then
        fail "$way: motion_energy takes a text file for a video"
    fi
    status=0
    "$energy" >"$scratch/log" 2>&1 || status=$?
    [ "$status" -eq 2 ] || fail "$way: motion_energy without arguments: exit status $status, not 2"
done
echo "samples built and run: $programs"
