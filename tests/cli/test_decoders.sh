#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --decoders changes no frame, no time and no warning, whatever the codec, the container, the distance of key frames, and
# damage. $GPUME_SEED and $GPUME_DECODERS_CLIPS choose other clips, and how many; $GPUME_DECODERS_FILES names more.
. "$(dirname "$0")/common.sh"
seed=${GPUME_SEED:-1}
clips=${GPUME_DECODERS_CLIPS:-8}
frames=300
. "$here/coded_clips.sh"

# plain: the last run's messages, but for those about decoders.
plain() {
    grep -v -e 'one decoder' -e 'decoders' "$scratch/err" | sort
}

# same_frames FILE: several decoders give the frames of one.
same_frames() {
    run luma "$1" -y --decoders 1 --threads 1 -o one.y4m
    plain >one.err
    wanted=$status
    for decoders in 2 5; do
        run luma "$1" -vy --decoders $decoders --threads 1 -o several.y4m
        grep -q 'were decoded side by side' "$scratch/err" && ! grep -q ': 1 segments were' "$scratch/err" &&
            divided=$((divided + 1))
        grep -q 'one decoder takes all' "$scratch/err" && alone=$((alone + 1))
        [ $status -eq $wanted ] || fail "$1 --decoders $decoders: exit status $status, not $wanted"
        if [ $wanted -eq 0 ]; then
            cmp one.y4m several.y4m || fail "$1 --decoders $decoders (clip $number, kind $kind): other frames"
        fi
        run luma "$1" -qy --decoders $decoders --threads 1 -o several.y4m
        plain | cmp -s one.err - || fail "$1 --decoders $decoders (clip $number, kind $kind): other warnings"
        compared=$((compared + 1))
    done
}

number=0 kind=none compared=0 divided=0 alone=0
refused 2 --decoders 0 1 64 -- clip --decoders 0 -o wrong

# Kinds that always have many segments, and one that has none.
for kind in 0 2 4; do
    seed=7
    make_video $kind || continue # no such encoder
    before=$divided
    same_frames $clip
    [ $divided -eq $((before + 2)) ] || fail "$clip: was not divided"
done
make_video 10
before=$divided
same_frames $clip
[ $divided -eq $before ] || fail "$clip: was divided, but has no key frames"
names "$clip" 0

# A run over part of the input, with vectors; a resumed one; and inputs that are never divided.
make_video 0
options="--backend cpu --threads 1 -b 16 -w 2"
run -qy $clip $options -o one --decoders 1 --start 150 --frames 100
run -qvy $clip $options -o several --decoders 3 --start 150 --frames 100
for table in vectors frames; do
    cmp one/$table.csv several/$table.csv || fail "--start 150: other rows in $table.csv"
done
says "decoders; "
run luma - -y --decoders 3 -o several.y4m <$clip
"$gpume" luma - -qy --decoders 3 -o several.y4m <$clip 2>"$scratch/err" || fail "standard input fails"
grep -q '^gpume: .*standard input: ' "$scratch/err" || fail "standard input: not said that it is not divided"
if ffmpeg -nostdin -v error -y -i $clip -frames:v 5 -c:v mpeg4 other.avi; then
    run luma other.avi -qy --decoders 3 -o several.y4m
    names other.avi
fi
run luma $clip -qy --vf crop=64:64 --decoders 3 -o several.y4m
names "$clip"

expect 2 $clip --against-stream --decoders 2 -o several
run firstpass $clip -qy --encoder x264 --bitrate 200k --decoders 1 --backend cpu --threads 1 -o one
run firstpass $clip -qy --encoder x264 --bitrate 200k --decoders 3 --backend cpu --threads 1 -o several
[ $status -eq 0 ] || fail "firstpass: exit status $status"
for file in one*; do
    [ "$file" = one.json ] || [ -d "$file" ] || case $file in *.y4m | *.err) ;; *)
        cmp "$file" "several${file#one}" || fail "firstpass: other bytes in $file" ;;
    esac
done

# The bench reads all frames with each number of decoders.
refused 2 --decoders -- bench $clip --decoders 3
refused 2 --device --decoders -- bench $clip --decoders --device 99
refused 2 --decoders -- bench --decoders
refused 2 --window --decoders -- bench $clip --decoders --window 4
expect 0 bench $clip --decoders --csv
[ "$(head -n 1 "$scratch/out")" = decoders,frames,seconds,frames_per_s,speedup_one ] || fail "the bench's table"
[ "$(cut -d , -f 1,2 "$scratch/out" | head -n 3 | tail -n 2 | tr '\n' ' ')" = "1,$frames 2,$frames " ] ||
    fail "the bench reads other frames"

seed=${GPUME_SEED:-1}
while [ $number -lt $clips ]; do
    kind=${GPUME_DECODERS_KIND:-$((number % 18))}
    number=$((number + 1))
    make_video $kind || continue
    below 3
    [ $drawn -gt 0 ] || damage $clip
    same_frames $clip
done
for clip in ${GPUME_DECODERS_FILES:-}; do
    number=$clip
    same_frames "$clip"
done
echo "$compared runs compared, $divided of them with several segments, $alone that ended with one decoder"
