#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A GPU that is lost during a run: with --backend auto the CPU engine continues, and every file is that of a run on the
# CPU. Otherwise the run fails and leaves nothing. The GPU is a software driver that a layer presents as one.
. "$(dirname "$0")/common.sh"
[ -n "${GPUME_FAULT_LAYER:-}" ] || skip "GPUME_FAULT_LAYER does not name the folder of the layer that makes calls fail"
have_vulkan || skip "no Vulkan driver"
make_clip clip.y4m 48 32 8 150

# lose AT ARGUMENTS: a run that loses the GPU at the AT-th of the calls that can report it.
lose() {
    at=$1
    shift
    env VK_LAYER_PATH="$GPUME_FAULT_LAYER" VK_INSTANCE_LAYERS=VK_LAYER_GPUME_fault \
        GPUME_FAULT_VK_TYPE=discrete GPUME_FAULT_VK_RESULT=lost GPUME_FAULT_VK_AT="$at" \
        "$gpume" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

# compare ARGUMENTS: all outputs, byte for byte; the first run chooses the kernel.
compare() {
    rm -rf want got
    mkdir want got
    (cd want && "$gpume" ../clip.y4m --backend cpu -q -o o --predicted p.y4m --residual r%d.pgm "$@") ||
        fail "on the CPU: $*"
    (cd got && lose 0 ../clip.y4m -o o --predicted p.y4m --residual r%d.pgm --frames 2 "$@")
    for at in $calls; do
        (
            cd got && lose "$at" ../clip.y4m -y -o o --predicted p.y4m --residual r%d.pgm "$@"
            [ "$status" -eq 0 ] || fail "lost at call $at: exit status $status: $*"
        ) || exit 1
        [ "$(grep -c '^gpume: warning: .*device lost.*going on with the CPU engine from frame' \
            "$scratch/err")" -eq 1 ] || fail "lost at call $at: no warning"
        [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "lost at call $at: more than the warning"
        grep -q '^ *failed; from frame [0-9]* on: cpu: ' "$scratch/out" || fail "closing summary"
        grep -q '"standby": {' got/o/summary.json || fail "summary.json"
        rm got/o/summary.json
        rm -f want/o/summary.json
        diff -r want got >"$scratch/diff" || fail "lost at call $at: $(head -1 "$scratch/diff"): $*"
    done
}

calls="1 5"
compare --ref-distance 3 --check
calls="3"
compare --prefilter median:3 -w 3

# gpume filter: vectors and means.
expect 0 filter clip.y4m -o want.y4m --backend cpu --noise 10 --strength 2 --spatial 1
lose 0 filter clip.y4m -o got.y4m --noise 10 --strength 2 --spatial 1 # compiles the kernels
cmp want.y4m got.y4m || fail "filter: not as on the CPU"
for at in 1 6 15 28; do
    lose $at filter clip.y4m -y -o got.y4m --noise 10 --strength 2 --spatial 1
    [ "$status" -eq 0 ] || fail "filter, lost at call $at: exit status $status: $(cat "$scratch/err")"
    grep -q 'device lost' "$scratch/err" || fail "filter, lost at call $at: no warning"
    cmp want.y4m got.y4m || fail "filter, lost at call $at: not as on the CPU"
    cat "$scratch/err" >>lines
done
grep -q 'means of the CPU from frame 0' lines && grep -q 'means of the CPU from frame [1-9]' lines ||
    fail "filter: the CPU did not take over at the beginning and later"

# If the GPU was requested by name, or validation elsewhere, there is no fallback.
mkdir none
cd none || exit 1
lose 2 ../clip.y4m --backend vulkan -o o --predicted p.y4m
[ "$status" -eq 1 ] || fail "--backend vulkan: exit status $status"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "--backend vulkan: not one line"
says "device lost"
lose 9 filter ../clip.y4m --backend vulkan -o o.y4m
[ "$status" -eq 1 ] || fail "filter --backend vulkan: exit status $status"
lose 2 ../clip.y4m --device llvmpipe -o o --predicted p.y4m
[ "$status" -ne 0 ] || fail "--device: exit status 0"
only .
exit 0
