//===- Indexing.cpp - ops that read elements at indices -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "DataMovement.h"
#include "TileExpressions.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/EmbeddingOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GatherOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tt;

static constexpr int64_t exactIntegers = int64_t(1) << 24; // of f32

static bool isTooLong(int64_t size, std::string &refusal) {
  if (size <= exactIntegers)
    return false;
  refusal = "its dimension of " + std::to_string(size) + " elements has positions that f32 does not hold";
  return true;
}

Tensor TileExpressions::checked(Tensor index, int64_t size, Operation *op, StringRef what) {
  if (index.type().getNumElements() == 0)
    return index;
  const auto all = llvm::to_vector(llvm::seq<int64_t>(0, index.rank()));
  const auto buffer = [&](Tensor tensor) {
    return UnrealizedConversionCastOp::create(builder, loc, placeOf(types, tensor.type()).tiled, tensor.value)
        .getResult(0);
  };
  SmallVector<TileOperand> operands = {TileOperand::inPlace(buffer(index))};
  for (Tensor bound : {index.min(all), index.max(all)})
    operands.push_back(broadcastOperand(builder, loc, types, buffer(bound), bound.type(), index.type()));
  Placement target = placeOf(types, index.type());
  Value output = memref::AllocOp::create(builder, loc, target.tiled);
  createElementwiseFrom(builder, loc, operands, output, [&](OpBuilder &b, Location at, ValueRange tiles) -> Value {
    return d2m::TileCheckPositionsOp::create(b, at, target.tile(), tiles[0], tiles[1], tiles[2], size,
                                             (op->getName().getStringRef() + ": " + what).str());
  });
  return (*this)(UnrealizedConversionCastOp::create(builder, loc, index.type(), output).getResult(0));
}

/// Elements of `x` in a shape, at places that are a map of their indices and of an index: one for each row, or element.
static Tensor elementsAt(Tensor x, Tensor index, ArrayRef<int64_t> shape, AffineMap map, bool perElement) {
  Expressions &e = *x.e;
  index = index.as(e.builder.getI32Type());
  const auto tiles = [&](Tensor tensor) {
    return UnrealizedConversionCastOp::create(e.builder, e.loc, placeOf(typesOf(e), tensor.type()).tiled, tensor.value)
        .getResult(0);
  };
  auto type = RankedTensorType::get(shape, x.type().getElementType());
  Value found =
      pullAt(e.builder, e.loc, typesOf(e), {tiles(x), x.type(), tiles(index), index.type(), map, perElement}, type);
  return e(UnrealizedConversionCastOp::create(e.builder, e.loc, type, found).getResult(0));
}

static SmallVector<Tensor> resultsOf(ttir::GatherOp op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInput());
  const int64_t dim = x.dim(op.getDimAttr().getInt());
  if (isTooLong(x.shape()[dim], refusal))
    return {};
  Tensor index = e.checked(e(op.getIndex()), x.shape()[dim], op);
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> indices;
  const auto rank = static_cast<unsigned>(x.rank());
  for (unsigned each = 0; each < rank; ++each)
    indices.push_back(getAffineDimExpr(static_cast<int64_t>(each) == dim ? rank : each, context));
  return {elementsAt(x, index, index.shape(), AffineMap::get(rank + 1, 0, indices, context), /*perElement=*/true)};
}

Tensor TileExpressions::rowsAt(Tensor table, Tensor index, Operation *op) {
  const int64_t count = index.type().getNumElements();
  MLIRContext *context = op->getContext();
  index = checked(index, table.shape()[0], op, "an index").reshape({count, 1});
  return elementsAt(table, index, {count, table.shape()[1]},
                    AffineMap::get(3, 0, {getAffineDimExpr(2, context), getAffineDimExpr(1, context)}, context),
                    /*perElement=*/false);
}

static SmallVector<Tensor> resultsOf(ttir::EmbeddingOp op, Expressions &e, std::string &refusal) {
  Tensor weight = e(op.getWeight()), index = e(op.getInput());
  const int64_t width = weight.shape().back(), count = weight.type().getNumElements() / width;
  if (isTooLong(count, refusal))
    return {};
  return {e.rowsAt(weight.reshape({count, width}), index.reshape({index.type().getNumElements()}), op)};
}

void tt::addIndexingComposites(CompositeTable &table) {
  addComposite<ttir::EmbeddingOp>(table, resultsOf);
  addComposite<ttir::GatherOp>(table, resultsOf);
}
