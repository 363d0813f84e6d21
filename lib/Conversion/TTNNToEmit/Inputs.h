//===- Inputs.h - functions that make the inputs of programs ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTNNTOEMIT_INPUTS_H
#define TTMLIR_LIB_CONVERSION_TTNNTOEMIT_INPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::tt::emit {

/// Marks functions that create the inputs of a program, with its name.
inline constexpr llvm::StringLiteral inputsOfAttr = "ttnn.inputs_of";

/// Records the shape of the mesh on a module.
inline constexpr llvm::StringLiteral meshShapeAttr = "ttcore.device_mesh_shape";
/// Rows and columns of the mesh of a module: its device's, else the recorded one, else one device.
SmallVector<int64_t> meshOf(ModuleOp module);
/// Returns the name of an argument in a program.
std::string argumentName(func::FuncOp function, BlockArgument argument);
/// The functions that are marked as entry points, or all public ones if none is marked; without those that create
/// inputs.
SmallVector<func::FuncOp> programsOf(ModuleOp module);
/// Inputs are tensors with layouts.
LogicalResult checkArguments(func::FuncOp program);

/// The input of number n is read from `<directory>/<prefix>n.tensorbin`.
struct InputFiles {
  std::string directory, prefix;
};

class InputBuilder {
public:
  /// Without files, inputs are generated.
  InputBuilder(ModuleOp module, std::optional<InputFiles> files)
      : module(module), builder(module.getContext()), mesh(meshOf(module)), files(std::move(files)) {}

  /// The function of TTNN ops that creates the inputs of a program, whose arguments are checked: the one in the module,
  /// else a new one after the program.
  func::FuncOp functionOf(func::FuncOp program);

private:
  func::FuncOp create(func::FuncOp program);
  Value createInput(func::FuncOp program, BlockArgument argument, unsigned number, function_ref<Value()> meshDevice);

  ModuleOp module;
  OpBuilder builder;
  SmallVector<int64_t> mesh;
  std::optional<InputFiles> files;
};

} // namespace mlir::tt::emit

#endif // TTMLIR_LIB_CONVERSION_TTNNTOEMIT_INPUTS_H
