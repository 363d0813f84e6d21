//===- IntegerProducts.cpp - products of dequantized tensors ---------------===//
// SPDX-License-Identifier: Apache-2.0
//
// (a - zero of a) * scale of a, times (b - zero of b) * scale of b: the scales are moved out of the sums, which are
// then sums of integers.
//
//===----------------------------------------------------------------------===//

#include "Broadcast.h"

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SubtractOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <cmath>
#include <limits>

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRINTEGERPRODUCTS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// Numbers from which integers are faster: products, rows and columns that fill vectors, and products of each sum.
static constexpr int64_t leastWork = 32 * 32 * 32, fewRows = 8, fewColumns = 8, fewValues = 16;

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
/// A tensor of floats that represent integers of 8 bits or less. whole: these minus the zero point, as floats. zero:
/// floats that are integers, or null. Both parameters are as they were before they are broadcast.
struct Dequantized {
  Value integers, whole, zero, scale;
  SmallVector<Operation *> ops; // that make the floats
};
} // namespace

static Value beforeBroadcast(Value value) {
  while (auto op = value.getDefiningOp<BroadcastOp>())
    value = op.getInput();
  return value;
}

/// The largest absolute value of an integer minus its zero point: 255 if both have one type of 8 bits, else up to 510.
static int64_t magnitude(const Dequantized &given) {
  if (!given.zero)
    return 255;
  Value zero = given.zero;
  while (auto op = zero.getDefiningOp<ReshapeOp>())
    zero = beforeBroadcast(op.getInput());
  auto cast = zero.getDefiningOp<TypecastOp>();
  return cast && tensorOf(cast.getInput()).getElementType() == tensorOf(given.integers).getElementType() ? 255 : 510;
}

/// The most products whose sum 32 bits hold.
static int64_t longest(const Dequantized &a, const Dequantized &b) {
  return std::numeric_limits<int32_t>::max() / (magnitude(a) * magnitude(b));
}

static bool isNarrow(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto integer = tensor ? dyn_cast<IntegerType>(tensor.getElementType()) : IntegerType();
  return integer && integer.getWidth() > 1 && integer.getWidth() <= 8;
}

static bool isWhole(Attribute attr) {
  if (auto number = dyn_cast_if_present<FloatAttr>(attr))
    return std::abs(number.getValueAsDouble()) <= 255 &&
           std::trunc(number.getValueAsDouble()) == number.getValueAsDouble();
  auto integer = dyn_cast_if_present<IntegerAttr>(attr);
  return integer && integer.getValue().abs().ule(255);
}

/// Whether the elements are integers of 8 bits or less, stored as floats.
static bool holdsIntegers(Value value) {
  value = beforeBroadcast(value);
  while (auto op = value.getDefiningOp<ReshapeOp>())
    value = beforeBroadcast(op.getInput());
  if (auto cast = value.getDefiningOp<TypecastOp>())
    return isNarrow(cast.getInput().getType());
  if (auto full = value.getDefiningOp<FullOp>())
    return isWhole(full.getFillValue());
  if (auto constant = value.getDefiningOp<ConstantOp>())
    if (auto values = dyn_cast<DenseFPElementsAttr>(constant.getValue()))
      return values.isSplat() && isWhole(values.getSplatValue<FloatAttr>());
  return false;
}

/// x of typecast(x), if its elements are narrow, or null.
static Value castOf(Value value, Dequantized &found) {
  auto cast = value.getDefiningOp<TypecastOp>();
  if (!cast || !isNarrow(cast.getInput().getType()))
    return {};
  found.ops.push_back(cast);
  return cast.getInput();
}

static std::optional<Dequantized> dequantized(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto multiply = value.getDefiningOp<MultiplyOp>();
  if (!multiply || !type || !type.getElementType().isF32() || !type.hasStaticShape())
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    Dequantized found;
    Value whole = found.whole = multiply->getOperand(i);
    found.ops.push_back(multiply);
    if (whole.getType() != type)
      continue;
    if (auto subtract = whole.getDefiningOp<SubtractOp>()) {
      found.zero = beforeBroadcast(subtract->getOperand(1));
      found.ops.push_back(subtract);
      whole = subtract->getOperand(0);
      if (!holdsIntegers(found.zero) || whole.getType() != type)
        continue;
    }
    found.integers = castOf(whole, found);
    found.scale = beforeBroadcast(multiply->getOperand(1 - i));
    if (found.integers && found.integers.getType() == type.clone(tensorOf(found.integers).getElementType()) &&
        tensorOf(found.scale).getElementType().isF32())
      return found;
  }
  return std::nullopt;
}

/// The sizes of a parameter, with ones for the dimensions that it lacks.
static SmallVector<int64_t> alignedShape(Value parameter, int64_t rank) {
  SmallVector<int64_t> shape(tensorOf(parameter).getShape());
  shape.insert(shape.begin(), std::max<int64_t>(0, rank - static_cast<int64_t>(shape.size())), 1);
  return shape;
}

namespace {
/// Creates the ops of one product. The last one of them has the location of the product itself.
class ProductBuilder {
public:
  explicit ProductBuilder(Operation *op)
      : op(op), builder(op), loc(ttcore::withoutSourceNumber(op->getLoc())), result(tensorOf(op->getResult(0))) {}

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    if (tensorOf(value).getShape() == shape)
      return value;
    SmallVector<int32_t> sizes(shape.begin(), shape.end());
    return ReshapeOp::create(builder, loc, tensorOf(value).clone(shape), value, builder.getI32ArrayAttr(sizes));
  }
  Value cast(Value value, Type element) {
    return TypecastOp::create(builder, loc, tensorOf(value).clone(element), value, /*conservative_folding=*/false);
  }
  /// The integers less their zero point, in 32 bits.
  Value integersOf(const Dequantized &given) {
    return cast(given.zero ? given.whole : given.integers, builder.getI32Type());
  }
  Value product(Value a, Value b) {
    auto shape = broadcastShape({a.getType(), b.getType()});
    return MultiplyOp::create(builder, loc, TypeRange(tensorOf(a).clone(*shape)), ValueRange{a, b});
  }
  RankedTensorType integerResult() { return result.clone(builder.getI32Type()); }
  /// Replaces the product by scaled sums; bias: or null.
  void finish(Value sums, Value scale, Value bias) {
    Value floats = cast(sums, builder.getF32Type());
    Location last = op->getLoc();
    Value created =
        MultiplyOp::create(builder, bias ? loc : last, TypeRange(result), ValueRange{floats, scale}).getResult();
    if (bias)
      created = AddOp::create(builder, last, TypeRange(result), ValueRange{created, bias}).getResult();
    op->getResult(0).replaceAllUsesWith(created);
  }

  Operation *op;
  OpBuilder builder;
  Location loc;
  RankedTensorType result;
};
} // namespace

/// The parameter of a matrix, [..., rows, 1] or [..., 1, columns]; of a transposed one, the other way.
static Value ofMatrix(ProductBuilder &b, Value parameter, int64_t rank, bool transposed) {
  SmallVector<int64_t> shape = alignedShape(parameter, rank);
  if (transposed)
    std::swap(shape[rank - 1], shape[rank - 2]);
  return b.reshape(parameter, shape);
}

namespace {
struct IntegerProducts : ttir::impl::TTIRIntegerProductsBase<IntegerProducts> {
  void runOnOperation() override {
    const ttcore::ObservedSources observed(getOperation());
    constants = {};
    SmallVector<Operation *> products;
    getOperation().walk([&](Operation *op) {
      if (isa<MatmulOp, Conv2dOp>(op))
        products.push_back(op);
    });
    SmallVector<Operation *> dead;
    for (Operation *op : products) {
      auto a = dequantized(op->getOperand(0)), b = dequantized(op->getOperand(1));
      if (!a || !b || !tensorOf(op->getResult(0)).getElementType().isF32() ||
          llvm::any_of(a->ops, [&](Operation *each) { return observed.contains(each); }) ||
          llvm::any_of(b->ops, [&](Operation *each) { return observed.contains(each); }))
        continue;
      auto matmul = dyn_cast<MatmulOp>(op);
      if (matmul ? !multiply(matmul, *a, *b) : !convolve(cast<Conv2dOp>(op), *a, *b))
        continue;
      dead.push_back(op);
      llvm::append_range(dead, a->ops);
      llvm::append_range(dead, b->ops);
    }
    constants = {};
    if (dead.empty())
      return markAllAnalysesPreserved();
    // Dequantizations for these products alone, and their operands.
    llvm::SetVector<Operation *> left(dead.begin(), dead.end());
    while (!left.empty()) {
      Operation *op = left.pop_back_val();
      if (!op->use_empty() || !isPure(op))
        continue;
      for (Value operand : op->getOperands())
        if (Operation *from = operand.getDefiningOp())
          left.insert(from);
      op->erase();
    }
  }

private:
  bool multiply(MatmulOp op, const Dequantized &a, const Dequantized &b) {
    RankedTensorType left = tensorOf(a.integers), right = tensorOf(b.integers), result = tensorOf(op.getResult());
    const int64_t leftRank = left.getRank(), rightRank = right.getRank();
    if (leftRank < 2 || rightRank < 2)
      return false;
    const bool turnsA = op.getTransposeA(), turnsB = op.getTransposeB();
    const int64_t rowOfA = leftRank - (turnsA ? 2 : 1), rowOfB = rightRank - (turnsB ? 1 : 2);
    const int64_t k = left.getDimSize(rowOfA),
                  rows = result.getNumElements() / std::max<int64_t>(1, result.getShape().back());
    const bool isMatrix = right.getNumElements() == k * result.getShape().back();
    if (k > longest(a, b) || k < fewValues || result.getShape().back() < fewColumns ||
        result.getNumElements() * k <= leastWork)
      return false;
    // Products with one matrix, whose form is prepared once, or used for some rows.
    if (!(isMatrix && constants.isConstant(b.integers)) &&
        (isMatrix ? rows : result.getDimSize(result.getRank() - 2)) < fewRows)
      return false;
    if (alignedShape(a.scale, leftRank)[rowOfA] != 1 || alignedShape(b.scale, rightRank)[rowOfB] != 1)
      return false;
    ProductBuilder builder(op);
    Value scale =
        builder.product(ofMatrix(builder, a.scale, leftRank, turnsA), ofMatrix(builder, b.scale, rightRank, turnsB));
    auto sums = MatmulOp::create(builder.builder, builder.loc, builder.integerResult(), builder.integersOf(a),
                                 builder.integersOf(b), builder.builder.getBoolAttr(turnsA),
                                 builder.builder.getBoolAttr(turnsB));
    ttcore::passAnnotationsOn(op, sums);
    builder.finish(sums, scale, {});
    return true;
  }

  bool convolve(Conv2dOp op, const Dequantized &image, const Dequantized &weight) {
    RankedTensorType filter = tensorOf(weight.integers), result = tensorOf(op.getResult());
    const int64_t columns = filter.getDimSize(0), values = filter.getNumElements() / std::max<int64_t>(1, columns);
    if (op.getFlattenedCompatInfoAttr() || values < fewValues || values > longest(image, weight) ||
        columns / op.getGroups() < fewColumns || !constants.isConstant(weight.integers) ||
        result.getNumElements() * values <= leastWork || tensorOf(image.scale).getNumElements() != 1 ||
        (image.zero && tensorOf(image.zero).getNumElements() != 1))
      return false;
    SmallVector<int64_t> ofWeight = alignedShape(weight.scale, 4);
    if (ofWeight[1] != 1 || ofWeight[2] != 1 || ofWeight[3] != 1)
      return false;
    ProductBuilder builder(op);
    SmallVector<int64_t> single(4, 1), channels(4, 1);
    channels[op.getChannelDim()] = ofWeight[0];
    Value scale = builder.product(builder.reshape(image.scale, single), builder.reshape(weight.scale, channels));
    auto sums = Conv2dOp::create(builder.builder, builder.loc, TypeRange(builder.integerResult()),
                                 ValueRange{builder.integersOf(image), builder.integersOf(weight)}, op->getAttrs());
    Value bias = op.getBias();
    if (bias) {
      channels[op.getChannelDim()] = columns;
      bias = builder.reshape(bias, channels);
    }
    builder.finish(sums, scale, bias);
    return true;
  }

  ttcore::ConstantAnalysis constants;
};
} // namespace
