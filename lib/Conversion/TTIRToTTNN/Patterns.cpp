//===- Patterns.cpp - what patterns that lower to TTNN share --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTNN/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Device.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::tt;

RankedTensorType ttnn::typeLike(Value like, ArrayRef<int64_t> shape) {
  auto layout = TTNNLayoutAttr::of(like.getType());
  return withLayout(typeOf(like).clone(shape), layout.withShape(shape));
}

RankedTensorType ttnn::typeLike(Value like, ArrayRef<int64_t> shape, ttcore::DataType dataType) {
  RankedTensorType type = typeLike(like, shape);
  return withLayout(type, TTNNLayoutAttr::of(type).withDataType(dataType));
}

RankedTensorType ttnn::inRows(RankedTensorType type) {
  return withLayout(type, TTNNLayoutAttr::of(type).withLayout(type.getShape(), Layout::RowMajor));
}

Value ttnn::reshape(ImplicitLocOpBuilder &builder, Value value, RankedTensorType type) {
  if (value.getType() == type)
    return value;
  SmallVector<int32_t> shape(type.getShape().begin(), type.getShape().end());
  return ReshapeOp::create(builder, type, value, builder.getI32ArrayAttr(shape));
}

Value ttnn::reshape(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  return shapeOf(value) == shape ? value : reshape(builder, value, typeLike(value, shape));
}

Value ttnn::permute(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(permutation.size())))
    return value;
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(shapeOf(value)[dim]);
  return PermuteOp::create(builder, typeLike(value, shape), value, builder.getDenseI64ArrayAttr(permutation),
                           /*pad_value=*/FloatAttr());
}

Value ttnn::slice(ImplicitLocOpBuilder &builder, Value value, RankedTensorType type, int64_t dim, int64_t begin,
                  int64_t end, int64_t step) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int32_t> begins(shape.size(), 0), ends(shape.begin(), shape.end()), steps(shape.size(), 1);
  begins[dim] = begin;
  ends[dim] = end;
  steps[dim] = step;
  return SliceStaticOp::create(builder, type, value, builder.getI32ArrayAttr(begins), builder.getI32ArrayAttr(ends),
                               builder.getI32ArrayAttr(steps));
}

Value ttnn::scalar(ImplicitLocOpBuilder &builder, Value device, double value, unsigned rank, Value like) {
  SmallVector<int64_t> shape(rank, 1);
  RankedTensorType type = typeLike(like, shape, ttcore::DataType::Float32);
  // The same on every device, so not distributed.
  type = withLayout(type, TTNNLayoutAttr::of(type).withMesh({}));
  return FullOp::create(builder, type, device, ShapeAttr::get(builder.getContext(), shape),
                        builder.getF32FloatAttr(value), /*dtype=*/nullptr);
}

Value ttnn::findDevice(ConversionPatternRewriter &rewriter, Operation *op) {
  return getOrCreateDevice(rewriter, op,
                           [&](const Twine &why) { (void)notifyMatchFailure(rewriter, op, "it " + why); });
}

SmallVector<int64_t> ttnn::inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    result[from] = to;
  return result;
}
