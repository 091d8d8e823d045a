#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Compares --compat ffmpeg with the filter itself, run through libavfilter: every block in both
# directions, on generated clips and, if available, on real ones. CLIPS is their folder.
. "$(dirname "$0")/common.sh"
need_oracle
dump=${GPUME_DUMP_MESTIMATE:?}
clips=${GPUME_TEST_CLIPS:-}

engines=cpu
if have_vulkan; then
    engines="cpu vulkan"
fi

# same CLIP BLOCK WINDOW FRAMES [ENGINES [GRAPH]]: pushes FRAMES into the filter, which holds back
# the last one.
compared=0
same() {
    "$dump" "$1" "$2" "$3" "$4" ${6:+"$6"} >filter 2>"$scratch/err" || {
        [ $? -ne 77 ] || skip "this FFmpeg has no mestimate"
        fail "$*: the filter"
    }
    [ -s filter ] || fail "$*: the filter gives nothing"
    for one in ${5:-$engines}; do
        expect 0 "$1" -q --compat ffmpeg -b "$2" -w "$3" --frames $(($4 - 1)) --backend "$one" \
            --check -o out -y ${6:+--vf "$6"}
        tail -n +2 out/vectors.csv | cut -d, -f1-8 >ours
        cmp filter ours || fail "$*: not what the filter says, by $one"
        cut -d, -f1,2 ours | uniq >fields
        tail -n +2 out/frames.csv | cut -d, -f1,2 | cmp - fields || fail "$*: frames.csv"
        compared=$((compared + $(wc -l <ours)))
    done
}

# Generated: sizes around whole blocks, every block, windows beyond the picture, many ties.
make_clip odd.y4m 70 45 8 6
make_clip wide.y4m 131 67 8 5
make_clip exact.y4m 64 48 8 5
make_clip one.y4m 17 16 8 4
make_clip large.y4m 150 140 8 3
same odd.y4m 8 7 6
same odd.y4m 12 7 6
same odd.y4m 16 4 5
same wide.y4m 8 5 4
same wide.y4m 20 12 5
same wide.y4m 64 9 5
same exact.y4m 16 33 5
same exact.y4m 8 100 3 cpu
same one.y4m 16 7 4
same wide.y4m 8 4 3 cpu hflip,crop=100:50:7:3
same large.y4m 128 20 3 cpu
# A still scene after a moving one: a block with cost 0 has no motion.
"$oracle" clip 40 40 8 2 3 >still.y4m
frame=$((40 * 40 + 6))
tail -c $frame still.y4m >last
cat last last >>still.y4m
same still.y4m 8 7 4

# To the end of the input: the last frame has no field.
expect 0 odd.y4m -q --compat ffmpeg --backend cpu --vectors all.csv
"$dump" odd.y4m 16 7 6 >filter
"$dump" odd.y4m 8 7 6 >filter
tail -n +2 all.csv | cut -d, -f1-8 | cmp - filter || fail "to the end of the input"
# From the middle: the fields of these frames.
expect 0 odd.y4m -q --compat ffmpeg --backend cpu --start 2 --frames 2 --vectors some.csv
awk -F, '$1 == 2 || $1 == 3' filter >some
tail -n +2 some.csv | cut -d, -f1-8 | cmp - some || fail "--start 2 --frames 2"
# After a filter graph, which mestimate would see, too.
expect 0 odd.y4m -q --compat ffmpeg --backend cpu --vf crop=50:40:3:2 --vectors cropped.csv
expect 0 odd.y4m -q --compat ffmpeg --backend cpu --vf crop=48:40:3:2 --vectors aligned.csv
cmp cropped.csv aligned.csv || fail "--vf: not the part that has whole blocks"

# One warning if the block size differs.
expect 0 odd.y4m --compat ffmpeg --backend cpu -b 12 -o twelve
names --block 12 --compat 16
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "-b 12: more than one line"
grep -q '"block": 16,' twelve/summary.json || fail "-b 12: summary.json"
grep -q '"compat": "ffmpeg",' twelve/summary.json || fail "compat in summary.json"
expect 0 odd.y4m --compat ffmpeg --backend cpu -b 16 -o sixteen
[ ! -s "$scratch/err" ] || fail "-b 16: something on standard error"

# Contradicting options are refused in one line that names the remedy.
contradicts() {
    refused 2 --compat -- odd.y4m --compat ffmpeg "$@"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$*: not exactly one line"
}
contradicts --edge extend
says leave
contradicts --direction past
contradicts --direction future
contradicts --ref-distance 2
contradicts --prefilter gauss:1
contradicts -b 4
contradicts -w 3
contradicts -w 7x8
contradicts -b 16,8
contradicts -b 16x8
contradicts --ref-distance 1,2
for options in "--subpel 2" "--metric satd" "--lambda 4" "--qp 20" "--candidates 2" --confidence --best-reference \
    --bidirectional "--partition -b 16,8 --lambda 4" "--lambda 1 --predictor median"; do
    # shellcheck disable=SC2086 # an option and its value
    contradicts $options
    says "leave out --"
done
contradicts --overlay o.mkv
contradicts --report page.html
expect 2 odd.y4m --compat avisynth
expect 2 bench --compat ffmpeg
"$oracle" clip 32 32 8 1 1 >a.y4m
refused 2 --compat -- a.y4m a.y4m --compat ffmpeg
expect 0 odd.y4m -q --compat ffmpeg --edge inside --direction both --metric sad --subpel 1 --backend cpu --vectors v.csv
cmp v.csv all.csv || fail "--edge inside --direction both"
refused 3 64 -- odd.y4m --compat ffmpeg -b 64 --backend cpu
make_clip deep.y4m 40 40 10 3
refused 3 10 -- deep.y4m --compat ffmpeg --backend cpu
refused 3 rgb24 -- odd.y4m --compat ffmpeg --vf format=rgb24 --backend cpu
"$oracle" clip 32 32 8 1 1 >single.y4m
expect 3 single.y4m --compat ffmpeg --backend cpu

real=0
for clip in "${clips:-/nonexistent}"/*; do
    [ -f "$clip" ] || continue
    case $clip in
    *1080p*) same "$clip" 16 7 3 cpu ;;
    *skating*) # has a palette, which somebody must convert
        expect 3 "$clip" --compat ffmpeg --backend cpu
        same "$clip" 16 20 4 cpu format=yuv420p
        ;;
    *) same "$clip" 8 7 4 cpu ;;
    esac
    case $clip in
    *carphone*) same "$clip" 12 12 6 && same "$clip" 32 5 5 ;;
    esac
    real=$((real + 1))
done
echo "$compared vectors compared, 0 mismatches; $real real clips"
[ "$real" -gt 0 ] || echo "no real clips: ${clips:-their folder} is not there"
exit 0
