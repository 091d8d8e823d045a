#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# samples/cluster/part.sh of a part that was begun on another machine, which another boot ID stands for: while the
# other run lives, its locks keep this one away; when it was killed, the part is run anew.
# Usage: moved.sh GPUME_BINARY
. "$(dirname "$0")/../cli/common.sh"
boot=/proc/sys/kernel/random/boot_id
echo 11111111-2222-3333-4444-555555555555 >boot_id
unshare -m mount --bind boot_id $boot 2>/dev/null || skip "unshare -m with mount needs root"
checked && skip "too slow under a checker"
part=$here/../../samples/cluster/part.sh
options="-b 16 -w 48 --no-elimination --backend $engine -q"
PART=0 GPUME=$gpume
export PART GPUME
mkdir work
echo '--start 0' >work/plan

# elsewhere: part.sh on another machine.
elsewhere() {
    unshare -m sh -c "mount --bind boot_id $boot && exec \"\$@\"" sh "$part" clip.y4m work $options \
        >"$scratch/out" 2>"$scratch/err"
}

pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null; rm -rf "$scratch"' EXIT

# Stopped as soon as it could be resumed. If it is over by then, the machine is fast: more frames.
frames=100
stopped=
while [ -z "$stopped" ]; do
    make_clip clip.y4m 320 240 8 $frames
    rm -rf work/part-0
    launch TERM clip.y4m --start 0 -o work/part-0 $options --threads 1
    wait_for test -e work/part-0/.vectors.csv.gpume-state -o -e work/part-0/summary.json
    kill -STOP $pid 2>/dev/null && [ ! -e work/part-0/summary.json ] && stopped=yes
    frames=$((2 * frames))
    [ $frames -lt 5000 ] || fail "the run always ends before it is stopped"
done
ls -A work/part-0 >before
elsewhere && fail "two runs write one part"
says "is being written by a run that is still under way"
ls -A work/part-0 | cmp -s - before || fail "a part that is being written was changed"
kill -KILL $pid
wait $pid 2>/dev/null
pid=

elsewhere || fail "the part is not run anew"
grep -q 'starting anew' "$scratch/out" || fail "the part was resumed on another machine"
only work/part-0 vectors.csv frames.csv summary.json
expect 0 clip.y4m -o one $options
for file in vectors.csv frames.csv; do
    cmp -s one/$file work/part-0/$file || fail "$file is not that of one run"
done
exit 0
