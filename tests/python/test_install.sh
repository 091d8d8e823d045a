#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs the Python package by pip and by CMake, in separate folders and without a network; then the installed package
# searches, and the sample draws a picture.
# Usage: test_install.sh BUILD_DIR SOURCE_DIR; GPUME_LIBRARY and GPUME_COMMAND name what the package uses.
set -eu
LC_ALL=C
export LC_ALL
unset DESTDIR PYTHONPATH || :
[ $# -eq 2 ] || { echo "usage: $0 BUILD_DIR SOURCE_DIR" >&2; exit 1; }
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAILED: $*" >&2
    sed 's/^/  | /' "$scratch/log" | tail -25 >&2
    exit 1
}

python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate; fi
done
[ -n "$python" ] || { echo "SKIPPED: python3-numpy is not here"; exit 77; }

# works FOLDER: the package in that folder is complete, and finds what was moved.
works() {
    [ -f "$1/gpume/py.typed" ] || fail "$1 has no py.typed"
    (cd "$scratch" && PYTHONPATH=$1 "$python" -B - "$1") >"$scratch/log" 2>&1 <<'END_OF_PROGRAM' || fail "the package in $1"
import os, sys
import numpy as np
import gpume
assert os.path.dirname(os.path.dirname(gpume.__file__)) == sys.argv[1], gpume.__file__
frame = np.random.default_rng(1).integers(0, 256, (48, 64), np.uint8)
pair = gpume.search(frame, np.roll(frame, (3, -2), (0, 1)), backend="cpu")
assert pair.vectors[2, 3].tolist() == [2, -3]
END_OF_PROGRAM
}

: >"$scratch/log"
if "$python" -c 'import setuptools, pip' 2>/dev/null; then
    cp -R "$source/python" "$scratch/source"
    "$python" -m pip install -q --no-build-isolation --no-index --no-deps --disable-pip-version-check \
        --target "$scratch/pip" "$scratch/source" >"$scratch/log" 2>&1 || fail "pip install"
    works "$scratch/pip"
else
    echo "not installed by pip: python3-pip or python3-setuptools is not here"
fi

cmake -S "$source" -B "$scratch/build" -DGPUME_PYTHON=ON -DGPUME_TOOL=OFF -DGPUME_TESTS=OFF \
    -DCMAKE_C_COMPILER="$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")" \
    -DCMAKE_INSTALL_PREFIX=/usr >"$scratch/log" 2>&1 || fail "cmake"
cmake --install "$scratch/build" --component python --prefix "$scratch/prefix" >"$scratch/log" 2>&1 ||
    fail "cmake --install"
works "$scratch/prefix/lib/python3/dist-packages"

status=0
PYTHONPATH=$scratch/prefix/lib/python3/dist-packages "$python" -B "$source/samples/plot_motion.py" \
    "$source/samples/bunny.mp4" "$scratch/motion.png" >"$scratch/log" 2>&1 || status=$?
case $status in
0)
    grep -q 'motion.png: 49 frame pairs' "$scratch/log" || fail "plot_motion.py says something else"
    [ "$(od -An -tx1 -N8 "$scratch/motion.png" | tr -d ' ')" = 89504e470d0a1a0a ] || fail "motion.png is no PNG"
    ;;
77) cat "$scratch/log" ;;
*) fail "plot_motion.py: exit status $status" ;;
esac
