#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume scenes --encoder: the quality of each scene in the scenes of Av1an, beside what firstpass finds, and where the
# encoders are, whether they take the parameters. A clip of two scenes of 50 frames.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"
have python3 || skip "no python3"
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=160x96:duration=2 -f lavfi -i mandelbrot=size=160x96:maxiter=60 -filter_complex \
    '[1:v]trim=duration=2,setpts=PTS-STARTPTS[b];[0:v][b]concat,format=yuv420p' two.y4m || fail "no clip"

# chunks ARGUMENT...: writes the scenes to a.json, and beside it a program that has them as `scenes`, checked.
cat >list.py <<'EOF'
import json
data = json.load(open('a.json'))
scenes = data['scenes']
assert set(data) == {'frames', 'scenes', 'split_scenes'} and data['split_scenes'] == scenes, data
assert data['frames'] == 100 and [(s['start_frame'], s['end_frame']) for s in scenes] == [(0, 50), (50, 100)], data
for scene in scenes:
    zone = scene['zone_overrides']
    assert zone['passes'] == 1 and zone['chroma_noise'] is False and type(zone['min_scene_len']) is int, zone
    assert all(zone[name] is None for name in ('photon_noise', 'photon_noise_height', 'photon_noise_width',
                                               'extra_splits_len', 'target_quality')), zone
    assert len(zone) == 10 and all(type(word) is str for word in zone['video_params']), zone
def option(scene, name):
    params = scene['zone_overrides']['video_params']
    assert params[::2].count(name) == 1, params
    return params[params.index(name) + 1]
crfs = [float(option(scene, '--crf')) for scene in scenes]
EOF
chunks() {
    expect 0 scenes two.y4m --backend "$engine" --format av1an -o a.json -y "$@"
}
holds() {
    python3 -c "from list import *
$1" || fail "a.json: $2"
}

# As Av1an reads them: with the preset, the tuning and what the input says of its colours, and nothing else. Without an analysis, any CRF.
chunks --encoder x264 --preset fast --tune film --crf 23.50
holds "assert all(s['zone_overrides']['encoder'] == 'x264' and s['zone_overrides']['video_params'] == ['--preset', 'fast',
    '--output-depth', '8', '--crf', '23.5', '--tune', 'film'] for s in scenes), scenes" "a CRF"
grep -q '^chunks       x264, CRF 23.5$' "$scratch/out" || fail "no line of a CRF"
# beside the scenes on standard output, too
expect 0 scenes two.y4m --backend "$engine" --format av1an --encoder x264 --crf 24
grep -q '^chunks       x264, CRF 24$' "$scratch/err" || fail "no line of a CRF beside standard output"
expect 0 scenes two.y4m --backend "$engine" --format av1an --encoder x264 --crf 24 -q
[ ! -s "$scratch/err" ] || fail "-q: a line of a CRF"
ffmpeg -nostdin -v error -i two.y4m -pix_fmt yuv420p10le -c:v ffv1 deep.mkv || fail "no deep.mkv"
expect 0 scenes deep.mkv --backend "$engine" --format av1an --encoder x265 --crf 24 -o a.json -y
holds "assert all(s['zone_overrides']['video_params'][:6] == ['--preset', 'medium', '--output-depth', '10', '--crf', '24'] for s in scenes)" \
    "10 bits"
expect 0 scenes two.y4m --backend "$engine" --format av1an -o a.json -y
python3 -c "
import json
assert all(s['zone_overrides'] is None for s in json.load(open('a.json'))['scenes'])" || fail "no encoder has overrides"

# A quality of every scene takes other CRFs, those of firstpass: x264's files have whole ones, chunks the nearest hundredth.
# With firstpass, x265's I frames are finer where a scene stands still, as half of the first one does; its own --crf has no such rule.
firstpass() {
    expect 0 firstpass two.y4m --backend "$engine" "$@" -o b -y
}
for target in '--target-psnr 38' '--target-xpsnr 36' '--target-ssim 0.95'; do
    for encoder in x265 x264; do
        chunks --encoder $encoder $target
        cp "$scratch/out" summary
        firstpass --encoder $encoder $target --per scene
        holds "
parts = json.load(open('b.json'))['runs'][0]['scenes']
assert [part['first_frame'] for part in parts] == [0, 50], parts
assert crfs[0] != crfs[1] and any(crf != int(crf) for crf in crfs), crfs
most = (0.1, 0) if '$encoder' == 'x265' else (0.6, 0.6)
assert all(abs(crf - part['crf']) <= most for crf, part, most in zip(crfs, parts, most)), (crfs, parts)
line = [line for line in open('summary') if line.startswith('chunks ')][0]
assert ' $encoder, CRF %g to %g; ' % (min(crfs), max(crfs)) in line, (line, crfs)" "$encoder $target"
        chunks --encoder $encoder $target --threads 3
        cp a.json more.json
        chunks --encoder $encoder $target --preset slow
        ! cmp -s a.json more.json || fail "presets do not differ"
    done
done
grep -q '; expected: [0-9.]* MB, [0-9]* kbit/s, PSNR [0-9.]* dB, SSIM 0.9500$' summary || fail "not what was asked: $(cat summary)"

# A size is that of one CRF, at which firstpass expects it.
for encoder in x265 x264; do
    chunks --encoder $encoder --target-size 100k
    crf=$(python3 -c "
from list import *
assert crfs[0] == crfs[1]
print(option(scenes[0], '--crf'))") || fail "a size has several CRFs"
    firstpass --encoder $encoder --crf "$crf"
    holds "
bitrate = json.load(open('b.json'))['runs'][0]['bitrate']
assert abs(bitrate * 4 / 8 - 100000) < 1000, bitrate" "$encoder: a size"
done

# AV1: as Av1an's files name the encoders. A better quality has a lower CRF, a scene that needs less a higher one, a larger
# size a lower one; CRFs are whole.
for encoder in svt-av1 aom; do
    name=--crf
    [ $encoder = svt-av1 ] || name=--cq-level=
    for target in '--target-psnr 36' '--target-psnr 42' '--target-ssim 0.95' '--target-size 40k' '--target-size 160k' '--crf 33'; do
        # shellcheck disable=SC2086
        chunks --encoder $encoder $target
        python3 - "$name" <<'END' >>"$encoder.txt" || fail "a.json: $encoder $target"
import json
import sys
scenes = json.load(open('a.json'))['scenes']
assert [s['zone_overrides']['encoder'] for s in scenes] == [sys.argv[1] == '--crf' and 'svt_av1' or 'aom'] * 2, scenes
found = [' '.join(s['zone_overrides']['video_params']).replace('=', ' ').split() for s in scenes]
print(*[int(words[words.index(sys.argv[1].strip('=')) + 1]) for words in found])
END
    done
    python3 -c "
rows = [[int(word) for word in line.split()] for line in open('$encoder.txt')]
fine = rows[1]
assert all(1 <= crf <= 63 for row in rows for crf in row), rows
assert all(a > b for a, b in zip(rows[0], rows[1])) and rows[1][0] != rows[1][1], rows
assert rows[3][0] == rows[3][1] > rows[4][0] == rows[4][1] and rows[5] == [33, 33], rows" || fail "$encoder: $(cat "$encoder.txt")"
    rm "$encoder.txt"
done
chunks --encoder aom --preset 4 --crf 60
python3 -c "
import json
scene = json.load(open('a.json'))['scenes'][1]['zone_overrides']
assert scene['video_params'] == ['--cpu-used=4', '--end-usage=q', '--cq-level=60'], scene" || fail "a.json: aom"
chunks --encoder svt-av1 --target-psnr 60
grep -q '^gpume: warning: a PSNR of 60 dB cannot be reached in [12] of 2 scenes: CRF 1, the finest' "$scratch/err" || fail "no word of the finest CRF"
for end in 'target-psnr 20:a PSNR of 20 dB is likely to be exceeded in [12] of 2 scenes: CRF 63, the coarsest' \
    'target-size 1k:a size of 1kB is too small: CRF 63, the coarsest' 'target-size 700M:a size of 700MB is larger than the video can use: CRF 1, the finest'; do
    chunks --encoder svt-av1 --${end%%:*}
    grep -q "^gpume: warning: ${end#*:}, is taken$" "$scratch/err" || fail "not so: $(cat "$scratch/err")"
done
params_of() {
    python3 -c "
import json
print(' '.join(json.load(open('a.json'))['scenes'][1]['zone_overrides']['video_params']))"
}
chunks --encoder svt-av1 --preset 6 --crf 40
params=$(params_of)
[ "$params" = '--preset 6 --rc 0 --crf 40' ] || fail "a.json: svt-av1: $params"
if have SvtAv1EncApp; then
    # shellcheck disable=SC2086
    timeout -s KILL 600 SvtAv1EncApp -i two.y4m -n 3 $params -b coded >/dev/null 2>&1 || fail "SVT-AV1 refuses $params"
    rm coded
fi
if have aomenc; then
    chunks --encoder aom --crf 40
    params=$(params_of)
    # shellcheck disable=SC2086
    timeout -s KILL 600 aomenc --passes=1 $params --limit=3 --ivf -o coded two.y4m >/dev/null 2>&1 || fail "aomenc refuses $params"
    rm coded
fi

# The encoders take what Av1an gives them.
for encoder in x264 x265; do
    if have $encoder; then
        chunks --encoder $encoder --target-psnr 38 --tune grain
        params=$(python3 -c "
from list import *
print(' '.join(scenes[1]['zone_overrides']['video_params']))")
        input=--input
        [ $encoder = x265 ] || input=--no-progress
        timeout -s KILL 600 $encoder $params --frames 3 $input two.y4m -o coded >/dev/null 2>&1 || fail "$encoder refuses $params"
        rm coded
    fi
done

# Frames at uneven times give a warning, a size that the encoder does not take an error, and nothing is left.
rm -f ./*.json ./b-*
ffmpeg -nostdin -v error -i two.y4m -vf "select='not(eq(n,7))'" -fps_mode passthrough -c:v ffv1 uneven.mkv || fail "no uneven.mkv"
expect 0 scenes uneven.mkv --backend "$engine" --format av1an --encoder x265 --target-psnr 38
[ "$(grep -vc "^chunks  " "$scratch/err")" -eq 1 ] || fail "not one warning"
names uneven.mkv
says 'frame 7 is not 1/25 s'
ffmpeg -nostdin -v error -i two.y4m -vf crop=159:95:exact=1,format=yuv444p -frames:v 3 -c:v ffv1 odd.mkv || fail "no odd.mkv"
refused 3 odd.mkv 159x95 -- scenes odd.mkv --backend "$engine" --format av1an --encoder x264 --target-psnr 38 -o r
says 'even sides'
says 'scale=160:96'
expect 0 scenes odd.mkv --backend "$engine" --format av1an --encoder x264 --crf 24 -q

refused 3 odd.mkv 159x95 aom -- scenes odd.mkv --backend "$engine" --format av1an --encoder aom --target-psnr 38 -o r
refused 2 rav1e -- scenes two.y4m --format av1an --encoder rav1e --target-psnr 38 -o r
says 'x264, x265, svt-av1 or aom'
refused 2 --crf 52 x264 -- scenes two.y4m --format av1an --encoder x264 --crf 52 -o r
refused 2 --crf 64 -- scenes two.y4m --format av1an --encoder aom --crf 64 -o r
refused 2 --crf 30.5 svt-av1 -- scenes two.y4m --format av1an --encoder svt-av1 --crf 30.5 -o r
says 'whole numbers'
refused 2 --target-xpsnr aom -- scenes two.y4m --format av1an --encoder aom --target-xpsnr 38 -o r
refused 2 --tune -- scenes two.y4m --format av1an --encoder svt-av1 --crf 30 --tune vq -o r
refused 2 --preset 7 aom -- scenes two.y4m --format av1an --encoder aom --crf 30 --preset 7 -o r
for option in '--target-psnr 38' '--target-ssim 0.95' '--target-xpsnr 36' '--target-size 100k' '--crf 24' '--preset slow' '--tune grain'; do
    refused 2 "${option% *}" --encoder -- scenes two.y4m --format av1an $option -o r
done
refused 2 --encoder --target-psnr --crf -- scenes two.y4m --format av1an --encoder x265 -o r
refused 2 --encoder -- scenes two.y4m --format av1an --encoder x265 --crf 24 --target-psnr 38 -o r
says 'give only one of'
refused 2 --encoder -- scenes two.y4m --format av1an --encoder x265 --crf 24 --crf 24 -o r
says 'give only one of'
refused 2 --encoder --format -- scenes two.y4m --encoder x265 --crf 24 -o r
refused 2 --encoder --format -- scenes two.y4m --format json --encoder x265 --target-psnr 38 -o r
refused 2 --preset -- scenes two.y4m --format av1an --encoder x265 --crf 24 --preset 7 -o r
refused 2 --tune -- scenes two.y4m --format av1an --encoder x265 --crf 24 --tune film -o r
refused 2 --target-psnr 99 -- scenes two.y4m --format av1an --encoder x265 --target-psnr 99 -o r
rm -rf __pycache__
only . deep.mkv list.py odd.mkv summary two.y4m uneven.mkv
