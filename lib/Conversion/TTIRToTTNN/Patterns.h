//===- Patterns.h - patterns that lower TTIR to TTNN ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Most ops become the TTNN op of their name, or differ in names only: rows of one table (Rows.cpp). The rest have
// patterns, by family.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOTTNN_PATTERNS_H
#define TTMLIR_LIB_CONVERSION_TTIRTOTTNN_PATTERNS_H

#include "../Conversion.h"

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tt::ttnn {

inline RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
inline ArrayRef<int64_t> shapeOf(Value value) { return typeOf(value).getShape(); }

/// A type with another shape, or data type, and the placement of `like`.
RankedTensorType typeLike(Value like, ArrayRef<int64_t> shape);
RankedTensorType typeLike(Value like, ArrayRef<int64_t> shape, ttcore::DataType dataType);
/// The type in row-major order.
RankedTensorType inRows(RankedTensorType type);

/// An op that has no attributes, or only optional ones.
template <class OpT> Value make(ImplicitLocOpBuilder &builder, RankedTensorType type, ValueRange operands) {
  return OpT::create(builder, TypeRange(type), operands)->getResult(0);
}

// Each returns the value itself if there is nothing to do.
Value reshape(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> shape);
Value reshape(ImplicitLocOpBuilder &builder, Value value, RankedTensorType type);
Value permute(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> permutation);

/// Elements begin, begin + step, ... before `end` of one dimension.
Value slice(ImplicitLocOpBuilder &builder, Value value, RankedTensorType type, int64_t dim, int64_t begin, int64_t end,
            int64_t step = 1);
/// A tensor of one f32 value and rank `rank`, to be broadcast.
Value scalar(ImplicitLocOpBuilder &builder, Value device, double value, unsigned rank, Value like);

/// The device of the function, or null after a match failure.
Value findDevice(ConversionPatternRewriter &rewriter, Operation *op);

/// Returns the inverse of a permutation.
SmallVector<int64_t> inverse(ArrayRef<int64_t> permutation);

/// The TTNN op whose name equals a TTIR op's after the dialect, or nothing.
std::optional<RegisteredOperationName> sameName(StringRef name, MLIRContext *context);

/// The attributes of an op that are meaningful to its replacement.
SmallVector<NamedAttribute> passedOn(Operation *op);

void addRows(RewritePatternSet &patterns);
void addDecompositionPatterns(RewritePatternSet &patterns);
void addElementwisePatterns(RewritePatternSet &patterns);
void addMeshPatterns(RewritePatternSet &patterns);
void addNormalizationPatterns(RewritePatternSet &patterns);
void addSelectionPatterns(RewritePatternSet &patterns);
void addShapePatterns(RewritePatternSet &patterns);
void addExpertPatterns(RewritePatternSet &patterns);
void addTrainingPatterns(RewritePatternSet &patterns);
void addWindowPatterns(RewritePatternSet &patterns);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_CONVERSION_TTIRTOTTNN_PATTERNS_H
