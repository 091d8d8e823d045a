# SPDX-License-Identifier: BSD-2-Clause
# Read by cpack before it makes packages.
if(CPACK_GENERATOR STREQUAL "DEB")
  # The prefix decided where libraries lie and where the command looks for them.
  if(NOT CPACK_GPUME_PREFIX STREQUAL "/usr")
    message(FATAL_ERROR "This build is for ${CPACK_GPUME_PREFIX}; for Debian packages, configure one with "
      "-DCMAKE_INSTALL_PREFIX=/usr")
  endif()
  # Without it, CPack makes packages that depend on nothing.
  find_program(shlibdeps dpkg-shlibdeps)
  if(NOT shlibdeps)
    message(FATAL_ERROR "dpkg-shlibdeps is not here; install the package dpkg-dev")
  endif()
  # Each package has its own summary, as the first line of its description.
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
endif()
