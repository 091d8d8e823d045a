#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs a test of the Python package with a Python that has NumPy.
# Usage: run.sh TEST.py. GPUME_LIBRARY, GPUME_COMMAND, GPUME_HEADERS and PYTHONPATH name what is tested.
set -eu
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        exec "$python" -B -W error "$@"
    fi
done
echo "SKIPPED: python3-numpy is not here"
exit 77
