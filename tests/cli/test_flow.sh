#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume flow: files, numbers, directions, and the same bytes from every engine and number of threads. Values are compared
# with NumPy's in tests/python/test_dense.py.
. "$(dirname "$0")/common.sh"
need_oracle

make_clip clip.y4m 75 46 8 4
flow() {
    expect 0 flow "$@" --backend "$engine"
}
# floats FILE: its size, which its header and 8 bytes per pixel make
holds() {
    [ "$(head -c 4 "$1")" = PIEH ] || fail "$1: no .flo file"
    [ "$(od -A n -t d4 -j 4 -N 8 "$1" | awk '{ print $1 "x" $2 }')" = "$2x$3" ] || fail "$1: not $2x$3"
    [ "$(wc -c <"$1")" -eq $((12 + 8 * $2 * $3)) ] || fail "$1: not 8 bytes per pixel"
}

# One file per frame pair, by the number of its frame.
flow clip.y4m -o past%d.flo
for i in 1 2 3; do holds past$i.flo 75 46; done
grep -q '^flow         3 frame pairs of 75x46, ' "$scratch/out" || fail "no summary"
flow clip.y4m -o "both%02d-%d.flo" --direction future
only . clip.y4m past1.flo past2.flo past3.flo both00-1.flo both01-2.flo both02-3.flo

# A video against two pictures; the future of a frame is the past of those in reverse order.
for frame in 1 2; do
    "$gpume" luma clip.y4m -q --frames $frame | tail -c $((75 * 46)) >raw && [ -s raw ] || fail "no frame $frame"
    { printf 'P5\n75 46\n255\n' && cat raw; } >$frame.pgm
done
rm raw
flow 1.pgm 2.pgm -o ab.flo
cmp -s ab.flo past1.flo || fail "two pictures: another flow"
flow 2.pgm 1.pgm -o ba.flo
cmp -s ba.flo both00-1.flo || fail "--direction future is not the flow of the swapped pictures"

# Every engine and number of threads.
for threads in 1 3; do
    flow clip.y4m -y -o threads%d.flo --threads $threads
    cmp -s threads2.flo past2.flo || fail "--threads $threads: other bytes"
done
if [ "$engine" = cpu ] && have_vulkan; then
    expect 0 flow clip.y4m -y -o threads%d.flo --backend vulkan
    cmp -s threads3.flo past3.flo || fail "the engines differ"
fi
rm threads*.flo

# What it writes is read as dense flow: no error against itself, less than that of blocks against it.
expect 0 compare ab.flo --truth ab.flo --json
grep -q '"epe_max": 0.000000' "$scratch/out" || fail "has errors against itself"

# Other blocks, 10 bits, one pixel, one column; still frames have no motion.
flow clip.y4m -o small%d.flo -b 8 --step 2 -w 4 --frames 2
! cmp -s small1.flo past1.flo || fail "-b changes nothing"
expect 0 compare small1.flo --truth ab.flo --csv
[ "$(sed -n '2s/^[^,]*,[^,]*,\([0-9]*\),\([0-9]*\),.*/\1 \2/p' "$scratch/out")" = "3450 3450" ] || fail "not all pixels are compared"
for size in 1x1 1x40 40x3; do
    make_clip still.y4m ${size%x*} ${size#*x} 10 1
    { cat still.y4m && sed 1d still.y4m; } >twice.y4m
    expect 0 flow twice.y4m -o $size.flo -q
    holds $size.flo ${size%x*} ${size#*x}
    [ "$(tail -c +13 $size.flo | tr -d '\0' | wc -c)" -eq 0 ] || fail "$size: still, and yet in motion"
done

refused 2 -o -- flow clip.y4m
refused 2 x.flo flow%04d.flo --frames -- flow clip.y4m -o x.flo
[ ! -e x.flo ] || fail "a refused run left its file"
refused 2 past1.flo -- flow clip.y4m -o past%d.flo
refused 2 x.png -- flow clip.y4m -o x.png
flow 1.pgm 2.pgm -o -
cmp -s "$scratch/out" ab.flo || fail "standard output"
refused 2 --step quarter 4 -- flow clip.y4m -o x%d.flo --step quarter
refused 2 --frames 1 -- flow clip.y4m -o x%d.flo --frames 1
refused 2 --step 5 -- flow clip.y4m -o x%d.flo --step 5
refused 2 --step 4 -- flow clip.y4m -o x%d.flo -b 12 --step 4
refused 2 --step 1 -- flow clip.y4m -o x%d.flo --step 1
refused 2 --direction -- flow 1.pgm 2.pgm -o x.flo --direction future
refused 3 still.y4m -- flow still.y4m -o x%d.flo
refused 3 none.mp4 -- flow none.mp4 -o x%d.flo

# From any frame on, by number or time: the same files.
for range in "--start 1" "--start 0.04s" "--start 1 --frames 3" "--start 0.04s --duration 0.12s"; do
    # shellcheck disable=SC2086 # several words
    flow clip.y4m $range -o part%d.flo
    [ ! -e part1.flo ] || fail "$range: begins too early"
    for i in 2 3; do cmp -s past$i.flo part$i.flo || fail "$range: other flow, or no part$i.flo"; done
    rm part*.flo
done
flow clip.y4m --start 1 --frames 2 --direction future -o part%d-%d.flo
cmp -s both01-2.flo part1-2.flo || fail "--start with --direction future: other flow"
only . clip.y4m past?.flo both0?-?.flo part1-2.flo still.y4m twice.y4m ?.pgm ??.flo small1.flo *x*.flo
refused 3 clip.y4m --start 3 -- flow clip.y4m --start 3 -o x%d.flo
refused 3 clip.y4m --start 4 -- flow clip.y4m --start 4 -o x%d.flo
refused 3 clip.y4m --duration -- flow clip.y4m --duration 0.04s -o x%d.flo
refused 3 clip.y4m '--start 3' -- flow clip.y4m --start 0.12s --duration 1s -o x%d.flo
refused 2 --duration --start -- flow clip.y4m --start 1 --duration 1s -o x%d.flo
refused 2 --start -- flow 1.pgm 2.pgm --start 1s -o x.flo

# An interrupted run says where to go on, and with what it says the files are those of a whole run.
mkdir interrupted && cd interrupted || exit 1
make_clip clip.y4m 64 48 8 5
flow clip.y4m -o whole%d.flo
for frames in "" 4; do
    feed 3
    # shellcheck disable=SC2086 # none, or two words
    launch INT flow slow -o part%d.flo ${frames:+--frames $frames}
    await part2.flo
    kill -INT "$pid"
    wait "$pid"
    [ $? -eq 1 ] || fail "not interrupted"
    drain
    rest=$(sed -n "s/.*; to go on, add \\(--start [12]${frames:+ --frames [23]} -y\\)\$/\\1/p" "$scratch/err")
    [ -n "$rest" ] || fail "no word of how to go on: $(cat "$scratch/err")"
    # shellcheck disable=SC2086 # several words
    flow clip.y4m -o part%d.flo $rest
    for i in 1 2 3 4; do
        [ $i -lt ${frames:-5} ] || continue
        cmp -s whole$i.flo part$i.flo || fail "part$i.flo is not that of a whole run"
    done
    [ -z "$frames" ] || [ ! -e part4.flo ] || fail "--frames is forgotten"
    [ -z "$frames" ] && rm part?.flo
done
# So does --timeout. The time has to suffice for the frames that are there, and a busy machine may need more.
rm -f part?.flo
for seconds in 1 8 64 512; do
    feed 3
    "$gpume" flow slow -o part%d.flo --timeout $seconds --backend "$engine" -y >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 1 ] || fail "--timeout: no exit status 1"
    drain
    [ ! -e part2.flo ] || break
done
grep -q "^gpume: --timeout $seconds: [^;]*; [^;]*; the files of 2 frame pairs are complete; to go on, add --start 2 -y\$" "$scratch/err" || fail "--timeout: no word of how to go on"
flow clip.y4m -o part%d.flo --start 2 -y
for i in 1 2 3 4; do
    cmp -s whole$i.flo part$i.flo || fail "--timeout: part$i.flo is not that of a whole run"
done
only . clip.y4m part?.flo whole?.flo
