#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --resume with shapes, fractions, rate, several references, candidates and confidence: the files are those of an
# uninterrupted run, and a run with another such option is refused.
. "$(dirname "$0")/common.sh"
need_oracle
env --default-signal=INT true 2>/dev/null || skip "no env --default-signal"
make_clip clip.y4m 64 48 8 16

# break_off OPTIONS: a run of 12 frames that is interrupted.
break_off() {
    feed 12
    launch INT slow -w 3 -o out --residual r%03d.png "$@"
    await r006.png
    kill -s INT $pid
    wait $pid 2>/dev/null
    drain
    [ -e .r%03d.png.gpume-state ] || fail "$*: no state"
}

# resumes STATUS OPTIONS
resumes() {
    wanted=$1
    shift
    mkfifo slow
    cat clip.y4m >slow 2>/dev/null &
    feeder=$!
    expect "$wanted" slow -w 3 -o out --residual r%03d.png --resume --backend "$engine" "$@"
    stop_feeder
    rm slow
}

# refuses KEY OPTIONS: the refusal names the parameter.
refuses() {
    key=$1
    shift
    resumes 2 "$@"
    names --resume "\"$key\""
}

# Prints a summary without times and names.
facts() {
    grep -Ev '"(seconds|fields_per_second|busy|name|dropped_by_.*|compared)"' "$1"
}

# same OPTIONS: the files are those of a run that was not interrupted.
same() {
    resumes 0 "$@"
    expect 0 clip.y4m -q -w 3 --backend "$engine" -o whole --residual whole%03d.png "$@"
    for file in vectors.csv frames.csv; do
        cmp "whole/$file" "out/$file" || fail "$*: $file"
    done
    facts whole/summary.json >facts
    facts out/summary.json | cmp - facts || { facts out/summary.json | diff - facts >&2; fail "$*: summary.json"; }
    for picture in whole*.png; do
        cmp "$picture" "r${picture#whole}" || fail "$*: $picture"
    done
    rm -r out whole facts r*.png whole*.png
}

rated="-b 16..8+rect --partition --subpel 2 --interpolation bilinear --metric satd --lambda 4 --predictor median"
# shellcheck disable=SC2086 # several options
{
    break_off $rated
    refuses block ${rated#-b 16..8+rect --partition} -b 16
    refuses block $rated -b 16..8
    refuses partition ${rated#-b 16..8+rect --partition} -b 16..8+rect
    refuses subpel $rated --subpel 4
    refuses interpolation $rated --interpolation h264
    refuses subpel-search $rated --subpel-search full
    refuses refine-metric $rated --refine-metric ssd
    refuses metric $rated --metric sad
    refuses lambda $rated --lambda 5
    refuses predictor ${rated%--predictor median}
    refuses passes $rated --passes 3
    refuses confidence $rated --confidence
    refuses candidates $rated --candidates 2
    refuses ref-distance $rated --ref-distance 2
    refuses best-reference $rated --ref-distance 1,2 --best-reference
    same $rated
}

break_off --ref-distance 1,2 --best-reference --candidates 2 --confidence
refuses ref-distance --ref-distance 1,3 --best-reference --candidates 2 --confidence
refuses candidates --ref-distance 1,2 --best-reference --candidates 3 --confidence
refuses confidence --ref-distance 1,2 --best-reference --candidates 2
same --ref-distance 1,2 --best-reference --candidates 2 --confidence

break_off --bidirectional
refuses bidirectional --best-reference --direction both
same --bidirectional

# Predictors from a file: another file is refused, and so is one that has changed.
expect 0 clip.y4m -q -w 3 --backend "$engine" --vectors p.csv
cp p.csv other.csv
break_off --lambda 2 --predictor p.csv
refuses predictor --lambda 2 --predictor other.csv
refuses predictor --lambda 2
mv p.csv kept.csv
sed 's/^1,0,0,0,8,8,[-0-9]*,/1,0,0,0,8,8,3,/' kept.csv >p.csv
resumes 2 --lambda 2 --predictor p.csv
names --resume --predictor
rm p.csv
mv kept.csv p.csv
same --lambda 2 --predictor "$PWD/p.csv"
exit 0
