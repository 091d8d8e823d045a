# SPDX-License-Identifier: BSD-2-Clause
# Debian's cross compiler for 64-bit Windows; what it builds is tested under Wine (CONTRIBUTING.md).
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
find_program(CMAKE_CROSSCOMPILING_EMULATOR NAMES wine64 wine PATHS /usr/lib/wine)
# GCC may keep vectors of 32 bytes on a stack that Windows aligns to 16 (its bug 54412). Debian's has a patch against that;
# with this the assembler helps others.
set(CMAKE_C_FLAGS_INIT -Wa,-muse-unaligned-vector-move)
# Programs and libraries run on a Windows without MinGW.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -static)
# The host's Vulkan headers, without the others of their folder.
foreach(folder vulkan vk_video)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/headers)
  file(CREATE_LINK /usr/include/${folder} ${CMAKE_BINARY_DIR}/headers/${folder} SYMBOLIC)
endforeach()
set(Vulkan_INCLUDE_DIR ${CMAKE_BINARY_DIR}/headers CACHE PATH "Folder of vulkan/vulkan_core.h")
