//===- Lowering.h - one op on its way to TTIR -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TOTTIR_LOWERING_H
#define TTMLIR_LIB_CONVERSION_TOTTIR_LOWERING_H

#include "../Rules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tt {

/// Converts one op. Ops are visited in program order, so operands are already in TTIR.
class ToTTIR {
public:
  ToTTIR(Operation *op, RewriterBase &b) : op(op), b(b) {}

  LogicalResult refuse(const Twine &why) {
    reason = why.str();
    return failure();
  }
  Value operand(unsigned index) const { return op->getOperand(index); }
  RankedTensorType type(unsigned index) const { return cast<RankedTensorType>(operand(index).getType()); }
  RankedTensorType result() const { return cast<RankedTensorType>(op->getResult(0).getType()); }
  NamedAttribute named(StringRef name, Attribute value) { return b.getNamedAttr(name, value); }

  /// An op of TTIR, by its name after the dialect.
  Operation *make(StringRef name, TypeRange results, ValueRange operands, ArrayRef<NamedAttribute> attributes = {});
  Value makeOne(StringRef name, Type result, ValueRange operands, ArrayRef<NamedAttribute> attributes = {}) {
    return make(name, result, operands, attributes)->getResult(0);
  }
  /// Replaces the op by one of this name, with its result types.
  LogicalResult replaceBy(StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attributes = {});
  LogicalResult replaceBy(ValueRange values);

  Operation *op;
  RewriterBase &b;
  std::string reason;
};

using ToTTIRRules = LoweringRules<ToTTIR>;

/// Whether TTIR has an op of this name.
bool hasTTIROp(StringRef name, MLIRContext *context);
/// Lowers every op of `dialect` below `root` by `lower`, and reports the remaining ones. Ops in `dropped` are erased
/// once they are unused.
LogicalResult lowerAll(Operation *root, StringRef dialect, function_ref<LogicalResult(ToTTIR &)> lower,
                       function_ref<bool(Operation *)> dropped);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TOTTIR_LOWERING_H
