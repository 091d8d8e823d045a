# SPDX-License-Identifier: BSD-2-Clause
# Writes OUT, the text of IN as a C string NAME.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "static const char ${NAME}[] = {${bytes}0};\n")
