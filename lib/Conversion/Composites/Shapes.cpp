//===- Shapes.cpp - TTIR ops that change shapes ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shapes.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/PadOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tt;

static constexpr int64_t tileSize = 32;

Value tt::alignedTo(OpBuilder &builder, Location loc, Value tensor, size_t dim, double fill) {
  auto type = cast<RankedTensorType>(tensor.getType());
  const int64_t size = type.getDimSize(static_cast<unsigned>(dim)),
                aligned = std::max(tileSize, int64_t(llvm::alignTo(size, tileSize)));
  if (size == aligned)
    return tensor;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = aligned;
  SmallVector<int32_t> padding(2 * shape.size());
  padding[2 * dim + 1] = static_cast<int32_t>(aligned - size);
  return ttir::PadOp::create(builder, loc, type.clone(shape), tensor, builder.getDenseI32ArrayAttr(padding),
                             builder.getF32FloatAttr(static_cast<float>(fill)));
}

Value tt::firstOf(OpBuilder &builder, Location loc, Value tensor, RankedTensorType type) {
  if (cast<RankedTensorType>(tensor.getType()).getShape() == type.getShape())
    return tensor;
  SmallVector<int32_t> begins(type.getRank(), 0), steps(type.getRank(), 1);
  SmallVector<int32_t> ends(type.getShape().begin(), type.getShape().end());
  return ttir::SliceStaticOp::create(builder, loc, type, tensor, builder.getI32ArrayAttr(begins),
                                     builder.getI32ArrayAttr(ends), builder.getI32ArrayAttr(steps));
}

Value tt::permuted(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  bool isSame = true;
  for (auto [dim, from] : llvm::enumerate(permutation)) {
    shape.push_back(type.getDimSize(static_cast<unsigned>(from)));
    isSame &= static_cast<int64_t>(dim) == from;
  }
  if (isSame)
    return tensor;
  return ttir::PermuteOp::create(builder, loc, type.clone(shape), tensor, builder.getDenseI64ArrayAttr(permutation));
}

Value tt::swapLast(OpBuilder &builder, Location loc, Value tensor) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(tensor.getType()).getRank()));
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return permuted(builder, loc, tensor, permutation);
}

Value tt::reshaped(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getShape() == shape)
    return tensor;
  SmallVector<int32_t> sizes(shape.begin(), shape.end());
  return ttir::ReshapeOp::create(builder, loc, type.clone(shape), tensor, builder.getI32ArrayAttr(sizes));
}

Value tt::castTo(OpBuilder &builder, Location loc, Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType() == element)
    return tensor;
  return ttir::TypecastOp::create(builder, loc, type.clone(element), tensor, /*conservative_folding=*/false);
}
