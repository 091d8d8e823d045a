#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --report in its three formats, compared with frames.csv and vectors.csv of the same run; names that
# are refused; names that contain markup.
. "$(dirname "$0")/common.sh"

# values NAME: NAME.html, NAME.json, NAME.csv and the tables in NAME agree.
values() {
    cut -d, -f1-11 "$1.csv" | cmp - "$1/frames.csv" || fail "$1.csv does not begin like frames.csv"
    [ "$(wc -c <"$1.html")" -le 20000000 ] || fail "$1.html is too large"
    if have python3; then
        python3 "$here/report_values.py" "$1" >"$scratch/out" 2>"$scratch/err" || fail "values of $1"
    fi
}

# report NAME PICTURES ARGUMENTS: all forms, one run each.
report() {
    name=$1
    pictures=$2
    shift 2
    expect 0 -q "$@" --backend "$engine" --report "$name.html" --report-pictures "$pictures" -o "$name"
    expect 0 -q "$@" --backend "$engine" --report "$name.json"
    expect 0 -q "$@" --backend "$engine" --report "$name.csv"
    values "$name"
}

make_clip clip.y4m 46 34 8 9
expect 0 clip.y4m --backend "$engine" --report alone.html
only . clip.y4m alone.html
grep -q '^written      alone.html$' "$scratch/out" || fail "closing summary"
rm alone.html
report plain 24 clip.y4m -w 5
only plain vectors.csv frames.csv summary.json
report wide 24 clip.y4m -b 4 -w 20x3 --edge inside --ref-distance 2 --start 4 --frames 3
report far 24 clip.y4m -b 16 -w 200x70
report none 0 clip.y4m
report one 1 clip.y4m
report three 3 clip.y4m
make_clip deep.y4m 50 70 16 4
report deep 24 deep.y4m
make_clip dot.y4m 1 1 8 3
report dot 24 dot.y4m -w 3
make_clip column.y4m 3 1500 10 3
report column 24 column.y4m -b 128 -w 2
make_clip long.y4m 24 16 8 150
report long 9 long.y4m
[ "$(grep -c 'id="set-' long.html)" -eq 9 ] || fail "not as many pictures as asked for"
# The container's length may be wrong, or unknown.
"$gpume" - -q --backend "$engine" --report piped.html --report-pictures 9 <long.y4m || fail "by a pipe"
[ "$(grep -c 'id="set-' piped.html)" -eq 9 ] || fail "not as many pictures from a pipe"
for pictures in 60 100; do
    expect 0 -qy long.y4m --backend "$engine" --report long.html --report-pictures $pictures
    [ "$(grep -c 'id="set-' long.html)" -eq $pictures ] || fail "not $pictures pictures of 149 fields"
    [ ! -s "$scratch/err" ] || fail "a warning although there is room"
done

# However many pictures are asked for, and however badly they are compressed.
make_clip big.y4m 1280 720 8 60
expect 0 -q big.y4m --backend "$engine" -w 1 --report big.html --report-pictures 1000
[ "$(wc -c <big.html)" -le 20000000 ] || fail "too large"
kept=$(grep -c 'id="set-' big.html)
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one line about the pictures that have no room"
names big.html "$kept" 59 20 --report-dir
expect 0 -q big.y4m --backend "$engine" -w 1 --report big.html --report-pictures 1000 --direction both -y
kept=$(grep -c 'id="set-' big.html)
says "has all pictures of $kept frames, since those of 60 " # each with both pairs
expect 0 -q big.y4m --backend "$engine" -w 1 --report big.html -y
[ ! -s "$scratch/err" ] || fail "a warning about a number that nobody asked for"
[ "$(grep -c 'id="set-' big.html)" -ge 2 ] || fail "hardly any pictures where there is room"
[ "$(grep -c 'id="[sf][a-z]*-' big.html)" -ge 10 ] || fail "hardly anything to play where there is room"
rm big.*

# Frames too large for all pairs to be exact: the liveliest one is.
make_clip large.y4m 2000 1300 8 6
report large 4 large.y4m -b 64 -w 1
[ "$(grep -o '"exact": true' large.html | wc -l)" -eq 1 ] || fail "not one pair with luma"
rm -r large*

# Equal frames have no error, no costliest block and an infinite PSNR.
printf 'YUV4MPEG2 W8 H8 F25:1 Cmono\n' >equal.y4m
for frame in 1 2 3; do
    printf 'FRAME\n' && printf '%064d' 7
done >>equal.y4m
report equal 24 equal.y4m
grep -q ',inf,inf,' equal.csv || fail "a PSNR that is not infinite"

# A scene cut: noise after black.
if have python3; then
    python3 -c 'import random, sys
random.seed(2)
out = sys.stdout.buffer
out.write(b"YUV4MPEG2 W64 H64 F25:1 Cmono\n")
for t in range(8):
    scene = random.Random(t // 4)
    out.write(b"FRAME\n" + bytes(scene.randrange(200) + t % 4 for i in range(64 * 64)))' >cut.y4m
    report cut 24 cut.y4m
    [ "$(cut -d, -f1,17 cut.csv | grep ',1$')" = 4,1 ] || fail "the cut was not found, or others were"
fi

# Names are data: no markup, no end of a string, whatever bytes they have.
mkdir 'x<'
evil="x</script><script>document.title='owned'<!--\"&
$(printf '\377\342\200\250').y4m"
cp clip.y4m "$evil"
expect 0 -q "$evil" --backend "$engine" --report evil.html
! grep -q '<script>document' evil.html || fail "a name became markup"
[ "$(grep -o '</script>' evil.html | wc -l)" -eq "$(grep -o '<script[ >]' evil.html | wc -l)" ] ||
    fail "elements do not match"
expect 0 -q "$evil" --backend "$engine" --report evil.json
! have python3 || python3 -c 'import json; json.load(open("evil.json", encoding="utf-8"))' || fail "no JSON"

# One file without external references.
! grep -Eo '(src|href)="[^"#]*"' plain.html | grep -v '"data:' || fail "refers to something else"
grep -q "default-src 'none'" plain.html || fail "no policy"
grep -q 'The MIT License' plain.html || fail "the chart library's licence is not there"

# The same run, the same page, times aside.
expect 0 -q clip.y4m --backend "$engine" -w 5 --report again.html
for name in plain again; do
    sed '/"stages"/,/^  },$/d; /id="bytes"/d' $name.html >$name.same
done
cmp plain.same again.same || fail "two runs, two reports"

# A folder: the page, and a file for every field.
expect 0 -q clip.y4m --backend "$engine" -w 5 --report-dir shared --report beside.html --report-pictures 100
only shared frames index.html
[ "$(ls shared/frames | sort -n | tr '\n' ' ')" = "1.js 2.js 3.js 4.js 5.js 6.js 7.js 8.js " ] || fail "not a file per field"
[ "$(wc -c <shared/index.html)" -lt "$(wc -c <beside.html)" ] || fail "the page holds its pictures"
! grep -q "$(pwd)" shared/index.html || fail "a folder is in the page"
if have python3; then
    python3 - <<'END' || fail "files are not those of the page with all pictures"
import json, re
page = open("beside.html", encoding="utf-8").read()
for frame in range(1, 9):
    text = open(f"shared/frames/{frame}.js", encoding="utf-8").read()
    head = f"takeSet({frame}, "
    assert text.startswith(head) and text.endswith(");\n"), text[:40]
    within = json.loads(re.search(f'id="set-{frame}">(.*?)</script>', page, re.S).group(1))
    assert json.loads(text[len(head):-3]) == within, frame
END
fi
expect 0 -q clip.y4m --backend "$engine" -w 5 --report-dir again/
diff -r shared/frames again/frames || fail "two runs, two folders"
refused 2 shared/index.html -- clip.y4m --report-dir shared
expect 0 -qy clip.y4m --backend "$engine" -w 5 --report-dir shared --frames 2
refused 2 --report-dir clip.y4m -- clip.y4m --report-dir clip.y4m
refused 1 missing/folder -- clip.y4m --backend "$engine" --report-dir missing/folder
refused 2 --ref-distance -- clip.y4m --report-dir both --direction both --ref-distance 1,2
refused 2 --compat -- clip.y4m --report both.html --compat ffmpeg
# Both directions: a file for each target, and the same vectors and tables with and without a page.
expect 0 -q clip.y4m --backend "$engine" -w 5 --report-dir both --direction both -o two
[ "$(ls both/frames | wc -l)" -eq 9 ] || fail "not a file per target"
expect 0 -q clip.y4m --backend "$engine" -w 5 --direction both -o plainly
cmp two/vectors.csv plainly/vectors.csv && cmp two/frames.csv plainly/frames.csv || fail "a page changes vectors"
rm -r both two plainly
expect 3 missing.y4m --report-dir never
[ ! -e never ] || fail "a failed report left its folder"
expect 0 -q "$PWD/clip.y4m" --backend "$engine" -w 5 --report named.html
! grep -q "$PWD" named.html || fail "a page names a folder"
grep -q '"name": "clip.y4m"' named.html || fail "a page without the name of the input"

# Refused before any work.
for name in r.txt r - r.html.gz .html; do
    refused 2 "$name" -- clip.y4m --report "$name"
done
mkdir folder.html
refused 2 folder.html/report.html -- clip.y4m --report folder.html
refused 2 plain.html -- clip.y4m --report plain.html
refused 2 new.csv -- clip.y4m --report new.csv --vectors new.csv
refused 2 --report-pictures --report -- clip.y4m --report new.json --report-pictures 3
refused 2 --report-pictures --report -- clip.y4m --report-pictures 3
refused 2 --report-pictures 1001 1000 -- clip.y4m --report new.html --report-pictures 1001
[ ! -e new.html ] || fail "a refused report was written"
expect 3 missing.y4m --report new.html
[ ! -e new.html ] || fail "a failed report was written"
if [ -c /dev/full ]; then
    for form in html json csv; do
        ln -s /dev/full full.$form
        refused 1 "full.$form" -- -q clip.y4m --backend "$engine" --report full.$form
    done
fi
