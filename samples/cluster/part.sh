#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# part.sh INPUT WORK [OPTIONS OF GPUME]: runs one range of WORK/plan into the folder WORK/part-N, where N is the number of
# the array task, or $PART. An option's value that begins with PART/ is a file in that folder: --vectors PART/v.mvf.
# A run that was killed is resumed; one that ended before is left as it is.
set -eu
input=${1:?usage: part.sh INPUT WORK [OPTIONS]}
work=$2
number=${SLURM_ARRAY_TASK_ID:-${PART:?the number of the part}}
range=$(sed -n "$((number + 1))p" "$work/plan")
part=$work/part-$number
[ -n "$range" ] || { echo "part.sh: $work/plan has no range $number" >&2; exit 2; }
shift 2
for word in "$@"; do
    shift
    case $word in
    PART/*) word=$part/${word#PART/} ;;
    --*=PART/*) word=${word%%=*}=$part/${word#*=PART/} ;;
    esac
    set -- "$@" "$word"
done

if [ -e "$part/summary.json" ]; then
    echo "part.sh: $part is complete"
    exit 0
fi
status=0
${GPUME:-gpume} "$input" $range -o "$part" "$@" -y --resume || status=$?
# It was killed on another machine, which may have been restarted since, or has outputs that cannot be resumed. Where
# locks reach other machines, this is refused too as long as it still runs there.
if [ $status -eq 2 ]; then
    echo "part.sh: cannot be resumed; starting anew"
    status=0
    ${GPUME:-gpume} "$input" $range -o "$part" "$@" -y || status=$?
fi
exit $status
