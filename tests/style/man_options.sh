#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Checks the manual pages against the command and against their formatters: each page documents exactly
# the options that its command accepts, in the order of the command's table; all pages together document
# the options of --help; mandoc and groff report nothing; and no line exceeds 80 columns.
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

# The completion script has one line with the options of each command.
"$gpume" --completion bash >"$scratch/completion" || fail "gpume --completion bash failed"
check_options() { # COMMAND PAGE
    sed -n "s/^ *$1) options='\(.*\)' ;;/\1/p" "$scratch/completion" | tr ' ' '\n' >"$scratch/accepted"
    options_of_page "$2" | sed 's/^-. //' >"$scratch/documented"
    [ -s "$scratch/accepted" ] || fail "no options of '$1' in gpume --completion bash"
    diff "$scratch/accepted" "$scratch/documented" >"$scratch/diff" ||
        fail "accepted by '$1' (<), documented in $2 (>): $(grep '^[<>]' "$scratch/diff")"
}
check_options estimate "$man/gpume.1"
for command in bench compare convert sort; do
    check_options $command "$man/gpume-$command.1"
done

"$gpume" --help >"$scratch/help.txt" || fail "gpume --help failed"
awk 'length($0) > 80 { print "gpume --help, wider than 80 columns: " $0; bad = 1 } END { exit bad }' \
    "$scratch/help.txt" || failed=1
sed -n 's/^  *\(-[a-zA-Z]\), \(--[a-z-]*\).*/\1 \2/p; s/^  *\(--[a-z-]*\).*/\1/p' "$scratch/help.txt" |
    sort -u >"$scratch/help"
for page in "$man"/*.1; do
    options_of_page "$page"
done | sort -u >"$scratch/pages"
diff "$scratch/help" "$scratch/pages" >"$scratch/diff" ||
    fail "gpume --help (<) and the pages (>) differ: $(grep '^[<>]' "$scratch/diff")"

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
