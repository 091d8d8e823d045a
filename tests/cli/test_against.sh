#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --against-stream: streams without deblocking and nearly without residual, whose blocks are exactly what their vectors
# predict, if references and interpolation are right; the best vectors beside those of ordinary runs; sums and bits.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"
# clip FILE OPTIONS...: texture and objects that move by fractions of a pixel; 88 is no multiple of 16
clip() {
    name=$1
    shift
    ffmpeg -nostdin -v error -f lavfi -i "testsrc2=s=704x352:r=25,format=yuv420p,scale=176:88" -frames:v 20 "$@" "$name"
}
against() {
    expect 0 "$1" --against-stream -o "$2" --backend "$engine" -w 16 ${3:-}
    only "$2" against.csv against_frames.csv against.html
}
# exact FILE LEAST: the share of blocks, in percent, that the stream's vectors predict exactly
exact() {
    awk -F, -v least="$2" 'NR > 1 { all++; same += $13 == 0 } END { print same " of " all
        exit all < 200 || 100 * same < least * all }' "$1" >share || fail "$1: predicted exactly: $(cat share)"
}

# MPEG-2 has one reference on either side, half pixels, and no deblocking.
clip mpeg2.mkv -c:v mpeg2video -bf 2 -q:v 31 || fail "no MPEG-2"
against mpeg2.mkv two
grep -q '^compared     [0-9]* blocks of [0-9]* frames$' "$scratch/out" || fail "no summary"
exact two/against.csv 80
[ "$(head -1 two/against.csv)" = "frame,type,x,y,w,h,ref,dx,dy,ref2,dx2,dy2,sad,bits,exact_ref,exact_dx,exact_dy,\
exact_ref2,exact_dx2,exact_dy2,exact_sad,exact_bits" ] || fail "columns of blocks"
# The vectors of the stream, in the same order, for blocks that use all vectors that they have.
expect 0 vectors mpeg2.mkv -o vectors.csv
cut -d, -f1,3,4,2,7-11 vectors.csv | sort >a
cut -d, -f1,3,4,7-12 two/against.csv | awk -F, 'BEGIN { OFS = "," } { print $1, $4, $2, $3, $5, $6, $7, $8, $9 }' | sort >b
[ "$(comm -12 a b | wc -l)" -gt $(($(wc -l <a) * 3 / 4)) ] || fail "other vectors than those of the stream"

# A report of the vectors: where a P frame has one everywhere, its SAD is that of the prediction as coded; before it, that
# of an ordinary run.
clip p.mkv -c:v mpeg2video -bf 0 -q:v 31 -intra_penalty 100000 || fail "no MPEG-2 of P frames"
against p.mkv p
expect 0 vectors p.mkv -b 16 --report report.csv
expect 0 p.mkv --from-stream -b 16 --report report.html -q
grep -q '"from-stream": *true' report.html || fail "the page does not say whose vectors it has"
expect 0 vectors p.mkv -b 16 --report report.json --overlay o.y4m -o grid.csv
grep -q '"sad_after"' report.json || fail "no figures"
[ "$(wc -l <grid.csv)" -eq $((66 * ($(wc -l <report.csv) - 1) + 1)) ] || fail "other frames have rows than figures"
expect 0 p.mkv --backend cpu -q -b 16 -w 0 -o past
awk -F, 'FILENAME ~ /past/ { before[$1 "," $2] = $3 "," $6 "," $8; next }
    FILENAME ~ /against/ { if ($6 == 176 * 88) coded[$1] = $10; next }
    FNR > 1 && before[$1 "," $2] != $3 "," $6 "," $8 { print "before: " $0; exit 1 }
    FNR > 1 && $1 in coded { rows++; if (coded[$1] != $7) { print "after: " $0 " not " coded[$1]; exit 1 } }
    END { print rows " rows"; exit rows < 5 }' past/frames.csv p/against_frames.csv report.csv >wrong ||
    fail "the report: $(cat wrong)"

# sums FOLDER: the table of frames is the sum of the table of blocks, and nothing is worse than as coded
sums() {
    awk -F, 'FNR == 1 { next }
        NR == FNR { n[$1]++; p[$1] += $5 * $6; s[$1] += $13; b[$1] += $14; es[$1] += $21; eb[$1] += $22
            better[$1] += $21 < $13; equal[$1] += $21 == $13; next }
        $4 != n[$1] || $6 != p[$1] || $10 != s[$1] || $11 != es[$1] || $14 != b[$1] || $15 != eb[$1] ||
            $7 != better[$1] || $8 != equal[$1] || $9 != 0 { print "frame " $1; exit 1 }
        { rows++ }
        END { exit rows < 10 }' "$1/against.csv" "$1/against_frames.csv" >wrong || fail "$1: sums: $(cat wrong)"
}
sums two

# best FOLDER RUN: of a block with one vector, the best one is that of an ordinary run, or the stream's if it is better
best() {
    awk -F, 'FNR == 1 { next }
        NR == FNR { cost[$1 "," $2 "," $3 "," $4 "," $5 "," $6] = $9; next }
        $10 != "" || $18 != "" { next }
        { key = $1 "," $15 "," $3 "," $4 "," $5 "," $6 }
        $15 == $7 && key in cost { rows++; found += cost[key] == $21
            if ($21 != (cost[key] < $13 ? cost[key] : $13)) { print $0 " not " cost[key]; exit 1 } }
        END { print found " of " rows; exit rows < 200 || found < rows * 0.9 }' "$2" "$1/against.csv" >wrong ||
        fail "$1: the best vectors: $(cat wrong)"
}
expect 0 mpeg2.mkv --backend cpu -q -w 16 -b 16,16x8,8x16,8 --subpel 2 --interpolation bilinear --direction both \
    --ref-distance 1,2,3 --vectors run2.csv
best two run2.csv

# bits FILE: the bits of both sides, by the definition, for blocks of 16x16 that fill rows from the left
bits() {
    awk -F, 'function abs(v) { return v < 0 ? -v : v }
        function code(v,  k, n) { k = v > 0 ? 2 * v - 1 : -2 * v; for (n = 0; k + 1 >= 2 ^ (n + 1); n++); return 2 * n + 1 }
        function median(a, b, c) { return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b) }
        function look(side, x, y,  key) {
            key = frame "," side "," x "," y
            if (!(key in dx)) return 0
            count++; px = dx[key]; py = dy[key]; return 1
        }
        function predict(side, x, y,  i, k) {
            count = 0
            for (i = 1; i <= 3; i++) vx[i] = vy[i] = 0
            if (look(side, x - 16, y)) { vx[1] = px; vy[1] = py }
            if (look(side, x, y - 16)) { vx[2] = px; vy[2] = py }
            if (look(side, x + 16, y - 16) || look(side, x - 16, y - 16)) { vx[3] = px; vy[3] = py }
            if (count != 1) { px = median(vx[1], vx[2], vx[3]); py = median(vy[1], vy[2], vy[3]) }
        }
        NR == 1 { next }
        $6 < 8 || $5 != 16 { bad[$1] = 1 }
        { frame = $1; row[++rows] = $0
            side = $7 > $1; dx[frame "," side "," $3 "," $4] = $8 * 2; dy[frame "," side "," $3 "," $4] = $9 * 2
            if ($10 != "") { dx[frame ",1," $3 "," $4] = $11 * 2; dy[frame ",1," $3 "," $4] = $12 * 2 } }
        END { for (r = 1; r <= rows; r++) {
                split(row[r], f, ","); frame = f[1]; side = f[7] > f[1]
                predict(side, f[3], f[4]); sum = code(f[8] * 2 - px) + code(f[9] * 2 - py)
                if (f[10] != "") { predict(1, f[3], f[4]); sum += code(f[11] * 2 - px) + code(f[12] * 2 - py) }
                if (sum != f[14]) { print row[r] " not " sum; exit 1 }
            } }' "$1" >wrong || fail "$1: bits: $(cat wrong)"
}
bits two/against.csv

against mpeg2.mkv priced "--lambda 20 --predictor median"
# SAD plus price: of all blocks together no more than as coded, and less than that of the vectors of least SAD.
priced() {
    awk -F, -v side="$2" 'NR > 1 { sum += (side == "coded" ? $13 + 20 * $14 : $21 + 20 * $22) } END { print sum }' "$1/against.csv"
}
[ "$(priced priced best)" -lt "$(priced two coded)" ] || fail "with a price: dearer than as coded"
[ "$(priced priced best)" -lt "$(priced two best)" ] || fail "with a price: dearer than without"
# The least price changes next to nothing.
against mpeg2.mkv cheap "--lambda 0.00390625"
[ "$(priced cheap best)" -le $(($(priced two best) * 101 / 100)) ] || fail "a price of 1/256 changes much"
expect 0 mpeg2.mkv --against-stream -o dear --backend "$engine" -w 4 --lambda 1000 --frames 3
grep -q '^SAD .* with the best vectors: [0-9.]* % more$' "$scratch/out" || fail "a high price costs no SAD, or how much is not said"
refused 2 --passes --predictor -- mpeg2.mkv --against-stream -o none --lambda 20 --passes 3
for mode in --against-stream "--from-stream --vectors x.csv"; do
    # shellcheck disable=SC2086 # several words
    refused 2 --decoders -- mpeg2.mkv $mode --decoders 2
done
awk -F, 'NR == FNR { if (FNR > 1) a += $15; next } FNR > 1 { b += $15 } END { exit !(b < a) }' \
    two/against_frames.csv priced/against_frames.csv || fail "a price of bits saves none"

if ffmpeg -nostdin -v error -h encoder=libx264 2>&1 | grep -q '^Encoder'; then
    # B frames that are references, several references, parts of blocks, quarter pixels.
    clip h264.mkv -c:v libx264 -qp 40 -bf 3 -refs 3 -x264-params no-deblock=1:weightp=0:weightb=0:b-pyramid=normal:partitions=all ||
        fail "no H.264"
    against h264.mkv four
    exact four/against.csv 90
    sums four
    expect 0 h264.mkv --backend cpu -q -w 16 -b 16,16x8,8x16,8 --subpel 4 --direction both --ref-distance 1,2,3,4 \
        --vectors run4.csv
    best four run4.csv
    awk -F, 'NR > 1 && $13 == 0 { if ($1 - $7 > 1) far++; if ($10 != "") both++; if ($8 ~ /[.]/) parts++ }
        END { exit !(far && both && parts) }' four/against.csv || fail "H.264: nothing but simple blocks"
    if [ "$engine" = cpu ] && have_vulkan; then
        for backend in cpu vulkan; do
            expect 0 h264.mkv --against-stream -o "on_$backend" --backend "$backend" -w 4 --frames 2
        done
        cmp -s on_cpu/against.csv on_vulkan/against.csv || fail "the engines differ"
    fi
else
    echo "no libx264: H.264 is not tested"
fi

# The page is whole, and holds names as text and nothing to run.
cp mpeg2.mkv 'a<b>&.mkv'
expect 0 'a<b>&.mkv' --against-stream --backend "$engine" --frames 3
grep -q '<h1>a&#60;b&#62;&#38;.mkv</h1>' 'a<b>&.gpume/against.html' || fail "page: name"
grep -q '</html>' 'a<b>&.gpume/against.html' || fail "page: end"
! sed 's/data:image[^"]*//g' 'a<b>&.gpume/against.html' | grep -qE '<script|http:|https:|/tmp/|nan|inf<' || fail "page: content"

# Its pictures: the block in its frame, as coded and with the best vectors. The differences of the latter from the first
# are the SADs that stand beside them, sample by sample.
have python3 || exit 0
python3 - 'a<b>&.gpume/against.html' <<'END' || fail "pictures of the blocks"
import base64, re, sys, zlib
page = open(sys.argv[1], encoding="utf-8").read()
figures = re.findall(r'<figure><img.*?base64,([^"]*)"><figcaption>frame (\d+), \((\d+), (\d+)\): SAD <span class="coded">(\d+)</span> '
                     r'&rarr; <span class="exact">(\d+)</span>', page)
rows = re.findall(r"<tr><td>(\d+)</td><td>(\d+), (\d+)</td><td>(\d+)x(\d+)</td>", page)
assert figures and len(figures) == len(rows), (len(figures), len(rows))

def samples(text):
    data = base64.b64decode(text)
    width, height, depth, kind = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"), data[24], data[25]
    assert (width, height, depth, kind) == (152, 48, 8, 0)
    body, at = b"", 8
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        body += data[at + 8:at + 8 + size] if data[at + 4:at + 8] == b"IDAT" else b""
        at += size + 12
    raw, rows, above = zlib.decompress(body), [], bytes(width)
    for y in range(height):
        kind, line = raw[y * (width + 1)], bytearray(raw[y * (width + 1) + 1:(y + 1) * (width + 1)])
        for x in range(width):
            a, b, c = line[x - 1] if x else 0, above[x], above[x - 1] if x else 0
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[x] = (line[x] + (0, a, b, (a + b) // 2, near)[kind]) & 255
        rows.append(line)
        above = line
    return rows

for (text, frame, x, y, coded, exact), (frame2, x2, y2, w, h) in zip(figures, rows):
    assert (frame, x, y) == (frame2, x2, y2)
    picture = samples(text)
    x, y, w, h = map(int, (x, y, w, h))
    # Where the crop begins: the block in its middle, within a picture of 176 x 88.
    left, top = (max(0, min(at + side // 2 - 24, whole - 48)) for at, side, whole in ((x, w, 176), (y, h, 88)))
    for k, want in ((1, coded), (2, exact)):
        sad = sum(abs(picture[y - top + j][x - left + i] - picture[y - top + j][52 * k + x - left + i]) for j in range(h) for i in range(w))
        assert sad == int(want), (frame, x, y, k, sad, want)
END
[ "$(wc -l <'a<b>&.gpume/against_frames.csv')" -eq 4 ] || fail "--frames"

refused 2 two/against.csv -- mpeg2.mkv --against-stream -o two
for option in "--block 8" --partition "--direction both" "--vectors x.csv" "--metric ssd" "--vf hflip" --check \
    "--predictor $scratch/x --lambda 1" "--overlay x.png"; do
    refused 2 --against-stream -- mpeg2.mkv --against-stream -o x $option
done
ffmpeg -nostdin -v error -i mpeg2.mkv -frames:v 3 -c:v mjpeg intra.avi
refused 3 intra.avi 3 -- intra.avi --against-stream -o x --backend "$engine"
clip quarter.avi -c:v mpeg4 -flags +qpel || fail "no MPEG-4"
refused 2 --subpel 4 -- quarter.avi --against-stream -o x --backend "$engine"
[ ! -e x ] || fail "a failed run left its folder"
against quarter.avi quarter "--subpel 4"
