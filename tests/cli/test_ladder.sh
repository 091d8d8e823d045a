#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume ladder: its points, hull, crossings and rungs against each other, the loss by scaling and encodes against what
# FFmpeg says of them.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"
have python3 || skip "no python3"
ffmpeg -nostdin -v error -f lavfi -i mandelbrot=size=320x180:maxiter=200 -vf 'noise=alls=6:all_seed=2,format=yuv420p,trim=end_frame=40' \
    -fps_mode passthrough clip.y4m || fail "no clip"
ladder() {
    expect 0 ladder clip.y4m --backend "$engine" "$@"
}

cat >check.py <<'EOF'
import csv
import json
import math
import sys

data = json.load(open('a.json'))
points = data['points']
sizes = []
for point in points:
    if (point['width'], point['height']) not in sizes:
        sizes.append((point['width'], point['height']))
curves = {size: [p for p in points if (p['width'], p['height']) == size] for size in sizes}
assert [int(row['bitrate']) for row in csv.DictReader(open('a.csv'))] == [p['bitrate'] for p in points]


def psnr(size, bitrate):
    curve = curves[size]
    for a, b in zip(curve, curve[1:]):
        if a['bitrate'] <= bitrate <= b['bitrate']:
            t = math.log(bitrate / a['bitrate']) / math.log(b['bitrate'] / a['bitrate'])
            alone = 10 ** (-a['scaling_psnr'] / 10) if a['scaling_psnr'] else 0
            low, high = (10 ** (-p['psnr'] / 10) - alone for p in (a, b))
            return -10 * math.log10(alone + low ** (1 - t) * high ** t)
    return -1


def best(bitrate):
    return max(psnr(size, bitrate) for size in sizes)


for size in sizes:
    curve = curves[size]
    assert all(a['crf'] > b['crf'] and a['bitrate'] < b['bitrate'] and a['psnr'] < b['psnr'] for a, b in zip(curve, curve[1:])), curve
    alone = curve[0]['scaling_psnr']
    assert (alone is None) == (size == (320, 180)) and (alone is None or all(p['psnr'] < alone for p in curve)), curve
    assert all(p['best'] == (abs(psnr(size, p['bitrate']) - best(p['bitrate'])) < 1e-6) for p in curve), curve
hull = data['hull']
assert hull[0]['bitrate_from'] == min(p['bitrate'] for p in points) and hull[-1]['bitrate_to'] == max(p['bitrate'] for p in points)
for row in hull:
    middle = math.sqrt(row['bitrate_from'] * row['bitrate_to'])
    assert abs(psnr((row['width'], row['height']), middle) - best(middle)) < 0.01, row
assert len(data['crossings']) >= int(sys.argv[1]), data['crossings']
for row in data['crossings']:
    larger, smaller = (row['width'], row['height']), (row['smaller_width'], row['smaller_height'])
    rate = row['bitrate']
    assert abs(psnr(larger, rate) - psnr(smaller, rate)) < 0.02 and abs(psnr(larger, rate) - row['psnr']) < 0.02, row
    assert psnr(larger, rate * 1.05) > psnr(smaller, rate * 1.05) and psnr(larger, rate * 0.95) < psnr(smaller, rate * 0.95), row
rungs = data['rungs']
for rung in rungs:
    assert rung['rung'] == '%dx%d:crf=%s' % (rung['width'], rung['height'], rung['crf']), rung
    assert abs(rung['psnr'] - best(rung['bitrate'])) < 0.02, rung
factors = [a['bitrate'] / b['bitrate'] for a, b in zip(rungs, rungs[1:])]
assert all(abs(f / factors[0] - 1) < 0.01 for f in factors), factors
EOF
# checked_json CROSSINGS: with as many of them at least
checked_json() {
    python3 check.py "$1" || fail "a.json: see above"
}

# Default sizes: the usual lines below 180. All forms say the same.
ladder -o a.json -o a.csv -o a.html --rungs 5
checked_json 1
python3 -c "
import json
data = json.load(open('a.json'))
assert sorted({(p['width'], p['height']) for p in data['points']}) == [(192, 108), (256, 144), (320, 180)], data['points']
assert data['frames'] == 40 and data['encoder'] == 'x264' and data['preset'] == 'medium' and data['tune'] is None
assert data['encodes'] == 0 and len(data['rungs']) == 5
# up to CRF 51 each takes less than the one before: points that do not are left out
assert len(data['points']) == 3 * len(range(18, 52, 3)), data['points']" || fail "a.json: the default"
grep -q '<polyline class="hull' a.html || fail "no curve in the page"
sed -n '$p' "$scratch/out" >last
grep -q '^--encoder x264 --rung 320x180:crf=22.0 --rung ' last || fail "no line of rungs"
ladder --json --rungs 5
python3 -c "
import json
assert json.load(open('a.json')) == json.load(open('$scratch/out'))" || fail "--json is not what -o a.json has"
ladder --csv
cmp -s "$scratch/out" a.csv || fail "--csv is not what -o a.csv has"
ladder -q
[ ! -s "$scratch/out" ] || fail "-q: prints"

# Ends of the ladder: one that is given moves the other, equal ones are one rung, and what no curve reaches is said.
for ends in '--max-bitrate 1k' '--min-bitrate 900M'; do
    # shellcheck disable=SC2086
    refused 2 "${ends% *}" kbit/s -- ladder clip.y4m --backend "$engine" $ends -o none.csv
done
ladder --min-bitrate 100k --max-bitrate 100k --json
python3 -c "
import json
assert [r['bitrate'] for r in json.load(open('$scratch/out'))['rungs']] == [100000]" || fail "one bitrate is not one rung"

# Rungs that are so close that they get the same CRF are one, too.
ladder --min-bitrate 100k --max-bitrate 101k --rungs 6 -o same.json
python3 -c "
import json
rungs = [r['rung'] for r in json.load(open('same.json'))['rungs']]
assert 1 <= len(rungs) < 6 and len(rungs) == len(set(rungs)), rungs" || fail "two rungs are the same"
grep -q '^gpume: warning: [1-5] of 6 rungs left out, with the size and the CRF of another' "$scratch/err" ||
    fail "no word of rungs that are the same"
rm same.json

# firstpass takes the rungs as they are.
# shellcheck disable=SC2046
expect 0 firstpass clip.y4m $(cat last) -o rungs --backend "$engine"

# What scaling loses, of every eighth frame, and other sizes, CRFs and bitrates.
sizes='--size 160x180 --size 320x180 --size 214x120'
crfs='--crf 45 --crf 25 --crf 35 --crf 40 --crf 30 --crf 20.5'
# shellcheck disable=SC2086
ladder $sizes $crfs --min-bitrate 30k --max-bitrate 120k --rungs 3 -o a.json -o a.csv -y --encoder x265 --preset fast
checked_json 0
python3 -c "
import json
data = json.load(open('a.json'))
assert [round(r['bitrate']) for r in data['rungs']] == [120000, 60000, 30000], data['rungs']
assert [p['crf'] for p in data['points'][:6]] == [45, 40, 35, 30, 25, 20.5], data['points']
assert data['encoder'] == 'x265' and data['preset'] == 'fast'" || fail "a.json: sizes and bitrates"
grep -q '^--encoder x265 --preset fast --rung ' "$scratch/out" || fail "no line of the preset"
for size in 160x180 214x120; do
    ffmpeg -nostdin -hide_banner -i clip.y4m -filter_complex \
        "select='not(mod(n,8))',split[a][b];[a]scale=${size%x*}:${size#*x}:flags=bicubic,scale=320:180:flags=bicubic[c];[c][b]psnr" \
        -f null - 2>psnr.txt || fail "no PSNR of scaling"
    python3 -c "
import json, re
wanted = float(re.search(r'PSNR y:(\S+)', open('psnr.txt').read()).group(1))
found = [p['scaling_psnr'] for p in json.load(open('a.json'))['points'] if '%dx%d' % (p['width'], p['height']) == '$size'][0]
assert abs(wanted - found) < 0.03, (wanted, found)" || fail "$size: what scaling loses"
done
ffmpeg -nostdin -v error -i clip.y4m -pix_fmt yuv420p10le -c:v ffv1 deep.mkv || fail "no deep.mkv"
# shellcheck disable=SC2086
expect 0 ladder deep.mkv --backend "$engine" $sizes $crfs --json
python3 -c "
import json
deep = json.load(open('$scratch/out'))['points']
for a, b in zip(deep, json.load(open('a.json'))['points']):
    if a['scaling_psnr']: assert abs(a['scaling_psnr'] - b['scaling_psnr']) < 0.05, (a, b)" || fail "10 bits: what scaling loses"

# Encodes: what --verify shows is what x264 and FFmpeg's psnr give, and --probes bring the curves to it.
if have x264; then
    mkdir temporary
    TMPDIR=$(pwd)/temporary
    export TMPDIR
    ladder --rungs 3 --max-bitrate 300k --min-bitrate 40k --verify -o a.json -o a.csv -y
    checked_json 1
    python3 -c "
import json
for r in json.load(open('a.json'))['rungs']: print(r['width'], r['height'], r['crf'], r['measured_bitrate'], r['measured_psnr'])" >verified
    [ "$(wc -l <verified)" -eq 3 ] || fail "not three rungs verified"
    while read -r width height crf rate psnr; do
        ffmpeg -nostdin -v error -i clip.y4m -vf "scale=$width:$height:flags=bicubic" -y small.y4m &&
            x264 --quiet --preset medium --crf "$crf" -o small.264 small.y4m 2>"$scratch/x264" || fail "x264"
        ffmpeg -nostdin -hide_banner -i small.264 -i clip.y4m -filter_complex \
            '[0:v]settb=1/25,setpts=N,scale=320:180:flags=bicubic[a];[1:v]settb=1/25,setpts=N[b];[a][b]psnr' -f null - 2>psnr.txt ||
            fail "no PSNR of an encode"
        python3 -c "
import os, re
wanted = float(re.search(r'PSNR y:(\S+)', open('psnr.txt').read()).group(1))
assert abs(wanted - $psnr) < 0.02, (wanted, $psnr)
bits = os.path.getsize('small.264') * 8 * 25 / 40
assert abs(bits / $rate - 1) < 0.02, (bits, $rate)" || fail "${width}x$height, CRF $crf: not what x264 gives"
    done <verified
    ladder --rungs 3 --max-bitrate 300k --min-bitrate 40k --probes 2 --verify -o a.json -o a.csv -o a.html -y
    checked_json 1
    python3 -c "
import json
data = json.load(open('a.json'))
assert data['encodes'] >= 4, data['encodes']
# within a tenth and half a dB, which the expected curves are not
assert all(abs(r['measured_bitrate'] / r['bitrate'] - 1) < 0.1 and abs(r['measured_psnr'] - r['psnr']) < 0.5
           for r in data['rungs']), data['rungs']" || fail "--probes: the rungs are not nearer"
    grep -q '<circle class="encoded"' a.html || fail "no encode in the page"
    [ -z "$(ls -A temporary)" ] || fail "temporary files are left"
    # through filters, whose last output may have a label
    expect 0 ladder deep.mkv --backend "$engine" --vf 'crop=160:90[out]' --size 80x46 --rungs 1 --max-bitrate 30k --verify --json --frames 9
    python3 -c "
import json
rung = json.load(open('$scratch/out'))['rungs'][0]
assert 10 < rung['measured_psnr'] < 60, rung" || fail "--vf with a label"
fi

# Interlaced video gives a warning. Too small a picture is named as it is, and so is one frame of nothing.
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=128x96:duration=0.4 -vf setfield=tff,format=yuv420p -c:v mpeg2video -flags +ilme+ildct \
    fields.mpg || fail "no fields.mpg"
ladder_of() {
    expect 0 ladder "$1" --backend "$engine"
}
ladder_of fields.mpg
grep -q '^gpume: warning: fields.mpg: is interlaced' "$scratch/err" || fail "no word of fields"
printf 'YUV4MPEG2 W1 H1 F25:1 C420jpeg\nFRAME\nabc' >dot.y4m
refused 3 dot.y4m 1x1 -- ladder dot.y4m --backend "$engine"
says 'enlarge the pictures'
refused 3 dot.y4m 1x1 -- ladder dot.y4m --backend "$engine" --size 16x16
# firstpass takes no rungs below 16 pixels, and no frames at uneven times
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=64x18:duration=0.4 -vf format=yuv420p flat.y4m &&
    ffmpeg -nostdin -v error -i flat.y4m -vf crop=64:14 tiny.y4m || fail "no tiny.y4m"
refused 3 tiny.y4m 64x14 -- ladder tiny.y4m --backend "$engine"
ladder_of flat.y4m
! grep -qE -- '--rung [0-9]+x([0-9]|1[0-5]):' "$scratch/out" || fail "rungs that firstpass refuses: $(cat "$scratch/out")"
ffmpeg -nostdin -v error -i flat.y4m -vf "select='not(eq(n,3))'" -fps_mode passthrough -c:v ffv1 uneven.mkv || fail "no uneven.mkv"
ladder_of uneven.mkv
grep -q "^gpume: warning: uneven.mkv: frame 3 .* --vf fps$" "$scratch/err" || fail "no way out of uneven times: $(cat "$scratch/err")"
ffmpeg -nostdin -v error -f lavfi -i color=black:size=64x48 -frames:v 1 -pix_fmt yuv420p black.y4m || fail "no black.y4m"
ladder_of black.y4m

# What is refused, by name
refused 2 --size 322x180 320x180 -- ladder clip.y4m --size 322x180
refused 2 --size -- ladder clip.y4m --size 31x180
refused 2 --crf -- ladder clip.y4m --crf 20
refused 2 --crf 0.5 -- ladder clip.y4m --crf 0.5
refused 2 --min-bitrate 2000k --max-bitrate 1000k -- ladder clip.y4m --min-bitrate 2M --max-bitrate 1M
refused 2 --encoder svt-av1 -- ladder clip.y4m --encoder svt-av1
refused 2 a.txt -- ladder clip.y4m -o a.txt
refused 2 a.json -- ladder clip.y4m -o a.json
refused 2 b.json -- ladder clip.y4m -o b.json -o b.json
refused 2 --probes -- ladder - --probes 1
refused 2 --verify -- ladder - --verify
refused 2 --rungs 17 -- ladder clip.y4m --rungs 17
refused 3 absent.mkv -- ladder absent.mkv
# Three signals, while the encoder does not end: only what was removed is said to be.
if have x264; then
    mkdir bin signals
    printf '#!/bin/sh\ntrap "" TERM\n: >%s/started\nwhile :; do sleep 1; done\n' "$(pwd)" >bin/x264
    chmod +x bin/x264
    PATH=$(pwd)/bin:$PATH "$gpume" ladder clip.y4m --backend cpu --probes 2 -o signals/l.html -q >"$scratch/out" 2>"$scratch/err" &
    pid=$!
    wait_for test -e started
    while kill -TERM $pid 2>/dev/null; do sleep 0.1; done
    wait $pid
    [ $? -eq 1 ] || fail "three signals: exit status"
    [ "$(grep -c '^gpume: interrupted' "$scratch/err")" -eq 1 ] || fail "three signals: not one line"
    if grep -q 'outputs were removed' "$scratch/err"; then
        only signals
    else
        says "unfinished outputs may remain"
        [ ! -e signals/l.html ] || fail "three signals: an output got its name"
        expect 0 ladder clip.y4m --backend cpu -o signals/l.html
        only signals l.html
    fi
fi
PATH=/nowhere "$gpume" ladder clip.y4m --probes 1 >"$scratch/out" 2>"$scratch/err" && fail "--probes: without x264"
grep -q 'x264 is not installed' "$scratch/err" || fail "--probes: does not say that x264 is missing"
