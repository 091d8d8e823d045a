#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Which share of each room's lines and branches tests reach: builds FOLDER with gcc's counters, has ctest run there, and prints a
# table. Needs gcovr. The GPU's part needs a driver, such as llvmpipe.
# TARGETS has what the tests need of the build; without it all is built.
# Usage: coverage.sh FOLDER [OPTION OF CTEST...], such as: coverage.sh build-coverage -L 'unit|fuzz|golden'
set -eu
folder=${1:?usage: coverage.sh FOLDER [OPTION OF CTEST...]}
shift
here=$(cd "$(dirname "$0")" && pwd)
command -v gcovr >/dev/null || { echo "coverage.sh: install gcovr" >&2; exit 1; }
cmake -S "$here/.." -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=--coverage ${CMAKE_OPTIONS:-} >/dev/null
ninja -C "$folder" ${TARGETS:-} >"$folder/log" || { tail -30 "$folder/log"; exit 1; }
ctest --test-dir "$folder" -LE 'style|install|bench' "$@" >"$folder/tests.log" || tail -20 "$folder/tests.log"
gcovr -r "$here/.." "$folder" --filter "$here/../(src|cli)/" --json-summary "$folder/coverage.json" >/dev/null 2>&1
python3 - "$folder/coverage.json" <<'END'
import collections
import json
import sys

rooms = collections.defaultdict(lambda: [0, 0, 0, 0])
for file in json.load(open(sys.argv[1]))["files"]:
    room = "/".join(file["filename"].split("/")[:-1][:2])
    for i, key in enumerate(("line_covered", "line_total", "branch_covered", "branch_total")):
        rooms[room][i] += file[key]
rooms["all"] = [sum(column) for column in zip(*rooms.values())]
print(f"{'room':16} {'lines':>8} {'reached':>9} {'branches':>9} {'reached':>9}")
for room, (lines, all_lines, branches, all_branches) in rooms.items():
    share = [f"{100 * a / b:.1f} %" if b else "-" for a, b in ((lines, all_lines), (branches, all_branches))]
    print(f"{room:16} {all_lines:8} {share[0]:>9} {all_branches:9} {share[1]:>9}")
END
