#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Prints the lengths of functions and files, as one table per folder; fails above 100 lines per
# function or 1,200 lines per file. Lines are counted as they stand, comments included.
# Usage: sizes.sh SOURCE_DIR
set -eu
LC_ALL=C
export LC_ALL
cd "${1:?usage: sizes.sh SOURCE_DIR}"
ctags="ctags"
if command -v universal-ctags >/dev/null 2>&1; then
    ctags=universal-ctags
fi
if ! "$ctags" --version 2>/dev/null | grep -q '^Universal Ctags'; then
    echo "SKIPPED: Universal Ctags is not here"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

find src cli plugins shaders samples -type f \( -name '*.[ch]' -o -name '*.comp' -o -name '*.glsl' \) |
    sort >"$scratch/files"
[ -s "$scratch/files" ] || { echo "no sources in $(pwd)"; exit 1; }

# LINES FILE FUNCTION, and LINES FILE.
"$ctags" --options=NONE --languages=C --langmap=C:.c.h.comp.glsl --kinds-C=f --fields=+ne -f - \
    -L "$scratch/files" 2>/dev/null | awk -F'\t' '{
        line = end = 0
        for (i = 4; i <= NF; i++) {
            if ($i ~ /^line:/) line = substr($i, 6)
            if ($i ~ /^end:/) end = substr($i, 5)
        }
        if (end >= line && line > 0) print end - line + 1, $2, $1
    }' | sort -n >"$scratch/functions"
while IFS= read -r file; do
    echo "$(($(wc -l <"$file"))) $file"
done <"$scratch/files" | sort -n >"$scratch/lengths"

echo "lines of               files          functions"
awk '
    function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
    FILENAME == ARGV[1] { f = folder($2); files[f]++; longest[f] = $1; next }
    { f = folder($2); lines[f, ++count[f]] = $1; name[f] = $3 }
    function at(f, share) { i = int(count[f] * share + 0.999999); return lines[f, i < 1 ? 1 : i] }
    END {
        for (f in files)
            printf "%-20s %3d, max %3d   %3d, median %2d, p90 %2d, max %2d %s\n", f, files[f],
                longest[f], count[f], at(f, 0.5), at(f, 0.9), at(f, 1), name[f]
    }' "$scratch/lengths" "$scratch/functions" | sort

status=0
awk '$1 > 100 { printf "%s: %s has %d lines, more than 100\n", $2, $3, $1; bad = 1 }
     END { exit bad }' "$scratch/functions" || status=1
awk '$1 > 1200 { printf "%s: %d lines, more than 1,200\n", $2, $1; bad = 1 }
     END { exit bad }' "$scratch/lengths" || status=1
exit $status
