#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --resume: an interrupted, killed or failed run continues after the last complete field, and its files are those of an
# uninterrupted run; other options, or changed files, are refused.
. "$(dirname "$0")/common.sh"
need_oracle
env --default-signal=INT true 2>/dev/null || skip "no env --default-signal"
make_clip clip.y4m 64 48 8 40

# unbroken OPTIONS: makes the files with which all others are compared.
unbroken() {
    rm -rf whole*
    expect 0 -q clip.y4m --backend "$engine" -o whole --predicted whole.y4m --residual whole%03d.png "$@"
}

# break_off SIGNAL FIELD OPTIONS: sends the signal to a run of 12 frames once that field is complete.
break_off() {
    name=$1
    last=$2
    shift 2
    feed 12
    launch INT slow -o out --predicted p.y4m --residual r%03d.png "$@"
    await "r$last.png"
    kill -s "$name" $pid
    wait $pid 2>/dev/null
    drain
}

# The same pipe with the whole clip: completed, then refused.
goes_on() {
    mkfifo slow
    cat clip.y4m >slow 2>/dev/null &
    feeder=$!
    expect 0 slow -o out --predicted p.y4m --residual r%03d.png --resume --backend "$engine" "$@"
    wait $feeder 2>/dev/null
    feeder=
    rm slow
}
# refuses WORD... -- OPTION...: names each word.
refuses() {
    mkfifo slow
    cat clip.y4m >slow 2>/dev/null &
    feeder=$!
    refused_words=
    while [ "$1" != -- ]; do
        refused_words="$refused_words$1
"
        shift
    done
    shift
    expect 2 slow -o out --predicted p.y4m --residual r%03d.png --resume --backend "$engine" "$@"
    stop_feeder
    rm slow
    while IFS= read -r refused_word; do
        [ -z "$refused_word" ] || names "$refused_word"
    done <<WORDS
$refused_words
WORDS
}
# done_before COUNT: the run said how many frame pairs it found complete.
done_before() {
    grep -q -- "--resume: $1 " "$scratch/err" || fail "not $1 frame pairs are done before"
}

# Prints a summary without times.
facts() {
    grep -Ev '"(seconds|fields_per_second|busy|name|dropped_by_.*|compared|threads|search|hwaccel|device|host_bytes|input)"' "$1"
}
same() {
    cmp whole/vectors.csv out/vectors.csv || fail "$*: vectors.csv"
    cmp whole/frames.csv out/frames.csv || fail "$*: frames.csv"
    cmp whole.y4m p.y4m || fail "$*: .y4m"
    for picture in whole*.png; do
        cmp "$picture" "r${picture#whole}" || fail "$*: $picture"
    done
    facts whole/summary.json >facts
    facts out/summary.json | cmp - facts || { facts out/summary.json | diff - facts >&2; fail "$*: summary.json"; }
    only out vectors.csv frames.csv summary.json
    [ "$(ls r*.png | wc -l)" -eq "$(ls whole*.png | wc -l)" ] || fail "$*: pictures"
    for name in p.y4m.partial .p.y4m.gpume-*; do
        [ ! -e "$name" ] || fail "$*: $name is left"
    done
    rm -r out p.y4m r*.png facts
}

# Interrupted, and resumed with other threads, another search or decoder, several times; --check counts continue, too.
unbroken
break_off INT 011
goes_on -v
done_before 11
same interrupted
unbroken --check --start 6 --frames 20 --ref-distance 3
break_off TERM 010 --check --start 6 --frames 20 --ref-distance 3
goes_on --check --start 6 --frames 20 --ref-distance 3 --threads 1 --hwaccel auto
same "with --start, --frames and --ref-distance"

# Interrupted after all work, and before any.
mv clip.y4m longer
make_clip clip.y4m 64 48 8 12
unbroken
break_off INT 011
goes_on
same "at the end"
mv longer clip.y4m
unbroken
goes_on
names --resume
same "from the beginning"

# Every format of vectors that is one file.
for format in npy jsonl mvf extract_mvs hash csv.gz jsonl.zst; do
    expect 0 -q clip.y4m --backend "$engine" --vectors all --format $format
    feed 12
    launch INT slow --vectors v --format $format --residual r%03d.png
    await r011.png
    kill -s TERM $pid
    wait $pid 2>/dev/null
    drain
    [ -f v.partial ] || fail "$format: no partial result"
    mkfifo slow
    cat clip.y4m >slow 2>/dev/null &
    feeder=$!
    expect 0 slow --vectors v --format $format --residual r%03d.png --resume --backend "$engine"
    wait $feeder 2>/dev/null
    feeder=
    rm slow
    cmp all v || fail "$format: resumed, and other bytes"
    rm v all r*.png
done
unbroken

# Killed, again and again.
mkfifo slow
"$oracle" stream 60 >slow 2>/dev/null &
launch INT slow -o out --predicted p.y4m --residual r%03d.png
await .p.y4m.gpume-state
kill -s KILL $pid
wait 2>/dev/null
rm slow
[ -z "$(ls out | grep -v gpume)" ] || fail "killed, and a file has a final name"
sed -n 's/^    "fields": "\([0-9]*\)",$/\1/p' .p.y4m.gpume-state >fields
[ "$(cat fields)" -gt 0 ] || fail "the state has no fields"
mkfifo slow
"$oracle" stream 60 >slow 2>/dev/null &
launch INT slow -o out --predicted p.y4m --residual r%03d.png --resume
state_has_more() {
    [ "$(sed -n 's/^    "fields": "\([0-9]*\)",$/\1/p' .p.y4m.gpume-state)" != "$(cat fields)" ]
}
wait_for state_has_more
kill -s KILL $pid
wait 2>/dev/null
rm slow
fields=$(sed -n 's/^    "fields": "\([0-9]*\)",$/\1/p' .p.y4m.gpume-state)
[ "$fields" -gt "$(cat fields)" ] || fail "a resumed run does not get on"
rm fields
make_clip longer.y4m 64 48 8 $((fields + 30))
mv longer.y4m clip.y4m
unbroken
goes_on -v
done_before "$fields"
same killed
make_clip clip.y4m 64 48 8 40
unbroken

# A resumed run that fails keeps the results of earlier runs.
break_off INT 011
(
    trap '' XFSZ
    ulimit -f 80
    mkfifo slow
    cat clip.y4m >slow 2>/dev/null &
    "$gpume" slow -o out --predicted p.y4m --residual r%03d.png --resume --backend "$engine" \
        >"$scratch/out" 2>"$scratch/err"
    status=$?
    wait
    rm slow
    exit $status
) && fail "a limit on file size"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "a limit on file size: not one line"
goes_on
same "after a failure"

# The same input by another name: in its folder, absolute, a link, standard input; numbered pictures, too.
mkdir in && cp clip.y4m in/clip.y4m && ln in/clip.y4m in/also.y4m && ln -s in/clip.y4m link.y4m
expect 0 -q clip.y4m --backend "$engine" --predicted in/p%02d.pgm
mkfifo in/slow
# stop INPUT: a run of it that fails at its end, where its files become too large, and keeps what it has.
stop() {
    (
        trap '' XFSZ
        ulimit -f 40
        "$gpume" "$1" -o some --predicted some.y4m --resume --backend "$engine" \
            <in/clip.y4m >"$scratch/out" 2>"$scratch/err"
    ) && fail "$1: a limit on file size"
    [ -e .some.y4m.gpume-state ] || fail "$1: no state"
}
# goes_on_as WAS NAME FOLDER FILE OPTION: from standard input, if that is its name; outputs spelled otherwise if given.
goes_on_as() {
    stop "$1"
    "$gpume" "$2" -o "${3:-some}" --predicted "${4:-some.y4m}" --resume ${5:-} -v --backend "$engine" \
        <in/clip.y4m >"$scratch/out" 2>"$scratch/err" || fail "$1 does not go on as $2"
    done_before 1
    ! grep -q 'cannot be identified' "$scratch/err" || fail "$1 as $2: a file can be identified"
    case $1 in
    *%*) ;; # other pictures
    *) cmp whole/vectors.csv some/vectors.csv || fail "$1 as $2: vectors" ;;
    esac
    [ ! -e .some.y4m.gpume-state ] || fail "$1 as $2: the state is left"
    rm -r some some.y4m
}
goes_on_as in/clip.y4m ./in/clip.y4m
goes_on_as in/../in/clip.y4m "$PWD/link.y4m"
goes_on_as link.y4m in/also.y4m
goes_on_as in/clip.y4m -
goes_on_as - -
goes_on_as in/p%02d.pgm "$PWD/./in/p%02d.pgm"
goes_on_as in/clip.y4m file:in/clip.y4m
goes_on_as file:in/clip.y4m "$PWD/in/also.y4m"
goes_on_as in/p%02d.pgm file:./in/p%02d.pgm
# Its outputs by other names, too: other folders' names, and a link to one; not another file of the folder.
goes_on_as in/clip.y4m in/clip.y4m ./some/ "$PWD/some.y4m"
ln -s "$PWD/in/../some.y4m" in/other.y4m
goes_on_as in/clip.y4m in/clip.y4m in/../some in/other.y4m -y # which follows links
rm in/other.y4m
stop in/clip.y4m
mkdir other
refused 2 --resume some/vectors.csv other/vectors.csv -- in/clip.y4m -o other --predicted some.y4m --resume --backend "$engine"
refused 2 --resume '"predicted": "some.y4m"' '"residual": "some.y4m"' -- in/clip.y4m -o some --residual some.y4m --resume --backend "$engine"
rmdir other
rm -r some .some.y4m.gpume-*
stop in/clip.y4m
cp -p in/clip.y4m in/copy.y4m
refused 2 --resume in/clip.y4m in/copy.y4m -- in/copy.y4m -o some --predicted some.y4m --resume --backend "$engine"
touch -d '2001-02-03 04:05:06' in/clip.y4m
refused 2 --resume -- in/clip.y4m -o some --predicted some.y4m --resume --backend "$engine"
expect 0 -q in/clip.y4m -o some --predicted some.y4m -y --backend "$engine"
rm -r some some.y4m
# Nor is the input ever replaced, whatever it is called.
cp clip.y4m in/clip.y4m
cksum in/*.* >before
refused 2 in/clip.y4m -- file:in/clip.y4m --predicted in/clip.y4m -y --backend "$engine"
refused 2 in/p%d.pgm -- file:in/p%02d.pgm --residual in/p%d.pgm -y --backend "$engine"
cksum in/*.* | cmp - before || fail "the input was replaced"
rm before
# A pipe on standard input has no identity: the run continues, and a line says what it must contain.
(
    trap '' XFSZ
    ulimit -f 40
    # shellcheck disable=SC2002 # a pipe is what it is about
    cat clip.y4m | "$gpume" - --vectors some.csv --resume --backend "$engine" >"$scratch/out" 2>"$scratch/err"
) && fail "a limit on file size"
# shellcheck disable=SC2002
cat clip.y4m | "$gpume" - --vectors some.csv --resume --backend "$engine" >"$scratch/out" 2>"$scratch/err" ||
    fail "a pipe on standard input does not go on"
[ "$(grep -c . "$scratch/err")" -eq 1 ] || fail "a pipe on standard input: not one warning"
names --resume
cmp whole/vectors.csv some.csv || fail "a pipe on standard input: vectors"
rm -r in link.y4m some.csv

# Other options, or another input.
break_off INT 011
for option in "--block 4" "--window 5" "--edge inside" "--ref-distance 2" "--frames 7" "--start 2" \
    "--prefilter box:3" "--vf hflip" "--gain 2" "--residual-mode signed"; do
    name=${option%% *}
    refuses --resume "\"${name#--}\"" -- $option
done
refuses --resume '"block": 8' '"block": 16' -- --block 16
cp clip.y4m other.y4m
refused 2 --resume '"name": "slow"' other.y4m -- other.y4m -o out --predicted p.y4m --residual r%03d.png --resume \
    --backend "$engine"
expect 2 other.y4m -o out --predicted p.y4m --resume --backend "$engine"
# seal FILE: prints the state in it with a correct checksum, 64-bit FNV-1a. The shell's numbers have 64 bits, and wrap.
seal() {
    sed '/^  "checksum"/,$d' "$1" >body
    bytes=$(($(wc -c <body) - 2)) # without comma and newline
    sum=-3750763034362895579
    for byte in $(head -c $bytes body | od -An -v -tu1); do
        sum=$(((sum ^ byte) * 1099511628211))
    done
    head -c $bytes body
    printf ',\n  "checksum": "%016x"\n}\n' "$sum"
    rm body
}
mv .p.y4m.gpume-state good
seal good | cmp - good || fail "the checksum of a state"
sed 's/^  "gpume": ".*"/  "gpume": "0.0.1"/' good >.p.y4m.gpume-state
refuses --resume .p.y4m.gpume-state --
seal .p.y4m.gpume-state >state
mv state .p.y4m.gpume-state
refuses --resume '"gpume": "0.0.1"' --
sed 's/^  "state": [0-9]*/  "state": 3/' good >.p.y4m.gpume-state
refuses --resume .p.y4m.gpume-state --

# The machine has been restarted, which an interrupted run survives and a killed one does not.
grep -q '^    "boot": null,$' good || fail "an interrupted run is not on the disk"
sed 's/^    "boot": null,$/    "boot": "another",/' good >state
seal state >.p.y4m.gpume-state
rm state
refuses --resume --
# Files that are not states: not JSON, other JSON, a truncated state, one followed by more, one that is too large.
for command in 'echo nonsense' 'echo []' 'echo "{\"state\": \"4\"}"' 'head -c 1000 good' 'cat good good' \
    'head -c 1048577 /dev/zero | tr "\\0" " " | cat - good'; do
    eval "$command" >.p.y4m.gpume-state
    refuses --resume .p.y4m.gpume-state --
done
# Changed files.
mv good .p.y4m.gpume-state
cp -p p.y4m.partial kept
: >p.y4m.partial
refuses --resume p.y4m --
mv p.y4m.partial p.y4m
refuses --resume p.y4m --
rm p.y4m
refuses --resume p.y4m --
mv kept p.y4m.partial
cp -p out/frames.csv.partial kept
touch out/frames.csv.partial
refuses --resume out/frames.csv --
mv kept out/frames.csv.partial
# A number that the run has not written: more fields than the files hold, fewer bytes, another time.
for number in fields last_field targets sad_before bytes number changed_s checksum; do
    cp .p.y4m.gpume-state good
    sed "s/^\( *\"$number\": \"\)/\11/" good >.p.y4m.gpume-state
    ! cmp -s good .p.y4m.gpume-state || fail "the state has no $number"
    refuses --resume .p.y4m.gpume-state --
    mv good .p.y4m.gpume-state
done
# A picture of a completed frame pair. That of the next one may be missing.
mv r003.png kept
refuses --resume r003.png --
: >r003.png
refuses --resume r003.png --
mv kept r003.png
goes_on
same "after refusals"

# Only numbered files: missing ones are named; if all are missing, the run starts at the beginning.
expect 0 -q clip.y4m --backend "$engine" --direction both --vectors f%d-%d.flo
mkdir all && mv f*.flo all
# break_flo SIGNAL FIELD: a run of files by number alone, with two fields a frame.
break_flo() {
    feed 12
    launch INT slow --direction both --vectors f%d-%d.flo
    await "$2"
    kill -s "$1" $pid
    wait $pid 2>/dev/null
    drain
    [ -e .f%d-%d.flo.gpume-state ] || fail "files by number alone: no state"
}
# flo STATUS OPTIONS
flo() {
    mkfifo slow
    cat clip.y4m >slow 2>/dev/null &
    feeder=$!
    wanted=$1
    shift
    expect "$wanted" slow --direction both --vectors f%d-%d.flo --resume --backend "$engine" "$@"
    stop_feeder
    rm slow
}
break_flo INT f10-9.flo
mv f5-6.flo kept
flo 2
names --resume f5-6.flo
mv kept f5-6.flo
mv f0-1.flo kept # the first frame has no past
flo 2
names --resume f0-1.flo
mv kept f0-1.flo
flo 0 -v
done_before 21
for file in all/*; do
    cmp "$file" "${file#all/}" || fail "files by number alone: $file"
done
rm f*.flo
break_flo INT f10-9.flo
rm f*.flo
flo 0
names --resume
[ "$(ls f*.flo | wc -l)" -eq "$(ls all | wc -l)" ] || fail "files by number alone, from the beginning"
rm f*.flo
# A forged state claims more frames than anyone can look for.
break_flo INT f10-9.flo
rm f*.flo
sed 's/^\( *"targets": "\).*"/\1999999999999999999"/' .f%d-%d.flo.gpume-state >state
seal state >.f%d-%d.flo.gpume-state
rm state
flo 0
names --resume
rm f*.flo
# Killed as soon as the state says that there is one field: its file is there.
feed 2
launch INT slow --vectors f%d.flo
await .f%d.flo.gpume-state
[ -e f1.flo ] || fail "the state is ahead of the files by number"
kill -s KILL $pid
wait $pid 2>/dev/null
drain
expect 0 -q clip.y4m --vectors f%d.flo -y --backend "$engine"
rm -r f*.flo all

# With several references per target, a run ends between two targets, and goes on with the next.
# several OPTIONS...
several() {
    expect 0 -q clip.y4m --backend "$engine" --vectors whole.csv "$@"
    feed 12
    launch INT slow --vectors part.csv "$@"
    await .part.csv.gpume-state
    kill -s INT $pid
    wait $pid 2>/dev/null
    drain
    lines=$(wc -l <part.csv.partial)
    head -n "$lines" whole.csv | cmp - part.csv.partial || fail "$*: not the beginning of the whole run"
    last=$(tail -n 1 part.csv.partial | cut -d , -f 1)
    grep "^$last," whole.csv >wanted
    grep "^$last," part.csv.partial | cmp - wanted || fail "$*: frame $last is not complete"
    mkfifo slow
    cat clip.y4m >slow 2>/dev/null &
    feeder=$!
    expect 0 slow --vectors part.csv --resume --backend "$engine" "$@"
    drain
    cmp whole.csv part.csv || fail "$*: the resumed run differs"
    rm whole.csv part.csv wanted
}
several --ref-distance 3,1
several --ref-distance 1,3 --direction both
several --ref-distance 1,2 --direction both --best-reference
several --bidirectional --lambda 2 --subpel 2 --block 16,8

# A run that is still active is not disturbed.
mkfifo slow
"$oracle" stream 600 >slow 2>/dev/null &
launch INT slow -o out --predicted p.y4m --residual r%03d.png
await .p.y4m.gpume-state
mv slow hidden
refuses --resume p.y4m --
refuses --resume p.y4m -- -b 16 # with other options, too
kill -s INT $pid
wait $pid
[ $? -eq 1 ] || fail "the other run: exit status"
rm hidden
mv clip.y4m stream
make_clip clip.y4m 64 48 8 $((30 + $(sed -n 's/^    "fields": "\([0-9]*\)",$/\1/p' .p.y4m.gpume-state)))
unbroken
goes_on
same "of a run that was still under way"
mv stream clip.y4m

# Numbered pictures, one of which has been replaced. The plain search takes seconds.
mkdir pictures
expect 0 -q clip.y4m --backend cpu -w 0 --predicted pictures/%03d.pgm --vectors few.csv
[ "$engine" = cpu ] && slowly="--search plain --no-elimination --threads 1" || slowly=
# shellcheck disable=SC2086 # several options
launch INT pictures/%03d.pgm -b 4 -w 96 $slowly --vectors v.csv
await .v.csv.gpume-state
kill -s KILL $pid
wait $pid 2>/dev/null
cp pictures/020.pgm pictures/002.pgm
# shellcheck disable=SC2086
refused 2 --resume -- pictures/%03d.pgm -b 4 -w 96 $slowly --vectors v.csv --resume --backend "$engine"
[ -e .v.csv.gpume-state ] || fail "a changed picture: the state is gone"
rm -r pictures few.csv .v.csv.gpume*

# The state of a run goes with the next run of any of its outputs, whichever comes first, and however that is
# called; with no other's.
feed 12
launch INT slow --vectors v.csv --predicted q.y4m --residual r%d.png
await r11.png
kill -s INT $pid
wait $pid 2>/dev/null
drain
rm r*.png
expect 0 -q clip.y4m --vectors u.csv --predicted n.y4m --backend "$engine"
[ -e .v.csv.gpume-state ] || fail "a run of other outputs has taken the state"
(
    trap '' XFSZ
    ulimit -f 8
    "$gpume" -q clip.y4m --difference q.y4m --backend "$engine" >"$scratch/out" 2>"$scratch/err"
) && fail "8 KiB held the whole output"
[ -e .v.csv.gpume-state ] || fail "a run that failed has taken the state"
expect 0 -q clip.y4m --difference "$PWD/q.y4m" --backend "$engine"
[ ! -e .v.csv.gpume-state ] || fail "the state is left"
rm u.csv n.y4m q.y4m v.csv.partial

# Outputs that cannot be resumed are refused before any work.
for output in "--overlay o.mkv" "--difference d.mp4" "--report r.html" "--report r.json" "--vectors -"; do
    refused 2 "${output#* }" -- clip.y4m $output --resume --backend "$engine"
done
refused 2 r.csv -- clip.y4m --report r.csv --resume --backend "$engine"
only . clip.y4m other.y4m whole whole.y4m $(ls | grep '^whole.*png$')
exit 0
