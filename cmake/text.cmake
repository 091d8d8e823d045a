# SPDX-License-Identifier: BSD-2-Clause
# Writes OUT, the text of IN as an initializer of a C string.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "{${bytes}0}\n")
