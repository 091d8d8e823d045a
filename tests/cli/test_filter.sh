#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume filter: every sample as gpume-filter(1) defines it (tests/support/filter_oracle.c), in all formats and depths;
# what must not change; outputs; and what it refuses.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"
filter_oracle=${GPUME_FILTER_ORACLE:-}
if [ -z "$filter_oracle" ]; then
    filter_oracle=$scratch/filter_oracle
    ${CC:-cc} -std=c11 -O2 -o "$filter_oracle" "$here/../support/filter_oracle.c" || fail "the oracle cannot be compiled"
fi

# clip NAME FORMAT SIZE FRAMES [FILTERS]: a moving picture with noise, as Y4M. The frames are put together here, because
# FFmpeg 5.1 writes too few bytes of chroma where a side is odd and samples are deep.
clip() {
    ffmpeg -nostdin -v error -y -f lavfi -i "mandelbrot=s=96x64:rate=25:start_scale=1:end_scale=0.2" \
        -vf "${5:-null},format=yuv444p,noise=alls=16:all_seed=7:allf=t,format=yuv444p16le,gblur=sigma=0.3,crop=${3%x*}:${3#*x}:0:0:1,format=$2" \
        -frames:v "$4" -f rawvideo raw || fail "no clip of $2"
    case $2 in
    gray) space=mono ;;
    gray*) space=mono${2#gray} ;;
    yuv420p) space=420jpeg ;;
    *) space=${2#yuv} ;;
    esac
    space=${space%le}
    case $space in *p) space=${space%p} ;; esac
    [ "$(($(wc -c <raw) % $4))" -eq 0 ] || fail "$1: not $4 frames"
    bytes=$(($(wc -c <raw) / $4))
    echo "YUV4MPEG2 W${3%x*} H${3#*x} F25:1 Ip A1:1 C$space" >"$1.y4m"
    frame=0
    while [ $frame -lt "$4" ]; do
        echo FRAME
        tail -c +$((frame * bytes + 1)) raw | head -c $bytes
        frame=$((frame + 1))
    done >>"$1.y4m"
}

least='' spatial=0
# agrees NAME RADIUS WINDOW STRENGTH/32 SIGMA*100 OPTIONS...: NAME.y4m is filtered as by the oracle, with these options.
agrees() {
    name=$1 radius=$2 window=$3 strength=$4 sigma=$5
    shift 5
    distances=$(seq -s , 1 "$radius")
    "$filter_oracle" pictures "$name.y4m" >pictures.y4m || fail "$name: no pictures"
    expect 0 pictures.y4m -b 16 -w "$window" --prefilter gauss:0.6 --subpel 4 --direction both --ref-distance "$distances" \
        --vectors vectors.csv --backend cpu -y -q
    # shellcheck disable=SC2086 # none, or two words
    "$filter_oracle" filter "$name.y4m" vectors.csv "$radius" "$window" "$strength" "$sigma" "$spatial" $least >wanted 2>variances ||
        fail "$name: the oracle failed"
    expect 0 filter "$name.y4m" -o filtered.y4m --radius "$radius" -w "$window" --backend "$engine" -y "$@"
    "$filter_oracle" samples filtered.y4m >found || fail "$name: no Y4M"
    cmp -s wanted found || fail "$name: $(cmp wanted found 2>&1), filtered with $*"
}

# changes NAME: the last output of `agrees` is not its input.
changes() {
    "$filter_oracle" samples "$1.y4m" | cmp -s - found && fail "$1: nothing was filtered"
}

# All formats, odd sizes included.
for format in gray yuv420p yuv422p yuv444p gray10le yuv420p10le yuv422p12le yuv444p10le yuv420p16le; do
    clip $format $format 75x53 7
    case $format in
    *le) agrees $format 2 5 64 400 --strength 2 --noise 4 ;;
    *) agrees $format 4 5 32 -1 ;;
    esac
    changes $format
done
clip even yuv420p 96x64 6
for threads in 1 3; do
    agrees even 4 16 32 -1 --threads $threads
done
agrees even 1 3 11 1234 --strength 0.34 --noise 12.34
clip even10 yuv420p10le 96x64 6
agrees even10 4 16 32 -1
changes even10
for size in 16x16 17x33 8x8 1x1; do
    clip tiny yuv420p $size 4
    agrees tiny 4 2 64 1000 --strength 2 --noise 10
done

# What is left is removed within a picture, too: strips, planes of one sample, fields, and each picture on its own.
spatial=32
agrees even 4 16 32 -1 --spatial 1
for threads in 1 3; do
    clip tall yuv422p 40x135 4 scale=96:160
    agrees tall 2 5 64 700 --strength 2 --noise 7 --spatial 1 --threads $threads
done
agrees even10 2 16 0 900 --strength 0 --noise 9 --spatial 1
spatial=21
agrees even10 4 16 32 -1 --spatial 0.66
agrees tiny 4 2 64 1000 --strength 2 --noise 10 --spatial 0.66
spatial=0

# Black bars do not hide the noise between them, wherever they end in a block: here eight rows in, and on one side alone.
for pad in 96:112:0:24 112:88:8:12 96:88:0:24 96:88:0:0 129:97:33:17; do
    clip bars yuv420p 96x64 6
    for format in yuv420p yuv422p10le; do
        ffmpeg -nostdin -v error -y -i bars.y4m -vf "pad=$pad,format=$format" -strict -1 padded.y4m
        agrees padded 4 16 32 -1
        grep -q '^picture 2 plane 0: V [1-9][0-9][0-9]' variances || fail "bars of $pad hide the noise: $(grep 'picture 2' variances)"
    done
done
# Where the darker corner is above 20 there are none; a picture that is all black has nothing to measure.
ffmpeg -nostdin -v error -y -i bars.y4m -vf pad=96:112:0:24:color=0x202020 padded.y4m
agrees padded 4 16 32 -1
ffmpeg -nostdin -v error -y -i bars.y4m -vf lutyuv=y=16:u=128:v=128,noise=alls=2:all_seed=7:allf=t padded.y4m
agrees padded 4 16 32 -1

# Spots: every sample as the oracle has it, in all formats; the filter gets what is left.
# dirty NAME: adds dark and bright boxes to frames of NAME.y4m.
dirty() {
    boxes=
    for frame in $(seq 0 6); do
        for spot in 1 2 3; do
            x=$(((frame * 29 + spot * 37) % 60)) y=$(((frame * 13 + spot * 19) % 40))
            boxes=$boxes,drawbox=x=$x:y=$y:w=$((2 + (frame + spot) % 5)):h=$((2 + frame % 4)):t=fill:c=$([ $spot -eq 2 ] && echo black || echo white):enable=eq\(n\\,$frame\)
        done
    done
    echo "${boxes#,}"
}
# despots NAME OPTIONS...: NAME.y4m without spots is what the oracle gives.
despots() {
    name=$1
    shift
    "$filter_oracle" pictures "$name.y4m" >pictures.y4m || fail "$name: no pictures"
    expect 0 pictures.y4m -b 32 -w 16 --prefilter gauss:0.6 --subpel 4 --direction both --vectors vectors.csv --backend cpu -y -q
    "$filter_oracle" despot "$name.y4m" vectors.csv >wanted || fail "$name: the oracle failed"
    expect 0 filter "$name.y4m" --despot --strength 0 -o clean.y4m --backend "$engine" -y "$@"
    "$filter_oracle" samples clean.y4m >found || fail "$name: no Y4M"
    cmp -s wanted found || fail "$name: $(cmp wanted found 2>&1), without spots"
}
for format in gray yuv420p yuv422p yuv444p yuv420p10le yuv422p12le yuv420p16le; do
    clip spots $format 75x53 7 "$(dirty)"
    despots spots
    changes spots
done
clip spots yuv420p 96x64 7 "loop=1:1:3,$(dirty)"
despots spots --threads 3
changes spots
expect 0 filter clean.y4m --radius 2 -o wanted.y4m --backend "$engine" -y
expect 0 filter spots.y4m --radius 2 --despot -o both.y4m --backend "$engine" -y
grep -q '^spots  *[0-9.]* pixels per frame were replaced$' "$scratch/out" || fail "no count of spots"
cmp -s both.y4m wanted.y4m || fail "--despot is not what comes first"
for size in 16x16 8x8 1x1; do
    clip tiny yuv420p $size 4
    despots tiny
done
clip one yuv420p 48x32 1
expect 0 filter one.y4m --despot --strength 0 -o clean.y4m -y --backend "$engine"
tail -n +2 one.y4m >a
tail -n +2 clean.y4m | cmp -s - a || fail "one frame alone was changed"
# What is not measured is not said to be 0, and what --despot cannot do is said.
says 'warning: one.y4m: --despot needs three frames or more'
grep -q '^noise  *not measured: with --strength 0 ' "$scratch/out" || fail "noise is said to be measured with --strength 0"
expect 0 filter one.y4m -o clean.y4m -y --backend "$engine"
grep -q '^noise  *not measured: .*; give --noise a number$' "$scratch/out" || fail "noise is said to be measured in one frame"
expect 0 filter one.y4m --noise 5 -o clean.y4m -y --backend "$engine"
grep -q '^noise  *5\.00 steps of 8-bit samples' "$scratch/out" || fail "noise that was given is not said"

# Both engines; with Vulkan there is one more.
if [ "$engine" = cpu ] && have_vulkan; then
    expect 0 filter even.y4m -o cpu.y4m --backend cpu
    expect 0 filter even.y4m -o vulkan.y4m --backend vulkan
    cmp cpu.y4m vulkan.y4m || fail "engines differ"
    # More samples than a tile of the kernels has, and less than a window.
    clip tiles yuv422p10le 95x63 5 scale=288:192
    clip few yuv420p 5x3 4
    for options in "--spatial 1" "--spatial 0.5 --fields same" "--spatial 2 --strength 0"; do
        for name in even tiles few; do
            for on in cpu vulkan; do
                # shellcheck disable=SC2086 # several words
                run filter $name.y4m -o $on.y4m -y --backend $on --radius 2 --noise 9 $options # --fields warns of progressive video
                [ "$status" -eq 0 ] || fail "$options: $name: exit status $status"
            done
            cmp cpu.y4m vulkan.y4m || fail "$options: engines differ in $name"
            "$filter_oracle" samples vulkan.y4m >found
            changes $name
        done
    done
    for pad in 96:112:0:24 129:97:33:17; do
        ffmpeg -nostdin -v error -y -i bars.y4m -vf pad=$pad padded.y4m
        expect 0 filter padded.y4m -o cpu.y4m -y --backend cpu
        expect 0 filter padded.y4m -o vulkan.y4m -y --backend vulkan
        cmp cpu.y4m vulkan.y4m || fail "engines differ with bars of $pad"
    done
fi

# For an encoder: noise counts as at least what it removes, by its quality, and as twice as strong at most.
clip types yuv420p 96x64 14 loop=2:1:5
least="252 PPPPPPPPPPPPPP"
for encoder in x264 x265; do
    agrees types 4 16 32 -1 --for $encoder --qp 32
    agrees types 4 16 32 200 --for $encoder --crf 31.6 --noise 2
    agrees types 4 16 32 100 --for $encoder --crf 31.6 --noise 1
done
"$gpume" filter - --for x264 --qp 32 --noise 1 -o piped.y4m --backend "$engine" -q <types.y4m || fail "--for a pipe"
cmp -s piped.y4m filtered.y4m || fail "a pipe, or another encoder, changes what --for does at one QP"
# CRF 45 of SVT-AV1 is as coarse as QP 36.
clip halved yuv420p 64x64 33
least="365 $(printf "P%.0s" $(seq 33))"
agrees halved 2 16 32 -1 --for svt-av1 --crf 45 --strength 1
# It filters frames itself, so this filter has a quarter of the usual strength.
agrees halved 2 16 8 -1 --for svt-av1 --crf 45
expect 0 filter halved.y4m --for svt-av1 --qp 45 --radius 2 -o other.y4m -y --backend "$engine"
cmp -s other.y4m filtered.y4m || fail "--qp of SVT-AV1 is no --crf"
# A bitrate stands for the CRF that gpume scenes finds for this size.
least=
for encoder in x264 x265; do
    expect 0 scenes types.y4m --format av1an --encoder $encoder --target-size 3500 --backend "$engine"
    crf=$(tr -d '\n ' <"$scratch/out" | sed -n 's/.*"--crf","\([0-9.]*\)".*/\1/p')
    [ -n "$crf" ] || fail "$encoder: no CRF for a size"
    expect 0 filter types.y4m --for $encoder --crf "$crf" -o crf.y4m -y --backend "$engine"
    expect 0 filter types.y4m --for $encoder --bitrate 50 -o bitrate.y4m -y --backend "$engine"
    cmp -s crf.y4m bitrate.y4m || fail "$encoder: 50 kbit/s are not CRF $crf"
done
for bitrate in 50k 0.05M; do
    expect 0 filter types.y4m --for $encoder --bitrate $bitrate -o crf.y4m -y --backend "$engine"
    cmp -s crf.y4m bitrate.y4m || fail "--bitrate $bitrate is not --bitrate 50"
done
[ ! -s "$scratch/err" ] || fail "a warning of 50 kbit/s"
expect 0 filter types.y4m --for $encoder --bitrate 2000000 -o crf.y4m -y --backend "$engine"
names --bitrate 2000000 2000k
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "two warnings of one bitrate"
expect 0 filter types.y4m --for $encoder --bitrate 2000M -o crf.y4m -y --backend "$engine"
says "--bitrate: 2000000 kbit/s are more than the video can use; filtered as with --crf 1,"
expect 0 filter types.y4m --for $encoder --bitrate 1k -o crf.y4m -y --backend "$engine"
says "--bitrate: 1 kbit/s are too few for the video; filtered as with --crf 51,"
expect 0 filter halved.y4m --radius 2 -o plain.y4m --backend "$engine"
cmp -s plain.y4m other.y4m && fail "--for changes nothing"

# Repeated frames stay equal, and are written as often as they came.
clip repeats yuv420p 64x48 5 loop=2:1:1,loop=1:1:4
agrees repeats 4 5 32 -1
changes repeats
clip still yuv420p 64x48 1
ffmpeg -nostdin -v error -y -i still.y4m -vf loop=600:1 stills.y4m
expect 0 filter stills.y4m -o same.y4m --backend "$engine" --noise 10
[ "$(wc -c <same.y4m)" -eq "$(($(head -1 same.y4m | wc -c) + 601 * (64 * 48 * 3 / 2 + 6)))" ] || fail "not 601 frames"
"$filter_oracle" samples still.y4m >one
tail -c +$(($(head -1 same.y4m | wc -c) + 7)) same.y4m | head -c $((64 * 48 * 3 / 2)) >found
"$filter_oracle" samples still.y4m | od -An -v -tu2 -w2 | tr -d ' ' >a
od -An -v -tu1 -w1 found | tr -d ' ' >b
cmp -s a b || fail "a still picture was changed"

# No noise, nothing to do: the samples are the input's.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=96x64:r=25 -frames:v 6 -pix_fmt yuv444p clean.y4m
for options in "" "--strength 0" "--noise 0" "--noise 0 --for x264 --crf 40"; do
    name=clean
    [ -z "$options" ] || name=even
    expect 0 filter $name.y4m -o unchanged.y4m -y --backend "$engine" $options
    "$filter_oracle" samples $name.y4m >a
    "$filter_oracle" samples unchanged.y4m >b
    cmp -s a b || fail "$name $options: changed"
done

# Across a change of scene nothing is taken: each scene is filtered as if it were alone, even where most of both is the
# same gray.
box=drawbox=w=58:h=64:color=gray:t=fill
for gray in no yes; do
    [ $gray = yes ] || box=null
    clip before yuv420p 96x64 6 "$box"
    clip after yuv420p 96x64 6 "negate,hflip,vflip,$box"
    ffmpeg -nostdin -v error -y -i before.y4m -i after.y4m -filter_complex concat both.y4m
    for noise in 3 8; do
        for name in before after both; do
            expect 0 filter $name.y4m -o $name.out.y4m -y --backend "$engine" --noise $noise
            "$filter_oracle" samples $name.out.y4m >$name.samples
        done
        cat before.samples after.samples | cmp -s - both.samples || fail "a change of scene leaks, noise $noise, gray $gray"
    done
    box=drawbox=w=58:h=64:color=gray:t=fill
done
agrees both 4 5 32 800 --noise 8
clip before yuv420p 96x64 4 "$(dirty)"
clip after yuv420p 96x64 4 "negate,hflip,vflip,$(dirty)"
ffmpeg -nostdin -v error -y -i before.y4m -i after.y4m -filter_complex concat both.y4m
for name in before after both; do
    despots $name
    mv found $name.samples
done
cat before.samples after.samples | cmp -s - both.samples || fail "a change of scene leaks into spots"
"$filter_oracle" samples both.y4m | cmp -s - both.samples && fail "no spot was found beside a change of scene"

# Light that changes: a fade is filtered, and its means stay.
clip fade yuv420p 96x64 6 fade=out:0:12
agrees fade 4 5 32 300 --noise 3
changes fade

# What Y4M says of the input is kept, and FFV1 holds the same samples.
# From FFmpeg 7.1 on, what frames say of colours overrules options of the output.
sed '1s/ C420[a-z0-9]*/ C420paldv/' even.y4m >paldv.y4m
colours=range=pc:color_primaries=bt709:color_trc=bt709:colorspace=bt709
ffmpeg -nostdin -v error -y -i paldv.y4m -vf "setsar=4/3,setparams=field_mode=tff:$colours" -color_range pc -colorspace bt709 \
    -color_trc bt709 -color_primaries bt709 -chroma_sample_location topleft -c:v ffv1 said.mkv
expect 0 filter said.mkv -o said.y4m --backend "$engine"
head -1 said.y4m | grep -q '^YUV4MPEG2 W96 H64 F25:1 I. A4:3 C420paldv XCOLORRANGE=FULL$' || fail "the head: $(head -1 said.y4m)"
"$filter_oracle" samples said.y4m >a
for ending in mkv nut; do
    expect 0 filter said.mkv -o out.$ending --backend "$engine"
    ffmpeg -nostdin -v error -y -i out.$ending -f rawvideo -pix_fmt yuv420p b || fail "$ending cannot be read"
    od -An -v -tu1 -w1 b | tr -d ' ' >c
    od -An -v -tu2 -w2 a | tr -d ' ' | cmp -s - c || fail "$ending has other samples"
done
expect 0 filter even10.y4m -o out10.mkv --backend "$engine"
expect 0 filter even10.y4m --backend "$engine"
mv "$scratch/out" out10.y4m
ffmpeg -nostdin -v error -y -i out10.mkv -strict -1 out10.again.y4m
"$filter_oracle" samples out10.y4m >a
"$filter_oracle" samples out10.again.y4m | cmp -s - a || fail "10 bits in FFV1"
if have ffprobe; then
    ffprobe -v error -show_entries stream=color_range,color_space,color_transfer,color_primaries,chroma_location -of csv=p=0 \
        out.mkv >tags
    [ "$(cat tags)" = pc,bt709,bt709,bt709,topleft ] || fail "colours of FFV1: $(cat tags)"
fi

# HDR10 is kept in .mkv, where FFmpeg can make it.
if have ffprobe && ffmpeg -nostdin -v error -y -i even10.y4m -c:v libx265 -x265-params \
    "log-level=0:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400" \
    hdr.mkv 2>/dev/null; then
    expect 0 filter hdr.mkv -o hdr.out.mkv --backend "$engine"
    for name in hdr hdr.out; do
        ffprobe -v error -read_intervals %+#1 -show_frames -show_streams $name.mkv |
            grep -E '^(red_|green_|blue_|white_|min_lum|max_lum|max_content|max_average)' | sort -u |
            awk -F '[=/]' '{ printf "%s %.5f\n", $1, ($3 > 0 ? $2 / $3 : $2) }' | sort -u >$name.light
    done
    [ "$(wc -l <hdr.light)" -eq 12 ] || fail "no HDR10 data in the input"
    cmp -s hdr.light hdr.out.light || fail "HDR10: $(diff hdr.light hdr.out.light | head -3)"
fi

# What an output cannot say is warned of.
ffmpeg -nostdin -v error -y -i even.y4m -vf 'settb=1/1000,setpts=40*N+120*gt(N\,3)' -fps_mode passthrough -enc_time_base 1:1000 -c:v ffv1 \
    uneven.mkv || fail "no uneven times"
expect 0 filter uneven.mkv -o uneven.y4m --backend "$engine"
says "frame 4 is not where"
expect 0 filter uneven.mkv -o even.times.mkv --backend "$engine"
[ ! -s "$scratch/err" ] || fail "a warning, though .mkv has times"
expect 0 filter said.mkv -o said.nut --backend "$engine" -y
says "said.nut"
ffmpeg -nostdin -v error -y -i even.y4m -c:v ffv1 -metadata:s:v rotate=90 turned.mov 2>/dev/null
ffmpeg -nostdin -v error -y -display_rotation -90 -i even.y4m -c:v ffv1 turned.mov 2>/dev/null
if have ffprobe && ffprobe -v error -show_streams turned.mov | grep -q '^rotation=-90'; then
    expect 0 filter turned.mov -o turned.y4m --backend "$engine"
    says "rotated by 90 degrees"
    says "transpose=clock"
    for output in --overlay=turned.png --residual=turned.mkv --report=turned.HTML --report-dir=turned.pages; do
        expect 0 turned.mov --frames 1 $output --backend "$engine"
        says "transpose=clock"
    done
    expect 0 turned.mov --frames 1 --vectors turned.csv --report turned.json --backend "$engine"
    [ ! -s "$scratch/err" ] || fail "a warning, though nothing is drawn"
    expect 0 filter turned.mov --vf transpose=clock -o turned.y4m -y --backend "$engine"
    [ ! -s "$scratch/err" ] || fail "a warning, though it was turned"
fi

# Layouts that are no planes, and a range of frames.
ffmpeg -nostdin -v error -y -i even.y4m -vf format=nv12 -c:v rawvideo nv12.nut
expect 0 filter nv12.nut -o a.y4m --backend "$engine"
expect 0 filter even.y4m -o b.y4m --backend "$engine"
tail -n +2 a.y4m >a
tail -n +2 b.y4m | cmp -s - a || fail "nv12 and planes differ"
expect 0 filter even.y4m --start 2 --frames 3 -o part.y4m --backend "$engine"
expect 0 filter even.y4m --vf trim=start_frame=2:end_frame=5 -o trimmed.y4m --backend "$engine"
cmp -s part.y4m trimmed.y4m || fail "--start, --frames"
expect 0 filter even.y4m --start 0.08s --duration 0.12s -o timed.y4m --backend "$engine"
cmp -s part.y4m timed.y4m || fail "--start and --duration as times"

refused 2 --spatial -- filter even.y4m --strength 0 --spatial 1 -o x.y4m
refused 3 --duration -- filter even.y4m --start 0.01s --duration 0.01s -o x.y4m
if ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=64x48,noise=alls=20:allf=t:all_seed=1 -frames:v 60 -pix_fmt yuv420p \
    -c:v libx264 -g 12 -bf 2 coded.mp4 2>/dev/null; then
    expect 0 filter coded.mp4 --start 31 --frames 20 -o one.y4m -y --backend "$engine" --decoders 1
    expect 0 filter coded.mp4 --start 31 --frames 20 -o two.y4m --backend "$engine" --decoders 2
    expect 0 filter coded.mp4 --vf trim=start_frame=31:end_frame=51 -o cut.y4m --backend "$engine"
    cmp -s one.y4m two.y4m && cmp -s one.y4m cut.y4m || fail "decoders, or where decoding begins, change frames"
fi

# Memory does not grow with the frames, gray or not.
if [ -n "$oracle" ] && ! checked; then
    for format in gray yuv420p; do
        for frames in 40 240; do
            ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=640x360 -frames:v $frames -pix_fmt $format -c:v ffv1 long.mkv
            "$oracle" memory "$gpume" filter long.mkv --strength 0 --threads 1 -q -o long.y4m -y >memory.$frames || fail "$format: memory"
        done
        grew=$(($(cat memory.240) - $(cat memory.40)))
        [ $grew -lt 20000 ] || fail "$format: 200 frames take $grew KiB more"
    done
fi

# --max-memory: a run that needs more is refused, and says how much is enough; with that much it has the same bytes.
engines=$engine
[ "$engine" != cpu ] || ! have_vulkan || engines="cpu vulkan" # what the means run on decides whether the search has to predict
for on in $engines; do
    for options in "" "--spatial 1" --despot "--despot --strength 0" "--fields same"; do
        # shellcheck disable=SC2086 # several words
        memory="filter even.y4m $options --backend $on -y"
        # shellcheck disable=SC2086 # several words
        run $memory --max-memory 100K -o x.y4m # --fields warns of progressive video
        [ "$status" -eq 3 ] || fail "$options: 100K are enough"
        needed=$(sed -n 's/.*; give --max-memory \([0-9]*\) .*/\1/p' "$scratch/err")
        [ "${needed:-0}" -gt 100000 ] || fail "$options: no word of the memory that is enough"
        # shellcheck disable=SC2086 # several words
        run $memory --max-memory $((needed - 1)) -o x.y4m
        [ "$status" -eq 3 ] || fail "$options: $needed bytes are more than needed"
        # shellcheck disable=SC2086 # several words
        expect 0 $memory --max-memory "$needed" -o limited.y4m
        # shellcheck disable=SC2086 # several words
        expect 0 $memory -o free.y4m
        cmp -s limited.y4m free.y4m || fail "$options: --max-memory changes the output"
        case $options in
        '') without=$needed ;;
        # 4 bytes of every sample.
        --spatial*) [ $((needed - without)) -ge $((96 * 64 * 6)) ] || fail "--spatial counts for $((needed - without)) bytes" ;;
        # At least 4 pictures, 5 copies of luma in 16 bits and 9 bytes per sample beside.
        --despot) [ $((needed - without)) -ge $((96 * 64 * (6 + 10 + 9))) ] || fail "--despot counts for $((needed - without)) bytes" ;;
        # A frame and its two fields beside what each field needs.
        --fields*) [ "$needed" -ge $((2 * 96 * 64 * 3 / 2)) ] || fail "--fields needs $needed bytes" ;;
        esac
    done
done
# What each thread keeps is counted: 16 rows of sums and weights, and with --spatial 56 of half as many numbers.
for threads in 1 9; do
    run filter even.y4m --spatial 1 --threads $threads --backend cpu --max-memory 100K -o x.y4m
    sed -n 's/.*; give --max-memory \([0-9]*\) .*/\1/p' "$scratch/err" >needed.$threads
done
[ $(($(cat needed.9) - $(cat needed.1))) -ge $((8 * 4 * (96 * 16 * 2 + 96 / 2 * 56))) ] || fail "threads need nothing: $(cat needed.*)"
# It is refused before memory is allocated that there is not.
if [ "$engine" = cpu ] && ! checked; then
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=3840x2160 -frames:v 2 -pix_fmt gray large.y4m
    (ulimit -v 800000 && "$gpume" filter large.y4m -o x.y4m --backend cpu --threads 1) >"$scratch/out" 2>"$scratch/err" </dev/null
    [ $? -eq 1 ] && grep -q "out of memory" "$scratch/err" || fail "800 MB are enough, so the next line tests nothing: $(cat "$scratch/err")"
    for options in "" "--despot" "--fields same"; do
        # shellcheck disable=SC2086 # words
        (ulimit -v 800000 && "$gpume" filter large.y4m -o x.y4m --backend cpu --threads 1 --max-memory 400M $options) >"$scratch/out" \
            2>"$scratch/err" </dev/null
        [ $? -eq 3 ] || fail "$options: allocated before --max-memory is compared: $(cat "$scratch/err")"
        says "--max-memory"
    done
    rm large.y4m
fi

# A cut input is filtered as far as it goes.
head -c $(($(wc -c <even.y4m) - 100)) even.y4m >cut.y4m
expect 0 filter cut.y4m -o cut.out.y4m --backend "$engine"
expect 0 filter even.y4m --frames 5 -o five.y4m --backend "$engine"
cmp -s cut.out.y4m five.y4m || fail "a cut input"

# The page: its figures, and pictures of a small video, which are whole frames.
expect 0 filter even.y4m --start 1 -o shown.y4m --report page.html --backend "$engine"
"$filter_oracle" samples even.y4m | od -An -v -tu2 -w2 | tail -n +$((96 * 64 * 3 / 2 + 1)) >before
"$filter_oracle" samples shown.y4m | od -An -v -tu2 -w2 >after
paste before after | awk '(NR - 1) % 9216 < 6144 { d = $1 - $2; s += d < 0 ? -d : d; n++ } END { printf "%.2f\n", s / n }' >wanted
grep -q "<dt>Mean change of luma</dt><dd>$(cat wanted)</dd>" page.html || fail "the page has another mean change than $(cat wanted)"
grep -q '">frame 1</text>' page.html || fail "the chart begins with another frame"
sed -n 's/.*<h3>Frame \([0-9]*\)<.*/\1/p' page.html >shown
[ "$(wc -l <shown)" -ge 2 ] || fail "fewer than two frames are shown"
grep -o '<img alt="[^"]*" width="96" height="64" src="data:image/png;base64,[^"]*' page.html >images
[ "$(wc -l <images)" -eq $((3 * $(wc -l <shown))) ] || fail "not three pictures per frame"
shown=0
while read -r number; do
    for kind in 1 2 3; do
        sed -n $((3 * shown + kind))p images | sed 's/.*base64,//' | base64 -d >image.png || fail "no base64"
        ffmpeg -nostdin -v error -y -i image.png -f rawvideo -pix_fmt gray image.raw || fail "no PNG"
        od -An -v -tu1 -w1 image.raw | tr -d ' ' >image.$kind
    done
    first=$(((number - 1) * 9216 + 1))
    sed -n "$first,$((first + 6143))p" before | tr -d ' ' | cmp -s - image.1 || fail "frame $number: another picture before"
    sed -n "$first,$((first + 6143))p" after | tr -d ' ' | cmp -s - image.2 || fail "frame $number: another picture after"
    paste image.1 image.2 image.3 | awk '{ v = 128 + 8 * ($2 - $1); v = v < 0 ? 0 : v > 255 ? 255 : v; if (v != $3) exit 1 }' ||
        fail "frame $number: another difference"
    shown=$((shown + 1))
done <shown
expect 0 filter even10.y4m --report page10.html --backend "$engine"
cmp -s "$scratch/out" out10.y4m || fail "--report changes the output"
refused 2 page.txt .html -- filter even.y4m -o x.y4m --report page.txt
refused 2 --report -- filter even.y4m -o x.y4m --report -
refused 2 page.html -- filter even.y4m -o x.y4m --report page.html

# Fields: each is filtered as if its lines were a video.
clip whole yuv420p 96x64 12
ffmpeg -nostdin -v error -y -i whole.y4m -vf tinterlace=interleave_top,setfield=tff,format=yuv420p interlaced.y4m
# part NAME PARITY: the fields of a video.
part() {
    ffmpeg -nostdin -v error -y -i "$1.y4m" -vf "setfield=tff,separatefields,select=eq(mod(n\\,2)\\,$2),setfield=prog" -f yuv4mpegpipe part.y4m
}
for options in "--noise 5" "--for x264 --crf 30" "--despot --strength 0 -w 8x4"; do
    # shellcheck disable=SC2086 # words
    expect 0 filter interlaced.y4m --fields same -o woven.y4m -y --backend "$engine" $options
    head -1 woven.y4m | grep -q ' It ' || fail "the order of fields is lost: $(head -1 woven.y4m)"
    for parity in 0 1; do
        part interlaced $parity
        # shellcheck disable=SC2086
        expect 0 filter part.y4m -o field.y4m -y --backend "$engine" $options
        "$filter_oracle" samples field.y4m >wanted
        part woven $parity
        "$filter_oracle" samples part.y4m | cmp -s - wanted || fail "field $parity, $options: not filtered alone"
    done
done
# The CRF of a bitrate is found from the first 64 of every 256 frames: what the others show does not count, unless the video ends
# before 320 frames.
for on in 0 'between(n,66,254)'; do
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=64x48:25 -vf "noise=alls=90:allf=t:enable='$on'" -frames:v 320 -pix_fmt yuv420p "long${#on}.y4m"
    ffmpeg -nostdin -v error -y -i "long${#on}.y4m" -frames:v 319 "short${#on}.y4m"
done
crf_of() { # INPUT OPTION...
    expect 0 filter "$@" --for x264 --bitrate 8 -v -o long.out.y4m --backend "$engine" -y
    [ "$(grep -c 'are about CRF' "$scratch/err")" -eq 1 ] || fail "$*: not one CRF"
    sed -n 's/.*are about CRF //p' "$scratch/err"
}
quiet=$(crf_of long1.y4m)
for run in 1 2 3 4; do # frames that are left out must not reach the buffers of those that are being read
    [ "$quiet" = "$(crf_of long17.y4m)" ] || fail "run $run: frames from 64 to 255 of a long video count for the CRF"
done
[ "$quiet" != "$(crf_of long1.y4m --frames 32)" ] || fail "frames before frame 64 do not count for the CRF"
loud=$(crf_of short17.y4m)
[ "$loud" -gt "$(crf_of short1.y4m)" ] || fail "frames from 64 to 255 do not count for the CRF of a short video"
[ "$loud" = "$(crf_of long17.y4m --frames 319)" ] || fail "--frames: another CRF than of as short a video"
ffmpeg -nostdin -v error -y -i short17.y4m -c:v mpeg2video -q 2 short.m2v # which does not say how many frames it has
[ "$(crf_of short.m2v)" = "$(crf_of short.m2v --frames 319)" ] || fail "frames of a short video of unknown length do not count"
# The CRF of a bitrate is that of whole frames, which the encoder gets; -v says so.
expect 0 filter interlaced.y4m --for x264 --bitrate 50 -v -o frames.y4m --backend "$engine" -y
crf=$(sed -n 's/.*are about CRF \([0-9]*\)$/\1/p' "$scratch/err")
expect 0 filter interlaced.y4m --fields same --for x264 --bitrate 50 -v -o frames.y4m --backend "$engine" -y
says "are about CRF ${crf:-unknown} for whole frames"
expect 0 filter interlaced.y4m -o frames.y4m --backend "$engine" -y
says "--fields"
expect 0 filter whole.y4m --fields same --frames 2 -o frames.y4m --backend "$engine" -y
says "progressive"
# A last line of even number has no partner: the other field's last line stands for it.
clip odd gray 75x53 6
ffmpeg -nostdin -v error -y -i odd.y4m -vf 'split[a][b];[b]crop=75:1:0:51[c];[a][c]vstack' even54.y4m
for name in odd even54; do
    expect 0 filter $name.y4m --fields same -o $name.out.y4m --backend "$engine" -q -y
    ffmpeg -nostdin -v error -y -i $name.out.y4m -vf crop=75:53:0:0 -f rawvideo $name.raw
done
cmp -s odd.raw even54.raw || fail "the last line of an odd height"
for size in 1x1 5x2 8x3 33x6; do
    clip tiny yuv420p $size 3
    expect 0 filter tiny.y4m --fields same --noise 5 -o tiny.out.y4m --backend "$engine" -q -y
    [ "$(wc -c <tiny.out.y4m)" -gt 0 ] && [ "$(tail -n +2 tiny.out.y4m | wc -c)" -eq "$(tail -n +2 tiny.y4m | wc -c)" ] || fail "$size: another size"
done

# What is refused.
refused 2 --strength -- filter even.y4m --strength 2.5 -o x.y4m
refused 2 --noise -- filter even.y4m --noise much -o x.y4m
refused 2 --noise -- filter even.y4m --noise 51 -o x.y4m
refused 2 --radius -- filter even.y4m --radius 5 -o x.y4m
refused 2 --metric -- filter yuv420p16le.y4m --metric ssd -o x.y4m # costs of more than 32 bits
refused 2 -w -- filter even.y4m -w 0 -o x.y4m
refused 2 --for vp9 -- filter even.y4m --for vp9 --crf 30 -o x.y4m
refused 2 --crf 63 -- filter even.y4m --for svt-av1 --crf 64 -o x.y4m
refused 2 --bitrate svt-av1 -- filter even.y4m --for svt-av1 --bitrate 500 -o x.y4m
refused 2 --bitrate --crf -- filter even.y4m --for x264 --bitrate 500 --crf 30 -o x.y4m
refused 2 --bitrate --for -- filter even.y4m --bitrate 500 -o x.y4m
refused 3 yuv420p.y4m --bitrate -- filter yuv420p.y4m --for x264 --bitrate 500 -o x.y4m
refused 2 --bitrate 0.5k kbit/s -- filter even.y4m --for x264 --bitrate 0.5k -o x.y4m
refused 2 --bitrate 2000001 2000000 kbit/s 345k -- filter even.y4m --for x264 --bitrate 2000001 -o x.y4m
refused 2 --bitrate 0 -- filter even.y4m --for x264 --bitrate 0 -o x.y4m
refused 2 --for --crf -- filter even.y4m --for x264 -o x.y4m
refused 2 --crf --for -- filter even.y4m --crf 30 -o x.y4m
refused 2 --crf --qp -- filter even.y4m --for x264 --crf 30 --qp 30 -o x.y4m
for quality in "--crf 0" "--qp 0" "--qp 52"; do
    # shellcheck disable=SC2086 # two words
    refused 2 "$quality" x264 51 -- filter even.y4m --for x264 $quality -o x.y4m
done
refused 2 --duration 10s -- filter even.y4m --duration 10 -o x.y4m
says "for 10 seconds write 10s"
for flag in --despot -y; do
    refused 2 $flag -- filter even.y4m $flag 1 -o x.y4m
    says "$flag: takes no value; leave out 1"
done
for bitrate in 2m 500kbit 2MB; do
    refused 2 $bitrate kbit/s -- filter even.y4m --for x264 --bitrate $bitrate -o x.y4m
    says "suffixes are k, M and G"
done
refused 2 "--crf 52" x264 -- filter even.y4m --for x264 --crf 52 -o x.y4m
refused 2 --bitrate -- filter - --for x264 --bitrate 300 -o x.y4m
refused 2 --resume -- filter even.y4m --resume -o x.y4m
refused 2 x.png -- filter even.y4m -o x.png
refused 2 x.mp4 -- filter even.y4m -o x.mp4
refused 2 five.y4m -- filter even.y4m -o five.y4m
refused 2 even.y4m -- filter even.y4m -o even.y4m -y
refused 2 --duration -- filter even.y4m --start 2 --duration 1s -o x.y4m
refused 3 --start -- filter even.y4m --start 100 -o x.y4m
refused 3 --start -- filter even.y4m --start 100s -o x.y4m
refused 3 absent.mkv -- filter absent.mkv -o x.y4m
ffmpeg -nostdin -v error -y -i even.y4m -vf format=gbrp -c:v ffv1 rgb.mkv
refused 3 rgb.mkv --vf -- filter rgb.mkv -o x.y4m
ffmpeg -nostdin -v error -y -i even.y4m -vf format=gray14le -c:v rawvideo gray14.nut
refused 3 gray14.nut --vf -- filter gray14.nut -o x.y4m
ffmpeg -nostdin -v error -y -i even.y4m -vf format=yuva420p -c:v ffv1 alpha.mkv
refused 3 alpha.mkv yuva420p -- filter alpha.mkv -o x.y4m
if ffmpeg -nostdin -v error -y -i even.y4m -vf format=yuva420p -c:v libvpx-vp9 -auto-alt-ref 0 alpha.webm 2>/dev/null; then
    refused 3 alpha.webm --vf -- filter alpha.webm -o x.y4m
    expect 0 filter alpha.webm --vf format=yuv420p -o opaque.y4m --backend "$engine"
fi
expect 0 filter even.y4m --strength 0 --noise 20 -o idle.y4m --backend "$engine"
says "--strength 0"
says "--noise"
expect 0 filter rgb.mkv --vf format=yuv444p -o rgb.y4m --backend "$engine"
[ ! -e x.y4m ] || fail "a refused run left a file"

# A signal: one line, and nothing is left.
if env --default-signal=INT true 2>/dev/null; then
    make_clip clip.y4m 64 48 8 30
    feed 20
    launch INT filter slow -o x.y4m --noise 5
    wait_for has_temporary x.y4m
    kill -s INT $pid
    wait $pid
    [ $? -eq 1 ] || fail "a signal: another exit status than 1"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "a signal: not one line"
    says interrupted
    drain
    [ ! -e x.y4m ] || fail "an interrupted run left a file"
fi
[ -z "$(ls -A | grep tmp)" ] || fail "temporary files are left"
