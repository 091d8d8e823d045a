#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A second build, of a copy of the sources in another folder and without a compiler cache, has the same bytes:
# the command and the library.
# Usage: test_reproducible.sh BUILD_DIR SOURCE_DIR
set -eu
LC_ALL=C
GIT_OPTIONAL_LOCKS=0
export LC_ALL GIT_OPTIONAL_LOCKS
[ $# -eq 2 ] || { echo "usage: $0 BUILD_DIR SOURCE_DIR" >&2; exit 1; }
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cached() {
    sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}

copy=$scratch/another/folder/with/a/longer/name
mkdir -p "$copy"
# The commit that is embedded is that of the sources, so a checkout stays one.
if [ -e "$source/.git" ]; then
    git -C "$source" ls-files -z -co --exclude-standard >"$scratch/files"
    tar -C "$source" --null --ignore-failed-read -T "$scratch/files" -cf - 2>/dev/null | tar -C "$copy" -xf -
    if [ -f "$source/.git" ]; then
        cp "$source/.git" "$copy/.git"
    else
        echo "gitdir: $source/.git" >"$copy/.git"
    fi
else
    (cd "$source" && tar --exclude='./build*' -cf - .) | tar -C "$copy" -xf -
fi
cmake -S "$copy" -B "$scratch/b" -G "$(cached CMAKE_GENERATOR)" -DGPUME_TESTS=OFF \
    -DCMAKE_C_COMPILER="$(cached CMAKE_C_COMPILER)" -DCMAKE_BUILD_TYPE="$(cached CMAKE_BUILD_TYPE)" \
    -DCMAKE_C_FLAGS="$(cached CMAKE_C_FLAGS)" -DGPUME_SANITIZE="$(cached GPUME_SANITIZE)" \
    -DCMAKE_INSTALL_PREFIX="$(cached CMAKE_INSTALL_PREFIX)" \
    -DGPUME_WERROR="$(cached GPUME_WERROR)" -DBUILD_SHARED_LIBS="$(cached BUILD_SHARED_LIBS)" \
    >"$scratch/log" 2>&1 || { tail -25 "$scratch/log"; exit 1; }
cmake --build "$scratch/b" --target gpume_commit >"$scratch/log" 2>&1 || { tail -25 "$scratch/log"; exit 1; }
if ! cmp -s "$build/cli/commit.h" "$scratch/b/cli/commit.h"; then
    echo "SKIPPED: the build is of another commit than the sources now"
    exit 77
fi
cmake --build "$scratch/b" >"$scratch/log" 2>&1 || { tail -25 "$scratch/log"; exit 1; }

status=0
for file in gpume src/libgpume.so; do
    [ -e "$build/$file" ] || { echo "$file: not in the build"; exit 1; }
    if ! cmp "$build/$file" "$scratch/b/$file"; then
        status=1
    fi
    for folder in "$build" "$source" "$scratch"; do
        if grep -qaF "$folder" "$scratch/b/$file" "$build/$file"; then
            echo "$file: names the folder $folder"
            status=1
        fi
    done
done
exit $status
