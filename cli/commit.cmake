# SPDX-License-Identifier: BSD-2-Clause
# Writes OUT, the commit that is being built, where it has changed. SOURCE_DIR need not be a checkout.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define GPUME_COMMIT \"${commit}\"\n")
