#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Which outputs are written where, existing files, full disks and closed pipes.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 48 8 5

# Rules: only named outputs, or the standard files by default or with -o.
expect 0 clip.y4m --backend "$engine"
only . clip.y4m clip.gpume
only clip.gpume vectors.csv frames.csv summary.json
grep -q '4 frame pairs of 48 blocks, 225 candidates per block' "$scratch/out" || fail "closing summary"
[ ! -s "$scratch/err" ] || fail "something on standard error"
expect 0 clip.y4m --backend "$engine" --vectors v.csv
only . clip.y4m clip.gpume v.csv
expect 0 clip.y4m --backend "$engine" --vectors w.csv -o deep/er/folder/
only deep/er/folder vectors.csv frames.csv summary.json
cmp v.csv deep/er/folder/vectors.csv || fail "vectors differ"
cmp w.csv v.csv || fail "vectors differ"
expect 0 -q clip.y4m --backend "$engine" --vectors=-
cmp "$scratch/out" v.csv || fail "vectors on standard output"
expect 0 clip.y4m --backend "$engine" --vectors -
cmp "$scratch/out" v.csv || fail "the closing summary is among the data"
"$gpume" clip.y4m --backend "$engine" --vectors /dev/stdout | cmp - v.csv || fail "/dev/stdout"

# --check and its line.
expect 0 clip.y4m --backend "$engine" --check -y
grep -q '^Motion vectors matched in 192 of 192 instances$' "$scratch/out" || fail "--check"
grep -q '"checked": 192,' clip.gpume/summary.json || fail "checked in summary.json"
expect 0 clip.y4m --backend "$engine" --check --vectors -
says 'Motion vectors matched in 192 of 192 instances'
expect 0 clip.y4m --backend "$engine" -y
! grep -q checked clip.gpume/summary.json || fail "checked without --check"

# -v prints each stage's time on standard error; summary.json always has it.
expect 0 clip.y4m --backend "$engine" -yv
grep -Eq '^gpume: busy: decode [0-9]+ %, engine [0-9]+ % \(upload .*\), write [0-9]+ % of [0-9.]+ s$' \
    "$scratch/err" || fail "no busy shares with -v"
[ "$(grep -c '"busy": [01]\.[0-9]*$' clip.gpume/summary.json)" -eq 9 ] || fail "busy in summary.json"
expect 0 clip.y4m --backend "$engine" -y
! grep -q busy "$scratch/err" || fail "busy shares without -v"

# Existing files are refused before any work, and stay unchanged.
for name in vectors.csv frames.csv summary.json; do
    rm -rf old && mkdir old && echo mine >old/$name
    refused 2 "old/$name" -- clip.y4m --backend "$engine" -o old
    names -y
    only old $name
    [ "$(cat old/$name)" = mine ] || fail "old/$name was touched"
    expect 0 clip.y4m --backend "$engine" -o old -y
    only old vectors.csv frames.csv summary.json
done
refused 2 v.csv -- clip.y4m --backend "$engine" --vectors v.csv
expect 2 missing.mp4 --vectors v.csv

# Invalid names.
refused 2 v.txt .csv -- clip.y4m --vectors v.txt
expect 2 clip.y4m --vectors old
expect 2 clip.y4m --vectors old -y
expect 2 clip.y4m --vectors a.csv -o . --predicted ./a.csv
refused 2 old/vectors.csv -- clip.y4m --vectors old/vectors.csv -o old -y
refused 2 vectors.csv -- clip.y4m --vectors ./old/../old/vectors.csv -o old -y
ln -s clip.y4m link.csv
refused 2 link.csv -- clip.y4m --vectors link.csv -y
refused 2 clip.y4m -- clip.y4m --backend "$engine" -o clip.y4m
expect 1 clip.y4m --backend "$engine" -o clip.y4m/sub
refused 1 nowhere/v.csv -- clip.y4m --backend "$engine" --vectors nowhere/v.csv
long=$(printf '%0300d' 0)
expect 1 clip.y4m --backend "$engine" -o "fresh/$long"
[ ! -e fresh ] || fail "a folder was left behind"
if [ "$(id -u)" -ne 0 ]; then
    mkdir shut && chmod 555 shut
    refused 1 shut/sub -- clip.y4m --backend "$engine" -o shut/sub
    expect 1 clip.y4m --backend "$engine" -o shut
    refused 1 shut/v.csv -- clip.y4m --backend "$engine" --vectors shut/v.csv
    says "permissions of the folder shut/"
fi

# A failed run removes the folder that it created, but not one that existed.
printf 'YUV4MPEG2 W0 H0\n' >bad.y4m
mkdir stays
expect 3 bad.y4m --backend "$engine" -o made
[ ! -e made ] || fail "a folder was left behind"
expect 3 bad.y4m --backend "$engine" -o stays
only stays

# Full disks.
if [ -w /dev/full ]; then
    refused 1 /dev/full -- clip.y4m --backend "$engine" --vectors /dev/full
    "$gpume" clip.y4m --backend "$engine" --vectors - >/dev/full 2>"$scratch/err"
    [ $? -eq 1 ] || fail "/dev/full as standard output"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "/dev/full: not one line"
    "$gpume" clip.y4m --backend "$engine" -o full >/dev/full 2>"$scratch/err"
    [ $? -eq 1 ] || fail "the closing summary was lost"
    says "standard output"
    "$gpume" clip.y4m --backend "$engine" -o full2 -q >/dev/full || fail "-q has nothing to write"
fi

# A limit on file size: no incomplete file and no temporary.
make_clip large.y4m 320 240 8 20
(
    trap '' XFSZ
    ulimit -f 20 && "$gpume" large.y4m --backend "$engine" -o limit -b 4 -w 1
) >"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] || fail "a limit on file size"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "a limit on file size: not one line"
[ ! -e limit ] || fail "a limit on file size: the folder was left behind"
says "ulimit -f"
(ulimit -n 6 && "$gpume" large.y4m --backend cpu -o limit) >"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] || fail "a limit on open files"
says "ulimit -n"
[ ! -e limit ] || fail "a limit on open files: the folder was left behind"

# A closed pipe.
{
    "$gpume" large.y4m --backend "$engine" --vectors - -b 4 -w 1 2>"$scratch/err"
    echo $? >"$scratch/status"
} | head -1 >"$scratch/out"
[ "$(cat "$scratch/out")" = frame,ref,x,y,w,h,dx,dy,cost,rank ] || fail "head -1"
[ "$(cat "$scratch/status")" -eq 141 ] || fail "a closed pipe: exit status" # SIGPIPE
[ ! -s "$scratch/err" ] || fail "a closed pipe: a message"
{
    "$gpume" large.y4m --backend "$engine" --vectors - -b 4 -w 1 --predicted both.y4m 2>"$scratch/err"
    echo $? >"$scratch/status"
} | head -1 >"$scratch/out"
[ "$(cat "$scratch/status")" -eq 1 ] || fail "a closed pipe beside a file: exit status"
says "the reader closed the pipe early"
[ ! -e both.y4m ] || fail "a closed pipe: an incomplete file"

# A FIFO is written directly.
mkfifo pipe.csv
cat pipe.csv >from_pipe &
expect 0 -q clip.y4m --backend "$engine" --vectors pipe.csv
wait
cmp from_pipe v.csv || fail "a FIFO"
[ -p pipe.csv ] || fail "the FIFO was replaced"
exit 0
