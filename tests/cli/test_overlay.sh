#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --overlay: the frame's own colours in every pixel format, all styles and forms, times, what is refused.
. "$(dirname "$0")/common.sh"
have ffmpeg && have ffprobe || skip "ffmpeg is not here: clips cannot be made"

# clip NAME OPTION...: four frames of a moving pattern.
clip() {
    name=$1
    shift
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=size=160x96:rate=10:duration=0.4 "$@" "$name" ||
        fail "ffmpeg cannot make $name"
}

# corners FILE [FILTER]: the upper left part of the second frame that no dot in the middle of a block of 128 reaches.
corners() {
    ffmpeg -nostdin -v error -i "$1" -vf "${2:-null},format=rgb24,crop=40:40:0:0" -f rawvideo - || fail "$1"
}

# Window 0 has no arrows: the rest equals ffmpeg's conversion of the frame, bit for bit.
flags=bicubic+accurate_rnd+bitexact+full_chroma_int
for format in gray gray10le yuv420p yuv422p10le yuv420p10le yuvj420p yuv444p16le nv12 p010le rgb24 gbrp12le pal8 \
    bgra yuva420p rgb565le; do
    clip $format.nut -pix_fmt $format -c:v rawvideo
    for name in $format.png $format.ppm $format.bmp; do
        expect 0 -q $format.nut --backend "$engine" -b 128 -w 0 --frames 1 --overlay $name
        corners $name >got
        corners $format.nut "select=eq(n\,1),scale=sws_flags=$flags" >want
        [ "$(wc -c <got)" -eq 4800 ] || fail "$name: no picture"
        cmp got want || fail "$name: other colours"
    done
done

# The stream's own matrix and range; a filter's format; standard input; two stills.
clip tagged.mkv -vf scale=out_color_matrix=bt709:out_range=full -pix_fmt yuv420p -colorspace bt709 \
    -color_range pc -c:v ffv1
expect 0 -q tagged.mkv --backend "$engine" -b 128 -w 0 --frames 1 --overlay tagged.png
corners tagged.png >got
corners tagged.mkv "select=eq(n\,1),scale=sws_flags=$flags" >want
cmp got want || fail "the matrix of the stream is not used"
"$gpume" - -q --backend "$engine" -b 128 -w 0 --frames 1 --overlay stdin.png <tagged.mkv || fail "standard input"
cmp stdin.png tagged.png || fail "standard input has other colours"
ffmpeg -nostdin -v error -i rgb24.nut s%d.png
expect 0 -q s1.png s2.png --backend "$engine" -b 128 -w 0 --overlay stills.ppm
cmp stills.ppm rgb24.ppm || fail "stills have other colours"
expect 0 -q yuv420p.nut --backend "$engine" --vf 'crop=64:64:3:5,format=yuv444p' --overlay vf.png --frames 1

# Content that moves to the right by two pixels per frame: with --best-reference a vector into the future gives the
# same mark as one into the past; with --direction future alone it shows the way back to the reference.
ffmpeg -nostdin -v error -f lavfi -i color=gray:s=192x96,noise=alls=100 -frames:v 1 -pix_fmt gray noise.pgm
for i in 0 1 2; do
    ffmpeg -nostdin -v error -i noise.pgm -vf crop=160:96:$((4 - 2 * i)):0 m$i.pgm || fail "ffmpeg cannot crop"
done
# middle FILE: without the blocks at the edges.
middle() {
    ffmpeg -nostdin -v error -i "$1" -vf crop=128:64:16:16 -f rawvideo - || fail "$1"
}
for style in arrows flow; do
    marks="-q -y -b 16 -w 2x0 --backend $engine --overlay-key off --overlay-style $style"
    [ $style != arrows ] || marks="$marks --arrow-spacing 1"
    # shellcheck disable=SC2086 # several options
    {
        expect 0 m0.pgm m1.pgm $marks --overlay past.ppm
        expect 0 m%d.pgm $marks --start 1 --frames 1 --direction future --overlay future%d.ppm
        rm m0.pgm
        expect 0 m%d.pgm $marks --frames 1 --direction both --best-reference --overlay best%d.ppm
    }
    ffmpeg -nostdin -v error -i noise.pgm -vf crop=160:96:4:0 m0.pgm
    middle past.ppm >wanted
    middle best0.ppm | cmp - wanted || fail "--overlay-style $style: a vector into the future shows another motion"
    middle future1.ppm | cmp -s - wanted && fail "--overlay-style $style: --direction future shows the motion forward"
done
rm m?.pgm noise.pgm past.ppm best0.ppm future1.ppm wanted

# Every style and form; all frames, numbered by their target.
for style in arrows flow cost blocks; do
    expect 0 -q yuv420p.nut --backend "$engine" --overlay-style $style --overlay "$style%d.png" -b 16
    only . $(ls | grep -v "^$style[0-9]") "${style}1.png" "${style}2.png" "${style}3.png"
done
cmp -s arrows1.png flow1.png && fail "arrows are flow"
expect 0 -q yuv420p.nut --backend "$engine" --overlay default%d.png -b 16
cmp default2.png arrows2.png || fail "arrows are not the default"
expect 0 -q yuv420p.nut --backend "$engine" --overlay o%02d.jpg -b 16
[ -s o03.jpg ] || fail "no jpg"

# stream FILE ENTRIES: of its video, as ffprobe prints them.
stream() {
    ffprobe -v error -count_frames -show_entries "stream=$2" -of csv=p=0 "$1"
}

# Videos: sizes and counts; lossless ones have the pictures' exact samples.
expect 0 -q yuv420p.nut --backend "$engine" --overlay o.mkv --overlay o.mkv -b 16
[ "$(stream o.mkv width,height,nb_read_frames)" = 160,96,3 ] || fail "o.mkv: $(stream o.mkv width,height,nb_read_frames)"
ffmpeg -nostdin -v error -i o.mkv -pix_fmt rgb24 -f rawvideo got -y
for i in 1 2 3; do
    ffmpeg -nostdin -v error -i arrows$i.png -pix_fmt rgb24 -f rawvideo -
done >want
cmp got want || fail "o.mkv does not hold what the pictures do"
expect 0 -q yuv420p.nut --backend "$engine" --vf crop=63:33:exact=1 --scale 3 --overlay o.mp4 -b 4
[ "$(stream o.mp4 width,height,pix_fmt,nb_read_frames)" = 190,100,yuv420p,3 ] || fail "o.mp4"
expect 0 -q yuv420p.nut --backend "$engine" --scale 16 --overlay o.y4m -b 8
[ "$(stream o.y4m width,height,pix_fmt,nb_read_frames)" = 2560,1536,yuv444p,3 ] || fail "o.y4m"
expect 0 yuv420p.nut --backend "$engine" --scale 16 --overlay - -b 8
cmp o.y4m "$scratch/out" || fail "--overlay - is not the .y4m"
# Lossy colours are close to the pictures' in smooth parts; a wrong matrix or range gives less than 30 dB.
clip soft.nut -vf gblur=12 -pix_fmt rgb24 -c:v rawvideo
expect 0 -q soft.nut --backend "$engine" -b 128 -w 0 --frames 1 --overlay soft.png
for name in near.y4m near.mp4 near.webm near.jpg near.mkv; do
    expect 0 -q soft.nut --backend "$engine" -b 128 -w 0 --frames 1 --overlay $name
    ffmpeg -nostdin -v error -i $name -i soft.png -f null - \
        -lavfi '[0]format=gbrp[a];[1]format=gbrp[b];[a][b]psnr=f=psnr' || fail "$name cannot be read"
    sed 's/.*psnr_avg:\([0-9inf]*\).*/\1/' psnr >got
    grep -qE '^(3[4-9]|[4-9][0-9]|inf)$' got || fail "$name: PSNR $(cat psnr)"
done

# How it looks: every option changes the picture, defaults do not, and what would change nothing is refused.
expect 0 -q yuv420p.nut --backend "$engine" -b 16 --overlay look.ppm --frames 1
expect 0 -q yuv420p.nut --backend "$engine" -b 16 --overlay same.ppm --frames 1 --arrow-length fit --dim 0 --min-length 0
cmp look.ppm same.ppm || fail "fit, 0 and 0 are not the defaults"
for options in '--arrow-length true' '--dim 50' '--min-length 2.5' '--arrow-spacing 1' '--arrow-width 6'; do
    # shellcheck disable=SC2086 # two words
    expect 0 -qy yuv420p.nut --backend "$engine" -b 16 --overlay other.ppm --frames 1 $options
    ! cmp -s look.ppm other.ppm || fail "$options changes nothing"
done
expect 0 -q yuv420p.nut --backend "$engine" -b 16 --overlay flow.y4m --overlay-style flow --flow-max auto
# A frame looks the same in any run, also where the colour scale follows its content.
expect 0 -q yuv420p.nut --backend "$engine" -b 16 --overlay flow%d.ppm --overlay-style flow --flow-max auto
expect 0 -q yuv420p.nut --backend "$engine" -b 16 --overlay alone%d.ppm --overlay-style flow --flow-max auto --start 3
cmp flow3.ppm alone3.ppm || fail "--flow-max auto depends on the frames before"
refused 2 --flow-max --overlay-style -- yuv420p.nut --overlay x.mkv --flow-max 4
refused 2 --min-length --overlay-style -- yuv420p.nut --overlay x.mkv --overlay-style cost --min-length 4
refused 2 --arrow-length --overlay-style -- yuv420p.nut --overlay x.mkv --overlay-style flow --arrow-length true
refused 2 --arrow-spacing --overlay-style -- yuv420p.nut --overlay x.mkv --overlay-style flow --arrow-spacing 9
refused 2 --arrow-width --overlay-style -- yuv420p.nut --overlay x.mkv --overlay-style cost --arrow-width 9
refused 2 --arrow-spacing 1025 -- yuv420p.nut --overlay x.mkv --arrow-spacing 1025
refused 2 --flow-max 0 0.25 1024 -- yuv420p.nut --overlay x.mkv --overlay-style flow --flow-max 0
refused 2 --dim 101 -- yuv420p.nut --overlay x.mkv --dim 101
refused 2 --dim --overlay -- yuv420p.nut --dim 50

# What is not found again the other way: one picture per target, of the pair with the past frame, with tints where the
# table has a return of more than a pixel.
expect 0 -q yuv420p.nut --backend "$engine" -b 8 --direction both --confidence --overlay-style return --overlay-key off \
    --overlay return%d.ppm --vectors return.csv
only . $(ls | grep -v '^return[0-9]') return1.ppm return2.ppm return3.ppm
! have python3 || python3 - <<'END' || fail "--overlay-style return: other blocks than those of the table"
import csv
for frame in ("1", "2", "3"):
    data = open(f"return{frame}.ppm", "rb").read()[-160 * 96 * 3:]
    found = set()
    for row in csv.DictReader(open("return.csv")):
        if row["frame"] == frame and int(row["ref"]) < int(frame):
            at = 3 * ((int(row["y"]) + 4) * 160 + int(row["x"]) + 4)
            tinted = len(set(data[at:at + 3])) > 1
            assert tinted == (float(row["return"] or 0) > 1), row
            found.add(tinted)
    assert len(found) == 2, frame
END
refused 2 return --confidence --direction -- yuv420p.nut --overlay x.mkv --overlay-style return --direction both
refused 2 return --confidence --direction -- yuv420p.nut --overlay x.mkv --overlay-style return --confidence
refused 2 --ref-distance --overlay -- yuv420p.nut --overlay x.mkv --overlay-style return --confidence --direction both --ref-distance 1,2

# Enlarged frames are squares of their pixels.
expect 0 -q rgb24.nut --backend "$engine" -b 128 -w 0 --frames 1 --scale 2 --overlay twice.png
corners twice.png >got
ffmpeg -nostdin -v error -i rgb24.ppm -vf scale=iw*2:ih*2:flags=neighbor -y whole.ppm
corners whole.ppm >want
cmp got want || fail "enlarged pictures are not squares of pixels"

# The key: by default if it covers few blocks, and never in small pictures.
for case in 'arrows 1 16 off' 'cost 1 8 off' 'arrows 4 16 on' 'cost 4 4 on' 'arrows 3 24 off'; do
    set -- $case
    for key in auto on off; do
        expect 0 -qy yuv420p.nut --backend "$engine" -b $3 --scale $2 --frames 1 --overlay-style $1 \
            --overlay-key $key --overlay key-$key.ppm
    done
    cmp key-auto.ppm key-$4.ppm || fail "$case: --overlay-key auto is not $4"
    ! cmp -s key-on.ppm key-off.ppm || fail "$case: --overlay-key on is off"
done

# Variable frame times.
clip uneven.mkv -vf 'settb=1/1000,setpts=100*(N+N*N)' -fps_mode passthrough -enc_time_base 1:1000 \
    -pix_fmt yuv420p -c:v ffv1
expect 0 -q uneven.mkv --backend "$engine" --overlay times.mkv
expect 0 -q uneven.mkv --backend "$engine" --overlay times.mp4
for name in times.mkv times.mp4; do
    ffprobe -v error -show_entries frame=pts_time -of csv=p=0 $name | tr -s ',\n' '  ' | tr -s ' ' >got
    grep -q '^0.200000 0.600000 1.200000 $' got || fail "$name: times $(cat got)"
done

# Sizes that change, frames skipped, distances, one pixel.
expect 0 -q yuv420p.nut --backend "$engine" --start 3 --ref-distance 2 --overlay far%d.png -b 16
[ -s far3.png ] && [ ! -e far2.png ] || fail "not numbered by the target"
expect 0 -q yuv420p.nut --backend "$engine" --vf crop=1:1:exact=1 --overlay one.mkv
expect 0 -q yuv420p.nut --backend "$engine" --vf crop=5:3:exact=1 --overlay odd.mp4
[ "$(stream odd.mp4 width,height,nb_read_frames)" = 6,4,3 ] || fail "odd.mp4"
expect 0 -q yuv420p.nut --backend "$engine" --vf crop=5:3:exact=1 --overlay odd.gif
[ "$(stream odd.gif width,height,nb_read_frames)" = 5,3,3 ] || fail "odd.gif"

# With other outputs, and refusals.
expect 0 -q yuv420p.nut --backend "$engine" --overlay with%d.png -o folder
only folder vectors.csv frames.csv summary.json
refused 2 with1.png -- yuv420p.nut --overlay with%d.png
refused 2 pgm -- yuv420p.nut --overlay o%d.pgm
refused 2 ppm -- yuv420p.nut --predicted o%d.ppm
refused 2 plain.png -- yuv420p.nut --overlay plain.png
refused 2 --scale --overlay -- yuv420p.nut --scale 2
refused 2 --overlay-style --overlay -- yuv420p.nut --overlay-style flow
refused 2 --overlay-key --overlay -- yuv420p.nut --overlay-key off
refused 2 --overlay-style wind -- yuv420p.nut --overlay x.mkv --overlay-style wind
for scale in 0 17 1.5; do
    refused 2 --scale "$scale" -- yuv420p.nut --overlay x.mkv --scale $scale
done
refused 2 --overlay -- bench --overlay x.mkv
[ ! -e x.mkv ] || fail "something was written"
exit 0
