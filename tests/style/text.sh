#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a text editor should have caught: blanks, line ends, invisible characters, long lines, the SPDX
# line; and what does not belong: notes to oneself, our own _t types, printing in the library, options of the
# command in its messages.
# Usage: text.sh SOURCE_DIR
set -eu
LC_ALL=C
export LC_ALL
cd "${1:?usage: text.sh SOURCE_DIR}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What git tracks or would track; without git, all but builds and hidden folders.
if [ -e .git ] && git rev-parse >/dev/null 2>&1; then
    git -c core.quotePath=off ls-files -co --exclude-standard
else
    find . -type d \( -name '.?*' -o -name 'build*' \) -prune -o -type f -print | sed 's|^\./||'
fi | grep -E \
    '\.(c|h|comp|glsl|cmake|in|sh|md|1|5|yml|html|css|js)$|(^|/)(CMakeLists\.txt|Makefile|LICENSE|bootstrap|\.editorconfig|\.clang-format|\.gitignore)$|^\.ci/' |
    grep -v '/vendor/\|/missing-sources/' | sort >"$scratch/files" || : # others' files stay as they are
[ -s "$scratch/files" ] || { echo "no files in $(pwd)"; exit 1; }

cat >"$scratch/check.awk" <<'PROGRAM'
function say(what) {
    printf "%s:%d: %s\n", file, FNR, what
    bad = 1
}
BEGIN {
    is_code = file ~ /\.(c|h|comp|glsl)$/
    is_script = file ~ /\.sh$|(^|\/)(bootstrap|run)$/
    is_cmake = file ~ /(\.cmake|CMakeLists\.txt|Makefile)$|\.in$/
    is_library = file ~ /^src\/.*\.[ch]$/
    is_libgpume = file ~ /^src\/(lib\.c|(arrays|base|cpu|frame|gpu|model|run)\/.*\.[ch])$/
    if (is_code || file ~ /\.h\.in$/)
        spdx = "/* SPDX-License-Identifier: BSD-2-Clause */"
    else if (is_script || is_cmake)
        spdx = "# SPDX-License-Identifier: BSD-2-Clause"
    else if (file ~ /\.[15]$/)
        spdx = ".\\\" SPDX-License-Identifier: BSD-2-Clause"
    # Split so that this file passes.
    notes = "(^|[^A-Za-z0-9_])(TO" "DO|FIX" "ME|X" "XX)([^A-Za-z0-9_]|$)"
    # Soft hyphen, no-break and zero-width blanks, direction marks, separators, byte order mark.
    invisible = "\302\240|\302\255|\330\234|\341\240\216|\342\200[\200-\217\250-\257]" \
        "|\342\201[\237-\257]|\343\200\200|\357\270[\200-\217]|\357\273\277|\363\240"
    spdx_line = 1
}
FNR == 1 && is_script && /^#!/ {
    spdx_line = 2
}
FNR == spdx_line && spdx != "" && $0 != spdx {
    say("the SPDX line is not here: " spdx)
}
/\t/ && file !~ /Makefile$/ { say("a tab") }
/[ \t]$/ { say("blanks at the end") }
/\r/ { say("a carriage return") }
/[\001-\010\013\014\016-\037\177]/ { say("a control character") }
$0 ~ invisible { say("an invisible character") }
is_code && length($0) > 100 { say(length($0) " columns, more than 100") }
(is_code || is_script || is_cmake) && $0 ~ notes { say("a note to oneself") }
is_code && /^[ \t]*#[ \t]*if[ \t]+0/ { say("code switched off") }
is_code {
    code = $0
    gsub(/\\./, "", code)
    gsub(/"[^"]*"/, "\"\"", code)
    while (1) { # comments
        if (in_comment) {
            if (!(at = index(code, "*/"))) { code = ""; break }
            code = substr(code, at + 2)
            in_comment = 0
        }
        if (!(at = index(code, "/*"))) break
        rest = substr(code, at + 2)
        if (end = index(rest, "*/")) {
            code = substr(code, 1, at - 1) " " substr(rest, end + 2)
        } else {
            code = substr(code, 1, at - 1)
            in_comment = 1
            break
        }
    }
    if (code ~ /(^|[^A-Za-z0-9_])(struct|enum|union)[ ]+[A-Za-z0-9_]*_t([^A-Za-z0-9_]|$)/ ||
        code ~ /^}[ ]*[A-Za-z0-9_]*_t;/ || code ~ /typedef.*[^A-Za-z0-9_][A-Za-z0-9_]*_t(\)\(.*)?;/)
        say("a type of ours that ends in _t")
    if (code ~ /^[ \t]*\/\// || code ~ /[;{})] *\/\//)
        say("a // comment")
}
is_library {
    calls = "printf|vprintf|vfprintf|puts|putchar|perror|exit|_Exit|_exit|quick_exit|abort" \
        "|getenv|secure_getenv|setenv|setlocale"
    if (file !~ /^src\/(sinks\/summary|files\/(path|forms))\.c$/) # these write to the stream of their caller
        calls = calls "|fprintf|fputs|putc|fputc"
    if (code ~ ("(^|[^A-Za-z0-9_])(" calls ")[ ]*\\("))
        say("the library neither prints nor exits nor reads the environment: " $0)
    if (code ~ /(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)/)
        say("the library has no standard streams: " $0)
    if (file == "src/sinks/summary.c" && code ~ /fprintf[ ]*\(/ && code !~ /fprintf[ ]*\(stream,/)
        say("prints to something else than its stream")
}
is_libgpume && file != "src/base/params.c" { # whose rows describe the options
    for (rest = $0; match(rest, /"([^"\\]|\\.)*"/); rest = substr(rest, RSTART + RLENGTH))
        if (substr(rest, RSTART, RLENGTH) ~ /[^A-Za-z0-9-]--[a-z]/)
            say("the library names its parameters, never options of the command: " $0)
}
END { exit bad }
PROGRAM

status=0
while IFS= read -r file; do
    [ -f "$file" ] || continue
    awk -v file="$file" -f "$scratch/check.awk" "$file" || status=1
    if [ -s "$file" ] && [ "$(tail -c 1 "$file" | wc -l)" -eq 0 ]; then
        echo "$file: the last line has no end"
        status=1
    fi
    if [ -s "$file" ] && [ -z "$(tail -n 1 "$file")" ]; then
        echo "$file: an empty line at the end"
        status=1
    fi
done <"$scratch/files"
exit $status
