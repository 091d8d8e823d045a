#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What can be an input, and what is said of what cannot: exit status 3.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 40 28 8 6
mkdir keep
cp clip.y4m keep/

# bad NAME: refused, named, and nothing is left behind.
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
says missing.mp4
bad keep
says keep
: >empty.mp4
bad empty.mp4
says empty.mp4
echo "This is a text and no video." >text.txt
bad text.txt
says text.txt
echo "This is a text and no video." >text.mp4
bad text.mp4
says text.mp4
head -c 3000 /dev/zero >zero.mp4
bad zero.mp4
bad none%03d.png
if [ "$(id -u)" -ne 0 ]; then
    cp clip.y4m locked.y4m
    chmod 0 locked.y4m
    bad locked.y4m
    says locked.y4m
fi

# Too few frames.
make_clip one.y4m 40 28 8 1
bad one.y4m
says "one.y4m"
bad clip.y4m --ref-distance 6
says "6 frames"
says "needs 7"
bad clip.y4m --start 6
says "needs 7"
bad clip.y4m --start 1000000
bad clip.y4m -o here/there --start 9
[ ! -e here ] || fail "a folder was left behind"
expect 0 -q clip.y4m --backend "$engine" --ref-distance 5 -o five
[ "$(wc -l <five/frames.csv)" -eq 2 ] || fail "--ref-distance 5 of 6 frames gives one field"

"$gpume" - --backend "$engine" </dev/null >"$scratch/out" 2>"$scratch/err"
[ $? -eq 3 ] || fail "empty standard input"
"$gpume" - --backend "$engine" <&- >"$scratch/out" 2>"$scratch/err"
[ $? -eq 3 ] || fail "closed standard input"
[ ! -e stdin.gpume ] || fail "a folder was left behind"

# Standard input gives what the file gives.
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
expect 3 "$(printf 'two\nlines.mp4')"

have ffmpeg || { echo "ffmpeg is not here: formats are not tested"; exit 0; }
convert() { ffmpeg -v error -y "$@" </dev/null || fail "ffmpeg $*"; }

convert -f lavfi -i sine=d=0.2 sound.wav
bad sound.wav
says sound.wav

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

# A filter, and a stream by number.
convert -i clip.y4m -vf crop=24:16:8:4 crop.y4m
expect 0 -q crop.y4m --backend "$engine"
expect 0 -q clip.y4m --vf crop=24:16:8:4 --backend "$engine" -o filtered
cmp crop.gpume/vectors.csv filtered/vectors.csv || fail "--vf"
bad_with 2 clip.y4m --vf nonsense=3 -o none
says "nonsense"
convert -i crop.y4m -i clip.y4m -map 0 -map 1 -c ffv1 both.mkv
expect 0 -q both.mkv --stream 1 --backend "$engine"
cmp clip.gpume/vectors.csv both.gpume/vectors.csv || fail "--stream 1"
bad_with 2 both.mkv --stream 2 -o none
exit 0
