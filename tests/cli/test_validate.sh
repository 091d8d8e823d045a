#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --validate finds kernels that do not wait for what others write: a layer leaves their barriers out. The validation layer
# stands behind it, between it and the driver.
. "$(dirname "$0")/common.sh"
[ -n "${GPUME_FAULT_LAYER:-}" ] || skip "GPUME_FAULT_LAYER does not name the folder of the layer that makes calls fail"
have_vulkan --validate || skip "no Vulkan driver, or no validation layer"

make_clip clip.y4m 64 48 3 150
validated() {
    "$gpume" clip.y4m -b 8 -w 7 --prefilter gauss:1 --backend vulkan --validate -q -o out -y </dev/null 2>err
}
validated || fail "exit status $?: $(cat err)"

status=0
export VK_ADD_LAYER_PATH="$GPUME_FAULT_LAYER" VK_INSTANCE_LAYERS=VK_LAYER_GPUME_fault GPUME_FAULT_VK_ORDER=1
validated || status=$?
[ $status -eq 1 ] || fail "kernels in no order: exit status $status: $(cat err)"
grep -q 'READ_AFTER_WRITE' err || fail "no hazard: $(cat err)"
exit 0
