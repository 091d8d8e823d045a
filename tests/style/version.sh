#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# One version: CMakeLists.txt, the newest heading of CHANGELOG.md, python/pyproject.toml and, with a build, gpume --version.
# Usage: version.sh SOURCE_DIR [BUILD_DIR]
set -eu
LC_ALL=C
export LC_ALL
source=${1:?usage: version.sh SOURCE_DIR [BUILD_DIR]}
build=${2:-}
status=0

version=$(sed -n 's/^ *project(gpume VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
if [ -z "$version" ]; then
    echo "CMakeLists.txt: no project(gpume VERSION ...)"
    exit 1
fi
if [ -f "$source/CHANGELOG.md" ]; then
    newest=$(sed -n 's/^## *\([^ ]*\).*/\1/p' "$source/CHANGELOG.md" | head -1)
    if [ "$newest" != "$version" ]; then
        echo "CHANGELOG.md: the newest heading is '$newest', CMakeLists.txt says $version"
        status=1
    fi
else
    echo "CHANGELOG.md is not there"
    status=1
fi
package=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source/python/pyproject.toml")
if [ "$package" != "$version" ]; then
    echo "python/pyproject.toml: the version is '$package', CMakeLists.txt says $version"
    status=1
fi
if [ -n "$build" ] && [ -x "$build/gpume" ]; then
    said=$("$build/gpume" --version | head -1)
    if [ "$said" != "gpume $version" ]; then
        echo "gpume --version says '$said', CMakeLists.txt $version"
        status=1
    fi
else
    echo "no gpume in the build folder: gpume --version is not checked"
fi
exit $status
