#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Calls fail one after another, as in test_faults.sh, in commands that read a coded video or the files of several runs.
. "$(dirname "$0")/common.sh"
. "$here/faults.sh"
[ -f "${GPUME_FAULT_CALLS:-}" ] || skip "no library of failing calls (a build with sanitizers has none)"
have ffmpeg || skip "no ffmpeg"
make_clip clip.y4m 64 48 8 8
ffmpeg -nostdin -v error -i clip.y4m -pix_fmt yuv420p -c:v mpeg4 -bf 2 -q:v 5 clip.avi || fail "no MPEG-4"
for part in "0 --frames 3" 4; do
    # shellcheck disable=SC2086 # several words
    "$gpume" clip.y4m --backend cpu -q -o "part_${part%% *}" --start $part -b 16 || fail "no parts"
    # shellcheck disable=SC2086
    "$gpume" clip.y4m --backend cpu -q -y -o "part_${part%% *}" --start $part -b 16 --vectors "part_${part%% *}/v.mvf" \
        --report "part_${part%% *}/r.json" --predicted "part_${part%% *}/p%d.pgm" || fail "no parts"
done
all_or_none=yes

preload=LD_PRELOAD=$GPUME_FAULT_CALLS
sweep "" 1 "1 3" $preload "$gpume" vectors ../../clip.avi -q -o v.csv
sweep "" 2 "1 3" $preload "$gpume" vectors ../../clip.avi -q -b 16 -o v.npz --overlay o.y4m
sweep "" 3 "1 3" $preload "$gpume" ../../clip.avi -q --from-stream -b 16 --vectors v.npy --overlay o.mp4 --overlay-style flow \
    --report r.html
sweep "" 3 "1 3" $preload "$gpume" ../../clip.avi -q --against-stream --backend cpu --threads 1 -w 1 --frames 3 -o out
sweep + 5 "1 3" $preload "$gpume" ../../clip.avi -q --against-stream --backend cpu --threads 1 -w 1 --frames 3 -o out
sweep "" 2 "1 3" $preload "$gpume" luma ../../clip.avi -q -o l.y4m
sweep "" 5 "1 3" $preload "$gpume" filter ../../clip.avi --backend cpu --threads 2 -q -o f.y4m --noise 5
sweep "" 7 "1 3" $preload "$gpume" filter ../../clip.avi --backend cpu --threads 2 -q -o f.mkv --start 0.04s --for x264 --qp 30
sweep "" 1 "1 3" $preload "$gpume" plan ../../clip.avi --chunks 2 -q
sweep "" 1 "1 3" $preload "$gpume" ../../clip.y4m --backend cpu -q --start 0.12s --duration 0.1s --vectors v.npz
sweep "" 5 "1 3" $preload "$gpume" ../../clip.avi --backend cpu -q --fields same -b 16 --frames 2 -o out
sweep "" 5 "1 3" $preload "$gpume" ../../clip.avi ../../clip.y4m --backend cpu -q --pictures --vectors v.mvf
# Decoding begins at a key frame, or at the first frame where a call for that fails: the same vectors.
if ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x48 -frames:v 40 -c:v libx264 -g 10 -bf 2 seek.mp4 2>/dev/null; then
    sweep "" 3 "1 3" $preload "$gpume" ../../seek.mp4 --backend cpu -q -b 16 --start 33 --frames 2 --vectors v.csv
    sweep "" 3 "1 3" $preload "$gpume" ../../seek.mp4 --backend cpu -q -b 16 --start 1.32s --duration 0.05s --vectors v.csv
    sweep "" 17 "1 3" $preload "$gpume" firstpass ../../seek.mp4 --backend cpu -q --encoder x264 --bitrate 20k --frames 12 -o f
else
    echo "no libx264: seeking is not tested"
fi
merge="../../part_0 ../../part_4 -o all -q --vectors v.mvf --report r.json"
sweep "" 1 "1 3" $preload "$gpume" merge $merge
sweep + 1 1 GPUME_FAULT_KIND=write $preload "$gpume" merge $merge
sweep "" 1 1 GPUME_FAULT_KIND=name $preload "$gpume" merge $merge
all_or_none= # numbered pictures have their names at once
sweep "" 1 "1 3" $preload "$gpume" merge $merge --predicted p%d.pgm
[ $bad -eq 0 ]
