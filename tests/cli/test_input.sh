#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Valid inputs, and the messages for invalid ones: exit status 3.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 40 28 8 6
mkdir keep
cp clip.y4m keep/

# bad NAME: the input is refused and named, and no file stays.
bad() {
    bad_with 3 "$@"
}
bad_with() {
    bad_status=$1
    shift
    before=$(ls -A)
    expect "$bad_status" "$@" --backend "$engine"
    [ "$(ls -A)" = "$before" ] || fail "$*: something was left behind"
}
bad missing.mp4
names missing.mp4
bad keep
names keep
for name in empty.mp4 empty.y4m; do
    : >"$name"
    bad "$name"
    names "$name"
done
echo "This is a text and no video." >text.txt
bad text.txt
names text.txt
echo "This is a text and no video." >text.mp4
bad text.mp4
names text.mp4
head -c 3000 /dev/zero >zero.mp4
bad zero.mp4
bad none%03d.png
# A name that is wrong, or of a folder, is what is wrong, also where an option needs a file that can be read twice.
mkdir folder.mp4
for input in none.mp4 folder.mp4; do
    for options in "--start 1s" "--duration 1s"; do
        # shellcheck disable=SC2086 # two words
        refused 3 $input -- $input --backend "$engine" $options
    done
    refused 3 $input -- firstpass $input --encoder x264 --crf 24 --filter 1 -o pass
    refused 3 $input -- filter $input --for x264 --bitrate 300 -o filtered.y4m
done
rmdir folder.mp4
refused 2 --start -- none%03d.png --backend "$engine" --start 1s
if [ "$(id -u)" -ne 0 ]; then
    cp clip.y4m locked.y4m
    chmod 0 locked.y4m
    bad locked.y4m
    names locked.y4m
fi

# says_not TEXT: the last run's standard error does not contain it.
says_not() {
    ! grep -qF -- "$1" "$scratch/err" || fail "the error says '$1'"
}

# Too few frames: the message says how many exist and how many are needed, and names the options
# that need them.
make_clip one.y4m 40 28 8 1
for direction in past future both; do
    bad one.y4m --direction $direction
    names one.y4m 1 2
    says_not --
done
bad clip.y4m --ref-distance 6
names clip.y4m 6 --ref-distance 7
bad clip.y4m --start 6
names 6 --start 7
bad clip.y4m --start 6 --ref-distance 6
names --start 6 --ref-distance 7
bad clip.y4m --start 5 --direction future
names 6 --start 5 --direction 7
bad clip.y4m --start 6 --direction both
names --start 6 7
bad clip.y4m --vf trim=end_frame=1
names clip.y4m 1 --vf trim=end_frame=1 2
refused 3 one.y4m 1 2 -- bench one.y4m --backend cpu
bad clip.y4m --start 1000000
bad clip.y4m -o here/there --start 9
[ ! -e here ] || fail "a folder was left behind"
expect 0 -q clip.y4m --backend "$engine" --ref-distance 5 -o five
[ "$(wc -l <five/frames.csv)" -eq 2 ] || fail "--ref-distance 5 of 6 frames gives one field"

"$gpume" - --backend "$engine" </dev/null >"$scratch/out" 2>"$scratch/err"
[ $? -eq 3 ] || fail "empty standard input"
"$gpume" - --backend "$engine" <&- >"$scratch/out" 2>"$scratch/err"
[ $? -eq 3 ] || fail "closed standard input"
"$gpume" - --backend "$engine" <one.y4m >"$scratch/out" 2>"$scratch/err"
[ $? -eq 3 ] || fail "one frame on standard input"
says "standard input: has 1 frame;"
[ ! -e stdin.gpume ] || fail "a folder was left behind"

# Pictures with a side above the search's limit: the message names the file and the size.
printf 'YUV4MPEG2 W1048577 H1 Cmono\nFRAME\n' >wide.y4m
head -c 1048577 /dev/zero >>wide.y4m
printf 'YUV4MPEG2 W1 H1048577 Cmono\nFRAME\n' >tall.y4m
head -c 1048577 /dev/zero >>tall.y4m
printf 'YUV4MPEG2 W2097153 H1 Cmono\nFRAME\n' >wider.y4m # FFmpeg does not open it
head -c 2097153 /dev/zero >>wider.y4m
bad wide.y4m
names wide.y4m 1048577x1 1048576
bad tall.y4m
names tall.y4m 1x1048577
bad wider.y4m
names wider.y4m 2097153x1
bad tall.y4m wide.y4m
names tall.y4m 1x1048577
refused 3 wide.y4m 1048577x1 -- bench wide.y4m --backend cpu
bad clip.y4m --vf crop=1:1,pad=1:1048577
names clip.y4m 1x1048577 --vf crop=1:1,pad=1:1048577

header=$(head -1 clip.y4m | wc -c)
# warns_cut FRAMES BYTES: the last run succeeded, and one warning names the incomplete frame.
warns_cut() {
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not exactly one line of warning"
    names "$1" "$2" 1120
}
frame=$((6 + 40 * 28))
[ "$(wc -c <clip.y4m)" -eq $((header + 6 * frame)) ] || fail "clip.y4m is not what this test takes it for"

# Truncated within the last frame, in its FRAME line or after it: complete frames are used, with a
# warning.
head -c $((header + 5 * frame)) clip.y4m >five.y4m
expect 0 -q five.y4m --backend "$engine" -o whole
[ ! -s "$scratch/err" ] || fail "frames that are all whole: a warning"
for there in 1119 1 0 -1 -5; do
    head -c $((header + 5 * frame + 6 + there)) clip.y4m >cut.y4m
    [ $there -gt 0 ] || there=0
    expect 0 -qy cut.y4m --backend "$engine" -o cut
    warns_cut 5 $there
    names cut.y4m
    cmp whole/vectors.csv cut/vectors.csv || fail "a cut frame changes the whole ones"
    grep -q '"refused": 1,' cut/summary.json || fail "a cut frame is not counted"
    cat cut.y4m | "$gpume" -qy - --backend "$engine" -o cut 2>"$scratch/err" || fail "cut in a pipe"
    warns_cut 5 $there
    says "standard input: frame"
    cmp whole/vectors.csv cut/vectors.csv || fail "a cut frame changes the whole ones, in a pipe"
done
sed 's/FRAME/FRAME Ip/' clip.y4m | head -c $((header + 3 * (frame + 3) + 9 + 1119)) >cut.y4m
expect 0 -qy cut.y4m --backend "$engine" -o cut
warns_cut 3 1119
expect 0 -qy cut.y4m --backend "$engine" -o cut --frames 2
[ ! -s "$scratch/err" ] || fail "the end is not reached: a warning"
# Cut within its first frame, also as one of two stills.
head -c $((header + 6 + 1120)) clip.y4m >one.y4m
for there in 1119 0; do
    head -c $((header + 6 + there)) clip.y4m >cut.y4m
    bad cut.y4m
    names cut.y4m "$there" 1120
    bad cut.y4m one.y4m
    names cut.y4m "$there"
    bad one.y4m cut.y4m
    names cut.y4m "$there"
    cat cut.y4m | "$gpume" - --backend "$engine" >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 3 ] || fail "cut in the first frame, in a pipe"
    says "standard input: "
    names "$there"
done
head -c "$header" clip.y4m >cut.y4m
bad cut.y4m
names cut.y4m 0
# gpume's own reader, for files too large for FFmpeg, prints the same messages.
printf 'YUV4MPEG2 W1000000 H500 Cmono\nFRAME\n' >large.y4m
bad large.y4m
names large.y4m 0

# Standard input gives the same result as the file.
expect 0 -q clip.y4m --backend "$engine"
only clip.gpume vectors.csv frames.csv summary.json
"$gpume" -q - --backend "$engine" <clip.y4m || fail "standard input from a file"
cmp clip.gpume/vectors.csv stdin.gpume/vectors.csv || fail "standard input from a file"
cat clip.y4m | "$gpume" -qy - --backend "$engine" || fail "standard input from a pipe"
cmp clip.gpume/vectors.csv stdin.gpume/vectors.csv || fail "standard input from a pipe"

# Odd names, also in the name of the folder.
for name in 'a b.y4m' "it's.y4m" 'say "x".y4m' '100%.y4m' '-dash.y4m' '.hidden' 'no_extension' 'ü.y4m'; do
    cp clip.y4m "./$name"
    case $name in
    -*) expect 0 -q --backend "$engine" -- "$name" ;;
    *) expect 0 -q "$name" --backend "$engine" ;;
    esac
    folder=${name%.y4m}.gpume
    cmp clip.gpume/vectors.csv "./$folder/vectors.csv" || fail "$name: its folder is not $folder"
done
grep -q '"name": "say \\"x\\".y4m",' 'say "x".gpume/summary.json' || fail "quotes in summary.json"
head -c 10000 /dev/zero >raw.yuv
refused 3 raw.yuv Y4M -- raw.yuv
rm raw.yuv
expect 3 "$(printf 'two\nlines.mp4')"

have ffmpeg || { echo "ffmpeg is not here: formats are not tested"; exit 0; }
convert() { ffmpeg -v error -y "$@" </dev/null || fail "ffmpeg $*"; }

convert -f lavfi -i sine=d=0.2 sound.wav
bad sound.wav
names sound.wav

# Numbered pictures and stills are the clip again.
convert -i clip.y4m frame_%03d.png
expect 0 -q frame_%03d.png --backend "$engine"
cut -d, -f3- <clip.gpume/vectors.csv >want
cut -d, -f3- <frame.gpume/vectors.csv | cmp - want || fail "numbered pictures"
expect 0 -q frame_002.png frame_003.png --backend "$engine"
sed -n '/^2,1/s/^2,1,//p' clip.gpume/vectors.csv >want
sed -n 's/^1,0,//p' frame_003.gpume/vectors.csv | cmp - want || fail "two stills"
grep -q '"reference": "frame_002.png"' frame_003.gpume/summary.json || fail "stills in summary.json"
"$gpume" -q - frame_003.png --backend "$engine" -o stills <frame_002.png ||
    fail "a still from standard input"
cmp stills/vectors.csv frame_003.gpume/vectors.csv || fail "a still from standard input"

# A video is no still.
for pair in "clip.y4m frame_003.png" "frame_002.png clip.y4m" "clip.y4m clip.y4m" "frame_002.png frame_%03d.png"; do
    case $pair in *clip.y4m*) video=clip.y4m ;; *) video=frame_%03d.png ;; esac
    # shellcheck disable=SC2086 # two names
    refused 2 $video -- $pair --backend "$engine" -o none
    [ ! -e none ] || fail "two videos: a folder was left behind"
done

# An empty file among numbered pictures ends the input; a truncated one is left out.
: >frame_004.png
expect 0 -qy frame_%03d.png --backend "$engine"
names frame_%03d.png 3 4 6
mv frame_004.png missing.png
mkdir folder
cp frame_*.png folder/
for pattern in frame_%03d.png folder/frame_%03d.png; do
    expect 0 -qy $pattern --backend "$engine"
    names "$pattern" 3 frame_004.png
done
head -c 200 frame_003.png >frame_004.png
expect 0 -qy frame_%03d.png --backend "$engine"
says "refused 1 packet"
grep -q '"refused": 1,' frame.gpume/summary.json || fail "a cut picture is not counted"
# Packets that the decoder refuses only at the end of the stream are counted, too.
for threads in 1 4; do
    bad frame_004.png --threads $threads
    names frame_004.png 1
    bad frame_003.png frame_004.png --threads $threads
    names frame_004.png
done

# Truncated containers.
convert -i clip.y4m -c ffv1 clip.mkv
expect 0 -qy clip.mkv --backend "$engine"
[ ! -s "$scratch/err" ] || fail "a whole file: a warning"
bytes=$(ffprobe -v error -show_entries packet=pos -of csv=p=0 clip.mkv | tail -1 | tr -d ,)
head -c $((bytes + 20)) clip.mkv >cut.mkv
expect 0 -qy cut.mkv --backend "$engine"
names cut.mkv 5
[ "$(wc -l <cut.gpume/frames.csv)" -eq 5 ] || fail "whole frames of a cut file are left out"
bytes=$(ffprobe -v error -show_entries packet=pos -of csv=p=0 clip.mkv | head -1 | tr -d ,)
head -c $((bytes + 20)) clip.mkv >none.mkv
bad none.mkv
names none.mkv ffv1
cat none.mkv | "$gpume" -y - --backend "$engine" >"$scratch/out" 2>"$scratch/err"
says "standard input: "
names ffv1

# cut_within FILE FRAMES MORE: cut MORE bytes into its last packet, FRAMES are whole; the file and a
# pipe say so in one line, which names no other damage, and use those frames as the whole file does.
cut_within() {
    expect 0 -qy "$1" --backend "$engine" -o whole
    [ ! -s "$scratch/err" ] || fail "a whole file: a warning"
    cat "$1" | "$gpume" -qy - --backend "$engine" -o cut 2>"$scratch/err" || fail "$1 in a pipe"
    [ ! -s "$scratch/err" ] || fail "a whole file in a pipe: a warning"
    ends=$(ffprobe -v error -show_entries packet=pos -of csv=p=0 "$1" | tr -d , | sort -n | tail -1)
    head -c $((ends + $3)) "$1" >"cut_$1"
    expect 0 -qy "cut_$1" --backend "$engine" -o cut
    of=
    case $1 in *.avi | index.mp4 | *.mov) of=" of 6" ;; esac # whose headers count the frames
    once "cut_$1: reading breaks off after $2$of frames: the input is cut; only that part is used"
    [ "$(wc -l <cut/frames.csv)" -eq "$2" ] || fail "not the whole frames of a cut file"
    head -n "$(wc -l <cut/vectors.csv)" whole/vectors.csv | cmp - cut/vectors.csv ||
        fail "a cut frame changes the whole ones"
    cat "cut_$1" | "$gpume" -qy - --backend "$engine" -o cut 2>"$scratch/err" || fail "$1 in a pipe"
    once "standard input: reading breaks off after $2$of frames: the input is cut;"
}
# once TEXT: the last run's standard error is one line, which contains it.
once() {
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not exactly one line"
    says "$1"
}
convert -i clip.y4m -c mpeg4 -bf 0 mpeg4.avi
convert -i clip.y4m -c mjpeg -pix_fmt yuvj420p mjpeg.avi
convert -i clip.y4m -c flv flv1.flv
convert -i clip.y4m -c mpeg4 -bf 0 -movflags faststart index.mp4
convert -i clip.y4m -c mpeg4 -bf 0 -movflags frag_keyframe+empty_moov pieces.mp4
convert -i clip.y4m -c png -movflags faststart png.mov
for name in mpeg4.avi mjpeg.avi flv1.flv index.mp4 pieces.mp4 png.mov; do
    cut_within $name 5 30
done
cut_within index.mp4 5 0 # between two frames: the index knows
grep -q '"refused": 0,' cut/summary.json || fail "a frame that is not there is counted"
cut_within index.mp4 5 1
grep -q '"refused": 1,' cut/summary.json || fail "a cut frame is not counted"
first=$(ffprobe -v error -show_entries packet=pos -of csv=p=0 png.mov | tr -d , | head -1)
head -c $((first + 100)) png.mov >none.mov
bad none.mov
once "none.mov: contains no complete frame of its png video: the input is cut;"

# Frames with concealed damage are used, with a warning: slices of each picture, one overwritten.
convert -i clip.y4m -vf scale=320:224 -c mpeg4 -g 1 -qscale 1 -ps 200 slices.avi
expect 0 -qy slices.avi --backend "$engine"
[ ! -s "$scratch/err" ] || fail "a whole file: a warning"
ffprobe -v error -show_entries packet=pos,size -of csv=p=0 slices.avi | sed -n '3p;5p' | tr , ' ' >places
while read -r size at; do
    head -c 400 /dev/zero | dd of=slices.avi bs=1 seek=$((at + size / 2)) conv=notrunc 2>/dev/null
done <places
for threads in 1 4; do
    expect 0 -qy slices.avi --backend "$engine" --threads $threads
    once "slices.avi: damaged: the decoder reported "
    says "concealed damage in 2 frames"
    [ "$(wc -l <slices.gpume/frames.csv)" -eq 6 ] || fail "a damaged frame is left out"
done

# A pipe cannot seek back from an index at the end, complete or not: the message asks for a file
# name.
convert -i clip.y4m -vf scale=320:224,noise=alls=60 -c png back.mov
expect 0 -qy back.mov --backend "$engine"
size=$(wc -c <back.mov)
[ "$size" -gt 70000 ] || fail "back.mov is small enough to be kept by a pipe's reader"
for bytes in "$size" $((size - 1)) $((size - 300)) $((size / 2)); do
    head -c "$bytes" back.mov | "$gpume" -y - --backend "$engine" >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 3 ] || fail "an index at the end of a pipe"
    once "; some files cannot be read from a pipe: give the file's name"
done
"$gpume" -qy - --backend "$engine" <back.mov || fail "an index at the end of standard input"

# A chained file is read through all its links, with any number of threads.
if ffmpeg -v error -encoders | grep -q libtheora; then
    convert -i clip.y4m -c libtheora first.ogv
    convert -i clip.y4m -vf negate -c libtheora second.ogv
    cat first.ogv second.ogv >chained.ogv
    for threads in 1 4; do
        expect 0 -q chained.ogv --backend "$engine" --threads $threads -o chained$threads
        [ ! -s "$scratch/err" ] || fail "a chained file: a warning"
        [ "$(wc -l <chained$threads/frames.csv)" -eq 12 ] || fail "not all links of a chained file"
    done
    cmp chained1/vectors.csv chained4/vectors.csv || fail "a chained file by threads"
else
    echo "this ffmpeg writes no Theora: chained files are not tested"
fi

# A filter, and a stream by number.
convert -i clip.y4m -vf crop=24:16:8:4 crop.y4m
expect 0 -q crop.y4m --backend "$engine"
expect 0 -q clip.y4m --vf crop=24:16:8:4 --backend "$engine" -o filtered
cmp crop.gpume/vectors.csv filtered/vectors.csv || fail "--vf"
bad_with 2 clip.y4m --vf nonsense=3 -o none
names --vf nonsense
convert -i crop.y4m -i clip.y4m -map 0 -map 1 -c ffv1 both.mkv
expect 0 -q both.mkv --stream 1 --backend "$engine"
cmp clip.gpume/vectors.csv both.gpume/vectors.csv || fail "--stream 1"
bad_with 2 both.mkv --stream 2 -o none
exit 0
