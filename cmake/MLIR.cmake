# SPDX-License-Identifier: Apache-2.0
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

# MLIR_TABLEGEN_EXE names a target, which does not run while CMake does.
find_program(TTMLIR_MLIR_TBLGEN NAMES mlir-tblgen HINTS "${LLVM_TOOLS_BINARY_DIR}" REQUIRED NO_DEFAULT_PATH)

# What MLIR's own sources are compiled with; the runtime and the nanobind extensions keep exceptions and RTTI.
function(ttmlir_llvm_library target)
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
  target_link_libraries(${target} PRIVATE ttmlir_warnings)
endfunction()

# The ops of one dialect: a header for each class, one for all, and what defines them in PARTS files (tools/opgen/split.py).
# HEADER declares the dialect, its attributes and its types.
macro(ttmlir_tablegen_ops name dialect parts header)
  mlir_tablegen(${name}.all.h.inc -gen-op-decls -op-include-regex=^${dialect}\\.)
  mlir_tablegen(${name}.all.cpp.inc -gen-op-defs -op-include-regex=^${dialect}\\.)
  set(_path "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  set(_split "${Python_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/tools/opgen/split.py")
  set(_inputs "${_path}.all.h.inc" "${PROJECT_SOURCE_DIR}/tools/opgen/split.py"
              "${PROJECT_SOURCE_DIR}/tools/opgen/properties.py")
  # Ninja asks which headers there are: the build files are made anew when an op comes or goes.
  set(_includes ${MLIR_INCLUDE_DIRS})
  list(TRANSFORM _includes PREPEND -I)
  execute_process(
    COMMAND "${TTMLIR_MLIR_TBLGEN}" -gen-op-decls "-op-include-regex=^${dialect}\\." ${_includes}
            "${CMAKE_CURRENT_SOURCE_DIR}/${name}.td" -o "${_path}.all.h.inc" --write-if-changed
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${_split} --names "${_path}" ${parts} "${header}" COMMAND_ERROR_IS_FATAL ANY)
  add_custom_command(
    OUTPUT "${_path}.names"
    COMMAND ${_split} --names "${_path}" ${parts} "${header}"
    DEPENDS ${_inputs}
    COMMENT "Naming ${name}"
    VERBATIM)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_path}.names")
  file(STRINGS "${_path}.names" _outputs)
  list(TRANSFORM _outputs PREPEND "${CMAKE_CURRENT_BINARY_DIR}/Ops/")
  list(TRANSFORM _outputs APPEND ".h")
  list(APPEND _outputs "${_path}.h")
  math(EXPR _last "${parts} - 1")
  foreach(_part RANGE ${_last})
    list(APPEND _outputs "${_path}${_part}.cpp.inc")
  endforeach()
  add_custom_command(
    OUTPUT ${_outputs}
    COMMAND ${_split} "${_path}" ${parts} "${header}"
    DEPENDS ${_inputs} "${_path}.all.cpp.inc"
    COMMENT "Dividing ${name}"
    VERBATIM)
  list(APPEND TABLEGEN_OUTPUT ${_outputs})
endmacro()

# The hooks of properties of a dialect in one part become one table for each op (tools/opgen/properties.py).
macro(ttmlir_check_properties name)
  set(_path "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  set(_properties "${PROJECT_SOURCE_DIR}/tools/opgen/properties.py")
  add_custom_command(
    OUTPUT "${_path}.cpp.inc"
    COMMAND "${Python_EXECUTABLE}" -B "${_properties}" "${_path}.all.cpp.inc" "${_path}.cpp.inc"
    DEPENDS "${_path}.all.cpp.inc" "${_properties}"
    COMMENT "Checking properties of ${name}"
    VERBATIM)
  list(APPEND TABLEGEN_OUTPUT "${_path}.cpp.inc")
endmacro()

# Inlines less in files that are mostly generated code. Little of it is hot, and most of a file's time goes into inlining
# and what follows: 16.8 -> 14.6 s of CPU for TTIROpsPart0, 16 -> 11 for TTCoreAttrs. Not
# -O0: the ops of TTIR and TTNN compile in 45 % less time, but BERT is then lowered at a third of the speed (at half of
# it where those files come last to the linker).
function(ttmlir_cold)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS
                                "-fno-vectorize;-fno-slp-vectorize;-mllvm;-inline-threshold=40")
  endif()
endfunction()

# The files in which the generated code of a dialect's ops is compiled, a file for each part that ttmlir_tablegen_ops
# made. Each includes HEADERS.
#
#   ttmlir_ops_sources(result NAME PARTS count HEADERS header...)
function(ttmlir_ops_sources result name)
  cmake_parse_arguments(ARG "" "PARTS" "HEADERS" ${ARGN})
  set(NAME ${name})
  list(TRANSFORM ARG_HEADERS PREPEND "#include \"")
  list(TRANSFORM ARG_HEADERS APPEND "\"\n")
  list(JOIN ARG_HEADERS "" INCLUDES)
  math(EXPR _last "${ARG_PARTS} - 1")
  set(_files)
  foreach(PART RANGE ${_last})
    set(_file "${CMAKE_CURRENT_BINARY_DIR}/${name}OpsPart${PART}.cpp")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/OpsPart.cpp.in" "${_file}" @ONLY)
    list(APPEND _files "${_file}")
  endforeach()
  ttmlir_cold(${_files})
  set(${result} ${_files} PARENT_SCOPE)
endfunction()

# What TableGen makes of a dialect: its class and its ops, of NAMEOps.td, and, where they are given, enums, attributes
# and types, of the file named (without .td). PARTS divides the ops (ttmlir_tablegen_ops).
#
#   ttmlir_dialect(NAME dialect [PARTS count] [ENUMS file] [ATTRS file] [TYPES file])
macro(ttmlir_dialect name dialect)
  cmake_parse_arguments(_dialect "" "PARTS;ENUMS;ATTRS;TYPES" "" ${ARGN})
  set(LLVM_TARGET_DEFINITIONS ${name}Ops.td)
  mlir_tablegen(${name}OpsDialect.h.inc -gen-dialect-decls -dialect=${dialect})
  mlir_tablegen(${name}OpsDialect.cpp.inc -gen-dialect-defs -dialect=${dialect})
  if(_dialect_PARTS)
    ttmlir_tablegen_ops(${name}Ops ${dialect} ${_dialect_PARTS} ttmlir/Dialect/${name}/IR/${name}.h)
  else()
    mlir_tablegen(${name}Ops.h.inc -gen-op-decls)
    mlir_tablegen(${name}Ops.all.cpp.inc -gen-op-defs)
    ttmlir_check_properties(${name}Ops)
  endif()
  if(_dialect_ENUMS)
    set(LLVM_TARGET_DEFINITIONS ${_dialect_ENUMS}.td)
    mlir_tablegen(${name}Enums.h.inc -gen-enum-decls)
    mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs)
  endif()
  if(_dialect_ATTRS)
    set(LLVM_TARGET_DEFINITIONS ${_dialect_ATTRS}.td)
    mlir_tablegen(${name}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect})
    mlir_tablegen(${name}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect})
  endif()
  if(_dialect_TYPES)
    set(LLVM_TARGET_DEFINITIONS ${_dialect_TYPES}.td)
    mlir_tablegen(${name}Types.h.inc -gen-typedef-decls -typedefs-dialect=${dialect})
    mlir_tablegen(${name}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${dialect})
  endif()
  add_public_tablegen_target(MLIR${name}IncGen)
endmacro()
