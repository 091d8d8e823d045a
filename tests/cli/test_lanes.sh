#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --device with a list: several engines share a run, whose files are those of one engine. One of them fails, then all.
. "$(dirname "$0")/common.sh"
have_vulkan || skip "no Vulkan driver"
make_clip clip.y4m 48 32 8 150
at_once='' # with --validate all devices are opened at the start, and not only if the run takes long enough
have_vulkan --validate && at_once=--validate

# same LIST ARGUMENTS: the files of a run on those devices are those of a run on the CPU.
same() {
    list=$1
    shift
    rm -rf want got
    mkdir want got
    (cd want && "$gpume" ../clip.y4m --backend cpu -q -o o "$@") || fail "on the CPU: $*"
    (cd got && "$gpume" ../clip.y4m --device "$list" -o o $at_once "$@" >"$scratch/out" 2>"$scratch/err") ||
        fail "--device $list $*"
    summary=got/o/summary.json
    cp $summary "$scratch/summary.json"
    rm $summary want/o/summary.json
    diff -r want got >"$scratch/diff" || fail "--device $list: $(head -1 "$scratch/diff"): $*"
}
same 0,0 --predicted p.y4m
[ "$(grep -c '^ *vulkan: .*: [0-9]* frame pairs*, busy ' "$scratch/out")" -eq 2 ] || fail "closing summary"
grep -q '"devices": \[' "$scratch/summary.json" || fail "summary.json"
grep -q '"device": "0,0"' "$scratch/summary.json" || fail "summary.json: parameters"
[ -z "$at_once" ] || [ "$(grep -c '"opened": true' "$scratch/summary.json")" -eq 2 ] || fail "--validate: opened"
same 0,cpu --direction both --ref-distance 1,3 --best-reference -w 2 --check
same cpu,0,0 -b 16,8 --partition --lambda 4 --subpel 2 -w 2 --frames 20 --predicted p.y4m
same 0,0 --direction both --confidence --max-memory 64M

# Two frames are no reason to open another device, which the summaries say.
at_once=''
same cpu
same 0,cpu --frames 1
[ "$(grep -c ': 0 frame pairs, busy 0 %; not needed$' "$scratch/out")" -eq 1 ] || fail "closing summary of two frames"
[ "$(grep -c '"opened": false' "$scratch/summary.json")" -eq 1 ] || fail "summary.json of two frames"

# One of them fails, or all: the files are the same. The others are opened when that happens.
if [ -n "${GPUME_FAULT_LAYER:-}" ]; then
    # AT is far below the number of calls, which depends on how fast each engine is.
    lose() { # RESULT AT LIST
        VK_LAYER_PATH=$GPUME_FAULT_LAYER VK_INSTANCE_LAYERS=VK_LAYER_GPUME_fault GPUME_FAULT_VK_RESULT=$1 \
            GPUME_FAULT_VK_AT=$2
        export VK_LAYER_PATH VK_INSTANCE_LAYERS GPUME_FAULT_VK_RESULT GPUME_FAULT_VK_AT
        same "$3" --confidence --direction both
        unset VK_LAYER_PATH VK_INSTANCE_LAYERS GPUME_FAULT_VK_RESULT GPUME_FAULT_VK_AT
    }
    export GPUME_FAULT_VK_KIND=vkQueueSubmit
    lose memory 4 0,0
    unset GPUME_FAULT_VK_KIND
    says "going on without one of the devices"
    grep -q '"failed": true' "$scratch/summary.json" || fail "summary.json does not say what failed"
    grep -q '; failed$' "$scratch/out" || fail "the closing summary does not say what failed"
    grep -q '"standby"' "$scratch/summary.json" && fail "one of two failed: standby"
    lose lost 9 0,0
    says "going on without one of the devices"
    says "going on with the CPU engine from frame"
    lose lost 1 0,cpu
    says "going on without one of the devices"
fi

refused 4 --device 77 -- clip.y4m --device 0,77
refused 2 --device 0, -- clip.y4m --device 0,
expect 2 clip.y4m --device 0,0 --backend cpu
expect 4 clip.y4m --device 0,0,nothing
exit 0
