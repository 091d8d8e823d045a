#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The page of gpume filter in Chromium; what it says of options, dirt and noise.
. "$(dirname "$0")/common.sh"
. "$here/browser.sh"
make_clip 'a<b>&.y4m' 400 300 8 5
expect 0 filter 'a<b>&.y4m' --backend "$engine" --noise 5 -o out.y4m --report page.html
grep -q '<h1>a&#60;b&#62;&#38;.y4m</h1>' page.html || fail "the name is not escaped"
"$python" -B "$here/filter_page.py" page.html 'Filtered with --strength 1 --noise 5' 'Noise of luma, in steps of 8-bit samples 5.00' ||
    fail "see above"
expect 0 filter 'a<b>&.y4m' --backend "$engine" --spatial 1 --despot --for x264 --crf 24 --radius 2 -w 8 -o all.y4m --report page.html -y
dirt=$(sed -n 's/^spots  *\([0-9.]*\) pixels per frame were replaced$/\1/p' "$scratch/out")
[ -n "$dirt" ] || fail "no count of spots: $(cat "$scratch/out")"
"$python" -B "$here/filter_page.py" page.html \
    'Filtered with --strength 1 --spatial 1 --despot --noise auto --for x264 --crf 24 --radius 2 --window 8x8' \
    "Dirt replaced per frame $dirt samples" || fail "see above"
expect 0 filter 'a<b>&.y4m' --backend "$engine" --strength 0 --despot -o spots.y4m --report page.html -y
"$python" -B "$here/filter_page.py" page.html 'Filtered with --strength 0 --despot' 'Noise of luma, in steps of 8-bit samples not measured' ||
    fail "see above"
