#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Many threads: the same bytes as one, and few of them sleep and wake, however many there are. Counted are voluntary
# context switches per frame, which do not depend on how fast the machine is.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"
have python3 || skip "no python3"
frames=60
ffmpeg -nostdin -v error -f lavfi -i "mandelbrot=s=960x540:r=25:end_scale=0.2,format=yuv420p" -frames:v $frames \
    -c:v libx264 -preset ultrafast -crf 20 clip.mp4 || fail "no clip"

cat >count.py <<'END'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw)
END

# most BOUND ARGUMENTS: with 64 threads, that many switches per frame at most.
most() {
    bound=$1
    shift
    # The scripts of sanitizers and valgrind count as threads do.
    set -- $(python3 count.py "$gpume" "$@" --backend cpu --threads 64 -q -y 2>"$scratch/err")
    [ "$1" = 0 ] || fail "status $1"
    checked || [ "$2" -le $((bound * frames)) ] || fail "$2 switches in $frames frames, not $bound per frame"
}

run clip.mp4 -b 8 -w 7 --backend cpu --threads 1 --vectors one.mvf -q
most 60 clip.mp4 -b 8 -w 7 --vectors many.mvf
cmp one.mvf many.mvf || fail "vectors of 64 threads"
run clip.mp4 -b 8 -w 3 --metric satd --subpel 4 --backend cpu --threads 1 --frames 12 --vectors one.mvf -q -y
most 60 clip.mp4 -b 8 -w 3 --metric satd --subpel 4 --frames 12 --vectors many.mvf
cmp one.mvf many.mvf || fail "vectors of the general search by 64 threads"
run scenes clip.mp4 --backend cpu --threads 1 -o one.csv -q
most 150 scenes clip.mp4 -o many.csv
cmp one.csv many.csv || fail "scenes of 64 threads"
run complexity clip.mp4 --backend cpu --threads 1 -o one.csv -q -y
most 150 complexity clip.mp4 -o many.csv
cmp one.csv many.csv || fail "complexity of 64 threads"
for encoder in x264 x265; do
    run firstpass clip.mp4 --encoder $encoder --bitrate 1M --backend cpu --threads 1 -o one -q -y
    most 150 firstpass clip.mp4 --encoder $encoder --bitrate 1M -o many
    for file in one-*; do
        cmp "$file" "many${file#one}" || fail "the first pass of 64 threads for $encoder: $file"
    done
done
