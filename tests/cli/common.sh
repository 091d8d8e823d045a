# SPDX-License-Identifier: BSD-2-Clause
# Included by every test here: sh test_x.sh GPUME_BINARY. Exit status 0 passed, 1 failed, 77 skipped.
# Each test runs in its own temporary folder. The independent search, tests/support/oracle.c, is the program
# $GPUME_ORACLE, or is compiled.
set -u
LC_ALL=C
export LC_ALL

fail() {
    echo "FAILED: $*" >&2
    if [ -s "$scratch/out" ]; then sed 's/^/  out| /' "$scratch/out" | head -5 >&2; fi
    if [ -s "$scratch/err" ]; then sed 's/^/  err| /' "$scratch/err" | head -5 >&2; fi
    exit 1
}

skip() {
    echo "SKIPPED: $*"
    exit 77
}

have() {
    command -v "$1" >/dev/null 2>&1
}

absolute() {
    case $1 in
    /*) echo "$1" ;;
    *) echo "$(pwd)/$1" ;;
    esac
}

[ $# -ge 1 ] || { echo "usage: sh $0 GPUME_BINARY" >&2; exit 1; }
gpume=$(absolute "$1")
[ -x "$gpume" ] || { echo "$gpume: not there" >&2; exit 1; }
here=$(absolute "$(dirname "$0")")
engine=${GPUME_TEST_BACKEND:-cpu}
scratch=$(mktemp -d) || exit 1
feeder=
trap '[ -z "$feeder" ] || kill "$feeder" 2>/dev/null; rm -rf "$scratch"' EXIT
# ctest has one for all tests, away from the user's own.
XDG_CACHE_HOME=${GPUME_TEST_CACHE:-$scratch/cache}
export XDG_CACHE_HOME
mkdir "$scratch/work"
cd "$scratch/work" || exit 1

oracle=${GPUME_ORACLE:-}
need_oracle() {
    if [ -z "$oracle" ]; then
        oracle=$scratch/oracle
        ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -o "$oracle" \
            "$here/../support/oracle.c" -lm || fail "the oracle cannot be compiled"
    fi
}

# have_vulkan [--validate]: whether there is a Vulkan driver, and with --validate the validation layer, according to a
# program without gpume's code (tests/support/vulkan_probe.h). If there is one, a failure with it is never skipped.
have_vulkan() {
    "${GPUME_VULKAN_PROBE:-$(dirname "$gpume")/tests/vulkan_probe}" "$@" >"$scratch/probe"
    case $? in
    0) return 0 ;;
    77) return 1 ;;
    *) fail "the probe for a Vulkan driver: $(cat "$scratch/probe")" ;;
    esac
}
[ "$engine" = cpu ] || have_vulkan || skip "no Vulkan driver"

# checked: a sanitizer checks gpume's memory, or valgrind, whose script then replaces the program.
checked() {
    nm "$gpume" 2>/dev/null | grep -qE '__(a|t|ub)san' || grep -q "^exec '.*/valgrind\.sh' " "$gpume"
}

# make_clip FILE WIDTH HEIGHT BITS FRAMES: a gray y4m clip.
make_clip() {
    need_oracle
    "$oracle" clip "$2" "$3" "$4" "$5" 1 >"$1" || fail "no clip"
}

# run ARGUMENTS: standard streams in $scratch/out and $scratch/err, exit status in $status.
run() {
    arguments=$*
    "$gpume" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

# expect STATUS ARGUMENTS
expect() {
    wanted=$1
    shift
    run "$@"
    [ "$status" -eq "$wanted" ] || fail "gpume $*: exit status $status, not $wanted"
    if [ "$wanted" -ne 0 ]; then
        [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "gpume $*: not exactly one line of error"
        grep -q '^gpume: ' "$scratch/err" || fail "gpume $*: no 'gpume: ' before the error"
        [ ! -s "$scratch/out" ] || fail "gpume $*: failed, and yet wrote to standard output"
        ! grep -qE 'params\.[a-z]|gpume_list_' "$scratch/err" || fail "gpume $*: names parameters of the library"
    fi
}

# names WORD...: the last run's standard error names each option, file or value, in whatever words. Plain words must
# come from its command line: others are the wording, which is no promise.
arguments=
names() {
    for named in "$@"; do
        case $named in
        *[!A-Za-z\ ]*) ;;
        *) case $arguments in *"$named"*) ;; *) fail "names '$named': not an option, a file or a value" ;; esac ;;
        esac
        grep -qwF -- "$named" "$scratch/err" || fail "the error does not name '$named'"
    done
}

# refused STATUS WORD... -- ARGUMENTS: as expect, and the line names each word.
refused() {
    refused_status=$1
    refused_words=
    shift
    while [ "$1" != -- ]; do
        refused_words="$refused_words$1
"
        shift
    done
    shift
    expect "$refused_status" "$@"
    while IFS= read -r refused_word; do
        [ -z "$refused_word" ] || names "$refused_word"
    done <<WORDS
$refused_words
WORDS
}

# says TEXT: the last run's standard error contains it. Only for words that are promised.
says() {
    grep -qF -- "$1" "$scratch/err" || fail "the error does not say '$1'"
}

# The folder holds only the named files (hidden files count).
only() {
    folder=$1
    shift
    found=$(ls -A "$folder" | sort | tr '\n' ' ')
    wanted=$(for name in "$@"; do echo "$name"; done | sort | tr '\n' ' ')
    [ "$found" = "$wanted" ] || fail "$folder holds '$found', not '$wanted'"
}

# wait_for COMMAND...: returns once the command succeeds, and fails if process $pid ends before that. There is no time
# limit: a busy machine may take as long as it needs, and ctest ends a test that hangs.
wait_for() {
    until "$@" >/dev/null 2>&1; do
        kill -0 "$pid" 2>/dev/null || "$@" >/dev/null 2>&1 || fail "ended too early to satisfy: $*"
        sleep 0.05
    done
}

# await FILE: waits until it exists.
await() {
    wait_for test -e "$1"
}

# has_temporary FILE: is a run writing this output?
has_temporary() {
    ls -A | grep -q "^\\.$1\\.gpume-.*tmp\$"
}

# launch SIGNAL ARGUMENTS: runs gpume in the background without ignoring SIGINT; its number is in $pid.
launch() {
    signal=$1
    shift
    env --default-signal="$signal" "$gpume" "$@" --backend "$engine" \
        >"$scratch/out" 2>"$scratch/err" &
    pid=$!
}

# $feeder: the background process that writes into a pipe; it is ended also when a test fails.
stop_feeder() {
    kill "$feeder" 2>/dev/null
    wait "$feeder" 2>/dev/null
    feeder=
}

# feed FRAMES: writes FRAMES frames of clip.y4m (64x48) into a pipe that stays open; drain closes it.
feed() {
    mkfifo slow
    { head -c $(($(head -1 clip.y4m | wc -c) + $1 * 3078)) clip.y4m && exec sleep 86400; } >slow &
    feeder=$!
}
drain() {
    stop_feeder
    rm slow
}
