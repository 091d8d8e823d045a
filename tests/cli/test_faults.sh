#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Calls for memory, threads, files, disks and libav fail one after another: each one alone, and with all later calls, as
# on a full disk. Where a command repeats the calls of another, only every N-th call fails, the same ones in every
# run.
. "$(dirname "$0")/common.sh"
. "$here/faults.sh"
[ -f "${GPUME_FAULT_CALLS:-}" ] || skip "no library of failing calls (a build with sanitizers has none)"
make_clip clip.y4m 64 48 8 5
"$gpume" clip.y4m --backend cpu -q --predicted v.mkv --overlay v.mp4 --residual s%d.png || fail "no inputs"
"$gpume" clip.y4m --backend cpu -q -o a || fail "no vectors"
"$gpume" clip.y4m --backend cpu -q -o b -w 3 || fail "no other vectors"
make_clip large.y4m 640 480 8 12 # its tables are written by a thread
echo 3 1 2 -5 77 1000000 >integers

preload=LD_PRELOAD=$GPUME_FAULT_CALLS
sweep "" 1 "1 3" $preload "$gpume" ../../clip.y4m --backend cpu -o out/deep
sweep + 3 "1 3" $preload "$gpume" ../../clip.y4m --backend cpu -o out
sweep "" 3 "1 3" $preload "$gpume" ../../v.mkv --backend cpu --frames 2 --check --overlay o%d.png \
    --report r.html
sweep "" 3 "1 3" $preload "$gpume" ../../clip.y4m --backend cpu --frames 2 --predicted p%d.pgm \
    --residual r.mkv --overlay o.mp4 --difference d.y4m
sweep "" 2 "1 3" $preload "$gpume" ../../v.mp4 --backend cpu --frames 2 --vf scale=32:32 \
    --prefilter gauss:1 --report r.json
sweep "" 3 "1 3" $preload "$gpume" ../../s1.png ../../s2.png --backend cpu --predicted p.jpg \
    --difference d.bmp --report r.csv
sweep "" 5 "1 3" $preload "$gpume" ../../clip.y4m --backend cpu --direction both --vectors v%d-%d.flo
sweep "" 3 "1 3" $preload "$gpume" ../../clip.y4m --backend cpu --vectors - --format npy

# The general search: its memory, predictors from a file, and more columns.
cost="--lambda 4 --metric satd --subpel 2 -w 1"
partition="-b 16..8+rect --partition --predictor median --ref-distance 1,2 --bidirectional"
trust="-b 16,8x16 --predictor ../../g/vectors.csv --direction both --best-reference --confidence --candidates 3"
"$gpume" clip.y4m --backend cpu -q -b 16,8x16 --direction both -o g || fail "no predictors"
sweep "" 3 "1 3" $preload "$gpume" ../../clip.y4m --backend cpu --frames 2 $partition $cost --check -o out
sweep "" 5 "1 3" $preload "$gpume" ../../clip.y4m --backend cpu --frames 2 $trust $cost -o out --report r.html

# A filtered video beside the files of a first pass.
sweep "" 11 "1 3" $preload "$gpume" firstpass ../../clip.y4m --backend cpu --encoder x264 --crf 30 --filter 1 --filtered k.mkv -o a

# Programs that are started: an encoder, and the ffmpeg that feeds it.
if have x264 && have ffmpeg; then
    sweep "" 11 "1 3" $preload "$gpume" firstpass ../../clip.y4m --backend cpu --encoder x264 --crf 30 -o a --verify
fi

# Commands without a video.
sweep "" 1 "1 3" $preload "$gpume" sort ../../integers --backend cpu --check -o sorted
sweep "" 1 "1 3" $preload "$gpume" convert ../../a/vectors.csv v.npy
sweep + 1 "1 3" $preload "$gpume" convert ../../a/vectors.csv v%d.flo
for format in csv.gz csv.zst; do
    "$gpume" convert a/vectors.csv $format.in --format $format -q || fail "$format: no input"
    sweep "" 1 "1 3" $preload "$gpume" convert ../../a/vectors.csv v.$format
    sweep "" 1 "1 3" $preload "$gpume" convert ../../$format.in v.mvf
done
sweep "" 1 1 $preload "$gpume" devices --json
sweep "" 41 1 $preload "$gpume" bench --backend cpu --size 16x16 --bits 10 --frames 1 --seconds 0.001
sweep "" 601 1 $preload "$gpume" bench --backend cpu --size 16x16 --frames 1 --seconds 0.001 \
    --search plain --threads 1 # and FFmpeg's mestimate
good=5
sweep "" 1 "1 3" $preload "$gpume" compare ../../a ../../b --map m%d.png
good=0

# An interrupted run can still be resumed after an attempt that failed.
again="$preload $gpume $PWD/clip.y4m --backend cpu -q -o out --predicted p.y4m --residual r%03d.png --resume"
broken_off() { # CALL: the first that gives a name and fails, as do all after it
    start=$PWD/broken$1
    mkdir "$start"
    (cd "$start" && env GPUME_FAULT_KIND=name GPUME_FAULT_AT="$1" $again) 2>/dev/null &&
        fail "not broken off at name $1"
    [ -e "$start/.p.y4m.gpume-state" ] || fail "broken off at name $1: nothing to continue"
}
broken_off 4+ # under way
sweep "" 3 "1 3" $again
broken_off 8+ # as outputs got their names
sweep "" 5 "1 3" $again
start=
again=

# The disk is full from some write on: only complete files exist, whatever was being written.
# No unnumbered file has its final name, even if only the last one does not fit.
disk="GPUME_FAULT_KIND=write $preload"
sweep + 1 1 $disk "$gpume" ../../clip.y4m --backend cpu -q --predicted p%d.png --report r.json
all_or_none=yes
sweep + 1 1 $disk "$gpume" ../../clip.y4m --backend cpu -q -o out --report r.csv
sweep + 2 1 $disk "$gpume" ../../large.y4m --backend cpu -q -b 4 -w 1 -o out
sweep + 3 1 $disk "$gpume" ../../clip.y4m --backend cpu -q $partition $cost -o out
sweep + 3 1 $disk "$gpume" ../../clip.y4m --backend cpu -q $trust $cost -o out --report r.csv
sweep + 1 1 $disk "$gpume" ../../clip.y4m --backend cpu -q --residual r.mkv --overlay o.mp4 \
    --difference d.y4m --report r.html
sweep "" 1 1 GPUME_FAULT_KIND=name $preload "$gpume" ../../clip.y4m --backend cpu -q -o out --report r.csv
sweep + 1 1 GPUME_FAULT_KIND=name $preload "$gpume" ../../clip.y4m --backend cpu -q -o out --report r.csv
all_or_none=

# A disk that is really full: the run fills it, and its files are removed afterwards.
mkdir disk
cat >"$scratch/full" <<'END'
mount -t tmpfs -o size=64k none disk || exit 99
cd disk || exit 99
"$@"
status=$?
[ -z "$(ls -A)" ] || exit 98
exit $status
END
for outputs in "-o out" "--vectors v.csv" "--predicted p%d.pgm" "--residual r.mkv" \
    "--difference d.y4m" "--overlay o.mp4 --scale 2" "--report r.html"; do
    # shellcheck disable=SC2086 # several options
    unshare --mount --map-root-user sh "$scratch/full" "$gpume" "$scratch/work/large.y4m" \
        --backend cpu -q -w 1 $outputs >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    if [ $status -eq 99 ] || grep -q '^unshare: ' "$scratch/err"; then
        echo "not tried: a full disk, since no tmpfs may be mounted here"
        break
    fi
    [ $status -ne 98 ] || fail "a full disk: something is left of $outputs"
    [ $status -eq 1 ] || fail "a full disk: exit status $status with $outputs"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "a full disk: not one line with $outputs"
    says "No space left on device"
done
[ $bad -eq 0 ]
