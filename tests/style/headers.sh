#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every header compiles alone, and twice, as C11; those of the package as C++ too. A header's guard is its path.
# Usage: headers.sh SOURCE_DIR
set -eu
LC_ALL=C
export LC_ALL
cd "${1:?usage: headers.sh SOURCE_DIR}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cc=${CC:-cc}
cxx=${CXX:-g++}
strict="-pedantic -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L -fsyntax-only"
status=0

# accepts INCLUDE COMPILER OPTION...: prints what the compiler says.
accepts() {
    include=$1
    shift
    printf '#include "%s"\n#include "%s"\nextern int gpume_unit;\n' "$include" "$include" \
        >"$scratch/unit.c"
    # shellcheck disable=SC2086 # several options
    if ! "$@" $strict -I src/include "$scratch/unit.c" 2>"$scratch/said"; then
        echo "$include does not compile alone ($1):"
        head -5 "$scratch/said" | sed 's/^/    /'
        status=1
    fi
}

# guard PATH MACRO
guard() {
    if ! grep -q "^#ifndef $2\$" "$1" || ! grep -q "^#define $2\$" "$1"; then
        echo "$1: its guard is not $2"
        status=1
    fi
}

# macro NAME: "gpu/vk/vk.h" gives "GPU_VK_H".
macro() {
    echo "$1" | tr 'a-z/.' 'A-Z__'
}

vapoursynth=$(pkg-config --cflags vapoursynth 2>/dev/null) || vapoursynth=none
libav=$(pkg-config --cflags libavformat libavcodec libavfilter libswscale libavutil 2>/dev/null) ||
    libav=none
find src cli plugins shaders -name '*.h' | sort >"$scratch/headers"
while IFS= read -r header; do
    case $header in
    src/include/gpume/*)
        name=${header#src/include/}
        if [ "$name" = gpume/avframe.h ] && [ "$libav" = none ]; then
            echo "$header: not compiled, FFmpeg's headers are not here"
            continue
        fi
        # shellcheck disable=SC2086 # several options
        accepts "$name" "$cc" -std=c11 ${libav#none}
        if command -v "$cxx" >/dev/null 2>&1; then
            # shellcheck disable=SC2086 # several options
            accepts "$name" "$cxx" -x c++ -std=c++17 ${libav#none}
        else
            echo "$name: not compiled as C++, $cxx is not here"
        fi
        guard "$header" "$(macro "$name")"
        ;;
    src/gpu/*)
        accepts "${header#src/}" "$cc" -std=c11 -I src -I shaders
        guard "$header" "GPUME_$(macro "${header#src/}")"
        ;;
    src/media/*)
        guard "$header" "GPUME_$(macro "${header#src/}")"
        if [ "$libav" = none ]; then
            echo "$header: not compiled, FFmpeg's headers are not here"
            continue
        fi
        # shellcheck disable=SC2086 # several options
        accepts "${header#src/}" "$cc" -std=c11 -I src $libav
        ;;
    src/*)
        accepts "${header#src/}" "$cc" -std=c11 -I src
        guard "$header" "GPUME_$(macro "${header#src/}")"
        ;;
    cli/*)
        accepts "${header#cli/}" "$cc" -std=c11 -I src -I cli
        guard "$header" "GPUME_$(macro "$header")"
        ;;
    plugins/vapoursynth/*)
        guard "$header" "GPUME_$(macro "$header")"
        if [ "$vapoursynth" = none ]; then
            echo "$header: not compiled, VapourSynth's headers are not here"
            continue
        fi
        # shellcheck disable=SC2086 # several options
        accepts "${header#plugins/vapoursynth/}" "$cc" -std=c11 -I plugins/vapoursynth $vapoursynth
        ;;
    shaders/*)
        accepts "${header#shaders/}" "$cc" -std=c11 -I shaders
        guard "$header" "GPUME_$(macro "$header")"
        ;;
    esac
done <"$scratch/headers"
[ -s "$scratch/headers" ] || { echo "no headers in $(pwd)"; exit 1; }
exit $status
