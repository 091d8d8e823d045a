#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --help, --version, gpume devices, and commands that do not exist.
. "$(dirname "$0")/common.sh"

expect 0 --help
[ ! -s "$scratch/err" ] || fail "--help writes to standard error"
grep -q '^Usage: gpume INPUT' "$scratch/out" || fail "--help has no usage line"
cp "$scratch/out" short
[ "$(wc -l <short)" -le 22 ] || fail "--help has more than 22 lines"
awk 'length > 80 { exit 1 }' short || fail "--help is wider than 80 columns"
expect 0 -h
cmp -s short "$scratch/out" || fail "-h is not --help"
expect 0 help
cmp -s short "$scratch/out" || fail "help is not --help"
expect 0 --block 16 --help
expect 2 --block 17 --help
expect 0 --version
grep -Eq '^gpume [0-9]+\.[0-9]+\.[0-9]+$' "$scratch/out" || fail "--version"

# Every option, and those of each command.
expect 0 --help all
cp "$scratch/out" all
expect 0 help all
cmp -s all "$scratch/out" || fail "help all is not --help all"
grep -q '^Exit status: ' all || fail "--help all does not explain exit statuses"
sed -n 's/^  *\(-[a-zA-Z], \)*\(--[a-z-]*\).*/\2/p' short >options
while IFS= read -r option; do
    grep -q "[ ]$option\( \|\$\)" all || fail "--help all lacks $option"
done <options
commands=$(sed -n 's/^-- gpume \([a-z]*\): .*/\1/p' all)
[ "$(echo "$commands" | wc -l)" -ge 15 ] || fail "--help all does not list the commands"
for command in $commands; do
    expect 0 $command --help
    grep -q "^Usage: gpume $command" "$scratch/out" || fail "$command --help has no usage line"
    cp "$scratch/out" one
    expect 0 help $command
    cmp -s one "$scratch/out" || fail "help $command is not $command --help"
    expect 0 --help $command
    cmp -s one "$scratch/out" || fail "--help $command is not $command --help"
    grep -qF "gpume $command" short || grep -qF "$command" short || fail "--help does not name $command"
done
grep -q -- '--descending' short && fail "--help lists options of sort"
refused 2 nothing -- help nothing
expect 2 help sort bench

expect 2
names --help
# After "--", or with a folder, it is a file name.
expect 3 -- sort
expect 3 ./bench
expect 3 -- devices
expect 3 ./help
# Options may come before the command; a value is not a command.
printf '2 1' >numbers
expect 0 -q sort numbers
expect 0 -y -o sorted sort numbers
[ "$(tr '\n' ' ' <sorted)" = '1 2 ' ] || fail "options before the command"

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
