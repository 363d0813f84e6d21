//===- Lowering.h - lowering rules of TTIR ops ------------------*- C++ -*-===//
//
// A rule lowers the ops of one name. Most ops have none: they become the TTNN
// op of their name. Ops that differ in names only have a row (Rows.cpp), and
// the irregular rest a function over Lowering.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOTTNN_LOWERING_H
#define TTMLIR_LIB_CONVERSION_TTIRTOTTNN_LOWERING_H

#include "../Rules.h"

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::tt::ttnn {

/// One op being lowered: what new ops are made with, at its place and location.
class Lowering {
public:
  Lowering(Operation *op, RewriterBase &rewriter) : op(op), rewriter(rewriter) { rewriter.setInsertionPoint(op); }

  Operation *const op;

  MLIRContext *context() const { return op->getContext(); }
  Builder &attributes() { return rewriter; }
  RankedTensorType resultType(unsigned index = 0) const;
  ArrayRef<int64_t> shapeOf(Value value) const;

  /// `name` without its "ttnn." prefix.
  Value make(StringRef name, ValueRange operands, Type type, ArrayRef<NamedAttribute> attrs = {});
  ResultRange makeAll(StringRef name, ValueRange operands, TypeRange types, ArrayRef<NamedAttribute> attrs = {});
  NamedAttribute attr(StringRef name, Attribute value) { return rewriter.getNamedAttr(name, value); }

  /// A type of another shape, or data type, that lies where `like` lies.
  RankedTensorType typeLike(Value like, ArrayRef<int64_t> shape) const;
  RankedTensorType typeLike(Value like, ArrayRef<int64_t> shape, ttcore::DataType dataType) const;

  /// The value itself where there is nothing to do.
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value reshape(Value value, RankedTensorType type);
  Value permute(Value value, ArrayRef<int64_t> permutation);
  /// Elements begin, begin + step, ... before `end` of one dimension.
  Value slice(Value value, RankedTensorType type, int64_t dim, int64_t begin, int64_t end, int64_t step = 1);
  /// A tensor of one f32 value and rank `rank`, to be broadcast.
  Value scalar(double value, unsigned rank, Value like);
  /// The device of the function, or null after an error.
  Value device();

  /// Replaces the op; nothing is made after this.
  LogicalResult replace(ValueRange values);
  LogicalResult replaceBy(StringRef fullName, ValueRange operands, ArrayRef<NamedAttribute> attrs);
  /// The op stays; the conversion reports the reason.
  LogicalResult refuse(const Twine &why);
  /// Lowers to the op of the same name.
  LogicalResult lowerByName();

  const std::string &reason() const { return why; }

private:
  RewriterBase &rewriter;
  std::string why;
};

using Rule = LoweringRule<Lowering>;
using Rules = LoweringRules<Lowering>;

/// Lowers to ttnn.`name`, each attribute under its own name; refuses
/// attributes that the TTNN op does not have.
LogicalResult lowerTo(Lowering &lowering, StringRef name, ArrayRef<NamedAttribute> attrs, bool onDevice = false);

void addRows(Rules &rules);
void addDecompositionRules(Rules &rules);
void addElementwiseRules(Rules &rules);
void addMeshRules(Rules &rules);
void addNormalizationRules(Rules &rules);
void addShapeRules(Rules &rules);
void addWindowRules(Rules &rules);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_CONVERSION_TTIRTOTTNN_LOWERING_H
