#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How much of the rate of decoding alone a whole run keeps: bench_decode, then gpume with
# vectors.csv written, then bench_decode again, because machines change their speed. The disk's
# speed is part of the result: choose the folder with TMPDIR (1080p in blocks of 8 takes a megabyte
# per frame).
# Usage: whole_run.sh BUILD_DIR INPUT [LOOPS [GPUME_OPTION...]]
set -eu
usage="usage: whole_run.sh BUILD_DIR INPUT [LOOPS [GPUME_OPTION...]]"
build=${1:?$usage}
input=${2:?$usage}
loops=${3:-1}
[ $# -lt 3 ] && shift 2 || shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ "$loops" -gt 1 ]; then
    ffmpeg -v error -nostdin -stream_loop $((loops - 1)) -i "$input" -map 0:v:0 -c copy \
        "$scratch/loop.mkv"
    input=$scratch/loop.mkv
fi

"$build/tests/bench_decode" "$input" >"$scratch/before"
begin=$(date +%s.%N)
"$build/gpume" "$input" -o "$scratch/out" -q "$@"
end=$(date +%s.%N)
bytes=$(wc -c <"$scratch/out/vectors.csv")
rm "$scratch/out/vectors.csv"
"$build/tests/bench_decode" "$input" >"$scratch/after"

# "stages": {"whole": {"seconds": S, "fields_per_second": R}}
awk -v begin="$begin" -v end="$end" -v bytes="$bytes" '
    FILENAME ~ /summary.json$/ {
        if ($1 ~ /^"(decode|upload|match|reduce|rank|readback|write|whole)":/) {
            stage = $1
            gsub(/[":]/, "", stage)
        } else if ($1 == "\"seconds\":" && stage) {
            took[stage] = $2 + 0
        } else if ($1 == "\"fields\":") {
            fields = $2 + 0
        }
        next
    }
    { rate[$1] += $4 / 2; frames = $2; cpu[$1] += $5 / 2
      printf "%-11s %5d frames in %7.3f s, %7.1f a second, %.2f ms of CPU a frame\n", $1, $2, $3, $4,
          1000 * $5 / $2 }
    END {
        whole = fields / took["whole"]
        printf "%-11s %5d fields in %7.3f s, %7.1f a second, first frame to last row\n", "whole run",
            fields, took["whole"], whole
        printf "            with start and end %.3f s; vectors.csv %.1f MB\n", end - begin, bytes / 1e6
        printf "            seconds: reading %.3f, match %.3f, writing %.3f\n", took["decode"],
            took["match"], took["write"]
        printf "ratio       %.3f of libavcodec alone, %.3f of decoding to luma\n",
            whole / rate["libavcodec"], whole / rate["source"]
    }' "$scratch/before" "$scratch/after" "$scratch/out/summary.json"
