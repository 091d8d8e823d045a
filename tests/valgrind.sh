#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# valgrind.sh PROGRAM [ARGUMENT...]: runs it under valgrind, for errors and leaks; -DCMAKE_CROSSCOMPILING_EMULATOR=.../valgrind.sh
# makes a build start its tests so. Reports go to standard error, or to files in $GPUME_REPORTS. These are opened here:
# where standard output is closed, valgrind would leave its own open in that place.
if [ -n "${GPUME_REPORTS:-}" ]; then
    exec 9>"$GPUME_REPORTS/valgrind.$$"
else
    exec 9>&2
fi
exec valgrind -q --log-fd=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    --error-exitcode=99 "$@"
