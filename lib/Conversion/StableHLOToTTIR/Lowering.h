//===- Lowering.h - lowering rules of StableHLO ops -------------*- C++ -*-===//
//
// A rule lowers the ops of one name. Ops that differ from their TTIR
// counterpart in names only have a row, the others a function over OpLowering.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_LOWERING_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_LOWERING_H

#include "../Rules.h"

#include "ttmlir/Dialect/StableHLO/IR/StableHLO.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::tt {

/// One op being lowered: what new ops are made with, at its place and location.
class OpLowering {
public:
  OpLowering(Operation *op, RewriterBase &rewriter) : op(op), rewriter(rewriter) { rewriter.setInsertionPoint(op); }

  Operation *const op;

  Builder &attributes() { return rewriter; }
  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  RankedTensorType resultType() const { return typeOf(op->getResult(0)); }

  template <typename OpT, typename... Args> Value make(Type type, Args &&...args) {
    return OpT::create(rewriter, op->getLoc(), type, std::forward<Args>(args)...)->getResult(0);
  }
  /// A TTIR op by name, with attributes by name.
  Value makeNamed(StringRef name, Type type, ValueRange operands, ArrayRef<NamedAttribute> attrs = {});
  NamedAttribute attr(StringRef name, Attribute value) { return rewriter.getNamedAttr(name, value); }

  /// The value itself where there is nothing to do.
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value permute(Value value, ArrayRef<int64_t> permutation);
  /// Repeats dimensions of size 1; ranks are equal.
  Value broadcast(Value value, ArrayRef<int64_t> shape);
  Value zeros(RankedTensorType type);
  /// Values in another element type.
  Value typecast(Value value, Type element);

  /// Replaces the op; nothing is made after this. Attributes that are not the op's own go to what takes its place.
  LogicalResult replace(Value value);
  /// The op stays; the conversion reports the reason.
  LogicalResult refuse(const Twine &reason);

  const std::string &reason() const { return why; }

  /// Numbers as TTIR's attributes have them. One that 32 bits do not hold is refused, whatever the rule says
  /// afterwards.
  SmallVector<int32_t> narrow(ArrayRef<int64_t> numbers);

private:
  RewriterBase &rewriter;
  std::string why, tooWide;
};

using Rule = LoweringRule<OpLowering>;
using Rules = LoweringRules<OpLowering>;

/// A rule for the ops of one class.
template <typename OpT> std::pair<StringRef, Rule> rule(LogicalResult (*lower)(OpLowering &, OpT)) {
  return {OpT::getOperationName(), [lower](OpLowering &lowering) { return lower(lowering, cast<OpT>(lowering.op)); }};
}

/// The same operands in the same order.
template <typename From, typename To> std::pair<StringRef, Rule> row() {
  return {From::getOperationName(),
          Rule(
              [](OpLowering &lowering) {
                return lowering.replace(
                    lowering.makeNamed(To::getOperationName(), lowering.resultType(), lowering.op->getOperands()));
              },
              To::getOperationName().str())};
}

/// The one value of a constant tensor, or null if it has several or is not constant.
Attribute splatValue(Value value);

void addElementwiseRules(Rules &rules);
void addMatmulRules(Rules &rules);
void addShapeRules(Rules &rules);
void addWindowRules(Rules &rules);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_LOWERING_H
