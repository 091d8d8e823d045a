#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The last 50 commits: "area: what, in lower case", at most 72 characters, no full stop, then an
# empty line.
# Usage: commits.sh SOURCE_DIR
set -eu
LC_ALL=C
export LC_ALL
cd "${1:?usage: commits.sh SOURCE_DIR}"
if ! git rev-parse --verify HEAD >/dev/null 2>&1; then
    echo "SKIPPED: no git checkout"
    exit 77
fi
git log --no-merges -n 50 --format='%h' | while IFS= read -r commit; do
    git log -1 --format='%B' "$commit" | awk -v commit="$commit" '
        function say(what) { printf "%s: %s: %s\n", commit, what, subject; bad = 1 }
        NR == 1 {
            subject = $0
            if (length($0) > 72) say("subject of " length($0) " characters, more than 72")
            if ($0 !~ /^[a-z0-9_.\/-]+(, [a-z0-9_.\/-]+)*: [^ ]/) say("subject is not \"area: what\"")
            else if ($0 ~ /^[^:]*: [A-Z][a-z]/) say("subject begins with a capital")
            if ($0 ~ /\.$/) say("full stop after the subject")
        }
        NR == 2 && $0 != "" { say("second line is not empty") }
        END { exit bad }' || echo bad
done | awk '$0 == "bad" { bad = 1; next } { print } END { exit bad }'
