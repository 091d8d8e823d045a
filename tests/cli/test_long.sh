#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Long runs: memory stays flat, time stamps do not drift, numbers of frames beyond 2^31 and 2^53 are exact. By
# hand for a day of video: sh tests/cli/test_long.sh build/gpume 2592000 (at 30000/1001 a second).
. "$(dirname "$0")/common.sh"
need_oracle
frames=${2:-480000}
fewer=$((frames / 2))

# The outputs have used all buffers of their writers (8 MiB each) when the shorter run ends, so nothing is left to grow
# but by mistake; 4 MiB are for the allocator, less than 18 bytes per frame.
measure() {
    mkfifo pipe
    "$oracle" flat 16 16 "$1" 30000 1001 >pipe &
    kib=$("$oracle" memory "$gpume" -q pipe --backend "$engine" --threads 2 -o out -y) || fail "$1 frames"
    wait
    rm pipe
    [ "$(wc -l <out/frames.csv)" -eq "$1" ] || fail "not $1 frames"
    echo "$1 frames: $kib KiB"
}
# A sanitizer keeps what was freed, valgrind its translations of the program.
measure "$fewer"
if checked; then
    echo "the longer run is left out: under a checker, memory says nothing"
else
    before=$kib
    measure "$frames"
    [ $((kib - before)) -lt 4096 ] || fail "memory grew from $before to $kib KiB"
fi

# Frame k is k * 1001 / 30000 s late, to the nearest microsecond; thirds are never halves.
awk -F, 'NR > 1 {
        us = int(($1 * 100100 + 1.5) / 3)
        if (sprintf("%d.%06d", int(us / 1000000), us % 1000000) != $3) {
            print "frame", $1, "is at", $3
            exit 1
        }
    }' out/frames.csv || fail "time stamps drift"
rm -r out

# Readers return large frame numbers exactly.
make_clip clip.y4m 16 16 8 3
expect 0 -q clip.y4m --backend "$engine" -o a
for first in 2147483646 4294967295 9007199254740991 99999999999999990; do
    for folder in big other; do
        rm -rf $folder && mkdir $folder
        for name in vectors frames; do
            sed "s/^1,0,/$((first + 1)),$first,/; s/^2,1,/$((first + 2)),$((first + 1)),/" \
                a/$name.csv >$folder/$name.csv
        done
    done
    expect 0 compare big other
    sed "s/^\($((first + 2)),.*\),[-0-9]*,[-0-9]*,\([0-9]*,0\)\$/\1,7,7,\2/" big/vectors.csv >other/vectors.csv
    run compare big other
    [ "$status" -eq 5 ] || fail "from frame $first: exit status $status"
    grep -q "$((first + 2))" "$scratch/out" || fail "from frame $first: its number is not said"
done
exit 0
