#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Inputs in which times, sizes of packets, or all bytes occur again: --start, --duration, --resume, plan and merge, and
# several decoders give the frames of one run from the beginning, under the same numbers and times.
. "$(dirname "$0")/common.sh"
env --default-signal=INT true 2>/dev/null || skip "no env --default-signal"
have ffmpeg || skip "ffmpeg is not here"
frames=121
options="--backend cpu --threads 1 -b 16 -w 2"

# video FILE FILTER OPTION...
video() {
    file=$1
    filter=$2
    shift 2
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=96x64:r=25$filter" -frames:v $frames -pix_fmt yuv420p \
        -threads 1 "$@" "$file" 2>"$scratch/err"
}

# joined EXTENSION OPTION...: a clip twice, three times, and with another between.
joined() {
    kind=$1
    shift
    rm -f a.* b.* two.* three.* other.*
    video a.$kind '' "$@" || return 1
    video b.$kind ,hflip "$@" || return 1
    cat a.$kind a.$kind >two.$kind
    cat a.$kind a.$kind a.$kind >three.$kind
    cat a.$kind b.$kind a.$kind >other.$kind
}

# rows DIR FIRST END: the rows of those targets.
rows() {
    for table in vectors frames; do
        awk -F, -v first="$2" -v end="$3" 'NR > 1 && $1 >= first && $1 < end' "$1/$table.csv"
    done
}

# same_starts CLIP FIRST...: the targets from there to the end are those of the whole run.
same_starts() {
    clip=$1
    shift
    run -qy $clip $options -o whole
    [ $status -eq 0 ] || fail "$clip: exit status $status"
    for first in "$@"; do
        run -qvy $clip $options -o part --start $first
        grep -q 'decoding begins with frame' "$scratch/err" && jumps=$((jumps + 1))
        rows whole $first 100000 >want
        if [ -s want ] || [ $status -ne 3 ]; then
            [ $status -eq 0 ] || fail "$clip --start $first: exit status $status"
            rows part 0 100000 | cmp -s want - || echo "$clip --start $first: not the rows of the whole run"
        fi
        compared=$((compared + 1))
    done
}

# merges CLIP: what the ranges of a plan join to is one run's, and what --whole takes for the whole is the whole.
merges() {
    run plan $1 --chunks 5
    [ $status -eq 0 ] || fail "plan $1: exit status $status"
    cp "$scratch/out" plan
    part=0
    while read -r range; do
        part=$((part + 1))
        run -q $1 $options -o part_$part $range
        [ $status -eq 0 ] || fail "$1 $range: exit status $status"
    done <plan
    run -q $1 $options -o whole -y
    run merge part_* -o all --whole -q
    [ $status -eq 0 ] || fail "merge of $1: exit status $status"
    cmp whole/vectors.csv all/vectors.csv && cmp whole/frames.csv all/frames.csv || fail "merge of $1: other rows"
    rm -r part_* all
}

# plans CLIP: every key frame, by ffprobe's list of decoded frames, is the first reference of a range, and nothing else is.
plans() {
    ffprobe -v error -select_streams v -show_entries frame=key_frame -of csv=p=0 $1 | grep '[01]' |
        awk '/^1/ && NR > 1 && NR < 2 * frames { print NR }' frames=$frames >keys
    [ "$(wc -l <keys)" -eq 20 ] || fail "$1: $(wc -l <keys) key frames"
    run plan -q $1 --chunks 1000
    [ $status -eq 0 ] || fail "plan $1: exit status $status"
    awk 'NR > 1 { print $2 }' "$scratch/out" >starts
    cmp keys starts || fail "plan $1: ranges begin after other frames than key frames"
}

# resumes CLIP: a run that is interrupted within the first copy goes on with what comes next.
resumes() {
    for window in 16 32 64 128; do # until the run is slow enough
        slow="--threads 1 -b 8 -w $window --search plain"
        rm -rf part r*.png
        launch INT $1 $slow -o part --residual r%03d.png
        await r050.png
        kill -s INT $pid
        wait $pid && continue
        run -v $1 $slow -o part --residual r%03d.png --backend "$engine" --resume
        [ $status -eq 0 ] || fail "$1 --resume: exit status $status"
        grep -q 'decoding begins with frame' "$scratch/err" || continue # it was in the second copy
        run -qy $1 $slow -o whole --backend "$engine"
        cmp whole/vectors.csv part/vectors.csv && cmp whole/frames.csv part/frames.csv || fail "$1 --resume: other rows"
        return
    done
    fail "no run of $1 could be interrupted in the first copy"
}

# divides CLIP FIRST: several decoders from there on deliver the frames of one.
divides() {
    run luma $1 -qy --decoders 1 --threads 1 -o one.y4m
    run luma $1 -qy --decoders 3 --threads 1 -o several.y4m
    cmp one.y4m several.y4m || fail "$1 --decoders 3: other frames"
    run -qy $1 $options -o part --decoders 3 --start $2
    rows whole $2 100000 >want
    rows part 0 100000 | cmp -s want - || fail "$1 --decoders 3 --start $2: other rows"
}

# means CLIP TIME FRAME: that time, from the first frame on, means that frame.
means() {
    run -qy $1 $options -o part --start $3 --frames 2
    run -qy $1 $options -o timed --start $2 --duration 0.08s
    [ $status -eq 0 ] || fail "$1 --start $2: exit status $status"
    cmp part/frames.csv timed/frames.csv || fail "$1 --start $2: not from frame $3 on"
}

compared=0 jumps=0 kinds=
# Packets of equal size, times that begin anew, and every frame a key frame.
intra="-c:v mpeg2video -g 1 -b:v 1M -minrate 1M -maxrate 1M -bufsize 40k"
joined ts $intra || skip "no MPEG-2"
[ "$(ffprobe -v error -show_entries packet=size -of csv=p=0 b.ts | grep -c 5000)" -ge 100 ] ||
    fail "the sizes of packets differ"
for name in two three other; do
    same_starts $name.ts 25 50 60 70 118 180
    merges $name.ts
    divides $name.ts 60
    means $name.ts 0:02.4 60
done
resumes two.ts
[ $jumps -ge 9 ] || fail "only $jumps runs did not decode from the beginning"

# Other containers, and groups of pictures.
h264="-c:v libx264 -preset ultrafast -g 12 -bf 2 -x264-params log-level=none"
for case in "mpg $intra" "mpg -c:v mpeg2video -g 12 -bf 2" "ts $h264" "ts $h264 -mpegts_flags +resend_headers" "mkv $h264" \
    "mp4 $h264 -movflags frag_keyframe+empty_moov" "avi $h264" "nut $h264" "flv $h264" "mkv -c:v libvpx-vp9 -deadline realtime -g 12" \
    "ogv -c:v libtheora -g 12" "h264 $h264" "m2v $intra" "ts $intra -output_ts_offset 95441" "ts $h264 -output_ts_offset 95441"; do
    joined $case || continue # no such encoder
    kinds="$kinds ${case%% *}"
    case $case in
    "ts $h264") plans two.ts ;;
    esac
    same_starts other.${case%% *} 60 70 90 125
done
cp a.ts wraps.ts
same_starts wraps.ts 30 60 90

# FFmpeg's lists of files, which give each copy later times.
joined mkv $h264 && {
    printf "file '%s'\n" a.mkv a.mkv b.mkv >list.ffconcat
    sed -i '1i ffconcat version 1.0' list.ffconcat
    options="$options --allow-files"
    same_starts list.ffconcat 30 60 118 121 180
}
echo "$compared starts compared ($kinds ), $jumps of them without decoding from the beginning"
