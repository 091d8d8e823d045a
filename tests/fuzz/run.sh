#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs fuzzers for so many seconds each, at the lowest priority, and adds what reached something new to
# tests/fuzz/corpus, minimised. What is found lies in BUILD/fuzz/TARGET-*, and fails the script.
#     cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DGPUME_FUZZ=ON -DGPUME_SANITIZE=address,undefined
#     ninja -C build-fuzz fuzz && sh tests/fuzz/run.sh build-fuzz 1800
# Usage: run.sh BUILD SECONDS [TARGET...]
set -eu
build=${1:?usage: run.sh BUILD SECONDS [TARGET...]}
seconds=${2:?usage: run.sh BUILD SECONDS [TARGET...]}
shift 2
corpus=$(dirname "$0")/corpus
[ $# -gt 0 ] || set -- $(ls "$corpus")
found=0
for target in "$@"; do
    fuzzer=$build/tests/fuzz/fuzz_$target
    work=$build/fuzz/$target
    mkdir -p "$work" "$corpus/$target"
    echo "== $target"
    nice -n 19 "$fuzzer" -max_total_time="$seconds" -max_len=4096 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$work-" "$work" "$corpus/$target" >"$work.log" 2>&1 || found=1
    grep -E '^stat::|cov:.*DONE|is not so|ERROR|runtime error' "$work.log" | tail -8
    # New inputs only: what the corpus has reached stays as it is, with the names it has.
    nice -n 19 "$fuzzer" -merge=1 -use_counters=0 -max_len=1024 "$corpus/$target" "$work" >>"$work.log" 2>&1
done
exit $found
