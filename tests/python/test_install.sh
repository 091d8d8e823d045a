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

# What is in the folder of the package, without what python itself keeps of modules that it has compiled.
list_source() {
    ls -A "$source/python" | grep -vx __pycache__
}

: >"$scratch/log"
# In a virtual environment, whose pip has neither an index nor, isolated as it builds, setuptools.
if "$python" -m venv --system-site-packages "$scratch/venv" >"$scratch/log" 2>&1; then
    before=$(list_source)
    PIP_NO_INDEX=1 "$scratch/venv/bin/pip" install -q --disable-pip-version-check "$source/python" \
        >"$scratch/log" 2>&1 || fail "pip install"
    works "$(echo "$scratch"/venv/lib/python3*/site-packages)"
    [ "$(list_source)" = "$before" ] || fail "pip install left files in the source tree"
    PIP_NO_INDEX=1 "$scratch/venv/bin/pip" uninstall -q -y gpume >"$scratch/log" 2>&1 || fail "pip uninstall"
    PIP_NO_INDEX=1 "$scratch/venv/bin/pip" install -q --disable-pip-version-check -e "$source/python" \
        >"$scratch/log" 2>&1 || fail "pip install -e"
    (cd "$scratch" && "$scratch/venv/bin/python" -B -c 'import gpume; print(gpume.__file__)') >"$scratch/log" 2>&1
    grep -qxF "$source/python/gpume/__init__.py" "$scratch/log" || fail "pip install -e: another package"

    # A wheel with libgpume inside finds no other one, and asks for no library that a manylinux tag does not allow.
    "$python" -B "$source/python/make_wheel.py" -o "$scratch/wheels" --library "$GPUME_LIBRARY" >"$scratch/log" 2>&1 ||
        fail "make_wheel.py"
    wheel=$(cat "$scratch/log")
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source/python/pyproject.toml")
    newest=$(objdump -T "$GPUME_LIBRARY" | sed -n 's/.*GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -1)
    [ "$wheel" = "$scratch/wheels/gpume-$version-py3-none-manylinux_2_${newest}_$(uname -m).whl" ] || fail "its name"
    objdump -p "$GPUME_LIBRARY" | sed -n 's/^ *NEEDED *//p' | grep -vE '^(lib(c|m)\.so\.6|ld-linux.*)$' >"$scratch/log" &&
        fail "libgpume needs these"
    PIP_NO_INDEX=1 "$scratch/venv/bin/pip" install -q --disable-pip-version-check --force-reinstall --no-deps "$wheel" \
        >"$scratch/log" 2>&1 || fail "pip install of the wheel"
    (
        unset GPUME_LIBRARY
        works "$(echo "$scratch"/venv/lib/python3*/site-packages)"
    )
    cp "$wheel" "$scratch/first.whl"
    "$python" -B "$source/python/make_wheel.py" -o "$scratch/wheels" --library "$GPUME_LIBRARY" >"$scratch/log" 2>&1
    cmp "$wheel" "$scratch/first.whl" || fail "the same wheel has other bytes"
else
    echo "not installed by pip: python3-venv is not here"
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
