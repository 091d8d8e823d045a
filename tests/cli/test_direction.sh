#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --direction: files compared with the oracle on every engine, a reversed clip, statistics of each
# direction, which frames are targets, and combinations with other options.
. "$(dirname "$0")/common.sh"
need_oracle

engines=cpu
if have_vulkan; then
    engines="cpu vulkan"
fi

# same CLIP DISTANCE OPTION...
same() {
    clip=$1 distance=$2
    shift 2
    for direction in past future both; do
        case $direction in
        past) way=$distance ;;
        future) way=+$distance ;;
        *) way=both:$distance ;;
        esac
        "$oracle" vectors $clip 8 7 5 extend $way >vectors
        "$oracle" frames $clip 8 7 5 extend $way >frames
        # Vulkan's fields in every direction are unit-direction-vulkan's; starting it takes a second.
        some=$engines
        [ $direction = both ] || some=cpu
        for one in $some; do
            expect 0 $clip -w 7x5 --ref-distance $distance --direction $direction \
                --backend $one --check -o out -y "$@"
            cmp vectors out/vectors.csv || fail "$clip $direction $distance: vectors.csv of $one"
            cmp frames out/frames.csv || fail "$clip $direction $distance: frames.csv of $one"
            grep -q "\"direction\": \"$direction\"," out/summary.json || fail "summary.json"
        done
    done
}
make_clip clip.y4m 48 37 8 9
make_clip deep.y4m 33 20 10 7
same clip.y4m 1
same clip.y4m 3
same clip.y4m 5
same clip.y4m 8
same deep.y4m 1
same deep.y4m 2 --threads 1

# The future equals the past of the reversed clip, with frames numbered from the other end.
header=$(head -1 clip.y4m | wc -c) size=$((48 * 37 + 6))
head -1 clip.y4m >backwards.y4m
for i in 9 8 7 6 5 4 3 2 1; do
    tail -c +$((header + (i - 1) * size + 1)) clip.y4m | head -c $size >>backwards.y4m
done
for one in $engines; do
    expect 0 clip.y4m --direction future --ref-distance 2 --backend $one --vectors future.csv -y
    expect 0 backwards.y4m --ref-distance 2 --backend $one --vectors past.csv -y
    awk -F, -v OFS=, 'NR > 1 { $1 = 8 - $1; $2 = 8 - $2; print $1 * 100000 + NR ":" $0 }' past.csv |
        sort -n | cut -d: -f2 >turned
    tail -n +2 future.csv | cmp - turned || fail "the past of the clip played backwards, by $one"
done

# The statistics of each direction equal those of a run in that direction alone.
for one in past future both; do
    expect 0 -q clip.y4m --backend "$engine" --direction $one -o $one
done
figures() { # FILE DIRECTION
    sed -n '/"directions": {/,/^  }/p' "$1/summary.json" | sed -n "/\"$2\": {/,/^    }/p"
}
for one in past future; do
    figures both $one >of_both
    figures $one $one >of_one
    [ -s of_one ] || fail "no figures of $one"
    sed 's/,$//' of_one >a && sed 's/,$//' of_both | cmp - a || fail "figures of $one"
done
sum=$(sed -n 's/^ *"fields": \([0-9]*\),$/\1/p' both/summary.json | tr '\n' ' ')
[ "$sum" = "16 8 8 " ] || fail "numbers of fields: $sum"
grep -q '"first_field": 0,' both/summary.json || fail "first_field"
expect 0 clip.y4m --backend "$engine" --direction both -o said
for word in '^direction    both' '^both directions ' '^past  ' '^future  '; do
    grep -q "$word" "$scratch/out" || fail "the closing summary has no line $word"
done

# Targets: the frames that --start and --frames select, with the references that exist.
"$oracle" vectors clip.y4m 8 7 7 extend both:2 >all
"$oracle" vectors clip.y4m 8 7 7 extend +2 >ahead
range() { # START FRAMES FIRST LAST
    awk -F, -v a="$3" -v b="$4" 'NR == 1 || ($1 >= a && $1 <= b)' all >want
    awk -F, -v a="$3" -v b="$4" 'NR == 1 || ($1 >= a && $1 <= b)' ahead >want_ahead
    expect 0 clip.y4m --ref-distance 2 --direction both --backend "$engine" --vectors - \
        --start "$1" ${2:+--frames $2}
    cmp want "$scratch/out" || fail "--direction both --start $1 --frames $2"
    [ "$(wc -l <want_ahead)" -gt 1 ] || return 0
    expect 0 clip.y4m --ref-distance 2 --direction future --backend "$engine" --vectors - \
        --start "$1" ${2:+--frames $2}
    cmp want_ahead "$scratch/out" || fail "--direction future --start $1 --frames $2"
}
range 0 '' 0 8
range 0 1 0 0
range 1 3 1 3
range 3 2 3 4
range 6 2 6 7
range 8 1 8 8
range 5 9 5 8
names --frames 9
refused 3 clip.y4m 10 -- clip.y4m --direction future --start 8
refused 3 clip.y4m 10 -- clip.y4m --direction both --ref-distance 9
refused 3 --start 3 --ref-distance 7 --direction 11 -- clip.y4m --direction both --ref-distance 7 --start 3 --frames 2
refused 3 clip.y4m 21 -- clip.y4m --direction both --ref-distance 20 --start 3 --frames 18

# Two fields per frame: in every table, by frame and then by reference.
expect 0 -q clip.y4m --backend "$engine" --direction both --report r.csv --vectors v.csv
cut -d, -f1,2 both/frames.csv >order
cut -d, -f1,2 r.csv | cmp - order || fail "order of the report's rows"
cut -d, -f1,2 v.csv | uniq | cmp - order || fail "order of vectors.csv"
expect 0 -q clip.y4m --backend "$engine" --direction both --report r.json
[ "$(grep -c '{"frame": ' r.json)" -eq 16 ] || fail "fields of the report for programs"
if have python3; then
    python3 -m json.tool r.json >/dev/null || fail "r.json is no JSON"
fi
expect 0 -q clip.y4m --backend "$engine" --direction future --report page.html \
    --predicted p%d.pgm --overlay o.y4m
grep -q '"direction": "future"' page.html || fail "the page of the other direction"
[ -f p0.pgm ] && [ ! -f p8.pgm ] || fail "pictures are numbered by target frame"

# compare finds fields by frame and direction.
expect 0 compare both both
grep -q '^compared     16 frame pairs' "$scratch/out" || fail "compare: both with itself"
run compare both past
[ "$status" -eq 5 ] || fail "compare both past: exit status $status"
grep -q '^compared     8 frame pairs' "$scratch/out" || fail "compare: both with past"
grep -q '^only in A    8 frame pairs' "$scratch/out" || fail "compare: only in both"
run compare both future
grep -q '^frame pairs  8 of 8 equal in all blocks' "$scratch/out" || fail "compare: the future"
refused 3 past future -- compare past future
for map in map.mkv map%d.png; do
    refused 2 --map -- -q compare both both --map $map
done
expect 0 -q compare past past --map map.mkv
sed 's/^\([0-9]*\),[0-9]*,/\1,7,/' v.csv >blurred.csv
expect 3 compare blurred.csv v.csv

# Invalid combinations: one line, before any work.
for picture in --predicted --residual --difference --overlay; do
    refused 2 --direction "$picture" -- clip.y4m --direction both $picture p.y4m
done
refused 2 --ref-distance --best-reference -- clip.y4m --direction both --ref-distance 1,2 --report r.html
"$oracle" clip 32 32 8 1 1 >one.y4m
refused 2 --direction future -- one.y4m one.y4m --direction future
expect 2 one.y4m one.y4m --direction both
refused 2 --direction sideways -- clip.y4m --direction sideways
expect 0 -q one.y4m one.y4m --backend "$engine" --direction past -o stills
exit 0
