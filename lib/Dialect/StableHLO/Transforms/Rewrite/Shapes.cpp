//===- Shapes.cpp - types of results whose operands became static ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shapes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

std::optional<SmallVector<int64_t>> shlo::constantNumbers(Value value) {
  DenseIntElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return llvm::map_to_vector(constant.getValues<APInt>(), [](const APInt &number) { return number.getSExtValue(); });
}

std::optional<SmallVector<int64_t>> shlo::shapeOperands(stablehlo::CustomCallOp call) {
  auto numbers = call->getAttrOfType<DenseIntElementsAttr>(shapeOperandsAttr);
  if (!numbers || numbers.getNumElements() != call.getNumResults())
    return std::nullopt;
  auto operands = llvm::map_to_vector(numbers.getValues<APInt>(), [](const APInt &n) { return n.getSExtValue(); });
  for (int64_t operand : operands)
    if (operand < 0 || operand >= static_cast<int64_t>(call.getNumOperands()))
      return std::nullopt;
  return operands;
}

using Shape = std::optional<SmallVector<int64_t>>;

static Shape shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? Shape(llvm::to_vector(type.getShape())) : std::nullopt;
}

/// The declared sizes; where they are dynamic, those that were found.
static Type meet(Type declared, ArrayRef<int64_t> found) {
  auto type = dyn_cast<RankedTensorType>(declared);
  if (!type || type.hasStaticShape() || type.getRank() != static_cast<int64_t>(found.size()))
    return declared;
  SmallVector<int64_t> shape;
  for (auto [known, size] : llvm::zip_equal(type.getShape(), found))
    shape.push_back(ShapedType::isDynamic(known) && size >= 0 ? size : known);
  auto refined = RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
  // Bounds are of dynamic dimensions only.
  return refined.hasStaticShape() ? RankedTensorType::get(shape, type.getElementType()) : refined;
}

/// A single unknown size follows from the number of elements.
static Shape reshaped(Value operand, Type result) {
  auto from = cast<RankedTensorType>(operand.getType());
  auto shape = llvm::to_vector(cast<RankedTensorType>(result).getShape());
  if (!from.hasStaticShape() || llvm::count_if(shape, ShapedType::isDynamic) != 1)
    return std::nullopt;
  int64_t others = 1;
  for (int64_t size : shape)
    if (!ShapedType::isDynamic(size) && llvm::MulOverflow(others, size, others))
      return std::nullopt;
  if (others == 0 || from.getNumElements() % others)
    return std::nullopt;
  *llvm::find_if(shape, ShapedType::isDynamic) = from.getNumElements() / others;
  return shape;
}

static Shape paddedShape(stablehlo::DynamicPadOp op) {
  Shape shape = shapeOf(op.getOperand()), low = constantNumbers(op.getEdgePaddingLow()),
        high = constantNumbers(op.getEdgePaddingHigh()), interior = constantNumbers(op.getInteriorPadding());
  if (!shape || !low || !high || !interior || llvm::any_of(*shape, ShapedType::isDynamic))
    return std::nullopt;
  for (auto [size, before, after, between] : llvm::zip_equal(*shape, *low, *high, *interior))
    size += before + after + std::max<int64_t>(size - 1, 0) * between;
  return shape;
}

namespace {
/// An element of a vector: an element of a value that is not constant, or 0, plus an addend.
struct Element {
  Value base;
  int64_t index = 0, addend = 0;
};
} // namespace

/// An element of a value of static shape, by its index in row-major order.
static Element elementOf(Value value, int64_t index) {
  if (auto numbers = constantNumbers(value))
    return {{}, 0, (*numbers)[index]};
  auto sizeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
  Operation *op = value.getDefiningOp();
  for (Value operand : op ? ValueRange(op->getOperands()) : ValueRange())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()); !type || !type.hasStaticShape())
      return {value, index, 0};
  if (auto concat = dyn_cast_or_null<stablehlo::ConcatenateOp>(op);
      concat && cast<RankedTensorType>(concat.getType()).getRank() == 1)
    for (int64_t at = index; Value part : concat.getInputs()) {
      if (at < sizeOf(part))
        return elementOf(part, at);
      at -= sizeOf(part);
    }
  if (isa_and_nonnull<stablehlo::ReshapeOp>(op))
    return elementOf(op->getOperand(0), index);
  if (isa_and_nonnull<stablehlo::AddOp, stablehlo::SubtractOp>(op)) {
    const bool isSum = isa<stablehlo::AddOp>(op);
    for (unsigned number : {0u, 1u})
      if (auto known = constantNumbers(op->getOperand(number)); known && (isSum || number == 1)) {
        Element other = elementOf(op->getOperand(1 - number), index);
        other.addend += isSum ? (*known)[index] : -(*known)[index];
        return other;
      }
  }
  return {value, index, 0};
}

/// Sizes follow from limits that exceed starts by a constant, whether these are known or not.
static Shape slicedShape(stablehlo::RealDynamicSliceOp op) {
  Shape strides = constantNumbers(op.getStrides());
  auto isKnown = [](Value numbers) { return cast<RankedTensorType>(numbers.getType()).hasStaticShape(); };
  if (!strides || !isKnown(op.getStartIndices()) || !isKnown(op.getLimitIndices()) ||
      llvm::any_of(*strides, [](int64_t stride) { return stride <= 0; }))
    return std::nullopt;
  SmallVector<int64_t> shape;
  for (auto [d, stride] : llvm::enumerate(*strides)) {
    const auto dimension = static_cast<int64_t>(d);
    const Element start = elementOf(op.getStartIndices(), dimension),
                  limit = elementOf(op.getLimitIndices(), dimension);
    const bool areTied = start.base == limit.base && start.index == limit.index;
    shape.push_back(areTied ? (limit.addend - start.addend + stride - 1) / stride : ShapedType::kDynamic);
  }
  return shape;
}

/// The operand's shape if the transform keeps the sizes; transforms from and to real numbers change the last one.
static Shape transformedShape(stablehlo::FftOp op) {
  Shape shape = shapeOf(op.getOperand());
  if (!shape || shape->empty() || op.getFftLength().empty())
    return std::nullopt;
  if (op.getFftType() == stablehlo::FftType::RFFT)
    shape->back() = op.getFftLength().back() / 2 + 1;
  else if (op.getFftType() == stablehlo::FftType::IRFFT)
    shape->back() = op.getFftLength().back();
  return shape;
}

static Shape gatheredShape(stablehlo::DynamicGatherOp op) {
  Shape sizes = constantNumbers(op.getSliceSizes());
  if (!sizes)
    return std::nullopt;
  // The op with these sizes says it.
  OpBuilder builder(op->getContext());
  OperationState state(op.getLoc(), stablehlo::GatherOp::getOperationName());
  state.addOperands({op.getOperand(), op.getStartIndices()});
  SmallVector<Type> types;
  stablehlo::GatherOp::Properties properties;
  properties.dimension_numbers = op.getDimensionNumbersAttr();
  properties.slice_sizes = builder.getDenseI64ArrayAttr(*sizes);
  properties.indices_are_sorted = op.getIndicesAreSortedAttr();
  if (failed(stablehlo::GatherOp::inferReturnTypes(op.getContext(), std::nullopt, state.operands, {},
                                                   OpaqueProperties(&properties), {}, types)))
    return std::nullopt;
  return llvm::to_vector(cast<RankedTensorType>(types.front()).getShape());
}

/// Padding is the only thing that a convolution with computed padding does not state itself.
static Shape convolvedShape(stablehlo::DynamicConvOp op) {
  Shape padding = constantNumbers(op.getPadding());
  if (!padding)
    return std::nullopt;
  OpBuilder builder(op->getContext());
  auto type = RankedTensorType::get({static_cast<int64_t>(padding->size() / 2), 2}, builder.getI64Type());
  stablehlo::ConvolutionOp::Properties properties;
  properties.window_strides = op.getWindowStridesAttr();
  properties.padding = DenseIntElementsAttr::get(type, *padding);
  properties.lhs_dilation = op.getLhsDilationAttr();
  properties.rhs_dilation = op.getRhsDilationAttr();
  properties.window_reversal = op.getWindowReversalAttr();
  properties.dimension_numbers = op.getDimensionNumbersAttr();
  properties.feature_group_count = op.getFeatureGroupCountAttr();
  properties.batch_group_count = op.getBatchGroupCountAttr();
  properties.precision_config = op.getPrecisionConfigAttr();
  SmallVector<Type> types;
  SmallVector<Value> operands = {op.getLhs(), op.getRhs()};
  if (failed(stablehlo::ConvolutionOp::inferReturnTypes(op.getContext(), std::nullopt, operands, {},
                                                        OpaqueProperties(&properties), {}, types)))
    return std::nullopt;
  return llvm::to_vector(cast<RankedTensorType>(types.front()).getShape());
}

/// The shape of the one result of an op without inference.
static Shape shapeFound(Operation *op) {
  return TypeSwitch<Operation *, Shape>(op)
      .Case([](stablehlo::DynamicBroadcastInDimOp op) { return constantNumbers(op.getOutputDimensions()); })
      .Case([](stablehlo::DynamicIotaOp op) { return constantNumbers(op.getOutputShape()); })
      .Case([](stablehlo::DynamicReshapeOp op) {
        Shape shape = constantNumbers(op.getOutputShape());
        return shape ? shape : reshaped(op.getOperand(), op.getType());
      })
      .Case([](stablehlo::RngOp op) { return constantNumbers(op.getShape()); })
      .Case([](stablehlo::DynamicPadOp op) { return paddedShape(op); })
      .Case([](stablehlo::RealDynamicSliceOp op) { return slicedShape(op); })
      .Case([](stablehlo::DynamicGatherOp op) { return gatheredShape(op); })
      .Case([](stablehlo::DynamicConvOp op) { return convolvedShape(op); })
      .Case([](stablehlo::ReshapeOp op) { return reshaped(op.getOperand(), op.getType()); })
      .Case([](stablehlo::TriangularSolveOp op) { return shapeOf(op->getOperand(1)); })
      .Case([](stablehlo::BitcastConvertOp op) {
        Shape shape = shapeOf(op.getOperand());
        auto to = cast<RankedTensorType>(op.getType());
        if (shape && static_cast<int64_t>(shape->size()) > to.getRank())
          shape->pop_back();
        else if (shape && static_cast<int64_t>(shape->size()) < to.getRank())
          shape->push_back(to.getShape().back());
        return shape;
      })
      .Default([](Operation *op) -> Shape {
        const bool sameShape = op->hasTrait<OpTrait::SameOperandsAndResultShape>() ||
                               op->hasTrait<OpTrait::SameOperandsAndResultType>() ||
                               op->hasTrait<OpTrait::Elementwise>() || op->hasTrait<trait::KeepsShape>();
        return sameShape && op->getNumOperands() ? shapeOf(op->getOperand(0)) : std::nullopt;
      });
}

/// Operands: inputs, initial values, then window dimensions, strides, base dilations, window dilations and padding.
static Shape windowedShape(stablehlo::CustomCallOp call) {
  const unsigned count = call.getNumResults();
  if (count == 0 || call.getNumOperands() != 2 * count + 5)
    return std::nullopt;
  Shape shape = shapeOf(call->getOperand(0));
  SmallVector<SmallVector<int64_t>> numbers;
  for (Value operand : call->getOperands().drop_front(2 * count)) {
    Shape found = constantNumbers(operand);
    if (!found)
      return std::nullopt;
    numbers.push_back(*found);
  }
  for (size_t i = 0; i < numbers.size(); ++i)
    if (!shape || numbers[i].size() != shape->size() * (i == 4 ? 2 : 1))
      return std::nullopt;
  for (auto [d, size] : llvm::enumerate(*shape)) {
    const int64_t window = numbers[0][d], stride = numbers[1][d], base = numbers[2][d], dilation = numbers[3][d];
    if (ShapedType::isDynamic(size) || window <= 0 || stride <= 0 || base <= 0 || dilation <= 0)
      return std::nullopt;
    const int64_t spread = size == 0 ? 0 : (size - 1) * base + 1;
    const int64_t left = spread + numbers[4][2 * d] + numbers[4][2 * d + 1] - ((window - 1) * dilation + 1);
    size = left < 0 ? 0 : left / stride + 1;
  }
  return shape;
}

/// The shape of a result of a custom call, by its name, or by what it states about its operands.
static Shape calledShape(stablehlo::CustomCallOp call, unsigned result) {
  StringRef target = call.getCallTargetName();
  if (target == "stablehlo.dynamic_reduce_window")
    return windowedShape(call);
  if (target == "stablehlo.dynamic_rng_bit_generator" && call.getNumOperands() == 2)
    return result == 0 ? shapeOf(call->getOperand(0)) : constantNumbers(call->getOperand(1));
  if (target == "stablehlo.dynamic_top_k" && call.getNumOperands() == 2) {
    Shape shape = shapeOf(call->getOperand(0)), k = constantNumbers(call->getOperand(1));
    if (!shape || shape->empty() || !k || k->size() != 1)
      return std::nullopt;
    shape->back() = k->front();
    return shape;
  }
  auto operands = shapeOperands(call);
  return operands ? constantNumbers(call->getOperand((*operands)[result])) : std::nullopt;
}

SmallVector<Type> shlo::refinedTypes(Operation *op) {
  SmallVector<Type> types(op->getResultTypes());
  auto take = [&](TypeRange found) {
    for (auto [type, other] : llvm::zip_equal(types, found))
      if (auto tensor = dyn_cast<RankedTensorType>(other))
        type = meet(type, tensor.getShape());
  };
  if (llvm::all_of(types, [](Type type) {
        auto tensor = dyn_cast<ShapedType>(type);
        return !tensor || (tensor.hasRank() && tensor.hasStaticShape());
      }))
    return types;
  if (op->hasTrait<trait::KeepsShape>() && op->getNumOperands() == op->getNumResults()) {
    take(op->getOperandTypes());
  } else if (op->hasTrait<trait::ControlsFlow>()) {
    take(op->getRegion(0).front().getTerminator()->getOperandTypes());
  } else if (auto call = dyn_cast<stablehlo::CustomCallOp>(op)) {
    for (auto [number, type] : llvm::enumerate(types))
      if (Shape shape = calledShape(call, number))
        type = meet(type, *shape);
  } else if (auto tuple = dyn_cast<stablehlo::TupleOp>(op)) {
    types.front() = TupleType::get(op->getContext(), op->getOperandTypes());
  } else if (auto fft = dyn_cast<stablehlo::FftOp>(op)) {
    if (Shape shape = transformedShape(fft))
      types.front() = meet(types.front(), *shape);
  } else if (auto interface = dyn_cast<InferTypeOpInterface>(op)) {
    SmallVector<Type> inferred;
    // The verifier reports violations.
    if (succeeded(interface.inferReturnTypes(op->getContext(), std::nullopt, op->getOperands(),
                                             op->getRawDictionaryAttrs(), op->getPropertiesStorage(), op->getRegions(),
                                             inferred)) &&
        inferred.size() == types.size())
      take(inferred);
  } else if (types.size() == 1) {
    if (Shape shape = shapeFound(op))
      types.front() = meet(types.front(), *shape);
  }
  return types;
}
