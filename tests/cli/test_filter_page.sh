#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The page of gpume filter in Chromium.
. "$(dirname "$0")/common.sh"
. "$here/browser.sh"
make_clip 'a<b>&.y4m' 400 300 8 5
expect 0 filter 'a<b>&.y4m' --backend "$engine" --noise 5 -o out.y4m --report page.html
grep -q '<h1>a&#60;b&#62;&#38;.y4m</h1>' page.html || fail "the name is not escaped"
"$python" -B "$here/filter_page.py" page.html || fail "see above"
