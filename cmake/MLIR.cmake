# Finds Debian's MLIR and sets up its CMake functions.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
# LLVM is linked statically, so that what we build runs where LLVM is not installed.
set(LLVM_LINK_LLVM_DYLIB OFF)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories("${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include")
link_directories(${LLVM_BUILD_LIBRARY_DIR})
add_definitions(${LLVM_DEFINITIONS})

# mlir-tblgen resolves `include "ttmlir/..."` in our own tree.
list(APPEND MLIR_INCLUDE_DIRS "${PROJECT_SOURCE_DIR}/include")

# What MLIR's own sources are compiled with; the runtime and the nanobind extensions keep exceptions and RTTI.
function(ttmlir_llvm_library target)
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
  target_link_libraries(${target} PRIVATE ttmlir_warnings)
endfunction()

# The ops of one dialect: NAME.h.inc, and what defines them in PARTS files, NAME<part>.cpp.inc.
macro(ttmlir_tablegen_ops name dialect parts)
  mlir_tablegen(${name}.all.h.inc -gen-op-decls -op-include-regex=^${dialect}\\. -op-shard-count=${parts})
  mlir_tablegen(${name}.all.cpp.inc -gen-op-defs -op-include-regex=^${dialect}\\. -op-shard-count=${parts})
  set(_path "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  set(_outputs "${_path}.h.inc")
  math(EXPR _last "${parts} - 1")
  foreach(_part RANGE ${_last})
    list(APPEND _outputs "${_path}${_part}.cpp.inc")
  endforeach()
  add_custom_command(
    OUTPUT ${_outputs}
    COMMAND ${CMAKE_COMMAND} "-DNAME=${_path}" -DPARTS=${parts} -P "${PROJECT_SOURCE_DIR}/cmake/SplitOps.cmake"
    DEPENDS "${_path}.all.h.inc" "${_path}.all.cpp.inc" "${PROJECT_SOURCE_DIR}/cmake/SplitOps.cmake"
    COMMENT "Dividing ${name}"
    VERBATIM)
  list(APPEND TABLEGEN_OUTPUT ${_outputs})
endmacro()
