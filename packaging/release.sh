#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The files of a release: gpume-VERSION.tar.gz, the same bytes for everybody who has the commit, so that the signature of the tag
# covers it; gpume-VERSION.spdx.json, which lists what is in it and what it links to; and SHA256SUMS.
# Usage: release.sh COMMIT FOLDER, such as: release.sh v1.0.0 out
set -eu
[ $# -eq 2 ] || { echo "usage: $0 COMMIT FOLDER" >&2; exit 2; }
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$here/.."
commit=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "$0: $1: no commit of this repository" >&2; exit 1; }
version=$(git show "$commit:CMakeLists.txt" | sed -n 's/^ *project(gpume VERSION \([0-9.]*\).*/\1/p')
case $1 in
v*)
    [ "$1" = "v$version" ] || { echo "$0: $1: CMakeLists.txt says $version" >&2; exit 1; }
    git show "$commit:CHANGELOG.md" | grep -q "^## $version - [0-9]" || { echo "$0: $1: CHANGELOG.md has no date for $version" >&2; exit 1; }
    ;;
esac
name=gpume-$version
git -c tar.umask=0022 archive --format=tar --prefix="$name/" "$commit" | gzip -9n >"$folder/$name.tar.gz"
git show "$commit:packaging/sbom.py" | python3 - "$version" "$commit" "$(git show -s --format=%ct "$commit")" >"$folder/$name.spdx.json"
(cd "$folder" && sha256sum "$name.tar.gz" "$name.spdx.json" >SHA256SUMS)
