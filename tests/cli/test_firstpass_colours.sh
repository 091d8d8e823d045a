#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What the source says of its colours - primaries, transfer, matrix, range and the data of HDR10 - is in the printed lines
# of gpume firstpass, in the parameters of chunks of gpume scenes, and in what both encode, as ffprobe or FFmpeg's parser of
# headers reads it.
. "$(dirname "$0")/common.sh"
have ffmpeg || skip "ffmpeg is not here"
have ffprobe || skip "ffprobe is not here"
ffmpeg -hide_banner -encoders 2>/dev/null | grep -q ' libx265 ' || skip "this ffmpeg has no libx265"

# facts FILE: its format, its colours and its light, in lines that are sorted. Of fractions only the value counts.
facts() {
    ffprobe -v error -select_streams v -show_frames -show_entries frame -read_intervals '%+#1' "$1" |
        sed -n '/^chroma_location\|^color_\|^red_\|^green_\|^blue_\|^white_point_\|^m[a-z]*_luminance\|^max_content\|^max_average/p'
    ffmpeg -nostdin -v trace -i "$1" -frames:v 1 -c copy -bsf:v trace_headers -f null - 2>&1 |
        sed -n 's/.* \(display_primaries_[xy]\)\[\(.\)\] .* = \([0-9]*\)$/\1\2=\3\/50000/p
            s/.* \(white_point_[xy]\) .* = \([0-9]*\)$/\1=\2\/50000/p
            s/.* \(m[axin]*\)_display_mastering_luminance .* = \([0-9]*\)$/\1_luminance=\2\/10000/p
            s/.* max_content_light_level .* = \([0-9]*\)$/max_content=\1/p
            s/.* max_pic_average_light_level .* = \([0-9]*\)$/max_average=\1/p' |
        sed 's/display_primaries_\(.\)0/green_\1/; s/display_primaries_\(.\)1/blue_\1/; s/display_primaries_\(.\)2/red_\1/'
}

# tells FILE NAME=VALUE...: what FILE says of NAME is VALUE, within 1/1000, or within 0.0001 for small ones; VALUE no: nothing.
tells() {
    told=$1
    shift
    facts "$told" >facts
    for fact in "$@"; do
        awk -F= -v fact="$fact" 'BEGIN { split(fact, want, "=") }
            $1 == want[1] { found++; value = $2; if (split($2, parts, "/") == 2) value = parts[1] / parts[2]
                if (want[2] ~ /^[0-9.]+$/) { off = value - want[2]; bad += (off < 0 ? -off : off) > want[2] / 1000 + 0.0001 }
                else bad += value != want[2] }
            END { exit bad || (want[2] == "no" ? found : !found) }' facts ||
            fail "$(cat line): $told is not $fact: $(paste -s -d ' ' facts)"
    done
}

# encode FILE ENCODER OPTION...: all printed lines, into out-0.*, out-1.*; which are in $outs.
encode() {
    clip=$1
    encoder=$2
    shift 2
    rm -f a-* a.json out-*
    case "$*" in *--bitrate*) rate= ;; *) rate='--bitrate 200k' ;; esac
    expect 0 firstpass "$clip" --backend cpu --encoder "$encoder" $rate -o a "$@"
    grep OUTPUT "$scratch/out" >lines
    outs=
    number=0
    while read -r whole; do
        case $whole in
        *SvtAv1EncApp*) out=out-$number.ivf && have_svt || continue ;;
        *'| x264'* | 'x264'*) out=out-$number.264 && have x264 || continue ;;
        *'| x265'* | 'x265'*) out=out-$number.265 && have x265 || continue ;;
        *libx264*) out=out-$number.mkv && ffmpeg -hide_banner -encoders 2>/dev/null | grep -q ' libx264 ' || continue ;;
        *) out=out-$number.mkv ;;
        esac
        echo "$whole" | sed "s/OUTPUT/$out/" >line
        timeout -s KILL 600 sh ./line >log 2>&1 </dev/null || fail "$(cat line): $(tail -3 log)"
        outs="$outs $out"
        number=$((number + 1))
    done <lines
}

# The program SvtAv1EncApp that reads gpume's statistics
have_svt() {
    have SvtAv1EncApp && [ "$(SvtAv1EncApp --version 2>&1 | sed -n 's/^SVT-AV1 v\([0-9]*\)\..*/\1/p')" -ge 2 ]
}

light='G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400'
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=128x96:r=25 -frames:v 10 -pix_fmt yuv420p10le -c:v libx265 -preset ultrafast \
    -x265-params "log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:range=limited:chromaloc=2:master-display=$light" \
    hdr.mkv || fail "no HDR10"
colours='color_primaries=bt2020 color_transfer=smpte2084 color_space=bt2020nc color_range=tv chroma_location=topleft'
display='red_x=0.68 red_y=0.32 green_x=0.265 green_y=0.69 blue_x=0.15 blue_y=0.06 white_point_x=0.3127 white_point_y=0.329
    max_luminance=1000 min_luminance=0.005 max_content=1000 max_average=400'
dark='max_luminance=no red_x=no max_content=no'
: >line
tells hdr.mkv $colours $display
ffmpeg -nostdin -v error -i hdr.mkv -c copy hdr.ts || fail "no MPEG-TS"

# The same in a container alone, whose codec says nothing of light: in the MP4 of an encode without it, boxes at the end of
# the sample's description, with the size of each box around them.
have python3 && ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=128x96:r=25 -frames:v 10 -pix_fmt yuv420p10le -c:v libx265 \
    -preset ultrafast -x265-params log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:range=limited:chromaloc=2 plain.mp4 &&
    python3 - <<'END' || fail "no MP4 with light"
import struct
data = open("plain.mp4", "rb").read()


def add_boxes(name, luminances, levels):
    """Writes a file with such boxes."""
    more = struct.pack(">I4s8H2I", 32, b"mdcv", 13250, 34500, 7500, 3000, 34000, 16000, 15635, 16450, *luminances)
    more += struct.pack(">I4s2H", 12, b"clli", *levels)
    at, end, places = 0, len(data), []
    for box, skip in ((b"moov", 8), (b"trak", 8), (b"mdia", 8), (b"minf", 8), (b"stbl", 8), (b"stsd", 16), (b"hev1", 0)):
        while data[at + 4:at + 8] != box:
            at += struct.unpack(">I", data[at:at + 4])[0]
            assert at < end
        size = struct.unpack(">I", data[at:at + 4])[0]
        places.append((at, size))
        end = at + size
        at += skip
    assert data.find(b"mdat") < places[0][0]  # so that the samples stay in their places
    new = bytearray(data[:end] + more + data[end:])
    for at, size in places:
        new[at:at + 4] = struct.pack(">I", size + len(more))
    open(name, "wb").write(new)


add_boxes("boxes.mp4", (10000000, 50), (1000, 400))
add_boxes("zeros.mp4", (0, 0), (0, 0))
END

for encoder in x264 x265 svt-av1; do
    for clip in hdr.mkv hdr.ts boxes.mp4; do
        [ -e $clip ] || continue
        encode $clip $encoder
        for out in $outs; do tells $out $colours $display; done
    done
    encode hdr.mkv $encoder --size 64x64 --output-depth 8
    for out in $outs; do tells $out $colours $display; done
    # A filter that changes the transfer takes the light away; not so from ffmpeg 7.1, which passes on what frames hold.
    encode hdr.mkv $encoder --vf setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709
    for out in $outs; do
        tells $out color_primaries=bt709 color_transfer=bt709 color_space=bt709 color_range=tv
        case $out in *.mkv) ;; *) tells $out $dark ;; esac
    done
    ! grep -qE 'master|cll|content-light' lines || fail "light after a filter that takes it away: $(cat lines)"
done

# Full range stays, in samples and in words, at any depth and size: the darkest are below 60 of 1023; limited they are above 80.
for depth in 420p 422p10le; do
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=128x96:r=25 -frames:v 5 -vf "scale=out_range=full,format=yuv$depth" \
        -color_range pc -c:v ffv1 full-$depth.mkv || fail "no full range"
    for encoder in x264 x265 svt-av1; do
        for options in '' '--output-depth 10 --size 64x64'; do
            encode full-$depth.mkv $encoder $options --bitrate 2M
            for out in $outs; do
                tells $out color_range=pc $dark
                ffmpeg -nostdin -v error -i $out -vf signalstats,metadata=print:file=- -f null - >signal 2>log
                low=$(sed -n 's/^lavfi.signalstats.YMIN=//p' signal | sort -n | head -1)
                ffprobe -v error -show_entries stream=pix_fmt -of csv=p=0 $out | grep -q 10le || low=$((low * 4))
                [ "$low" -lt 60 ] || fail "$(cat line): black is $low"
            done
        done
    done
done
# RGB becomes YUV, so the matrix of RGB is not that of the encode.
ffmpeg -nostdin -v error -i hdr.mkv -frames:v 3 -vf format=gbrp10le -c:v ffv1 rgb.mkv || fail "no RGB"
for encoder in x264 x265 svt-av1; do
    expect 0 firstpass rgb.mkv --backend cpu --encoder $encoder --bitrate 1M -o a -y
    ! grep -qE -- '--(colormatrix|matrix-coefficients)' "$scratch/out" || fail "the matrix of RGB: $(cat "$scratch/out")"
done
# Chunks: a scene's parameters, one per line, with frames of Y4M, which does not say the colours. aomenc has no options of light.
for pair in x264:x264 x265:x265 svt-av1:SvtAv1EncApp aom:aomenc; do
    program=${pair#*:}
    have python3 && have "$program" || continue
    expect 0 scenes hdr.mkv --backend cpu --format av1an --encoder "${pair%:*}" --crf 30 -o chunks.json -y
    python3 -c "
import json
print(*json.load(open('chunks.json'))['scenes'][0]['zone_overrides']['video_params'], sep='\n')" >params || fail "no params"
    ffmpeg -nostdin -v error -i hdr.mkv -strict -1 -bitexact -y chunk.y4m || fail "no frames"
    set --
    while read -r word; do set -- "$@" "$word"; done <params
    case $program in
    x264) set -- "$@" -o chunk.264 chunk.y4m ;;
    x265) set -- "$@" -o chunk.265 chunk.y4m ;;
    SvtAv1EncApp) set -- "$@" -i chunk.y4m -b chunk.ivf ;;
    aomenc) set -- "$@" --passes=1 --ivf -o chunk.ivf chunk.y4m ;;
    esac
    paste -s -d ' ' params >line
    timeout -s KILL 600 "$program" "$@" >log 2>&1 </dev/null || fail "$program $*: $(tail -3 log)"
    case $program in
    aomenc) tells chunk.ivf $colours ;;
    *) tells chunk.[i2]* $colours $display ;;
    esac
    rm chunk.[i2]*
done

if [ -e zeros.mp4 ]; then # not known
    expect 0 firstpass zeros.mp4 --backend cpu --encoder x265 --bitrate 1M -o a -y
    ! grep -qE 'master|cll' "$scratch/out" || fail "zeros as light: $(cat "$scratch/out")"
fi
[ -e boxes.mp4 ] || echo "python3 is not here: no light in a container alone"
