#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume compare: its statistics against those that awk computes, maps, tables of other tools, and files without vectors.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 48 8 5
expect 0 clip.y4m --backend "$engine" -q -o a
expect 0 clip.y4m --backend "$engine" -q -o b -w 3
expect 0 clip.y4m --backend "$engine" -q -o few --frames 2
expect 0 clip.y4m --backend "$engine" -q -o large -b 16
cp a/vectors.csv a.csv
cp b/vectors.csv b.csv

# mismatch ARGUMENTS: exit status 5, with its line.
mismatch() {
    run compare "$@"
    [ "$status" -eq 5 ] || fail "compare $*: exit status $status, not 5"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "compare $*: not exactly one line of error"
    says differ
}

# Equal ones.
expect 0 compare a a/
grep -q '^both  *192 of 192 equal (100.00 %)$' "$scratch/out" || fail "equal runs"
[ ! -s "$scratch/err" ] || fail "equal runs: something on standard error"
expect 0 compare a a.csv
expect 0 compare a a --json
grep -q '"equal": true' "$scratch/out" || fail "--json: equal"
"$gpume" compare - a <a.csv >/dev/null || fail "standard input"
expect 0 -q compare a a
[ ! -s "$scratch/out" ] || fail "-q writes"

# Others, against a second opinion.
paste -d, a.csv b.csv | awk -F, 'NR > 1 {
    n++; v = $7 == $17 && $8 == $18; c = $9 == $19
    vectors += v; costs += c; both += v && c; a += $9 + 0 < $19 + 0; b += $19 + 0 < $9 + 0
    d = sqrt(($7 - $17) ^ 2 + ($8 - $18) ^ 2); sum += d; max = d > max ? d : max
    if (!(v && c) && !first) first = "frame " $1 ", block at (" $3 "," $4 "): A (" $7 "," $8 ") at cost " $9
} END {
    printf "vectors      %d of %d equal\n%.3f pixels apart on average, %.3f at most\n", vectors, n, sum / n, max
    printf "costs        %d of %d equal\nboth         %d of %d equal\n%s\n", costs, n, both, n, first
    printf "%-22s  %16d  %16d\n", "cheaper blocks", a, b
}' >wanted
mismatch a b
cp "$scratch/out" table
while IFS= read -r line; do
    grep -qF -- "$line" table || fail "the table does not say '$line'"
done <wanted
grep -q '^SAD per pair, after' table || fail "no SAD"
for column in 6:before 7:after; do
    wanted=$(cut -d, -f"${column%:*}" a/frames.csv | awk 'NR > 1 { sum += $1 } END { printf "%.3f", sum / (4 * 64 * 48) }')
    grep -q "^SAD per pixel, ${column#*:}  *$wanted " table || fail "SAD per pixel ${column#*:}: not $wanted"
done
grep -q '^mean PSNR after' table || fail "no PSNR"
grep -q '^frame [1-4] ' table || fail "no fields that differ"
mismatch a.csv b.csv
! grep -q PSNR "$scratch/out" || fail "PSNR of files without it"
mismatch a.csv b
grep -q '^SAD per pair, after  *- ' "$scratch/out" || fail "SAD of one of two"
mismatch a b --csv
manual=$(sed -n '/^prints one row for each frame pair/,/\.Pp/{s/^\.Va //; s/ \.$//; s/ //g; /,/p;}' \
    "$here/../../man/gpume-compare.1" | grep -v prints | tr -d '\n')
[ "$(head -1 "$scratch/out")" = "$manual" ] || fail "--csv: the columns are not those of the man page"
[ "$(wc -l <"$scratch/out")" -eq 5 ] || fail "--csv: rows"
sum=$(awk -F, 'NR > 1 { n += $5 } END { print n }' "$scratch/out")
grep -q "^both  *$sum of 192 " table || fail "--csv: both_equal"
mismatch a b --json
grep -q '"equal": false' "$scratch/out" || fail "--json"
if have python3; then
    python3 -m json.tool "$scratch/out" >/dev/null || fail "--json is no JSON"
fi
run -q compare a b
[ "$status" -eq 5 ] || fail "-q: exit status"
[ ! -s "$scratch/out" ] && [ ! -s "$scratch/err" ] || fail "-q says something"

# The parameters of the runs, if both summaries state them.
run compare a b
grep -q '^made with    --window: A 7x7, B 3x3$' "$scratch/out" || fail "settings that differ"
[ "$(grep -c ': A [^(]' "$scratch/out")" -eq 1 ] || fail "settings that do not differ"
run compare a b --json
grep -q '"name": "--window",' "$scratch/out" || fail "--json: settings that differ"
run compare a b.csv
! grep -q 'made with' "$scratch/out" || fail "settings of one alone"
cp -r b odd
# Any JSON layout, and totals above 64 bits.
sed 's/"sse_before": \([0-9]*\),/"sse_before": 9999999999999999999999\1,/' b/summary.json | tr -d '\n' >odd/summary.json
run compare a odd
grep -q '^made with    --window: A 7x7, B 3x3$' "$scratch/out" || fail "settings of a summary.json without line breaks"
[ "$(grep -c ': A [^(]' "$scratch/out")" -eq 1 ] || fail "settings that its layout or totals change"
printf '{\n  "parameters": {\n    "window": "\033[1m",\n    "\n    "x": \n' >odd/summary.json
run compare a odd
[ "$status" -eq 5 ] || fail "an odd summary.json"
! grep -q "$(printf '\033')" "$scratch/out" || fail "control characters of summary.json"

# warned WORDS: the last run printed one warning with these words.
warned() {
    [ "$(grep -c 'warning: ' "$scratch/err")" -eq 1 ] || fail "not exactly one warning of '$1'"
    grep -qF "gpume: warning: $1" "$scratch/err" || fail "no warning of '$1'"
}
# Data that cannot be compared are reported: statistics without a row or a table, and an invalid summary.
for rows in 1 3 4; do
    rm -rf short
    cp -r a short
    head -$rows a/frames.csv >short/frames.csv
    for runs in "a short" "short a" "a.csv short"; do
        run compare $runs
        [ "$status" -eq 0 ] || fail "compare $runs: exit status $status"
        warned "short: frames.csv has no row for $((5 - rows)) of 4 frame pairs"
    done
done
sed 3d a/frames.csv >short/frames.csv
run compare short b.csv
[ "$status" -eq 5 ] || fail "a gap in frames.csv: exit status $status"
warned "short: frames.csv has no row for 1 of 4 frame pairs"
rm short/frames.csv
run compare a short
[ "$status" -eq 0 ] || fail "no frames.csv: exit status $status"
warned "short: has no frames.csv"
expect 0 compare a.csv short
[ ! -s "$scratch/err" ] || fail "a warning of figures that neither has"
# If one or both tables lack references, statistics are matched by frame, which is impossible with two fields per frame.
for tables in vectors frames "vectors frames"; do
    rm -rf short && cp -r a short
    for table in $tables; do cut -d, -f1,3- a/$table.csv >short/$table.csv; done
    expect 0 compare a short
    [ ! -s "$scratch/err" ] || fail "$tables without ref: $(cat "$scratch/err")"
    [ "$(grep -c '^mean .* - ' "$scratch/out")" -eq 0 ] || fail "$tables without ref: no figures"
done
expect 0 clip.y4m --backend "$engine" -q -o both --direction both
expect 0 compare both both
[ ! -s "$scratch/err" ] || fail "both directions: $(cat "$scratch/err")"
cp -r both short2 && cut -d, -f1,3- both/frames.csv >short2/frames.csv
refused 3 short2/frames.csv 4 -- compare both short2
cp -r a broken
for broken in 's/.*//' '2,$d' '/"engine"/,$d' '$d' 's/"parameters"/"p"/' '1d'; do
    sed "$broken" a/summary.json >broken/summary.json
    run compare a broken
    [ "$status" -eq 0 ] || fail "summary.json, $broken: exit status $status"
    warned "broken/summary.json: is not a summary of a run"
    ! grep -q 'made with' "$scratch/out" || fail "settings of a broken summary.json"
done
: >broken/summary.json
run compare broken a
warned "broken/summary.json: is not a summary of a run"
rm broken/summary.json
expect 0 compare a broken
[ ! -s "$scratch/err" ] || fail "a warning of a summary.json that is not there"

# Fields in one file only; different grids; no common frame.
mismatch a few
grep -q '^only in A  *2 frame pairs' "$scratch/out" || fail "fields of A alone"
mismatch few a
grep -q '^only in B  *2 frame pairs' "$scratch/out" || fail "fields of B alone"
refused 3 8x8 0,0 16x16 -- compare a large
sed '50,$d' a.csv >one.csv
sed '2,49d' a.csv >rest.csv
refused 3 --direction --ref-distance -- compare one.csv rest.csv
sed '30,40d' a.csv >gap.csv
refused 3 1 28 -- compare a.csv gap.csv
awk -F, -v OFS=, 'NR > 1 && $1 == 2 { $2 = 0 } 1' a.csv >refs.csv
expect 0 compare a refs.csv
grep -q '^references  *differ in 1 frame pair$' "$scratch/out" || fail "references"

head -2 a.csv >block.csv
refused 3 1 block.csv a.csv 48 -- compare block.csv a.csv
# Tables of other programs: other column order, additional columns, quotes, line ends, a byte order mark.
awk -F, -v OFS=, '{ printf "%s\r\n", (NR == 1 ? "\357\273\277" : "") "\"" $9 "\"" OFS $8 OFS $7 OFS $6 OFS $5 \
    OFS "\"a,\"\"b\"" OFS $4 OFS $3 OFS $1 }' a.csv >other.csv
expect 0 compare a other.csv
sed 's/,/ ,@ /g; s/^/  /; s/$/ /' a.csv | tr @ '\t' >blanks.csv
expect 0 compare a blanks.csv
sed '1s/frame/" frame"/' a.csv >quoted.csv
refused 3 quoted.csv 1 "'frame'" -- compare a quoted.csv
for name in x ref cost; do
    sed "1s/\$/,$name/; 2,\$s/\$/,0/" a.csv >twice.csv
    refused 3 twice.csv 1 "'$name'" -- compare a twice.csv
done
sed '1s/$/,more,more/; 2,$s/$/,0,0/' a.csv >more.csv
expect 0 compare a more.csv
refused 3 none.csv -- compare a -- ./none.csv

# Maps.
for map in 'm%d.png' m.mkv m.y4m m.mp4; do
    run -q compare a b --map "$map"
    [ "$status" -eq 5 ] || fail "--map $map: exit status $status"
done
for name in m1.png m2.png m3.png m4.png m.mkv m.y4m m.mp4; do
    [ -s "$name" ] || fail "$name is not there"
done
refused 2 m.y4m -- compare a b --map m.y4m
run -q compare a b --map m.y4m -y
[ "$status" -eq 5 ] || fail "--map -y"
# The table names the files at its end; nothing else does, and -q prints nothing.
run compare a b --map m.y4m --report pages.html -y
tail -2 "$scratch/out" | grep -c '^written      \(m.y4m\|pages.html\)$' | grep -qx 2 || fail "outputs are not named"
for quiet in -q --json --csv; do
    run compare a b --map m.y4m --report pages.html -y $quiet
    ! grep -q '^written' "$scratch/out" "$scratch/err" || fail "outputs are named with $quiet"
done
rm pages.html
expect 2 compare a b --map m.txt
for map in - /dev/stdout; do
    refused 2 --map "$map" -- compare a b --map $map
done
expect 2 compare a b --map m.png
expect 2 compare a b --map 'm%d.pgm'
run -q compare a b --map 'c%d.ppm'
# The block at (0,0) of frame 1 differs, the last one is gray.
[ "$(tail -c 3 c1.ppm | od -An -tu1 | tr -d ' ')" = 646464 ] || fail "a block that agrees is not gray"
paste -d, a.csv b.csv | awk -F, '$1 == 1 && $3 == 0 && $4 == 0 { exit !($9 == $19 && $7 != $17) }' &&
    { tail -c $((64 * 48 * 3)) c1.ppm | head -c 3 | od -An -tu1 | awk '{ exit !($2 > $1 && $2 > $3) }' ||
        fail "a block of the same cost is not green"; }
expect 3 compare a large --map bad.mkv
[ ! -e bad.mkv ] || fail "bad.mkv was left behind"

# Maps that cannot be drawn are refused before anything is written, and existing files stay: two fields per frame, as in
# the main command; a late frame on another grid or out of order; a picture too large; an input's own name.
# undrawn STATUS "WORD..." A B: in stills and in videos, new and old.
undrawn() {
    for map in 'u%d.png' u.mkv u.mp4 u.y4m; do
        rm -rf maps && mkdir maps
        expect $1 compare "$3" "$4" --map "maps/$map"
        names $2
        only maps
        for old in u.mkv u.mp4 u.y4m u0.png u1.png u9.png; do echo old >maps/$old; done
        expect $1 compare "$3" "$4" --map "maps/$map" -y
        names $2
        only maps u.mkv u.mp4 u.y4m u0.png u1.png u9.png
        [ "$(cat maps/* | sort | uniq -c | tr -s ' ')" = " 6 old" ] || fail "$3, $4: an old $map is lost"
    done
}
undrawn 2 "both --map" both both
undrawn 2 "both/vectors.csv both --map" both/vectors.csv both
run compare both a --map 'one%d.ppm'
[ "$status" -eq 5 ] || fail "both directions and one: exit status $status"
run compare a a.csv --map 'same%d.ppm'
for i in 1 2 3 4; do
    cmp -s one$i.ppm same$i.ppm || fail "both directions and one: the map of frame $i"
done
[ ! -e one0.ppm ] && [ ! -e one5.ppm ] || fail "both directions and one: maps of fields that one has"
awk -F, -v OFS=, 'NR > 1 && $1 == 4 && $3 == 8 { $5 = 7 } 1' a.csv >late.csv
undrawn 3 "4 1 8x8 8,0 7x8" a late.csv
sed '$s/^4/3/' a.csv >late.csv
undrawn 3 "late.csv 193" a late.csv
awk -F, -v OFS=, '{ print } END { print 4, 3, 1000000, 1000000, 8, 8, 0, 0, 0, 0 }' a.csv >late.csv
undrawn 3 "1000008x1000008 --map" late.csv late.csv
for name in v.mkv v1.png; do
    cp a.csv $name
    map=$(echo $name | sed 's/1/%d/')
    refused 2 "$map" -- compare $name b --map "$map" -y
    cmp -s a.csv $name || fail "$name: an input is lost"
done
# Through a pipe it is detected during the run: earlier pictures are complete, and no video exists.
rm -rf maps && mkdir maps
for map in maps/u.mkv 'maps/u%d.png'; do
    arguments="compare - both --map $map"
    "$gpume" compare - both --map "$map" <both/vectors.csv >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 2 ] || fail "two fields a frame through a pipe: $map"
    names both --map
    [ "$map" != maps/u.mkv ] || only maps
done
only maps u0.png u1.png
# Pictures show the blocks of all fields, even if the first fields cover less; the rest is black.
awk -F, '$1 != 1 || ($3 < 32 && $4 < 16)' a.csv >less.csv
expect 0 compare less.csv less.csv --map 'l%d.ppm'
for i in 1 4; do
    [ "$(head -c 9 l$i.ppm | tr '\n' ' ')" = "P6 64 48 " ] || fail "l$i.ppm: not the size of all"
done
[ "$(tail -c 3 l1.ppm | od -An -tu1 | tr -d ' ')" = 000 ] || fail "no block, and yet not black"
[ "$(tail -c 3 l4.ppm | od -An -tu1 | tr -d ' ')" = 646464 ] || fail "a block that agrees is not gray"

# Times and rate are those of the runs, if both have them; otherwise the rate is 25 per second.
if have ffmpeg && have ffprobe; then
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=64x48:rate=10:duration=0.4 -pix_fmt gray -c:v ffv1 \
        -vf 'settb=1/1000,setpts=100*(N+N*N)' -fps_mode passthrough -enc_time_base 1:1000 uneven.mkv ||
        fail "ffmpeg cannot make uneven.mkv"
    expect 0 uneven.mkv --backend "$engine" -q -o ua
    expect 0 uneven.mkv --backend "$engine" -q -o ub -w 2
    # shown WANTED A B NAME
    shown() {
        run -q compare "$2" "$3" --map "$4" -y
        [ -s "$4" ] || fail "$2, $3: no $4"
        found=$(ffprobe -v error -show_entries frame=pts_time -of csv=p=0 "$4" | tr -s ',\n' '  ')
        [ "$found" = "$1" ] || fail "$2, $3, $4: times $found, not $1"
    }
    for name in t.mkv t.mp4; do
        shown '0.200000 0.600000 1.200000 ' ua ub $name
        shown '0.000000 0.040000 0.080000 ' ua ub/vectors.csv $name
    done
    rm ub/frames.csv
    sed 's#"frame_rate": .*#"frame_rate": "5/1",#' ua/summary.json >five
    cp five ua/summary.json
    cp five ub/summary.json
    shown '0.000000 0.200000 0.400000 ' ua ub t.mkv
    shown '0.000000 0.200000 0.400000 ' ua ub t.y4m
    cp -r ua uc
    sed '3s/,[0-9.]*,\([0-9]*,[0-9]*,[0-9]*,[0-9]*,[0-9]*,[0-9]*,[^,]*,[^,]*\)$/,soon,\1/' ua/frames.csv >uc/frames.csv
    refused 3 uc/frames.csv 3 -- compare ua uc
else
    echo "ffmpeg is not here: the times of maps are not tested"
fi

make_clip small.y4m 32 32 8 5
# Over the frames that were searched: exactly the blocks that differ are tinted. Small maps have a key on request only.
if have ffmpeg; then
    expect 0 compare a a --video clip.y4m --map 'ground%d.ppm' -q
    run -q compare a b --video clip.y4m --map 'over%d.ppm'
    [ "$status" -eq 5 ] || fail "--video: exit status $status"
    for i in 1 2; do
        awk -F, -v f=$i 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["frame"] != f { next }
            { place = $at["x"] "," $at["y"]; now = $at["dx"] "," $at["dy"] "," $at["cost"] }
            NR == FNR { was[place] = now; next }
            was[place] != now { print place }' a.csv b/vectors.csv | sort >wanted
        for name in ground over; do
            [ "$(head -c 13 $name$i.ppm | tr '\n' ' ')" = "P6 64 48 255 " ] || fail "$name$i.ppm: its head"
            tail -c $((64 * 48 * 3)) $name$i.ppm | od -An -v -tu1 -w3 >$name
        done
        paste -d' ' ground over | awk '$1 != $4 || $2 != $5 || $3 != $6 {
            n = NR - 1; x = n % 64; y = (n - x) / 64; print x - x % 8 "," y - y % 8 }' | sort -u >found
        [ -s wanted ] && cmp wanted found || fail "frame $i: other blocks are tinted than those that differ"
        ffmpeg -nostdin -v error -i clip.y4m -vf "select=eq(n\,$i)" -frames:v 1 -pix_fmt gray -f rawvideo - |
            od -An -v -tu1 -w1 | paste -d' ' - ground |
            awk '{ d = int($1 * 150 / 256) - $2 } $2 != $3 || $3 != $4 || d > 2 || d < -2 { exit 1 }' ||
            fail "frame $i: the ground is not the frame in dark gray"
    done
    run -q compare a b --video clip.y4m --map 'keyless%d.ppm' --map-key off
    cmp over1.ppm keyless1.ppm || fail "--map-key auto draws a key on a small map"
    run -q compare a b --video clip.y4m --map 'keyed%d.ppm' --map-key on
    ! cmp -s over1.ppm keyed1.ppm || fail "--map-key on draws no key"
    refused 2 --video small.y4m 32x32 64x48 -- compare a b --video small.y4m --map x%d.ppm
    head -c $(($(head -1 clip.y4m | wc -c) + 2 * 3078)) clip.y4m >ends.y4m
    refused 3 ends.y4m 2 -- compare a b --video ends.y4m --map x.mkv
    [ ! -e x.mkv ] || fail "a map of a part"
    expect 3 compare a b --video none.y4m --map x.mkv
fi
refused 2 --video --map --report -- compare a b --video clip.y4m
# The video stays as it is.
cp clip.y4m kept.y4m
refused 2 kept.y4m -- compare a b --video kept.y4m --map kept.y4m -y
cmp -s clip.y4m kept.y4m || fail "--map replaced the video"
refused 2 --video -- compare - b --video - --map x.mkv
refused 2 --vf --video -- compare a b --map x.mkv --vf hflip
refused 2 --map-key --map -- compare a b --map-key on

# After a signal, the unfinished map is removed.
mkfifo feed
"$gpume" compare - b --map late.mkv <feed >"$scratch/out" 2>"$scratch/err" &
pid=$!
exec 9>feed
head -100 a.csv >&9
wait_for has_temporary late.mkv
kill -TERM $pid
# taken: the signal has been, and may have ended the program already.
taken() {
    [ ! -e /proc/$pid/status ] || grep -q '^ShdPnd:[[:space:]]*0*$' /proc/$pid/status
}
wait_for taken
tail -n +101 a.csv | while read -r line; do
    kill -0 $pid 2>/dev/null || break
    echo "$line"
    sleep 0.01 # the end of the file must not come before the signal's work is done
done >&9 2>/dev/null
exec 9>&-
wait $pid
[ $? -eq 1 ] || fail "a signal: not exit status 1"
says interrupted
for left in late.mkv* .late.mkv* .*late*; do
    [ ! -e "$left" ] || fail "a signal: $left was left behind"
done

# Files without vectors: one line that names the file and the position.
# flawed FILE WORD...
flawed() {
    refused 3 "$@" -- compare a "$1"
}
: >empty.csv
flawed empty.csv
head -1 a.csv >header.csv
flawed header.csv
echo "frame,ref,x,y" >columns.csv
flawed columns.csv 1 "'w'"
head -c 2000 a.csv >cut.csv
refused 3 cut.csv -- compare a cut.csv
sed '20s/,[^,]*$//' a.csv >cells.csv
flawed cells.csv 20 9 10
sed '20s/$/,1/' a.csv >cells.csv
flawed cells.csv 20 11
sed '7s/,[^,]*,\([^,]*\)$/,4294967296,\1/' a.csv >large.csv
flawed large.csv 7 4294967296
sed '7s/,[^,]*,\([^,]*\)$/,9999999999999999999999999,\1/' a.csv >large.csv
flawed large.csv 7 9999999999999999999999999
sed '7s/,[^,]*,\([^,]*\)$/,1e3,\1/' a.csv >word.csv
flawed word.csv 7 1e3
sed '7s/,[^,]*,\([^,]*\)$/,,\1/' a.csv >word.csv
flawed word.csv 7
sed '7s/^1,/-1,/' a.csv >sign.csv
flawed sign.csv 7 -1
sed '60{h;d};61G' a.csv >order.csv
flawed order.csv 61
sed '60p' a.csv >twice.csv
flawed twice.csv 61
{ head -1 a.csv; tail -48 a.csv; sed -n '2,49p' a.csv; } >frames.csv
flawed frames.csv 50
head -c 100000 /dev/zero | tr '\0' x >long.csv
flawed long.csv 1
head -c 1000 /dev/zero >zero.csv
expect 3 compare a zero.csv
printf 'a\0b\n' >zero.csv
flawed zero.csv
cp -r a folders && rm folders/frames.csv && mkdir folders/frames.csv
refused 3 folders/frames.csv -- compare a folders
mkdir bare
flawed bare vectors.csv
cp -r a badframes
sed 's/inf\|[0-9.]*$/x/' a/frames.csv >badframes/frames.csv
refused 3 badframes/frames.csv -- compare a badframes
flawed clip.y4m

# The page: its contents are read in Chromium by test_report_browser.sh.
expect 0 compare -q a a --report page.html
grep -q '"names": \[' page.html || fail "a page without names"
cp page.html first.html
refused 2 page.html -- compare a a --report page.html
expect 0 compare -qy "$PWD/a" a/ --report page.html
cmp first.html page.html || fail "the page depends on how folders are spelled"
! grep -q "$PWD" page.html || fail "the page names a folder"
for name in page.txt - .html; do
    refused 2 "$name" -- compare a a --report "$name"
    [ "$name" = - ] || ! grep -q 'be - for standard output' "$scratch/err" || fail "$name: offers - and refuses it"
done
expect 0 compare -q a a --report seen.html --video clip.y4m
grep -q 'id="picture-0"' seen.html || fail "a page without pictures"
! grep -q 'id="picture-0"' page.html || fail "pictures without a video"
refused 2 --video small.y4m 32x32 -- compare a a --report unseen.html --video small.y4m
[ ! -e unseen.html ] || fail "a failed comparison left a page"
expect 1 compare a a --report missing/page.html
expect 3 compare a nothing --report new.html
[ ! -e new.html ] || fail "a failed comparison left a page"

# Usage.
expect 2 compare
expect 2 compare a
expect 2 compare a b few
expect 2 compare - -
mkfifo once
refused 2 ./once -- compare once ./once
true | "$gpume" compare - /dev/stdin >"$scratch/out" 2>"$scratch/err"
[ $? -eq 2 ] || fail "a pipe for both runs"
names /dev/stdin
expect 2 compare a b -w 8
expect 2 compare a b -o x
expect 2 clip.y4m --map m.mkv
says "gpume compare"
expect 3 ./compare
if [ -w /dev/full ]; then
    for form in "" --json --csv; do
        "$gpume" compare a a $form >/dev/full 2>"$scratch/err"
        [ $? -eq 1 ] || fail "compare $form: /dev/full taken for success"
        says "standard output"
        [ "$form" ] || says "-q omits the table"
    done
fi
exit 0
