#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume complexity: its rows by frame and by scene, and that harder material has larger numbers: 20 still frames, then
# 15 of noise.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"
ffmpeg -nostdin -v error -filter_complex \
    "smptebars=s=192x128:r=25,format=yuv420p,trim=end_frame=20[a];color=gray:s=192x128:r=25,format=yuv420p,\
noise=alls=80:allf=t:all_seed=1,trim=end_frame=15[b];[a][b]concat=n=2" -frames:v 35 -c:v ffv1 clip.mkv || fail "no clip"

complexity() {
    expect 0 complexity clip.mkv --backend "$engine" "$@"
}

complexity -o frames.csv
grep -q '^scenes       2 in 35 frames: 1 cut$' "$scratch/out" || fail "no closing summary"
[ "$(head -1 frames.csv)" = "frame,scene,time,luma,spatial,temporal,intra_cost,inter_cost,intra_share,\
bytes_qp22,bytes_qp27,bytes_qp32,bytes_qp37,seconds" ] || fail "columns of frames"
awk -F, 'NR > 1 && ($1 != NR - 2 || $2 != ($1 >= 20) || NF != 14 || $14 != 0.04 || $10 < $11 || $11 < $12 || $12 < $13) { exit 1 }
    END { exit NR != 36 }' frames.csv || fail "rows of frames"
grep -q '^10,0,0.400000,' frames.csv || fail "time"
# A still frame costs nothing but its penalty; noise cannot be predicted.
awk -F, '$1 == 10 && ($6 != 0 || $8 != 4 || $9 != 0) || $1 == 30 && ($8 < $7 * 0.8 || $9 < 0.1) { exit 1 }' frames.csv ||
    fail "values of frames"

complexity --by scene
cp "$scratch/out" scenes.csv
[ "$(head -1 scenes.csv | cut -d, -f1-4)" = "scene,first_frame,last_frame,time" ] || fail "columns of scenes"
cut -d, -f1-4 scenes.csv | tail -n +2 >rows
printf '0,0,19,0.000000\n1,20,34,0.800000\n' | cmp - rows || fail "rows of scenes"
cut -d, -f12,15- scenes.csv | sed 's/^[0-9]*,//' >rows
printf 'bytes_qp27,frames,seconds\n20,0.800000\n15,0.600000\n' | cmp - rows || fail "durations of scenes"
# The example of the man page: bitrates.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    { rate = 8 * $c["bytes_qp27"] / $c["seconds"] / 1000
      printf "scene %d: %.0f kbit/s\n", $c["scene"], rate }' scenes.csv | sort -k3nr >rates
[ "$(cut -d: -f1 rates | paste -s -d ,)" = "scene 1,scene 0" ] || fail "bitrates: $(cat rates)"
# A scene is the mean or the sum of its frames, up to rounding.
awk -F, 'FNR == 1 { next }
    NR == FNR { n[$2]++; spatial[$2] += $5; inter[$2] += $8; bytes[$2] += $11; next }
    function far(a, b, limit) { return a - b > limit || b - a > limit }
    far($6, spatial[$1] / n[$1], 0.002) || far($9, inter[$1] / n[$1], 0.02) || far($12, bytes[$1], n[$1]) { exit 1 }' \
    frames.csv scenes.csv || fail "scenes are not the sums of their frames"
awk -F, 'NR == 2 { a = $12 } NR == 3 { exit !($12 > 50 * a) }' scenes.csv || fail "noise is not larger"

complexity -o frames.json -q
refused 2 --output frames.jsonl --format -- complexity clip.mkv -o frames.jsonl
complexity --format json --threads 2
cmp "$scratch/out" frames.json || fail "the name .json is not JSON"
tr -d ' \n' <"$scratch/out" >packed
grep -q '^{"format":1,"scenes":\[{"first_frame":0,"last_frame":19,"time":0.000000,"luma":' packed || fail "json: scenes"
grep -q ',"frames":15,"seconds":0.600000}\],"frames":' packed || fail "json: durations"
[ "$(grep -o '"frame":' packed | wc -l)" -eq 35 ] || fail "json: frames"
[ "$(sed 's/.*"first_frame":20,.*"bytes_qp27":\([0-9]*\),.*"frames".*/\1/' packed)" = \
    "$(tail -1 scenes.csv | cut -d, -f12)" ] || fail "json and csv differ"

# luma is FFmpeg's mean, also of pictures whose sides are no multiples of 16 or very small.
for size in 176x144 150x100 33x50 20x16; do
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=$size:r=25:d=0.12,format=yuv420p,signalstats,metadata=print:file=means" \
        -c:v ffv1 luma.mkv || fail "no luma.mkv"
    expect 0 complexity luma.mkv --backend "$engine"
    sed -n 's/^lavfi.signalstats.YAVG=//p' means >expected
    sed 1d "$scratch/out" | cut -d, -f4 | paste -d, - expected |
        awk -F, '{ d = $1 - $2; if (d > 0.006 || d < -0.006) exit 1 } END { exit NR != 3 }' || fail "luma of $size: $(paste -s expected)"
done
rm luma.mkv means expected

# Times that are not even. The last frame lasts as long as the frame rate says.
ffmpeg -nostdin -v error -i clip.mkv -vf "select='eq(n,0)+eq(n,5)+eq(n,15)'" -fps_mode passthrough -c:v ffv1 uneven.mkv ||
    fail "no uneven.mkv"
expect 0 complexity uneven.mkv --backend "$engine"
[ "$(cut -d, -f3,14 "$scratch/out" | sed 1d | paste -s -d ' ')" = '0.000000,0.200000 0.200000,0.400000 0.600000,0.040000' ] ||
    fail "durations of uneven frames: $(cut -d, -f3,14 "$scratch/out")"
rm uneven.mkv
# Times that jump back.
ffmpeg -nostdin -v error -i clip.mkv -frames:v 10 -c:v mpeg2video once.ts || fail "no once.ts"
cat once.ts once.ts >twice.ts
expect 0 complexity twice.ts --backend "$engine"
awk -F, 'NR > 1 && $14 != "0.040000" { exit 1 } END { exit NR != 21 }' "$scratch/out" ||
    fail "durations where times jump back: $(cut -d, -f3,14 "$scratch/out" | paste -s -d ' ')"
expect 0 scenes twice.ts --backend "$engine" --format keyframes
tr , '\n' <"$scratch/out" | sort -n -c -u || fail "key frames of FFmpeg are not in order: $(cat "$scratch/out")"
rm once.ts twice.ts

expect 2 complexity
expect 2 complexity clip.mkv --by shot
expect 3 complexity absent.mkv
