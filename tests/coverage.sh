#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Which share of each module's lines and branches tests reach: builds FOLDER with gcc's counters, has ctest run there, and prints a
# table, from what gcov says of each object. The GPU's part needs a driver, such as llvmpipe.
# TARGETS has what the tests need of the build; without it all is built.
# Usage: coverage.sh FOLDER [OPTION OF CTEST...], such as: coverage.sh build-coverage -L 'unit|fuzz|golden'
set -eu
folder=${1:?usage: coverage.sh FOLDER [OPTION OF CTEST...]}
shift
here=$(cd "$(dirname "$0")/.." && pwd)
cmake -S "$here" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="--coverage -fprofile-update=atomic" ${CMAKE_OPTIONS:-} >/dev/null
ninja -C "$folder" ${TARGETS:-} >"$folder/log" || { tail -30 "$folder/log"; exit 1; }
ctest --test-dir "$folder" -LE 'style|install|bench' "$@" >"$folder/tests.log" || tail -20 "$folder/tests.log"
python3 - "$folder" <<'END'
import collections
import json
import pathlib
import subprocess
import sys

reached = {}  # of (file, line) or (file, line, branch); what several objects have is reached if it is in one of them
for counters in pathlib.Path(sys.argv[1]).rglob("*.gcda"):
    said = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", str(counters)], capture_output=True, check=True, text=True)
    for report in map(json.loads, said.stdout.splitlines()):
        for file in report["files"]:
            if not file["file"].startswith(("src/", "cli/")):  # as -ffile-prefix-map names them
                continue
            for line in file["lines"]:
                place = file["file"], line["line_number"]
                reached[place] = reached.get(place, False) or line["count"] > 0
                for i, branch in enumerate(line["branches"]):
                    reached[(*place, i)] = reached.get((*place, i), False) or branch["count"] > 0
modules = collections.defaultdict(lambda: [0, 0, 0, 0])
for place, is_reached in reached.items():
    column = 2 * (len(place) - 2)
    for module in ("/".join(place[0].split("/")[:-1][:2]), "all"):
        modules[module][column] += is_reached
        modules[module][column + 1] += 1
print(f"{'module':16} {'lines':>8} {'reached':>9} {'branches':>9} {'reached':>9}")
for module, (lines, all_lines, branches, all_branches) in sorted(modules.items()):
    share = [f"{100 * a / b:.1f} %" if b else "-" for a, b in ((lines, all_lines), (branches, all_branches))]
    print(f"{module:16} {all_lines:8} {share[0]:>9} {all_branches:9} {share[1]:>9}")
END
