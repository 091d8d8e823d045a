#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs a test of the VapourSynth plugin with a Python that has VapourSynth; tests/vapoursynth/build.sh builds it from source.
# Usage: run.sh TEST.py. GPUME_VAPOURSYNTH_PLUGIN is the plugin, GPUME_VAPOURSYNTH_PREFIX where VapourSynth is installed, ""
# where the system has it.
set -eu
[ -n "${GPUME_VAPOURSYNTH_PLUGIN:-}" ] || { echo "SKIPPED: VapourSynth was not built: its headers are not here"; exit 77; }
prefix=${GPUME_VAPOURSYNTH_PREFIX:-}
if [ -n "$prefix" ]; then
    for folder in "$prefix"/lib/python3*/site-packages "$prefix"/lib/python3*/dist-packages; do
        [ ! -d "$folder" ] || PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH}
    done
    PATH=$prefix/bin:$PATH
    LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export PATH LD_LIBRARY_PATH PYTHONPATH
fi
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import vapoursynth' 2>/dev/null; then
        exec "$python" -B -W error "$@"
    fi
done
echo "SKIPPED: VapourSynth was not built: no Python here can import vapoursynth"
exit 77
