#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume methods: the exact row against FFmpeg's own exhaustive search, and sums against those of a run.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 80 56 8 6

run methods clip.y4m --backend "$engine" -b 8 -w 5 -o table.csv
if [ "$status" -eq 3 ] && grep -q "no such filter" "$scratch/err"; then
    skip "this FFmpeg has no mestimate"
fi
[ "$status" -eq 0 ] || fail "exit status $status"
[ "$(cut -d, -f1 table.csv | tr '\n' ' ')" = "method exact esa tss tdls ntss fss ds hexbs epzs umh none " ] || fail "rows"
grep -q '^8 frame pairs of 80x56 (4 frames, each with the one before and the one after), 70 blocks each, window 5$' "$scratch/out" || fail "the first line of the table"
[ "$(grep -cE '^(exact|esa|tss|tdls|ntss|fss|ds|hexbs|epzs|umh|none) ' "$scratch/out")" -eq 11 ] || fail "rows of the table"

# The filter's exhaustive search finds the exact vectors, and no other does better.
# Times like with like: all of the filter's methods run on one thread, and the exact search has such a time, too.
awk -F, 'NR == 1 { ok = $13 == "ms_plain" } NR == 2 { ok = ok && $13 > 0 } NR > 2 && $12 != $13 { ok = 0 } END { exit !ok }' table.csv ||
    fail "times on one thread"
[ "$(sed -n 2p table.csv | cut -d, -f2-11)" = "$(sed -n 3p table.csv | cut -d, -f2-11)" ] || fail "esa is not exact"
awk -F, 'NR == 2 { sad = $5 } NR > 1 && ($5 < sad || $10 > $11 || $11 > $3 || $3 != 560 || $4 != 35840) { exit 1 }' \
    table.csv || fail "a search that is better than exact, or counts that contradict each other"

# The same sums as a run over the same frame pairs has.
expect 0 clip.y4m --backend "$engine" -q --compat ffmpeg -b 8 -w 5 -o run
awk -F, 'NR == FNR { if (FNR > 1 && $1 >= 1 && $1 <= 4 && $1 != $2) { before += $6; sad += $7; sse += $9; blocks += $4; zero += $5 } next }
    $1 == "exact" { exact = $3 == blocks && $5 == sad && $6 == sse } $1 == "none" { none = $5 == before && $10 == zero }
    END { exit !(exact && none) }' run/frames.csv table.csv || fail "other sums than those of a run"

# The entropy of no vectors is 0; of the exact ones it is what awk counts in the run's vectors.
[ "$(tail -1 table.csv | cut -d, -f9)" = 0.000000 ] || fail "entropy of vectors that are all (0,0)"
awk -F, 'function middle(a, b, c) { return a > b ? (b > c ? b : (a > c ? c : a)) : (a > c ? a : (b > c ? c : b)) }
    NR > 1 && $1 >= 1 && $1 <= 4 && $1 != $2 {
        x = $3 / 8; y = $4 / 8; dx[x, y] = $7; dy[x, y] = $8
        if (x == 0) { lx = ly = 0 } else { lx = dx[x - 1, y]; ly = dy[x - 1, y] }
        if (y == 0) { px = lx; py = ly } else {
            k = x < 9 ? x + 1 : x - 1
            px = middle(lx, dx[x, y - 1], dx[k, y - 1]); py = middle(ly, dy[x, y - 1], dy[k, y - 1]) }
        xs[$7 - px]++; ys[$8 - py]++; n++
    } END {
        for (d in xs) bits -= xs[d] / n * log(xs[d] / n) / log(2)
        for (d in ys) bits -= ys[d] / n * log(ys[d] / n) / log(2)
        printf "%.6f\n", bits }' run/vectors.csv >bits
[ "$(sed -n 2p table.csv | cut -d, -f9)" = "$(cat bits)" ] || fail "entropy is not $(cat bits)"

# The same bytes twice, but for times; to standard output too, and blocks that the picture cuts.
expect 0 methods clip.y4m --backend "$engine" -b 8 -w 5 -o -
[ "$(cut -d, -f1-11 table.csv)" = "$(cut -d, -f1-11 "$scratch/out")" ] || fail "other bytes the second time"
expect 0 methods clip.y4m --backend "$engine" -b 32 -q
[ ! -s "$scratch/out" ] || fail "-q prints"
expect 0 methods clip.y4m --backend "$engine" -b 32
grep -q '^8 frame pairs of 64x32 (4 frames, each with the one before and the one after), 2 blocks each, window 7$' "$scratch/out" || fail "blocks that the picture cuts"

# The page changes no number, and the pair that it shows is the one that it names: its PSNR is that of the run.
expect 0 methods clip.y4m --backend "$engine" -b 8 -w 5 -o again.csv --report page.html
[ "$(cut -d, -f1-11 table.csv)" = "$(cut -d, -f1-11 again.csv)" ] || fail "other numbers with a page"
grep -q '^written *page.html$' "$scratch/out" || fail "the page is not mentioned"
pair=$(sed -n 's/.*lose most: frame \([0-9]*\), searched in frame \([0-9]*\)<.*/\1,\2/p' page.html)
psnr_of() {
    sed -n "/<h3[^>]*>[^<]*($1)</,/<p>/s/<p>PSNR \([0-9.]*\) dB.*/\1/p" page.html
}
wanted=$(grep "^$pair," run/frames.csv | cut -d, -f10,11)
[ "$(psnr_of none),$(psnr_of exact)" = "$wanted" ] || fail "pair $pair: PSNR $(psnr_of none),$(psnr_of exact), not $wanted"
! grep -q "$scratch" page.html || fail "the page names a folder"
expect 2 methods clip.y4m --backend "$engine" --report page.html
refused 2 .html -- methods clip.y4m --backend "$engine" --report page.txt
! grep -q 'standard output' "$scratch/err" || fail "standard output is offered for the page, and then refused"
refused 2 --report -- methods clip.y4m --backend "$engine" --report -
refused 2 --report table.html -- methods clip.y4m --backend "$engine" -o table.html
expect 2 methods clip.y4m --backend "$engine" --report both.html -o both.html
[ ! -e both.html ] || fail "two outputs of one name"

refused 2 8 16 32 64 128 -- methods clip.y4m --block 24
expect 2 methods clip.y4m --window 3
expect 2 methods clip.y4m --backend "$engine" -o table.csv
refused 3 clip.y4m -- methods clip.y4m --backend "$engine" -b 64
make_clip deep.y4m 80 56 10 4
refused 3 --vf format=gray -- methods deep.y4m --backend "$engine"
expect 0 methods deep.y4m --backend "$engine" --vf format=gray
expect 0 methods clip.y4m --backend "$engine" --frames 2 # and their neighbours
grep -q '^4 frame pairs of 80x48 (2 frames,' "$scratch/out" || fail "--frames 2"
make_clip short.y4m 80 56 8 2
refused 3 short.y4m -- methods short.y4m --backend "$engine" -o short.csv --report short.html
[ ! -e short.csv ] && [ ! -e short.html ] || fail "a table or page of two frames"
# Frames that are all the same: no error, no loss, no chart.
printf 'YUV4MPEG2 W16 H8 F25:1 Cmono\n' >equal.y4m
for frame in 1 2 3; do
    printf 'FRAME\n' && printf '%0128d' 7
done >>equal.y4m
expect 0 methods equal.y4m --backend "$engine" -b 8 --report equal.html
grep -q '<td>inf</td><td>-</td>' equal.html || fail "predictions without an error"
! sed '/<script/,$d' equal.html | grep -q 'nan' || fail "no number in the page"
[ -z "$(find . -name '*.tmp*' -o -name '.*.html*')" ] || fail "files are left: $(ls -A)"
