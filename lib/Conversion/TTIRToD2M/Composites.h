//===- Composites.h - ops as expressions of others --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_COMPOSITES_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_COMPOSITES_H

#include "Expressions.h"
#include "Patterns.h"

#include <string>

namespace mlir::tt {

/// The values of an op's results in any element types, or none if `refusal` states the reason.
template <class OpT> using ResultsOf = SmallVector<Tensor> (*)(OpT op, Expressions &e, std::string &refusal);

/// The indices, after a check that each is a position in a dimension of `size` elements: otherwise the kernel fails
/// with an error that names the op.
Tensor checked(Tensor index, int64_t size, Operation *op);

/// The rows of a table [rows, width] at the indices [count], which are checked: [count, width].
Tensor rowsAt(Tensor table, Tensor index, Operation *op);

/// The results of an op are the values of expressions, in the results' types.
template <class OpT> class LowerComposite : public TilePattern<OpT> {
public:
  LowerComposite(const TileTypes &types, MLIRContext *context, ResultsOf<OpT> results)
      : TilePattern<OpT>(types, context), results(results) {}

  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor, ConversionPatternRewriter &rewriter) const override {
    Expressions expressions(rewriter, op.getLoc(), this->types);
    std::string refusal;
    SmallVector<Tensor> values = results(op, expressions, refusal);
    if (values.empty())
      return notifyMatchFailure(rewriter, op, refusal);
    SmallVector<Value> replacements;
    for (auto [value, result] : llvm::zip_equal(values, op->getResults())) {
      auto type = cast<RankedTensorType>(result.getType());
      replacements.push_back(value.as(type.getElementType()).reshape(type.getShape()).value);
    }
    rewriter.replaceOp(op, replacements);
    return success();
  }

private:
  ResultsOf<OpT> results;
};

template <class OpT> void addComposite(RewritePatternSet &patterns, const TileTypes &types, ResultsOf<OpT> results) {
  patterns.add<LowerComposite<OpT>>(types, patterns.getContext(), results);
}

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_COMPOSITES_H
