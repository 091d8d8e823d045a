#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A run is killed at each of its renames, links and unlinks, with a state saved after every frame: files with final
# names are complete; if summary.json exists, all files belong to one run; and --resume produces exactly the files of an
# uninterrupted run.
. "$(dirname "$0")/common.sh"
. "$here/faults.sh"
[ -f "${GPUME_FAULT_CALLS:-}" ] || skip "no library of failing calls (a build with sanitizers has none)"
need_oracle
make_clip clip.y4m 64 48 8 6
preload=LD_PRELOAD=$GPUME_FAULT_CALLS
killed="GPUME_FAULT_KIND=name GPUME_FAULT_SIGNAL=9 GPUME_FAULT_CLOCK_S=2 $preload"
job="$gpume $PWD/clip.y4m --backend cpu -q -b 16 -o out --predicted p.y4m --residual r%d.png"

# sealed FOLDER...: if summary.json exists, the other files are those of one of the folders.
sealed() {
    for run in now/*/; do
        one=
        [ -e "${run}out/summary.json" ] || continue
        for folder in "$@"; do
            differ=
            for file in $(cd "$folder" && find . -type f ! -name '.*' ! -name '*.json'); do
                cmp -s "$folder/$file" "$run$file" || differ="$differ $file"
            done
            [ -n "$differ" ] || one=$folder
        done
        [ -n "$one" ] || fail "killed at name $(basename "$run"): summary.json stands, not all of its run: $differ"
    done
}

# begins FILE BYTES OTHER: the file equals the first BYTES bytes of the other one.
begins() {
    head -c "$2" "$3" | cmp -s - "$1" || fail "summary.json.partial stands, and $1 is not of its run"
}

# sealed_partial: if summary.json.partial exists, the other partial results belong to its run and hold as many fields.
sealed_partial() {
    for run in now/*/; do
        [ -e "${run}out/summary.json.partial" ] || continue
        grep -q '"window": "1x1"' "${run}out/summary.json.partial" && of=old || of=unbroken
        fields=$(sed -n 's/^  "fields": \([0-9]*\),$/\1/p' "${run}out/summary.json.partial")
        [ "$fields" -gt 0 ] || fail "${run}out/summary.json.partial does not count fields"
        for table in "vectors.csv 12" "frames.csv 1"; do
            rows=$((fields * ${table#* } + 1))
            table=out/${table% *}
            begins "$run$table.partial" "$(head -n $rows $of/$table | wc -c)" $of/$table
        done
        begins "${run}p.y4m.partial" $(($(head -1 $of/p.y4m | wc -c) + fields * (6 + 64 * 48))) $of/p.y4m
    done
}

# whole FOLDER: files with final names equal those of the folder.
whole() {
    for run in now/*/; do
        for file in $(cd "$run" && find . -type f ! -name '.*' ! -name '*.json' ! -name '*.partial'); do
            cmp -s "$run$file" "$1/$file" || fail "killed at name $(basename "$run"): $file is not whole"
        done
    done
}

# kills CHECK COMMAND: killed at every rename, link and unlink in turn; then `next` produces the files of an
# uninterrupted run.
kills() {
    check=$1
    shift
    folders 0
    # shellcheck disable=SC2086 # several words
    runs GPUME_FAULT_NONE "" 0 $killed "$@"
    count=$(sed -n "s/^counted //p" now/0.report)
    rm -rf unbroken
    cp -Rp now/0 unbroken
    digest >"$scratch/wanted"
    judge ""
    [ "$(cat "$scratch/ends")" = "0 good" ] || fail "$*: fails without being killed"
    [ "$count" -gt 5 ] || fail "$*: gives $count names"
    numbers=$(seq -s ' ' 1 "$count")
    folders "$numbers"
    # shellcheck disable=SC2086
    runs GPUME_FAULT_AT "" "$numbers" $killed "$@"
    [ "$(grep -lx 'status 137' now/*.report | wc -l)" -eq "$count" ] || fail "$*: not every run was killed"
    $check
    # shellcheck disable=SC2086
    runs GPUME_FAULT_NONE "" "$numbers" $preload $next
    judge ""
    [ $bad -eq 0 ] || fail "$*: killed, and then $next"
    echo "$count runs: $*"
}

# interrupt NAME COMMAND: in the folder `start`, at that name. A run that is over before its thread for signals wakes
# up is tried again.
interrupt() {
    number=$1
    shift
    start=$PWD/start
    for _ in $(seq 100); do
        rm -rf start && mkdir start
        # shellcheck disable=SC2086
        (cd start && env GPUME_FAULT_KIND=name GPUME_FAULT_TERM_AT="$number" GPUME_FAULT_CLOCK_S=2 $preload "$@") \
            >"$scratch/out" 2>"$scratch/err"
        [ $? -eq 0 ] || break
    done
    says interrupted
    [ -e start/out/summary.json.partial ] || fail "no partial results"
}

# A new run.
new_files() {
    whole unbroken
    sealed unbroken
}
next="$job --resume -y" # before the first state and after the last there is nothing to continue
# shellcheck disable=SC2086
kills new_files $job

# The general search: more columns, and several references.
cost="--subpel 4 --metric satd --lambda 4 -w 1"
partition="-b 16..8+rect --partition --predictor median --ref-distance 1,2 --bidirectional"
trust="-b 16,8x16 --direction both --best-reference --confidence --candidates 3"
whole_pixels=$job
for search in "$partition" "$trust"; do
    start=
    job="$gpume $PWD/clip.y4m --backend cpu -q $search $cost -o out --predicted p%d.pgm"
    next="$job --resume -y"
    # shellcheck disable=SC2086
    kills new_files $job
    # shellcheck disable=SC2086
    interrupt 9 $job
    # shellcheck disable=SC2086
    kills new_files $job --resume
done
job=$whole_pixels

# In place of an older run, whose tables, videos and pictures have the same names.
mkdir old
# shellcheck disable=SC2086
(cd old && $job -w 1) || fail "no older run"
start=$PWD/old
old_files() {
    sealed old unbroken
}
next="$job -y"
# shellcheck disable=SC2086
kills old_files $job -y

# Resumed after an interruption, in the middle and when all was done.
partial_files() {
    whole unbroken
    sealed unbroken
    sealed_partial
}
next="$job --resume -y"
for number in 3 15; do
    # shellcheck disable=SC2086
    interrupt $number $job
    # shellcheck disable=SC2086
    kills partial_files $job --resume
done

# Interrupted once more, and killed while it leaves partial results in place of those that are there.
for option in --resume -y; do
    [ "$option" = -y ] && older="-w 1" || older=
    # shellcheck disable=SC2086
    interrupt 3 $job $older
    for _ in $(seq 100); do
        folders 0
        # shellcheck disable=SC2086
        runs GPUME_FAULT_NONE "" 0 GPUME_FAULT_TERM_AT=3 $killed $job $option
        [ ! -e now/0/out/summary.json.partial ] || break
    done
    [ -e now/0/out/summary.json.partial ] || fail "$option: not interrupted again"
    count=$(sed -n "s/^counted //p" now/0.report)
    numbers=$(seq -s ' ' 4 "$count")
    folders "$numbers"
    # shellcheck disable=SC2086
    runs GPUME_FAULT_AT "" "$numbers" GPUME_FAULT_TERM_AT=3 $killed $job $option
    sealed_partial
    # shellcheck disable=SC2086
    runs GPUME_FAULT_NONE "" "$numbers" $preload $next
    judge ""
    [ $bad -eq 0 ] || fail "$option: interrupted again, killed, and then $next"
done
start=

# In which order files are written: the report says how long others took, summary.json seals them all.
job="$gpume ../../clip.y4m --backend cpu -q -b 16 -o out --report r.json"
folders 0
# shellcheck disable=SC2086
runs GPUME_FAULT_NONE "" 0 GPUME_FAULT_KIND=write $preload $job
count=$(sed -n "s/^counted //p" now/0.report)
cp -Rp now/0/out unbroken.out
numbers=$(seq -s ' ' 1 "$count")
folders "$numbers"
# shellcheck disable=SC2086
runs GPUME_FAULT_AT "" "$numbers" GPUME_FAULT_KIND=write GPUME_FAULT_SIGNAL=9 $preload $job
reports=0
for run in now/*/; do
    for last in "$run".r.json.*.tmp "$run"out/.summary.json.*.tmp; do
        [ -s "$last" ] || continue
        reports=$((reports + 1))
        for table in vectors.csv frames.csv; do
            cat "$run"out/."$table".*.tmp | cmp -s - "unbroken.out/$table" ||
                fail "killed at write $(basename "$run"): $table is written after $(basename "$last")"
        done
    done
    for last in "$run"out/.summary.json.*.tmp; do
        [ ! -s "$last" ] || [ -s "$(echo "$run".r.json.*.tmp)" ] || fail "the report is written after summary.json"
    done
done
[ $reports -gt 1 ] || fail "the order of writing was not seen"

# Large tables, which a background thread writes: the state waits for it, however slow it is.
make_clip large.y4m 640 480 8 12
job="$gpume $PWD/large.y4m --backend cpu -q -b 4 -w 1 --vectors v.csv"
slowly="GPUME_FAULT_WRITE_MS=20 $killed"
folders 0
# shellcheck disable=SC2086
runs GPUME_FAULT_NONE "" 0 $slowly $job
count=$(sed -n "s/^counted //p" now/0.report)
[ "$(wc -c <now/0/v.csv)" -gt 6000000 ] || fail "the table is not large"
digest >"$scratch/wanted"
numbers=$(seq -s ' ' $((count - 5)) "$count")
folders "$numbers"
# shellcheck disable=SC2086
runs GPUME_FAULT_AT "" "$numbers" $slowly $job
# shellcheck disable=SC2086
runs GPUME_FAULT_NONE "" "$numbers" $preload $job --resume -y
judge ""
[ $bad -eq 0 ] || fail "large tables"

# Outputs whose names begin alike, longer than a temporary's name shows and, one of them, too long for .partial behind
# it: one run leaves the other's state and files alone.
long=$(printf '%0240d' 0)
expect 0 -q clip.y4m --backend cpu --vectors whole.csv
for signal in 9 15; do
    for name in "${long}a.csv" "$long-behind.csv"; do
        for _ in $(seq 100); do
            # shellcheck disable=SC2086
            (env GPUME_FAULT_AT=3 $killed GPUME_FAULT_SIGNAL=$signal "$gpume" clip.y4m --backend cpu -q \
                --vectors "$name" -y) 2>"$scratch/err"
            status=$?
            [ $status -eq 0 ] || break
        done
        [ $status -eq $((signal == 9 ? 137 : 1)) ] || fail "$name: exit status $status after signal $signal"
    done
    [ $signal -eq 9 ] || [ "$(ls -- *.partial | wc -l)" -eq 2 ] || fail "not two partial results"
    for name in "${long}a.csv" "$long-behind.csv"; do
        expect 0 -v clip.y4m --backend cpu --vectors "$name" --resume -y
        ! grep -q 'nothing to continue' "$scratch/err" || fail "$name: lost after signal $signal"
        cmp whole.csv "$name" || fail "$name: other vectors after signal $signal"
    done
    rm "$long"*
done
[ "$(ls -A | grep -c 000)" -eq 0 ] || fail "names that begin alike: something is left"
exit 0
