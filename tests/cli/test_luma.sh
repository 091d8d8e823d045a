#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume luma: the samples that FFmpeg decodes, at 8, 10 and 14 bits, with bits and times; and what it refuses.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"
for format in gray gray10le yuv420p14le yuv420p yuv420p10le; do
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=46x30:r=10 -frames:v 3 -vf "format=$format" -c:v ffv1 clip.mkv ||
        fail "no clip of $format"
    case $format in *10le) bits=10 ;; *14le) bits=14 ;; *) bits=8 ;; esac
    expect 0 luma clip.mkv
    mv "$scratch/out" $format.y4m
    head -1 $format.y4m | grep -a -q "^YUV4MPEG2 W46 H30 F10:1 .* XBITS=$bits\$" || fail "$format: head"
    [ "$(grep -a -o 'FRAME XTIME_US=[0-9]*' $format.y4m | tr '\n' ' ')" = \
        'FRAME XTIME_US=0 FRAME XTIME_US=100000 FRAME XTIME_US=200000 ' ] || fail "$format: times"
    # Plane 0 as it was decoded: the frames without their lines.
    case $format in gray*) plane=null ;; *) plane=extractplanes=y ;; esac
    ffmpeg -nostdin -v error -y -i clip.mkv -vf "$plane" -f rawvideo expected || fail "$format: no luma by FFmpeg"
    sample=$((bits > 8 ? 2 : 1))
    for frame in 0 1 2; do
        bytes=$((46 * 30 * sample))
        head_bytes=$(head -1 $format.y4m | wc -c)
        line0=17 line=22 # "FRAME XTIME_US=0", "FRAME XTIME_US=100000"
        at=$((head_bytes + line0 + frame * (bytes + line)))
        tail -c +$((at + 1)) $format.y4m | head -c $bytes >found
        tail -c +$((frame * bytes + 1)) expected | head -c $bytes | cmp -s - found ||
            fail "$format: frame $frame differs"
    done
done

# Another program reads it, and gpume itself; a file has a summary, and is not replaced.
ffmpeg -v error -i yuv420p10le.y4m -f rawvideo -y again </dev/null || fail "FFmpeg does not read it"
ffmpeg -nostdin -v error -y -i clip.mkv -vf extractplanes=y -f rawvideo expected
cmp -s again expected || fail "FFmpeg reads other samples"
expect 0 luma clip.mkv -o file.y4m
grep -q '^luma         3 frames of 46x30, 10 bits$' "$scratch/out" || fail "no summary"
cmp -s file.y4m yuv420p10le.y4m || fail "a file and a pipe differ"
expect 0 luma file.y4m --frames 2 -o two.y4m
grep -q '^luma         2 frames of 46x30, 10 bits$' "$scratch/out" || fail "--frames 2 reads not two"
cmp -s -n "$(wc -c <two.y4m)" two.y4m file.y4m || fail "--frames 2 reads others"
expect 0 luma file.y4m -o again.y4m -q
cmp -s file.y4m again.y4m || fail "gpume reads other samples"
# Filters have the times that the ffmpeg program gives them: from the start of the container on.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=46x30:r=10 -frames:v 30 -c:v mpeg2video late.ts
for graph in trim=start=2.2 fps=7 fps=13 setpts=N/5/TB; do
    ffmpeg -nostdin -v error -y -i late.ts -vf "$graph,extractplanes=y" -fps_mode passthrough -f rawvideo expected
    expect 0 luma late.ts --vf $graph -o late.y4m -y
    ffmpeg -nostdin -v error -y -i late.y4m -f rawvideo again
    cmp -s again expected || fail "--vf $graph: FFmpeg has other frames"
done
cp late.ts .rescued.gpume-5-0.tmp # of a killed run, perhaps
expect 0 luma .rescued.gpume-5-0.tmp -o rescued
[ -e .rescued.gpume-5-0.tmp ] || fail "the input was removed"
expect 0 luma clip.mkv --vf crop=16:8
head -1 "$scratch/out" | grep -a -q '^YUV4MPEG2 W16 H8 ' || fail "--vf"
expect 2 luma clip.mkv -o file.y4m
expect 2 luma file.y4m -o file.y4m -y
# A name says what is written: it is neither raw nor compressed.
refused 2 --output b.yuv b.y4m -- luma clip.mkv -o b.yuv
refused 2 --output b.y4m.gz b.y4m -- luma clip.mkv -o b.y4m.gz
grep -q 'name it b\.y4m$' "$scratch/err" || fail "the name to give is not said"
refused 2 --output b.map.zst b.map.y4m -- luma clip.mkv -o b.map.zst
expect 2 luma
refused 3 absent.mkv -- luma absent.mkv
echo text >text.mp4
expect 3 luma text.mp4 -o none.y4m
[ ! -e none.y4m ] || fail "a file of nothing"
