# SPDX-License-Identifier: Apache-2.0
# Compiles with jemalloc and through ccache where they are installed. Set `TTMLIR_CCACHE_ROOT`, the folder of the sources,
# before. A launcher that the user sets (CMAKE_CXX_COMPILER_LAUNCHER) is used instead of both.
#
# Paths below that folder are hashed as seen from the build folder, so that a clone elsewhere, or the build of a wheel,
# takes what another has compiled. Build folders are therefore siblings directly below the sources. Files keep relative
# names in messages of assertions and in debug information; a debugger started in the build folder finds them.
#
# CCACHE_DEPEND: the compiler says which headers it has read, so that what was not compiled before is not preprocessed
# first, which would take a cold build about a tenth of its time.

if(CMAKE_CXX_COMPILER_LAUNCHER)
  return()
endif()
find_program(CCACHE ccache)
find_program(TTMLIR_ENV env)
mark_as_advanced(CCACHE TTMLIR_ENV)

set(_launcher)
if(CMAKE_HOST_UNIX AND TTMLIR_ENV)
  # Of the time of a compiler that allocates with glibc, jemalloc saves 5 to 15 %. Not where something else is preloaded,
  # and only if the compiler starts with it without a word.
  find_library(TTMLIR_JEMALLOC NAMES libjemalloc.so.2)
  mark_as_advanced(TTMLIR_JEMALLOC)
  if(TTMLIR_JEMALLOC AND NOT DEFINED ENV{LD_PRELOAD})
    set(_jemalloc "LD_PRELOAD=${TTMLIR_JEMALLOC}" MALLOC_CONF=thp:always)
    execute_process(COMMAND "${TTMLIR_ENV}" ${_jemalloc} "${CMAKE_CXX_COMPILER}" --version
                    RESULT_VARIABLE _failed OUTPUT_QUIET ERROR_VARIABLE _complaint)
    if(NOT _failed AND _complaint STREQUAL "")
      set(_launcher ${_jemalloc})
    endif()
  endif()
  if(CCACHE)
    list(APPEND _launcher "CCACHE_BASEDIR=${TTMLIR_CCACHE_ROOT}" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
  endif()
endif()
if(_launcher)
  list(PREPEND _launcher "${TTMLIR_ENV}")
endif()
if(CCACHE)
  list(APPEND _launcher "${CCACHE}")
endif()
set(CMAKE_CXX_COMPILER_LAUNCHER ${_launcher})
set(CMAKE_C_COMPILER_LAUNCHER ${_launcher})
if(NOT CCACHE)
  return()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-ffile-compilation-dir=.)
else()
  add_compile_options("-fdebug-prefix-map=${CMAKE_BINARY_DIR}=.")
endif()
