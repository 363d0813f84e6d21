//===- Region.h - ops of the host as one function ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOLINALG_REGION_H
#define TTMLIR_LIB_CONVERSION_TTIRTOLINALG_REGION_H

#include "Hoister.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::tt::host {

/// Returns whether an op makes a value without operands: it is cloned where the value is read.
bool isFree(Operation *op);

/// Ops of one block, in order, that become a function and a call of it after the last of them.
///
/// Operands and results are tensors of types that the chip holds: the function converts integers of other widths, f64
/// and index, and passes scalars as tensors of rank 0.
class HostRegion {
public:
  /// known: functions, by their text. held: the tensors of the program that represent values of earlier regions; those
  /// of this one are added. isForHost: which other ops of the block need nothing else.
  HostRegion(ArrayRef<Operation *> ops, Hoister &hoister, llvm::StringMap<func::FuncOp> &known,
             DenseMap<Value, Value> &held, function_ref<bool(Operation *)> isForHost)
      : ops(ops), own(ops.begin(), ops.end()), hoister(hoister), known(known), held(held), isForHost(isForHost),
        builder(ops.back()->getContext()) {}

  LogicalResult outline();

private:
  LogicalResult findValues();
  func::FuncOp makeFunction(TypeRange declaredIns, TypeRange declaredOuts);
  Value enter(Value argument, Type target);
  Value leave(Value value, Type given);

  ArrayRef<Operation *> ops;
  DenseSet<Operation *> own; // the same
  Hoister &hoister;
  llvm::StringMap<func::FuncOp> &known;
  DenseMap<Value, Value> &held;
  function_ref<bool(Operation *)> isForHost;
  OpBuilder builder;
  SmallVector<Operation *> constants; // that are cloned inside
  SmallVector<Value> ins, outs;
};

} // namespace mlir::tt::host

#endif // TTMLIR_LIB_CONVERSION_TTIRTOLINALG_REGION_H
