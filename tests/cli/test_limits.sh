#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --max-pixels, --max-memory and --timeout: which runs are refused, at which value, and that they leave no file.
. "$(dirname "$0")/common.sh"
need_oracle
make_clip clip.y4m 64 48 8 4

# over ARGUMENT...: exit status 3, nothing left behind.
over() {
    before=$(ls -A)
    expect 3 "$@"
    [ "$(ls -A)" = "$before" ] || fail "$*: something was left behind"
}

# Numbers: with and without units.
for bad in 0 -1 1.5 '' 9kk 9B 9KB 9Ki x 99999999999999999999 1KiB 1KiBx 600M 1G; do
    expect 2 clip.y4m --max-pixels "$bad"
done
names --max-pixels 9M
for bad in 0 2000T 1024TiBB 1PiB; do
    refused 2 --max-memory "$bad" -- clip.y4m --max-memory "$bad"
done
for bad in 0 -1 x 1e3 inf 700000; do
    expect 2 clip.y4m --timeout "$bad"
done

# Pixels: exact to the last one, with any decoder.
expect 0 -q clip.y4m --backend "$engine" --max-pixels 3072 -o a
expect 0 -q clip.y4m --backend "$engine" --max-pixels 4K -o b
cmp a/vectors.csv b/vectors.csv || fail "a limit changes what comes out"
over clip.y4m --backend "$engine" --max-pixels 3071
names clip.y4m 64x48 --max-pixels 3071
"$gpume" - --backend "$engine" --max-pixels 3K <clip.y4m >"$scratch/out" 2>"$scratch/err"
[ $? -eq 3 ] || fail "--max-pixels and standard input"
expect 0 -q clip.y4m --backend "$engine" --predicted p%d.png --max-pixels 3072
over p1.png p2.png --backend "$engine" --max-pixels 3000
over p%d.png --backend "$engine" --max-pixels 3000
# A filter's pictures count too.
over clip.y4m --backend "$engine" --max-pixels 3072 --vf scale=128:48
names clip.y4m --vf scale=128:48 128x48
expect 0 -q clip.y4m --backend "$engine" --max-pixels 6144 --vf scale=128:48 -o c
# gpume's own reader for raw video that is too large for FFmpeg.
printf 'YUV4MPEG2 W16400 H16400 Cmono\nFRAME\n' >large.y4m
over large.y4m --backend "$engine" --max-pixels 100M
names --max-pixels 100000000
# A video whose frames become larger.
printf 'P5 16 16 255\n' >grow1.pgm && head -c 256 /dev/zero >>grow1.pgm
printf 'P5 16 16 255\n' >grow2.pgm && head -c 256 /dev/zero >>grow2.pgm
printf 'P5 2048 2048 255\n' >grow3.pgm && head -c 4194304 /dev/zero >>grow3.pgm
expect 0 -q grow%d.pgm --backend "$engine" -o grown
over grow%d.pgm --backend "$engine" --max-pixels 1K
names --max-pixels 1000
over grow%d.pgm --backend "$engine" --max-pixels 4194303
names 2048x2048

# Memory: the run says what it plans, and that much is allowed. With less the GPU takes fewer fields
# at a time, and both engines at last do without box sums, to the same end.
planned_of() {
    sed -n 's/.*"\(host\|device\)_bytes": \([0-9]*\).*/\2/p' "$1/summary.json" |
        awk '{ s += $1 } END { print s }'
}
# runs_within LIMIT OPTION...: whether it does; $planned is what it took.
runs_within() {
    limit=$1
    shift
    "$gpume" -q clip.y4m --backend "$engine" "$@" -o d -y --max-memory "$limit" 2>/dev/null || return 1
    planned=$(planned_of d)
    [ "$planned" -le "$limit" ] || fail "$* --max-memory $limit: $planned bytes were planned"
    cmp full/vectors.csv d/vectors.csv || fail "$* --max-memory $limit changes what comes out"
}
# memory OPTION...: a search, with less and less memory.
memory() {
    expect 0 -q clip.y4m --backend "$engine" "$@" -o full -y
    planned=$(planned_of full)
    [ "$planned" -gt 0 ] || fail "summary.json does not say what was planned"
    runs_within "$planned" "$@" || fail "$*: what is planned is not allowed"
    smaller=0
    while runs_within $((planned * 3 / 4)) "$@" || runs_within $((planned - 1)) "$@"; do smaller=$((smaller + 1)); done
    case $engine in
    cpu) [ $smaller -eq 1 ] || fail "$*: the CPU engine has $((smaller + 1)) plans" ;;
    *) [ $smaller -gt 4 ] || fail "$*: only $((smaller + 1)) plans for less and less memory" ;;
    esac
    over clip.y4m --backend "$engine" "$@" --max-memory $((planned - 1))
    names clip.y4m 64x48 "$planned" --max-memory "$((planned - 1))"
    over clip.y4m --backend "$engine" "$@" --max-memory 10K
    names "$planned"
}
memory -b 16 -w 16
memory -b 16,8 -w 3 --partition --lambda 2 --subpel 2
over clip.y4m --backend "$engine" --max-memory 10K
names --max-memory 10000
over clip.y4m --backend "$engine" --max-memory 10KiB
names --max-memory 10240
# Decoded pictures: one of each input must fit, also by a forged header alone.
printf 'P6 64 48 65535\n' >deep.ppm && head -c 18432 /dev/zero >>deep.ppm
over deep.ppm deep.ppm --backend "$engine" --max-memory 36863
names deep.ppm 36864 --max-memory 36863
over deep.ppm --backend "$engine" --max-memory 18431
names deep.ppm 18432 --max-memory 18431
printf 'P6 8192 8192 65535\n' >forged.ppm && head -c 18432 /dev/zero >>forged.ppm
over forged.ppm --backend "$engine" --max-memory 10M
names forged.ppm 0 --max-memory 10000000
i=0
while [ $i -lt 3000 ]; do echo $((i * 7919 % 3001 - 1500)); i=$((i + 1)); done >numbers
expect 0 sort numbers --backend cpu --max-memory 24000 -o sorted
sort -n numbers | cmp - sorted || fail "sorting under a limit"
over sort numbers --backend cpu --max-memory 23999 -o never
names --max-memory 23999
# Both kinds of large words, which are kept apart.
{ cat numbers; echo 4294967295; } >both
expect 0 sort both --backend cpu --max-memory 24008 -o sorted -y
over sort both --backend cpu --max-memory 24000 -o never

# Vectors: 88 bytes per block of a field, for both files when two are compared, for both directions if they are mixed.
expect 0 convert a/vectors.csv all.csv --max-memory 4224
cmp a/vectors.csv all.csv || fail "converting under a limit"
over convert a/vectors.csv never.csv --max-memory 4223
names vectors.csv 49 1 4223 --max-memory
expect 0 compare a/vectors.csv a --max-memory 8448
over compare a/vectors.csv a --max-memory 8446
names 4223 --max-memory
expect 0 -q clip.y4m --backend "$engine" --direction both --vectors mixed.csv --format extract_mvs
expect 0 convert mixed.csv two.csv --max-memory 8448
over convert mixed.csv never.csv --max-memory 8447
# The bench: for each engine.
expect 0 bench --backend cpu --size 64x48 --seconds 0.001 --max-memory 100M
over bench --backend cpu --size 64x48 --seconds 0.001 --max-memory 10K
over bench clip.y4m --backend cpu --seconds 0.001 --max-memory 10K
names clip.y4m 64x48 --max-memory 10000

# Time: waiting for a FIFO without a writer ends; the message names the option.
mkfifo silent
for command in "silent --backend $engine" "sort silent" "compare silent a" "convert silent out.csv"; do
    # shellcheck disable=SC2086 # several words
    run $command --timeout 0.3
    [ "$status" -eq 1 ] || fail "$command: exit status $status, not 1"
    [ "$(cat "$scratch/err")" = "gpume: --timeout 0.3: the run did not end in time; raise the limit or reduce the work" ] ||
        fail "$command: $(cat "$scratch/err")"
done
for command in "bench silent" "bench --seconds 600" "bench --sort --seconds 600"; do
    # shellcheck disable=SC2086
    refused 1 --timeout 0.3 -- $command --timeout 0.3
done
# Standard input that never ends, in the middle of a run: the results so far are kept as .partial, as after Ctrl-C. The
# time has to suffice for the available frames, and a busy machine may need more.
mkfifo feed
exec 8<>feed # keeps it from ending
before=$(ls -A)
for seconds in 1 8 64 512; do
    cat clip.y4m >&8
    "$gpume" - --backend "$engine" --timeout $seconds -o half >"$scratch/out" 2>"$scratch/err" <feed
    status=$?
    [ "$status" -eq 1 ] || fail "timeout in the middle: exit status $status"
    names --timeout "$seconds"
    [ ! -e half/vectors.csv.partial ] || names .partial --resume
    ! cmp -s half/vectors.csv.partial a/vectors.csv || break
    rm -rf half
    exec 8>&- 8<>feed # with nothing in it
done
[ "$(ls -A half | grep -v '^\.')" = "frames.csv.partial
summary.json.partial
vectors.csv.partial" ] || fail "--timeout: other files than partial results: $(ls -A half)"
cmp half/vectors.csv.partial a/vectors.csv || fail "--timeout: vectors.csv.partial"
grep -q '"partial": true' half/summary.json.partial || fail "--timeout: summary.json.partial"
rm -r half
[ "$(ls -A)" = "$before" ] || fail "--timeout: something was left behind"
exec 8>&-
# A sufficient limit changes nothing.
expect 0 -q clip.y4m --backend "$engine" --timeout 500 -o e
cmp a/vectors.csv e/vectors.csv || fail "--timeout changes what comes out"
echo ok
