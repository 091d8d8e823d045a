# SPDX-License-Identifier: BSD-2-Clause
# Read by cpack when the files of all packages lie in their folders: adds the licence and the changelogs that Debian's
# policy asks for, and compresses manual pages.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

# Without name and time, so that the same input gives the same bytes.
function(compress from to)
  execute_process(COMMAND gzip -9nc ${from} OUTPUT_FILE ${to} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(READ ${CPACK_GPUME_SOURCE}/LICENSE licence)
file(READ ${CPACK_GPUME_SOURCE}/src/report/page/vendor/LICENSE vendor)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)

function(add_documents name top)
  set(documents ${top}/share/doc/${name})
  file(WRITE ${documents}/copyright "${licence}\nThe command contains uPlot:\n\n${vendor}\n")
  compress(${CPACK_GPUME_SOURCE}/CHANGELOG.md ${documents}/changelog.gz)
  file(WRITE ${documents}/changelog.Debian
    "gpume (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
    "  * Made by cpack from the sources of gpume ${CPACK_PACKAGE_VERSION}.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  compress(${documents}/changelog.Debian ${documents}/changelog.Debian.gz)
  file(REMOVE ${documents}/changelog.Debian)
  set(overrides "# It is not uploaded to Debian, where a first upload closes a bug.\n${name}: initial-upload-closes-no-bugs\n")
  if(name MATCHES "^libgpume[0-9]")
    string(APPEND overrides "# CPack adds these calls beside the trigger.\n${name}: maintscript-calls-ldconfig\n")
  endif()
  file(WRITE ${top}/share/lintian/overrides/${name} "${overrides}")
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(top ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  file(GLOB pages ${top}/share/man/man*/*.[1-9])
  foreach(page IN LISTS pages)
    compress(${page} ${page}.gz)
    file(REMOVE ${page})
  endforeach()
  add_documents(${CPACK_DEBIAN_${upper}_PACKAGE_NAME} ${top})
endforeach()
