#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All C code is formatted by clang-format 14; other versions differ in details.
# Usage: format.sh SOURCE_DIR
set -eu
cd "${1:?usage: format.sh SOURCE_DIR}"
if ! command -v clang-format-14 >/dev/null 2>&1; then
    echo "SKIPPED: clang-format-14 is not here"
    exit 77
fi
if ! find src cli plugins shaders samples tests -type f -name '*.[ch]' \
    -exec clang-format-14 --style=file --dry-run -Werror --ferror-limit=3 {} +; then
    echo "correct with: clang-format-14 -i FILE"
    exit 1
fi
