#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Compares vectors.csv and frames.csv with the oracle's, on one engine.
. "$(dirname "$0")/common.sh"
need_oracle

# same WIDTH HEIGHT BITS BLOCK WX WY EDGE DISTANCE
same() {
    make_clip clip.y4m "$1" "$2" "$3" $(($8 + 2))
    "$oracle" vectors clip.y4m "$4" "$5" "$6" "$7" "$8" >vectors
    "$oracle" frames clip.y4m "$4" "$5" "$6" "$7" "$8" >frames
    expect 0 clip.y4m --backend "$engine" -b "$4" -w "$5x$6" --edge "$7" --ref-distance "$8" -o out -y
    cmp vectors out/vectors.csv || fail "$*: vectors.csv"
    cmp frames out/frames.csv || fail "$*: frames.csv"
}
for edge in extend inside; do
    for bits in 8 10 16; do
        same 70 45 $bits 8 7 7 $edge 1
        same 33 29 $bits 12 5 0 $edge 2
        same 67 35 $bits 16 0 9 $edge 1
    done
    same 1 1 8 4 3 3 $edge 1
    same 3 50 8 4 8 8 $edge 1
    same 50 3 12 8 16 2 $edge 3
    same 130 66 8 64 4 4 $edge 1
    same 40 40 8 128 2 2 $edge 1
    same 24 24 8 8 0 0 $edge 1
    same 16 12 9 4 30 30 $edge 1
done

# --start and --frames choose among the same fields.
make_clip clip.y4m 48 32 8 9
"$oracle" vectors clip.y4m 8 7 7 extend 2 >all
# range START FRAMES FIRST LAST
range() {
    awk -F, -v a="$3" -v b="$4" 'NR == 1 || ($1 >= a && $1 <= b)' all >want
    expect 0 clip.y4m --ref-distance 2 --backend "$engine" --vectors - --start "$1" ${2:+--frames $2}
    cmp want "$scratch/out" || fail "--start $1 --frames $2"
}
range 0 '' 2 8
range 1 3 2 4
range 2 1 2 2
range 5 2 5 6
range 8 1 8 8
range 7 5 7 8
names --frames 5 2

# Equal frames: infinite PSNR, vectors (0,0).
"$oracle" clip 16 16 8 1 1 >still.y4m
tail -c 262 still.y4m >frame
cat frame >>still.y4m
expect 0 -q still.y4m --backend "$engine"
grep -q '^1,0,0.040000,4,4,0,0,0,0,inf,inf$' still.gpume/frames.csv || fail "equal frames"
grep -q '"psnr_after": null' still.gpume/summary.json || fail "infinity in summary.json"
grep -q '"psnr_after_infinite": 1' still.gpume/summary.json || fail "infinity in summary.json"

# Every candidate compared, or only those that can win.
"$oracle" clip 96 80 8 4 1 >many.y4m
"$oracle" vectors many.y4m 16 20 18 inside 1 >want
for all in '' --no-elimination; do
    expect 0 many.y4m -b 16 -w 20x18 --edge inside --backend "$engine" $all --vectors -
    cmp want "$scratch/out" || fail "many candidates $all"
done

# Every search of the engine that this machine can run, by its name, which implies the backend.
"$gpume" devices | sed -n '/^search /,$p' >searches
present="^[a-z0-9]*  *$engine  *yes"
grep -q "$present" searches || fail "no search at all"
grep "$present" searches | while read -r name backend rest; do
    expect 0 many.y4m -v -b 16 -w 20x18 --edge inside --search "$name" -o named -y
    names "$name"
    cmp want named/vectors.csv || fail "vectors of --search $name"
    grep -q "\"backend\": \"$backend\"," named/summary.json || fail "--search $name: backend"
    grep -q "\"search\": \"$name\"" named/summary.json || fail "--search $name: summary.json"
done || exit 1
grep 'not here' searches | while read -r name rest; do
    refused 4 --search "$name" -- many.y4m --search "$name" --vectors -
done || exit 1

# The shares of pruned and compared candidates add up to 1; without elimination all are compared.
share() {
    awk -F'[:,]' -v key="\"$1\"" '$1 ~ key { print $2 }' out/summary.json
}
expect 0 many.y4m -b 16 -w 20x18 --edge inside --backend "$engine" -o out -y
! grep -q '^elimination' "$scratch/out" || fail "elimination without --verbose"
expect 0 many.y4m -b 16 -w 20x18 --edge inside --backend "$engine" -o out -y -v
grep -q '^elimination  ' "$scratch/out" || fail "no share in the closing summary"
awk -v a="$(share dropped_by_block_sums)" -v b="$(share dropped_by_part_sums)" \
    -v c="$(share compared)" 'BEGIN { sum = a + b + c
        exit !(a >= 0 && b >= 0 && c > 0 && sum > 0.99999999 && sum < 1.00000001) }' ||
    fail "the shares do not make 1"
# Three fields; blocks at 0, 16, 32 ... reach 20 (18) pixels or as far as the picture does.
grep -q "\"candidates\": $((3 * (2 * 21 + 2 * 37 + 2 * 41) * (2 * 19 + 2 * 35 + 37)))," \
    out/summary.json || fail "candidates"
expect 0 many.y4m -b 16 -w 20x18 --backend "$engine" --no-elimination -o out -y -v
grep -q '^elimination  none: every candidate compared$' "$scratch/out" || fail "elimination"
grep -q '"dropped_by_block_sums": 0.000000000,' out/summary.json || fail "dropped"
grep -q '"compared": 1.000000000$' out/summary.json || fail "compared"
grep -q "\"candidates\": $((3 * 30 * 41 * 37))," out/summary.json || fail "candidates"

# A locale with a decimal comma changes nothing.
"$oracle" frames clip.y4m 8 7 7 extend 1 >want
LC_ALL=de_DE.UTF-8 "$gpume" -q clip.y4m --backend "$engine" -o locale
cmp want locale/frames.csv || fail "a decimal comma"
exit 0
