#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# merge.sh WORK LAST OUT [OPTIONS OF GPUME]: merges WORK/part-0 to WORK/part-LAST into the folder OUT. Of the options that
# the parts were run with, those that name a file PART/NAME have it merged too.
set -eu
work=${1:?usage: merge.sh WORK LAST OUT [OPTIONS]}
last=$2
out=$3
shift 3
option=
for word in "$@"; do
    shift
    case $word in
    PART/*) set -- "$@" "$option" "${word#PART/}" ;;
    --*=PART/*) set -- "$@" "${word%%=*}" "${word#*=PART/}" ;;
    esac
    option=$word
done
# Named one by one: a part that is missing must not be overlooked.
number=0
while [ "$number" -le "$last" ]; do
    set -- "$@" "$work/part-$number"
    number=$((number + 1))
done
exec ${GPUME:-gpume} merge --whole -o "$out" "$@"
