#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume vectors: the same vectors as tests/support/dump_stream.c, which shares no code with gpume; references by the
# types of frames that ffprobe names; a pan whose motion is known; and what cannot be done.
. "$(dirname "$0")/common.sh"

have ffmpeg && have ffprobe || skip "no ffmpeg"
dump=${GPUME_DUMP_STREAM:-}
[ -x "$dump" ] || skip "no dump_stream"

# clip FILE OPTIONS...: objects that move in several directions; 72 is no multiple of 16
clip() {
    name=$1
    shift
    ffmpeg -nostdin -v error -f lavfi -i "testsrc2=s=176x72:r=25,format=yuv420p" -frames:v 25 "$@" "$name"
}
has_encoder() {
    ffmpeg -nostdin -v error -h "encoder=$1" 2>&1 | grep -q '^Encoder'
}

# same_as_dump FILE: every vector that the decoder exports, and no other
same_as_dump() {
    "$dump" "$1" >dump.mvs || fail "$1: dump_stream"
    expect 0 vectors "$1" -o own.mvs --format extract_mvs -y
    [ "$(wc -l <dump.mvs)" -gt 500 ] || fail "$1: too few vectors for a test"
    sort dump.mvs >a && sort own.mvs >b
    cmp -s a b || fail "$1: not the vectors that FFmpeg exports"
    # All vectors of a dump can be read.
    expect 0 convert dump.mvs dump.csv --from extract_mvs -y
    [ "$(wc -l <dump.csv)" -eq "$(wc -l <dump.mvs)" ] || fail "$1: convert drops rows of a dump"
}

# references FILE: without a pyramid of B frames, the nearest frame of another type on either side
references() {
    ffprobe -v error -select_streams v -show_entries frame=pict_type -of csv=p=0 "$1" | tr -d ',' | grep . >types
    expect 0 vectors "$1" -o own.csv -y
    awk -F, 'NR == FNR { type[FNR - 1] = $1; frames = FNR; next }
        FNR == 1 { next }
        function near(from, step) {
            do from += step; while (from >= 0 && from < frames && type[from] == "B")
            return from
        }
        { past = near($1, -1); future = near($1, 1); rows++ }
        $2 == future && type[$1] == "B" && $9 "" == "" { next }
        $2 != past || $9 "" != "" && (type[$1] != "B" || $9 != future) { print "row " FNR ": " $0; exit 1 }
        END { exit rows < 500 }' types own.csv >wrong || fail "$1: references: $(cat wrong)"
}

clip mpeg2.mpg -c:v mpeg2video -bf 2 -g 12 || fail "no MPEG-2"
clip mpeg4.avi -c:v mpeg4 -bf 2 -flags +qpel+mv4 || fail "no MPEG-4"
clip mpeg1.mpg -c:v mpeg1video -bf 1 || fail "no MPEG-1"
clip fields.mkv -c:v mpeg2video -flags +ildct+ilme || fail "no interlaced MPEG-2"
for file in mpeg2.mpg mpeg4.avi mpeg1.mpg fields.mkv; do
    same_as_dump "$file"
done
references mpeg2.mpg
references mpeg4.avi
cp own.csv mpeg4.csv
grep -q ',8,8,' own.csv || fail "MPEG-4: no blocks of 8x8"
grep -qE '\.(25|75)' own.csv || fail "MPEG-4: no quarter pixels"
[ "$(head -1 own.csv)" = frame,ref,x,y,w,h,dx,dy,ref2,dx2,dy2 ] || fail "columns"
expect 0 vectors fields.mkv -o fields.csv
says "of its frames are interlaced"

# H.264 in both forms of its NAL units, with B frames that are references or not.
if has_encoder libx264; then
    clip plain.mkv -c:v libx264 -bf 2 -refs 1 -x264-params b-pyramid=none:weightp=0 || fail "no H.264"
    same_as_dump plain.mkv
    references plain.mkv
    grep -q ',8,16,' own.csv && grep -q ',16,8,' own.csv || fail "H.264: no halves of blocks"
    cp own.csv plain.csv
    ffmpeg -nostdin -v error -i plain.mkv -c copy plain.264 || fail "no stream of bytes"
    expect 0 vectors plain.264 -o - --threads 3
    cmp -s "$scratch/out" plain.csv || fail "H.264: Matroska and a stream of bytes differ"
    clip pyramid.mkv -c:v libx264 -bf 3 -x264-params b-pyramid=normal:b-adapt=0 || fail "no H.264 with a pyramid"
    same_as_dump pyramid.mkv
    # The middle one of three B frames is a reference of the others.
    expect 0 vectors pyramid.mkv -o pyramid.csv
    for reference in 1,2 3,2 3,4; do
        cut -d, -f1,2,9 pyramid.csv | grep -qE "^${reference%,*},(.*,)?${reference#*,}(,|\$)" ||
            fail "H.264: frame ${reference%,*} is not predicted from frame ${reference#*,}"
    done
    ! cut -d, -f1,2 pyramid.csv | grep -qx 2,1 || fail "H.264: a frame that is no reference"
else
    echo "no libx264: H.264 is not tested"
fi

# Snow has blocks to the left of the picture and above it.
if clip snow.mkv -c:v snow -strict -2 2>noise; then
    "$dump" snow.mkv >snow.mvs || fail "snow: dump_stream"
    expect 0 vectors snow.mkv -o snow.csv
    expect 0 convert snow.mvs dump.csv --from extract_mvs -y
    expect 0 vectors snow.mkv -o own.mvs --format extract_mvs -y
    expect 0 convert own.mvs own.csv --from extract_mvs -y
    grep -q ' -8,' snow.mvs && cmp -s dump.csv own.csv || fail "snow"
fi

# The window moves 4 to the right and 2 down per frame, and so do the matches.
ffmpeg -nostdin -v error -f lavfi -i "nullsrc=s=400x300:r=25,geq=lum='128+60*sin(X/5)*cos(Y/7)+40*sin((X+2*Y)/11)':cb=128:cr=128,\
crop=208:160:4*n:2*n,format=yuv420p" -frames:v 8 -c:v mpeg4 -q:v 2 -me_range 16 pan.avi || fail "no pan"
expect 0 vectors pan.avi -o pan.csv
awk -F, 'NR > 1 && $3 > 0 && $3 < 192 && $4 > 0 && $4 < 144 { all++; right += $7 == 4 && $8 == 2 }
    END { print right " of " all; exit all < 300 || right < 0.9 * all }' pan.csv >shares || fail "pan: $(cat shares)"

# --frames: the first rows of all, although references may come later.
for file in mpeg2.mpg mpeg4.avi pan.avi; do
    expect 0 vectors $file -o all.csv -y
    for frames in 1 2 6 7 1000; do
        awk -F, -v frames=$frames 'NR == 1 || $1 < frames' all.csv >first.csv
        status=0
        [ "$(wc -l <first.csv)" -gt 1 ] || status=3
        rm -f some.csv
        expect $status vectors $file -o some.csv --frames $frames
        [ $status -ne 0 ] || cmp -s first.csv some.csv || fail "$file: --frames $frames"
    done
done
refused 2 --frames -- vectors pan.avi --frames 0

# On a grid, as a search has it: the same vectors, which gpume compares with those of a search.
expect 0 vectors pan.avi -b 16 -o grid.csv
[ "$(head -1 grid.csv)" = frame,ref,x,y,w,h,dx,dy ] && [ "$(wc -l <grid.csv)" -eq $((7 * 130 + 1)) ] || fail "grid: rows"
cut -d, -f1-8 pan.csv | cmp -s - grid.csv || fail "grid: blocks of 16x16"
expect 0 vectors pan.avi -b 8 -o 'flow%d.flo'
[ "$(ls flow*.flo | wc -l)" -eq 7 ] || fail "grid: optical flow"
expect 0 vectors pan.avi -b 8 -o grid.mvf
expect 0 vectors pan.avi -b 8 -o grid8.csv
expect 0 compare grid.mvf grid8.csv
expect 0 compare 'flow%d.flo' grid8.csv -b 8
expect 0 pan.avi --backend cpu -q -b 16 -w 7 --subpel 2 --interpolation bilinear --vectors best.csv
run compare grid.csv best.csv
grep -q '^compared     7 frame pairs, 910 blocks$' "$scratch/out" || fail "grid: compare"
grep '^vectors' "$scratch/out" | sed 's/.*(\([0-9]*\).*/\1/' | { read -r share; [ "$share" -ge 75 ]; } ||
    fail "the pan: an encoder and a search differ: $(cat "$scratch/out")"
expect 0 vectors mpeg4.avi -b 4 -o fine.csv
# Blocks with a past vector have it in all their squares, others nothing.
awk -F, 'FNR == 1 { next }
    NR == FNR { for (y = 0; y < $6; y += 4) for (x = 0; x < $5; x += 4)
            if ($2 < $1) v[$1 "," $3 + x "," $4 + y] = $7 "," $8
        next }
    { key = $1 "," $3 "," $4; wanted = key in v ? v[key] : "0,0" }
    wanted != $7 "," $8 { print "row " FNR ": " $0 " not " wanted; exit 1 }
    { if (wanted != "0,0") moved++ } END { exit moved < 100 }' mpeg4.csv fine.csv >wrong || fail "grid: $(cat wrong)"

# The overlay: gray frames, so that all colour is motion; the first has none.
expect 0 vectors pan.avi --overlay 'o%d.png' --overlay-key off
[ "$(ls o*.png | wc -l)" -eq 8 ] || fail "overlay: pictures"
for picture in 0 4; do
    ffmpeg -nostdin -v error -i "o$picture.png" -f rawvideo -pix_fmt rgb24 - | od -An -v -tu1 -w3 |
        awk '$1 - $3 > 60 || $3 - $1 > 60 { n++ } END { print n + 0 }' >"coloured$picture"
done
[ "$(cat coloured0)" -eq 0 ] && [ "$(cat coloured4)" -gt 500 ] || fail "overlay: colours"
expect 0 vectors mpeg4.avi --overlay o.mkv --overlay-style flow --scale 2 -o with.csv
cmp -s with.csv mpeg4.csv || fail "overlay: other vectors"
[ "$(ffprobe -v error -select_streams v -count_frames -show_entries stream=width,nb_read_frames -of csv=p=0 o.mkv)" = 352,25 ] ||
    fail "overlay: video"
refused 2 o.mkv -- vectors mpeg4.avi --overlay o.mkv
refused 2 x.mkv -- vectors mpeg4.avi --overlay x.mkv -o x.mkv --format csv

# gpume INPUT --from-stream does the same.
expect 0 mpeg4.avi --from-stream --vectors from.csv
cmp -s from.csv mpeg4.csv || fail "--from-stream"
expect 0 pan.avi --from-stream -b 16 --vectors - --format csv
cmp -s "$scratch/out" grid.csv || fail "--from-stream: grid"
expect 0 pan.avi --from-stream --overlay 'f%d.png' --overlay-key off
cmp -s f4.png o4.png || fail "--from-stream: overlay"
expect 0 vectors pan.avi --report squares.csv
expect 0 vectors pan.avi --report squares16.csv -b 16
cmp -s squares.csv squares16.csv || fail "the squares of --report"
for options in "" "-o x" "--vectors x.csv -w 9" "--vectors x.csv --report-pictures 3" "--vectors x.csv -b 16,8" \
    "--vectors x.csv --max-memory 1G"; do
    refused 2 --from-stream -- pan.avi --from-stream $options
done

# All formats that can hold them, and one number of threads or another.
expect 0 vectors mpeg4.avi -o one.csv --threads 1
expect 0 vectors mpeg4.avi --format csv --threads 4
cmp -s one.csv "$scratch/out" || fail "threads change the output"
for format in jsonl npy; do
    expect 0 vectors mpeg4.avi -o "own.$format"
    expect 0 convert "own.$format" back.csv -y
    cmp -s one.csv back.csv || fail "$format and csv differ"
done
expect 0 vectors mpeg4.avi -o 'mvs-%d.npy' --format mv-extractor
[ -s mvs-1.npy ] && [ ! -e mvs-0.npy ] || fail "mv-extractor: one file per frame with vectors"
expect 0 vectors mpeg4.avi -o own.mvs --format extract_mvs -y
expect 0 convert own.mvs a.csv -y --from extract_mvs
expect 0 convert 'mvs-%d.npy' b.csv
cmp -s a.csv b.csv || fail "extract_mvs and mv-extractor differ"

# Frames of another size than the first have no rows, and a warning says so.
if has_encoder libx264; then
    for side in 64x64 96x64; do
        ffmpeg -nostdin -v error -f lavfi -i "testsrc2=s=$side:r=25" -frames:v 3 -c:v libx264 "$side.264"
    done
    cat 64x64.264 96x64.264 >two.264
    expect 0 vectors two.264 -o two.csv
    says "frame 3 is 96x64 with 8 bits, the first is 64x64 with 8: it and others like it are scaled to the first, \
and their vectors left out"
    [ "$(tail -n 1 two.csv | cut -d , -f 1)" -eq 2 ] || fail "rows of frames of another size"
fi

# What has no vectors.
clip intra.avi -c:v mjpeg || fail "no MJPEG"
refused 3 intra.avi 25 -- vectors intra.avi -o x.csv
for codec in libx265 libvpx-vp9; do
    has_encoder "$codec" || continue
    ffmpeg -nostdin -v error -f lavfi -i "testsrc2=s=64x64:r=25" -frames:v 40 -c:v "$codec" "$codec.mkv" 2>noise ||
        continue
    refused 3 "$codec.mkv" -- vectors "$codec.mkv" -o x.csv
done
only . $(ls -A | grep -v '^x\.csv') || fail "a failed command left a file"

expect 2 vectors
expect 3 vectors absent.mp4 -o x.csv
refused 2 one.csv -- vectors mpeg4.avi -o one.csv
expect 2 vectors mpeg4.avi -o mpeg4.avi -y --format csv
for name in x%d.flo x.npz x.hash; do
    refused 2 "$name" -- vectors mpeg4.avi -o "$name"
done
# What a message offers is accepted.
for option in "" "-b 8"; do
    # shellcheck disable=SC2086 # none, or two words
    expect 2 vectors mpeg4.avi -o x.bin $option
    offered=$(sed -n 's/.*end in one of \(.*\), or be.*/\1/p' "$scratch/err")
    [ -n "$offered" ] || fail "no format is offered"
    for ending in $offered; do
        [ $ending != .flo ] || ending=%d.flo
        # shellcheck disable=SC2086
        expect 0 vectors mpeg4.avi -q -o "x$ending" $option
        rm -f x.* x[0-9]*
    done
done
expect 2 vectors mpeg4.avi -o x.hash -b 8
refused 2 %d -- vectors mpeg4.avi -o x.flo -b 8
expect 2 vectors mpeg4.avi -o x.csv -b 6
expect 2 vectors mpeg4.avi -o x.csv --vf hflip
head -c $(($(wc -c <mpeg4.avi) * 2 / 3)) mpeg4.avi >cut.avi
expect 0 vectors cut.avi -o cut.csv
[ "$(wc -l <cut.csv)" -gt 1 ] || fail "a truncated file"
