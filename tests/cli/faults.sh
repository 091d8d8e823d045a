# SPDX-License-Identifier: BSD-2-Clause
# Sourced by test_faults*.sh after common.sh: runs a command repeatedly, each time with another call failing
# (tests/fault/fault.h), of all calls that a run without a failure makes. After each run:
#   - it ended by itself with an exit status that this failure may have;
#   - standard error holds one line if that is a failure's, and none if it is not, one warning aside;
#   - a file under a final name is whole: that of a run without a failure, lines of times aside; after
#     success all of them are there; nothing else is;
#   - no memory, thread or Vulkan object is left, neither gpume's nor libav's.
# The runs' standard output is let alone, where the closing summary may have begun.
#
#     GPUME_FAULT_STRIDE=N  every N-th call fails, instead of each sweep's own stride; 1: all
#     GPUME_FAULT_FIRST=N   the first of them (1): two processes share the work with a stride of 2
#     GPUME_TEST_SHARE=K/N  every N-th of those, beginning with the K-th

share=${GPUME_TEST_SHARE:-1/1}
portion=64              # runs at a time whose files are kept
sweep_of=GPUME_FAULT_AT # or GPUME_FAULT_VK_AT
good=0                  # the exit status of success
start=                  # a folder whose files are there before each run
again=                  # what is run after a failure, in its folder: then all files must be there
all_or_none=            # yes: a run that fails leaves no file, or all where it fails to say that it is done
bad=0

# folders NUMBERS: creates one folder per run in `now`.
folders() {
    rm -rf now
    mkdir now
    # shellcheck disable=SC2086 # many
    (cd now && mkdir $1)
    for number in ${start:+$1}; do
        cp -Rp "$start/." "now/$number"
    done
}

# runs COUNTER SUFFIX NUMBERS [NAME=VALUE]... PROGRAM ARGUMENTS: in these folders, all from one start
# of the program (tests/fault/fault_runs.h).
runs() {
    (
        cd now || exit 1
        export GPUME_FAULT_COUNTER="$1" GPUME_FAULT_SUFFIX="$2" GPUME_FAULT_RUNS="$3"
        shift 3
        exec env "$@"
    ) || fail "no runs"
}

# judge_ends STATUSES: checks exit status, standard error, and leaks of memory and objects. $scratch/ends
# gets "RUN good" or "RUN failed".
judge_ends() {
    (cd now && awk -v good=$good -v allowed=" $good $1 " -v ends="$scratch/ends" '
        function wrong(run, what) {
            print "FAILED: call " run " (" failed[run] "), exit status " status[run] ": " what said[run]
        }
        FNR == 1 { run = FILENAME; gsub(/[.](err|report)$|.*\//, "", run) }
        FILENAME ~ /err$/ {
            if (/^gpume: warning: /) warnings[run]++; else lines[run]++
            said[run] = said[run] "\n  err| " $0
            next
        }
        $1 == "failed" { failed[run] = $2 " " $3 }
        $1 == "left" && !(run in left) { left[run] = $0 }
        $1 ~ /^counted/ { counted[run] = 1 }
        $1 == "status" { status[run] = $2 }
        END {
            for (run in status) {
                print run, status[run] == good ? "good" : "failed" >ends
                if (!counted[run]) { wrong(run, "did not end by itself"); continue }
                if (!index(allowed, " " status[run] " ")) wrong(run, "not one of" allowed)
                if (lines[run] != (status[run] != 0)) wrong(run, lines[run] + 0 " lines of error")
                if (warnings[run] > 1) wrong(run, warnings[run] " warnings")
                if (run in left) wrong(run, left[run])
            }
        }' ./*.err ./*.report) >>"$scratch/wrong"
}

# Prints the files in the runs' folders without what differs from run to run: "HASH ./RUN/FILE". The input's contents are
# null where the file cannot be read a second time.
digest() {
    (
        cd now || exit 1
        find . -name '*.json' -exec sed -i -E \
            '/"(seconds|fields_per_second|busy|host_bytes|dropped_by_.*|compared)": /d
             /"(input|predictor)": ("[0-9]+-[0-9a-f]+"|null)/d' {} +
        find . -name '*.html' -exec sed -i '$!d' {} +
        find . -mindepth 2 \( -type f -exec md5sum {} + -o -type d -empty -printf 'empty  %p\n' \)
    )
}

# judge_files: compares the files with $scratch/wanted, the digest of the undisturbed run.
judge_files() {
    digest >"$scratch/files"
    awk -v all_or_none="$all_or_none" '
        function wrong(run, what) { print "FAILED: call " run ": " what }
        FILENAME ~ /ends$/ { end[$1] = $2; next }
        { split($2, part, "/"); run = part[2]; file = substr($2, 4 + length(run)) }
        FILENAME ~ /wanted$/ { wanted[file] = $1; count++; next }
        { there[run]++ }
        !(file in wanted) { wrong(run, "left " file " behind"); next }
        wanted[file] != $1 { wrong(run, file " is not what it should be") }
        END {
            for (run in end) {
                if (all_or_none && there[run] > 0 && there[run] != count) wrong(run, "not all its files, nor none")
                if (end[run] == "good" && there[run] != count) wrong(run, "not all its files are there")
            }
        }' "$scratch/ends" "$scratch/wanted" "$scratch/files" >>"$scratch/wrong"
}

# judge STATUSES: checks the last runs.
judge() {
    : >"$scratch/wrong"
    judge_ends "$1"
    failed=$(sed -n 's/ failed$//p' "$scratch/ends" | tr '\n' ' ')
    if [ -n "$again" ] && [ -n "$failed" ]; then
        # shellcheck disable=SC2086 # a command
        runs GPUME_FAULT_NONE "" "$failed" $again
        sed -i 's/failed$/good/' "$scratch/ends"
    fi
    judge_files
    cat "$scratch/wrong" >&2
    bad=$((bad + $(grep -c ^FAILED "$scratch/wrong")))
    [ $bad -lt 20 ] || fail "too much is wrong"
}

# sweep SUFFIX STRIDE STATUSES [NAME=VALUE]... PROGRAM ARGUMENTS: every STRIDE-th call fails; with the suffix +,
# all later calls, too.
sweep() {
    after=$1
    step=${GPUME_FAULT_STRIDE:-$2}
    stride=$((step * ${share#*/}))
    statuses=$3
    shift 3
    folders 0
    runs GPUME_FAULT_NONE "" 0 "$@"
    digest >"$scratch/wanted"
    judge ""
    grep -q "^0 good" "$scratch/ends" || fail "$*: fails without a failing call"
    case $sweep_of in *_VK_*) counter=counted_vk ;; *) counter=counted ;; esac
    count=$(sed -n "s/^$counter //p" now/0.report)
    [ "${count:-0}" -gt 0 ] || fail "$*: no call was counted"
    number=$((${GPUME_FAULT_FIRST:-1} + step * (${share%/*} - 1)))
    done=0
    while [ "$number" -le "$count" ]; do
        next=$((number + portion * stride))
        last=$((next <= count ? next - stride : count))
        numbers=$(seq -s ' ' "$number" "$stride" $last)
        folders "$numbers"
        runs "$sweep_of" "$after" "$numbers" "$@"
        judge "$statuses"
        done=$((done + $(wc -l <"$scratch/ends")))
        number=$next
    done
    echo "$done runs for $count calls: $*"
}
