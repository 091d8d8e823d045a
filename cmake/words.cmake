# SPDX-License-Identifier: BSD-2-Clause
# Writes OUT, an array NAME of the words of IN, SPIR-V as glslc leaves it.
file(READ ${IN} hex HEX)
if(NOT hex MATCHES "^03022307") # the magic number 0x07230203
  message(FATAL_ERROR "${IN}: not SPIR-V in little-endian order")
endif()
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" words "${hex}")
file(WRITE ${OUT} "static const uint32_t ${NAME}[] = {${words}};\n")
