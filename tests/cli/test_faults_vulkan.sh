#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Vulkan functions that fail: every N-th call reports that the device or the host is out of memory, or that the device
# is lost, which it then stays. The same calls fail in every run of this test. No Vulkan object may leak either.
. "$(dirname "$0")/common.sh"
. "$here/faults.sh"
[ -f "${GPUME_FAULT_CALLS:-}" ] || skip "no library of failing calls (a build with sanitizers has none)"
make_clip clip.y4m 64 48 8 4
make_clip long.y4m 64 48 8 9 # more than one submission, of which any may be lost
awk 'BEGIN { for (i = 0; i < 5000; i++) print (i * 7919) % 5003 - 2000 }' >integers

faulty="LD_PRELOAD=$GPUME_FAULT_CALLS VK_LAYER_PATH=$GPUME_FAULT_LAYER"
faulty="$faulty VK_INSTANCE_LAYERS=VK_LAYER_GPUME_fault"
host=GPUME_FAULT_VK_RESULT=host
lost=GPUME_FAULT_VK_RESULT=lost
waits=GPUME_FAULT_VK_KIND=vkWaitSemaphores
discrete=GPUME_FAULT_VK_TYPE=discrete # what --backend auto takes
have_vulkan || skip "no Vulkan driver"
"$gpume" clip.y4m --backend vulkan -q -o warm || fail "a run in which no call fails" # fills the cache of kernels
sweep_of=GPUME_FAULT_VK_AT
vectors="--vectors v.csv --predicted p.y4m"
set -- "$gpume" ../../clip.y4m --backend vulkan --prefilter box:3 -w 12 $vectors
sweep "" 29 "1 4" $faulty "$@"
sweep "" 53 "1 4" $host $faulty "$@"
sweep "" 67 "1 4" $faulty "$gpume" ../../clip.y4m --backend vulkan -w 4 --metric satd --subpel 2 --lambda 2 $vectors
sweep "" 2 1 $lost $faulty "$gpume" ../../long.y4m --backend vulkan --prefilter box:3 -w 12 $vectors
sweep "" 5 "1 4" $faulty "$gpume" devices
sweep "" 17 "1 4" $faulty "$gpume" sort ../../integers --backend vulkan --check -o sorted
sweep "" 3 1 $lost $faulty "$gpume" sort ../../integers --backend vulkan --check -o sorted
sweep "" 1 "1 4" $waits $faulty "$gpume" sort ../../integers --backend vulkan --check -o sorted
filter="filter ../../long.y4m --backend vulkan --noise 5 -o f.y4m"
sweep "" 97 "1 4" $faulty "$gpume" $filter
sweep "" 3 1 $lost $faulty "$gpume" $filter
sweep "" 211 "1 4" $faulty "$gpume" bench --reduce --backend vulkan --seconds 0.001

# With --backend auto the CPU takes over, unless a part of the result has already been returned.
sweep "" 2 "" $lost $discrete $faulty "$gpume" ../../long.y4m $vectors
sweep "" 89 "" $discrete $faulty "$gpume" ../../clip.y4m $vectors
sweep "" 97 "" $host $discrete $faulty "$gpume" ../../clip.y4m $vectors
sweep "" 2 1 $lost $discrete $faulty "$gpume" sort ../../integers --check -o sorted

# Of 9 MB, in pieces of 8 MiB, the first has come back when the second fails.
make_clip large.y4m 1024 1024 8 9
head -c 9000000 large.y4m >words
env $faulty $discrete GPUME_FAULT_VK_KIND=vkQueueSubmit GPUME_FAULT_VK_AT=5 \
    "$gpume" sort words --binary u32 -o sorted >"$scratch/out" 2>"$scratch/err"
status=$?
[ $status -eq 4 ] || fail "a piece of the result is missing, and exit status $status"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "a piece of the result is missing: not one line"
[ ! -e sorted ] || fail "a piece of the result is missing, and there is a file"

# The library's own calls, on this engine.
sweep_of=GPUME_FAULT_AT
sweep "" 7 "1 3 4" $faulty "$@"
sweep "" 11 "1 3 4" $faulty "$gpume" sort ../../integers --backend vulkan --check -o sorted
[ $bad -eq 0 ]
