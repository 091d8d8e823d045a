#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# slurm.sh INPUT CHUNKS OUT [OPTIONS OF GPUME]: submits an array of runs over ranges of a video, and a job that merges
# their folders into OUT when all have succeeded. INPUT and OUT are in folders that all nodes share. Prints the numbers
# of both jobs. Options of sbatch are given in the environment, such as SBATCH_PARTITION, SBATCH_GPUS=1 or
# SBATCH_TIMELIMIT.
#     samples/cluster/slurm.sh film.mkv 16 film.gpume -b 16 --vectors PART/v.mvf
set -eu
input=${1:?usage: slurm.sh INPUT CHUNKS OUT [OPTIONS]}
chunks=$2
out=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
work=$out.parts
last=$("$here/plan.sh" "$input" "$chunks" "$work" "$@")

# --requeue: tasks of a node that fails, or that yield to other jobs, are run again; part.sh resumes them.
array=$(sbatch --parsable --requeue --open-mode=append --array="0-$last" --output="$work/part-%a.log" \
    "$here/part.sh" "$input" "$work" "$@")
merge=$(sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes --output="$work/merge.log" \
    "$here/merge.sh" "$work" "$last" "$out" "$@")
echo "$array $merge"
