#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --surface: every cost is the one that the independent search finds, for all metrics, fractions, depths, edges and
# directions; the least of them is the cost of the search; what is refused.
# Usage: test_surface.sh GPUME SEARCH_ORACLE
. "$(dirname "$0")/common.sh"
search_oracle=$(absolute "$2")

make_clip clip.y4m 100 76 8 3
make_clip deep.y4m 50 38 10 3
make_clip dot.y4m 1 1 8 2

# surface CLIP X,Y OPTIONS: the file of that pixel is what the oracle prints.
surface() {
    clip=$1
    pixel=$2
    shift 2
    name=surface_$(echo "$pixel" | tr , _).csv
    expect 0 -qy "$clip" --backend "$engine" --surface "$pixel" "$@"
    "$search_oracle" "$clip" --surface "$pixel" "$@" >want.csv || fail "the oracle: $*"
    cmp want.csv "$name" || fail "$clip $pixel $*"
}

surface clip.y4m 0,0 -b 8 -w 5 --frames 2
surface clip.y4m 99,75 -b 16 -w 5x3
surface clip.y4m 50,40 -b 8 -w 5 --edge inside
surface clip.y4m 0,75 -b 12 -w 4 --edge inside --metric satd
surface clip.y4m 30,30 -b 16x8 -w 4 --metric ssd --subpel 2
surface clip.y4m 99,0 -b 8 -w 3 --subpel 4 --interpolation hevc --edge inside
surface clip.y4m 99,75 -b 8 -w 3 --subpel 4 --interpolation bilinear
surface clip.y4m 1,1 -b 64 -w 3 --subpel 4 --subpel-search full
surface clip.y4m 20,20 -b 8 -w 0 --subpel 4
surface deep.y4m 49,37 -b 8 -w 9 --subpel 4 --metric satd
surface deep.y4m 25,18 -b 8 -w 2 --subpel 4 --interpolation hevc --refine-metric satd
surface deep.y4m 25,18 -b 4 -w 2 --direction both --ref-distance 1,2
surface clip.y4m 25,18 -b 8 -w 2 --lambda 4 --subpel 2
surface dot.y4m 0,0 -b 4 -w 2 --subpel 2

# Of every engine, the least cost is that of the vector, which is in the file. The folder of -o takes it.
expect 0 -q clip.y4m --backend "$engine" -w 5 --surface 41,17 -o run
only run vectors.csv frames.csv summary.json surface_41_17.csv
for frame in 1 2; do
    grep "^$frame,[0-9]*,40,16," run/vectors.csv | cut -d, -f1-9 >vector
    grep -qxF "$(cat vector)" run/surface_41_17.csv || fail "the vector of frame $frame is not on its surface"
    least=$(grep "^$frame," run/surface_41_17.csv | cut -d, -f9 | sort -n | head -1)
    [ "$least" = "$(cut -d, -f9 vector)" ] || fail "frame $frame: a lower cost than the search found"
done

# With a partition the block is the part that holds the pixel.
expect 0 -q clip.y4m --backend "$engine" -w 3 -b 32..8 --partition --lambda 8 --surface 60,50 -o parts
cut -d, -f1-6 parts/surface_60_50.csv | sort -u | grep -v frame >blocks
[ "$(wc -l <blocks)" -eq 2 ] || fail "not a block for every frame"
while read -r block; do
    grep -q "^$block," parts/vectors.csv || fail "$block is no part"
done <blocks

refused 2 run -- clip.y4m --surface 41,17 -o run
refused 2 --surface 100,0 100 76 -- clip.y4m --surface 100,0 --backend "$engine"
[ ! -e surface_100_0.csv ] || fail "a refused surface was written"
for value in 1 x 1,2,3 -1,2 1x2 ,; do
    refused 2 --surface "$value" -- clip.y4m --surface "$value"
done
refused 2 --surface --prefilter -- clip.y4m --surface 1,1 --prefilter box:3
refused 2 --surface --best-reference -- clip.y4m --surface 1,1 --ref-distance 1,2 --best-reference
