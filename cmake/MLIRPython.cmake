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
foreach(_dialect Arith:arith Builtin:builtin Func:func MemRef:memref Tensor:tensor)
  string(REPLACE ":" ";" _pair ${_dialect})
  list(GET _pair 0 _td)
  list(GET _pair 1 _name)
  set(_enums)
  if(_name STREQUAL arith)
    set(_enums GEN_ENUM_BINDINGS)
  endif()
  declare_mlir_dialect_python_bindings(
    ADD_TO_PARENT MLIRPythonSources.Dialects
    ROOT_DIR "${_sources}/python/mlir"
    TD_FILE dialects/${_td}Ops.td
    SOURCES dialects/${_name}.py
    DIALECT_NAME ${_name}
    ${_enums})
endforeach()
# Types only: they are in an extension.
declare_mlir_python_sources(MLIRPythonSources.Dialects.quant
  ADD_TO_PARENT MLIRPythonSources.Dialects
  ROOT_DIR "${_sources}/python/mlir"
  SOURCES dialects/quant.py)
declare_mlir_python_extension(MLIRPythonSources.Dialects.Quant.Extension
  MODULE_NAME _mlirDialectsQuant
  ADD_TO_PARENT MLIRPythonSources.Dialects.quant
  ROOT_DIR "${_bindings}"
  SOURCES DialectQuant.cpp
  PRIVATE_LINK_LIBS LLVMSupport
  EMBED_CAPI_LINK_LIBS MLIRCAPIIR MLIRCAPIQuant)

set(_changed "${CMAKE_CURRENT_BINARY_DIR}/mlir-python")

# Writes `text` to FILE unless it has it.
function(ttmlir_write_changed file text)
  set(before "")
  if(EXISTS "${file}")
    file(READ "${file}" before)
  endif()
  if(NOT before STREQUAL text)
    file(WRITE "${file}" "${text}")
  endif()
endfunction()

# Copies `file` to `name`, with each FROM, which it must have once, changed to TO. FROM and TO are names of variables.
function(ttmlir_change_binding file name) # FROM TO ...
  file(READ "${file}" text)
  while(ARGN)
    list(POP_FRONT ARGN from to)
    string(FIND "${text}" "${${from}}" first)
    string(FIND "${text}" "${${from}}" last REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL last)
      message(FATAL_ERROR "${file} is not that of MLIR 22.1: '${${from}}' is not there once")
    endif()
    string(REPLACE "${${from}}" "${${to}}" text "${text}")
  endwhile()
  ttmlir_write_changed("${_changed}/${name}" "${text}")
endfunction()

# In 22.1 an operation that is found inside of another one keeps neither that one nor the module: a module that nothing
# else refers to is freed under it. Ours keep the module that owns them.
set(_creates "  if (parentKeepAlive) {
    unownedOperation->parentKeepAlive = std::move(parentKeepAlive);
  }
")
set(_keeps "  if (!parentKeepAlive) {
    MlirOperation root = operation;
    for (MlirOperation parent = root; !mlirOperationIsNull(parent); parent = mlirOperationGetParentOperation(parent))
      root = parent;
    const auto &modules = unownedOperation->getContext()->liveModules;
    if (auto owner = modules.find(root.ptr); owner != modules.end())
      parentKeepAlive = nb::borrow<nb::object>(owner->second.first);
  }
${_creates}")
# Nor does it know that another one erases it: python/mlir/HeldOperations.h.
set(_include "#include \"mlir/Bindings/Python/IRCore.h\"\n")
set(_includes "${_include}#include \"HeldOperations.h\"\n")
set(_begins "    : BaseContextObject(std::move(contextRef)), operation(operation) {}")
set(_holds "    : BaseContextObject(std::move(contextRef)), operation(operation) {
  operationHeld(operation, *this);
}")
set(_ends "PyOperation::~PyOperation() {
")
set(_releases "${_ends}  operationReleased(operation, *this);
")
set(_destroys "  mlirOperationDestroy(operation);
}")
set(_destroys_all "  invalidate(operation);
${_destroys}")
set(_erases "  mlirSymbolTableErase(symbolTable, symbol.getOperation().get());
")
set(_erases_all "  invalidate(symbol.getOperation().get());
  mlirSymbolTableErase(symbolTable, symbol.getOperation().operation);
")
# An operation of a dialect that is not loaded yet would be an unregistered one.
set(_applies "  // Apply unpacked/validated to the operation state. Beyond this
")
set(_loads "  mlirContextGetOrLoadDialect(location.getContext()->get(), toMlirStringRef(name.substr(0, name.find('.'))));
${_applies}")
# So would its name: a pattern would match nothing, and it would implement no interface.
set(_registered "            return mlirContextIsRegisteredOperation(
")
set(_registered_loaded "            mlirContextGetOrLoadDialect(self.get(), {name.data(), std::min(name.find('.'), name.size())});
${_registered}")
set(_roots "    MlirRewritePattern pattern = mlirOpRewritePatternCreate(
")
set(_roots_loaded "    std::string_view root(rootName.data, rootName.length);
    mlirContextGetOrLoadDialect(ctx, {root.data(), std::min(root.find('.'), root.size())});
${_roots}")
set(_implements "      if (!mlirOperationImplementsInterfaceStatic(
")
set(_implements_loaded "      mlirContextGetOrLoadDialect(context.resolve().get(),
                                  {opName.data(), std::min(opName.find('.'), opName.size())});
${_implements}")
# Values, blocks and regions of such an operation are its parts; as keys of dictionaries they are what they were.
set(_header_changes "")
set(_core_changes "")
foreach(_part Value:value Block:block Region:region)
  string(REPLACE ":" ";" _part ${_part})
  list(GET _part 0 _class)
  list(GET _part 1 _member)
  set(_gets_${_member} "  Mlir${_class} get() { return ${_member}; }
")
  set(_checks_${_member} "  Mlir${_class} identity() const { return ${_member}; }
  Mlir${_class} get() {
    parentOperation->checkValid();
    return ${_member};
  }
")
  set(_equals_${_member} "          [](Py${_class} &self, Py${_class} &other) {
            return self.get().ptr == other.get().ptr;
")
  string(REPLACE "get()" "identity()" _same_${_member} "${_equals_${_member}}")
  list(APPEND _header_changes _gets_${_member} _checks_${_member})
  list(APPEND _core_changes _equals_${_member} _same_${_member})
  if(NOT _class STREQUAL Region)
    set(_hashes_${_member} "          [](Py${_class} &self) {
            return static_cast<size_t>(llvm::hash_value(self.get().ptr));
")
    string(REPLACE "get()" "identity()" _same_hash_${_member} "${_hashes_${_member}}")
    list(APPEND _core_changes _hashes_${_member} _same_hash_${_member})
  endif()
endforeach()
foreach(_class Value Region)
  set(_converts_${_class} "  operator Mlir${_class}() const { return")
  set(_converts_${_class}_checked "  operator Mlir${_class}() const {
    return const_cast<PyOperationRef &>(parentOperation)->checkValid(),")
  list(APPEND _header_changes _converts_${_class} _converts_${_class}_checked)
endforeach()
set(_header mlir/Bindings/Python/IRCore.h)
foreach(_mlir_include ${MLIR_INCLUDE_DIRS})
  if(EXISTS "${_mlir_include}/${_header}")
    ttmlir_change_binding("${_mlir_include}/${_header}" include/${_header} ${_header_changes})
    file(GLOB _others "${_mlir_include}/mlir/Bindings/Python/*.h") # which it includes as its neighbours
    list(REMOVE_ITEM _others "${_mlir_include}/${_header}")
    foreach(_other ${_others})
      get_filename_component(_other_name "${_other}" NAME)
      configure_file("${_other}" "${_changed}/include/mlir/Bindings/Python/${_other_name}" COPYONLY)
    endforeach()
    break()
  endif()
endforeach()
add_compile_options("-I${_changed}/include") # as a directory of includes, functions of MLIR take it for that of sources
ttmlir_change_binding("${_bindings}/IRCore.cpp" IRCore.cpp _creates _keeps _include _includes _begins _holds
  _ends _releases _destroys _destroys_all _erases _erases_all _applies _loads _registered _registered_loaded
  ${_core_changes})
set(_runs "            MlirLogicalResult status = mlirPassManagerRunOnOp(
")
set(_runs_inside "            ErasingInside erasing(op.getOperation().get());
${_runs}")
ttmlir_change_binding("${_bindings}/Pass.cpp" Pass.cpp _include _includes _runs _runs_inside)
set(_folds "         MlirLogicalResult status = mlirApplyPatternsAndFoldGreedily(
")
set(_folds_inside "         ErasingInside erasing(mlirModuleGetOperation(module.get()));
${_folds}")
set(_folds_op "            MlirLogicalResult status = mlirApplyPatternsAndFoldGreedilyWithOp(
")
set(_folds_op_inside "            ErasingInside erasing(op.getOperation().get());
${_folds_op}")
ttmlir_change_binding("${_bindings}/Rewrite.cpp" Rewrite.cpp _include _includes _folds _folds_inside
  _folds_op _folds_op_inside _roots _roots_loaded)
ttmlir_change_binding("${_bindings}/IRInterfaces.cpp" IRInterfaces.cpp _implements _implements_loaded)
foreach(_file Globals.cpp IRAffine.cpp IRAttributes.cpp IRTypes.cpp MainModule.cpp Pass.h Rewrite.h)
  configure_file("${_bindings}/${_file}" "${_changed}/${_file}" COPYONLY)
endforeach()
foreach(_file HeldOperations.cpp HeldOperations.h)
  configure_file("${PROJECT_SOURCE_DIR}/python/mlir/${_file}" "${_changed}/${_file}" COPYONLY)
endforeach()
declare_mlir_python_extension(MLIRPythonExtension.Core
  MODULE_NAME _mlir
  ADD_TO_PARENT MLIRPythonSources.Core
  ROOT_DIR "${_changed}"
  SOURCES MainModule.cpp IRAffine.cpp IRInterfaces.cpp Pass.cpp Rewrite.cpp
  PRIVATE_LINK_LIBS LLVMSupport)
declare_mlir_python_extension(MLIRPythonExtension.Support
  _PRIVATE_SUPPORT_LIB
  MODULE_NAME MLIRPythonSupport
  ADD_TO_PARENT MLIRPythonSources.Core
  ROOT_DIR "${_changed}"
  SOURCES Globals.cpp HeldOperations.cpp IRAttributes.cpp IRCore.cpp IRTypes.cpp)
