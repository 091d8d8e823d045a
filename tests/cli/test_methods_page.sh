#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The page of gpume methods in Chromium, beside the table of the same run.
. "$(dirname "$0")/common.sh"
. "$here/browser.sh"
make_clip 'a<b>&.y4m' 80 56 8 5
run methods 'a<b>&.y4m' --backend "$engine" -b 8 -w 5 -o table.csv --report page.html
if [ "$status" -eq 3 ] && grep -q "no such filter" "$scratch/err"; then
    skip "this FFmpeg has no mestimate"
fi
[ "$status" -eq 0 ] || fail "exit status $status"
grep -q '<h1>a&#60;b&#62;&#38;.y4m</h1>' page.html || fail "the name is not escaped"
"$python" -B "$here/methods_page.py" page.html table.csv 'a<b>&.y4m' || fail "see above"
