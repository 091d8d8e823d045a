#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The page of gpume ladder in Chromium, beside the JSON of the same run.
. "$(dirname "$0")/common.sh"
. "$here/browser.sh"
have ffmpeg || skip "no ffmpeg"
ffmpeg -nostdin -v error -f lavfi -i mandelbrot=size=320x180:maxiter=60 -vf format=yuv420p,trim=end_frame=24 -fps_mode passthrough 'a<b>&.y4m' ||
    fail "no clip"
expect 0 ladder 'a<b>&.y4m' --backend "$engine" -o page.html -o a.json
grep -q '<h1>a&#60;b&#62;&#38;.y4m</h1>' page.html || fail "the name is not escaped"
"$python" -B "$here/ladder_page.py" page.html a.json || fail "see above"
