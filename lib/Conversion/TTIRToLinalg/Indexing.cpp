//===- Indexing.cpp - elements at indices, running sums, bits -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Lowering.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/CumProdOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CumSumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GatherOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ScatterOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

/// Loops over all dimensions.
static SmallVector<utils::IteratorType> overAll(int64_t rank) {
  return SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel);
}

/// A number of any type as an index; `DefineHostArithmetic` moves those outside of a tensor to the nearest element.
static Value indexOf(OpBuilder &b, Location loc, Value number, Type source) {
  Value whole = Scalars(b, loc, /*isFloat=*/false).from(number, source);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), whole);
}

/// A result with one element for each of `index`, and of `more` dimensions behind them, read from `table` at the
/// places that `place` computes.
static Value readAt(Lowering &lowering, Value table, Value index, Type indexElement, ArrayRef<int64_t> shape,
                    llvm::function_ref<SmallVector<Value>(OpBuilder &, Location, Value at)> place) {
  Value init = lowering.empty(shape, cast<RankedTensorType>(table.getType()).getElementType());
  auto rows = cast<RankedTensorType>(index.getType());
  if (llvm::is_contained(shape, 0))
    return init;
  const unsigned rank = shape.size();
  AffineMap all = lowering.b.getMultiDimIdentityMap(rank);
  return lowering.generic(index, {all.getMajorSubMap(rows.getRank()), all}, init, overAll(rank),
                          [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                            Value at = indexOf(b, loc, x[0], indexElement);
                            return tensor::ExtractOp::create(b, loc, table, place(b, loc, at));
                          });
}

/// Rows of the weight, which may have more dimensions of size 1.
static LogicalResult embedding(Lowering &lowering) {
  RankedTensorType index = lowering.type(0), weight = lowering.type(1);
  const int64_t width = weight.getShape().back();
  if (width == 0 || weight.getNumElements() == 0)
    return lowering.give(
        lowering.filled(lowering.result().getShape(), hostElement(lowering.result().getElementType()), 0));
  Value table = lowering.reshaped(lowering.operands[1], {weight.getNumElements() / width, width});
  const int64_t count = index.getNumElements();
  Value flat = lowering.reshaped(lowering.operands[0], {count});
  Value rows = readAt(lowering, table, flat, index.getElementType(), {count, width},
                      [](OpBuilder &b, Location loc, Value at) -> SmallVector<Value> {
                        return {at, linalg::IndexOp::create(b, loc, 1)};
                      });
  return lowering.give(lowering.reshaped(rows, lowering.result().getShape()));
}

static LogicalResult gather(Lowering &lowering) {
  RankedTensorType index = lowering.type(1);
  const int64_t rank = index.getRank(), dim = fromEnd(int32_t(cast<ttir::GatherOp>(lowering.op).getDim()), rank);
  return lowering.give(readAt(lowering, lowering.operands[0], lowering.operands[1], index.getElementType(),
                              index.getShape(), [&](OpBuilder &b, Location loc, Value at) {
                                SmallVector<Value> places;
                                for (int64_t d = 0; d < rank; ++d)
                                  places.push_back(d == dim ? at : linalg::IndexOp::create(b, loc, d).getResult());
                                return places;
                              }));
}

/// The elements of `value` as scalars, or scalars as elements of `element`.
static Value asScalars(Lowering &lowering, Value value, Type element, Type scalar, bool isFloat, bool toScalars) {
  auto type = cast<RankedTensorType>(value.getType());
  AffineMap map = lowering.b.getMultiDimIdentityMap(type.getRank());
  Value init = lowering.empty(type.getShape(), toScalars ? scalar : hostElement(element));
  if (type.getNumElements() == 0)
    return init;
  return lowering.generic(value, {map, map}, init, overAll(type.getRank()),
                          [&](OpBuilder &b, Location loc, ValueRange x) {
                            Scalars s(b, loc, isFloat);
                            return toScalars ? s.from(x[0], element) : s.to(x[0], element);
                          });
}

static Value reduced(Scalars &s, ttcore::ReduceType kind, Value old, Value given) {
  switch (kind) {
  case ttcore::ReduceType::Sum:
    return s.add(old, given);
  case ttcore::ReduceType::Prod:
    return s.mul(old, given);
  case ttcore::ReduceType::Max:
    return s.maximum(old, given);
  case ttcore::ReduceType::Min:
    return s.minimum(old, given);
  default:
    return given;
  }
}

/// The elements of the source one after the other, so that of several at one place the last stays.
static LogicalResult scatter(Lowering &lowering) {
  auto op = cast<ttir::ScatterOp>(lowering.op);
  const int64_t dim = fromEnd(int32_t(op.getDim()), lowering.type(0).getRank());
  const ttcore::ReduceType kind = op.getScatterReduceType();
  using enum ttcore::ReduceType;
  if (!llvm::is_contained({Sum, Prod, Max, Min, Invalid}, kind))
    return lowering.refuse("it reduces by " + ttcore::stringifyReduceType(kind) +
                           "; expected sum, prod, max, min or invalid");
  Type element = lowering.type(0).getElementType(), indexElement = lowering.type(1).getElementType(),
       sourceElement = lowering.type(2).getElementType();
  const bool isFloat = isa<FloatType>(element);
  Type scalar = Scalars(lowering.b, op.getLoc(), isFloat).type();
  Value result = asScalars(lowering, lowering.operands[0], element, scalar, isFloat, /*toScalars=*/true);
  ImplicitLocOpBuilder &b = lowering.b;
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value).getResult(); };
  // One loop for each dimension of the index.
  SmallVector<Value> lower, upper, step;
  for (int64_t size : lowering.type(1).getShape()) {
    lower.push_back(number(0));
    upper.push_back(number(size));
    step.push_back(number(1));
  }
  scf::LoopNest nest =
      scf::buildLoopNest(b, op.getLoc(), lower, upper, step, ValueRange(result),
                         [&](OpBuilder &inner, Location loc, ValueRange at, ValueRange carried) -> scf::ValueVector {
                           Scalars s(inner, loc, isFloat);
                           SmallVector<Value> place(at);
                           Value index = tensor::ExtractOp::create(inner, loc, lowering.operands[1], at);
                           place[dim] = indexOf(inner, loc, index, indexElement);
                           Value given =
                               s.from(tensor::ExtractOp::create(inner, loc, lowering.operands[2], at), sourceElement);
                           Value next = given;
                           if (kind != Invalid)
                             next = reduced(s, kind, tensor::ExtractOp::create(inner, loc, carried[0], place), given);
                           return {tensor::InsertOp::create(inner, loc, next, carried[0], place)};
                         });
  Value all = nest.results.empty() ? result : nest.results.front();
  return lowering.give(
      asScalars(lowering, all, lowering.result().getElementType(), scalar, isFloat, /*toScalars=*/false));
}

/// Each element joined with all before it, in their order.
template <class OpT, Value (Scalars::*join)(Value, Value)> static LogicalResult scan(Lowering &lowering) {
  RankedTensorType from = lowering.type(0);
  const int64_t rank = from.getRank();
  Type element = from.getElementType();
  const bool isFloat = isa<FloatType>(element);
  const bool isSum = std::is_same_v<OpT, ttir::CumSumOp>;
  Scalars outside(lowering.b, lowering.op->getLoc(), isFloat);
  Value sums = lowering.filled(from.getShape(), outside.type(), isSum ? 0 : 1);
  if (rank == 0 || from.getNumElements() == 0)
    return lowering.give(rank == 0 ? lowering.operands[0]
                                   : asScalars(lowering, sums, lowering.result().getElementType(), outside.type(),
                                               isFloat, /*toScalars=*/false));
  const int64_t dim = fromEnd(int32_t(cast<OpT>(lowering.op).getDim()), rank);
  SmallVector<AffineExpr> places;
  for (int64_t d = 0; d < rank; ++d)
    places.push_back(lowering.dim(d == dim ? rank : d));
  // The size of the loop over what is joined: one element for each.
  AffineMap all = lowering.b.getMultiDimIdentityMap(rank + 1);
  SmallVector<utils::IteratorType> iterators = overAll(rank);
  iterators.push_back(utils::IteratorType::reduction);
  sums = lowering.generic(
      lowering.operands[0], {AffineMap::get(rank + 1, 0, places, lowering.b.getContext()), all.getMajorSubMap(rank)},
      sums, iterators, [&](OpBuilder &b, Location loc, ValueRange x) {
        Scalars s(b, loc, isFloat);
        Value isBefore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, linalg::IndexOp::create(b, loc, rank),
                                               linalg::IndexOp::create(b, loc, dim));
        return s.select(isBefore, (s.*join)(x[1], s.from(x[0], element)), x[1]);
      });
  return lowering.give(
      asScalars(lowering, sums, lowering.result().getElementType(), outside.type(), isFloat, /*toScalars=*/false));
}

/// The same bits as another type of their width.
static LogicalResult bitcast(Lowering &lowering) {
  RankedTensorType result = lowering.result();
  Type element = hostElement(result.getElementType());
  AffineMap map = lowering.b.getMultiDimIdentityMap(result.getRank());
  Value init = lowering.empty(result.getShape(), element);
  if (result.getNumElements() == 0)
    return lowering.give(init);
  return lowering.give(lowering.generic(lowering.operands[0], {map, map}, init, overAll(result.getRank()),
                                        [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                                          if (x[0].getType() == element)
                                            return x[0];
                                          return arith::BitcastOp::create(b, loc, element, x[0]);
                                        }));
}

void host::addIndexingRules(Rules &rules) {
  rules["ttir.bitcast_convert"] = bitcast;
  rules["ttir.cumprod"] = scan<ttir::CumProdOp, &Scalars::mul>;
  rules["ttir.cumsum"] = scan<ttir::CumSumOp, &Scalars::add>;
  rules["ttir.embedding"] = embedding;
  rules["ttir.gather"] = gather;
  rules["ttir.scatter"] = scatter;
}
