#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# plan.sh INPUT CHUNKS WORK [OPTIONS OF GPUME]: makes the folder WORK with the file `plan`, one range per line, and prints
# the number of the last one, counted from 0.
set -eu
input=${1:?usage: plan.sh INPUT CHUNKS WORK [OPTIONS]}
chunks=$2
work=$3
shift 3

# Pass on the options that decide where ranges may begin.
options= last=
for word in "$@"; do
    case $last in
    --direction | --ref-distance | --fields | --stream | --max-pixels) options="$options $last $word" ;;
    --compat) options="$options --direction both" ;;
    esac
    case $word in
    --direction=* | --ref-distance=* | --fields=* | --stream=* | --max-pixels=*) options="$options $word" ;;
    --allow-network | --allow-files) options="$options $word" ;;
    --bidirectional | --compat=*) options="$options --direction both" ;;
    esac
    last=$word
done
mkdir "$work"
${GPUME:-gpume} plan "$input" --chunks "$chunks" $options >"$work/plan"
echo $(($(wc -l <"$work/plan") - 1))
