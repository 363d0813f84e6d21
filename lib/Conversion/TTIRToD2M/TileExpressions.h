//===- TileExpressions.h - expressions of ops that become tiles -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_TILEEXPRESSIONS_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_TILEEXPRESSIONS_H

#include "../Composites/Composites.h"
#include "Patterns.h"

namespace mlir::tt {

class TileExpressions : public Expressions {
public:
  TileExpressions(OpBuilder &builder, Location loc, const TileTypes &types) : Expressions(builder, loc), types(types) {}

  /// Adds a check of the indices: for one that is no position, the kernel fails with an error that names the op.
  Tensor checked(Tensor index, int64_t size, Operation *op, StringRef what) override;
  Tensor rowsAt(Tensor table, Tensor index, Operation *op) override;

  const TileTypes &types;
};

/// The types of the expressions of this conversion, all of which are of tiles.
inline const TileTypes &typesOf(const Expressions &e) { return static_cast<const TileExpressions &>(e).types; }

/// The results of an op are the values of expressions, in the results' types.
class LowerComposite : public ConversionPattern {
public:
  LowerComposite(const TileTypes &types, MLIRContext *context, StringRef name, Composite composite)
      : ConversionPattern(types, name, /*benefit=*/1, context), types(types), composite(std::move(composite)) {
    setHasBoundedRewriteRecursion(); // an op may become one of other shapes
  }

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value>, ConversionPatternRewriter &rewriter) const override {
    TileExpressions expressions(rewriter, op->getLoc(), types);
    std::string refusal;
    SmallVector<Value> values = expanded(op, composite, expressions, refusal);
    if (values.empty())
      return notifyMatchFailure(rewriter, op, refusal);
    rewriter.replaceOp(op, values);
    return success();
  }

private:
  const TileTypes &types;
  Composite composite;
};

inline void addComposites(RewritePatternSet &patterns, const TileTypes &types, const CompositeTable &table) {
  for (const auto &[name, composite] : table)
    patterns.add<LowerComposite>(types, patterns.getContext(), name, composite);
}

/// Adds those of one family, which need tiles.
void addCollectiveComposites(CompositeTable &table);
void addIndexingComposites(CompositeTable &table);
void addRandomComposites(CompositeTable &table);
void addRoutingComposites(CompositeTable &table);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_TILEEXPRESSIONS_H
