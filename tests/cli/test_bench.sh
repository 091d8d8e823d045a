#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume bench: its report on every engine, in three forms, and what it refuses.
. "$(dirname "$0")/common.sh"
short="--size 96x64 --seconds 0.001"

# All engines agree, and do the same work.
# shellcheck disable=SC2086 # several options
expect 0 bench $short
[ ! -s "$scratch/err" ] || fail "bench writes to standard error"
for word in '^gpume  ' '^cpu  ' '96 x 64 pixels, 8 bits, block 8, window 7x7' '^agreed  ' '^noise$' \
    '^motion$' '^ffmpeg  *mestimate  1 thread' '^cpu  *plain  *1 thread  *off'; do
    grep -q "$word" "$scratch/out" || fail "the table has no '$word'"
done
[ "$(grep -c '^cpu  *plain  *1 thread ' "$scratch/out")" -eq 2 ] || fail "not one row a content"

# What cannot be compared is stated; a chosen search is measured next to the best search on one
# core.
expect 0 bench --size 50x34 --bits 10 -b 12 -w 3x9 --edge inside --seconds 0.001 --search plain
grep -q "mestimate is not measured: it supports 8 bits only" "$scratch/out" || fail "no note"
! grep -q '^ffmpeg' "$scratch/out" || fail "mestimate on 10 bits"
expect 0 bench --size 50x34 -b 12 --seconds 0.001 --backend cpu --threads 1
grep -q "powers of two" "$scratch/out" || fail "no note on the block"
! grep -q '2 threads' "$scratch/out" || fail "--threads 1"

# A GPU search that does not support the work is left out, or refused if it was requested.
if have_vulkan; then
    deep="--backend vulkan --bits 16 --size 32x32 --seconds 0.001"
    # shellcheck disable=SC2086
    expect 0 bench $deep
    [ ! -s "$scratch/err" ] || fail "an error for a search that is left out"
    grep -q '^note  *half is not measured: it does not support 16 bits with block 8 and window 7x7$' "$scratch/out" || fail "no note on half"
    grep -q '^vulkan  *int ' "$scratch/out" || fail "no integers at 16 bits"
    # shellcheck disable=SC2086
    refused 4 --search 16 -- bench $deep --search half
    # The general search takes no variant: it is measured once.
    expect 0 bench --backend vulkan --size 32x32 --metric satd --seconds 0.001
    [ "$(grep -c '^vulkan  *general .*  off' "$scratch/out")" -eq 2 ] || fail "general: not one row per content"
    ! grep -Eq '^vulkan  *(quads|half|float|int) ' "$scratch/out" || fail "variants of the general search"
fi

# Devices of a list, each alone and then all together.
if have_vulkan; then
    # shellcheck disable=SC2086
    expect 0 bench $short --device 0,0 --threads 1
    [ "$(grep -c "^several .* 2 x .*  off" "$scratch/out")" -eq 2 ] || fail "0,0: not one row per content"
    [ "$(grep -c '^vulkan  *int .*  off' "$scratch/out")" -eq 2 ] || fail "0,0: the device alone, twice or never"
    # shellcheck disable=SC2086
    expect 0 bench $short --device cpu,0 --threads 1 --json
    [ "$(grep -c '"engine": "several",' "$scratch/out")" -eq 4 ] || fail "cpu,0: not together"
    grep -q '"search": "several",' "$scratch/out" || fail "cpu,0: the same search on both"
    # shellcheck disable=SC2086
    refused 4 --device 77 -- bench $short --device 0,77
    # shellcheck disable=SC2086
    refused 2 0, -- bench $short --device 0,
fi
# shellcheck disable=SC2086
expect 0 bench $short --device cpu --threads 1
grep -q "^note  *--device cpu: is only one engine on this machine: 1 thread" "$scratch/out" || fail "no note on one engine"
expect 0 bench $short --device all --threads 1
! grep -q '^several' "$scratch/out" || [ "$("$gpume" devices --json | grep -c '"type": "discrete"')" -gt 1 ] ||
    fail "--device all: several engines where there is one GPU or none"
refused 2 --device --sort -- bench --sort --device all

# JSON: brackets and quotes match, keys are there.
# shellcheck disable=SC2086
expect 0 bench $short --json
cp "$scratch/out" bench.json
for key in '"format": 1,' '"work": {' '"blocks": 96,' '"candidates": 225,' '"rows": \[' \
    '"engine": "ffmpeg",' '"search": "plain",' '"elimination": false,' '"us_per_field": [0-9]' \
    '"speedup_core": 1.000000,' '"speedup_mestimate": 1.000000$' '"notes": \['; do
    grep -q "$key" bench.json || fail "JSON without $key"
done
for pair in '{ }' '[ ]'; do
    left=$(tr -cd "${pair% *}" <bench.json | wc -c)
    right=$(tr -cd "${pair#* }" <bench.json | wc -c)
    [ "$left" -eq "$right" ] || fail "$left '${pair% *}' and $right '${pair#* }'"
done
! grep -Eq ': -?(nan|inf)' bench.json || fail "a number that JSON does not have"
if have python3; then
    python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert all(0 <= r["eliminated"] <= 1 and (r["elimination"] or r["eliminated"] == 0) for r in rows)
assert len({(r["content"], r["engine"], r["search"], r["threads"], r["elimination"], r["device"])
            for r in rows}) == len(rows)
assert all(r["us_per_field"] > 0 and r["px_per_s"] > 0 for r in rows)' bench.json || fail "JSON"
fi

# CSV: a header, and as many columns in each row.
# shellcheck disable=SC2086
expect 0 bench $short --csv --backend cpu
head -1 "$scratch/out" | grep -q '^device,driver,commit,size,bits,content,block,window,engine,' ||
    fail "header"
sed 's/"[^"]*"//g' "$scratch/out" | awk -F, 'NF != 19 { exit 1 } END { exit NR < 5 }' ||
    fail "columns"

# A video as input; its fields are gpume's.
make_clip clip.y4m 64 48 8 5
expect 0 bench clip.y4m --seconds 0.001 --frames 2 --vf crop=56:40
grep -q '^work  *clip.y4m: 56 x 40 pixels' "$scratch/out" || fail "the input's size"
grep -q '^input$' "$scratch/out" || fail "the content's name"
grep -q 'every vector and cost of 4 frame pairs' "$scratch/out" || fail "--frames"
make_clip one.y4m 64 48 8 1
refused 3 one.y4m -- bench one.y4m
expect 3 bench missing.mp4
only . clip.y4m one.y4m bench.json

# Sorting and reduction: the same columns, every method.
for work in sort reduce; do
    expect 0 bench --$work --seconds 0.001 --csv --backend "$engine"
    awk -F, 'NF != 19 { exit 1 } END { exit NR < 5 }' "$scratch/out" || fail "--$work: columns"
    expect 0 bench --$work --seconds 0.001 --json --backend "$engine"
    grep -q '"items_per_s": [1-9]' "$scratch/out" || fail "--$work: no rate"
    expect 0 bench --$work --seconds 0.001 --backend "$engine"
done
grep -q '^histogram, 8 bits$' "$scratch/out" || fail "no histogram"
refused 2 clip.y4m --sort -- bench --sort clip.y4m
refused 2 --size --reduce -- bench --reduce --size 64x64

# The searches beyond whole pixels by SAD; every engine must agree on all shapes.
searched() {
    work=$1
    shift
    expect 0 bench --size 96x64 --seconds 0.01 --backend cpu --threads 1 --csv -w 3 "$@"
    awk -F'"' -v work="$work" 'NR > 1 && $2 != work { exit 1 } END { exit NR < 5 }' \
        "$scratch/out" || fail "bench $*: rows do not say $work"
}
searched "32,32x16,16x32,16" --block 32..16+rect
searched "8; satd, 1/4 pixel hevc full" --metric satd --subpel 4 --interpolation hevc --subpel-search full
searched "8; 1/4 pixel h264 refine by satd" --subpel 4 --refine-metric satd
searched "16,8; lambda 4, median in 3 passes, partition" --block 16..8 --partition --lambda 4 \
    --predictor median --passes 3
searched "16; bidirectional 1+2" --block 16 --bidirectional --ref-distance 2,1
searched "16; ssd, best reference 2, 3 candidates" --block 16 --metric ssd --best-reference \
    --ref-distance 2 --candidates 3
# The content with motion comes last; some of its candidates are eliminated.
expect 0 bench --size 96x64 --seconds 0.01 --backend cpu --search plain --threads 1 -w 7 --metric satd
grep '  on, ' "$scratch/out" | tail -n 1 | grep -q 'on, [1-9][0-9.]* %' || fail "no share of eliminated candidates"
refused 2 --ref-distance --best-reference --bidirectional -- bench --ref-distance 1,2
expect 2 bench --predictor median
expect 2 bench --predictor file.csv --lambda 1

# Refusals.
refused 2 --csv --json -- bench --json --csv
refused 2 --check -- bench --check
refused 2 --size -- bench clip.y4m --size 64x64
# What precedes the measurements is shown, too.
# shellcheck disable=SC2086 # several options
expect 0 bench $short --backend cpu --threads 1 --progress
says "finding the engines"
says "noise: making 4 frames"
# 520 GiB of frames, unless this machine holds them.
memory=$(awk '/^MemTotal:/ { print $2 }' /proc/meminfo 2>/dev/null)
[ "${memory:-0}" -eq 0 ] || [ "$memory" -ge 500000000 ] ||
    refused 2 --size 65536x65536 65 --frames -- bench --backend cpu --size 65536x65536 --bits 16 --frames 64 --timeout 600
refused 2 --vf -- bench --vf crop=8:8
refused 2 --frames 65 64 -- bench --frames 65
for value in 64 0x64 64x0 65537x1 x 64x64x64; do
    refused 2 --size "$value" -- bench --size $value
done
expect 2 bench --bits 7
expect 2 bench --seconds 0
expect 2 bench --search no
refused 2 --csv -- clip.y4m --csv
refused 2 --decoders -- bench - --decoders
refused 4 'no such device' -- bench --device 'no such device' --size 16x16
exit 0
