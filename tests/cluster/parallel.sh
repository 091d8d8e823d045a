#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# samples/cluster/parallel.sh: its merge is that of one run; it can be run again; without a part the merge fails.
# Usage: parallel.sh GPUME_BINARY
. "$(dirname "$0")/../cli/common.sh"
have parallel || skip "parallel is not installed"
parallel --version | grep -q '^GNU parallel' || skip "parallel is not GNU parallel"
scripts=$here/../../samples/cluster
GPUME=$gpume
PARALLEL_OPTIONS="-j 2"
export GPUME PARALLEL_OPTIONS
make_clip "a clip.y4m" 64 48 8 20

# runs: the script, with a name that has a blank.
runs() {
    "$scripts/parallel.sh" "a clip.y4m" 4 "the result" --direction=both -b 16 --backend "$engine" -q \
        --vectors=PART/v.jsonl >"$scratch/out" 2>"$scratch/err"
}
runs || fail "parallel.sh"
[ "$(wc -l <"the result.parts/plan")" -eq 4 ] || fail "not four parts"
mkdir one
expect 0 -q "a clip.y4m" --direction both -b 16 --backend "$engine" -o one --vectors one/v.jsonl
only "the result" $(ls -A one)
for file in vectors.csv frames.csv v.jsonl; do
    cmp -s "one/$file" "the result/$file" || fail "$file is not that of one run"
done

# Again after an interruption: the first part is complete, the second is not.
rm -r "the result" "the result.parts/part-1/summary.json"
touch -d 2001-01-01 "the result.parts/part-0/frames.csv"
runs || fail "again"
[ -n "$(find "the result.parts/part-0/frames.csv" -mtime +1)" ] ||
    fail "a complete part was run again"
cmp -s one/vectors.csv "the result/vectors.csv" || fail "again: vectors.csv is not that of one run"

rm -r "the result.parts/part-2"
! "$scripts/merge.sh" "the result.parts" 3 none 2>"$scratch/err" || fail "merged without a part"
says "the result.parts/part-2: is not a folder"
exit 0
