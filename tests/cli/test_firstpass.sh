#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume firstpass: its files, names and refusals; and, where the encoders are, every printed second pass,
# whose frames must have the planned types. An encoder that hangs is killed.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 96 80 8 50
first="firstpass clip.y4m --backend cpu --encoder"

# Every engine and any number of threads write the same files.
expect 0 $first x264 --bitrate 100k --bitrate 2M --size 96x80 --size 48x40 -o a
only . a.json a-48x40-100k-0.log a-48x40-100k-0.log.mbtree a-48x40-2000k-0.log a-48x40-2000k-0.log.mbtree \
    a-96x80-100k-0.log a-96x80-100k-0.log.mbtree a-96x80-2000k-0.log a-96x80-2000k-0.log.mbtree clip.y4m
[ "$(grep -c '^ffmpeg .*-noautorotate -i clip.y4m .* OUTPUT$' "$scratch/out")" -eq 4 ] || fail "not four command lines for ffmpeg"
# x264 takes gray for full range.
[ "$(grep -c '^ffmpeg .*-pix_fmt yuv420p .* - | x264 ' "$scratch/out")" -eq 4 ] || fail "x264 is not fed"
[ "$(grep -c '^ffmpeg .*scale=48:40 .* - | x264 ' "$scratch/out")" -eq 2 ] || fail "x264 is not fed"
[ "$(grep -c '^in:' a-96x80-100k-0.log)" -eq 50 ] || fail "not a line for each frame"
cmp -s a-96x80-100k-0.log.mbtree a-96x80-2000k-0.log.mbtree || fail "offsets depend on the bitrate"
grep -q '^in:0 out:0 type:I ' a-96x80-100k-0.log || fail "the first frame is not an IDR frame"
# A record is a type and 30 offsets; b frames have none.
records=$(grep -c 'type:[IiPB] ' a-96x80-100k-0.log)
[ "$(stat -c %s a-96x80-100k-0.log.mbtree)" -eq $((records * 61)) ] || fail "not $records records"
[ "$(stat -c %s a-48x40-100k-0.log.mbtree)" -eq $((records * 19)) ] || fail "not $records smaller records"
if have_vulkan; then
    expect 0 firstpass clip.y4m --backend vulkan --encoder x264 --bitrate 100k -o b
    cmp a-96x80-100k-0.log b-96x80-100k-0.log || fail "statistics depend on the engine"
    cmp a-96x80-100k-0.log.mbtree b-96x80-100k-0.log.mbtree || fail "offsets depend on the engine"
fi
expect 0 $first x264 --threads 3 --bitrate 0.100M -o c -q
[ ! -s "$scratch/out" ] || fail "-q prints"
cmp a-96x80-100k-0.log c-96x80-100k-0.log || fail "statistics depend on the threads"
expect 0 $first x265 --cutree 0 --bitrate 100k -o "$PWD/d"
! grep -q '^# run this in' "$scratch/out" || fail "files with a folder are found from any other"
[ ! -e d-96x80-100k.log.cutree ] || fail "--cutree 0 writes offsets"

# Rungs: sizes with bitrates of their own, beside all sizes with all bitrates; each second pass once.
rm -f ./a* ./*.log* ./*.json
expect 0 $first x264 --bitrate 100k --rung 48x40:50k --rung 96x80:100k --rung 48x40:50k --vbv-maxrate 60 --vbv-bufsize 60 -o a
only . a.json a-48x40-50k-0.log a-48x40-50k-0.log.mbtree a-96x80-100k-0.log a-96x80-100k-0.log.mbtree clip.y4m
names a-96x80-100k-0.log 100 --vbv-maxrate 60
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one warning"
expect 0 $first x264 --rung 48x40:50k --vbv-maxrate 60k --vbv-bufsize .06M -o b -q
cmp a-48x40-50k-0.log b-48x40-50k-0.log || fail "a rung alone has other statistics"

# Constant qualities: their names, their files, and what the command lines say; the decoder's buffer goes with bitrates alone.
rm -f ./a* ./b* ./*.log* ./*.json
expect 0 $first x264 --crf 24 --bitrate 100k --crf 23.50 --crf 24.0 --rung 48x40:crf=30.25 -o a
grep -q 'warning: CRF 24 .*more than once' "$scratch/err" || fail "a repeated CRF is not mentioned"
only . a.json a-96x80-100k-0.log a-96x80-100k-0.log.mbtree a-96x80-crf24-0.log a-96x80-crf24-0.log.mbtree a-96x80-crf24-0.log.qpfile \
    a-96x80-crf23.5-0.log a-96x80-crf23.5-0.log.mbtree a-96x80-crf23.5-0.log.qpfile \
    a-48x40-crf30.25-0.log a-48x40-crf30.25-0.log.mbtree a-48x40-crf30.25-0.log.qpfile clip.y4m
[ "$(grep -c '^# 96x80, crf 24, expected to take [0-9]* kbit/s, 50 frames$' "$scratch/out")" = 1 ] || fail "what crf 24 takes"
[ "$(grep -c '^# libx264 of ffmpeg cannot read QPs' "$scratch/out")" = 3 ] || fail "no word of what ffmpeg's libx264 cannot do"
[ "$(grep -c ' | x264 .*--bitrate [0-9]* --qpfile a-[0-9x]*-crf[0-9.]*-0.log.qpfile ' "$scratch/out")" = 3 ] || fail "x264 reads no QPs"
! grep -q -e ' --crf' -e ' -crf' "$scratch/out" || fail "x264 would not make a second pass"
[ "$(cut -d ' ' -f 1 a-96x80-crf24-0.log.qpfile | paste -s -d ' ')" = "$(seq 0 49 | paste -s -d ' ')" ] || fail "not the QPs of all frames in order"
# The bitrate of ffmpeg's line and of the JSON file is the expected one; the program's is four times as much, as it shall look for vectors.
kbps=$(sed -n 's/^# 96x80, crf 24, expected to take \([0-9]*\) .*/\1/p' "$scratch/out")
[ "$(grep -c -e "-b:v ${kbps}000 .*crf24" -e "--bitrate $((4 * kbps)) .*crf24.* --vbv-maxrate 20000 " -e '-crf24-0.log.qpfile"' "$scratch/out")" = 2 ] || fail "not $kbps kbit/s"
python3 -c "
import json
runs = json.load(open('a.json'))['runs']
assert [run.get('crf') for run in runs] == [24, None, 23.5, 30.25], runs
assert runs[0]['bitrate'] == ${kbps}000 and runs[0]['files'][2].endswith('.qpfile') and len(runs[1]['files']) == 2, runs" || fail "a.json"
expect 0 $first x265 --crf 24 -o b
[ "$(grep -cF "# run this in $(pwd -P): x265 hangs" "$scratch/out")" = 1 ] || fail "no word of the folder in which x265 finds its files"
only . a.json a-* b.json b-96x80-crf24.log b-96x80-crf24.log.cutree clip.y4m
head -1 b-96x80-crf24.log | grep -q ' vbv-maxrate=1$' || fail "x265 would refuse --crf"
[ "$(grep -c -e '-c:v libx265 -preset medium -crf 24 ' -e ' | x265 .* --crf 24 ' "$scratch/out")" = 2 ] || fail "x265 gets no --crf"
# The I frame of a still picture is finer than P frames, unless the tree sees the next key frame, 60 frames ahead.
ffmpeg -v error -f lavfi -i mandelbrot=size=96x80 -vf trim=end_frame=1,loop=79:1,format=yuv420p still.y4m
expect 0 firstpass still.y4m --backend cpu --encoder x265 --crf 24 -o still
expect 0 firstpass still.y4m --backend cpu --encoder x265 --crf 24 --keyint 60 -o keys
python3 -c "
import re
def finer(name):
    qps = [(m[1], float(m[2])) for m in (re.match(r'in:.* type:(.) q:([\d.]+)', line) for line in open(name)) if m]
    return min(qp for kind, qp in qps if kind == 'P') - qps[0][1]
assert 3 < finer('still-96x80-crf24.log') < 5, finer('still-96x80-crf24.log')
assert abs(finer('keys-96x80-crf24.log')) < 0.02, finer('keys-96x80-crf24.log')" || fail "QPs of a still picture"
rm still* keys*
# Targets: a quality is expected, and the CRF found; a size is a bitrate. Every quality of the run then has its expected PSNR.
rm -f ./a* ./b*
expect 0 $first x265 --target-psnr 40 --target-ssim 0.95 --target-size 25k --crf 24 --rung 48x40:psnr=38.5 --rung 48x40:size=12500 -o b
only . b.json b-96x80-psnr40.log b-96x80-psnr40.log.cutree b-96x80-ssim0.95.log b-96x80-ssim0.95.log.cutree b-96x80-size25k.log \
    b-96x80-size25k.log.cutree b-96x80-crf24.log b-96x80-crf24.log.cutree b-48x40-psnr38.5.log b-48x40-psnr38.5.log.cutree \
    b-48x40-size12500.log b-48x40-size12500.log.cutree clip.y4m
python3 -c "
import json
runs = json.load(open('b.json'))['runs']
psnr, ssim, size, crf, small, bytes = runs
assert psnr['target_psnr'] == 40 and abs(psnr['expected_psnr'] - 40) < 0.02 and 1 <= psnr['crf'] <= 51, psnr
assert ssim['target_ssim'] == 0.95 and abs(ssim['expected_ssim'] - 0.95) < 0.0002, ssim
assert size['target_size'] == 25000 and size['bitrate'] == 100000 and 'crf' not in size and 'expected_psnr' not in size, size
assert crf['crf'] == 24 and 30 < crf['expected_psnr'] < 60 and 'target_psnr' not in crf, crf
assert small['target_psnr'] == 38.5 and bytes['bitrate'] == 50000, (small, bytes)
for run in psnr, ssim, small:
    for program in set(run['commands']) & {'x265', 'ffmpeg'}:
        command = run['commands'][program]
        at = [i for i, word in enumerate(command) if word in ('--crf', '-crf')]
        assert len(at) == 1 and float(command[at[0] + 1]) == run['crf'], command" || fail "b.json"
crf=$(python3 -c "import json; print(json.load(open('b.json'))['runs'][0]['crf'])")
expect 0 $first x265 --crf "$crf" -o a
cmp a-96x80-crf"$crf".log b-96x80-psnr40.log || fail "a target has other statistics than its CRF"
cmp a-96x80-crf"$crf".log.cutree b-96x80-psnr40.log.cutree || fail "a target has other offsets than its CRF"
rm -f ./a* ./b*
# XPSNR: the same; only a run that asks for it says what is expected of it.
expect 0 $first x265 --target-xpsnr 38 --crf 24 --rung 96x80:xpsnr=36.5 -o b
grep -q '^# 96x80, xpsnr 38: crf [0-9.]*, expected to take .* and to have an XPSNR of 38.0 dB, ' "$scratch/out" || fail "no XPSNR"
python3 -c "
import json
runs = json.load(open('b.json'))['runs']
assert [run.get('target_xpsnr') for run in runs] == [38, None, 36.5], runs
assert abs(runs[0]['expected_xpsnr'] - 38) < 0.02 and abs(runs[2]['expected_xpsnr'] - 36.5) < 0.02, runs
assert runs[0]['crf'] < runs[2]['crf'] and 20 < runs[1]['expected_xpsnr'] < 60, runs
assert all('expected_psnr' in run for run in runs) and runs[0]['files'][0] == 'b-96x80-xpsnr38.log', runs" || fail "b.json: XPSNR"
for threads in 1 3; do
    expect 0 $first x265 --target-xpsnr 38 --threads $threads -o a -y
    cmp a-96x80-xpsnr38.log b-96x80-xpsnr38.log || fail "XPSNR: $threads threads give other statistics"
done
rm -f ./a* ./b*
# What lies beyond any CRF is said in words, and what an end just reaches is not.
for target in "xpsnr 59:an XPSNR of 59 dB:CRF 1" "ssim 0.9999:an SSIM of 0.9999:CRF 1"; do
    words=${target#*:}
    expect 0 $first x264 --target-${target%%:*} -o a -y
    names "${words%:*}" "${words#*:}"
done
refused 2 --vbv-maxrate 1.0001M kbit/s -- $first x264 --bitrate 1M --vbv-maxrate 1.0001M -o a
refused 2 --timeout 0 -- $first x264 --crf 24 --timeout 0 -o a
for size in 0.4G 400M 400MB 400000k 400000KB; do
    expect 0 $first x265 --target-size $size -q -o a -y
    [ -f a-96x80-size400M.log ] || fail "--target-size $size"
    says 'ask for a smaller file'
    rm a-96x80-size400M.log
done
expect 0 $first x265 --target-size 1k -q -o a -y
says 'ask for a larger file or a smaller picture'
rm -f ./a* ./b*
# Per scene: each has the quality, by a CRF of its own, which is in the QPs of its frames.
ffmpeg -v error -f lavfi -i testsrc2=size=160x96:duration=2 -f lavfi -i mandelbrot=size=160x96:maxiter=60 \
    -filter_complex '[1:v]trim=duration=2,setpts=PTS-STARTPTS[b];[0:v][b]concat,format=yuv420p' two.y4m
expect 0 firstpass two.y4m --backend cpu --encoder x265 --target-psnr 38 --per scene --crf 30 -o b
grep -q '^# 160x96, psnr 38: mean crf [0-9.]*, expected to take' "$scratch/out" || fail "no mean CRF"
python3 -c "
import json, re
runs = json.load(open('b.json'))['runs']
scenes = runs[0]['scenes']
assert 'scenes' not in runs[1] and len(scenes) >= 2, runs
assert [s['first_frame'] for s in scenes[1:]] == [s['last_frame'] + 1 for s in scenes[:-1]], scenes
assert scenes[0]['first_frame'] == 0 and scenes[-1]['last_frame'] + 1 == runs[0]['frames'], scenes
assert all(abs(s['expected_psnr'] - 38) < 0.02 and s['expected_bitrate'] > 1000 for s in scenes), scenes
assert len({s['crf'] for s in scenes}) > 1, scenes
def qps(name):
    return {int(m[1]): float(m[2]) for m in (re.match(r'in:(\d+) .*? q:([\d.]+)', line) for line in open(name)) if m}
split, whole = qps('b-160x96-psnr38.log'), qps('b-160x96-crf30.log')
for scene in scenes:
    for frame in range(scene['first_frame'], scene['last_frame'] + 1):
        assert abs(split[frame] - whole[frame] - (scene['crf'] - 30)) < 0.02, (frame, split[frame], whole[frame], scene)" || fail "scenes of b.json"
rm -f ./a* ./b* two.y4m
expect 0 $first x264 --target-psnr 40 -o a
crf=$(sed -n 's/^# 96x80, psnr 40: crf \([0-9.]*\), expected to take [0-9]* kbit.s and to have a PSNR of .*, 50 frames$/\1/p' "$scratch/out")
expect 0 $first x264 --crf "$crf" -o b
for file in log log.mbtree log.qpfile; do
    cmp a-96x80-psnr40-0.$file b-96x80-crf"$crf"-0.$file || fail "$file of a target is not that of CRF $crf"
done
rm -f ./a* ./b*
expect 0 $first x264 --qp 24 -o a
only . a.json a-96x80-qp24-0.log a-96x80-qp24-0.log.qpfile clip.y4m
[ "$(cut -d ' ' -f 2,3 a-*.qpfile | sort -u | paste -s -d ,)" = 'B 25,I 21,P 24,b 26' ] || fail "--qp 24: $(sort -u a-*.qpfile)"
grep -q ' --no-mbtree .*--aq-mode 0 ' "$scratch/out" || fail "--qp with offsets of blocks"
rm -f ./a*

# Decimals with and without digits before and after the point
expect 0 $first x265 --target-ssim .96 --target-size 1.5k --target-size .05M --bitrate .1M -o a
python3 -c "
import json
runs = json.load(open('a.json'))['runs']
assert [run.get('target_ssim') for run in runs] == [0.96, None, None, None], runs
assert [run.get('target_size') for run in runs] == [None, 1500, 50000, None], runs
assert runs[3]['bitrate'] == 100000, runs" || fail "decimals"
rm -f ./a*
for wrong in '--target-ssim .' '--target-ssim .96.' '--target-size 1.2345k' '--target-size .k' '--target-size 1.5.k' '--target-size 99.5' '--target-size 5000B' '--target-size 5MiB' '--bitrate 5MB' '--bitrate .' '--bitrate .0001M'; do
    # shellcheck disable=SC2086
    refused 2 $wrong -- $first x265 $wrong -o a
done

# Existing files stay, and nothing is left of a refused run.
rm -f ./*.log* ./*.json
expect 0 $first x265 --bitrate 100k -o a
grep -q '^ffmpeg .* -pix_fmt yuv420p .* - | x265 ' "$scratch/out" || fail "x265 reads chroma that its second pass lacks"
cp a-96x80-100k.log before
refused 2 a-96x80-100k.log -- $first x265 --bitrate 100k --bframes 1 -o a
cmp before a-96x80-100k.log || fail "an existing file was changed"
expect 0 $first x265 --bitrate 100k --bframes 1 -o a -y
! cmp -s before a-96x80-100k.log || fail "-y replaces nothing"
only . a.json a-96x80-100k.log a-96x80-100k.log.cutree before clip.y4m
rm -f ./a* before

# refuses STATUS WORD... -- ARGUMENTS: in one line, before anything is written.
refuses() {
    refused "$@" --backend cpu
    ls | grep -q '^r' && fail "$*: left files" || :
}
refuses 2 --encoder -- firstpass clip.y4m --bitrate 1M -o r
refuses 2 --bitrate -- firstpass clip.y4m --encoder x264 -o r
refuses 2 -o -- firstpass clip.y4m --encoder x264 --bitrate 1M
refuses 2 -o -- firstpass clip.y4m --encoder x264 --bitrate 1M -o -
refuses 2 --output=r -- firstpass clip.y4m --encoder x264 --bitrate 1M -o=r
refuses 2 --verify -- firstpass - --encoder x264 --bitrate 1M --verify -o r
mkfifo pipe
refuses 2 --verify pipe -- firstpass pipe --encoder x264 --bitrate 1M --verify -o r
rm pipe
refuses 2 x265 --ref 1 8 0 -- firstpass clip.y4m --encoder x265 --bitrate 1M --ref 0 -o r
refuses 2 x265 --weightp 0 1 3 -- firstpass clip.y4m --encoder x265 --bitrate 1M --weightp 3 -o r
refuses 2 --no-mbtree "--mbtree 0" -- firstpass clip.y4m --encoder x264 --bitrate 1M --no-mbtree -o r
refuses 2 --weightp two 0 2 x265 1 -- firstpass clip.y4m --encoder x264 --bitrate 1M --weightp two -o r
refuses 2 --vbv-maxrate 2001M 0 2000000 -- firstpass clip.y4m --encoder x264 --bitrate 1M --vbv-maxrate 2001M -o r
refuses 2 --bitrate 1234567 -- firstpass clip.y4m --encoder x264 --bitrate 1234567 -o r
refuses 2 --bitrate 345 -- firstpass clip.y4m --encoder x264 --bitrate 345 -o r
for rate in 1.5 1.2345M 0.9999k 0.5k 1.5.5M 1,5M .M 2000.001M; do
    refuses 2 --bitrate "$rate" -- firstpass clip.y4m --encoder x264 --bitrate "$rate" -o r
done
refuses 2 --size 47x40 -- firstpass clip.y4m --encoder x264 --bitrate 1M --size 47x40 -o r
refuses 2 --size 16384x15628 -- firstpass clip.y4m --encoder x264 --bitrate 1M --size 16384x15628 -o r
refuses 2 --bitrate 32 -- firstpass clip.y4m --encoder x264 $(printf -- '--bitrate %sk ' $(seq 33)) -o r
refuses 2 --size 32 -- firstpass clip.y4m --encoder x264 --bitrate 1M $(printf -- '--size 16x%s ' $(seq 16 2 80)) -o r
expect 0 firstpass clip.y4m --backend cpu --encoder x264 $(printf -- '--bitrate %sk ' $(seq 32)) -o a
[ "$(grep -c 'x264 --preset' "$scratch/out")" = 32 ] || fail "32 bitrates"
rm ./a*
refuses 2 x264 --ratetol 0.011 100 0.01 -- firstpass clip.y4m --encoder x264 --bitrate 1M --ratetol 0.01 -o r
refuses 2 --ratetol x265 -- firstpass clip.y4m --encoder x265 --bitrate 1M --ratetol 0.5 -o r
refuses 2 --cutree x264 -- firstpass clip.y4m --encoder x264 --bitrate 1M --cutree 0 -o r
refuses 2 --mbtree x265 -- firstpass clip.y4m --encoder x265 --bitrate 1M --mbtree 0 -o r
refuses 2 x265 '--ref 7' '--bframes 4' --b-pyramid 1 6 -- firstpass clip.y4m --encoder x265 --bitrate 1M --ref 7 -o r
refuses 2 --qcomp 0.5 1 -- firstpass clip.y4m --encoder x265 --bitrate 1M --qcomp 0.4 -o r
for name in r/ ./ . ..; do
    refuses 2 "$name" -- firstpass clip.y4m --encoder x264 --bitrate 1M -o "$name"
done
expect 0 $first x264 --bitrate 100k -o a.mp4
grep -q "warning: -o a.mp4: .*OUTPUT" "$scratch/err" || fail "no word of what -o a.mp4 names"
expect 0 $first x264 --bitrate 100k -o a.b
! grep -q OUTPUT "$scratch/err" || fail "-o a.b is no video"
rm ./a*
refuses 2 x265 --weightp 0 1 2 -- firstpass clip.y4m --encoder x265 --bitrate 1M --weightp 2 -o r
refuses 2 '--rc-lookahead 3' '--bframes 3' '--rc-lookahead 4' -- firstpass clip.y4m --encoder x264 --bitrate 1M --rc-lookahead 3 -o r
refuses 2 '--min-keyint 5' '--keyint 2' -- firstpass clip.y4m --encoder x264 --bitrate 1M --keyint 2 --min-keyint 5 -o r
refuses 2 --vbv-bufsize --vbv-maxrate -- firstpass clip.y4m --encoder x264 --bitrate 1M --vbv-bufsize 500 -o r
refuses 2 --vbv-maxrate --vbv-bufsize -- firstpass clip.y4m --encoder x264 --bitrate 1M --vbv-maxrate 500 -o r
for crf in 0 0.99 51.01 52 24.123 24. .5 -1 1e1 x ''; do
    refuses 2 --crf "$crf" -- firstpass clip.y4m --encoder x264 --crf="$crf" -o r
done
for psnr in 19.99 61 40.123 x; do
    refuses 2 --target-psnr "$psnr" -- firstpass clip.y4m --encoder x264 --target-psnr="$psnr" -o r
done
refuses 2 --per --target-psnr -- firstpass clip.y4m --encoder x265 --crf 24 --per scene -o r
refuses 2 --target-xpsnr 61 -- firstpass clip.y4m --encoder x264 --target-xpsnr 61 -o r
refuses 2 --target-ssim 1 -- firstpass clip.y4m --encoder x264 --target-ssim 1 -o r
refuses 2 --target-size 0.0005k -- firstpass clip.y4m --encoder x264 --target-size 0.0005k -o r
refuses 2 --qp --target-psnr -- firstpass clip.y4m --encoder x264 --qp 24 --target-psnr 40 -o r
refuses 2 --target-ssim --bitrate -- firstpass clip.y4m --encoder svt-av1 --target-ssim 0.9 -o r
refuses 3 1000000000000 2000000 -- firstpass clip.y4m --encoder x265 --target-size 1000G -o r
refuses 2 --vbv-maxrate --vbv-bufsize -- firstpass clip.y4m --encoder x265 --target-psnr 40 --vbv-maxrate 500 --vbv-bufsize 500 -o r
refuses 2 --qp 24.5 51 -- firstpass clip.y4m --encoder x264 --qp 24.5 -o r
refuses 2 --rung crf=52 -- firstpass clip.y4m --encoder x264 --rung 64x64:crf=52 -o r
refuses 2 --rung qp=1.5 -- firstpass clip.y4m --encoder x264 --rung 64x64:qp=1.5 -o r
refuses 2 --vbv-maxrate --vbv-bufsize --bitrate -- firstpass clip.y4m --encoder x265 --crf 24 --vbv-maxrate 500 --vbv-bufsize 500 -o r
refuses 2 --vbv-maxrate --vbv-bufsize --bitrate -- firstpass clip.y4m --encoder x264 --bitrate 1M --rung 64x64:crf=24 --vbv-maxrate 500 --vbv-bufsize 500 -o r
refuses 2 --qp --crf -- firstpass clip.y4m --encoder x264 --qp 24 --crf 24 -o r
refuses 2 --qp --bitrate -- firstpass clip.y4m --encoder x264 --rung 64x64:qp=24 --bitrate 1M -o r
refuses 2 --crf 32 -- firstpass clip.y4m --encoder x264 --bitrate 1M $(printf -- '--crf %s ' $(seq 10 41)) -o r
refuses 2 --output-depth x264 8 10 -- firstpass clip.y4m --encoder x264 --bitrate 1M --output-depth 12 -o r
refuses 3 nothing.y4m -- firstpass nothing.y4m --encoder x264 --bitrate 1M -o r
# What the program x265 does not read has no command line for it.
expect 0 $first x265 --bitrate 100k --size 64x64 --size 62x64 -o a
[ "$(grep -c 'same with x265' "$scratch/out") $(grep -c ' | x265 ' "$scratch/out")" = "1 1" ] || fail "x265 below 64x64"
[ "$(grep -c '"x265": \[' a.json) $(grep -c '"feed"' a.json)" = "1 1" ] || fail "x265 below 64x64 in a.json"
# The input is never replaced.
for name in i-96x80-100k-0.log i-96x80-100k-0.log.mbtree i.json; do
    cp clip.y4m $name
    refused 2 "$name" -- firstpass $name --backend cpu --encoder x264 --bitrate 100k -o i -y
    cmp clip.y4m $name || fail "$name was replaced"
    rm $name
    ls | grep '^i' && fail "$name: left files"
done
rm -f ./a*

make_clip odd.y4m 97 81 8 3
refuses 3 odd.y4m '--size 98x82' -- firstpass odd.y4m --encoder x264 --bitrate 1M -o r
make_clip small.y4m 5 18 8 3
refuses 3 small.y4m '--size 16x18' -- firstpass small.y4m --encoder x264 --bitrate 1M -o r
make_clip small.y4m 8 8 8 3
refuses 3 small.y4m x265 '--size 16x16' -- firstpass small.y4m --encoder x265 --bitrate 1M -o r
expect 0 firstpass odd.y4m --backend cpu --encoder x264 --bitrate 1M --size 98x82 -o a
{ printf 'YUV4MPEG2 W16400 H16 F25:1 C420jpeg\nFRAME\n'; head -c 393600 /dev/zero; } >long.y4m
refuses 3 long.y4m '--size 16384x16' -- firstpass long.y4m --encoder x264 --bitrate 1M -o r
rm long.y4m
# What is analysed is what the command line says: of a qcomp that it calls 1.0, without a tree.
expect 0 firstpass clip.y4m --backend cpu --encoder x264 --bitrate 100k --qcomp 0.9999 -o d
[ "$(ls d*.mbtree 2>/dev/null)$(grep -c 'mbtree=0' d-*.log)" = 1 ] || fail "qcomp 0.9999"
# The encoder's default is not named.
for wanted in 0 2; do
    [ "$(grep -c 'ratetol' "$scratch/out")" = $wanted ] || fail "$wanted command lines with ratetol"
    expect 0 firstpass clip.y4m --backend cpu --encoder x264 --bitrate 100k --ratetol 0.25 -o d -y
done
grep -q ':ratetol=0.25[: ]' "$scratch/out" && grep -q ' --ratetol 0.25 ' "$scratch/out" || fail "ratetol 0.25"
rm -f ./d*
# Frame rates of large numbers: time stamps are even, and rates are reached.
awk 'BEGIN { for (n = 0; n < 90; n++) { printf "FRAME\n"; for (k = 0; k < 384; k++) printf "%c", 33 + k * (n + 5) % 90 } }' >frames
{
    printf 'YUV4MPEG2 W16 H16 F2147483647:2147483646 C420jpeg\n'
    i=0
    while [ $i -lt 100 ]; do
        cat frames
        i=$((i + 1))
    done
} >rate.y4m
expect 0 firstpass rate.y4m --backend cpu --encoder x264 --bitrate 40k --bitrate 33554k --bitrate 33555k -o d
[ "$(grep -c '^x264 .* -o OUTPUT rate.y4m$' "$scratch/out")" -eq 3 ] || fail "x264 does not read Y4M"
[ "$(grep -h -o '^in:0 .* q:[0-9.]*' d-16x16-3355?k-0.log | uniq | wc -l)" = 1 ] || fail "33554k and 33555k differ"
rm -f ./d*
# Not what the encoders' programs read: an unknown rate, another format in a file of that name.
{ printf 'YUV4MPEG2 W64 H64 F0:0 C420jpeg\nFRAME\n'; head -c 6144 /dev/zero; } >norate.y4m
expect 0 firstpass norate.y4m --backend cpu --encoder x265 --bitrate 100k -o d
grep -q '^ffmpeg .* - | x265 ' "$scratch/out" || fail "x265 reads an unknown rate"
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x64:d=0.2 -c:v ffv1 -f matroska mkv.y4m &&
    expect 0 firstpass mkv.y4m --backend cpu --encoder x264 --bitrate 100k -o e &&
    { grep -q '^ffmpeg .* - | x264 ' "$scratch/out" || fail "x264 reads Matroska as Y4M"; }
# x265 reads pictures of at most 8192x4320.
expect 0 firstpass norate.y4m --backend cpu --encoder x265 --bitrate 100k --size 64x4322 -o f
! grep -q '| x265' "$scratch/out" || fail "x265 above 4320 rows"
# Interrupted at any time, it leaves nothing.
for delay in 0.02 0.05 0.1 0.15 0.2 0.3; do
    "$gpume" firstpass rate.y4m --encoder x265 --bitrate 100k -o g -q 2>/dev/null &
    pid=$!
    sleep $delay
    kill -TERM $pid 2>/dev/null
    wait $pid && rm -f ./g*
    ! ls -A | grep -E '^g|gpume-' || fail "left after a signal in $delay s"
done
# A killed run leaves temporary files, which the next one removes.
for tree in '--mbtree 0' '--cutree 1'; do
    encoder=x264
    [ "${tree#--cut}" = "$tree" ] || encoder=x265
    expect 0 firstpass rate.y4m --backend cpu --encoder $encoder --bitrate 100k -o g
    for file in g*; do touch ".$file.gpume-1-0.tmp"; done
    expect 0 firstpass rate.y4m --backend cpu --encoder $encoder --bitrate 100k -o g -y $tree
    ! ls -A | grep gpume- || fail "$encoder: left by a killed run"
    rm g*
done
rm -f ./d* ./e* ./f* rate.y4m frames norate.y4m mkv.y4m
# An older NAME.json never stands beside other files than its own.
mkdir a-96x80-100k.log
expect 2 $first x265 --bitrate 100k -o a -y
[ "$(grep -c 98x82 a.json)" -gt 0 ] || fail "a failed run replaced a.json"
rm -rf ./a*

# A rate of a QP at which the model knows little, and one that no QP reaches: warnings.
expect 0 $first x264 --bitrate 100k -o a
[ ! -s "$scratch/err" ] || fail "a warning of 100 kbit/s"
expect 0 $first x264 --bitrate 900k -o a -y
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one warning of a low QP"
names a-96x80-900k-0.log 900
rm -f ./a*
expect 0 $first x264 --bitrate 2000M --bitrate 1k -o a
names a-96x80-2000000k-0.log 2000000 a-96x80-1k-0.log
head -1 "$scratch/err" | grep -qw 2000000 || fail "the warnings are not in the order of the bitrates"
rm -f ./a*

# A number that is likely to be meant in the other unit: a warning with the spelling that says so.
for words in '--bitrate 2000:2 2000 2000k' '--bitrate 9k' '--rung 48x40:3000:3 3000 3000k' '--bitrate 10000' \
    '--bitrate 2M --vbv-bufsize 2M --vbv-maxrate 4:4 4 4M' '--bitrate 100k --vbv-bufsize 100 --vbv-maxrate 400000:400000 400 400k' '--bitrate 100k --vbv-bufsize 100k --vbv-maxrate 300000'; do
    options=${words%:[!:]*}
    case $words in *:*' '*' '*) meant=${words##*:} ;; *) options=$words meant= ;; esac
    # shellcheck disable=SC2086 # several options and words
    expect 0 $first x264 $options -o a -q
    # shellcheck disable=SC2086
    [ -z "$meant" ] || names $meant
    [ "$(grep -c ' write [0-9]*[kM]$' "$scratch/err")" -eq $([ -z "$meant" ]; echo $?) ] || fail "$options: $(cat "$scratch/err")"
    rm -f ./a*
done

# The same where it is refused; --help is not preceded by a warning.
for wrong in '--bitrate 500:for 500 kbit/s write 500k' '--bitrate 2.5:for 2.5 Mbit/s write 2.5M' '--rung 48x40=500:for 500 kbit/s write 500k' \
    '--bitrate 2m:suffixes are k, M and G' '--target-size 700MiB:suffixes are k, M and G' '--rung 48x40=2m:suffixes are k, M and G' \
    '--bitrate 2M --vbv-bufsize 4m:size such as 345k' '--rung 48x40=size=1MiB:suffixes are k, M and G' \
    '-o d/:such as -o d/clip' '-o .:such as -o ./clip' '-o -:such as -o clip'; do
    options=$(echo "${wrong%%:*}" | sed 's/x40=/x40:/')
    case $options in -o*) options="$options --crf 24" ;; *) options="$options -o a" ;; esac
    # shellcheck disable=SC2086 # several options
    expect 2 $first x264 $options
    says "${wrong#*:}"
done
expect 2 $first x264 --bitrate 3000M -o a
! grep -q suffix "$scratch/err" || fail "M is a suffix"
expect 0 $first x264 --bitrate 2000 --help
[ ! -s "$scratch/err" ] || fail "a warning before the help"

# A clip too short for the encoder to make up for wrong estimates: one line, however many bitrates.
expect 0 $first x264 --frames 49 --bitrate 90k --bitrate 100k -o a
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one warning of 49 frames"
names a-96x80-90k-0.log 49 50
rm -f ./a*

have ffmpeg || { echo "ffmpeg is not here: no second pass was tested"; exit 0; }
# A video that begins with black: hardly more than headers are expected of it. x264 scales its quantizer by how far that
# is from the truth, and took 1.8 times the rate when more was expected.
ffmpeg -nostdin -v error -f lavfi -i color=black:s=128x96:r=25 -f lavfi -i testsrc2=s=128x96:r=25 -filter_complex \
    '[0]trim=end_frame=30[z];[z][1]concat,format=yuv420p' -frames:v 40 black.y4m || fail "no black clip"
for encoder in x264 x265; do
    expect 0 firstpass black.y4m --backend cpu --encoder $encoder --bitrate 150k -o a
    sed -n 's/^in:\([0-9]*\) .* tex:\([0-9]*\) mv:\([0-9]*\) misc:\([0-9]*\) .*/\1 \2 \3 \4/p' a-*.log |
        awk -v most=$([ $encoder = x264 ] && echo 160 || echo 60) \
            '$1 > 0 && $1 < 30 { n++; if ($2 + $3 + $4 > most) exit 1 } END { exit n != 29 }' ||
        fail "$encoder: bits of black frames: $(grep '^in:[12]*[0-9] ' a-*.log | head -3)"
    sed -n 's/^in:.* i[mc][bu]:\([0-9]*\)[.0]* p[mc][bu]:\([0-9]*\)[.0]* s[mc][bu]:\([0-9]*\)[.0]* .*/\1 \2 \3/p' a-*.log |
        awk '{ n++; if ($1 + $2 + $3 != 48) exit 1 } END { exit n != 40 }' ||
        fail "$encoder: not 48 blocks in each frame: $(grep '^in:' a-*.log | head -3)"
    rm -f a*
done
passes=0
for encoder in x264 x265; do
    ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " lib$encoder " || echo "ffmpeg has no lib$encoder: not tested"
    have $encoder || echo "$encoder is not here: not tested"
done

# runs COMMAND_LINE FORMAT: it makes a video whose frames have the types that the statistics say.
runs() {
    rm -f "out.$2"
    echo "$1" | sed "s/OUTPUT/out.$2/" >line
    timeout -s KILL 600 sh ./line >log 2>&1 </dev/null || fail "$1: $(tail -3 log)"
    ffprobe -v error -select_streams v -show_entries frame=pict_type -of csv=p=0 "out.$2" | tr -dc 'IPB\n' |
        sed '/^$/d' >types
    cmp -s planned types || fail "$1: $(tr -d '\n' <types), planned $(tr -d '\n' <planned)"
    size=$(ffprobe -v error -select_streams v -show_entries stream=width,height -of csv=p=0:s=x "out.$2")
    ls a*-"$size"-* >/dev/null 2>&1 || fail "$1: encodes $size"
    passes=$((passes + 1))
}

# second CLIP ENCODER OPTION...: the printed second passes of one bitrate, or of what `asked` says. x265 reads no small Y4M.
asked='--bitrate 150k'
second() {
    clip=$1
    encoder=$2
    shift 2
    rm -f a*
    expect 0 firstpass "$clip" --backend cpu --encoder $encoder $asked -o "a:b'c d" "$@"
    cp "$scratch/out" printed
    sed -n 's/^in:\([0-9]*\) .*type:\(.\).*/\1 \2/p' "a:b'c d"-*.log | sort -n | sed 's/.* //' | tr ib IB >planned
    if ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " lib$encoder "; then
        runs "$(grep '^ffmpeg .*OUTPUT$' printed | head -1)" mkv
    fi
    if have $encoder; then
        runs "$(grep "$encoder .* -o OUTPUT" printed)" $encoder
    fi
}

# same_size ENCODER QUALITY CLIP OPTION...: the program's printed line makes a file of the same size as its own --crf or --qp.
same_size() {
    encoder=$1
    quality=$2
    clip=$3
    shift 3
    rm -f q* own.bin ours.bin
    expect 0 firstpass "$clip" --backend cpu --encoder $encoder --$quality -o "q'u" "$@"
    grep "$encoder .* -o OUTPUT" "$scratch/out" | sed 's/OUTPUT/ours.bin/' >line
    timeout -s KILL 600 sh ./line >log 2>&1 </dev/null || fail "$encoder --$quality: $(tail -3 log)"
    input=$([ $encoder = x264 ] || echo --input)
    timeout -s KILL 600 $encoder $(echo "$@" | sed 's/--\([a-z]*tree\) 0/--no-\1/') --$quality $input "$clip" -o own.bin >own.log 2>&1 \
        </dev/null || fail "own --$quality: $(tail -3 own.log)"
    stat -c %s own.bin ours.bin | paste -s -d ' ' | awk '{ exit !($2 > 0.8 * $1 && $2 < 1.2 * $1) }' ||
        fail "$encoder --$quality $*: $(stat -c %s ours.bin) bytes, own $(stat -c %s own.bin)"
    passes=$((passes + 1))
}
ffmpeg -nostdin -v error -f lavfi -i mandelbrot=s=192x144:r=25:start_scale=0.6:end_scale=0.1:end_pts=60 -frames:v 60 -pix_fmt yuv420p \
    zoom.y4m || fail "no zoom"
ffmpeg -nostdin -v error -i zoom.y4m -frames:v 20 -strict -1 -pix_fmt yuv420p10le deep.y4m || fail "no deep zoom"
for encoder in x264 x265; do
    have $encoder || continue
    for quality in 'crf 22' 'crf 31.5' 'qp 30'; do
        same_size $encoder "$quality" zoom.y4m
    done
    same_size $encoder 'crf 26' zoom.y4m --preset veryfast --tune psnr
    same_size $encoder 'crf 26' zoom.y4m --$([ $encoder = x264 ] && echo mbtree || echo cutree) 0
    same_size $encoder 'crf 26' deep.y4m --output-depth 10
    same_size $encoder 'crf 34' zoom.y4m --keyint 1
done
# Where things move apart from all that is around them, x264's line limits a wide buffer: only then has its second pass vectors to
# begin with. The file becomes smaller, and QPs stay those of the files.
python3 -c "
import random
random.seed(1)
def checks():
    squares = [[random.randrange(16, 236) for _ in range(4)] for _ in range(4)]
    return [bytes(squares[y // 6][x // 6] for x in range(24)) for y in range(24)]
things = [(checks(), random.randrange(168), random.randrange(120)) for _ in range(16)]
with open('apart.y4m', 'wb') as clip:
    clip.write(b'YUV4MPEG2 W192 H144 F25:1 Ip A1:1 C420jpeg\n')
    for frame in range(40):
        luma = [bytearray(b'\x60' * 192) for _ in range(144)]
        for number, (rows, x, y) in enumerate(things):
            for i, row in enumerate(rows):
                luma[y + i][x:x + 24] = row
            if frame % 2: # each frame is shown twice
                things[number] = rows, (x + random.randrange(-20, 21)) % 168, (y + random.randrange(-20, 21)) % 120
        clip.write(b'FRAME\n' + b''.join(luma) + b'\x80' * (2 * 96 * 72))
"
expect 0 firstpass apart.y4m --backend cpu --encoder x264 --crf 30 -o q
kbps=$(sed -n 's/^# 192x144, crf 30, expected to take \([0-9]*\) .*/\1/p' "$scratch/out")
most=$((8 * kbps > 20000 ? 8 * kbps : 20000))
grep 'x264 .*-o OUTPUT' "$scratch/out" >line
grep -q -e "--bitrate $((4 * kbps)) .* --vbv-maxrate $most --vbv-bufsize $most " line || fail "no buffer for $kbps kbit/s: $(cat line)"
if have x264; then
    sed 's/ --bitrate [0-9]*/ --bitrate '"$kbps"'/; s/ --vbv-[a-z]* [0-9]*//g; s/OUTPUT/own.264/' line >plain
    timeout -s KILL 600 sh ./plain >log 2>&1 </dev/null || fail "x264 without a buffer: $(tail -3 log)"
    sed 's/--pass 2/--pass 3/; s/OUTPUT/ours.264/' line >third
    timeout -s KILL 600 sh ./third >log 2>&1 </dev/null || fail "x264 with a buffer: $(tail -3 log)"
    ! grep -q warning log || fail "x264 warns: $(cat log)"
    [ "$(stat -c %s ours.264)" -lt "$(stat -c %s own.264)" ] ||
        fail "$(stat -c %s ours.264) bytes with a buffer, $(stat -c %s own.264) without"
    sed -n 's/^in:\([0-9]*\) .* type:\([IP]\) .* q:\([0-9]*\)\.00 .*/\1 \2 \3/p' q-*-0.log | sort -n >coded
    grep ' [IP] ' q-*.qpfile | cmp -s - coded || fail "QPs are not those of the files: $(grep ' [IP] ' q-*.qpfile | diff - coded)"
    passes=$((passes + 1))
fi
rm -f q* own.* ours.* zoom.y4m deep.y4m apart.y4m line plain third coded

have ffprobe || { echo "ffprobe is not here: no second pass was tested"; exit 0; }
# Motion, a cut, and a fade; the last clip has 10 bits.
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=128x96:r=25:d=1 -f lavfi -i mandelbrot=s=128x96:r=25 -filter_complex \
    '[1]trim=end_frame=25[m];[0][m]concat,fade=out:35:15,format=yuv420p' -frames:v 50 cut.y4m || fail "no clip"
ffmpeg -nostdin -v error -i cut.y4m -frames:v 12 -c:v ffv1 -pix_fmt yuv420p10le deep.mkv || fail "no deep clip"
# Frames at uneven times.
ffmpeg -nostdin -v error -i cut.y4m -vf "select='mod(n,7)-3'" -fps_mode passthrough -c:v ffv1 uneven.mkv || fail "no uneven clip"
refuses 3 uneven.mkv '--vf fps=25/1' -- firstpass uneven.mkv --encoder x264 --bitrate 1M -o r
expect 0 firstpass uneven.mkv --backend cpu --encoder x264 --bitrate 1M -o a --vf fps=25/1
refuses 3 uneven.mkv --vf fps=50/1 -- firstpass uneven.mkv --encoder x264 --bitrate 1M -o r --vf "setpts=PTS/2,fps=50,select='mod(n,7)-3'"
# Frames change their size, and times jump: the filter begins anew, and so does its grid of times.
ffmpeg -nostdin -v error -i cut.y4m -frames:v 12 -c:v mpeg2video first.ts || fail "no first part"
ffmpeg -nostdin -v error -i cut.y4m -frames:v 12 -vf scale=160:96 -c:v mpeg2video -output_ts_offset 10.313 last.ts || fail "no last part"
cat first.ts last.ts >jump.ts
for graph in fps=25 'hflip, fps=25:round=up[out]'; do
    run firstpass jump.ts --backend cpu --encoder x264 --bitrate 1M -o r --vf "$graph"
    [ "$status" -eq 3 ] || fail "a jump in time: exit status $status"
    names jump.ts 11 --vf
    ! grep -q fps= "$scratch/err" || fail "a jump in time: the advice is the graph that was given"
done
run firstpass jump.ts --backend cpu --encoder x264 --bitrate 1M -o r --vf fps=25,hflip
[ "$status" -eq 3 ] || fail "a jump in time: exit status $status"
names jump.ts --vf fps=25/1
! ls | grep -q '^r' || fail "a jump in time: left files"
rm first.ts last.ts jump.ts
cp deep.mkv "it's:deep.mkv"
# Two video streams, of which the larger one comes last, and sound; full range; an edit list.
ffmpeg -nostdin -v error -i cut.y4m -f lavfi -i sine=d=1 -filter_complex '[0]split[a][b];[a]scale=96:72[small]' \
    -map '[small]' -map 1 -map '[b]' -c:v ffv1 -c:a pcm_s16le -frames:v 12 two.mkv || fail "no clip with two streams"
ffmpeg -nostdin -v error -i cut.y4m -vf scale=out_range=pc,format=yuvj420p -c:v libx264 -g 50 -qp 4 -frames:v 40 full.mp4 || fail "no full clip"
ffmpeg -nostdin -v error -ss 0.6 -i full.mp4 -c copy -avoid_negative_ts disabled edit.mp4 || fail "no edited clip"
# even_sound: the printed line of ffmpeg keeps the times of sound. A packet of AAC has 1024 samples.
even_sound() {
    rm -f out.mp4
    grep '^ffmpeg .*OUTPUT$' printed | head -1 | sed 's/OUTPUT/out.mp4/' >line
    timeout -s KILL 600 sh ./line >log 2>&1 </dev/null || fail "sound: $(tail -3 log)"
    ffprobe -v error -select_streams a -show_entries packet=pts -of csv=p=0 out.mp4 | tr -dc '0-9\n-' | sed '/^$/d' |
        awk 'NR > 1 && $1 - last != 1024 { bad++ } { last = $1 } END { exit bad || NR < 20 }' || fail "sound at uneven times"
}
ffmpeg -nostdin -v error -i cut.y4m -f lavfi -i sine=r=44100:d=2 -map 0 -map 1 -c:v ffv1 -c:a pcm_s16le sound.nut || fail "no sound"
# A container whose time does not begin at 0, as filters have it, and pictures from a high number on.
ffmpeg -nostdin -v error -i cut.y4m -c:v mpeg2video -q:v 2 late.ts || fail "no late clip"
ffmpeg -nostdin -v error -i cut.y4m -frames:v 12 -c:v mpeg4 -q:v 2 -video_track_timescale 25 -output_ts_offset 2 late.mov ||
    fail "no late clip of coarse times"
ffmpeg -nostdin -v error -i cut.y4m -frames:v 12 -start_number 1001 'image%04d.png' || fail "no pictures"
# A list of files whose names are absolute, which ffmpeg calls unsafe.
printf 'ffconcat version 1.0\nfile %s/cut.y4m\nfile %s/cut.y4m\n' "$(pwd)" "$(pwd)" >list.ffconcat
for encoder in x264 x265; do
    second cut.y4m $encoder # with a fade, for which x264 needs weights
    grep -q '^in:25 .*type:[Ii] ' "a:b'c d"-*.log || fail "$encoder: no I frame at the cut"
    [ $encoder = x265 ] || grep -q ' w:' "a:b'c d"-*.log || fail "no weights in a fade"
    second cut.y4m $encoder --bframes 0 --keyint 10
    second cut.y4m $encoder --bframes 8 --b-adapt 2 --open-gop 1 --keyint 20
    second cut.y4m $encoder --b-pyramid none --aq-mode 0 --qcomp 0.8 --vbv-maxrate 300 --vbv-bufsize 300 \
        $([ $encoder = x265 ] || echo --ratetol 0.011)
    ! grep 'tolerance too small' log || fail "x264 takes another --ratetol"
    second cut.y4m $encoder --keyint 1
    second cut.y4m $encoder --keyint 1 --rc-lookahead 0
    second cut.y4m $encoder --size 96x64 --frames 20 --vf hflip
    second "it's:deep.mkv" $encoder
    second cut.y4m $encoder --keyint 3 --bframes 3
    # Chunks of a fixed length, although there is a cut at frame 25.
    second cut.y4m $encoder --keyint 20 --min-keyint 20 --scenecut 0 --open-gop 0
    [ "$(sed -n 's/^in:\([0-9]*\) .*type:I .*/\1/p' "a:b'c d"-*.log | sort -n | paste -s -d ' ')" = '0 20 40' ] ||
        fail "$encoder: chunks of 20 frames"
    for stream in '' '--stream 0' '--stream 1'; do
        second two.mkv $encoder --frames 12 $stream
    done
    second edit.mp4 $encoder
    second list.ffconcat $encoder --allow-files --frames 60
    second late.ts $encoder --vf trim=start=1.2
    [ "$(wc -l <planned)" -eq 20 ] || fail "not the last 0.8 s"
    second file:image%04d.png $encoder
    second late.mov $encoder --vf bwdif
    second uneven.mkv $encoder --vf fps=25/1
    second sound.nut $encoder
    ! ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " lib$encoder " || even_sound
    second cut.y4m $encoder --vf '[in]hflip[out]' --size 96x64
    second full.mp4 $encoder
    second cut.y4m $encoder --frames 1
    # At a constant quality: whatever the name, the streams and the length, a line ends and has all frames.
    asked='--crf 28'
    second cut.y4m $encoder
    second cut.y4m $encoder --bframes 8 --b-adapt 2 --open-gop 1 --keyint 20
    second cut.y4m $encoder --keyint 1
    second cut.y4m $encoder --size 96x64 --frames 20 --vf hflip
    second "it's:deep.mkv" $encoder
    second two.mkv $encoder --frames 12 --stream 1
    second sound.nut $encoder
    second cut.y4m $encoder --frames 1
    asked='--qp 28'
    second cut.y4m $encoder --bframes 0
    second two.mkv $encoder --frames 12
    asked='--bitrate 150k'
done
# --timeout in --verify: the files stay, and no rows of encodes that were cut short. No machine does this in a second.
if ffmpeg -hide_banner -encoders 2>/dev/null | grep -q ' libx265 ' && ! checked; then
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=1280x720:r=25,noise=alls=20:allf=t -frames:v 60 -pix_fmt yuv420p -y long.y4m
    "$gpume" firstpass long.y4m --backend cpu --encoder x265 --preset placebo --bitrate 2M -o t --verify --timeout 3 \
        >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 1 ] || fail "--verify: exit status after --timeout"
    grep -qF -- '--timeout 3' "$scratch/err" || fail "the option that ended the run is not named"
    [ ! -e t.json ] || grep -q '^ffmpeg' "$scratch/out" || fail "--verify: the command lines are lost"
    grep -qE 'own two passes|with gpume|nan' "$scratch/out" && fail "--verify: a row of an encode that was cut short"
    rm -f long.y4m t.json t-*
fi
# --verify: two rows of plausible rates and PSNR for each bitrate, and nothing else left behind.
for encoder in x264 x265; do
    ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " lib$encoder " || continue
    rm -f a* v*
    expect 0 firstpass cut.y4m --backend cpu --encoder $encoder --bitrate 150k --size 96x64 -o "v:w" --verify --frames 20 \
        --vf '[in]hflip[out] '
    rows=$(awk '/^#   (own two passes|with gpume) /  { sub(/^#   (own two passes|with gpume)/, "")
            if ($1 > 20 && $1 < 400 && $4 == "%" && $5 > 20 && $5 < 90) n++ } END { print n + 0 }' "$scratch/out")
    [ "$rows" -eq 2 ] || fail "--verify with $encoder: $(grep '^#  ' "$scratch/out")"
    grep -q "^#   times are of lib$encoder alone; that of gpume's first pass includes decoding\$" "$scratch/out" ||
        fail "--verify: what the times hold"
    [ "$(ls -d v* | wc -l)" -eq 3 ] || fail "--verify with $encoder leaves $(ls -d v*)"
    refused 2 --verify 8 -- firstpass deep.mkv --backend cpu --encoder $encoder --bitrate 150k -o a --verify
    ls a* >/dev/null 2>&1 && fail "--verify: files of a refused run" || :
done
# libx264 refuses such a rate even with its own files.
if ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " libx264 "; then
    "$gpume" firstpass cut.y4m --backend cpu --encoder x264 --bitrate 1k -o a --verify >/dev/null 2>"$scratch/err"
    [ $? -eq 1 ] || fail "--verify: libx264 takes 1 kbit/s"
    grep -qF -- '--verify' "$scratch/err" || fail "the option that failed is not named"
fi
# The decoder's buffer: a still picture, whose first frame is far larger than what arrives during one. No picture may come too late
# (x265 does not count its text about itself), and PSNR must be nearly that of x265's own passes. Threads would make x265 guess.
if have x265; then
    ffmpeg -nostdin -v error -f lavfi -i mandelbrot=s=256x192:r=25 -vf 'select=lt(n\,1),loop=49:1:0,setpts=N/25/TB' -frames:v 50 \
        -pix_fmt yuv420p still.y4m || fail "no still picture"
    limits='--vbv-maxrate 100 --vbv-bufsize 25'
    # encodes NAME COMMAND: the PSNR is added to the file still.psnr, and a line if the buffer runs empty.
    encodes() {
        timeout -s KILL 600 $2 --frame-threads 1 --pools none --no-wpp --psnr --csv "$1.csv" --csv-log-level 2 -o still.hevc \
            >log 2>&1 </dev/null || fail "$1: $(tail -3 log)"
        sed -n 's/.*Global PSNR: \([0-9.]*\).*/\1/p' log >>still.psnr
        awk -F, 'BEGIN { fill = 22500 } $2 ~ /SLICE/ { fill -= $5; if (fill < 0) exit 1; fill += 4000; if (fill > 25000) fill = 25000 }' \
            "$1.csv" || fail "$1: the buffer runs empty"
    }
    x265 --preset medium --tune psnr --bitrate 100 $limits --frame-threads 1 --pools none --no-wpp --pass 1 --stats own.log \
        --input still.y4m -o still.hevc >log 2>&1 || fail "x265's own first pass: $(tail -3 log)"
    encodes own "x265 --preset medium --tune psnr --bitrate 100 $limits --pass 2 --stats own.log --input still.y4m"
    rm -f a*
    expect 0 firstpass still.y4m --backend cpu --encoder x265 --tune psnr --bitrate 100k $limits -o a
    encodes gpume "$(sed -n 's/^\(x265 .*\) -o OUTPUT$/\1/p' "$scratch/out")"
    [ "$(wc -l <still.psnr)" -eq 2 ] || fail "no PSNR: $(cat still.psnr)"
    paste -s -d ' ' still.psnr | awk '$2 < $1 - 1 { exit 1 }' || fail "a limited buffer: PSNR $(paste -s -d ' ' still.psnr), own first"
    rm -f still* own* gpume.csv a*
fi
echo "$passes second passes"
