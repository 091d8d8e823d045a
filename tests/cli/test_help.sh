#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --help, --version, gpume devices, and commands that do not exist.
. "$(dirname "$0")/common.sh"

expect 0 --help
[ ! -s "$scratch/err" ] || fail "--help writes to standard error"
grep -q '^Usage: gpume INPUT' "$scratch/out" || fail "--help has no usage line"
expect 0 -h
expect 0 --block 16 --help
expect 2 --block 17 --help
expect 0 --version
grep -Eq '^gpume [0-9]+\.[0-9]+\.[0-9]+$' "$scratch/out" || fail "--version"

expect 2
says "try 'gpume --help'"
# Behind "--" and with a folder it is a file's name.
expect 3 -- sort
expect 3 ./bench
expect 3 -- devices

expect 0 devices
grep -q 'auto' "$scratch/out" || fail "devices does not say what auto takes"
grep -q '^plain  *cpu ' "$scratch/out" || fail "devices does not list the searches"
grep -q '^int  *vulkan ' "$scratch/out" || fail "devices does not list Vulkan's searches"
expect 2 devices clip.mp4
expect 2 devices --block 8
expect 0 devices -v

if [ -w /dev/full ]; then
    for what in --help --version devices; do
        "$gpume" $what >/dev/full 2>"$scratch/err" && fail "$what: /dev/full taken for success"
        says "standard output"
    done
fi
"$gpume" --version >&- 2>"$scratch/err" && fail "--version: closed standard output"
says "standard output"
exit 0
