#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Tests under a checker: builds BUILD for it and has ctest run there. A report of any process that a test starts
# fails the run, even if the test redirects standard error; reports are in BUILD/reports.
#     sh tests/checked.sh address build-asan             AddressSanitizer and UBSan, by clang
#     sh tests/checked.sh memory build-msan              MemorySanitizer, by clang 16 or later: the library alone, since
#                                                        others, such as the Vulkan loader, are not built for it
#     sh tests/checked.sh thread build-tsan              ThreadSanitizer; no Vulkan, whose drivers are not built for it
#     sh tests/checked.sh valgrind build-valgrind -j 8   errors and leaks; no Vulkan: hours
# Left out under each: that memory stays flat (cli-long), and calls that fail (cli-faults), because checkers use their
# own allocators. Tests that need Vulkan run under address alone, and only with ASAN_OPTIONS=detect_leaks=0. The kernel
# tests are left out under valgrind.
# CMAKE_OPTIONS has options of cmake for the build, TARGETS what the tests need of it; without TARGETS all is built.
# Usage: checked.sh address|memory|thread|valgrind BUILD [OPTION OF CTEST...]
set -eu
usage="usage: checked.sh address|memory|thread|valgrind BUILD [OPTION OF CTEST...]"
checker=${1:?$usage}
build=${2:?$usage}
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$build"
build=$(cd "$build" && pwd)
reports=$build/reports
rm -rf "$reports"
mkdir "$reports"

# prepare CMAKE-OPTION...
: "${CMAKE_OPTIONS:=}" "${TARGETS:=}"
prepare() {
    { cmake -S "$here/.." -B "$build" -G Ninja -DGPUME_WERROR=ON -DGPUME_TEST_HANG_SECONDS=36000 $CMAKE_OPTIONS "$@" &&
        ninja -C "$build" $TARGETS; } >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
}
without_vulkan() { # tests that need a driver skip
    unset GPUME_TEST_VULKAN
    export VK_DRIVER_FILES=/nowhere VK_ICD_FILENAMES=/nowhere
}

outside='style|install|bench' # labels
checked="-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1" # tests take as long as with -O3, and the build less
case $checker in
address)
    prepare $checked -DCMAKE_C_COMPILER=clang -DGPUME_SANITIZE=address,undefined
    case ${ASAN_OPTIONS:-} in
    *detect_leaks=0*) ;;
    *) without_vulkan ;; # drivers leak
    esac
    export ASAN_OPTIONS="log_path=$reports/asan:${ASAN_OPTIONS:-}"
    ;;
memory)
    # clang 14 takes what stat64 and lstat64 of glibc 2.33 and later return for uninitialized.
    prepare $checked -DCMAKE_C_COMPILER="$(command -v clang-16 || echo clang)" -DGPUME_SANITIZE=memory -DGPUME_TOOL=OFF
    outside="$outside|kernel" # all of the search is in unit, too
    without_vulkan
    export MSAN_OPTIONS="log_path=$reports/msan:${MSAN_OPTIONS:-}"
    ;;
thread)
    prepare $checked -DGPUME_SANITIZE=thread
    without_vulkan
    export TSAN_OPTIONS="log_path=$reports/tsan:suppressions=$here/tsan.supp:${TSAN_OPTIONS:-}"
    ;;
valgrind)
    prepare -DCMAKE_C_FLAGS=-g "-DCMAKE_CROSSCOMPILING_EMULATOR=$here/valgrind.sh"
    without_vulkan
    export GPUME_REPORTS="$reports"
    outside="$outside|kernel" # which takes a hundred times as long
    ;;
*)
    echo "$usage" >&2
    exit 2
    ;;
esac

status=0
ctest --test-dir "$build" --output-on-failure -LE "$outside" "$@" || status=1
# A request for too much memory is no defect.
find "$reports" -type f -exec grep -lv 'WARNING: AddressSanitizer failed to allocate' {} + >"$build/found" || :
while read -r report; do
    status=1
    head -n 60 "$report"
done <"$build/found"
exit $status
