# SPDX-License-Identifier: BSD-2-Clause
# Included by tests that compare ways to read coded video: makes random clips of many codecs and containers, and
# damages them. Its user has included common.sh, and set $seed and $frames.
have ffmpeg || skip "ffmpeg is not here"
ffmpeg -v error -f lavfi -i color=s=32x32:d=0.1 -c:v libx264 -f null - </dev/null 2>/dev/null || skip "no libx264"

# below N: a random number from 0 to N - 1, in $drawn.
below() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}

# encode FILE OPTION...: $frames frames of moving shapes.
encode() {
    file=$1
    shift
    ffmpeg -v error -y -f lavfi -i "testsrc2=s=96x64:r=25" -frames:v $frames -pix_fmt yuv420p -threads 2 "$@" "$file" \
        </dev/null 2>/dev/null
}

# make_video KIND: a clip of that kind, 0 to 17, in $clip.
make_video() {
    below 20
    gop=$((drawn + 5))
    below 4
    b=$drawn
    h264="-c:v libx264 -preset veryfast -g $gop -bf $b"
    hevc="-c:v libx265 -preset ultrafast -x265-params log-level=none:pools=none:frame-threads=1:keyint=$gop:bframes=$b"
    case $1 in
    0) clip=closed.mp4 && encode $clip $h264 ;;
    1) clip=open.mkv && encode $clip $h264 -x264-params open-gop=1 ;;
    2) clip=open_hevc.mp4 && encode $clip $hevc ;;
    3) clip=closed_hevc.mkv && encode $clip $hevc:open-gop=0 ;;
    4) clip=stream.ts && encode $clip $h264 ;;
    5) clip=untimed.h264 && encode $clip $h264 ;;
    6) clip=uneven.mkv && encode $clip $h264 -vf "select='mod(n*n,7)'" -fps_mode vfr ;;
    7) clip=mpeg2.ts && encode $clip -c:v mpeg2video -g $gop -bf 2 ;;
    8) clip=mpeg4.mp4 && encode $clip -c:v mpeg4 -g $gop -bf $b ;;
    9) clip=vp9.webm && encode $clip -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g $gop -auto-alt-ref 1 -lag-in-frames 12 -b:v 100k ;;
    10) clip=intra_refresh.mkv && encode $clip $h264 -x264-params intra-refresh=1 ;;
    11) clip=fields.mkv && encode $clip $h264 -flags +ilme+ildct ;;
    12) clip=trimmed.mp4 && encode whole.mp4 $h264 && ffmpeg -v error -y -ss 0.5 -i whole.mp4 -c copy $clip </dev/null ;;
    13) clip=stream_hevc.ts && encode $clip $hevc ;;
    14) clip=changed.ts && encode first.ts $h264 && encode second.ts $h264 -x264-params cabac=0:ref=2:8x8dct=0 &&
        cat first.ts second.ts >$clip ;;
    15) clip=av1.mkv && encode $clip -c:v libsvtav1 -preset 12 -g $gop ;;
    16) clip=vp8.webm && encode $clip -c:v libvpx -deadline realtime -cpu-used 8 -g $gop -b:v 100k ;;
    17) clip=pictures.avi && encode $clip -c:v mjpeg ;;
    *) fail "kind $1" ;;
    esac
}

# damage FILE: other bytes at up to four places of its second half or anywhere.
damage() {
    bytes=$(wc -c <"$1")
    below 4
    for i in $(seq 0 $drawn); do
        below $((bytes - 2000))
        at=$((drawn + 1500))
        below 256
        printf "$(printf '\\%03o' $drawn)" | dd of="$1" bs=1 seek=$at conv=notrunc 2>/dev/null
    done
}
