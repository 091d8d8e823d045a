#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What takes a night, on an idle machine: every test, all of them under each checker, every call that can fail, and every fuzzer for
# an hour. What fails does not end it: FOLDER/NAME.log has the output of each step, and the last lines say which failed.
# tests/coverage.sh shows what the tests reach.
# In minutes, to try this script: TARGETS has what is built for tests, TESTS more options of ctest, and a few seconds are enough for each fuzzer.
# Usage: nightly.sh FOLDER [SECONDS for each fuzzer]
set -u
folder=${1:?usage: nightly.sh FOLDER [SECONDS for each fuzzer]}
seconds=${2:-3600}
mkdir -p "$folder" || exit 1
folder=$(cd "$folder" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
unset GPUME_TEST_SHARE
failed=

step() { # NAME COMMAND...
    name=$1
    shift
    echo "$(date -u +%H:%M) $name"
    "$@" >"$folder/$name.log" 2>&1 || failed="$failed $name"
}
configure() { # FOLDER TARGETS CMAKE-OPTION...: and builds
    into=$folder/$1
    targets=$2
    shift 2
    # shellcheck disable=SC2086 # words
    cmake -S "$here/.." -B "$into" -G Ninja -DGPUME_WERROR=ON ${CMAKE_OPTIONS:-} "$@" && ninja -C "$into" $targets
}

step build configure build "${TARGETS:-}" -DGPUME_PYTHON=ON
step tests ctest --test-dir "$folder/build" --output-on-failure --timeout 36000 ${TESTS:-}
step faults env GPUME_FAULT_STRIDE=1 ctest --test-dir "$folder/build" --output-on-failure -R cli-faults --timeout 36000 ${TESTS:-}
step address sh "$here/checked.sh" address "$folder/address" ${TESTS:-}
step thread sh "$here/checked.sh" thread "$folder/thread" ${TESTS:-}
step memory sh "$here/checked.sh" memory "$folder/memory" -E "vulkan|unit-(choice|logical|general|tasks|returns|engines|standby|compute)" ${TESTS:-}
step valgrind sh "$here/checked.sh" valgrind "$folder/valgrind" -j "$(nproc)" ${TESTS:-}
step fuzz-build configure fuzz fuzz -DCMAKE_C_COMPILER=clang -DGPUME_FUZZ=ON -DGPUME_SANITIZE=address,undefined -DGPUME_TESTS=ON
step fuzz sh "$here/fuzz/run.sh" "$folder/fuzz" "$seconds"
for seed in 1 2 3; do
    step "search-$seed" python3 "$here/cli/fuzz_search.py" "$folder/build/gpume" "$folder/build/tests/search_oracle" \
        --seed "$(date +%j)$seed"
done
echo "${failed:-none} failed"
[ -z "$failed" ]
