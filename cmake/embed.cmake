# SPDX-License-Identifier: BSD-2-Clause
# Writes OUT, a C file that holds the page NAME: HTML and LICENCE one file each, STYLES and SCRIPTS lists
# of names with commas, all in FOLDER. Elements of a page are named in its security policy by their hash.
function(describe file result)
  file(SHA256 ${FOLDER}/${file} hash)
  file(READ ${FOLDER}/${file} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR bytes "${digits} / 2")
  string(MAKE_C_IDENTIFIER "asset_${file}" name)
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" hex "${hex}")
  file(APPEND ${OUT} "static const unsigned char ${name}[] = {\n${hex}};\n")
  set(${result} "{${name}, ${bytes}, \"${hash}\"}" PARENT_SCOPE)
endfunction()

file(WRITE ${OUT} "#include \"report/shell.h\"\n\n")
describe(${HTML} html)
describe(${LICENCE} licence)
foreach(kind STYLES SCRIPTS)
  string(REPLACE "," ";" files "${${kind}}")
  set(${kind}_TABLE "")
  foreach(file IN LISTS files)
    describe(${file} one)
    string(APPEND ${kind}_TABLE "    ${one},\n")
  endforeach()
endforeach()
file(APPEND ${OUT}
  "static const struct gpume_report_asset styles[] = {\n${STYLES_TABLE}    {0},\n};\n"
  "static const struct gpume_report_asset scripts[] = {\n${SCRIPTS_TABLE}    {0},\n};\n"
  "const struct gpume_report_assets gpume_report_assets_${NAME} = {\n    ${html}, ${licence}, styles, scripts};\n")
