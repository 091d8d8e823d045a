#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# An interrupted run ends soon with one message, and leaves its complete results as NAME.partial, or nothing. A killed
# run leaves temporary files, which the next one removes.
. "$(dirname "$0")/common.sh"
need_oracle
env --default-signal=INT true 2>/dev/null || skip "no env --default-signal"

make_clip clip.y4m 64 48 8 30
expect 0 -q clip.y4m --backend "$engine" -o whole --predicted whole.y4m --difference whole.mkv

# Eleven fields, and then a signal: all outputs end after the same field, each file is valid, and existing files are
# unchanged.
for signal in INT TERM HUP; do
    feed 12
    rm -rf out && mkdir out && echo mine >out/frames.csv && echo old >v.csv.partial
    launch $signal slow -y -o out --vectors v.csv --predicted p.y4m --difference d.mkv \
        --overlay o.mp4 --report r.html --residual r%d.png
    await r11.png
    kill -s $signal $pid
    wait $pid
    status=$?
    [ $status -eq 1 ] || fail "$signal: exit status $status"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$signal: not one line"
    says interrupted
    names 11
    [ ! -s "$scratch/out" ] || fail "$signal: standard output was written"
    drain
    only out vectors.csv.partial frames.csv frames.csv.partial summary.json.partial
    [ "$(cat out/frames.csv)" = mine ] || fail "$signal: an older output was touched"
    only . clip.y4m whole whole.y4m whole.mkv out v.csv.partial p.y4m.partial d.mkv.partial \
        o.mp4.partial r.html.partial r1.png r2.png r3.png r4.png r5.png r6.png r7.png r8.png r9.png \
        r10.png r11.png
    head -n $((1 + 11 * 48)) whole/vectors.csv | cmp - out/vectors.csv.partial || fail "vectors.csv"
    cmp v.csv.partial out/vectors.csv.partial || fail "vectors differ"
    head -n 12 whole/frames.csv | cmp - out/frames.csv.partial || fail "frames.csv"
    head -c "$(wc -c <p.y4m.partial)" whole.y4m | cmp - p.y4m.partial || fail "predicted frames"
    grep -q '^  "partial": true,$' out/summary.json.partial || fail "summary.json: partial"
    grep -q '^  "fields": 11,$' out/summary.json.partial || fail "summary.json: fields"
    grep -q '^    "frames": 12,$' out/summary.json.partial || fail "summary.json: frames"
    tail -1 r.html.partial | grep -q '</html>' || fail "the page is not whole"
    for video in p.y4m d.mkv o.mp4; do
        expect 0 $video.partial --backend "$engine" -o look -y
        grep -q '^    "frames": 11,$' look/summary.json || fail "$video has not 11 pictures"
    done
    rm -r look v.csv.partial ./*.y4m.partial ./*.mkv.partial ./*.mp4.partial ./*.html.partial r*.png
done

# Standard output ends after a whole field.
feed 12
launch INT slow --vectors - --residual r%d.png
await r11.png
kill -s INT $pid
wait $pid
[ $? -eq 1 ] || fail "standard output: exit status"
head -n $((1 + 11 * 48)) whole/vectors.csv | cmp - "$scratch/out" || fail "standard output"
drain
rm r*.png

# The next complete run removes partial results.
expect 0 -q clip.y4m --backend "$engine" -o out -y
only out vectors.csv frames.csv summary.json
rm -r out

# A folder that has the name of a partial result is refused at once; one that comes later costs nothing: the line
# names it, and --resume goes on.
mkdir -p out/frames.csv.partial
refused 2 out/frames.csv.partial -- clip.y4m -o out --backend "$engine"
only out frames.csv.partial
rmdir out/frames.csv.partial
feed 12
launch INT slow -o out --residual r%d.png
await r11.png
mkdir out/frames.csv.partial
kill -s INT $pid
wait $pid
[ $? -eq 1 ] || fail "a folder in the way: exit status"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "a folder in the way: not one line"
names out/frames.csv .partial
says "move the folder of that name away"
rmdir out/frames.csv.partial
drain
mkfifo slow
cat clip.y4m >slow &
expect 0 slow -o out --residual r%d.png --resume -v --backend "$engine"
names --resume 11
wait
cmp whole/vectors.csv out/vectors.csv && cmp whole/frames.csv out/frames.csv || fail "a folder in the way: other files"
only out vectors.csv frames.csv summary.json
rm -r slow out r*.png

# Killed: only temporaries stay, which the next run removes. Temporaries of active runs and unrelated files stay.
feed 12
launch TERM slow -o out --predicted p.y4m --residual r%d.png
await r11.png
kill -s KILL $pid
wait $pid 2>/dev/null
drain
for name in $(ls -A out .); do
    case $name in
    .*.gpume-*.tmp | .*.gpume-state | out | out: | .: | clip.y4m | whole* | r*.png) ;;
    *) fail "killed, and $name is left" ;;
    esac
done
[ "$(ls -A out | wc -l)" -ge 2 ] || fail "killed, and no temporaries are left"
echo mine >out/.other.csv.gpume-1-0.tmp
touch ..p.y4m.gpume-state.gpume-1-0.tmp
feed 12
rm r11.png
launch TERM slow -y -o out --residual r%d.png
living=$pid
await r11.png
# Another run of the same outputs is refused at its start, with -y too, whatever else it would write.
for option in "--threads 1" -y "-y --overlay o.mkv"; do
    # shellcheck disable=SC2086 # several words
    refused 2 out/vectors.csv -- -q clip.y4m --backend "$engine" -o out --predicted p.y4m $option
    [ "$(ls -A out | grep -c "gpume-$living-")" -eq 3 ] || fail "temporaries of another run are gone"
    [ "$(ls -A out | wc -l)" -eq 4 ] || fail "a refused run has left something: $(ls -A out)"
    for left in p.y4m o.mkv .o.mkv.*; do [ ! -e "$left" ] || fail "a refused run has left $left"; done
done
for name in r%d.png ./r%03d.png; do # pictures by number, too
    refused 2 "$name" -- -q clip.y4m --backend "$engine" --residual $name -y
    expect 2 -q clip.y4m --backend "$engine" -o others --overlay $name -y
    [ ! -e others ] || fail "a refused run has left a folder"
done
expect 0 -q clip.y4m --backend "$engine" --vectors source.csv
expect 0 -q convert source.csv out/vectors2.csv
refused 2 out/vectors.csv -- -q convert source.csv out/vectors.csv -y
rm source.csv out/vectors2.csv
kill -s KILL $living
wait $living 2>/dev/null
drain
expect 0 -q clip.y4m --backend "$engine" -o out -y --predicted p.y4m
only out vectors.csv frames.csv summary.json .other.csv.gpume-1-0.tmp
[ ! -e .r%d.png.gpume-state ] || fail "the state of a killed run with one output in common is left"
rm p.y4m r*.png .r%d.png.gpume-* # of the killed run, which had other outputs
only . clip.y4m out whole whole.y4m whole.mkv
# Files of vectors by number; the folder is as it was then.
mkdir flo
feed 12
launch TERM slow --vectors flo/v%03d.flo
await flo/v010.flo # whole once the next one comes
for name in flo/v%03d.flo ./flo/v%d.flo; do
    refused 2 "$name" -- -q clip.y4m --backend "$engine" --vectors $name -y
done
kill -s KILL $pid
wait $pid 2>/dev/null
drain
expect 0 -q clip.y4m --backend "$engine" --vectors flo/v%03d.flo -y
[ "$(ls -A flo | wc -l)" -eq 29 ] || fail "files of vectors by number: $(ls -A flo | grep -v '^v')"
rm -r flo
rm -r out whole whole.*

# interrupt SIGNAL ARGUMENTS: once the run has opened ../mute, a pipe that stays open without data.
interrupt() {
    mkfifo mute
    { : >"$scratch/opened" && exec sleep 86400; } >mute &
    feeder=$!
    mkdir here && cd here || exit 1
    launch "$@"
    await "$scratch/opened"
    kill -s "$1" $pid
    wait $pid
    status=$?
    cd .. || exit 1
    stop_feeder
    rm mute "$scratch/opened"
    [ $status -eq 1 ] || fail "$1: exit status $status"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$1: not one line"
    says interrupted
    [ ! -s "$scratch/out" ] || fail "$1: standard output was written"
    only here
    rmdir here
}

# No frame comes at all; no integers come, with and without a file to write.
interrupt INT ../mute
interrupt INT sort ../mute -o out
interrupt TERM sort ../mute

# A long search, which would take a hundred times as long as the script needs to send the signal.
make_clip large.y4m 320 240 8 200
search=plain
[ "$engine" = cpu ] || search=quads
launch INT large.y4m -w 20 -b 4 --no-elimination --search $search --threads 1 --residual r%d.png
await r2.png
kill -s INT $pid
wait $pid
[ $? -eq 1 ] || fail "a long search: exit status"
says interrupted
[ "$(ls r*.png | wc -l)" -lt 199 ] || fail "a long search went on"

# On a terminal, who waits for a frame pair is told that a second signal ends the run at once. A run that has used a
# processor for three seconds is within its first frame pair, which takes minutes.
searching() {
    [ "$(cut -d ' ' -f 14 "/proc/$(cat shell)/stat")" -gt $((3 * $(getconf CLK_TCK))) ]
}
if have script && [ "$engine" = cpu ] && [ -r /proc/self/stat ]; then
    script -qfc "echo \$\$ >shell; exec env --default-signal=INT '$gpume' large.y4m -w 512 -b 4 --subpel 4 \
        --subpel-search full --backend cpu --threads 1 --predicted typed.mkv" typescript </dev/null >typed &
    pid=$!
    wait_for searching
    kill -s INT "$(cat shell)"
    until grep -q 'a second interrupt ends the run at once' typed; do
        kill -0 $pid || fail "a terminal is told nothing: $(cat -v typed)"
        sleep 0.1
    done
    kill -s INT "$(cat shell)"
    wait $pid
    rm -f shell typed typescript .typed.mkv.*
fi

# An ignored signal stays ignored, as under nohup.
make_clip small.y4m 64 48 8 3
mkfifo slow
{ : >opened && exec "$oracle" stream 2; } >slow &
(
    trap '' HUP
    exec "$gpume" -q slow --backend "$engine"
) &
pid=$!
await opened
kill -s HUP $pid
wait $pid || fail "a signal that is ignored ended the run"
[ "$(wc -l <slow.gpume/frames.csv)" -eq 40 ] || fail "an ignored signal cut the run short"
exit 0
