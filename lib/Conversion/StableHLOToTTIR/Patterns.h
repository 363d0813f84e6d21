//===- Patterns.h - patterns that lower StableHLO to TTIR -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Ops that differ from their TTIR counterpart in names only are rows of a table (Elementwise.cpp); the others have
// patterns, by family.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_PATTERNS_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_PATTERNS_H

#include "../Conversion.h"

#include "ttmlir/Dialect/Chlo/IR/Chlo.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tt::hlo {

inline RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// An op that has no attributes.
template <class OpT> Value make(ImplicitLocOpBuilder &builder, Type type, ValueRange operands) {
  return OpT::create(builder, TypeRange(type), operands)->getResult(0);
}

/// Refuses a number that does not fit into the 32 bits of TTIR's attributes.
LogicalResult checkNarrow(ConversionPatternRewriter &rewriter, Operation *op, ArrayRef<int64_t> numbers);
/// Narrows numbers whose range was checked.
SmallVector<int32_t> narrow(ArrayRef<int64_t> numbers);

// Each returns the value itself if there is nothing to do. Sizes are checked.
Value reshape(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> shape);
Value permute(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> permutation);
/// Repeats dimensions of size 1; ranks are equal.
Value broadcast(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> shape);
/// Converts to another element type.
Value typecast(ImplicitLocOpBuilder &builder, Value value, Type element);

Value zeros(ImplicitLocOpBuilder &builder, RankedTensorType type);

/// Nonnegative floats with the signs of other ones, including those of -0; NaN if either is NaN.
Value withSign(ImplicitLocOpBuilder &builder, Value magnitude, Value sign);

/// The bits of floats as integers in their total order: -NaN, -inf, ..., -0, 0, ..., inf, NaN.
Value totalOrder(ImplicitLocOpBuilder &builder, Value value);

/// Returns the inverse of a permutation.
SmallVector<int64_t> inverse(ArrayRef<int64_t> permutation);

/// The single value of a constant tensor, or null if it has several values or is not constant.
Attribute splatValue(Value value);

/// The op of a region that only returns `op(partial, element)` of its two arguments, or null.
Operation *onlyOp(Region &region);

/// Returns how an op combines two elements: of i1, `and` is the smaller one, `or` the greater one.
std::optional<ttcore::ReduceType> reduceTypeOf(Operation *op);

/// Replaces an op with one result. Discardable attributes move to the replacement.
LogicalResult replace(ConversionPatternRewriter &rewriter, Operation *op, Value value);

void addArgReductionPatterns(RewritePatternSet &patterns);
void addCollectivePatterns(RewritePatternSet &patterns);
void addConvolutionPatterns(RewritePatternSet &patterns);
void addCustomCallPatterns(RewritePatternSet &patterns);
void addElementwisePatterns(RewritePatternSet &patterns);
void addFormulaPatterns(RewritePatternSet &patterns);
void addIndexingPatterns(RewritePatternSet &patterns);
void addMatmulPatterns(RewritePatternSet &patterns);
void addNormalizationPatterns(RewritePatternSet &patterns);
void addOrderingPatterns(RewritePatternSet &patterns);
void addShapePatterns(RewritePatternSet &patterns);
void addWindowPatterns(RewritePatternSet &patterns);

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_PATTERNS_H
