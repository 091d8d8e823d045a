#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A driver that translates the kernels of the sort wrongly: ranks and sorted numbers are right, as the CPU makes them,
# with one warning. Only a driver that was found right is not checked again. A layer turns a bit of every key over.
. "$(dirname "$0")/common.sh"
[ -n "${GPUME_FAULT_LAYER:-}" ] || skip "GPUME_FAULT_LAYER does not name the folder of the layer that makes calls fail"
have_vulkan || skip "no Vulkan driver"
export XDG_CACHE_HOME="$scratch/cache" # where no driver is known
mkdir cache
make_clip clip.y4m 640 368 8 4
make_clip small.y4m 144 144 8 4

wrong() {
    env VK_LAYER_PATH="$GPUME_FAULT_LAYER" VK_INSTANCE_LAYERS=VK_LAYER_GPUME_fault GPUME_FAULT_VK_SORT=1 \
        "$gpume" "$@" </dev/null
}

one_warning() {
    [ "$(grep -c '^gpume: warning: .*sorts wrongly.*the CPU sorts and ranks instead' err)" -eq 1 ] &&
        [ "$(grep -c . err)" -eq 1 ] || fail "one warning, not: $(cat err): $*"
}

# compare CLIP ARGUMENTS: every file, after a check that finds the driver wrong, though an earlier one did.
compare() {
    rm -rf want got
    "$gpume" "$@" --backend cpu -q -o want || fail "on the CPU: $*"
    wrong "$@" --backend vulkan -q -o got 2>err || fail "exit status $?: $(cat err): $*"
    one_warning "$@"
    rm want/summary.json got/summary.json
    diff -r want got >/dev/null || fail "not as on the CPU: $*"
}
compare clip.y4m -b 8 -w 1 # 3680 blocks: by a workgroup
compare clip.y4m -b 4 -w 1 # 14720: by tiles
compare small.y4m -b 16,8 -w 1 --metric satd # 81: by the network; 324: costs leave no room for places

# A driver is known as right once it was found right, not before.
"$gpume" clip.y4m --backend vulkan -v -o first -b 8 -w 1 2>err >out || fail "exit status $?"
grep -q 'sort checked in' err out || fail "a driver never seen before is not checked"
"$gpume" clip.y4m --backend vulkan -v -o second -b 8 -w 1 2>err >out || fail "exit status $?"
! grep -q 'sort checked in' err out || fail "a known driver is checked again"
cmp -s first/vectors.csv second/vectors.csv || fail "another result of the second run"

# Numbers.
awk 'BEGIN { for (i = 0; i < 20000; i++) print i * 7919 % 10007 }' >numbers
sort -n numbers >expected
wrong sort numbers --backend vulkan >sorted 2>err || fail "exit status $?: $(cat err)"
one_warning sort
cmp -s sorted expected || fail "numbers are not sorted"
exit 0
