#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Where compiled pipelines are kept between runs, and that a run also succeeds where they cannot be kept.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 48 8 3
expect 0 clip.y4m --backend cpu --vectors want.csv

# What only the CPU engine does leaves nothing behind.
XDG_CACHE_HOME=$scratch/xdg HOME=$scratch/home
export XDG_CACHE_HOME HOME
expect 0 clip.y4m --backend cpu --vectors v.csv
[ ! -e "$scratch/xdg/gpume" ] || fail "the CPU engine made a cache"

have_vulkan || skip "no Vulkan driver"
vulkan() {
    # With a search named, none is tried, and nothing but pipelines kept, on hardware either.
    expect 0 clip.y4m --backend vulkan --search quads -v -y --vectors v.csv
    cmp want.csv v.csv || fail "vectors with $1"
    grep -q '^gpume: started in .* ms: instance .*, device .*, pipelines .*, memory meanwhile ' \
        "$scratch/err" || fail "-v does not say how long starting took"
}

# $XDG_CACHE_HOME/gpume, made for the user alone; later runs read it and leave it as it is.
vulkan "an empty cache"
only "$scratch/xdg/gpume" "$(basename "$scratch"/xdg/gpume/pipelines-*.bin)"
[ "$(ls -ld "$scratch/xdg/gpume" | cut -c 1-10)" = drwx------ ] || fail "the folder's mode"
entry=$(echo "$scratch"/xdg/gpume/pipelines-*.bin)
before=$(ls -i "$entry")
vulkan "a warm cache"
[ "$(ls -i "$entry")" = "$before" ] || fail "a warm cache was written"
grep -q ' (cached), ' "$scratch/err" || fail "a warm cache was not used"
echo rubbish >"$entry"
vulkan "rubbish in the cache"
says 'is damaged, ignored'
! grep -q rubbish "$entry" || fail "rubbish stays in the cache"
expect 0 clip.y4m --backend vulkan --search quads -y --vectors v.csv
[ ! -s "$scratch/err" ] || fail "the cache is spoken of without -v"

# Relative names are to be ignored; then it is below HOME, if that is there.
XDG_CACHE_HOME=relative
vulkan "a relative XDG_CACHE_HOME"
[ ! -e relative/gpume ] || fail "a relative XDG_CACHE_HOME was used"
[ ! -e "$scratch/home/.cache/gpume" ] || fail "a home was made"
mkdir -p "$scratch/home"
vulkan "a home without .cache"
[ -f "$scratch"/home/.cache/gpume/pipelines-*.bin ] || fail "no cache below HOME"

# Neither is set; or it cannot be written.
unset XDG_CACHE_HOME HOME
vulkan "no home"
grep -q ' (no cache), ' "$scratch/err" || fail "a cache without a home"
: >"$scratch/file"
for shut in /proc "$scratch/file" /dev/null; do
    XDG_CACHE_HOME=$shut
    export XDG_CACHE_HOME
    vulkan "XDG_CACHE_HOME=$shut"
done
exit 0
