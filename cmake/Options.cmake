# SPDX-License-Identifier: Apache-2.0
# Compiler, warnings and output folders for all of our own code.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

# Assertions stay on: Debian's MLIR is built without ABI-breaking checks, so ours can have them.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -UNDEBUG")

set(TTMLIR_CCACHE_ROOT "${PROJECT_SOURCE_DIR}")
include(CompilerLauncher)

# Nothing is linked again because a shared library was: after a change of a pass, product takes 6.8 s instead of 12.3 s
# with an unchanged object, as the bindings of Python stay.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

find_program(LLD NAMES ld.lld-22 ld.lld)
if(LLD AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_link_options("--ld-path=${LLD}")
endif()

option(TTMLIR_WERROR "Treat warnings in our own code as errors" ON)
# Warnings are requested by target, so that nanobind's and MLIR's sources are not held to them.
add_library(ttmlir_warnings INTERFACE)
target_compile_options(ttmlir_warnings INTERFACE -Wall -Wextra -Wno-unused-parameter
  $<$<BOOL:${TTMLIR_WERROR}>:-Werror>)
