//===- D2M.h - the D2M dialect ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_D2M_IR_D2M_H
#define TTMLIR_DIALECT_D2M_IR_D2M_H

#include "ttmlir/Dialect/Families/Rows.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ttmlir/Dialect/D2M/IR/D2MEnums.h.inc"
#include "ttmlir/Dialect/D2M/IR/D2MOpsDialect.h.inc"

namespace mlir::tt::d2m {

/// Whether a memref lies in one of some memories.
bool liesIn(Type type, ArrayRef<ttcore::MemorySpace> spaces);

namespace detail {
/// Fails if the op is in the program of a thread of another type than `type`. Every op is allowed outside of a generic,
/// and inside of one whose threads are unified.
LogicalResult verifyThread(Operation *op, ThreadType type);
} // namespace detail

template <class Op> class ComputeThreadOp : public OpTrait::TraitBase<Op, ComputeThreadOp> {
public:
  static LogicalResult verifyTrait(Operation *op) { return detail::verifyThread(op, ThreadType::Compute); }
};
template <class Op> class DatamovementThreadOp : public OpTrait::TraitBase<Op, DatamovementThreadOp> {
public:
  static LogicalResult verifyTrait(Operation *op) { return detail::verifyThread(op, ThreadType::Datamovement); }
};
template <class Op> class SkipEltwiseFusion : public OpTrait::TraitBase<Op, SkipEltwiseFusion> {};
template <class Op> class OnMatrixUnit : public OpTrait::TraitBase<Op, OnMatrixUnit> {};

} // namespace mlir::tt::d2m

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/D2M/IR/D2MAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/D2M/IR/D2MTypes.h.inc"

namespace mlir::tt::d2m {
/// Registers all ops of the dialect (tools/opgen/split.py).
void registerD2MOps(Dialect &dialect);
} // namespace mlir::tt::d2m

#include "ttmlir/Dialect/D2M/IR/D2MOps.h"

#endif // TTMLIR_DIALECT_D2M_IR_D2M_H
