#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What the validation layer reports makes --validate fail with a line of error. It finds kernels that do not wait for what others
# write: a layer in front of it leaves their barriers out.
. "$(dirname "$0")/common.sh"
[ -n "${GPUME_FAULT_LAYER:-}" ] || skip "GPUME_FAULT_LAYER does not name the folder of the layer that makes calls fail"
have_vulkan --validate || skip "no Vulkan driver, or no validation layer"

make_clip clip.y4m 64 48 3 150
validated() {
    "$gpume" clip.y4m -b 8 -w 7 --prefilter gauss:1 --backend vulkan --validate -q -o out -y </dev/null 2>err
}
validated || fail "exit status $?: $(cat err)"

# one_line STATUS COMMAND...: fails with this exit status and one line, what the layer reported first.
one_line() {
    wanted=$1
    shift
    status=0
    "$@" || status=$?
    [ $status -eq "$wanted" ] || fail "exit status $status: $(cat err): $*"
    [ "$(grep -c . err)" -eq 1 ] && grep -q '^gpume: Vulkan validation: ' err || fail "not one line: $(cat err): $*"
}

# What is reported while the device is opened; this part of the layer likes larger pieces of memory, for example.
echo 1 >numbers
export VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT
one_line 4 validated
one_line 4 sh -c '"$1" sort numbers --backend vulkan --validate -q >/dev/null 2>err' sh "$gpume"
unset VK_LAYER_ENABLES

export VK_ADD_LAYER_PATH="$GPUME_FAULT_LAYER" VK_INSTANCE_LAYERS=VK_LAYER_GPUME_fault GPUME_FAULT_VK_ORDER=1
one_line 1 validated
grep -q 'READ_AFTER_WRITE' err || fail "no hazard: $(cat err)"
exit 0
