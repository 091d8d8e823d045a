#!/bin/bash -eu
# SPDX-License-Identifier: BSD-2-Clause
# Builds the fuzzers as OSS-Fuzz wants them: programs, corpora and dictionaries in $OUT, with the shared libraries that they need. It
# sets SRC (where the folder gpume is), OUT, WORK, CC, CFLAGS and LIB_FUZZING_ENGINE. By hand, with clang:
#     export SRC=$PWD/.. OUT=/tmp/out WORK=/tmp/work CC=clang LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
#         CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address,fuzzer-no-link"
#     mkdir -p $OUT $WORK && bash tests/fuzz/oss-fuzz/build.sh && $OUT/fuzz_y4m -max_total_time=60 /tmp/corpus
# CMAKE_OPTIONS has more options of cmake.
source=$SRC/gpume
build=$WORK/gpume
[ -d "$source/tests/fuzz" ] || source=$(cd "$(dirname "$0")/../../.." && pwd)
fuzz=$source/tests/fuzz

# shellcheck disable=SC2086 # words
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF -DGPUME_FUZZ=ON -DGPUME_TESTS=ON \
    -DGPUME_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" -DCMAKE_BUILD_RPATH_USE_ORIGIN=OFF "-DCMAKE_BUILD_RPATH=\$ORIGIN/lib" \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags ${CMAKE_OPTIONS:-}
ninja -C "$build" fuzz

mkdir -p "$OUT/lib"
for program in "$build"/tests/fuzz/fuzz_*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    cp "$program" "$OUT/"
    # What a bare system has not: all but the C library's.
    ldd "$program" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | grep -vE '/(lib(c|m|dl|rt|pthread|resolv|gcc_s)|ld-linux.*)\.so' |
        while read -r library; do
            [ -e "$OUT/lib/$(basename "$library")" ] || cp "$library" "$OUT/lib/"
        done
    name=$(basename "$program")
    target=${name#fuzz_}
    target=${target%_failing}
    (cd "$fuzz/corpus/$target" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
    sh "$fuzz/dictionary.sh" "$target" >"$OUT/$name.dict"
    [ -s "$OUT/$name.dict" ] || rm "$OUT/$name.dict"
    longest=4096
    [ "$target" != merge ] || longest=70000 # beyond the 64 KiB that a head may have
    printf '[libfuzzer]\nmax_len = %s\ntimeout = 20\n' $longest >"$OUT/$name.options"
done
