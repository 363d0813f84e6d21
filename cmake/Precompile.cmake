# SPDX-License-Identifier: Apache-2.0
# Precompiled headers, made and used by CMake; -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without them.
#
# A precompiled header remembers where the files are that it read, and is refused when they are gone or newer: what
# ccache keeps of it must not serve another build folder. In its own folder it is taken from there, because it holds no
# times; all that is compiled with it is, too.

set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)

# Precompiles `header` for `target`, whose files include what they use as if it was not there.
function(ttmlir_precompile target header)
  target_precompile_headers(${target} PRIVATE "${header}")
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # The map changes nothing but that ccache sees the folder.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp"
                                             "-fmacro-prefix-map=${CMAKE_BINARY_DIR}=.")
  endif()
  # It remembers how large the files are as well, comments included. Without them ccache would know a header that differs
  # only there, and give the old one; a name of its own keeps it from those that earlier builds have left.
  if(CCACHE AND TTMLIR_ENV)
    set_property(TARGET ${target} PROPERTY CXX_COMPILER_LAUNCHER "${TTMLIR_ENV}" CCACHE_DEPEND=1
                                           CCACHE_NAMESPACE=precompiled ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endfunction()
