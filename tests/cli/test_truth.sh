#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume compare --truth: errors against hand-made flow, which are known in closed form.
. "$(dirname "$0")/common.sh"
have python3 || skip "no python3"

make() {
    python3 "$here/../support/make_flow.py" "$@" || fail "no $1"
}

# field FRAME REF DX DY: rows of 32x16 pixels in blocks of 8.
field() {
    for y in 0 8; do for x in 0 8 16 24; do echo "$1,$2,$x,$y,8,8,$3,$4"; done; done
}
header=frame,ref,x,y,w,h,dx,dy
run_of() {
    echo $header
    field "$@"
}
run_of 1 0 0 0 >zero.csv
run_of 1 0 3 4 >three.csv
run_of 1 0 2.75 4 >near.csv

# value KEY VALUE: in the last run's JSON.
value() {
    grep -qE "^ *\"$1\": $2,?\$" "$scratch/out" || fail "$1 is not $2 but$(grep "\"$1\"" "$scratch/out")"
}
# degrees U V TRUE_U TRUE_V: the definition, by the cosine.
degrees() {
    awk -v u="$1" -v v="$2" -v a="$3" -v b="$4" 'BEGIN {
        c = (1 + u * a + v * b) / (sqrt(1 + u * u + v * v) * sqrt(1 + a * a + b * b))
        printf "%.6f", atan2(sqrt(1 - c * c), c) * 45 / atan2(1, 1) }'
}

for kind in flo png; do
    # (3,4) is 5 pixels long, which is not above 5.
    make three.$kind 32 16 three
    expect 0 compare zero.csv --truth three.$kind --json
    for row in "fields 1" "known 512" "pixels 512" "epe 5.000000" "epe_max 5.000000" "above_1 512" "above_3 512" \
        "above_5 0" "outliers 512" "angle $(degrees 0 0 3 4)" "angle 78.690068"; do
        value $row
    done
    expect 0 compare three.csv --truth three.$kind --json
    for row in "epe 0.000000" "epe_max 0.000000" "above_1 0" "outliers 0" "angle 0.000000"; do value $row; done
    expect 0 compare near.csv --truth three.$kind --json
    for row in "epe 0.250000" "above_1 0" "angle $(degrees 2.75 4 3 4)"; do value $row; done
    # Only known pixels count.
    make half.$kind 32 16 half
    expect 0 compare zero.csv --truth half.$kind --json
    for row in "known 256" "pixels 256" "epe 5.000000" "above_3 256"; do value $row; done
    # At a threshold, and 1/64 pixel above it.
    make steps.$kind 32 16 steps
    expect 0 compare zero.csv --truth steps.$kind --json
    for row in "above_1 384" "above_3 256" "above_5 128" "outliers 256" "epe 2.511719" "epe_max 5.015625"; do value $row; done
    # KITTI's outliers: 5 pixels are above 5 % of 60, but not of 160.
    make lengths.$kind 32 16 lengths
    { echo $header; field 1 0 155 0 | awk -F, -v OFS=, '$3 == 0 { $7 = 55 } 1'; } >lengths.csv
    expect 0 compare lengths.csv --truth lengths.$kind --json
    for row in "above_3 512" "above_5 0" "outliers 128" "epe 5.000000"; do value $row; done
    make none.$kind 32 16 none
    refused 3 "none.$kind" -- compare zero.csv --truth none.$kind
done
make unknown.flo 32 16 unknown
expect 0 compare zero.csv --truth unknown.flo --json
value known 256
make far.flo 32 16 far
refused 3 far.flo 16384 -- compare zero.csv --truth far.flo

# Dense flow in place of a run: vectors of any fraction, against itself and against another; with numbers in its name;
# the rest of a block of --block has to agree.
make dense.flo 32 16 dense
make dense1.flo 32 16 dense
expect 0 compare dense.flo --truth dense.flo --json
for row in "pixels 512" "epe 0.000000" "epe_max 0.000000"; do value $row; done
expect 0 compare dense.flo --truth three.flo --json
value epe "$(awk 'BEGIN { for (y = 0; y < 16; y++) for (x = 0; x < 32; x++)
    sum += sqrt((x / 1024 - 0.5) ^ 2 + (y / 2048 - 4) ^ 2); printf "%.6f", sum / 512 }')"
expect 0 compare "dense%d.flo" --truth dense%d.flo --json
value pixels 512
refused 3 dense.flo "(1,0)" -- compare dense.flo --truth three.flo --block 8
refused 3 dense.flo 0.25 -- compare dense.flo zero.csv

# A damaged size takes no memory; what follows the last vector is no flow.
{ head -c 4 three.flo; printf '\140\352\0\0\140\352\0\0'; tail -c +13 three.flo; } >huge.flo
refused 3 32x16 huge.flo 60000x60000 -- compare zero.csv --truth huge.flo
{ cat three.flo; printf 'x'; } >more.flo
refused 3 more.flo 32x16 -- compare zero.csv --truth more.flo

# Pixels without a block are counted apart; blocks that cover a pixel twice are refused.
sed '$d' zero.csv >short.csv
expect 0 compare short.csv --truth three.flo
grep -q '^without vectors  64 more pixels with truth$' "$scratch/out" || fail "pixels without vectors"
grep -q '^end-point error  5.000 pixels on average, 5.000 at most$' "$scratch/out" || fail "the table"
{ cat zero.csv && field 1 0 0 0; } >twice.csv
run compare twice.csv --truth three.flo
[ "$status" -eq 3 ] || fail "blocks that cover the picture twice"
# Also where other pixels have no block, so that there are no more blocks than fit the picture.
{ echo $header && echo 1,0,0,0,16,16,0,0 && echo 1,0,8,0,16,16,3,4; } >overlap.csv
refused 3 overlap.csv 1 -- compare overlap.csv --truth three.flo
make small.png 24 16 three
refused 3 32x16 small.png 24x16 -- compare zero.csv --truth small.png

# Pictures in the wrong order, whose vectors lead the other way: refused in every form; not where the reference comes
# later, or where the names of a pattern say which pair the flow is of.
run_of 1 0 -3 -4 >turned.csv
for form in '' --json --csv; do
    expect 3 compare turned.csv --truth three.flo $form
    says "gpume SECOND FIRST"
done
run_of 0 1 -3 -4 >later.csv
expect 0 compare later.csv --truth three.flo --json
value epe 10.000000
cp three.flo pair_1-0.flo
expect 0 compare turned.csv --truth pair_%d-%d.flo --json
value epe 10.000000
# Vectors that are wrong, but not turned: across the flow, and too short.
for vector in "4 -3" "-4 3" "1 0" "0 0"; do
    run_of 1 0 $vector >across.csv
    expect 0 compare across.csv --truth three.flo
done
# Two pictures of a texture that moves by (5,-3): right in one order, refused in the other.
python3 -c 'import random
random.seed(1)
wide = [[random.randrange(256) for x in range(96)] for y in range(80)]
for name, dx, dy in (("first", 5, 0), ("second", 0, 3)):
    rows = b"".join(bytes(wide[y + dy][dx:dx + 64]) for y in range(48))
    open(name + ".pgm", "wb").write(b"P5 64 48 255\n" + rows)
import struct
open("moves.flo", "wb").write(b"PIEH" + struct.pack("<ii", 64, 48) + struct.pack("<ff", 5, -3) * 64 * 48)'
expect 0 second.pgm first.pgm --backend "$engine" -q -o forwards
expect 0 compare forwards --truth moves.flo
grep -qE '^angular error +[0-9]\.' "$scratch/out" || fail "the right order: $(grep angular "$scratch/out")"
expect 0 first.pgm second.pgm --backend "$engine" -q -o backwards
expect 3 compare backwards --truth moves.flo

# Patterns: the field of frame N to the next one takes file N plus --truth-start.
{ echo $header && field 0 1 3 4 && field 1 0 9 9 && field 1 2 0 0 && field 2 3 1 1; } >both.csv
cp three.png flow_000005.png
cp three.png flow_000006.png
expect 0 compare both.csv --truth flow_%06d.png --truth-start 5 --json
for row in "fields 2" "fields_without_truth 1" "fields_with_earlier_reference 1" "epe 2.500000"; do value $row; done
expect 0 compare both.csv --truth flow_%06d.png --truth-start 5 --csv
[ "$(sed -n 3p "$scratch/out")" = "1,2,512,512,5.000000,5.000000,512,512,0,512,78.690068" ] || fail "--csv"
manual=$(sed -n '/^prints a row for each frame pair with/,/\.$/{s/^\.Va //; s/ \.$//; s/ //g; /,/p;}' \
    "$here/../../man/gpume-compare.1" | tr -d '\n')
[ "$(head -1 "$scratch/out")" = "$manual" ] || fail "--csv: the columns are not those of the man page: $manual"
refused 3 --truth-start -- compare both.csv --truth flow_%06d.png --truth-start 50
refused 3 --direction -- compare zero.csv --truth flow_%06d.png
refused 3 three.flo -- compare both.csv --truth three.flo
cp three.flo 2-3.flo
expect 0 compare both.csv --truth %d-%d.flo --json
value fields 1

# gpume's own dense files, from a search and back: no error at all.
make_clip clip.y4m 64 48 8 3
expect 0 clip.y4m --backend "$engine" -q --direction future -o own
expect 0 convert own/vectors.csv flow%d.flo
expect 0 compare own --truth flow%d.flo --json
value epe 0.000000
value fields 2

# Wrong use and damaged files.
refused 2 --truth -- compare zero.csv three.csv --truth three.flo
refused 2 --truth -- compare zero.csv
expect 2 compare zero.csv --truth three.flo --map a.png
expect 2 compare zero.csv --truth three.flo --report a.html
expect 2 compare zero.csv --truth a%d%d%d.flo
expect 2 compare zero.csv three.csv --truth-start 3
expect 3 compare zero.csv --truth missing.flo
refused 3 zero.csv -- compare zero.csv --truth zero.csv
head -c 60 three.png >cut.png
refused 3 cut.png -- compare zero.csv --truth cut.png
head -c 2000 three.flo >cut.flo
refused 3 cut.flo -- compare zero.csv --truth cut.flo
expect 0 clip.y4m --backend "$engine" -q --predicted gray%d.png
refused 3 gray1.png 16 -- compare zero.csv --truth gray1.png
