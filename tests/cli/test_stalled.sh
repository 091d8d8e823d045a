#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Readers that stop reading: a run whose standard error or standard output is a full pipe ends after SIGTERM and after
# --timeout. There is no time limit here: ctest ends a test that hangs.
. "$(dirname "$0")/common.sh"
have python3 || skip "no python3"
make_clip clip.y4m 64 48 8 400

cat >"$scratch/stalled.py" <<'END'
"""stalled.py STREAMS SIGNAL COMMAND...: runs the command with full pipes as these streams. Sends the signal, unless it
is 0, when all its threads sleep, which they do as soon as the full pipe holds them up. Prints the exit status."""
import fcntl, os, signal, subprocess, sys, time


def full_pipe():
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    fcntl.fcntl(writer, fcntl.F_SETFL, 0)
    return writer


def sleeps(pid):
    """Has it taken over SIGTERM, and does no thread run?"""
    try:
        with open("/proc/%d/status" % pid) as file:
            blocked = [int(line.split()[1], 16) for line in file if line.startswith("SigBlk")][0]
        states = []
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/stat" % (pid, task)) as file:
                states.append(file.read().rpartition(")")[2].split()[0])
        return blocked >> (signal.SIGTERM - 1) & 1 and set(states) == {"S"}
    except (OSError, IndexError):
        return False


streams = {name: full_pipe() for name in sys.argv[1].split(",")}
process = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, **streams)
if int(sys.argv[2]):
    found = 0
    while found < 10 and process.poll() is None:
        found = found + 1 if sleeps(process.pid) else 0
        time.sleep(0.05)
    process.send_signal(int(sys.argv[2]))
print(process.wait())
END

# stalled STREAMS SIGNAL ARGUMENTS: ends with exit status $ends.
ends=1
stalled() {
    streams=$1
    number=$2
    shift 2
    python3 "$scratch/stalled.py" "$streams" "$number" "$gpume" "$@" >"$scratch/status" 2>"$scratch/err" ||
        fail "$*: cannot be run"
    [ "$(cat "$scratch/status")" = $ends ] || fail "$*: exit status $(cat "$scratch/status"), with $streams full"
}

"$gpume" clip.y4m --backend cpu -q --vectors table.csv || fail "no vectors"
for number in 15 2; do
    # Messages of -v, from any thread; then a line of progress.
    stalled stderr $number clip.y4m --backend cpu --vectors v.csv -v
    stalled stderr $number scenes clip.y4m --backend cpu -o s.csv -v
    stalled stderr $number firstpass clip.y4m --encoder x264 --bitrate 100k --backend cpu -o st -v
    # Data, on its own thread and not.
    stalled stdout $number clip.y4m --backend cpu --vectors -
    stalled stdout,stderr $number clip.y4m --backend cpu --vectors -
    stalled stdout $number luma clip.y4m
    stalled stdout,stderr $number convert table.csv -
    # Closing summaries and command lines.
    stalled stdout $number clip.y4m --backend cpu --vectors w.csv --frames 3 -y
    grep -q 'interrupted.*completed' "$scratch/err" || fail "interrupted at the end: $(cat "$scratch/err")"
    stalled stdout $number luma clip.y4m -o l.y4m -y
    stalled stdout $number firstpass clip.y4m --encoder x264 --bitrate 100k --backend cpu -o st -y --frames 5
    # One line that says what is wrong.
    ends=3
    stalled stderr $number luma missing.y4m -o l.y4m -y
    ends=1
    rm -f v.csv* .v.csv* s.csv st*
done
# --timeout ends them as well: neither signal nor reader is needed.
stalled stderr 0 clip.y4m --backend cpu --vectors v.csv -v --timeout 1
stalled stdout 0 clip.y4m --backend cpu --vectors - --timeout 1
stalled stdout 0 clip.y4m --backend cpu --vectors v.csv --frames 3 --timeout 1
exit 0
