# SPDX-License-Identifier: Apache-2.0
# Declares the core of MLIR's Python bindings from Debian's sources, which its MLIR packages leave out.

set(TTMLIR_MLIR_PYTHON_SOURCES "" CACHE PATH "mlir/ folder of LLVM's sources; empty: fetched from Debian's archive")
if(NOT TTMLIR_MLIR_PYTHON_SOURCES)
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/scripts/fetch-mlir-python.sh"
    OUTPUT_VARIABLE _sources OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE _failed)
  if(_failed)
    message(FATAL_ERROR "scripts/fetch-mlir-python.sh failed; set TTMLIR_MLIR_PYTHON_SOURCES to LLVM's mlir/ folder")
  endif()
else()
  set(_sources "${TTMLIR_MLIR_PYTHON_SOURCES}")
endif()
set(_bindings "${_sources}/lib/Bindings/Python")

set(MLIR_PYTHON_PACKAGE_PREFIX ttmlir)
set(MLIR_BINDINGS_PYTHON_NB_DOMAIN ttmlir)
set(LLVM_COMPILER_IS_GCC_COMPATIBLE ON)
include(MLIRDetectPythonEnv)
mlir_configure_python_dev_packages()
include(AddMLIRPython)
add_compile_definitions("MLIR_PYTHON_PACKAGE_PREFIX=${MLIR_PYTHON_PACKAGE_PREFIX}.")

declare_mlir_python_sources(MLIRPythonSources.Core)
declare_mlir_python_sources(MLIRPythonSources.Core.Python
  ROOT_DIR "${_sources}/python/mlir"
  ADD_TO_PARENT MLIRPythonSources.Core
  SOURCES
    _mlir_libs/__init__.py
    ir.py
    passmanager.py
    rewrite.py
    dialects/_ods_common.py
    extras/types.py
    extras/meta.py)

# The dialects of MLIR that users of ours meet.
declare_mlir_python_sources(MLIRPythonSources.Dialects)
foreach(_dialect Builtin:builtin Func:func)
  string(REPLACE ":" ";" _pair ${_dialect})
  list(GET _pair 0 _td)
  list(GET _pair 1 _name)
  declare_mlir_dialect_python_bindings(
    ADD_TO_PARENT MLIRPythonSources.Dialects
    ROOT_DIR "${_sources}/python/mlir"
    TD_FILE dialects/${_td}Ops.td
    SOURCES dialects/${_name}.py
    DIALECT_NAME ${_name})
endforeach()

declare_mlir_python_extension(MLIRPythonExtension.Core
  MODULE_NAME _mlir
  ADD_TO_PARENT MLIRPythonSources.Core
  ROOT_DIR "${_bindings}"
  SOURCES MainModule.cpp IRAffine.cpp IRInterfaces.cpp Pass.cpp Rewrite.cpp
  PRIVATE_LINK_LIBS LLVMSupport)
# In 22.1 an operation that is found inside of another one keeps neither that one nor the module: a module that nothing
# else refers to is freed under it. Ours keep the module that owns them.
file(READ "${_bindings}/IRCore.cpp" _core)
set(_creates "  if (parentKeepAlive) {
    unownedOperation->parentKeepAlive = std::move(parentKeepAlive);
  }
")
string(FIND "${_core}" "${_creates}" _place)
if(_place EQUAL -1)
  message(FATAL_ERROR "${_bindings}/IRCore.cpp: PyOperation::createInstance is not that of MLIR 22.1")
endif()
string(REPLACE "${_creates}" "  if (!parentKeepAlive) {
    MlirOperation root = operation;
    for (MlirOperation parent = root; !mlirOperationIsNull(parent); parent = mlirOperationGetParentOperation(parent))
      root = parent;
    const auto &modules = unownedOperation->getContext()->liveModules;
    if (auto owner = modules.find(root.ptr); owner != modules.end())
      parentKeepAlive = nb::borrow<nb::object>(owner->second.first);
  }
${_creates}" _core "${_core}")
set(_support "${CMAKE_CURRENT_BINARY_DIR}/mlir-python")
set(_before "")
if(EXISTS "${_support}/IRCore.cpp")
  file(READ "${_support}/IRCore.cpp" _before)
endif()
if(NOT _before STREQUAL _core)
  file(WRITE "${_support}/IRCore.cpp" "${_core}")
endif()
foreach(_file Globals IRAttributes IRTypes)
  configure_file("${_bindings}/${_file}.cpp" "${_support}/${_file}.cpp" COPYONLY)
endforeach()
declare_mlir_python_extension(MLIRPythonExtension.Support
  _PRIVATE_SUPPORT_LIB
  MODULE_NAME MLIRPythonSupport
  ADD_TO_PARENT MLIRPythonSources.Core
  ROOT_DIR "${_support}"
  SOURCES Globals.cpp IRAttributes.cpp IRCore.cpp IRTypes.cpp)
