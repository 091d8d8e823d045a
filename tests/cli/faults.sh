# SPDX-License-Identifier: BSD-2-Clause
# Read by test_faults*.sh after common.sh: the command over and over, each time with another call failing
# (tests/fault/fault.h), until a run in which none was left to fail. After each run:
#   - it ended by itself with an exit status that this failure may have;
#   - standard error holds one line if that is not 0, and none if it is, warnings aside;
#   - a file under a final name is whole: that of a run without a failure, lines of times aside; after
#     exit status 0 all of them are there; nothing else is;
#   - no memory, thread or Vulkan object is left, neither gpume's nor libav's.
# The runs' standard output is let alone, where the closing summary may have begun.

# as_reference FILE: what does not change from run to run.
as_reference() {
    case $1 in
    *.json) grep -vE '"(seconds|fields_per_second|busy|host_bytes|dropped_by_.*|compared)": ' "$1" ;;
    *.html) tail -n 1 "$1" ;;
    *) cat "$1" ;;
    esac
}

# list FOLDER: its files and empty folders, hidden ones too.
list() {
    (cd "$1" && find . -mindepth 1 \( -type f -o -type d -empty \) | sort)
}

# try AT [NAME=VALUE]... PROGRAM ARGUMENTS: a run in a new folder `now`, with call number AT failing.
try() {
    rm -rf now "$scratch/report"
    mkdir now
    at=$1
    shift
    (
        cd now || exit 1
        exec timeout -k 5 60 env "$sweep_of=$at" GPUME_FAULT_REPORT="$scratch/report" \
            "$@"
    ) >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

# wrong WHAT: the failure of one run; the others are looked at too.
wrong() {
    echo "FAILED: call $at ($(sed -n 's/^failed //p' "$scratch/report")), exit status $status: $1" >&2
    sed 's/^/  err| /' "$scratch/err" | head -3 >&2
    bad=$((bad + 1))
    [ $bad -lt 20 ] || fail "too much is wrong"
}

# judge STATUSES: of the last try.
judge() {
    grep -q '^counted' "$scratch/report" 2>/dev/null || { wrong "did not end by itself"; return; }
    case " 0 $1 " in *" $status "*) ;; *) wrong "not one of 0 $1" ;; esac
    lines=$(grep -vc '^gpume: warning: ' "$scratch/err")
    [ "$lines" -eq $((status != 0)) ] || wrong "$lines lines of error"
    ! grep '^left' "$scratch/report" >"$scratch/left" || wrong "$(head -1 "$scratch/left")"
    list now >"$scratch/now"
    if [ "$status" -eq 0 ]; then
        cmp -s "$scratch/now" "$scratch/wanted" || wrong "its files are not all there: $(cat "$scratch/now")"
    fi
    while IFS= read -r file; do
        if [ ! -f "reference/$file" ]; then
            wrong "left $file behind"
        elif [ -d "now/$file" ]; then
            wrong "left the folder $file empty"
        else
            as_reference "reference/$file" >"$scratch/a"
            as_reference "now/$file" >"$scratch/b"
            cmp -s "$scratch/a" "$scratch/b" || wrong "$file is not what it should be"
        fi
    done <"$scratch/now"
}

# sweep SUFFIX STRIDE STATUSES [NAME=VALUE]... PROGRAM ARGUMENTS: every STRIDE-th call fails; with the suffix + all after it too.
sweep() {
    suffix=$1
    stride=$2
    statuses=$3
    shift 3
    try 0 "$@"
    [ "$status" -eq 0 ] || fail "$*: exit status $status without a failing call"
    rm -rf reference
    mv now reference
    list reference >"$scratch/wanted"
    cp -r reference now
    judge 0
    case $sweep_of in *_VK_*) counter=counted_vk ;; *) counter=counted ;; esac
    count=$(sed -n "s/^$counter //p" "$scratch/report" | tail -1)
    [ "$count" -gt 0 ] || fail "$*: no call was counted"
    number=1
    runs=0
    while [ $number -le "$count" ]; do
        try "$number$suffix" "$@"
        judge "$statuses"
        number=$((number + stride))
        runs=$((runs + 1))
    done
    echo "$runs runs for $count calls: $*"
}
bad=0
sweep_of=GPUME_FAULT_AT # or GPUME_FAULT_VK_AT
