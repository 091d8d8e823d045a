#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Random clips and options against the independent search, on $GPUME_TEST_BACKEND.
# Usage: test_fuzz_search.sh GPUME SEARCH_ORACLE [OPTIONS OF fuzz_search.py]
. "$(dirname "$0")/common.sh"
have python3 || skip "python3 is not here"
search_oracle=$2
shift 2
runs=60
[ "$engine" = cpu ] || runs=8 # four seconds each on a software driver; unit-engines compares both engines
! checked || runs=10
python3 "$here/fuzz_search.py" "$gpume" "$search_oracle" --backend "$engine" --runs "$runs" "$@" ||
    fail "see above"
