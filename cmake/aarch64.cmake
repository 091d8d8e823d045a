# SPDX-License-Identifier: BSD-2-Clause
# Debian's cross compiler for 64-bit ARM; what it builds is tested under qemu-user (CONTRIBUTING.md).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
