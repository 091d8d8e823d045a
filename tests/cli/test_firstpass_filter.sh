#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume firstpass --filter: its files are those of a first pass over what gpume filter writes, byte for byte; the printed lines, run by
# a shell, give the encoder exactly these frames; --filtered keeps what gpume filter writes, and lines that read it make the same
# encode; and what is refused.
. "$(dirname "$0")/common.sh"
have ffmpeg && have ffprobe || skip "no ffmpeg"
name="a 'b.mkv"
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=130x98:r=25,noise=alls=12:allf=t:all_seed=3 -frames:v 20 -vf "loop=2:1:7,setpts=N/25/TB,setparams=color_primaries=bt709:colorspace=smpte170m" -pix_fmt yuv420p \
    -color_primaries bt709 -colorspace smpte170m -c:v ffv1 "$name" &&
    ffmpeg -nostdin -v error -i "$name" -vf format=yuv422p10le,noise=alls=40:allf=t:all_seed=4 -frames:v 9 -c:v ffv1 deep.mkv &&
    ffmpeg -nostdin -v error -i "$name" -vf scale=out_range=pc,format=yuv420p,setparams=range=pc -color_range pc -frames:v 9 -c:v ffv1 full.mkv || fail "no clips"
mkdir bin
ln -s "$gpume" bin/gpume
PATH=$(pwd)/bin:$PATH

# filtered WANTED INPUT OPTIONS... -- OF_THE_INPUT...: the filter is told WANTED; the last options are those that it gets, too.
filtered() {
    told=$1 input=$2
    [ -n "$told" ] || fail "no CRF: $(cat "$scratch/err")"
    shift 2
    encode=
    while [ "$1" != -- ]; do
        encode="$encode $1"
        shift
    done
    shift
    rm -f one-* one.json two-* two.json three-* three.json filtered.y4m kept.y4m
    expect 0 firstpass "$input" --backend "$engine" --filter 0.5 -o one "$@" $encode
    cp "$scratch/out" printed
    line=$(grep -v '^#' printed | grep -E "\| (x26[45]|SvtAv1EncApp) " | head -1)
    [ -n "$line" ] || fail "no line of an encoder"
    filter=${line%% | *}
    case $filter in
    *"$told --strength 0.5"*" -o -") ;;
    *) fail "not $told: $filter" ;;
    esac
    sh -c "$filter --backend $engine" >filtered.y4m 2>"$scratch/err" || fail "$filter"
    expect 0 firstpass filtered.y4m --backend "$engine" -o two $encode
    for file in one-*; do
        cmp -s "$file" "two-${file#one-}" || fail "$encode: $file is not that of the filtered video"
    done
    [ "$(ls one-* | wc -l)" -eq "$(ls two-* | wc -l)" ] || fail "$encode: other files"
    keeps kept.y4m "$@" $encode
    case $line in
    *' | SvtAv1EncApp '*) ;; # older versions do not know the line's options
    *)
        ! have "$encoder" || encodes "$line" "$(grep -v '^#' "$scratch/out" | grep -E "(^|\| )x26[45] " | head -1)"
        ;;
    esac
}

# keeps FILE OPTIONS...: with --filtered the files are the same, and FILE is what gpume filter writes.
keeps() {
    kept=$1
    shift
    expect 0 firstpass "$input" --backend "$engine" --filter 0.5 --filtered "$kept" -o three "$@"
    ! grep -qF "$kept" "$scratch/err" || fail "$kept: a warning"
    ! grep -q '^gpume' "$scratch/out" && ! grep -q '"filter"' three.json || fail "$kept: the lines filter again"
    for file in one-*; do
        cmp -s "$file" "three-${file#one-}" || fail "$kept: $file changes"
    done
    [ "$(ls one-* | wc -l)" -eq "$(ls three-* | wc -l)" ] || fail "$kept: other files"
    cmp -s "$kept" "filtered.${kept##*.}" || fail "$kept is not what gpume filter writes"
}

# crf_of ENCODER OPTIONS...: the filter's options for the CRF that it finds for a bitrate.
crf_of() {
    rm -f unused.y4m
    "$gpume" filter "$name" --backend "$engine" -v --for "$@" -o unused.y4m >"$scratch/err" 2>&1 || fail "no CRF of $*"
    sed -n "s/.* kbit.s are about CRF \\([0-9]*\\)$/--for $1 --crf \\1/p" "$scratch/err"
}

# encodes LINE LINE_OF_KEPT: all frames come out, and the same of the file that was kept.
encoded=0
encodes() {
    frames=$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 filtered.y4m)
    sh -c "$(echo "$1" | sed 's/OUTPUT/coded.one/')" >"$scratch/err" 2>&1 || fail "$1"
    [ "$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 coded.one)" -eq "$frames" ] || fail "not $frames frames: $1"
    sh -c "$(echo "$2" | sed 's/OUTPUT/coded.two/')" >"$scratch/err" 2>&1 || fail "$2"
    cmp -s coded.one coded.two || fail "another encode: $2"
    encoded=$((encoded + 1))
}

for encoder in x264 x265; do
    filtered "'a '\\''b.mkv' --for $encoder --crf 26.5" "$name" --encoder $encoder --crf 30 --crf 26.5 -- --frames 15
    filtered "--for $encoder --qp 30" "$name" --encoder $encoder --qp 30 -- --vf "crop=96:64,hflip"
    filtered "$(crf_of $encoder --bitrate 80 --size 96x80)" "$name" --encoder $encoder --rung 96x80:80k --rung 96x64:40k --
done
encoder=x264
filtered "$(crf_of x264 --bitrate 90)" "$name" --encoder x264 --bitrate 60k --bitrate 90k --
filtered "mkv'" "$name" --encoder x264 --target-psnr 38 --
filtered "--crf 30" deep.mkv --encoder x264 --crf 30 --
filtered "--crf 30" full.mkv --encoder x264 --crf 30 --
filtered "mkv'" "$name" --encoder svt-av1 --bitrate 90k --

# It is a list of its own in NAME.json, and FFmpeg is told of colours that Y4M does not name.
expect 0 firstpass "$name" --backend "$engine" --filter 1 -o one -y --encoder x264 --crf 30
python3 - <<'END' || fail "one.json"
import json
commands = json.load(open("one.json"))["runs"][0]["commands"]
assert commands["filter"][:5] == ["gpume", "filter", "a 'b.mkv", "--for", "x264"], commands
assert commands["ffmpeg"][commands["ffmpeg"].index("-vf") + 1] == "setparams=color_primaries=1:colorspace=6", commands
assert "feed" not in commands, commands
END
if ffmpeg -hide_banner -encoders 2>/dev/null | grep -q ' libx264 '; then
    line=$(grep -v '^#' "$scratch/out" | head -1)
    sh -c "$(echo "$line" | sed 's/OUTPUT/coded.mkv/')" 2>"$scratch/err" || fail "$line"
    [ "$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames,color_space,color_primaries -of csv=p=0 coded.mkv)" = smpte170m,bt709,20 ] ||
        fail "by ffmpeg: $(ffprobe -v error -count_frames -show_entries stream=nb_read_frames,color_space,color_primaries -of csv=p=0 coded.mkv)"
fi

# Formats with times, colours and range: the file is that of gpume filter, and ffmpeg's line reads from it the samples that it has.
for video in "$name" full.mkv deep.mkv; do
    input=$video
    rm -f one-* one.json three-* three.json filtered.* kept.*
    expect 0 firstpass "$input" --backend "$engine" --filter 0.5 -o one --encoder x264 --crf 30
    filter=$(grep '^gpume' "$scratch/out" | head -1 | sed 's/ | .*//')
    for ending in y4m mkv nut; do
        sh -c "${filter% -o -} --backend $engine -q -o filtered.$ending" 2>"$scratch/err" || fail "$filter"
        rm -f three-* three.json
        if [ $ending = nut ] && [ "$video" = full.mkv ]; then
            expect 0 firstpass "$input" --backend "$engine" --filter 0.5 --filtered kept.nut -o three --encoder x264 --crf 30
            cmp -s kept.nut filtered.nut || fail "$video: kept.nut"
        else
            keeps kept.$ending --encoder x264 --crf 30
        fi
        line=$(grep -v '^#' "$scratch/out" | grep '^ffmpeg.* -c:v ' | head -1 | sed 's/ -c:v .*//')
        sh -c "$line -v error -strict -1 -f rawvideo read.$ending -y" 2>"$scratch/err" || fail "$video: $line"
    done
    for ending in mkv nut; do
        cmp -s read.y4m read.$ending || fail "$video: other samples are read from kept.$ending"
    done
    [ "$video" = deep.mkv ] && continue # to be encoded as 4:2:0
    ffmpeg -nostdin -v error -y -i kept.y4m -strict -1 -f rawvideo kept.raw || fail "kept.y4m"
    cmp -s read.y4m kept.raw || fail "$video: the line changes samples"
done

# Warnings are of what was asked for: not of the CRF that the filter assumes for a bitrate, and none advises what is done already.
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=176x144:r=25,noise=alls=30:allf=t -frames:v 12 -pix_fmt yuv420p grainy.y4m || fail "no noisy clip"
for bitrate in 1k 1M 90M; do
    expect 0 firstpass grainy.y4m --backend "$engine" --encoder x264 --bitrate $bitrate -o no -q
    [ $bitrate != 1M ] || names "--filter 1"
    rm no[.-]*
    expect 0 firstpass grainy.y4m --backend "$engine" --encoder x264 --bitrate $bitrate --filter 1 -o no -q
    ! grep -qE 'CRF|--filter' "$scratch/err" || fail "--bitrate $bitrate: $(cat "$scratch/err")"
    rm no[.-]*
done

for crf in 20 40; do # noise is kept at QPs that are low enough
    expect 0 firstpass grainy.y4m --backend "$engine" --encoder x264 --crf $crf -o no -q
    warnings=$(grep -c 'no-176x144-crf.*several times the expected .*--filter 1' "$scratch/err")
    [ "$warnings" -eq $((crf < 30)) ] || fail "--crf $crf: $(cat "$scratch/err")"
    rm no[.-]*
done

# The noise that an encoder leaves out is an error that is not expected, at every quality; encodes correct that.
for given in '--target-psnr 36' '--target-ssim 0.9' '--target-psnr 28 --filter 1' '--target-psnr 28 --probes 1'; do
    case $given in *probes*) have x264 || continue ;; esac
    # shellcheck disable=SC2086
    expect 0 firstpass grainy.y4m --backend "$engine" --encoder x264 $given -o no -q
    wanted=0 && case $given in *filter* | *probes*) ;; *) wanted=1 ;; esac
    warnings=$(grep -c 'no-176x144-.*may miss an* [PS].*, because of the noise; .*--probes 2.*--filter 1' "$scratch/err")
    [ "$warnings" -eq $wanted ] || fail "$given: $(cat "$scratch/err")"
    rm no[.-]*
done
expect 0 scenes grainy.y4m --backend "$engine" --format av1an --encoder x265 --target-psnr 36
grep -q 'x265 may miss a PSNR of 36 dB by far, because of the noise;' "$scratch/err" || fail "scenes: no word of noise"
expect 0 ladder grainy.y4m --backend "$engine" -q
grep -q 'PSNR may be off by far, because of the noise; .*--probes 2' "$scratch/err" || fail "ladder: no word of noise"
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=176x144:r=25 -frames:v 12 -pix_fmt yuv420p plain.y4m || fail "no clip without noise"
expect 0 ladder plain.y4m --backend "$engine" -q
! grep -q 'the noise' "$scratch/err" || fail "a clip without noise: $(cat "$scratch/err")"

# A pipe is read once, if no bitrate needs an analysis before.
"$gpume" firstpass - --backend "$engine" --filter 0.5 --filtered piped.mkv -o three -y --encoder x264 --crf 30 <full.mkv >"$scratch/out" \
    2>"$scratch/err" || fail "a pipe"
"$gpume" filter - --backend "$engine" --for x264 --crf 30 --strength 0.5 -q -o filtered.mkv -y <full.mkv || fail "a pipe"
cmp -s piped.mkv filtered.mkv || fail "a pipe: another filtered video"
refused 2 --filter -- firstpass - --encoder x264 -o no --bitrate 100k --filter 1 --filtered no.y4m

# Without a place for it, nothing has a name; nor after a signal.
(ulimit -f 40 && "$gpume" firstpass "$name" --backend "$engine" --encoder x264 --crf 30 --filter 1 --filtered no.y4m -o no) \
    >"$scratch/out" 2>"$scratch/err" </dev/null && fail "20 frames fit into 40 blocks"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "no room: not one line"
grep -qwF no.y4m "$scratch/err" || fail "no room: for which file?"
ls -A | grep -E '^\.?no[.-]' && fail "no room, and yet files"
mkfifo slow
{ head -c 100000 kept.y4m && exec sleep 86400; } >slow &
feeder=$!
launch TERM firstpass slow --encoder x264 --crf 30 --filter 1 --filtered no.y4m -o no
wait_for has_temporary no.y4m
kill -s TERM $pid
wait $pid
[ $? -eq 1 ] || fail "a signal: exit status"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "a signal: not one line"
ls -A | grep -E '^\.?no[.-]' && fail "a signal, and yet files"
drain

# What is refused.
task="firstpass full.mkv --encoder x264 -o no"
refused 2 --filter -- $task --crf 30 --bitrate 60k --filter 1
refused 2 --filter -- $task --crf 30 --filter 0
refused 2 --filter -- $task --crf 30 --filter 2.1
refused 2 --filter --verify -- $task --crf 30 --filter 1 --verify
refused 2 --filter --probes -- $task --target-psnr 40 --filter 1 --probes 1
refused 2 --filter --filtered -- firstpass - --encoder x264 -o no --crf 30 --filter 1
refused 2 --filtered --filter -- $task --crf 30 --filtered no.y4m
refused 2 --filtered - -- $task --crf 30 --filter 1 --filtered -
refused 2 --filtered /dev/null -- $task --crf 30 --filter 1 --filtered /dev/null
refused 2 no.mp4 -- $task --crf 30 --filter 1 --filtered no.mp4
refused 2 no%d.y4m -- $task --crf 30 --filter 1 --filtered no%d.y4m
refused 2 full.mkv -- $task --crf 30 --filter 1 --filtered full.mkv -y
echo mine >mine.mkv
refused 2 mine.mkv -- $task --crf 30 --filter 1 --filtered mine.mkv
[ "$(cat mine.mkv)" = mine ] || fail "an existing file was replaced"
ffmpeg -nostdin -v error -i full.mkv -vf format=gbrp -c:v ffv1 rgb.mkv
refused 3 rgb.mkv --vf -- firstpass rgb.mkv --encoder x264 -o no --crf 30 --filter 1 --filtered no.mkv
[ -z "$(ls no* 2>/dev/null)" ] || fail "a refused run left files"
echo "$encoded encodes"
