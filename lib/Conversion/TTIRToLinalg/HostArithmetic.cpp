//===- HostArithmetic.cpp - what MLIR leaves undefined, defined -----------===//
// SPDX-License-Identifier: Apache-2.0
//
// The host's CPU stops a process that divides by 0, and reads beyond a tensor. Programs of the chip do neither. In
// MLIR, the maximum of zeros of both signs depends on the order of operands.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tt {
#define GEN_PASS_DEF_DEFINEHOSTARITHMETIC
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

namespace {
struct DefineHostArithmetic : tt::impl::DefineHostArithmeticBase<DefineHostArithmetic> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    bool changed = false;
    for (Operation *op : ops)
      changed |= define(op);
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  static Value number(ImplicitLocOpBuilder &b, Type type, int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }

  static bool define(Operation *op) {
    return TypeSwitch<Operation *, bool>(op)
        .Case([](tensor::ExtractOp extract) {
          return clamp(extract, extract.getTensor().getType(), extract.getIndicesMutable());
        })
        .Case([](tensor::InsertOp insert) {
          return clamp(insert, insert.getDest().getType(), insert.getIndicesMutable());
        })
        .Case([](tensor::ExtractSliceOp slice) {
          return clampSlice(slice, slice.getSourceType(), slice.getOffsetsMutable());
        })
        .Case([](tensor::InsertSliceOp slice) {
          return clampSlice(slice, slice.getDestType(), slice.getOffsetsMutable());
        })
        .Case<arith::MaximumFOp, arith::MinimumFOp, math::ClampFOp>(limit)
        .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::RemSIOp>(
            [](Operation *op) { return divide(op, /*isSigned=*/true); })
        .Case<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(
            [](Operation *op) { return divide(op, /*isSigned=*/false); })
        .Default(false);
  }

  /// The minimum of IEEE 754-2019: each order of operands returns its second one if they are equal or one is NaN. The
  /// combined bits are those of -0 for zeros of both signs, and all exponent bits of a NaN stay set.
  static Value minimum(ImplicitLocOpBuilder &b, Value x, Value y) {
    Type type = x.getType(), bits = b.getIntegerType(type.getIntOrFloatBitWidth());
    auto lesser = [&](Value x, Value y) -> Value {
      Value isLess = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
      return arith::BitcastOp::create(b, bits, arith::SelectOp::create(b, isLess, x, y));
    };
    return arith::BitcastOp::create(b, type, arith::OrIOp::create(b, lesser(x, y), lesser(y, x)));
  }
  static Value maximum(ImplicitLocOpBuilder &b, Value x, Value y) {
    auto negated = [&](Value value) -> Value { return arith::NegFOp::create(b, value); };
    return negated(minimum(b, negated(x), negated(y)));
  }

  static bool limit(Operation *op) {
    Type type = op->getResult(0).getType();
    if (!isa<FloatType>(type))
      return false;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    // All later passes know the bits of f32 and f64 only.
    const bool isNarrow = type.getIntOrFloatBitWidth() < 32;
    auto wide = [&](Value value) -> Value {
      return isNarrow ? arith::ExtFOp::create(b, b.getF32Type(), value).getResult() : value;
    };
    Value x = wide(op->getOperand(0)), y = wide(op->getOperand(1));
    Value created = isa<arith::MinimumFOp>(op) ? minimum(b, x, y) : maximum(b, x, y);
    if (isa<math::ClampFOp>(op))
      created = minimum(b, created, wide(op->getOperand(2)));
    op->getResult(0).replaceAllUsesWith(isNarrow ? arith::TruncFOp::create(b, type, created).getResult() : created);
    op->erase();
    return true;
  }

  /// x / 0 is -1 and x rem 0 is x, as on the chip. The least number divided by -1 is itself, with remainder 0.
  static bool divide(Operation *op, bool isSigned) {
    Value divisor = op->getOperand(1);
    Type type = divisor.getType();
    APInt known;
    if (!isa<IntegerType, IndexType>(type) ||
        (matchPattern(divisor, m_ConstantInt(&known)) && !known.isZero() && !(isSigned && known.isAllOnes())))
      return false;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    const bool isRest = isa<arith::RemSIOp, arith::RemUIOp>(op);
    Value x = op->getOperand(0), zero = number(b, type, 0), one = number(b, type, 1), least = number(b, type, -1);
    Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, divisor, zero);
    Value isLeast = isSigned ? arith::CmpIOp::create(b, arith::CmpIPredicate::eq, divisor, least).getResult() : Value();
    Value isReplaced = isSigned ? arith::OrIOp::create(b, isZero, isLeast).getResult() : isZero;
    op->setOperand(1, arith::SelectOp::create(b, isReplaced, one, divisor));
    Value result = op->getResult(0), created = result;
    const SmallVector<OpOperand *> uses = llvm::map_to_vector(result.getUses(), [](OpOperand &use) { return &use; });
    b.setInsertionPointAfter(op);
    // The remainder of -1 by the replaced divisor, 1: nothing.
    if (isSigned && !isRest)
      created = arith::SelectOp::create(b, isLeast, arith::SubIOp::create(b, zero, x), created);
    created = arith::SelectOp::create(b, isZero, isRest ? x : least, created);
    for (OpOperand *use : uses)
      use->set(created);
    return true;
  }

  /// An index is clamped to the valid range.
  static Value clamped(ImplicitLocOpBuilder &b, Value index, int64_t last) {
    Value low = arith::MaxSIOp::create(b, index, number(b, b.getIndexType(), 0));
    return arith::MinSIOp::create(b, low, number(b, b.getIndexType(), std::max<int64_t>(last, 0)));
  }
  static bool isWithin(Value index, int64_t last) {
    APInt known;
    return matchPattern(index, m_ConstantInt(&known)) && !known.isNegative() && known.getSExtValue() <= last;
  }

  static bool clamp(Operation *op, RankedTensorType type, MutableOperandRange indices) {
    if (!type.hasStaticShape())
      return false;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    // A tensor without elements has no position that can be read or written.
    if (type.getNumElements() == 0) {
      Value instead = isa<tensor::InsertOp>(op)
                          ? cast<tensor::InsertOp>(op).getDest()
                          : arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType())).getResult();
      op->getResult(0).replaceAllUsesWith(instead);
      op->erase();
      return true;
    }
    bool changed = false;
    for (auto [dim, index] : llvm::enumerate(indices)) {
      const int64_t last = type.getDimSize(dim) - 1;
      if (isWithin(index.get(), last))
        continue;
      index.set(clamped(b, index.get(), last));
      changed = true;
    }
    return changed;
  }

  template <class Slice> static bool clampSlice(Slice slice, RankedTensorType whole, MutableOperandRange offsets) {
    if (!whole.hasStaticShape())
      return false;
    ImplicitLocOpBuilder b(slice.getLoc(), slice);
    bool changed = false;
    unsigned next = 0;
    for (int64_t dim = 0; dim < whole.getRank(); ++dim) {
      if (!slice.isDynamicOffset(dim))
        continue;
      OpOperand &offset = offsets[next++];
      if (slice.isDynamicSize(dim) || slice.isDynamicStride(dim))
        continue;
      const int64_t last = whole.getDimSize(dim) - 1 - (slice.getStaticSize(dim) - 1) * slice.getStaticStride(dim);
      if (isWithin(offset.get(), last))
        continue;
      offset.set(clamped(b, offset.get(), last));
      changed = true;
    }
    return changed;
  }
};
} // namespace
