//===- Hoister.h - making functions of the host -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOLINALG_HOISTER_H
#define TTMLIR_LIB_CONVERSION_TTIRTOLINALG_HOISTER_H

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::tt::host {

/// Marks what calls functions of the host.
inline constexpr llvm::StringLiteral callName = "ttir.cpu_hoisted_call";
/// The type of the declaration, in the device's program, of a function of the host.
inline constexpr llvm::StringLiteral declarationType = "forward_cpu_declaration";

/// Returns the module of the device's programs: the device module, if there is one.
ModuleOp deviceModule(ModuleOp module);

/// The value with another element type: by a typecast that is not an op of the source, unless `loc` states otherwise.
Value castTo(OpBuilder &builder, Location loc, Value value, Type type);

/// Creates functions of the host, and their calls.
class Hoister {
public:
  explicit Hoister(ModuleOp root) : root(root), device(deviceModule(root)), symbols(device), builder(root) {}

  /// A function of the host named `name`, with a suffix if that is taken, and its declaration for the device. The two
  /// types may differ in the signedness of integers.
  func::FuncOp create(Location loc, const Twine &name, FunctionType declared, FunctionType own);
  func::FuncOp create(Location loc, const Twine &name, FunctionType type) { return create(loc, name, type, type); }
  /// Removes the function that was created last.
  void erase(func::FuncOp function);

  /// A call of a function by its declaration on the device.
  static func::CallOp call(OpBuilder &builder, Location loc, func::FuncOp function, TypeRange results,
                           ValueRange operands);

private:
  ModuleOp host();

  ModuleOp root, device;
  SymbolTable symbols;
  OpBuilder builder;
};

} // namespace mlir::tt::host

#endif // TTMLIR_LIB_CONVERSION_TTIRTOLINALG_HOISTER_H
