#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Tables of runs with shapes, fractions, rate, several references, candidates and confidence: every
# format that holds them gives them back, the others say what they cannot hold; predictors from a file;
# the window's border; resuming with lists of distances.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 52 28 8 6

# kept OPTIONS...: vectors.csv comes back through the formats with all columns.
kept() {
    expect 0 clip.y4m --backend "$engine" -q -y --vectors all.csv "$@"
    for format in csv jsonl npy mvf; do
        expect 0 convert all.csv "back.$format" -q -y
        expect 0 convert "back.$format" back.out --format csv -q -y
        cmp all.csv back.out || fail "$format changes the table of $*"
        expect 0 clip.y4m --backend "$engine" -q -y --vectors "direct.$format" "$@"
        expect 0 convert "direct.$format" back.out --format csv -q -y
        cmp all.csv back.out || fail "$format of the run differs from its table: $*"
    done
    expect 0 compare all.csv back.npy
    expect 0 compare direct.mvf all.csv
    expect 0 clip.y4m --backend "$engine" -q -y --vectors one.hash "$@"
}
kept --block 16,8x16,8
head -1 all.csv | grep -qx 'frame,ref,x,y,w,h,dx,dy,cost,rank,shape' || fail "no column shape at the end"
kept --block 16..4+rect --partition --lambda 6 --subpel 4 --metric satd --direction both
kept --block 16 --subpel 2 --qp 20 --predictor median --candidates 3 --confidence --direction both
head -1 all.csv | grep -qx 'frame,ref,x,y,w,h,dx,dy,cost,rank,bits,candidate,second,ties,texture,return' ||
    fail "other columns: $(head -1 all.csv)"
kept --block 16 --ref-distance 3,1 --bidirectional --lambda 2 --subpel 4
head -1 all.csv | grep -qx 'frame,ref,x,y,w,h,dx,dy,cost,rank,bits,ref2,dx2,dy2' ||
    fail "other columns: $(head -1 all.csv)"
grep -q -e '-0,' -e '-0$' all.csv && fail "a vector of -0"

kept --block 16,8 --ref-distance 2,1 --best-reference --candidates 2
kept --block 16 --direction both --best-reference --confidence

# Fractions in the formats of others.
expect 0 clip.y4m --backend "$engine" -q -y --block 8 --subpel 4 --vectors run.csv
for name in run.mvf 'run%d.flo'; do
    expect 0 convert run.csv "$name" -q -y
    expect 0 convert "$name" back.csv --block 8 -q -y
    cut -d , -f 1,3-8 run.csv >wanted
    cut -d , -f "$(head -1 back.csv | grep -q ',ref,' && echo 1,3-8 || echo 1-7)" back.csv | cmp - wanted ||
        fail "$name: quarters of a pixel"
done
expect 0 convert run.csv mvs.csv --format extract_mvs -q -y
sed 1d mvs.csv | cut -d , -f 12 | sort -u | tr -d ' ' | grep -qx 4 || fail "motion_scale is not 4"
expect 0 convert mvs.csv back.csv -q -y
cut -d , -f 1-8 run.csv | cmp - back.csv || fail "extract_mvs: quarters of a pixel"

# What a format cannot hold.
refused 2 x.npz -- clip.y4m --backend "$engine" -y --candidates 2 --vectors x.npz
refused 2 npz -- clip.y4m --backend "$engine" -y --direction both --best-reference --vectors x.npz
refused 2 extract_mvs -- clip.y4m --backend "$engine" -y --block 16,8 --vectors x.csv --format extract_mvs
refused 2 flo -- clip.y4m --backend "$engine" -y --block 16,8 --vectors x%d.flo
refused 2 --subpel -- clip.y4m --compat ffmpeg --subpel 4

# Predictors: the run's own vectors cost the least bits; a file without a block is refused.
expect 0 clip.y4m --backend "$engine" -q -y --lambda 4 --vectors first.csv
expect 0 clip.y4m --backend "$engine" -q -y --lambda 0 --vectors plain.csv
expect 0 clip.y4m --backend "$engine" -q -y --lambda 0 --predictor plain.csv --vectors again.csv
cut -d , -f 11 again.csv | sed 1d | sort -u | grep -qx 2 || fail "the predictor is not the file's vector"
sed '$d' plain.csv >short.csv
refused 3 --predictor short.csv 8x8 48,24 5 4 -- clip.y4m --backend "$engine" -q -y --lambda 4 --predictor short.csv --vectors x.csv
expect 3 clip.y4m --backend "$engine" -q -y --lambda 4 --predictor missing.csv --vectors x.csv

# summary.json has the options that were given, and no others.
members() {
    sed -n '/"parameters": {/,/}/p' out/summary.json
}
expect 0 clip.y4m --backend "$engine" -q -y -o out
for key in partition subpel interpolation subpel-search refine-metric lambda predictor passes best-reference bidirectional candidates \
    confidence; do
    ! members | grep -q "\"$key\"" || fail "summary.json: $key, which was not given"
done
for member in '"block": 8' '"metric": "sad"' '"ref-distance": 1'; do
    members | grep -qF "$member," || fail "summary.json: no $member"
done
expect 0 clip.y4m --backend "$engine" -q -y -o out -b 16..4+rect --partition --subpel 4 --metric satd --qp 18 \
    --predictor median --ref-distance 2,1 --best-reference --candidates 2 --confidence
for member in '"block": "16,16x8,8x16,8,8x4,4x8,4"' '"partition": true' '"subpel": 4' '"interpolation": "h264"' \
    '"subpel-search": "refine"' '"metric": "satd"' '"lambda": 2.00000000' '"predictor": "median"' '"passes": 2' \
    '"best-reference": true' '"ref-distance": "1,2"' '"candidates": 2' '"confidence": true'; do
    members | grep -qF "$member," || fail "summary.json: no $member: $(members)"
done

expect 0 clip.y4m --backend "$engine" -q -y --subpel 2 --refine-metric satd --vectors run.mvf
test "$(od -A n -t u4 -j 52 -N 4 run.mvf | tr -d ' ')" = 1 || fail "run.mvf: the costs are not by satd"
expect 0 clip.y4m --backend "$engine" -y -o out --subpel 2 --refine-metric satd
members | grep -qF '"refine-metric": "satd",' || fail "summary.json: no refine-metric"
grep -qxF "cost         SATD (SAD of whole pixels)" "$scratch/out" || fail "the summary has no two metrics"

# The summary says what is searched: 8 + 16 + 14 + 28 blocks of 16x16, 16x8, 8x16 and 8x8 in pictures of 52x28.
expect 0 clip.y4m --backend "$engine" -y -o out -b 16..8+rect --partition --subpel 4 --metric satd --lambda 2.5 \
    --predictor median --passes 3 --ref-distance 2,1 --best-reference --candidates 2 --check
for line in "search       5 frame pairs of 66 blocks of 4 shapes, 225 candidates per block" \
    "partition    largest squares divided where that costs less" \
    "subpel       1/4 pixel, h264 interpolation, refined whole pixels" \
    "cost         SATD + 2.5 per bit, counted from the median of neighbours, 3 passes" \
    "references   1,2 frames away; the best for each block" "matches      2 per block" \
    "Motion vectors matched in 330 of 330 blocks"; do
    grep -qxF "$line" "$scratch/out" || fail "the summary has no line '$line': $(cat "$scratch/out")"
done
expect 0 clip.y4m --backend "$engine" -y -o out
! grep -qE '^(partition|subpel|cost|references|matches) ' "$scratch/out" || fail "a plain search has lines of the general one"
grep -q '^search       5 frame pairs of 28 blocks, 225 candidates per block$' "$scratch/out" || fail "the plain search"

# The window's border, in the summary and in frames.csv.
expect 0 clip.y4m --backend "$engine" -y -w 1 --confidence -o out
grep -q "of vectors touch the window's border; try -w 4" "$scratch/out" || fail "no wider window is suggested"
head -1 out/frames.csv | grep -q ',border,border_share$' || fail "no border in frames.csv"
grep -q '"try_window": "4"' out/summary.json || fail "no window in summary.json"
expect 0 clip.y4m --backend "$engine" -y -w 0 -o out
grep -q "0.0 % of vectors touch the window's border$" "$scratch/out" || fail "a window of 0 has a border"

# Candidates whose fractions are refined keep their numbers: the example of gpume(1). Where every fraction is compared,
# they are in the order of their costs.
bunny=$here/../../samples/bunny.mp4
expect 0 "$bunny" --backend "$engine" -qy -b 16 -w 15 --subpel 4 --candidates 2 --confidence --frames 1 -o out
[ "$(grep '^1,0,224,48,' out/vectors.csv | cut -d, -f7-9,11,12 | paste -s -d ' ')" = \
    "-4.75,1,4237,0,4201 -1.75,0.25,4201,1,4201" ] || fail "candidates: $(grep '^1,0,224,48,' out/vectors.csv)"
expect 0 "$bunny" --backend "$engine" -qy -b 16 -w 15 --candidates 2 --confidence --frames 1 -o out
[ "$(grep '^1,0,224,48,' out/vectors.csv | cut -d, -f7-9,11,12 | paste -s -d ' ')" = \
    "-5,1,4253,0,4325 -1,0,4325,1,4325" ] || fail "candidates in whole pixels: $(grep '^1,0,224,48,' out/vectors.csv)"
expect 0 "$bunny" --backend "$engine" -qy -b 16 -w 7 --subpel 4 --subpel-search full --candidates 3 --frames 1 -o out
awk -F, 'NR > 1 && $11 > 0 && $9 < before { exit 1 } { before = $9 }' out/vectors.csv || fail "candidates out of order"
