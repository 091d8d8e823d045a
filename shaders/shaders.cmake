# SPDX-License-Identifier: BSD-2-Clause
#
# gpume_add_shaders(target): compiles every variant below to SPIR-V words, checks them, and lets the
# target's sources include them as NAME.inc. Touching a shader or what it includes rebuilds its
# variants.

find_program(GPUME_GLSLC glslc REQUIRED)
find_program(GPUME_SPIRV_VAL spirv-val REQUIRED)

# name of the result, source, definitions if any
set(GPUME_SHADERS
  "upload8|upload.comp|"
  "upload16|upload.comp|-DGPUME_WIDE"
  "match8|match.comp|"
  "match16|match.comp|-DGPUME_WIDE"
  "half8|tile.comp|-DGPUME_HALF"
  "half16|tile.comp|-DGPUME_HALF|-DGPUME_WIDE"
  "float8|tile.comp|-DGPUME_FLOAT"
  "float16|tile.comp|-DGPUME_FLOAT|-DGPUME_WIDE"
  "int8|tile.comp|"
  "int16|tile.comp|-DGPUME_WIDE"
  "boxes8|boxes.comp|"
  "boxes16|boxes.comp|-DGPUME_WIDE"
  "sieve8|sieve.comp|"
  "sieve16|sieve.comp|-DGPUME_WIDE"
  "sieve_half8|sieve.comp|-DGPUME_HALF"
  "sieve_half16|sieve.comp|-DGPUME_HALF|-DGPUME_WIDE"
  "predict8|predict.comp|"
  "predict16|predict.comp|-DGPUME_WIDE"
  "reduce|reduce.comp|"
  "rank_local1|rank_local.comp|"
  "rank_local2|rank_local.comp|-DGPUME_TWO_WORDS"
  "rank_global1|rank_global.comp|"
  "rank_global2|rank_global.comp|-DGPUME_TWO_WORDS"
  "ceiling_half|ceiling.comp|-DGPUME_HALF"
  "ceiling_float|ceiling.comp|-DGPUME_FLOAT"
  "ceiling_int|ceiling.comp|")

function(gpume_add_shaders target)
  set(source_dir ${PROJECT_SOURCE_DIR}/shaders)
  set(out_dir ${PROJECT_BINARY_DIR}/shaders)
  file(MAKE_DIRECTORY ${out_dir})
  set(compile ${GPUME_GLSLC} --target-env=vulkan1.2 -O -Werror)
  foreach(entry IN LISTS GPUME_SHADERS)
    string(REPLACE "|" ";" parts "${entry};")
    list(GET parts 0 name)
    list(GET parts 1 source)
    list(SUBLIST parts 2 -1 definitions)
    set(words ${out_dir}/${name}.inc)
    set(binary ${out_dir}/${name}.spv)
    add_custom_command(
      OUTPUT ${words}
      COMMAND ${compile} ${definitions} -o ${binary} ${source_dir}/${source}
      COMMAND ${GPUME_SPIRV_VAL} --target-env vulkan1.2 ${binary}
      COMMAND ${compile} ${definitions} -mfmt=c -MD -MF ${words}.d -o ${words}
        ${source_dir}/${source}
      DEPENDS ${source_dir}/${source}
      DEPFILE ${words}.d
      COMMENT "Compiling shader ${name}"
      VERBATIM)
    list(APPEND results ${words})
  endforeach()
  target_sources(${target} PRIVATE ${results})
  target_include_directories(${target} PRIVATE ${out_dir})
endfunction()
