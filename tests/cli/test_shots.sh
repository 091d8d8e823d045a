#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume scenes on what is easily taken for a change of scene, and on changes that are easily missed; how long scenes are.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"

# make NAME FILTERS [ENCODER OPTIONS...]
make() {
    file=$1 filters=$2
    shift 2
    [ $# -gt 0 ] || set -- -c:v ffv1
    ffmpeg -nostdin -v error -filter_complex "$filters" "$@" "$file" || fail "no $file"
}

# finds FILE WANTED: the changes, as KIND or KIND@FRAME in order
finds() {
    expect 0 scenes "$1" --backend "$engine"
    found=$(sed 1d "$scratch/out" | cut -d, -f1,3 | sed 's/\(.*\),\(.*\)/\2@\1/' | tr '\n' ' ')
    case $found in
    $2) ;;
    *) fail "$1: found $found, not $2" ;;
    esac
}

still="cellauto=s=340x200:r=25:rule=110:random_seed=1:ratio=0.6,trim=end_frame=1,loop=59:1,setpts=N/25/TB,fps=25"

# Key frames change the coding noise of a still shot, in every format and for complexity.
if ffmpeg -v error -encoders | grep -q libx264; then
    for blur in 1 3; do
        make keys.mp4 "$still,gblur=$blur,noise=alls=12:allf=t:all_seed=3,format=yuv420p" -c:v libx264 -preset veryfast -g 10 \
            -sc_threshold 0 -crf 36 -threads 1
        finds keys.mp4 ""
        expect 0 scenes keys.mp4 --backend "$engine" --format av1an --min-length 1
        [ "$(grep -c start_frame "$scratch/out")" -eq 2 ] || fail "av1an: key frames give scenes" # in two lists
        expect 0 complexity keys.mp4 --backend "$engine" --by scene
        [ "$(wc -l <"$scratch/out")" -eq 2 ] || fail "complexity: key frames give scenes"
        rm keys.mp4
    done
fi

# Text appears on a still picture.
make text.mkv "mandelbrot=s=320x180:r=25:start_scale=0.5:end_scale=0.5,trim=end_frame=1,loop=79:1,setpts=N/25/TB,format=yuv420p[a];\
life=s=20x2:r=25:random_seed=4:ratio=0.5:rule=S012345678/B,scale=160:12:flags=neighbor,format=yuv420p[b];\
[a][b]overlay=80:150:enable='gte(n,30)':shortest=1" -frames:v 80 -c:v ffv1
finds text.mkv ""

# Old film: every picture three times, weaving, with noise.
make film.mkv "$still,gblur=6,lutyuv=y=60+val/2,crop=320:180:x='10+2*gte(mod(n,12),6)':y='10+4*gte(mod(n,12),6)',\
noise=alls=16:allf=t:all_seed=5,select='not(mod(n,3))',setpts=N/8/TB,fps=24:round=down,format=gray"
finds film.mkv ""

# The same picture in another light: one that is on for twelve frames, beside which all else darkens, and one that
# grows brighter in as many.
moving="mandelbrot=s=320x180:r=25:end_pts=200,trim=end_frame=70,setpts=N/25/TB,fps=25,format=yuv420p"
other="$still,gblur=3,crop=320:180,tpad=stop=10:stop_mode=clone,format=yuv420p"
lamp="color=black:s=320x180:r=25:d=2.8,format=gray,geq=lum='235*exp(-((X-200)^2+(Y-70)^2)/3000)'"
make flash.mkv "$moving,split[a][b];$lamp,format=yuv420p[l];[b]lutyuv=y=16+val*0.6[d];\
[d][l]blend=c0_mode=screen[c];[a][c]overlay=enable='between(n,20,31)'"
finds flash.mkv ""
make lamp.mkv "$still,crop=320:180,gblur=3,format=yuv420p,split[a][b];$lamp,trim=end_frame=60,format=yuv420p[l];[b]lutyuv=y=16+val*0.6[d];\
[d][l]blend=c0_mode=screen,fps=25[c];[a]fps=25[e];[e][c]xfade=duration=0.48:offset=0.8"
finds lamp.mkv ""

# A cut through one frame that is half of each scene.
make half.mkv "$moving,fps=25[a];$other,fps=25[b];[a][b]xfade=duration=0.08:offset=1.2"
finds half.mkv "cut@3[12] "

# Short dark shots between black.
for black in 7 9; do
    make blinks.mkv "$other,hflip[a];$other[b];[a][b]overlay=enable='gte(mod(n,24),12)',lutyuv=y=16+val*0.25,\
drawbox=t=fill:color=black:enable='lt(mod(n,12),$black)',trim=end_frame=48"
    finds blinks.mkv "cut@$black cut@12 cut@$((black + 12)) cut@24 cut@$((black + 24)) cut@36 cut@$((black + 36)) "
    rm blinks.mkv
done

# Cuts between dark shots, and after a shot that flickers.
make dark.mkv "$moving[a];$other[b];[a][b]overlay=enable='between(n,20,39)',lutyuv=y=16+val*0.12"
finds dark.mkv "cut@20 cut@40 "
make flicker.mkv "$moving[a];$other,lutyuv=y=val*0.6:enable='mod(n,2)'[b];[a][b]overlay=enable='lt(n,30)'"
finds flicker.mkv "cut@30 "

# Interlaced input gives a warning.
make fields.mkv "testsrc2=s=320x180:r=50:d=2,tinterlace=interleave_top,format=yuv420p" -c:v mpeg2video -flags +ildct+ilme -q:v 4
finds fields.mkv ""
names fields.mkv
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "fields.mkv: not one warning"
expect 0 complexity fields.mkv --backend "$engine"
names fields.mkv
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "fields.mkv: not one warning"

# A fade under a logo and a running clock: one fade, and no scene after it.
make logo.mkv "mandelbrot=s=320x180:r=25:end_pts=200,trim=end_frame=90,format=yuv420p,fade=out:40:25[a];\
testsrc=s=64x36:r=25:d=4,trim=end_frame=90,format=yuv420p[b];\
[a][b]overlay=20:130:shortest=1,drawbox=x=240:y=10:w=60:h=20:t=fill:color=white"
finds logo.mkv "fade-out@4[0-3] "
expect 0 scenes logo.mkv --backend "$engine" --format qpfile
[ "$(cat "$scratch/out")" = "0 I -1" ] || fail "a scene after the fade-out"

# A white card fades to black, and comes back.
make card.mkv "color=white:s=320x180:r=25:d=2.4,format=yuv420p,fade=out:20:30[a];\
color=white:s=320x180:r=25:d=2.4,format=yuv420p,fade=in:10:30[b];[a][b]concat"
finds card.mkv "fade-out@2[0-3] fade-in@[67][0-9] "

# A wipe of a second.
make wipe.mkv "mandelbrot=s=320x180:r=25:end_pts=200,trim=end_frame=60,format=yuv420p,fps=25[a];\
$still,gblur=2,crop=320:180,format=yuv420p,fps=25[b];[a][b]xfade=wipeleft:duration=1:offset=1.2"
finds wipe.mkv "wipe@[23][0-9] "
expect 0 scenes wipe.mkv --backend "$engine" --format json
grep -q '"kind": *"wipe"' "$scratch/out" || fail "json: no wipe"

# The length of scenes: a cut at frame 20 of 45.
make cut.mkv "testsrc2=s=192x128:r=25,format=yuv420p,trim=end_frame=20[a];mandelbrot=s=192x128:r=25,format=yuv420p,\
trim=end_frame=25[b];[a][b]concat"
starts() {
    begins=$1
    shift
    expect 0 scenes cut.mkv --backend "$engine" --format qpfile "$@"
    [ "$(cut -d' ' -f1 "$scratch/out" | tr '\n' ' ')" = "$begins " ] || fail "$*: $(cat "$scratch/out")"
}
starts "0 20" --min-length 20
starts "0" --min-length 21
starts "0 20" --min-length 0.8s
starts "0" --min-length 0.801s
starts "0 20" --max-length 25
starts "0 20 32" --max-length 24
starts "0 10 20 28 36" --max-length 10
starts "0 10 20 28 36" --max-length 0.4s
starts "0 15 30" --max-length 15 --confidence 1
starts "0 11 22 33" --min-length 10 --max-length 0:00.5 --confidence 1
expect 0 scenes cut.mkv --backend "$engine" --format av1an
[ "$(grep -c start_frame "$scratch/out")" -eq 2 ] || fail "av1an: a scene of less than a second"
expect 0 scenes cut.mkv --backend "$engine" --format av1an --min-length 1 --max-length 15
[ "$(grep start_frame "$scratch/out" | tr -dc '0-9\n' | head -4 | tr '\n' ' ')" = "0 10 20 32 " ] || fail "av1an: --max-length"
expect 0 complexity cut.mkv --backend "$engine" --by scene --max-length 15
[ "$(sed 1d "$scratch/out" | cut -d, -f2 | tr '\n' ' ')" = "0 10 20 32 " ] || fail "complexity: --max-length"
refused 2 --min-length --max-length -- scenes cut.mkv --min-length 10 --max-length 9
refused 2 --max-length 0 -- scenes cut.mkv --max-length 0
refused 2 --max-length 0s -- scenes cut.mkv --max-length 0s
expect 2 scenes cut.mkv --min-length 0
expect 2 scenes cut.mkv --min-length -1s
