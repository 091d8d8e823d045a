#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs each fuzzer, also that in which allocations fail (failing.c), for the given number of seconds, at the lowest priority, and adds
# minimised inputs that reach new code to tests/fuzz/corpus. Inputs that fail are stored as BUILD/fuzz/TARGET-*, and fail the script.
#     cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DGPUME_FUZZ=ON -DGPUME_SANITIZE=address,undefined
#     ninja -C build-fuzz fuzz && sh tests/fuzz/run.sh build-fuzz 1800
# Usage: run.sh BUILD SECONDS [TARGET...]
set -eu
build=${1:?usage: run.sh BUILD SECONDS [TARGET...]}
seconds=${2:?usage: run.sh BUILD SECONDS [TARGET...]}
shift 2
here=$(dirname "$0")
corpus=$here/corpus
[ $# -gt 0 ] || set -- $(ls "$corpus")
found=0
for target in "$@"; do
    case $target in
    merge) longest=70000 kept=1024 ;; # beyond the 64 KiB that a head may have
    *) longest=4096 kept=1024 ;;
    esac
    for program in "$target" "${target}_failing"; do
        fuzzer=$build/tests/fuzz/fuzz_$program
        [ -x "$fuzzer" ] || continue # what allocates nothing
        work=$build/fuzz/$program
        mkdir -p "$work" "$corpus/$target"
        sh "$here/dictionary.sh" "$target" >"$work.dict"
        dict=
        [ ! -s "$work.dict" ] || dict=-dict=$work.dict # libFuzzer refuses an empty one
        echo "== $program"
        nice -n 19 "$fuzzer" -max_total_time="$seconds" -max_len="$longest" -timeout=20 -print_final_stats=1 ${dict:+"$dict"} \
            -artifact_prefix="$work-" "$work" "$corpus/$target" >"$work.log" 2>&1 || found=1
        grep -E '^stat::|cov:.*DONE|is not so|ERROR|runtime error' "$work.log" | tail -8
    done
    # Adds new inputs only: existing ones keep their names.
    nice -n 19 "$build/tests/fuzz/fuzz_$target" -merge=1 -use_counters=0 -max_len="$kept" "$corpus/$target" \
        "$build/fuzz/$target" >>"$build/fuzz/$target.log" 2>&1
done
exit $found
