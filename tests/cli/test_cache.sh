#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Compiled pipelines, and that ranks are right, are stored between runs; a run succeeds even if they cannot be stored.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 48 8 3
expect 0 clip.y4m --backend cpu --vectors want.csv

# A run on the CPU stores nothing.
XDG_CACHE_HOME=$scratch/xdg HOME=$scratch/home
export XDG_CACHE_HOME HOME
expect 0 clip.y4m --backend cpu --vectors v.csv
[ ! -e "$scratch/xdg/gpume" ] || fail "the CPU engine made a cache"

have_vulkan || skip "no Vulkan driver"
vulkan() {
    # With a named search, none is tried and no choice is stored, even on hardware.
    expect 0 clip.y4m --backend vulkan --search quads -v -y --vectors v.csv
    cmp want.csv v.csv || fail "vectors with $1"
    grep -q '^gpume: started in .* ms: instance .*, device .*, pipelines .*, memory meanwhile ' \
        "$scratch/err" || fail "-v does not say how long starting took"
}

# $XDG_CACHE_HOME/gpume is created with access for the user only; later runs read it and do not change it.
vulkan "an empty cache"
if grep -q ' (compiled, not cached), ' "$scratch/err"; then
    [ "${GPUME_TEST_VULKAN:-}" != required ] || fail "no pipelines were stored"
    only "$scratch/xdg/gpume" "$(basename "$scratch"/xdg/gpume/sort-*.bin)"
    skip "this driver gives no pipelines to store, as that of Mesa 26.2"
fi
only "$scratch/xdg/gpume" "$(basename "$scratch"/xdg/gpume/pipelines-*.bin)" "$(basename "$scratch"/xdg/gpume/sort-*.bin)"
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

# A relative $XDG_CACHE_HOME is ignored; the folder is then below HOME, if that exists.
XDG_CACHE_HOME=relative
vulkan "a relative XDG_CACHE_HOME"
[ ! -e relative/gpume ] || fail "a relative XDG_CACHE_HOME was used"
[ ! -e "$scratch/home/.cache/gpume" ] || fail "a home was made"
mkdir -p "$scratch/home"
vulkan "a home without .cache"
[ -f "$scratch"/home/.cache/gpume/pipelines-*.bin ] || fail "no cache below HOME"

# Neither variable is set, or the folder cannot be written.
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
