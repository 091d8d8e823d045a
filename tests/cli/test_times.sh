#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Times of frames that streams without times imply: repeated fields (pulldown) count, and a filter that goes by time
# keeps all frames that FFmpeg keeps. Where frames are not equally far apart, gpume firstpass says so before the
# analysis, and advises the rate that most of them have.
. "$(dirname "$0")/common.sh"
have ffmpeg || skip "ffmpeg is not here"
options="--backend cpu --threads 1 -b 16 -w 2"

# clip FILE OPTION...: 96 frames of film.
clip() {
    file=$1
    shift
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=96x64:r=24000/1001 -frames:v 96 -pix_fmt yuv420p "$@" "$file"
}

# times_are FILE RATE FIELDS...: a field lasts 1 / (2 * RATE) seconds; the frames take FIELDS of them, in turn.
times_are() {
    file=$1
    rate=$2 # within a tick of 90 kHz
    shift 2
    expect 0 -qy $file $options -o out
    column=$(head -n 1 out/frames.csv | tr , '\n' | grep -n '^time$' | cut -d : -f 1)
    awk -F, -v c="$column" -v rate="$rate" -v fields="$*" 'BEGIN { n = split(fields, each, " "); split(rate, r, "/") }
        NR > 1 { sum += each[($1 - 1) % n + 1]; want = sum * r[2] / r[1] / 2; off = $c - want
            if (off > 0.000012 || off < -0.000012) { print $1, $c, want; bad = 1; exit } rows++ }
        END { exit bad || rows != 95 }' out/frames.csv >wrong || fail "$file: frame, time, right time: $(cat wrong)"
}

# keeps FILE RATE: as many frames as FFmpeg.
keeps() {
    kept=$(ffmpeg -nostdin -v error -i $1 -vf fps=$2 -f framecrc - | grep -vc '^#')
    expect 0 firstpass $1 --vf fps=$2 --backend cpu --encoder x264 --bitrate 200k -o pass -y
    grep -q ", $kept frames\$" "$scratch/out" || fail "$1 --vf fps=$2: not $kept frames"
}

if have x264; then
    clip film.y4m || fail "no clip"
    for b in 0 2; do
        for pulldown in 32 64 double triple; do
            x264 --quiet --pulldown $pulldown --preset ultrafast --bframes $b -o $pulldown.h264 film.y4m 2>/dev/null ||
                fail "x264 --pulldown $pulldown"
        done
        times_are 32.h264 30000/1001 3 2
        times_are 64.h264 24000/1001 4 6
        times_are double.h264 48000/1001 4
        times_are triple.h264 72000/1001 6
    done
    x264 --quiet --pulldown 32 --preset ultrafast --bframes 0 -o 32.h264 film.y4m 2>/dev/null
    keeps 32.h264 24000/1001
    keeps 32.h264 30000/1001
    run firstpass 32.h264 --vf fps=24000/1001 --backend cpu --encoder x264 --bitrate 200k -o pass -y
    grep -q ', 96 frames$' "$scratch/out" || fail "32.h264: frames are lost"
else
    echo "x264 is not here: no raw H.264 with pulldown"
fi

# FLV says no durations: how long the last frame lasts is for the program ffmpeg to say.
if ffmpeg -hide_banner -encoders 2>/dev/null | grep -q ' libx264 '; then
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=96x64:r=30 -frames:v 40 -pix_fmt yuv420p -fps_mode passthrough \
        -enc_time_base 1:1000 -vf "settb=1/1000,setpts='N*33+floor(N/7)*137'" -c:v libx264 -preset ultrafast times.flv || fail "no FLV"
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=96x64:r=30 -frames:v 40 -pix_fmt yuv420p -c:v flv even.flv || fail "no FLV"
    for rate in 10 17 136/7 25 90; do
        keeps times.flv $rate
        keeps even.flv $rate
    done
fi

# Raw streams have the times that the ffmpeg of this release gives them, and a filter that goes by time takes the same
# frames: before FFmpeg 6.1 the first frame of raw MPEG-2 came at 1/25 s, from then on at 0.
for case in "m2v -c:v mpeg2video -g 12 -bf 0" "m2v -c:v mpeg2video -g 12 -bf 2" "mjpeg -c:v mjpeg" \
    "h264 -c:v libx264 -preset ultrafast -bf 2"; do
    raw=raw.${case%% *}
    clip $raw -r 25 ${case#* } -threads 1 || continue # no such encoder
    expect 0 -qy $raw $options -o out
    ffmpeg -nostdin -v info -i $raw -vf showinfo -f null - 2>&1 | sed -n 's/.* pts_time:\([0-9.]*\).*/\1/p' >times
    column=$(head -n 1 out/frames.csv | tr , '\n' | grep -n '^time$' | cut -d : -f 1)
    awk -F, -v c="$column" 'FNR == NR { want[FNR] = $1; next }
        FNR > 1 { off = $c - want[$1 + 1]; if (off > 0.001 || off < -0.001) { print $1, $c, want[$1 + 1]; bad = 1; exit } rows++ }
        END { exit bad || rows < 95 }' times out/frames.csv >wrong || fail "$case: frame, time, ffmpeg's: $(cat wrong)"
    for rate in 24 10; do
        ffmpeg -nostdin -v error -i $raw -vf fps=$rate,format=gray -f framemd5 - | sed -n '/^#/!s/.*, //p' >want
        run luma $raw --vf fps=$rate,format=gray -qy -o luma.y4m
        ffmpeg -nostdin -v error -i luma.y4m -pix_fmt gray -f framemd5 - | sed -n '/^#/!s/.*, //p' >got
        cmp want got || fail "$case --vf fps=$rate: other frames than ffmpeg's"
    done
done

# MPEG-2 of film with the flags of 3:2 pulldown, in a program stream, where few frames have a time.
if have python3 && clip plain.m2v -c:v mpeg2video -bf 0 -g 12; then
    cat >flags.py <<'END'
data = bytearray(open('plain.m2v', 'rb').read())
at = picture = 0
while (at := data.find(b'\0\0\1', at)) >= 0:
    if data[at + 3] == 0xb3:  # a sequence: 30000/1001 frames per second
        data[at + 7] = data[at + 7] & 0xf0 | 4
    elif data[at + 3] == 0xb5 and data[at + 4] >> 4 == 1:  # its extension: not progressive
        data[at + 5] &= ~8
    elif data[at + 3] == 0xb5 and data[at + 4] >> 4 == 8:  # of a picture: top and repeat_first_field, progressive
        top, repeat = (1, 0, 0, 1)[picture % 4], (1, 0, 1, 0)[picture % 4]
        data[at + 7] = data[at + 7] & ~0x82 | top << 7 | repeat << 1
        data[at + 8] |= 0x80
        picture += 1
    at += 3
open('film.m2v', 'wb').write(data)
END
    python3 flags.py
    if ffmpeg -nostdin -v error -y -i film.m2v -c copy film.mpg; then
        times_are film.mpg 30000/1001 3 2
    else
        rm -f film.mpg
        echo "this FFmpeg puts no raw MPEG-2 into a program stream: not tested"
    fi
fi

# advises RATE CLIP: from a file, and from a pipe, whose packets are not read in advance.
advises() {
    run firstpass $2 --backend cpu --encoder x264 --bitrate 200k -o pass -y
    [ $status -eq 3 ] || fail "$2: exit status $status"
    names "--vf fps=$1"
    "$gpume" firstpass - --backend cpu --encoder x264 --bitrate 200k -o pass -y <$2 >"$scratch/out" 2>"$scratch/err"
    names "--vf fps=$1"
}
[ ! -e film.mpg ] || advises 24000/1001 film.mpg
[ ! -e 32.h264 ] || advises 24000/1001 32.h264

# A browser's WebM: times in milliseconds, up to 16 of them late, and no rate, so FFmpeg takes the unit for one.
webm="-c:v libvpx -deadline realtime -cpu-used 8 -auto-alt-ref 0 -fps_mode passthrough -enc_time_base 1/1000"
if clip any.webm -vf "setpts=N,settb=1/1000,setpts='N*40+floor(17*random(1))'" $webm; then
    # DefaultDuration becomes Void.
    sed -e 's/\x23\xe3\x83\x84/\xec\x86\x00\x00/' -e 's/\x23\xe3\x83\x83/\xec\x85\x00\x00/' any.webm >browser.webm
    [ "$(ffprobe -v error -show_entries stream=r_frame_rate -of csv=p=0 browser.webm)" = 1000/1 ] ||
        fail "browser.webm has a rate"
    advises 25/1 browser.webm
fi

# A cut by stream copy, whose last B frames are missing, is refused before the analysis; up to there it is taken.
if ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=96x64:r=25 -frames:v 150 -pix_fmt yuv420p -c:v libx264 -bf 3 \
    -b_strategy 0 -g 50 -threads 1 long.mp4; then
    for kind in mp4 mkv ts; do
        ffmpeg -nostdin -v error -y -i long.mp4 -t 3.6 -c copy cut.$kind || fail "no cut"
        # The first frame after the gap, by the times of all frames.
        gap=$(ffprobe -v error -select_streams v -show_entries frame=pts_time -of csv=p=0 cut.$kind | tr -d , | awk '
            NF && n && $1 - last > 0.06 { print n; exit } NF { last = $1; n++ }')
        [ -n "$gap" ] || fail "cut.$kind: lacks no frame"
        run firstpass cut.$kind --backend cpu --encoder x264 --bitrate 200k -o pass -y -v
        [ $status -eq 3 ] || fail "cut.$kind: exit status $status"
        names "cut.$kind" "$gap" '--vf fps=25/1' "--frames $gap"
        ! grep -q 'engine:' "$scratch/err" || fail "cut.$kind: was analysed"
        expect 0 firstpass cut.$kind --backend cpu --encoder x264 --bitrate 200k -o pass -y --frames $gap
        grep -q ", $gap frames\$" "$scratch/out" || fail "cut.$kind: not $gap frames"
        expect 0 firstpass cut.$kind --backend cpu --encoder x264 --bitrate 200k -o pass -y --vf fps=25/1
    done
fi

# A frame that cannot be read, early in the video, is named although the analysis opens only after it.
if ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=64x48 -frames:v 4 -c:v mpeg2video small.ts &&
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x240 -frames:v 20 -q:v 2 -c:v mpeg2video large.ts; then
    { cat small.ts && for i in $(seq 100); do cat large.ts; done; } >grows.ts # reading its times takes a moment
    expect 3 firstpass grows.ts --backend cpu --encoder x264 --bitrate 200k -o pass -y --max-pixels 20000
    says "grows.ts"
fi
