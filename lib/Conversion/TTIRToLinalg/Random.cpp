//===- Random.cpp - random numbers on the host ------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a seed, the same as those of the chip: SplitMix64 (Steele, Lea, Flood 2014) at the element's position.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/DropoutOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RandOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

static Value word(OpBuilder &b, Location loc, uint64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(static_cast<int64_t>(value)));
}

/// The exclusive or with the number shifted to the right.
static Value mixed(OpBuilder &b, Location loc, Value bits, uint64_t count) {
  return arith::XOrIOp::create(b, loc, bits, arith::ShRUIOp::create(b, loc, bits, word(b, loc, count)));
}

/// 64 bits for the element of a tensor of this shape that a linalg body computes.
static Value randomBits(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, uint64_t seed) {
  constexpr uint64_t step = 0x9e3779b97f4a7c15ULL;
  Value position = word(b, loc, 0);
  for (auto [dim, size] : llvm::enumerate(shape)) {
    Value at = arith::IndexCastOp::create(b, loc, b.getI64Type(), linalg::IndexOp::create(b, loc, dim));
    position = arith::MulIOp::create(b, loc, position, word(b, loc, static_cast<uint64_t>(size)));
    position = arith::AddIOp::create(b, loc, position, at);
  }
  Value bits = arith::MulIOp::create(b, loc, position, word(b, loc, step));
  bits = arith::AddIOp::create(b, loc, bits, word(b, loc, (seed + 1) * 0xd1342543de82ef95ULL + step));
  bits = arith::MulIOp::create(b, loc, mixed(b, loc, bits, 30), word(b, loc, 0xbf58476d1ce4e5b9ULL));
  bits = arith::MulIOp::create(b, loc, mixed(b, loc, bits, 27), word(b, loc, 0x94d049bb133111ebULL));
  return mixed(b, loc, bits, 31);
}

static LogicalResult evenlyDrawn(Lowering &lowering) {
  auto op = cast<ttir::RandOp>(lowering.op);
  const RankedTensorType result = lowering.result();
  const ArrayRef<int64_t> shape = result.getShape();
  if (op.getSeed() == 0)
    return lowering.refuse("its seed is 0, which draws other numbers in every run");
  Value init = lowering.empty(shape, hostElement(result.getElementType()));
  if (result.getNumElements() == 0)
    return lowering.give(init);
  const float low = op.getLow().convertToFloat(), high = op.getHigh().convertToFloat();
  return lowering.give(lowering.generic(
      {}, {lowering.b.getMultiDimIdentityMap(shape.size())}, init,
      SmallVector<utils::IteratorType>(shape.size(), utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) -> Value {
        Scalars s(b, loc, /*isFloat=*/true);
        // The upper 24 bits, which f32 holds.
        Value top = arith::ShRUIOp::create(b, loc, randomBits(b, loc, shape, op.getSeed()), word(b, loc, 40));
        Value unit = s.mul(arith::SIToFPOp::create(b, loc, s.type(), top), s.number(0x1p-24));
        return s.to(s.add(s.number(low), s.mul(s.number(high - low), unit)), result.getElementType());
      }));
}

static LogicalResult dropOut(Lowering &lowering) {
  auto op = cast<ttir::DropoutOp>(lowering.op);
  const RankedTensorType result = lowering.result();
  const Type element = lowering.type(0).getElementType();
  const ArrayRef<int64_t> shape = result.getShape();
  const double probability = op.getProb().convertToFloat();
  if (!(probability >= 0 && probability <= 1))
    return lowering.refuse("its prob is " + std::to_string(probability) + "; expected 0 to 1");
  const AffineMap map = lowering.b.getMultiDimIdentityMap(shape.size());
  Value init = lowering.empty(shape, hostElement(result.getElementType()));
  if (result.getNumElements() == 0)
    return lowering.give(init);
  return lowering.give(lowering.generic(
      lowering.operands[0], {map, map}, init,
      SmallVector<utils::IteratorType>(shape.size(), utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Scalars s(b, loc, /*isFloat=*/true);
        Value upper = arith::ShRUIOp::create(b, loc, randomBits(b, loc, shape, op.getSeed()), word(b, loc, 32));
        Value isDropped = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, upper,
                                                word(b, loc, static_cast<uint64_t>(probability * 0x1p32)));
        Value scaled = s.mul(s.from(x[0], element), s.number(op.getScale().convertToFloat()));
        return s.to(s.select(isDropped, s.number(0), scaled), result.getElementType());
      }));
}

void host::addRandomRules(Rules &rules) {
  rules["ttir.dropout"] = dropOut;
  rules["ttir.rand"] = evenlyDrawn;
}
