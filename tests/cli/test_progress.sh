#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Progress: on a terminal by default, elsewhere with --progress, never with --no-progress.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 48 8 5

expect 0 clip.y4m --backend "$engine"
[ ! -s "$scratch/err" ] || fail "progress without a terminal"
expect 0 clip.y4m --backend "$engine" -y --progress
grep -q 'frame pairs, .* per second' "$scratch/err" || fail "--progress"
psnr=$(tail -1 clip.gpume/frames.csv | sed 's/.*,//' | awk '{ printf "%.2f", $1 }')
grep -q "^4/4 frame pairs, .* 0 s left, PSNR $psnr dB$" "$scratch/err" || fail "--progress: the last line"
expect 0 clip.y4m --backend "$engine" -yq --progress
grep -q 'frame pairs, ' "$scratch/err" || fail "-q --progress"
[ ! -s "$scratch/out" ] || fail "-q writes a summary"
expect 0 clip.y4m --backend "$engine" -y --progress --no-progress
[ ! -s "$scratch/err" ] || fail "--no-progress"

script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
    { echo "no script: the terminal is not tested"; exit 0; }
TERM=xterm
export TERM
terminal() {
    script -qec "'$gpume' clip.y4m --backend $engine -y $* >/dev/null" /dev/null \
        >"$scratch/tty" 2>/dev/null </dev/null
}
terminal
grep -q 'frame pairs, ' "$scratch/tty" || fail "no progress on a terminal"
grep -q "$(printf '\r')" "$scratch/tty" || fail "the line is not rewritten"
# A line never wraps: it could not be rewritten.
script -qec "stty cols 24 && '$gpume' clip.y4m --backend $engine -y >/dev/null" /dev/null \
    >"$scratch/tty" 2>/dev/null </dev/null
grep -q 'frame pairs' "$scratch/tty" || fail "no progress on a narrow terminal"
tr '\r' '\n' <"$scratch/tty" | awk 'length($0) > 23 { exit 1 }' || fail "wider than the terminal"
terminal --no-progress
! grep -q 'frame pairs, ' "$scratch/tty" || fail "--no-progress on a terminal"
terminal -q
! grep -q 'frame pairs, ' "$scratch/tty" || fail "-q on a terminal"
exit 0
