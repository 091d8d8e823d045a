#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The shared library exports the functions that the public headers declare, all of them and nothing else, and so says
# debian/libgpume1.symbols; every symbol that one object file of ours shows to another begins with gpume_.
# Usage: symbols.sh SOURCE_DIR BUILD_DIR
set -eu
LC_ALL=C
export LC_ALL
usage="usage: symbols.sh SOURCE_DIR BUILD_DIR"
source=$(cd "${1:?$usage}" && pwd)
build=$(cd "${2:?$usage}" && pwd)
command -v nm >/dev/null 2>&1 || { echo "SKIPPED: nm is not here"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# Symbols that compilers and sanitizers add.
foreign='^(__(asan|bss_start|gcov|llvm|odr_asan|sanitizer|start|stop)|_init$|_fini$|_edata$|_end$|mangle_path$)'

# names FILE [OPTION...]: the symbols that a file defines for others.
names() {
    file=$1
    shift
    nm "$@" --defined-only "$file" | awk 'NF == 3 && $2 ~ /[A-Zuvw]/ { print $3 }' |
        sed 's/@.*//' | grep -Ev "$foreign" | sort -u || :
}

# 1. The shared library and the headers.
library=$build/src/libgpume.so
if [ -e "$library" ]; then
    names "$library" -D >"$scratch/exported"
    for header in $(grep -l 'GPUME_API ' "$source"/src/include/gpume/*.h); do # not those of inline functions alone
        "${CC:-cc}" -E -P -I "$source/src/include" "$header"
    done | tr '\n' ' ' | sed 's/static inline [^(]*(/(/g' |
        grep -o 'gpume_[a-z0-9_]* *(' | tr -d ' (' | sort -u >"$scratch/declared"
    [ -s "$scratch/declared" ] || { echo "the public headers declare nothing"; status=1; }
    comm -23 "$scratch/exported" "$scratch/declared" >"$scratch/extra"
    comm -13 "$scratch/exported" "$scratch/declared" >"$scratch/missing"
    sed -n 's/^ \([a-z0-9_]*\)@.*/\1/p' "$source"/debian/libgpume*.symbols | sort >"$scratch/listed"
    comm -3 "$scratch/exported" "$scratch/listed" >"$scratch/unlike"
    if [ -s "$scratch/unlike" ]; then
        echo "libgpume.so exports (left), and debian/libgpume*.symbols lists (right) alone:"
        cat "$scratch/unlike"
        status=1
    fi
    if [ -s "$scratch/extra" ]; then
        sed 's/$/: exported by libgpume.so, not declared in gpume/*.h/' "$scratch/extra"
        status=1
    fi
    if [ -s "$scratch/missing" ]; then
        sed 's/$/: declared in gpume/*.h, not exported by libgpume.so/' "$scratch/missing"
        status=1
    fi
else
    echo "no libgpume.so: the exports are not checked"
fi

# 2. Every object that belongs to a source of today.
find "$build/src" "$build/cli" -name '*.c.o' 2>/dev/null | sort >"$scratch/objects" || :
count=0
while IFS= read -r object; do
    name=${object##*.dir/}
    module=src
    case $object in
    "$build"/cli/*) module=cli ;;
    esac
    [ -f "$source/$module/${name%.o}" ] || continue
    count=$((count + 1))
    names "$object" | grep -v '^gpume_' >"$scratch/bad" || :
    if [ "$name" = main.c.o ]; then
        sed -i.old '/^main$/d' "$scratch/bad"
    fi
    if [ -s "$scratch/bad" ]; then
        sed "s|^|$module/${name%.o}: not static and not gpume_: |" "$scratch/bad"
        status=1
    fi
done <"$scratch/objects"
if [ "$count" -eq 0 ]; then
    echo "no object files in $build"
    exit 1
fi
exit $status
