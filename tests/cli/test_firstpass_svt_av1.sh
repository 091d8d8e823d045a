#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume firstpass --encoder svt-av1: its records, its printed line and refusals; and, where SvtAv1EncApp is, second passes,
# which must have all frames and keep to the bitrate. Versions that read other records must refuse the line.
. "$(dirname "$0")/common.sh"
have ffmpeg || skip "ffmpeg is not here"
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=128x96:r=25 -frames:v 40 -pix_fmt yuv420p clip.y4m || fail "no clip"
first="firstpass clip.y4m --backend cpu --encoder svt-av1"

expect 0 $first --bitrate 100k --size 128x96 --size 64x64 --preset 6 --tune ssim --keyint 33 -o a
only . a.json a-128x96-100k.stats a-64x64-100k.stats clip.y4m
[ "$(stat -c %s a-128x96-100k.stats)" -eq $((41 * 56)) ] || fail "not a record for each frame, and one of all"
grep -q '^# with SvtAv1EncApp 2.3 or later$' "$scratch/out" || fail "the line's comment names no program and version"
grep -q '^SvtAv1EncApp --preset 6 --tune 2 --rc 1 --tbr 100 .*--pass 2 --stats a-128x96-100k.stats --keyint 33 -n 40 -i clip.y4m -b OUTPUT$' \
    "$scratch/out" || fail "not such a line: $(cat "$scratch/out")"
grep -q '^ffmpeg .*scale=64:64.* - | SvtAv1EncApp .* -i - -b OUTPUT$' "$scratch/out" || fail "no pipe for another size"
! grep -q libsvtav1 "$scratch/out" || fail "ffmpeg's libsvtav1 reads no statistics"
grep -q '"svt-av1": \["SvtAv1EncApp"' a.json || grep -q '"svt-av1": \[$' a.json || fail "no command in a.json"
if have_vulkan; then
    expect 0 firstpass clip.y4m --backend vulkan --encoder svt-av1 --bitrate 100k --keyint 33 -o b -q
    cmp a-128x96-100k.stats b-128x96-100k.stats || fail "records depend on the engine"
fi
expect 0 $first --bitrate 100k --threads 3 --keyint 33 -o c -q
cmp a-128x96-100k.stats c-128x96-100k.stats || fail "records depend on the threads or the preset"
rm -f a* b* c-* c.json

refused 2 --crf svt-av1 --bitrate -- $first --crf 30 -o r
refused 2 --qp svt-av1 --bitrate -- $first --rung 64x64:qp=30 -o r
refused 2 --target-psnr svt-av1 'gpume scenes --format av1an' -- $first --target-psnr 40 --probes 1 -o r
refused 2 '--per scene' svt-av1 -- $first --bitrate 1M --per scene -o r
refused 2 --verify svt-av1 -- $first --bitrate 1M --verify -o r
refused 2 --bframes svt-av1 -- $first --bitrate 1M --bframes 3 -o r
refused 2 --vbv-maxrate svt-av1 -- $first --bitrate 1M --vbv-maxrate 100 --vbv-bufsize 100 -o r
refused 2 --tune film svt-av1 -- $first --bitrate 1M --tune film -o r
refused 2 --preset medium svt-av1 -- $first --bitrate 1M --preset medium -o r
refused 2 --output-depth svt-av1 -- $first --bitrate 1M --output-depth 12 -o r
refused 2 48x64 64 svt-av1 -- $first --bitrate 1M --size 48x64 -o r
refused 2 48x64 64 svt-av1 -- $first --rung 48x64:100k -o r
refused 2 100001 100000 svt-av1 -- $first --bitrate 100.001M -o r
ffmpeg -nostdin -v error -i clip.y4m -vf setpts=N/300/TB,fps=300 -frames:v 5 fast.y4m || fail "no fast clip"
ffmpeg -nostdin -v error -i clip.y4m -vf settb=2,setpts=N,fps=1/2 -frames:v 5 slow.y4m || fail "no slow clip"
refused 3 slow.y4m svt-av1 '1 to 240' fps=1 -- firstpass slow.y4m --backend cpu --encoder svt-av1 --bitrate 1M -o r
refused 3 fast.y4m 240 svt-av1 fps=240 -- firstpass fast.y4m --backend cpu --encoder svt-av1 --bitrate 1M -o r
# A container that names the unit of its times, 1000 per second: the rate to give is that of its frames.
ffmpeg -nostdin -v error -i clip.y4m -vf "settb=1/1000,setpts='N*33+floor(N/5)*167+3*mod(N*N,4)'" -fps_mode passthrough \
    -enc_time_base 1:1000 -c:v msmpeg4v3 unit.asf || fail "no clip with times in milliseconds"
seconds=$(ffprobe -v error -select_streams v -show_entries packet=pts_time -of csv=p=0 unit.asf |
    awk 'NR == 1 { first = $1 + 0 } { last = $1 + 0 } END { print last - first }')
for option in "" "--vf hflip"; do
    refused 3 unit.asf --vf -- firstpass unit.asf --backend cpu --encoder svt-av1 --bitrate 100k $option -o r
    rate=$(sed -n 's/.*fps=\([0-9/]*\).*/\1/p' "$scratch/err")
    awk -v rate="$rate" -v seconds="$seconds" 'BEGIN {
        split(rate, r, "/"); off = r[1] / r[2] * seconds / 39; exit !(off > 0.99 && off < 1.01) }' ||
        fail "$rate frames per second, not 39 in $seconds s: $(cat "$scratch/err")"
done
for encoder in svt-av1 x264; do # one frame has no rate, but may get a bitrate
    expect 0 firstpass unit.asf --frames 1 --backend cpu --encoder $encoder --bitrate 100k -o single -y
    grep -q 'enc_time_base:v 1:25 ' "$scratch/out" || fail "the rate of a single frame: $(cat "$scratch/out")"
    rm single*
done
refused 3 unit.asf 240 fps=240 -- firstpass unit.asf --backend cpu --encoder svt-av1 --bitrate 100k --vf fps=500 -o r
ffmpeg -nostdin -v error -i clip.y4m -vf scale=64:48 -frames:v 3 small.y4m || fail "no small clip"
refused 3 small.y4m svt-av1 '--size 64x64' -- firstpass small.y4m --backend cpu --encoder svt-av1 --bitrate 1M -o r
! ls | grep -q '^r' || fail "refusals left files"

have SvtAv1EncApp || { echo "SvtAv1EncApp is not here: no second pass was tested"; exit 0; }
have ffprobe || { echo "ffprobe is not here: no second pass was tested"; exit 0; }
version=$(SvtAv1EncApp --version 2>&1 | sed -n 's/^SVT-AV1 v\([0-9]*\)\..*/\1/p')

# second CLIP KBPS OPTION...: the printed line's status is left in $done, its messages in the file log.
second() {
    clip=$1
    kbps=$2
    shift 2
    rm -f a* out.ivf
    expect 0 firstpass "$clip" --backend cpu --encoder svt-av1 --bitrate "${kbps}k" --preset 10 -o "a:b'c d" "$@"
    sed -n 's/OUTPUT/out.ivf/p' "$scratch/out" >line
    done=0
    timeout -s KILL 600 sh ./line >log 2>&1 </dev/null || done=$?
}

second clip.y4m 100
if [ "${version:-0}" -lt 2 ]; then
    [ "$done" -ne 0 ] && grep -q startup-mg-size log || fail "SVT-AV1 $version takes the line: $(tail -3 log)"
    [ "$(stat -c %s "a:b'c d"-*.stats)" -eq $((41 * 56)) ] || fail "SVT-AV1 $version changed the records"
    echo "SVT-AV1 $version refuses the line as it should: no second pass was tested"
    exit 0
fi

# frames COUNT KEYS: as many frames, with key frames at these places.
frames() {
    [ "$done" -eq 0 ] || fail "$(cat line): $(tail -3 log)"
    ffprobe -v error -select_streams v -show_entries packet=flags -of csv=p=0 out.ivf >packets
    [ "$(grep -c . packets)" -eq "$1" ] || fail "$(cat line): $(grep -c . packets) frames, not $1"
    [ "$(grep -n K packets | sed 's/:.*//' | paste -s -d ' ')" = "$2" ] || fail "$(cat line): key frames $(grep -n K packets)"
}
frames 40 1
second clip.y4m 100 --keyint 20
frames 40 '1 21'
second clip.y4m 100 --keyint 2 --frames 5
frames 5 '1 3 5'
second clip.y4m 100 --frames 1
frames 1 1
second clip.y4m 100 --frames 17 --size 64x64 --tune vq
frames 17 1
second unit.asf 100 --vf "fps=$rate"
frames "$(ffmpeg -nostdin -v error -i unit.asf -vf "fps=$rate" -f framecrc - | grep -vc '^#')" 1
ffprobe -v error -select_streams v -show_entries packet=pts_time -of csv=p=0 out.ivf |
    awk -v seconds="$seconds" '{ last = $1 + 0 } END { exit !(last > seconds - 0.1 && last < seconds + 0.1) }' ||
    fail "$(cat line): does not take $seconds s"
ffmpeg -nostdin -v error -i clip.y4m -frames:v 20 -c:v ffv1 -pix_fmt yuv420p10le deep.mkv || fail "no deep clip"
second deep.mkv 100
frames 20 1
ffprobe -v error -show_entries stream=pix_fmt -of csv=p=0 out.ivf | grep -q yuv420p10 || fail "not 10 bits"
ffmpeg -nostdin -v error -f lavfi -i mandelbrot=s=192x128:r=30000/1001 -frames:v 90 -c:v ffv1 motion.mkv || fail "no motion"
second motion.mkv 250
frames 90 1
bytes=$(stat -c %s out.ivf)
kbps=$((bytes * 8 * 30000 / 1001 / 90 / 1000))
[ "$kbps" -gt 190 ] && [ "$kbps" -lt 310 ] || fail "$kbps kbit/s, not 250"
