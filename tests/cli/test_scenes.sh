#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume scenes: its formats, and that x264, x265 and FFmpeg accept them. A clip of three scenes with cuts at frames 20
# and 31.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"
ffmpeg -nostdin -v error -filter_complex \
    "testsrc2=s=192x128:r=25,format=yuv420p,trim=end_frame=20[a];mandelbrot=s=192x128:r=25,format=yuv420p,\
trim=end_frame=11[b];smptebars=s=192x128:r=25,format=yuv420p,trim=end_frame=14[c];[a][b][c]concat=n=3" \
    -frames:v 45 -c:v ffv1 clip.mkv || fail "no clip"

scenes() {
    expect 0 scenes clip.mkv --backend "$engine" "$@"
}

scenes
cut -d, -f1-4 "$scratch/out" >csv
printf 'frame,time,kind,last_frame\n20,0.800000,cut,20\n31,1.240000,cut,31\n' | cmp - csv || fail "csv"
[ ! -s "$scratch/err" ] || fail "something was said"
awk -F, 'NR > 1 && ($5 < 0.5 || $5 > 1) { exit 1 }' "$scratch/out" || fail "confidence"

cp "$scratch/out" first.csv
scenes --threads 3 -o more.csv
cmp first.csv more.csv || fail "three threads find something else"
grep -q '^scenes       3 in 45 frames: 2 cuts$' "$scratch/out" || fail "no closing summary"
refused 2 more.csv -- scenes clip.mkv --backend "$engine" -o more.csv
scenes -o more.csv -y -q
[ ! -s "$scratch/out" ] || fail "-q printed something"
only . clip.mkv csv first.csv more.csv

scenes --confidence 1
[ "$(wc -l <"$scratch/out")" -eq 1 ] || fail "--confidence 1 has changes"

scenes --format qpfile
printf '0 I -1\n20 I -1\n31 I -1\n' | cmp - "$scratch/out" || fail "qpfile"
cp "$scratch/out" clip.qp
scenes --format qpfile --min-length 12
printf '0 I -1\n20 I -1\n' | cmp - "$scratch/out" || fail "--min-length"
scenes --format qpfile --min-length 11 --frames 42
printf '0 I -1\n20 I -1\n31 I -1\n' | cmp - "$scratch/out" || fail "--min-length: a last scene of 11 frames"
scenes --format qpfile --min-length 11 --frames 41
printf '0 I -1\n20 I -1\n' | cmp - "$scratch/out" || fail "--min-length: the last scene is too short"
scenes --format keyframes
printf '0.000000,0.799000,1.239000\n' | cmp - "$scratch/out" || fail "keyframes"
times=$(cat "$scratch/out")
scenes --format av1an --min-length 1
tr -d ' \n' <"$scratch/out" >packed
list='[{"start_frame":0,"end_frame":20,"zone_overrides":null},{"start_frame":20,"end_frame":31,"zone_overrides":null},{"start_frame":31,"end_frame":45,"zone_overrides":null}]'
printf '{"frames":45,"scenes":%s,"split_scenes":%s}' "$list" "$list" | cmp - packed || fail "av1an"
scenes --format json
tr -d ' \n' <"$scratch/out" >packed
grep -q '^{"format":1,"frames":45,"changes":\[{"frame":20,"time":0.800000,"kind":"cut","last_frame":20,"confidence":' packed ||
    fail "json: changes"
grep -q '"scenes":\[{"first_frame":0,"last_frame":19,"time":0.000000},{"first_frame":20,' packed || fail "json: scenes"

# The name says the format, unless --format does; a name of another kind says none.
for format in csv json qpfile keyframes; do
    scenes --format $format -o - && cp "$scratch/out" wanted
    scenes -o named.$format -q && cmp wanted named.$format || fail "named.$format"
done
scenes -o named.JSON -q && cmp named.json named.JSON || fail "named.JSON"
scenes -o named.txt -q && cmp named.csv named.txt || fail "named.txt"
scenes --format csv -o named.html -q && cmp named.csv named.html || fail "named.html"
for name in scenes.html scenes.csv.gz scenes.mp4; do
    refused 2 --output $name --format -- scenes clip.mkv -o $name
    [ ! -e $name ] || fail "$name was written"
done
rm named.* wanted

# Encoders put key frames where the files say, and with their own detection off nowhere else.
keys() {
    ffprobe -v error -select_streams v -show_entries packet=flags -of csv=p=0 "$1" |
        awk '/K/ { printf "%s%d", sep, NR - 1; sep = " " }'
}
ffmpeg -nostdin -v error -i clip.mkv -pix_fmt yuv420p clip.y4m || fail "no clip.y4m"
if have ffprobe && ffmpeg -v error -encoders | grep -q libx264; then
    ffmpeg -nostdin -v error -i clip.mkv -c:v libx264 -preset ultrafast -x264-params scenecut=0:bframes=0 \
        -force_key_frames "$times" ffmpeg.mkv || fail "ffmpeg refuses the times"
    [ "$(keys ffmpeg.mkv)" = "0 20 31" ] || fail "ffmpeg: key frames at $(keys ffmpeg.mkv)"
fi
if have ffprobe && have x264; then
    x264 --quiet --preset ultrafast --scenecut 0 --qpfile clip.qp -o x264.mkv clip.y4m 2>/dev/null ||
        fail "x264 refuses the qpfile"
    [ "$(keys x264.mkv)" = "0 20 31" ] || fail "x264: key frames at $(keys x264.mkv)"
fi
if have ffprobe && have x265; then
    timeout -s KILL 600 x265 --log-level error --preset ultrafast --bframes 0 --scenecut 0 --qpfile clip.qp --input clip.y4m \
        -o x265.hevc >/dev/null 2>&1 || fail "x265 refuses the qpfile"
    [ "$(keys x265.hevc)" = "0 20 31" ] || fail "x265: key frames at $(keys x265.hevc)"
fi
# FFmpeg counts from where the container begins, which may be before the video.
ffmpeg -nostdin -v error -f lavfi -i sine=d=3 -itsoffset 0.52 -i clip.mkv -map 1:v -map 0:a -c:v copy -c:a pcm_s16le late.mkv ||
    fail "no late.mkv"
expect 0 scenes late.mkv --backend "$engine" --format keyframes
printf '0.000000,1.319000,1.759000\n' | cmp - "$scratch/out" || fail "keyframes of a video that begins late"
if have ffprobe && ffmpeg -v error -encoders | grep -q libx264; then
    # At a constant rate ffmpeg repeats the first frame from 0 on, 13 times: one key frame for all of them. Which mode is
    # the default for MP4 depends on its version.
    times=$(cat "$scratch/out")
    for mode in 'passthrough 0 20 31' 'cfr 0 33 44'; do
        ffmpeg -nostdin -v error -y -i late.mkv -fps_mode "${mode%% *}" -c:v libx264 -preset ultrafast -bf 0 -sc_threshold 0 \
            -forced-idr 1 -force_key_frames "$times" late.mp4 || fail "ffmpeg refuses the times"
        [ "$(keys late.mp4)" = "${mode#* }" ] || fail "late: $mode: key frames at $(keys late.mp4)"
    done
fi
# Every picture three times: one cut, between the two generators.
ffmpeg -nostdin -v error -filter_complex "testsrc2=s=192x144:r=8:d=3,noise=alls=20:allf=u:all_seed=1,scroll=h=0.02:v=0.01,format=gray[a];\
mandelbrot=s=192x144:r=8:end_pts=40,trim=end_frame=24,scroll=h=0.03,format=gray[b];[a][b]concat,fps=24" -c:v ffv1 threes.mkv ||
    fail "no threes.mkv"
expect 0 scenes threes.mkv --backend "$engine"
[ "$(sed 1d "$scratch/out" | cut -d , -f 1,3)" = 72,cut ] || fail "repeated frames give cuts"
# A fade of 15 frames with which the video begins.
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=192x128:r=25:d=2 -vf format=yuv420p,fade=in:0:15 -c:v ffv1 rises.mkv ||
    fail "no rises.mkv"
expect 0 scenes rises.mkv --backend "$engine"
[ "$(sed 1d "$scratch/out" | cut -d, -f1,3,4)" = 1,fade-in,15 ] || fail "fade-in: $(sed 1d "$scratch/out")"
rm -f rises.mkv clip.y4m ffmpeg.mkv x264.mkv x265.hevc late.mkv late.mp4 threes.mkv

# A video of one frame.
ffmpeg -nostdin -v error -i clip.mkv -frames:v 1 -c:v ffv1 one.mkv || fail "no one.mkv"
expect 0 scenes one.mkv --backend "$engine" --format av1an -o one.json
grep -q '^scenes       1 in 1 frame$' "$scratch/out" || fail "one frame"
[ "$(tr -d ' \n' <one.json | cut -d, -f1-4)" = '{"frames":1,"scenes":[{"start_frame":0,"end_frame":1,"zone_overrides":null}]' ] ||
    fail "one frame: av1an"
expect 0 scenes one.mkv --backend "$engine" --format keyframes
printf '0.000000\n' | cmp - "$scratch/out" || fail "one frame: keyframes"
rm one.mkv one.json

# What is refused.
refused 2 '--min-length 100' '--max-length 50' -- scenes clip.mkv --min-length 100 --max-length 50
refused 2 '--min-length 2.5s' '--max-length 1s' -- scenes clip.mkv --min-length 2.5s --max-length 1s
expect 2 scenes
expect 2 scenes clip.mkv clip.mkv
refused 2 --format mp4 -- scenes clip.mkv --format mp4
refused 2 --confidence 2 -- scenes clip.mkv --confidence 2
refused 2 clip.mkv -- scenes clip.mkv -y -o clip.mkv
# Interrupted at any moment, also before the first frame: no crash, no output.
for seconds in 0.001 0.01 0.03 0.1; do
    for format in json keyframes; do
        "$gpume" scenes clip.mkv --backend "$engine" --format $format --timeout $seconds -o cut.out >"$scratch/out" 2>"$scratch/err"
        status=$?
        case $status in
        0) rm cut.out ;;
        1) grep -qF -- "--timeout $seconds" "$scratch/err" || fail "the option that ended the run is not named" ;;
        *) fail "--timeout $seconds: exit status $status" ;;
        esac
    done
done
mkdir folder
refused 2 folder -- scenes clip.mkv -o folder
rmdir folder
refused 3 absent.mkv -- scenes absent.mkv
printf 'YUV4MPEG2 W0 H0\n' >broken.y4m
refused 3 broken.y4m -- scenes broken.y4m
only . broken.y4m clip.mkv clip.qp csv first.csv more.csv packed
