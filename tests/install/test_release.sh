#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The files of a release are the same bytes wherever and however they are made, and the tarball holds what git tracks.
# Usage: test_release.sh SOURCE_DIR
set -eu
[ $# -eq 1 ] || { echo "usage: $0 SOURCE_DIR" >&2; exit 1; }
source=$(cd "$1" && pwd)
for tool in git gzip python3 sha256sum; do
    command -v $tool >/dev/null 2>&1 || { echo "SKIPPED: $tool is not here"; exit 77; }
done
git -C "$source" rev-parse HEAD >/dev/null 2>&1 || { echo "SKIPPED: no checkout"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
git clone -q --no-local "$source" "$scratch/clone"
cp "$source/packaging/"* "$scratch/clone/packaging/" # those that are to be tested
head=$(git -C "$scratch/clone" rev-parse HEAD)
(umask 077 && TZ=Asia/Tokyo sh "$scratch/clone/packaging/release.sh" HEAD "$scratch/a")
sh "$source/packaging/release.sh" "$head" "$scratch/b"
for file in "$scratch/a"/*; do
    cmp "$file" "$scratch/b/$(basename "$file")" || fail "not reproducible"
done
[ "$(find "$scratch/a" -type f | wc -l)" -eq 3 ] || fail "other files"
(cd "$scratch/a" && sha256sum --quiet -c SHA256SUMS) || fail "SHA256SUMS"
tar -tzf "$scratch/a"/gpume-*.tar.gz | grep -v '/$' | sed 's|^[^/]*/||' | LC_ALL=C sort >"$scratch/held"
git -C "$source" -c core.quotePath=off ls-tree -r --name-only HEAD | LC_ALL=C sort | cmp - "$scratch/held" || fail "other files than git tracks"
python3 - "$scratch/a"/*.spdx.json <<'END' || fail "the bill of materials"
import json
import sys

document = json.load(open(sys.argv[1]))
names = {package["SPDXID"] for package in document["packages"]} | {"SPDXRef-DOCUMENT"}
assert document["spdxVersion"] == "SPDX-2.3" and len(names) == len(document["packages"]) + 1
for relation in document["relationships"]:
    assert relation["spdxElementId"] in names and relation["relatedSpdxElement"] in names, relation
END
! sh "$source/packaging/release.sh" v9.9.9 "$scratch/c" 2>/dev/null || fail "a tag that does not exist"
# A tag needs the date of its version.
version=$(basename "$scratch/a"/gpume-*.tar.gz .tar.gz)
version=${version#gpume-}
for day in unreleased 2026-12-01; do
    sed -i.old "s/^## $version - .*/## $version - $day/" "$scratch/clone/CHANGELOG.md"
    git -C "$scratch/clone" -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q -a --allow-empty -m "docs: $day"
    git -C "$scratch/clone" tag -f "v$version" >/dev/null
    if sh "$scratch/clone/packaging/release.sh" "v$version" "$scratch/d" 2>/dev/null; then
        [ $day != unreleased ] || fail "a tag without a date"
    else
        [ $day = unreleased ] || fail "a tag with a date"
    fi
done
! sh "$source/packaging/release.sh" 2>/dev/null || fail "no arguments"
echo ok
