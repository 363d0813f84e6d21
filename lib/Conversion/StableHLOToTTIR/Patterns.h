//===- Patterns.h - patterns that lower StableHLO to TTIR -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Ops that differ from their TTIR counterpart in names only are rows of a
// table (Elementwise.cpp), the others patterns, by family.
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

/// Refuses a number that TTIR's attributes, which have 32 bits, do not hold.
LogicalResult checkNarrow(ConversionPatternRewriter &rewriter, Operation *op, ArrayRef<int64_t> numbers);
/// Narrows numbers whose range was checked.
SmallVector<int32_t> narrow(ArrayRef<int64_t> numbers);

// Each returns the value itself where there is nothing to do. Sizes are checked.
Value reshape(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> shape);
Value permute(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> permutation);
/// Repeats dimensions of size 1; ranks are equal.
Value broadcast(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> shape);
/// Values in another element type.
Value typecast(ImplicitLocOpBuilder &builder, Value value, Type element);

Value zeros(ImplicitLocOpBuilder &builder, RankedTensorType type);

/// Floats from 0 on with the signs of other ones, those of -0 included; NaN where either is.
Value withSign(ImplicitLocOpBuilder &builder, Value magnitude, Value sign);

/// The bits of floats as integers in their total order: -NaN, -inf, ..., -0, 0, ..., inf, NaN.
Value totalOrder(ImplicitLocOpBuilder &builder, Value value);

/// Returns the inverse of a permutation.
SmallVector<int64_t> inverse(ArrayRef<int64_t> permutation);

/// The one value of a constant tensor, or null if it has several or is not constant.
Attribute splatValue(Value value);

/// The op of a region that returns `op(partial, element)` of its two arguments and does nothing else, or null.
Operation *onlyOp(Region &region);
/// Replaces an op of one result. Attributes that are not the op's own go to what takes its place.
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
