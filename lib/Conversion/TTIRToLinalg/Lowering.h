//===- Lowering.h - one op of TTIR on its way to linalg ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOLINALG_LOWERING_H
#define TTMLIR_LIB_CONVERSION_TTIRTOLINALG_LOWERING_H

#include "../Rules.h"

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tt::host {

/// Scalar code of one linalg body. Floats are f32, and integers i64, which holds the values of all integer types of the
/// chip.
class Scalars {
public:
  Scalars(OpBuilder &b, Location loc, bool isFloat) : b(b), loc(loc), isFloat(isFloat) {}

  Type type() const { return isFloat ? Type(b.getF32Type()) : Type(b.getI64Type()); }
  Value number(double value);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value equal(Value x, Value y);
  Value less(Value x, Value y);
  Value select(Value condition, Value x, Value y);
  Value isNaN(Value x);
  Value maximum(Value x, Value y);
  Value minimum(Value x, Value y);
  /// 0 or 1.
  Value truth(Value condition);
  Value isSet(Value x) { return invert(equal(x, number(0))); }
  Value invert(Value condition);
  /// An element of a tensor as such a scalar. `source`: its type in TTIR, which states its signedness.
  Value from(Value element, Type source);
  /// The scalar as an element of `target`: rounded, wrapped, or for a bool, whether it is not 0.
  Value to(Value scalar, Type target);

  OpBuilder &b;
  Location loc;
  const bool isFloat;
  /// Attributes of the op, if its row names some.
  double attributes[2] = {};
};

/// The element type in linalg, where integers are signless; null for a type that the host lacks.
Type hostElement(Type element);
RankedTensorType hostType(Type type);

/// A dimension counted from the first. A negative one counts from the end.
inline int64_t fromEnd(int64_t dim, int64_t rank) { return dim < 0 ? dim + rank : dim; }

/// One op being lowered.
class Lowering {
public:
  Lowering(Operation *op, ArrayRef<Value> operands, OpBuilder &builder)
      : op(op), operands(operands), b(op->getLoc(), builder) {}

  RankedTensorType type(unsigned operand) const { return cast<RankedTensorType>(op->getOperand(operand).getType()); }
  RankedTensorType result() const { return cast<RankedTensorType>(op->getResult(0).getType()); }
  LogicalResult refuse(const Twine &why) {
    reason = why.str();
    return failure();
  }
  LogicalResult give(Value value) {
    created = value;
    return success();
  }

  using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;
  Value empty(ArrayRef<int64_t> shape, Type element);
  Value filled(ArrayRef<int64_t> shape, Type element, double value);
  /// A linalg.generic over `ins` with one map each, and the result's map.
  Value generic(ValueRange ins, ArrayRef<AffineMap> maps, Value init, ArrayRef<utils::IteratorType> iterators,
                Body body);
  /// A result whose element at each position is the operand's element at the position that `map` computes.
  Value moved(Value input, ArrayRef<AffineExpr> map, ArrayRef<int64_t> shape);
  Value reshaped(Value input, ArrayRef<int64_t> shape);
  AffineExpr dim(unsigned index) { return b.getAffineDimExpr(index); }

  Operation *op;
  ArrayRef<Value> operands; // in linalg
  ImplicitLocOpBuilder b;
  Value created;
  std::string reason;
};

using Rules = LoweringRules<Lowering>;
void addElementwiseRules(Rules &rules);
void addIndexingRules(Rules &rules);
void addMovementRules(Rules &rules);
void addRandomRules(Rules &rules);
void addReductionRules(Rules &rules);
/// All rules, by op name.
const Rules &allRules();
/// Whether the host computes ops of this name, at least in some forms.
bool hasCode(StringRef name);
/// Returns why the host does not compute the op; empty if it does.
std::string refusalOf(Operation *op);
/// Replaces an op that has no rule by ops that have one, and returns the reason if that fails.
std::string expand(Operation *op);

} // namespace mlir::tt::host

#endif // TTMLIR_LIB_CONVERSION_TTIRTOLINALG_LOWERING_H
