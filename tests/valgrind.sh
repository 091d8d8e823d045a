#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# valgrind.sh PROGRAM [ARGUMENT...]: runs it under valgrind, for errors and leaks; -DCMAKE_CROSSCOMPILING_EMULATOR=.../valgrind.sh
# makes a build start its tests so. Reports go to standard error, or to files in $GPUME_REPORTS. These are opened here:
# where standard output is closed, valgrind would leave its own open in that place. valgrind.supp says which reports
# of other libraries count for nothing. Long blocks of code, as libdav1d has them, exhaust valgrind's own memory
# (3.19: "VEX temporary storage exhausted"): it takes them in pieces, at the same speed.
if [ -n "${GPUME_REPORTS:-}" ]; then
    exec 9>"$GPUME_REPORTS/valgrind.$$"
else
    exec 9>&2
fi
exec valgrind -q --log-fd=9 --suppressions="$(dirname "$0")/valgrind.supp" --vex-guest-max-insns=25 \
    --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=99 "$@"
