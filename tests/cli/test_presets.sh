#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume firstpass --preset and --tune: the options are those that the encoder itself writes into its statistics, and its
# second pass reads the files.
. "$(dirname "$0")/common.sh"

have x264 || skip "no x264"
have x265 || skip "no x265"
make_clip clip.y4m 96 80 8 12
ffmpeg -nostdin -v error -i clip.y4m -pix_fmt yuv420p small.y4m 2>/dev/null || fail "no clip"

# options FILE: NAME=VALUE of the encoder's first line, in gpume's spelling; of AQ without strength, mode 0.
options() {
    head -1 "$1" | tr ' ' '\n' | sed -e 's/^keyint_min=/min-keyint=/' -e 's/^ip_ratio=/ipratio=/' -e 's/^pb_ratio=/pbratio=/' \
        -e 's/^aq=\([0-9]\):\(.*\)/aq-mode=\1\naq-strength=\2/' -e 's/^aq=0$/aq-mode=0/' -e 's/_/-/g' \
        -e 's/^no-\(.*\)/\1=0/' -e 's/^\(cutree\|weightp\|weightb\|b-pyramid\|open-gop\)$/\1=1/' |
        sed -e 's/\(=[0-9]*\.[0-9]*[1-9]\)0*$/\1/' -e 's/\.0*$//' >"$1.options"
    if grep -q '^aq-strength=0$' "$1.options"; then
        sed -i -e 's/^aq-mode=.*/aq-mode=0/' "$1.options"
    fi
}

# compare ENCODER ARGUMENTS: runs gpume firstpass and the encoder's own first pass with these arguments, and compares
# their options.
compare() {
    encoder=$1
    shift
    expect 0 firstpass small.y4m --encoder $encoder --backend cpu --bitrate 60k -o n -y "$@"
    grep -q '^# 96x80, 60 kbit/s, 12 frames$' "$scratch/out" || fail "not 12 frames"
    "$encoder" "$@" --slow-firstpass --pass 1 --bitrate 60 --stats own.log $input small.y4m -o /dev/null >/dev/null 2>&1 ||
        fail "$encoder $*: no first pass"
    options own.log
    # The list of options in the command line for ffmpeg, without what has no effect: AQ's strength without AQ, a lookahead
    # without a tree.
    sed -n "s/^ffmpeg .*-$encoder-params '\{0,1\}\([^ ']*\).*/\1/p" "$scratch/out" | head -1 | tr ':' '\n' | sed 's/\.0*$//' |
        grep -E '^(ref|bframes|b-adapt|rc-lookahead|weightp|weightb|scenecut|mbtree|cutree|aq-mode|aq-strength|qcomp|ipratio|pbratio)=' >ours
    [ "$(wc -l <ours)" -eq 13 ] || fail "$encoder $*: not 13 options in the command line"
    grep -q '^aq-strength=0$' ours && sed -i 's/^aq-mode=.*/aq-mode=0/' ours
    grep -q '^aq-mode=0$' ours && sed -i '/^aq-strength/d' ours
    grep -q '^mbtree=0$' ours && sed -i '/^rc-lookahead/d' ours
    [ "$(sed 's/=.*/=/' ours | grep -c -F -f - own.log.options)" -ge 6 ] || fail "$encoder $*: hardly anything to compare"
    while read -r option; do
        name=${option%%=*}
        theirs=$(grep "^$name=" own.log.options)
        [ -z "$theirs" ] || [ "$theirs" = "$option" ] || fail "$encoder $*: $option, but the encoder has $theirs"
    done <ours
    grep -q "^ffmpeg .* $(echo "$*" | sed 's/--/-/g') " "$scratch/out" || fail "$encoder $*: not in the command line"
    sed -n "s/ OUTPUT/ out.bin/; /^$encoder /p" "$scratch/out" >line
    [ -s line ] || fail "$encoder $*: no command line"
    timeout -s KILL 600 sh ./line >log 2>&1 </dev/null || fail "$encoder $*: $(tail -3 log)"
}

for preset in ultrafast superfast veryfast faster fast medium slow slower veryslow placebo; do
    input=
    compare x264 --preset $preset
    input=--input
    compare x265 --preset $preset
done
for tune in psnr ssim film animation grain stillimage fastdecode; do
    input=
    compare x264 --preset veryfast --tune $tune
    input=--input
    case $tune in
    film | stillimage)
        refused 2 --tune "$tune" x265 -- firstpass small.y4m --encoder x265 --bitrate 60k -o n -y --tune $tune
        ;;
    *) compare x265 --preset slow --tune $tune ;;
    esac
done
compare x265 --preset ultrafast --tune animation # whose lookahead allows no more B frames
compare x265 --preset superfast --tune ssim # AQ without strength
input=
compare x264 --preset superfast --tune animation

# What is given stands above both.
expect 0 firstpass small.y4m --encoder x264 --backend cpu --bitrate 60k -o n -y --ref 2 --tune animation --preset slow --aq-mode 3
grep -q '^ffmpeg .*bframes=5:.*ref=2:aq-mode=3:' "$scratch/out" || fail "options do not stand above the preset"
refused 2 --preset quick x264 -- firstpass small.y4m --encoder x264 --bitrate 60k -o n --preset quick
# What the encoder has instead, wherever it is named, and nothing that another one has
refused 2 --preset quick x264 -- firstpass small.y4m --preset quick --bitrate 60k -o n --encoder x264
{ grep -q veryfast "$scratch/err" && ! grep -q 13 "$scratch/err"; } || fail "not the presets of x264"
refused 2 --preset fast svt-av1 -- firstpass small.y4m --encoder svt-av1 --bitrate 60k -o n --preset fast
{ grep -q 13 "$scratch/err" && ! grep -q veryfast "$scratch/err"; } || fail "not the presets of SVT-AV1"
refused 2 --tune film x265 -- firstpass small.y4m --encoder x265 --bitrate 60k -o n --tune film
{ grep -q grain "$scratch/err" && ! grep -q stillimage "$scratch/err"; } || fail "not the tunings of x265"
