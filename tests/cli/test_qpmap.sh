#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume qpmap: its formats, and that what later frames use becomes better than what they do not: the left half of the
# picture stands still, the right half is noise.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"
ffmpeg -nostdin -v error -filter_complex \
    "testsrc2=s=192x144:r=25,format=gray,trim=end_frame=1,loop=59:1,setpts=N/25/TB[a];color=gray:s=192x144:r=25,format=gray,\
noise=alls=90:allf=t:all_seed=1[b];[a][b]hstack" -frames:v 60 -c:v ffv1 clip.mkv || fail "no clip"

qpmap() {
    expect 0 qpmap clip.mkv --backend "$engine" "$@"
}

qpmap -o clip.roi
grep -q '^maps         of 60 frames$' "$scratch/out" || fail "no closing summary"
# 60 times "6 3" and three rows of six.
awk 'NR % 4 == 1 { if ($0 != "6 3") exit 1; next } NF != 6 || /[^-0-9 ]/ { exit 1 } END { exit NR != 240 }' clip.roi ||
    fail "kvazaar"
awk 'NR == 2 { exit !($1 < -5 && $6 > $1 + 4 && $6 <= 0) }' clip.roi || fail "still squares are not better"
tail -4 clip.roi | awk 'NR > 1 { for (i = 1; i <= 6; i++) if ($i != 0) exit 1 }' || fail "the last frame is used by none"

qpmap --threads 3
cmp clip.roi "$scratch/out" || fail "three threads find something else"
qpmap --qcomp 1
awk 'NR % 4 != 1 && /[1-9]/ { exit 1 }' "$scratch/out" || fail "--qcomp 1 has offsets"
qpmap --side 16
[ "$(head -1 "$scratch/out")" = "24 9" ] || fail "--side 16"
qpmap --aq-strength 1
! cmp -s clip.roi "$scratch/out" || fail "--aq-strength does nothing"
qpmap --rc-lookahead 1
awk 'FNR == 2 { if (n++ == 0) a = $1; else exit !($1 > a) }' clip.roi "$scratch/out" || fail "--rc-lookahead"
awk 'FNR % 4 == 2 && FNR < 200 && $1 >= 0 { exit 1 }' "$scratch/out" || fail "--rc-lookahead 1: a frame is used by none"

# Longer than any encoder's key frame interval: the map adds no intra frames.
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x48:r=25:d=0.04 -vf loop=319:1,setpts=N/25/TB -frames:v 320 -c:v ffv1 still.mkv ||
    fail "no still clip"
expect 0 qpmap still.mkv --backend "$engine"
awk 'NR % 2 == 0 && NR < 520 { n++; if ($1 > -6) exit 1 } END { if (n != 259) exit 1 }' "$scratch/out" ||
    fail "a still picture is not equally good for 260 frames"
# What all blocks have in common is not in the map of SVT-AV1, which gives frames their quality.
expect 0 qpmap still.mkv --backend "$engine" --vf noise=alls=80:all_seed=1:allf=u --format svt-av1 --qcomp 0 --rc-lookahead 250
awk 'NF != 2 || $2 != 0 { exit 1 }' "$scratch/out" || fail "svt-av1: the map of a single square"
rm still.mkv

qpmap --format svt-av1
awk '$1 != NR - 1 || NF != 19 || /[^-0-9 ]/ { exit 1 }
    { split("", seen); n = 0; for (i = 2; i <= NF; i++) if (!seen[$i]++) n++; if (n > 8) exit 1 }
    END { exit NR != 60 }' "$scratch/out" || fail "svt-av1"
awk 'NR == 1 { exit !($2 < -20 && $7 > 0 && $7 - $2 > 40) }' "$scratch/out" || fail "svt-av1: not in indices"
# The mean over the picture, of which the squares of the last row cover a quarter as much, is 0.
awk '{ sum = 0; for (i = 2; i <= NF; i++) sum += $i * (i < 14 ? 4 : 1); mean = sum / 54; if (mean > 0.5 || mean < -0.5) exit 1 }' \
    "$scratch/out" || fail "svt-av1: not centred"

# A signal after the last frame was read: the map of 60 frames is only written then. It fills the pipe first; once no
# signal is pending, it has been taken.
if ! checked && env --default-signal=INT true 2>/dev/null && [ -r /proc/self/status ]; then
    ffmpeg -nostdin -v error -i clip.mkv -vf scale=iw*10:ih*10 -c:v ffv1 large.mkv || fail "no large clip"
    mkfifo pipe
    env --default-signal=INT "$gpume" qpmap large.mkv --backend "$engine" --side 16 >pipe 2>"$scratch/err" &
    pid=$!
    exec 9<pipe
    dd bs=1 count=1 <&9 >/dev/null 2>&1
    kill -s INT $pid
    while grep -q '^ShdPnd:.*[1-9a-f]' /proc/$pid/status; do sleep 0.01; done
    lines=$(wc -l <&9)
    wait $pid
    [ $? -eq 1 ] || fail "interrupted at the end: exit status"
    [ "$lines" -lt 1680 ] || fail "interrupted at the end: all of it was written"
    says "interrupted; the output is not complete"
    exec 9<&-
    rm pipe large.mkv
fi

refused 2 --side -- qpmap clip.mkv --format svt-av1 --side 32
expect 2 qpmap clip.mkv --side 20
expect 2 qpmap
expect 3 qpmap absent.mkv
only . clip.mkv clip.roi
