#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A run that is interrupted ends soon, says so in one line, and leaves nothing behind.
. "$(dirname "$0")/common.sh"
need_oracle
timeout --foreground 5 true 2>/dev/null || skip "no timeout --foreground"

# interrupt SIGNAL INPUT ARGUMENTS: after a second.
interrupt() {
    signal=$1
    shift
    mkdir here && cd here || exit 1
    timeout --foreground --preserve-status -k 10 -s "$signal" 1 "$gpume" "$@" --backend "$engine" \
        >"$scratch/out" 2>"$scratch/err"
    status=$?
    cd .. || exit 1
    [ $status -eq 1 ] || fail "$signal: exit status $status"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$signal: not one line"
    says interrupted
    [ ! -s "$scratch/out" ] || fail "$signal: standard output was written"
    only here
    rmdir here
}

# A slow input: a frame every 50 ms.
for signal in INT TERM HUP; do
    mkfifo slow
    "$oracle" stream 30 >slow 2>/dev/null &
    interrupt $signal ../slow -o out --vectors v.csv --predicted p.mkv
    wait
    rm slow
done

# An input that says nothing at all: a pipe that stays open.
mkfifo mute
sleep 4 >mute &
interrupt INT ../mute
wait

# Integers that do not come, with and without a file to write.
mkfifo mute2
sleep 4 >mute2 &
interrupt INT sort ../mute2 -o out
wait
sleep 4 >mute2 &
interrupt TERM sort ../mute2
wait
rm mute2

# A long search.
make_clip large.y4m 640 480 8 200
interrupt INT ../large.y4m -w 20 -b 4 -o out --residual r.y4m

# An ignored signal stays ignored, as under nohup.
make_clip small.y4m 64 48 8 3
mkfifo slow
"$oracle" stream 2 >slow &
(
    trap '' HUP
    exec "$gpume" -q slow --backend "$engine"
) &
pid=$!
sleep 1
kill -s HUP $pid
wait $pid || fail "a signal that is ignored ended the run"
[ "$(wc -l <slow.gpume/frames.csv)" -eq 40 ] || fail "an ignored signal cut the run short"
exit 0
