#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Damaged and cut videos are used as far as possible, with one warning that says how far; whole ones
# give none. What the machine lacks is not blamed on the file.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 48 8 12

# warns TEXT: the last run printed one line, which holds it.
warns() {
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not exactly one line of warning"
    says "$1"
}

# Without threads for the engine the error is about threads, also after Vulkan has failed.
if [ -e "${GPUME_FAULT_CALLS:-}" ]; then
    without_threads() { # FIRST ARGUMENTS: from gpume's FIRST-th thread on none can be started
        at=$1
        shift
        env GPUME_FAULT_KIND=thread GPUME_FAULT_AT="$at+" LD_PRELOAD="$GPUME_FAULT_CALLS" \
            VK_DRIVER_FILES=/none VK_ICD_FILENAMES=/none "$gpume" -q "$@" >"$scratch/out" 2>"$scratch/err"
        status=$?
        [ $status -eq 1 ] || fail "no more threads: exit status $status"
        warns "no more threads can be started: the system's limit on processes or memory is reached; "
    }
    for at in 1 2 3 4; do # signals, Vulkan's drivers, the engine's two
        without_threads $at clip.y4m --backend auto --threads 2 -o none
    done
    without_threads 2 clip.y4m --backend cpu --threads 4 -o none
else
    echo "nothing makes pthread_create fail in this build: threads are not tested"
fi
