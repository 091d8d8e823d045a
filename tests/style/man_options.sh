#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The options of `gpume --help` and those of the manual page are the same, in the same order, and
# mandoc has nothing to say about it and that of the formats.
# Usage: man_options.sh GPUME_BINARY [PAGE]
set -u
LC_ALL=C
export LC_ALL
gpume=${1:?usage: man_options.sh GPUME_BINARY [PAGE]}
page=${2:-$(dirname "$0")/../../man/gpume.1}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0

"$gpume" --help >"$scratch/help.txt" || { echo "gpume --help failed"; exit 1; }
sed -n 's/^  *\(-[a-zA-Z]\), \(--[a-z-]*\).*/\1 \2/p; s/^  *\(--[a-z-]*\).*/\1/p' \
    "$scratch/help.txt" >"$scratch/help"
# ".It Fl b , -block Ar N" becomes "-b --block".
sed -n 's/^\.It Fl \([a-zA-Z]\) , -\([a-z-]*\).*/-\1 --\2/p; s/^\.It Fl -\([a-z-]*\).*/--\1/p' \
    "$page" >"$scratch/page"

if [ ! -s "$scratch/help" ]; then
    echo "no options found in gpume --help"
    failed=1
fi
if ! diff "$scratch/help" "$scratch/page" >"$scratch/diff"; then
    echo "gpume --help (<) and $page (>) differ:"
    grep '^[<>]' "$scratch/diff"
    failed=1
fi
if awk 'length($0) > 80 { print "wider than 80 columns: " $0; bad = 1 } END { exit bad }' \
    "$scratch/help.txt"; then :; else
    failed=1
fi
if command -v mandoc >/dev/null 2>&1; then
    for name in "$page" "$(dirname "$page")/gpume-formats.5"; do
        mandoc -T lint -W warning "$name" || failed=1
    done
else
    echo "mandoc is not here: the page's markup is not checked"
fi
exit $failed
