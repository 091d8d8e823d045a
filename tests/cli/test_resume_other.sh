#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --resume with a changed input: another video in a pipe. A refusal changes nothing, and the run can be resumed
# afterwards.
. "$(dirname "$0")/common.sh"
need_oracle
env --default-signal=INT true 2>/dev/null || skip "no env --default-signal"
make_clip clip.y4m 64 48 8 40

# fill FRAMES: writes FRAMES frames of clip.y4m into a pipe and closes it.
fill() {
    [ -p slow ] || mkfifo slow
    head -c $(($(head -1 clip.y4m | wc -c) + $1 * 3078)) clip.y4m >slow 2>/dev/null &
    feeder=$!
}

# break_off SIGNAL FIELD OPTIONS: sends the signal to a run of 12 frames once that field is complete.
break_off() {
    name=$1
    last=$2
    shift 2
    feed 12
    launch INT slow --vectors v.csv --residual r%03d.png "$@"
    await "r$last.png"
    kill -s "$name" $pid
    wait $pid 2>/dev/null
    drain
    [ -e .v.csv.gpume-state ] || fail "no state"
    mkdir was
    for file in $(ls -A); do
        case $file in
        *.png | *.partial | .v.csv.*) cp -p "$file" was ;;
        esac
    done
}

# resumes STATUS FRAMES OPTIONS: with FRAMES frames of the clip.
resumes() {
    wanted=$1
    fill "$2"
    shift 2
    expect "$wanted" slow --vectors v.csv --residual r%03d.png --resume --backend "$engine" "$@"
    stop_feeder
    rm slow
}

# unchanged: no file was removed or added.
unchanged() {
    for file in $(ls -A was); do
        case $file in
        *-state) [ -e "$file" ] || fail "the state is gone" ;;
        *) cmp "was/$file" "$file" || fail "$file has changed" ;;
        esac
    done
    # The series' own name is there until the next run of it.
    [ "$(ls -A | grep -v '^\.r%d' | grep -cE 'png$|partial$|tmp$|-state$')" -eq "$(ls -A was | wc -l)" ] || fail "other files: $(ls -A)"
}

# ends FRAMES KNOWN OPTIONS: the pipe ends too soon.
ends() {
    frames=$1
    known=$2
    shift 2
    resumes 3 "$frames" "$@"
    names --resume "$frames" "$known" --resume
    unchanged
}

# whole FRAMES OPTIONS: the files are those of an uninterrupted run.
whole() {
    fill "$1"
    shift
    expect 0 -q slow --vectors all.csv --residual all%03d.png --backend "$engine" "$@"
    stop_feeder
    cmp all.csv v.csv || fail "resumed: vectors"
    for picture in all*.png; do
        cmp "$picture" "r${picture#all}" || fail "resumed: $picture"
    done
    [ "$(ls r*.png | wc -l)" -eq "$(ls all*.png | wc -l)" ] || fail "resumed: pictures"
    [ ! -e .v.csv.gpume-state ] || fail "resumed: the state is left"
    rm -r was slow all* v.csv r*.png
}

# Interrupted after 11 fields, which takes 12 frames; as many, or more, may be all that there is.
break_off INT 011
ends 1 12
ends 11 12
resumes 0 12
whole 12
break_off INT 011
ends 5 12
resumes 0 40
whole 40
# Killed: the state may be of an earlier field.
break_off KILL 011
known=$(($(sed -n 's/^    "last_field": "\([0-9]*\)",$/\1/p' .v.csv.gpume-state) + 1))
ends $((known - 1)) "$known"
resumes 0 40
whole 40
# Frames ahead have been read, too; of the fields of a shorter video's end nothing is taken.
break_off INT 008 --direction future --ref-distance 3
ends 11 12 --direction future --ref-distance 3
resumes 0 40 --direction future --ref-distance 3
whole 40 --direction future --ref-distance 3
feed 12
launch INT slow --direction both --ref-distance 3 --vectors f%d-%d.flo
await f8-5.flo
kill -s INT $pid
wait $pid 2>/dev/null
drain
ls -A >was
fill 11
expect 3 slow --direction both --ref-distance 3 --vectors f%d-%d.flo --resume --backend "$engine"
stop_feeder
names --resume 11 12
rm slow
ls -A | cmp - was || fail "both: a field of another video"
fill 40
expect 0 slow --direction both --ref-distance 3 --vectors f%d-%d.flo --resume --backend "$engine"
stop_feeder
mkdir resumed
mv f*.flo resumed
fill 40
expect 0 -q slow --direction both --ref-distance 3 --vectors f%d-%d.flo --backend "$engine"
stop_feeder
for file in f*.flo; do
    cmp "$file" "resumed/$file" || fail "both: $file"
    rm "resumed/$file"
done
rmdir resumed || fail "both: other fields"
rm slow was f*.flo

# The standard files, summary.json.partial too, are what they were.
feed 12
launch INT slow -o run --residual r%03d.png
await r011.png
kill -s INT $pid
wait $pid 2>/dev/null
drain
cp -Rp run was
fill 5
expect 3 slow -o run --residual r%03d.png --resume --backend "$engine"
stop_feeder
rm slow
for file in vectors.csv frames.csv summary.json; do
    cmp "was/$file.partial" "run/$file.partial" || fail "refused, and $file.partial has changed"
done
only run vectors.csv.partial frames.csv.partial summary.json.partial
rm -r run was r*.png .r%03d.png.gpume-*

# Pictures of fields that were done, written since, whatever ended the run. Those of later fields come anew.
for signal in INT KILL; do
    break_off "$signal" 011
    for change in 'cp r002.png new && cat new >r001.png' 'touch r001.png'; do
        cp -p r001.png kept
        touch -r .v.csv.gpume-state limit
        while [ ! r001.png -nt limit ]; do
            eval "$change"
        done
        resumes 2 40
        names --resume r001.png
        mv kept r001.png
        unchanged
    done
    touch -r .v.csv.gpume-state r001.png # as old as it may be
    echo other >r012.png
    resumes 0 40
    rm new limit
    whole 40
done
# Tables that are gone while files by number are there: one line, and the state stays, as they may come back.
break_off INT 011
mv v.csv.partial kept
rm was/v.csv.partial
for option in '' -y; do
    # shellcheck disable=SC2086 # no option
    resumes 2 40 $option
    names --resume v.csv
    unchanged
done
# Nothing is left of the run but a picture that it had not said was done.
mv r001.png r050.png
rm r00?.png r01?.png
resumes 2 40
names --resume r%03d.png -y
only . clip.y4m .v.csv.gpume-state kept r050.png was
resumes 0 40 -y
names --resume
rm kept r050.png
whole 40
only . clip.y4m

# The input is replaced or overwritten while the run goes on: the state says what it was when it was opened, however
# often it is saved. The plain search takes seconds.
"$oracle" clip 64 48 8 40 2 >other.y4m
[ "$engine" = cpu ] && slowly="--search plain --no-elimination --threads 1" || slowly=
# swap COMMAND INPUT: the command runs while that run is stopped; then it is interrupted.
swap() {
    # shellcheck disable=SC2086 # several options
    launch INT "$2" -b 4 -w 96 $slowly --vectors v.csv
    await .v.csv.gpume-state
    kill -s STOP $pid
    eval "$1"
    kill -s INT $pid
    kill -s CONT $pid
    wait $pid
    [ -e v.csv.partial ] || fail "$1: not interrupted"
    # shellcheck disable=SC2086
    refused 2 --resume -- "$2" -b 4 -w 96 $slowly --vectors v.csv --resume --backend "$engine"
    rm v.csv.partial .v.csv.gpume-state
}
cp clip.y4m in.y4m
cp -p other.y4m new.y4m
swap 'mv new.y4m in.y4m' in.y4m
cp -p clip.y4m in.y4m
swap 'cat other.y4m >in.y4m' in.y4m
# Of the same size, and as old.
touch -r clip.y4m in.y4m other.y4m
swap 'mv other.y4m in.y4m' in.y4m
mkdir pictures
expect 0 -q clip.y4m --backend cpu -w 0 --predicted pictures/%03d.pgm --vectors few.csv
touch -r clip.y4m pictures/*
swap 'mv pictures/039.pgm pictures/020.pgm && cp -p pictures/020.pgm pictures/039.pgm' pictures/%03d.pgm
rm -r pictures few.csv in.y4m

# The state lies beside the first output. A run with another first output finds the partial result of one of its outputs
# and leaves it alone.
echo frame >v.csv.partial
refused 2 --resume v.csv.partial -- clip.y4m --vectors v.csv --resume --backend "$engine"
[ "$(cat v.csv.partial)" = frame ] || fail "--resume with other outputs changed the partial result"
rm v.csv.partial
only . clip.y4m
exit 0
