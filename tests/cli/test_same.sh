#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every kind of output has the same bytes in a second run, on one thread and on many, on Vulkan and on the CPU.
. "$(dirname "$0")/common.sh"
need_oracle
"$oracle" flat 72 52 8 30000 1001 >clip.y4m

# all FOLDER OPTIONS
all() {
    folder=$1
    shift
    mkdir "$folder"
    expect 0 -q clip.y4m -o "$folder" --vectors "$folder/v.csv" --predicted "$folder/p.y4m" \
        --residual "$folder/r.mkv" --difference "$folder/d%d.png" --overlay "$folder/o.mkv" \
        --report "$folder/report.html" "$@"
    expect 0 -q clip.y4m --vectors "$folder/w.csv" --predicted "$folder/p.mp4" \
        --residual "$folder/r%02d.bmp" --residual-mode signed --difference "$folder/d%d.jpg" --gain 3 \
        --gamma 2 --overlay "$folder/o%d.ppm" --overlay-style flow --scale 2 \
        --report "$folder/report.json" "$@"
    expect 0 -q clip.y4m --predicted "$folder/p%d.pgm" --difference "$folder/d.y4m" \
        --residual "$folder/r.mp4" --overlay "$folder/o.y4m" --overlay-style cost \
        --report "$folder/report.csv" "$@"
}

# Removes times, the engine, the pruning statistics, and their lengths.
facts() {
    grep -Ev '"(seconds|fields_per_second|busy|name|dropped_by_.*|compared|threads|search|device|backend|driver|no-elimination)"|_bytes"|id="bytes"' "$1"
}

compare_all() {
    [ "$(ls first)" = "$(ls "$1")" ] || fail "$1: other files"
    for path in first/*; do
        name=${path#first/}
        case $name in
        summary.json | report.json | report.html)
            facts "$path" >a
            facts "$1/$name" >b
            cmp a b || fail "$1: $name"
            ;;
        *) cmp "$path" "$1/$name" || fail "$1: $name" ;;
        esac
    done
    rm -r "$1"
}

all first --backend cpu --threads 1
all again --backend cpu --threads 1
compare_all again
all many --backend cpu --threads 16
compare_all many
all plain --backend cpu --search plain --no-elimination
compare_all plain
if have_vulkan; then
    all device --backend vulkan
    compare_all device
else
    echo "no Vulkan driver: not compared"
fi
exit 0
