#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Videos state the shape of pixels: the input's own, of a field twice as high, and nothing where pixels are square.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 48 8 2

# shaped ASPECT: a clip.y4m whose header says so.
shaped() {
    { head -1 clip.y4m | sed "s/ A[0-9:]*//; s/\$/ A$1/"; tail -n +2 clip.y4m; } >shaped.y4m
}

# says_shape SHAPE OPTIONS: in every video of a run.
says_shape() {
    shape=$1
    shift
    expect 0 -qy shaped.y4m --backend cpu -b 16 --overlay o.y4m --predicted p.y4m --residual r.y4m "$@"
    for file in o.y4m p.y4m r.y4m; do
        got=$(head -1 $file | tr ' ' '\n' | grep '^A')
        [ "$got" = "A$shape" ] || fail "$file of $*: $got, not A$shape"
    done
}

for square in 0:0 3:3 x:y; do
    shaped $square
    says_shape 0:0
done
says_shape 1:2 --fields same
shaped 128:117
says_shape 128:117
says_shape 64:117 --fields nearest
says_shape 128:117 --vf null
says_shape 2:3 --vf setsar=2/3
says_shape 1:3 --vf setsar=2/3 --fields same
says_shape 0:0 --vf setsar=1
says_shape 0:0 --vf scale=32:24
shaped 2147483647:2147483646
says_shape 2147483647:2147483646

have ffprobe || skip "no ffprobe: only Y4M was tried"
shaped 15:11
for name in o.mkv o.nut o.mp4; do
    ffmpeg -v error -encoders 2>/dev/null | grep -q libx264 || [ $name != o.mp4 ] || continue
    for fields in none same; do
        expect 0 -qy shaped.y4m --backend cpu -b 16 --fields $fields --overlay $name --predicted p_$name
        shape=$([ $fields = same ] && echo 15:22 || echo 15:11)
        for file in $name p_$name; do
            got=$(ffprobe -v error -select_streams v -show_entries stream=sample_aspect_ratio -of csv=p=0 $file)
            [ "$got" = "$shape" ] || fail "$file of fields $fields: $got, not $shape"
        done
    done
done
# Containers and codecs pass it on as inputs, too.
expect 0 -qy p_o.mkv --backend cpu -b 16 --predicted p.y4m
head -1 p.y4m | grep -q ' A15:22 ' || fail "not that of a Matroska file: $(head -1 p.y4m)"
