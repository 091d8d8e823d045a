# SPDX-License-Identifier: BSD-2-Clause
# Writes OUT, the commit that is being built, where it has changed; "" where SOURCE_DIR is no checkout,
# though it may lie in somebody else's.
set(commit "")
if(EXISTS ${SOURCE_DIR}/.git)
  execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define GPUME_COMMIT \"${commit}\"\n")
