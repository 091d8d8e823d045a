#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every command that is killed when its first output would get its name leaves temporaries, and all of them are removed
# by the next run with the same outputs.
. "$(dirname "$0")/common.sh"
[ -f "${GPUME_FAULT_CALLS:-}" ] || skip "no library of failing calls (a build with sanitizers has none)"
make_clip clip.y4m 64 64 8 6
"$gpume" clip.y4m --backend cpu -q --vectors a.csv -w 2 || fail "no vectors"
"$gpume" clip.y4m --backend cpu -q --vectors b.csv -w 1 || fail "no vectors"
for part in 1 4; do
    "$gpume" clip.y4m --backend cpu -q -o part$part --start $part --frames $((part == 1 ? 3 : 2)) \
        --predicted part$part/p%d.png || fail "no part"
done
seq 9 >numbers

# killed COUNT STATUS ARGUMENTS: leaves that many temporaries; the run after that ends with this status.
killed() {
    count=$1
    wanted=$2
    shift 2
    env GPUME_FAULT_KIND=name GPUME_FAULT_AT=1 GPUME_FAULT_SIGNAL=9 LD_PRELOAD="$GPUME_FAULT_CALLS" \
        "$gpume" "$@" -y >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 137 ] || fail "$*: was not killed"
    [ "$(find . -name '.*.gpume-*.tmp' | wc -l)" -eq "$count" ] ||
        fail "$*: killed, and left $(find . -name '.*.gpume-*.tmp' | tr '\n' ' ')"
    "$gpume" "$@" -y >"$scratch/out" 2>"$scratch/err"
    [ $? -eq "$wanted" ] || fail "$*: cannot be run again"
    [ -z "$(find . -name '.*.gpume-*')" ] || fail "$*: leaves $(find . -name '.*.gpume-*' | tr '\n' ' ')"
}

killed 1 0 luma clip.y4m -o l.y4m
killed 1 0 filter clip.y4m -o filtered.y4m --backend cpu
killed 1 0 scenes clip.y4m -o s.csv --backend cpu
killed 1 0 complexity clip.y4m -o c.csv --backend cpu
killed 1 0 qpmap clip.y4m -o q.roi --backend cpu
killed 2 0 methods clip.y4m -o m.csv --report m.html --backend cpu
killed 1 0 sort numbers -o n --backend cpu
killed 1 0 convert a.csv x.mvf
killed 2 0 convert a.csv f%d.flo # one, and the name of the series
killed 2 5 compare a.csv b.csv --map d.mkv --report d.html
killed 3 5 compare a.csv b.csv --map d%d.png --report d.html
killed 3 0 firstpass clip.y4m --encoder x264 --bitrate 100k -o st --backend cpu
killed 5 0 firstpass clip.y4m --encoder x264 --crf 30 --filter 1 --filtered kept.y4m -o kept --backend cpu
killed 3 0 merge part1 part4 -o whole
killed 6 0 clip.y4m --backend cpu -o all --residual r%d.png --report rep.html
sample=$here/../../samples/bunny.mp4
killed 3 0 vectors "$sample" --frames 6 -b 16 -o v.csv --overlay v.mkv --report v.html
killed 2 0 vectors "$sample" --frames 6 -b 16 -o v%d.flo --overlay v%d.png # the first has no vectors
if have ffmpeg && ffmpeg -v error -i clip.y4m -pix_fmt yuv420p -c:v mpeg4 coded.avi </dev/null 2>"$scratch/err"; then
    killed 3 0 coded.avi --from-stream -b 16 --vectors v.mvf --overlay v.y4m --report v.html
    killed 3 0 coded.avi --backend cpu --against-stream -o against
fi
exit 0
