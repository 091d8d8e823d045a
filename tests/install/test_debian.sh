#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes the Debian packages of debian/, checks them with lintian, unpacks all of them into a new root, runs the command there, and
# compiles a program against what the packages hold. debian/tests does the same with packages that are installed.
# Usage: test_debian.sh BUILD_DIR SOURCE_DIR
set -eu
LC_ALL=C
export LC_ALL
unset DESTDIR || :
[ $# -eq 2 ] || { echo "usage: $0 BUILD_DIR SOURCE_DIR" >&2; exit 1; }
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root

fail() {
    echo "FAILED: $*" >&2
    tail -25 "$scratch/log" >&2
    exit 1
}
cached() {
    sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}
for tool in dpkg dpkg-buildpackage dh dh_python3 lintian readelf pkg-config; do
    command -v $tool >/dev/null 2>&1 || { echo "SKIPPED: $tool is not here"; exit 77; }
done

# The source with its packaging, and the packages. Not optimized, and with the shaders that this build has: half the time.
version=$(sed -n 's/^ *project(gpume VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
[ "$(dpkg-parsechangelog -l "$source/debian/changelog" -S Version)" = "$version-1" ] || fail "debian/changelog has another version"
mkdir "$scratch/packages" "$scratch/packages/gpume-$version"
(cd "$source" && tar -c --exclude='./.*' --exclude='./build*' .) | tar -x -C "$scratch/packages/gpume-$version"
cd "$scratch/packages"
shaders=$(cached GPUME_COMPILED_SHADERS)
tar -c --exclude="gpume-$version/debian" "gpume-$version" | xz -1 >"gpume_$version.orig.tar.xz"
(cd "gpume-$version" && DEB_BUILD_OPTIONS="nocheck noopt parallel=$(nproc)" GPUME_CONFIGURE="-DGPUME_COMPILED_SHADERS=${shaders:-$build/shaders}" \
    dpkg-buildpackage -us -uc -d) >"$scratch/log" 2>&1 || fail "dpkg-buildpackage"
# A first upload to Debian closes a bug, whose number does not exist yet; lintian of Debian 12 knows older standards only; what is
# not optimized has no fortified functions.
lintian --allow-root --pedantic --suppress-tags initial-upload-closes-no-bugs,newer-standards-version,hardening-no-fortify-functions -EI "gpume_$version-1_"*.changes \
    >"$scratch/log" 2>&1 || fail "lintian"
! grep -v '^X: ' "$scratch/log" || fail "lintian"
architecture=$(dpkg --print-architecture)
for package in gpume libgpume1 libgpume-dev python3-gpume; do
    case $package in
    python3-*) mv "${package}_$version-1_all.deb" "$scratch/$package.deb" ;;
    *) mv "${package}_$version-1_$architecture.deb" "$scratch/$package.deb" ;;
    esac || fail "no $package"
done
cd "$scratch"
: >"$scratch/log"

# What they need.
depends() {
    dpkg-deb -f "$scratch/$1.deb" Depends >"$scratch/log"
    grep -qE "(^|, )$2" "$scratch/log" || fail "$1 does not depend on $2:"
}
for package in gpume libgpume-dev; do
    depends $package "libgpume1 \(= $version-1\)"
done
depends python3-gpume "libgpume1 \(>= $version\)"
depends gpume 'libavfilter[0-9]+ '
depends gpume 'libcairo2 \('
depends libgpume1 'libvulkan1'
depends libgpume-dev 'libvulkan-dev'
depends python3-gpume 'python3-numpy'

# All together in one root; dpkg refuses two packages that hold the same file.
if [ "$(id -u)" -eq 0 ]; then
    mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
    : >"$root/var/lib/dpkg/status"
    dpkg --root="$root" --log=/dev/null --force-depends --force-bad-path --unpack "$scratch"/*.deb >"$scratch/log" 2>&1 ||
        fail "dpkg --unpack"
else
    for package in "$scratch"/*.deb; do
        dpkg-deb -x "$package" "$root"
    done
fi
: >"$scratch/log"
library=$(cd "$root" && find usr/lib -name libgpume.so.1)
[ -L "$root/$library" ] && [ -f "$root/$library" ] || fail "no libgpume.so.1"
for page in "$source"/man/*.[1-9]; do
    name=$(basename "$page")
    gzip -dc "$root/usr/share/man/man${name##*.}/$name.gz" | cmp -s - "$page" || fail "the manual page $name"
done
for shell in bash-completion/completions/gpume:bash zsh/site-functions/_gpume:zsh fish/vendor_completions.d/gpume.fish:fish; do
    "$build/gpume" --completion "${shell##*:}" | cmp -s - "$root/usr/share/${shell%:*}" || fail "the completion ${shell%:*}"
done
for header in "$source"/src/include/gpume/*.h; do
    cmp -s "$header" "$root/usr/include/gpume/$(basename "$header")" || fail "the header $header"
done
! readelf -d "$root/usr/bin/gpume" "$root/$library" | grep -E 'RPATH|RUNPATH' || fail "a path to search for libraries"

# The command and the library, as a program that loads what the packages hold.
LD_LIBRARY_PATH=$root/$(dirname "$library")
export LD_LIBRARY_PATH
[ "$("$root/usr/bin/gpume" --version | head -1)" = "gpume $version" ] || fail "gpume --version"
"$root/usr/bin/gpume" "$source/tests/golden/inside-10bit.y4m" --backend cpu -q -o "$scratch/run" >"$scratch/log" 2>&1 || fail "gpume"
[ -s "$scratch/run/vectors.csv" ] || fail "no vectors"
PKG_CONFIG_LIBDIR=$root/$(dirname "$library")/pkgconfig
export PKG_CONFIG_LIBDIR
# shellcheck disable=SC2046 # words
"$(cached CMAKE_C_COMPILER)" -std=c11 -Wall -Werror -o "$scratch/program" "$source/samples/sort_numbers.c" \
    $(pkg-config --cflags --libs gpume) >"$scratch/log" 2>&1 || fail "a program cannot be compiled"
ldd "$scratch/program" | grep -q "libgpume.so.1 => $root/" || fail "the program has another library"
[ "$(echo 30 4 5 | "$scratch/program" | tr '\n' ' ')" = "4 5 30 " ] || fail "the program"
if python3 -c 'import numpy' 2>/dev/null; then
    PYTHONPATH=$root/usr/lib/python3/dist-packages python3 -B - >"$scratch/log" 2>&1 <<'END' || fail "import gpume"
import gpume, numpy
old = numpy.arange(64 * 64, dtype=numpy.uint32).reshape(64, 64) * 2654435761 >> 24 & 255
new = numpy.roll(old, 2, 1)
pair = gpume.search(old.astype("u1"), new.astype("u1"), block=16, window=4, backend="cpu")
assert (pair.vectors[1:-1, 1:-1] == (-2, 0)).all(), pair.vectors
END
fi
