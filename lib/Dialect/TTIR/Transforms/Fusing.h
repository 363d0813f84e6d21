//===- Fusing.h - fusion of TTIR ops ----------------------------*- C++ -*-===//
//
// A fusion looks at the last op of a group and replaces the group by one op, which has the place and location of that
// last op: its value is the one that is compared with a golden.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_FUSING_H
#define TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_FUSING_H

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {

/// What fusions ask about values and make ops with.
class Fuser {
public:
  Fuser(Operation *module, const TTIRFusingOptions &options)
      : options(options), builder(module->getContext()), observed(module) {}

  const TTIRFusingOptions &options;

  /// The op that makes `value` if nobody else wants it, so that a fusion may drop it; else null.
  template <class Op> Op only(Value value) const {
    auto op = value.getDefiningOp<Op>();
    return op && value.hasOneUse() && !observed.contains(op) ? op : Op();
  }
  /// The op that makes `value` if a fusion may read past it; it stays where others use it.
  template <class Op> Op passed(Value value) const {
    auto op = value.getDefiningOp<Op>();
    return op && !observed.contains(op) ? op : Op();
  }
  bool isConstant(Value value) { return constants.isConstant(value); }
  /// The one value of a constant tensor that holds nothing else.
  static std::optional<double> splat(Value value);

  /// Makes an op that computes something on the way to the op that replaces `root`.
  Value make(Operation *root, StringRef name, ValueRange operands, Type type, ArrayRef<NamedAttribute> attrs = {});
  Value reshape(Operation *root, Value value, ArrayRef<int64_t> shape);
  NamedAttribute attr(StringRef name, Attribute value) { return builder.getNamedAttr(name, value); }
  /// Replaces the op, and erases what only it used.
  LogicalResult replace(Operation *root, StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attrs);
  /// The operand becomes another; the op that made it is erased if nothing else used it.
  void redirect(OpOperand &operand, Value value);

  Builder &attributes() { return builder; }

private:
  Operation *create(Location loc, StringRef name, ValueRange operands, TypeRange types, ArrayRef<NamedAttribute> attrs);
  void eraseUnused(ArrayRef<Value> values);

  OpBuilder builder;
  ttcore::ObservedSources observed;
  ttcore::ConstantAnalysis constants;
};

/// Tries to fuse the group that ends with `root`; then `root` is gone.
using Fusion = LogicalResult (*)(Operation *root, Fuser &fuser);
using Fusions = llvm::StringMap<SmallVector<Fusion, 2>>;

void addActivationFusions(Fusions &fusions);
void addMatmulFusions(Fusions &fusions);
void addConvolutionFusions(Fusions &fusions);

inline RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }
/// Shape, element type and encoding are those of the other.
inline bool haveSameType(Value lhs, Value rhs) { return lhs.getType() == rhs.getType(); }

} // namespace mlir::tt::ttir

#endif // TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_FUSING_H
