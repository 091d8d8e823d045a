#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# With few open files (ulimit -n) every command succeeds, or says in its one line that this is the reason, and not the
# name or the permissions of a file.
. "$(dirname "$0")/common.sh"
checked && skip "a sanitizer opens its own files"
make_clip clip.y4m 64 64 8 6
for part in 1 4; do
    "$gpume" clip.y4m --backend cpu -q -o part$part --start $part --frames $((part == 1 ? 3 : 2)) || fail "no part"
done
"$gpume" clip.y4m --backend cpu -q --predicted p%d.png || fail "no pictures"
seq 9 >numbers
printf '1 2 1\n' >kernel

# limited FILES ARGUMENTS
limited() {
    files=$1
    shift
    (ulimit -n "$files" && exec "$gpume" "$@" -y) >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    [ $status -ne 127 ] || return # not even the libraries
    [ $status -eq "$wanted" ] && return
    says "(ulimit -n)"
    [ "$(grep -vc warning: "$scratch/err")" -eq 1 ] || fail "$files files: $*: not one line"
}

refused=0
for number in 4 5 6 7 8 9 10 12 16; do
    wanted=0
    limited $number sort numbers -o n --backend cpu
    limited $number convert part1 c.npz
    limited $number convert part1/vectors.csv c.mvf
    limited $number merge part1 part4 -o whole
    limited $number clip.y4m --backend cpu -o all
    limited $number p%d.png --backend cpu --vectors v.npy
    limited $number clip.y4m --backend cpu --prefilter kernel:kernel --vectors v.csv
    limited $number clip.y4m --backend cpu -w 7 --frames 2 --qp 20 --predictor part1/vectors.csv --vectors v.csv
    limited $number luma clip.y4m -o l.y4m
    limited $number scenes clip.y4m -o s.csv --backend cpu
    limited $number firstpass clip.y4m --encoder x264 --bitrate 100k -o st --backend cpu
    limited $number compare part1 part1
    [ $status -eq 0 ] || refused=$((refused + 1))
done
[ $refused -gt 0 ] || fail "no limit was too small"
[ -z "$(find . -name '.*.gpume-*')" ] || fail "left: $(find . -name '.*.gpume-*' | tr '\n' ' ')"
exit 0
