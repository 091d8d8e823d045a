#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --start does not decode all frames before its own, and yet gives the rows of a run from the beginning, whatever the
# codec, the container, the distance of key frames, and damage; a time means the first frame at that time or later.
# $GPUME_SEED and $GPUME_SEEK_CLIPS choose other clips, and how many.
. "$(dirname "$0")/common.sh"
seed=${GPUME_SEED:-1}
clips=${GPUME_SEEK_CLIPS:-8}
frames=96
. "$here/coded_clips.sh"

# rows DIR FIRST END: the rows of those targets.
rows() {
    for table in vectors frames; do
        awk -F, -v first="$2" -v end="$3" 'NR > 1 && $1 >= first && $1 < end' "$1/$table.csv"
    done
}

# starts_at FIRST: three targets from there on are those of the whole run.
starts_at() {
    rows whole $1 $(($1 + 3)) >want
    run -qvy $clip $options -o part --start $1 --frames 3
    grep -q 'decoding begins with frame' "$scratch/err" && jumps=$((jumps + 1))
    if [ ! -s want ]; then
        [ $status -eq 3 ] || fail "$clip --start $1: exit status $status, though it is past the end"
        return
    fi
    [ $status -eq 0 ] || fail "$clip --start $1: exit status $status"
    rows part 0 1000 | cmp -s want - || fail "$clip --start $1, clip $number, kind $kind: not the rows of the whole run"
}

# after_time FROM FOR: the targets from FROM milliseconds after the first frame on, for FOR milliseconds.
after_time() {
    column=$(head -n 1 whole/frames.csv | tr , '\n' | grep -n '^time$' | cut -d : -f 1)
    range=$(awk -F, -v c="$column" -v from="$1" -v until=$(($1 + $2)) 'NR > 1 { us = int($c * 1000000 + 0.5) }
        NR == 2 { zero = us }
        NR > 1 && first == "" && us - zero >= from * 1000 { first = $1 }
        NR > 1 && end == "" && us - zero >= until * 1000 { end = $1 }
        END { print first == "" ? 1000 : first, end == "" ? 1000 : end }' whole/frames.csv)
    rows whole $range >want
    [ -s want ] || return 0
    run -qvy $clip $options -o part --start "0:0$(($1 / 1000)).$(printf %03d $(($1 % 1000)))" \
        --duration "$(($2 / 1000)).$(printf %03d $(($2 % 1000)))s"
    [ $status -eq 0 ] || fail "$clip from $1 ms for $2 ms: exit status $status"
    rows part 0 1000 | cmp -s want - || fail "$clip, clip $number, kind $kind: not the frames from $1 ms for $2 ms"
}

# Values, and inputs that have no times or cannot be read twice.
make_clip clip.y4m 64 48 8 12
for value in -1 1.5 1:60 1:2:3:4 1: :1 s 1.s .5s 1.1234567s 1ms 0x1s; do
    refused 2 --start "$value" 4294967295 -- clip.y4m --start $value -o wrong
done
for value in 0s 7 0:00; do
    refused 2 --duration "$value" -- clip.y4m --duration $value -o wrong
done
expect 2 clip.y4m --duration 1s --frames 2 -o wrong
refused 2 --duration --start -- clip.y4m --duration 1s --start 2 -o wrong
refused 2 --start -- - --start 1s -o wrong
refused 3 clip.y4m --start -- clip.y4m --start 1:40:07 -o wrong
refused 3 clip.y4m --duration -- clip.y4m --duration 0.01s -o wrong --backend cpu
head -c 10000 clip.y4m >cut.y4m
run -q cut.y4m --backend cpu --duration 9s -o cut
[ "$(grep -c 'warning: cut.y4m: frame .* is incomplete' "$scratch/err")" -eq 1 ] || fail "a warning came not once"
options="--backend cpu --threads 1 -b 16 -w 2 --direction future"
clip=clip.y4m number=0 kind=y4m
run -qy $clip $options -o whole
after_time 120 200
after_time 0 80

number=0 made=0 jumps=0 compared=0
while [ $number -lt $clips ]; do
    kind=${GPUME_SEEK_KIND:-$((number % 15))}
    number=$((number + 1))
    made=$((made + 1))
    make_video $kind || { made=$((made - 1)) && continue; } # no such encoder
    below 3
    [ $drawn -gt 0 ] || damage $clip
    run -qy $clip $options -o whole
    [ $status -eq 0 ] || continue # damaged beyond use
    for i in 1 2 3; do
        below 76
        starts_at $((drawn + 24))
        compared=$((compared + 1))
    done
    below 3000
    from=$drawn
    below 900
    after_time $from $((drawn + 50))
done
echo "$made clips, $compared starts compared, $jumps of them without decoding from the beginning"
[ $clips -lt 5 ] || [ $jumps -gt 0 ] || fail "every run decoded from the beginning"
