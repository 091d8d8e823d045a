# SPDX-License-Identifier: BSD-2-Clause
# Packages of what is installed: `cpack -G DEB` in the build folder. A component is a package: the command, the library, what
# programs are built with that use it, and with GPUME_PYTHON the Python package.
set(CPACK_PACKAGE_VENDOR "the gpume authors")
set(CPACK_PACKAGE_CONTACT "gpume authors <gpume@gpume.invalid>" CACHE STRING "Name and address of who makes packages")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development)
if(GPUME_TOOL)
  list(APPEND CPACK_COMPONENTS_ALL command)
endif()
if(GPUME_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()

set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/debian/check.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/documents.cmake)
set(CPACK_GPUME_SOURCE ${PROJECT_SOURCE_DIR}) # these two are for them
set(CPACK_GPUME_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# No installed package has the library: it is found where it was built.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
# All packages are of one build.
set(same_library "libgpume0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME gpume)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION video)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS ${same_library})
if(GPUME_LIBAVFILTER_MAJOR) # loaded when it is needed, so dpkg-shlibdeps does not find it
  string(APPEND CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS
    ", libavfilter${GPUME_LIBAVFILTER_MAJOR} | libavfilter-extra${GPUME_LIBAVFILTER_MAJOR}")
endif()
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "exact block motion estimation on the GPU
gpume measures the motion in a video. For every block of every frame it finds
the best match in another frame by trying every displacement within a window,
on the GPU through Vulkan or on the CPU. It writes the vectors with their
costs, and on request predicted frames, residuals, overlays and a report.
Every device and every number of threads gives the same bytes.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libgpume0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "exact block motion estimation on the GPU (library)
libgpume takes frames and returns motion vectors, which it finds by full
search on the GPU through Vulkan or on the CPU. It also sorts and reduces
arrays there. It reads no video files.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgpume-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${same_library}, libvulkan-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS libavutil-dev)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "exact block motion estimation on the GPU (headers)
Headers, pkg-config and CMake files for programs that use libgpume. The
headers are the library's manual.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-gpume)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${same_library}, python3, python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS gpume)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "exact block motion estimation on the GPU (Python)
The Python package gpume calls libgpume and returns motion vectors and their
costs as NumPy arrays. It reads videos with the command gpume.")
include(CPack)
