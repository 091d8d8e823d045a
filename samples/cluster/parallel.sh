#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# parallel.sh INPUT CHUNKS OUT [OPTIONS OF GPUME]: the same as slurm.sh with GNU parallel, on this machine or on those
# of $PARALLEL_OPTIONS, such as "--sshloginfile nodes -j 1", which share this folder. A part that fails is tried again
# twice. Run it again after an interruption: complete parts are kept, others are resumed.
set -eu
input=${1:?usage: parallel.sh INPUT CHUNKS OUT [OPTIONS]}
chunks=$2
out=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
work=$out.parts
if [ -s "$work/plan" ]; then
    last=$(($(wc -l <"$work/plan") - 1))
else
    last=$("$here/plan.sh" "$input" "$chunks" "$work" "$@")
fi
seq 0 "$last" | parallel ${PARALLEL_OPTIONS:-} --workdir . --retries 3 --halt soon,fail=1 --joblog "$work/parallel.log" \
    --quote env PART={} ${GPUME:+"GPUME=$GPUME"} "$here/part.sh" "$input" "$work" "$@"
exec "$here/merge.sh" "$work" "$last" "$out" "$@"
