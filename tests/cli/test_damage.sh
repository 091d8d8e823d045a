#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Damaged and truncated videos are used as far as possible, with one warning that says how far;
# complete ones cause no warning. Missing resources are not blamed on the file.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 48 8 12

# warns WORD...: the last run printed one line, which names each of them.
warns() {
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not exactly one line of warning"
    names "$@"
}

# Without threads for the engine the error is about threads, also after Vulkan has failed.
if [ -e "${GPUME_FAULT_CALLS:-}" ]; then
    without_threads() { # FIRST ARGUMENTS: from gpume's FIRST-th thread on none can be started
        at=$1
        shift
        env GPUME_FAULT_KIND=thread GPUME_FAULT_AT="$at+" LD_PRELOAD="$GPUME_FAULT_CALLS" \
            VK_DRIVER_FILES=/none VK_ICD_FILENAMES=/none "$gpume" -q "$@" >"$scratch/out" 2>"$scratch/err"
        status=$?
        [ $status -eq 1 ] || fail "no more threads: exit status $status"
        warns -u -v # the limits of ulimit
        ! grep -q clip.y4m "$scratch/err" || fail "no more threads: the file is blamed"
    }
    for at in 1 2 3 4; do # signals, Vulkan's drivers, the engine's two
        without_threads $at clip.y4m --backend auto --threads 2 -o none
    done
    without_threads 2 clip.y4m --backend cpu --threads 4 -o none
else
    echo "nothing makes pthread_create fail in this build: threads are not tested"
fi

have ffmpeg || { echo "ffmpeg is not here: damaged files are not tested"; exit 0; }
convert() { ffmpeg -v error -y "$@" </dev/null || fail "ffmpeg $*"; }
convert -i clip.y4m -c mpeg4 -bf 0 whole.mp4

# A decoder that cannot start its threads: the file is good.
if [ -e "${GPUME_FAULT_CALLS:-}" ]; then
    env GPUME_FAULT_LIBAV_THREADS=1 LD_PRELOAD="$GPUME_FAULT_CALLS" "$gpume" -q whole.mp4 --threads 2 \
        --backend cpu -o none >"$scratch/out" 2>"$scratch/err"
    status=$?
    [ $status -eq 1 ] || fail "no threads for the decoder: exit status $status"
    warns whole.mp4 --threads -u -v
fi

# The size of a frame in the sample table of an MP4 is made impossible. 2^30 and more: libavformat
# drops the rest of the table; 2^29: it reports that it is out of memory.
expect 0 -q whole.mp4 --backend "$engine" -o whole
table=$(grep -obUa stsz whole.mp4 | cut -d: -f1)
for size in '\100\0\0\0' '\177\377\377\377' '\040\0\0\0'; do
    cp whole.mp4 table.mp4
    # shellcheck disable=SC2059 # bytes
    printf "$size" | dd of=table.mp4 bs=1 seek=$((table + 16 + 4 * 7)) conv=notrunc 2>/dev/null
    expect 0 -qy table.mp4 --backend "$engine" -o damaged
    warns table.mp4 7 12
    [ "$(wc -l <damaged/frames.csv)" -eq 7 ] || fail "not the frames before the damage"
    head -n "$(wc -l <damaged/vectors.csv)" whole/vectors.csv | cmp - damaged/vectors.csv ||
        fail "damage behind the frames used changes them"
done
# An edit list leaves out frames of a whole file.
convert -ss 0.2 -i whole.mp4 -c copy edited.mp4
expect 0 -qy edited.mp4 --backend "$engine" -o edited
[ ! -s "$scratch/err" ] || fail "an edit list: a warning"
counted=$(ffprobe -v error -show_entries stream=nb_frames -of csv=p=0 edited.mp4 | tr -d ,)
[ "$(wc -l <edited/frames.csv)" -lt "$counted" ] || fail "the edit list leaves out no frame"

# Cut between packets or within those of another stream: only the container's structure shows it.
# Complete files cause no warning.
cut_at() { # FILE PERCENT
    expect 0 -qy "$1" --backend "$engine" -o whole
    [ ! -s "$scratch/err" ] || fail "$1 is whole: a warning"
    frames=$(wc -l <whole/frames.csv)
    head -c $(($(wc -c <"$1") * $2 / 100)) "$1" >"cut_$1"
    expect 0 -qy "cut_$1" --backend "$engine" -o cut
    used=$(wc -l <cut/frames.csv)
    [ "$used" -lt "$frames" ] || fail "$1 is not cut"
    names "cut_$1" "$used"
    case $1 in *.avi) names "$frames" ;; esac
    # FFmpeg 7 also gives what it could decode of a GIF's last frame: that is said, and the frames before it are whole.
    lines=1
    if ! head -n "$(wc -l <cut/vectors.csv)" whole/vectors.csv | cmp -s - cut/vectors.csv; then
        lines=2
        [ "$(grep -c "cut_$1" "$scratch/err")" -eq 2 ] || fail "$1: the damage is not that file's"
        grep -v "^$((used - 1))," cut/vectors.csv >before
        head -n "$(wc -l <before)" whole/vectors.csv | cmp - before || fail "$1: frames before the cut one are damaged"
    fi
    [ "$(wc -l <"$scratch/err")" -eq $lines ] || fail "not exactly $lines lines of warning"
}
sound="-f lavfi -i sine=d=0.48"
# shellcheck disable=SC2086 # several words
{
    convert -i clip.y4m $sound -c:v mpeg4 -bf 0 -c:a pcm_s16le sound.avi
    convert -i clip.y4m $sound -c:v flv -c:a pcm_s16le -ar 44100 sound.flv
}
convert -i clip.y4m pictures.gif
for percent in 50 70 80; do
    cut_at sound.avi $percent
    cut_at sound.flv $percent
    cut_at pictures.gif $percent
done
ffmpeg -v error -i clip.y4m -c:v mpeg4 -f avi - </dev/null | cat >piped.avi
expect 0 -qy piped.avi --backend "$engine"
[ ! -s "$scratch/err" ] || fail "an AVI without sizes is whole: a warning"
if ffmpeg -v error -encoders | grep -q libtheora; then
    convert -i clip.y4m -c libtheora -g 4 -page_duration 40000 pages.ogv
    for percent in 70 80; do
        cut_at pages.ogv $percent
    done
else
    echo "this ffmpeg writes no Theora: cut Ogg files are not tested"
fi

# A decoder that reports errors and returns all frames as good ones: a warning.
overwrite() { # FILE: 64 bytes in its middle
    printf '\125\252%.0s' $(seq 32) |
        dd of="$1" bs=1 seek=$(($(wc -c <"$1") / 2)) conv=notrunc 2>/dev/null
}
convert -f lavfi -i testsrc2=s=128x96:d=1:r=10 -c msmpeg4 -g 5 silent.mkv
overwrite silent.mkv
expect 0 -qy silent.mkv --backend "$engine"
warns silent.mkv
grep -qE ' [1-9][0-9]* ' "$scratch/err" || fail "no count of errors"
expect 0 -qy silent.mkv --backend "$engine" --frames 7 # the end is not reached
warns silent.mkv
# With several decoder threads, the warning names the option that makes results repeatable.
convert -f lavfi -i testsrc2=s=128x96:d=1:r=10 -c mpeg4 -g 5 threads.mkv
overwrite threads.mkv
expect 0 -qy threads.mkv --backend "$engine" --threads 4
warns threads.mkv '--threads 1'
for run in 1 2 3; do
    expect 0 -qy threads.mkv --backend "$engine" --threads 1 -o run$run
    warns threads.mkv
    ! grep -q -- --threads "$scratch/err" || fail "one thread: the warning names --threads"
    cmp run1/vectors.csv run$run/vectors.csv || fail "--threads 1 is not repeatable"
done
exit 0
