#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Vulkan functions that fail, every so many-th call, the same every time: memory of the device and of the
# host, and a device that is lost, which it then stays. No Vulkan object is left either.
. "$(dirname "$0")/common.sh"
. "$here/faults.sh"
[ -f "${GPUME_FAULT_CALLS:-}" ] || skip "no library of failing calls (a build with sanitizers has none)"
make_clip clip.y4m 64 48 8 9

faulty="LD_PRELOAD=$GPUME_FAULT_CALLS VK_LAYER_PATH=$GPUME_FAULT_LAYER"
faulty="$faulty VK_INSTANCE_LAYERS=VK_LAYER_GPUME_fault"
"$gpume" clip.y4m --backend vulkan -q -o warm || skip "no Vulkan driver"
sweep_of=GPUME_FAULT_VK_AT
set -- "$gpume" ../clip.y4m --backend vulkan --prefilter box:3 -w 12 --vectors v.csv --predicted p.y4m
sweep "" 29 "1 4" $faulty "$@"
sweep "" 53 "1 4" GPUME_FAULT_VK_RESULT=host $faulty "$@"
sweep "" 2 1 GPUME_FAULT_VK_RESULT=lost $faulty "$@"
sweep "" 5 "1 4" $faulty "$gpume" devices
# The library's own calls, on this engine.
sweep_of=GPUME_FAULT_AT
sweep "" 7 "1 4" $faulty "$@"
[ $bad -eq 0 ]
