# SPDX-License-Identifier: BSD-2-Clause
#
# gpume_add_shaders(target list): compiles every variant of a list below to SPIR-V words, checks them,
# and lets the target's sources include them as NAME.inc. Touching a shader or what it includes rebuilds
# its variants.

set(GPUME_COMPILED_SHADERS "" CACHE PATH "Folder shaders/ of another build of these sources: nothing is compiled again")
find_program(GPUME_GLSLC glslc REQUIRED)
find_program(GPUME_SPIRV_VAL spirv-val REQUIRED)

# name of the result, source, definitions if any
set(GPUME_SHADERS
  "upload8|surfaces/upload.comp|"
  "upload16|surfaces/upload.comp|-DGPUME_WIDE"
  "prefilter_lines8|surfaces/prefilter_lines.comp|"
  "prefilter_lines16|surfaces/prefilter_lines.comp|-DGPUME_WIDE"
  "prefilter_kernel8|surfaces/prefilter_kernel.comp|"
  "prefilter_kernel16|surfaces/prefilter_kernel.comp|-DGPUME_WIDE"
  "prefilter_median3_8|surfaces/prefilter_median.comp|-DGPUME_SIDE=3"
  "prefilter_median3_16|surfaces/prefilter_median.comp|-DGPUME_SIDE=3|-DGPUME_WIDE"
  "prefilter_median5_8|surfaces/prefilter_median.comp|-DGPUME_SIDE=5"
  "prefilter_median5_16|surfaces/prefilter_median.comp|-DGPUME_SIDE=5|-DGPUME_WIDE"
  "prefilter_bilateral8|surfaces/prefilter_bilateral.comp|"
  "prefilter_bilateral16|surfaces/prefilter_bilateral.comp|-DGPUME_WIDE"
  "quads8|search/match_quads.comp|"
  "quads16|search/match_quads.comp|-DGPUME_WIDE"
  "half8|search/match_tiles.comp|-DGPUME_HALF"
  "half16|search/match_tiles.comp|-DGPUME_HALF|-DGPUME_WIDE"
  "float8|search/match_tiles.comp|-DGPUME_FLOAT"
  "float16|search/match_tiles.comp|-DGPUME_FLOAT|-DGPUME_WIDE"
  "int8|search/match_tiles.comp|"
  "int16|search/match_tiles.comp|-DGPUME_WIDE"
  "block_sums8|search/block_sums.comp|"
  "block_sums16|search/block_sums.comp|-DGPUME_WIDE"
  "prune_wide8|search/prune_wide.comp|"
  "prune_wide16|search/prune_wide.comp|-DGPUME_WIDE"
  "prune_wide_half8|search/prune_wide.comp|-DGPUME_HALF"
  "prune_wide_half16|search/prune_wide.comp|-DGPUME_HALF|-DGPUME_WIDE"
  "prune_small8|search/prune_small.comp|"
  "prune_small16|search/prune_small.comp|-DGPUME_WIDE"
  "prune_small_half8|search/prune_small.comp|-DGPUME_HALF"
  "prune_small_half16|search/prune_small.comp|-DGPUME_HALF|-DGPUME_WIDE"
  "prune_strips8|search/prune_strips.comp|"
  "prune_strips16|search/prune_strips.comp|-DGPUME_WIDE"
  "prune_strips_half8|search/prune_strips.comp|-DGPUME_HALF"
  "prune_strips_half16|search/prune_strips.comp|-DGPUME_HALF|-DGPUME_WIDE"
  "predict8|search/predict.comp|"
  "predict16|search/predict.comp|-DGPUME_WIDE"
  "reduce|search/reduce.comp|"
  "fractions8|general/fractions.comp|"
  "fractions16|general/fractions.comp|-DGPUME_WIDE"
  "boxes8|general/boxes.comp|"
  "boxes16|general/boxes.comp|-DGPUME_WIDE"
  "ranges8|general/ranges.comp|"
  "ranges16|general/ranges.comp|-DGPUME_WIDE"
  "median|general/median.comp|"
  "general8|general/search.comp|"
  "general16|general/search.comp|-DGPUME_WIDE"
  "general_half8|general/search.comp|-DGPUME_HALF"
  "refine8|general/refine.comp|"
  "refine16|general/refine.comp|-DGPUME_WIDE"
  "choose|general/choose.comp|"
  "mean8|general/mean.comp|"
  "mean16|general/mean.comp|-DGPUME_WIDE"
  "mean_half8|general/mean.comp|-DGPUME_HALF"
  "texture8|general/texture.comp|"
  "texture16|general/texture.comp|-DGPUME_WIDE"
  "tree|general/partition.comp|"
  "measure8|general/measure.comp|"
  "measure16|general/measure.comp|-DGPUME_WIDE"
  "temporal_predict8|temporal/predict.comp|"
  "temporal_predict16|temporal/predict.comp|-DGPUME_WIDE"
  "temporal_measure8|temporal/measure.comp|"
  "temporal_measure16|temporal/measure.comp|-DGPUME_WIDE"
  "temporal_noise|temporal/noise.comp|"
  "temporal_fit8|temporal/fit.comp|"
  "temporal_fit16|temporal/fit.comp|-DGPUME_WIDE"
  "temporal_references|temporal/references.comp|"
  "temporal_average8|temporal/average.comp|"
  "temporal_average16|temporal/average.comp|-DGPUME_WIDE"
  "temporal_spatial8|temporal/spatial.comp|"
  "temporal_spatial16|temporal/spatial.comp|-DGPUME_WIDE"
  "sort_hist|arrays/sort_hist.comp|"
  "sort_scan|arrays/sort_scan.comp|"
  "sort_scatter|arrays/sort_scatter.comp|"
  "sort_local|arrays/sort_local.comp|"
  "sort_copy|arrays/sort_copy.comp|"
  "sort_chunk|arrays/sort_chunk.comp|"
  "sort_step|arrays/sort_step.comp|"
  "array_reduce|arrays/array_reduce.comp|"
  "array_histogram|arrays/array_histogram.comp|")

# Of the lookahead for encoders, which is not part of the library.
set(GPUME_ENCODE_SHADERS
  "encode_intra|encode/intra.comp|"
  "encode_mean|encode/mean.comp|"
  "encode_refine|encode/refine.comp|"
  "encode_weigh|encode/weigh.comp|")

# One variant: NAME.inc, which defines an array NAME, out of SOURCE with these definitions.
function(gpume_add_shader target name source)
  if(GPUME_COMPILED_SHADERS)
    target_include_directories(${target} PRIVATE ${GPUME_COMPILED_SHADERS})
    return()
  endif()
  set(out_dir ${PROJECT_BINARY_DIR}/shaders)
  file(MAKE_DIRECTORY ${out_dir})
  set(words ${out_dir}/${name}.inc)
  set(binary ${out_dir}/${name}.spv)
  add_custom_command(
    OUTPUT ${words}
    COMMAND ${GPUME_GLSLC} --target-env=vulkan1.2 -O -Werror -I ${PROJECT_SOURCE_DIR}/shaders -I ${PROJECT_SOURCE_DIR}/src ${ARGN} -MD -MF ${words}.d -MT ${words} -o ${binary} ${source}
    COMMAND ${GPUME_SPIRV_VAL} --target-env vulkan1.2 ${binary}
    COMMAND ${CMAKE_COMMAND} -DIN=${binary} -DNAME=${name} -DOUT=${words} -P ${PROJECT_SOURCE_DIR}/cmake/words.cmake
    DEPENDS ${source} ${PROJECT_SOURCE_DIR}/cmake/words.cmake
    DEPFILE ${words}.d
    COMMENT "Compiling shader ${name}"
    VERBATIM)
  target_sources(${target} PRIVATE ${words})
  target_include_directories(${target} PRIVATE ${out_dir})
endfunction()

function(gpume_add_shaders target variants)
  foreach(entry IN LISTS ${variants})
    string(REPLACE "|" ";" parts "${entry};")
    list(GET parts 0 name)
    list(GET parts 1 source)
    list(SUBLIST parts 2 -1 definitions)
    gpume_add_shader(${target} ${name} ${PROJECT_SOURCE_DIR}/shaders/${source} ${definitions})
  endforeach()
endfunction()
