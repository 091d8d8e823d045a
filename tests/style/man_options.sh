#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Checks the manual pages against the help and against their formatters: each page documents exactly the
# options that its command's help lists, in the same order; mandoc and groff report nothing; and no line,
# of help or page, exceeds 80 columns.
# Usage: man_options.sh GPUME_BINARY [FOLDER_OF_THE_PAGES]
set -u
LC_ALL=C
export LC_ALL
gpume=${1:?usage: man_options.sh GPUME_BINARY [FOLDER]}
man=${2:-$(dirname "$0")/../../man}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    echo "$*"
    failed=1
}

# The options of a page, one per line: ".It Fl b , -block Ar N" becomes "-b --block".
options_of_page() {
    sed -n 's/^\.It Fl \([a-zA-Z]\) , -\([a-z-]*\).*/-\1 --\2/p; s/^\.It Fl -\([a-z-]*\).*/--\1/p' "$1"
}

# check_options PAGE ARGUMENT...: the help that the arguments print, and the page
check_options() {
    page=$1
    shift
    "$gpume" "$@" >"$scratch/help.txt" || fail "gpume $* failed"
    awk -v what="gpume $*" '
        length($0) > 80 { print what ", wider than 80 columns: " $0; bad = 1 }
        END { exit bad }' "$scratch/help.txt" || failed=1
    # What --help all prints for the other commands is in the help of each.
    sed -n '/^-- /q; s/^  *\(-[a-zA-Z]\), \(--[a-z-]*\).*/\1 \2/p; s/^ \{6\}\(--[a-z-]*\).*/\1/p' \
        "$scratch/help.txt" >"$scratch/help"
    options_of_page "$page" >"$scratch/documented"
    [ -s "$scratch/help" ] || fail "no options in gpume $*"
    diff "$scratch/help" "$scratch/documented" >"$scratch/diff" ||
        fail "gpume $* (<) and $page (>) differ: $(grep '^[<>]' "$scratch/diff")"
}
check_options "$man/gpume.1" --help all
# devices and help are described in gpume.1.
for command in $("$gpume" --help all | sed -n 's/^-- gpume \([a-z]*\): .*/\1/p' | grep -v -x -e devices -e help); do
    check_options "$man/gpume-$command.1" "$command" --help
done

# A check by a formatter that is not installed is left out, but not silently.
have() {
    command -v "$1" >/dev/null 2>&1 || { echo "$1 is not installed: not checked with it"; return 1; }
}
if have mandoc; then
    for page in "$man"/*.[15]; do
        mandoc -T lint -W warning "$page" || failed=1
        mandoc -T ascii -O width=80 "$page" | sed 's/.\x08//g' | awk -v page="$page" '
            length($0) > 80 { print page ": wider than 80 columns: " $0; bad = 1 }
            END { exit bad }' || failed=1
    done
fi
if have groff; then
    for page in "$man"/*.[15]; do
        warnings=$(groff -mandoc -ww -Tutf8 -rLL=78n "$page" 2>&1 >/dev/null)
        [ -z "$warnings" ] || fail "$warnings"
    done
fi
exit $failed
