#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --predicted, --residual and --difference in every format, lossless ones sample for sample.
. "$(dirname "$0")/common.sh"
have ffmpeg || skip "ffmpeg is not here: the pictures cannot be read back"

# samples BITS ARGUMENTS: what ffmpeg decodes, as raw gray.
samples() {
    format=gray
    [ "$1" -eq 8 ] || format=gray$1le
    shift
    graph=extractplanes=y
    case $* in
    *.bmp) graph=format=bgra,extractplanes=g ;; # gray as a palette
    esac
    ffmpeg -v error -y "$@" -vf "$graph" -pix_fmt "$format" -f rawvideo got </dev/null ||
        fail "ffmpeg $*"
}

# lossless BITS NAME: all three pictures in this format. PNG and PGM hold 16-bit samples unscaled.
lossless() {
    read_bits=$1
    case $2 in
    *.png | *.pgm | *.bmp)
        [ "$1" -eq 8 ] || read_bits=16
        first='-start_number 1' ;;
    *) first= ;;
    esac
    expect 0 -q clip.y4m --backend "$engine" -w 5 --predicted "p$2" --residual "r$2" \
        --difference "d$2" --gain 1.5 --gamma 2
    for what in predicted residual difference; do
        samples $read_bits $first -i "$(echo $what | cut -c1)$2"
        gain='1.5 2'
        [ $what != predicted ] || gain=
        "$oracle" $what clip.y4m 8 5 5 extend 1 $gain >want
        cmp want got || fail "$what in $2 at $1 bits"
    done
    expect 0 -q clip.y4m --backend "$engine" -w 5 --residual "s$2" --residual-mode signed --gain 3
    samples $read_bits $first -i "s$2"
    "$oracle" signed clip.y4m 8 5 5 extend 1 3 1 >want
    cmp want got || fail "signed residual in $2 at $1 bits"
    rm -f [prds]*"${2##*.}"
}
make_clip clip.y4m 46 34 8 4
for name in %d.png %03d.pgm _%02d.bmp .y4m .mkv .nut; do
    lossless 8 $name
done
make_clip clip.y4m 46 34 10 4
for name in %d.png %d.pgm .y4m .mkv .nut; do
    lossless 10 $name
done
make_clip clip.y4m 46 34 16 3
for name in %d.png %d.pgm .mkv .nut; do
    lossless 16 $name
done

# Lossy: near.
make_clip clip.y4m 48 32 8 3
for name in %d.jpg .mp4 .webm .gif; do
    expect 0 -q clip.y4m --backend "$engine" --predicted "p$name" --difference "d$name"
    ffmpeg -v error -y $([ $name != %d.jpg ] || echo -start_number 1) -i "p$name" -fps_mode passthrough -f rawvideo \
        -pix_fmt gray got </dev/null || fail "$name cannot be read"
    [ "$(wc -c <got)" -eq $((48 * 32 * 2)) ] || fail "$name: not two pictures"
done

# Numbered by target frame; existing ones are refused; a still needs no number.
expect 0 -q clip.y4m --backend "$engine" --start 2 --predicted 'n%04d.png'
[ -e n0002.png ] || fail "pictures are numbered by their target frame"
refused 2 n0002.png -- clip.y4m --backend "$engine" --start 2 --predicted 'n%04d.png'
refused 2 plain.png -- clip.y4m --backend "$engine" --predicted plain.png
expect 0 -q clip.y4m --backend "$engine" --frames 1 --predicted plain.png
expect 0 -q plain.png plain.png --backend "$engine" --difference black.pgm
tail -c $((48 * 32)) black.pgm | tr -d '\000' | wc -c | grep -qx ' *0' || fail "black is not black"
for name in p.txt p p%d.gif p%d%d.png; do
    refused 2 "$name" -- clip.y4m --backend "$engine" --predicted $name
done
cp plain.png q0.png && cp plain.png q1.png
refused 2 q%d.png -- q0.png q1.png --backend "$engine" --difference q%d.png -y
cmp -s q1.png plain.png || fail "an input is lost"
expect 1 clip.y4m --backend "$engine" --predicted nowhere/p%d.png
expect 1 clip.y4m --backend "$engine" --predicted nowhere/p.mkv

make_clip deep.y4m 46 34 10 3
refused 2 p%d.bmp -- deep.y4m --backend "$engine" --predicted p%d.bmp -o none
[ ! -e none ] || fail "a folder was left behind"

# Standard output, also by other names, gets the bytes of a .y4m file, and nothing else; so does a pipe. One output only.
make_clip clip.y4m 46 34 10 4
for what in predicted residual difference; do
    expect 0 -q clip.y4m --backend "$engine" --$what $what.y4m
    for name in - /dev/stdout; do
        expect 0 clip.y4m --backend "$engine" --$what $name
        cmp $what.y4m "$scratch/out" || fail "--$what $name"
        [ ! -s "$scratch/err" ] || fail "--$what $name: said something"
    done
done
# NUT through a pipe has the same frames, at their times.
md5() {
    ffmpeg -v error -copyts -i "$1" -f framemd5 -fps_mode passthrough - | grep -v '^#'
}
for what in predicted overlay; do
    expect 0 -q clip.y4m --backend "$engine" --$what p.nut
    expect 0 clip.y4m --backend "$engine" --$what -.nut
    [ ! -e -.nut ] && [ ! -s "$scratch/err" ] || fail "--$what -.nut: a file, or words"
    md5 p.nut >want
    md5 - <"$scratch/out" >got
    cmp want got && [ "$(wc -l <got)" -eq 3 ] || fail "--$what -.nut: other frames"
    rm p.nut
done
mkfifo pipe
cat pipe >got &
expect 0 -q clip.y4m --backend "$engine" --predicted pipe
wait $!
cmp predicted.y4m got || fail "a pipe gets other bytes"
expect 2 clip.y4m --backend "$engine" --predicted - --residual -
says "standard output"
expect 2 clip.y4m --backend "$engine" --vectors - --residual /dev/stdout
says "standard output"
refused 2 --resume -- clip.y4m --backend "$engine" --predicted - --resume
expect 0 clip.y4m --backend "$engine" --predicted - -o with
cmp predicted.y4m "$scratch/out" || fail "standard output beside a folder"
only with vectors.csv frames.csv summary.json
if have script; then # terminals are not for video
    script -qc "'$gpume' clip.y4m --backend cpu --predicted -" typescript </dev/null >typed
    grep -q 'a terminal cannot show video' typed || fail "video is written to a terminal: $(cat -v typed)"
fi

# The standard files only with -o.
expect 0 -q clip.y4m --backend "$engine" --predicted a.y4m -o folder
only folder vectors.csv frames.csv summary.json
[ ! -e clip.gpume ] || fail "the default folder was made"
exit 0
