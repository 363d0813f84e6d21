# SPDX-License-Identifier: Apache-2.0
# Describes every op once, from ODS and tools/opgen/functions.py, for compiler, runtime and Python: tools/opgen/__main__.py
# tells which files it writes. Needs llvm-tblgen, MLIR's .td files and Python, none of MLIR's libraries.
include_guard(GLOBAL)

get_filename_component(TTMLIR_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(TTMLIR_OP_DESCRIPTION_DIR "${CMAKE_BINARY_DIR}/include")
set(TTMLIR_OP_DESCRIPTION "${TTMLIR_OP_DESCRIPTION_DIR}/ops.json")

find_program(TTMLIR_LLVM_TBLGEN NAMES llvm-tblgen-22 llvm-tblgen HINTS /usr/lib/llvm-22/bin REQUIRED)
find_path(TTMLIR_MLIR_TD_DIR mlir/IR/OpBase.td HINTS /usr/lib/llvm-22/include REQUIRED)
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)

set(_records "${CMAKE_BINARY_DIR}/op-records.json")
file(GLOB _opgen CONFIGURE_DEPENDS "${TTMLIR_ROOT}/tools/opgen/*.py")
set(_all "${TTMLIR_ROOT}/include/ttmlir/Dialect/AllOps.td")
add_custom_command(
  OUTPUT "${_records}"
  COMMAND "${TTMLIR_LLVM_TBLGEN}" --dump-json -I "${TTMLIR_ROOT}/include" -I "${TTMLIR_MLIR_TD_DIR}" "${_all}"
          -o "${_records}" -d "${_records}.d"
  DEPENDS "${_all}"
  DEPFILE "${_records}.d"
  COMMENT "Reading the ops of all dialects"
  VERBATIM)
set(TTMLIR_OP_DESCRIPTION_FILES
    "${TTMLIR_OP_DESCRIPTION}" "${TTMLIR_OP_DESCRIPTION_DIR}/ttmlir/Target/TTNN/Api.inc"
    "${TTMLIR_OP_DESCRIPTION_DIR}/ttmlir/Target/TTNN/AttributeVisitor.inc")
# Files that stay as they are do not become newer: what reads them is not built again.
add_custom_command(
  OUTPUT ${TTMLIR_OP_DESCRIPTION_FILES}
  COMMAND "${Python_EXECUTABLE}" -B "${TTMLIR_ROOT}/tools/opgen" "${_records}" "${TTMLIR_OP_DESCRIPTION_DIR}"
  DEPENDS "${_records}" ${_opgen}
  COMMENT "Describing the ops of all dialects"
  VERBATIM)
add_custom_target(ttmlir-op-description ALL DEPENDS ${TTMLIR_OP_DESCRIPTION_FILES})
