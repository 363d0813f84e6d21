//===- DataMovement.cpp - ops that make, move and join data ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Lowering.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/IndexOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PadOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RearrangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatInterleaveOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReverseOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TransposeOp.h"
#include "ttmlir/shapes/Rearrange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

static int64_t integerOf(Attribute attribute) { return cast<IntegerAttr>(attribute).getValue().getSExtValue(); }

static SmallVector<AffineExpr> identity(Lowering &lowering, int64_t rank) {
  SmallVector<AffineExpr> places;
  for (int64_t d = 0; d < rank; ++d)
    places.push_back(lowering.dim(d));
  return places;
}
/// An op along one dimension: `place` is the position from which an element is read.
static LogicalResult along(Lowering &lowering, int64_t dim, llvm::function_ref<AffineExpr(AffineExpr)> place) {
  const int64_t rank = lowering.result().getRank();
  SmallVector<AffineExpr> places = identity(lowering, rank);
  places[fromEnd(dim, rank)] = place(places[fromEnd(dim, rank)]);
  return lowering.give(lowering.moved(lowering.operands[0], places, lowering.result().getShape()));
}

static LogicalResult reshape(Lowering &lowering) {
  return lowering.give(lowering.reshaped(lowering.operands[0], lowering.result().getShape()));
}

static LogicalResult permute(Lowering &lowering) {
  ArrayRef<int64_t> order = cast<ttir::PermuteOp>(lowering.op).getPermutation();
  SmallVector<AffineExpr> places(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    places[from] = lowering.dim(to);
  return lowering.give(lowering.moved(lowering.operands[0], places, lowering.result().getShape()));
}

/// The permuted input, whose dimensions are then grouped.
static LogicalResult rearrange(Lowering &lowering) {
  ArrayRef<int64_t> input = cast<RankedTensorType>(lowering.operands[0].getType()).getShape();
  const auto parsed =
      ::tt::shapes::rearrangement(std::string_view(cast<ttir::RearrangeOp>(lowering.op).getPattern()), input);
  SmallVector<AffineExpr> places(input.size());
  SmallVector<int64_t> shape;
  for (auto [to, from] : llvm::enumerate(parsed.order)) {
    places[from] = lowering.dim(to);
    shape.push_back(input[from]);
  }
  Value permuted = lowering.moved(lowering.operands[0], places, shape);
  return lowering.give(lowering.reshaped(permuted, lowering.result().getShape()));
}

static LogicalResult transpose(Lowering &lowering) {
  auto op = cast<ttir::TransposeOp>(lowering.op);
  const int64_t rank = lowering.result().getRank();
  SmallVector<AffineExpr> places = identity(lowering, rank);
  std::swap(places[fromEnd(op.getDim0(), rank)], places[fromEnd(op.getDim1(), rank)]);
  return lowering.give(lowering.moved(lowering.operands[0], places, lowering.result().getShape()));
}

/// Repeats the input as often as it fits; dimensions of size 1 are read at 0.
static LogicalResult repeat(Lowering &lowering) {
  SmallVector<AffineExpr> places;
  for (auto [d, size] : llvm::enumerate(lowering.type(0).getShape()))
    places.push_back(size == 1                                 ? lowering.b.getAffineConstantExpr(0)
                     : size == lowering.result().getDimSize(d) ? lowering.dim(d)
                                                               : lowering.dim(d) % std::max<int64_t>(size, 1));
  return lowering.give(lowering.moved(lowering.operands[0], places, lowering.result().getShape()));
}

static LogicalResult repeatInterleave(Lowering &lowering) {
  auto op = cast<ttir::RepeatInterleaveOp>(lowering.op);
  return along(lowering, op.getDim(), [&](AffineExpr d) { return d.floorDiv(std::max<int64_t>(op.getRepeats(), 1)); });
}

static LogicalResult reverse(Lowering &lowering) {
  SmallVector<AffineExpr> places = identity(lowering, lowering.result().getRank());
  for (int64_t dim : cast<ttir::ReverseOp>(lowering.op).getDimensions()) {
    dim = fromEnd(dim, lowering.result().getRank());
    places[dim] = lowering.result().getDimSize(dim) - 1 - lowering.dim(dim);
  }
  return lowering.give(lowering.moved(lowering.operands[0], places, lowering.result().getShape()));
}

/// Every `steps[d]`-th element from `begins[d]` on, as many as the type has.
static Value extract(Lowering &lowering, Value value, RankedTensorType type, ArrayRef<int64_t> begins,
                     ArrayRef<int64_t> steps) {
  auto attributes = [&](ArrayRef<int64_t> numbers) {
    return llvm::map_to_vector(numbers, [&](int64_t n) -> OpFoldResult { return lowering.b.getIndexAttr(n); });
  };
  return tensor::ExtractSliceOp::create(lowering.b, type, value, attributes(begins), attributes(type.getShape()),
                                        attributes(steps));
}

static LogicalResult takeFrom(Lowering &lowering, ArrayRef<int64_t> begins, ArrayRef<int64_t> steps) {
  RankedTensorType type = hostType(lowering.result());
  if (type.getNumElements() == 0)
    return lowering.give(lowering.empty(type.getShape(), type.getElementType()));
  return lowering.give(extract(lowering, lowering.operands[0], type, begins, steps));
}

static LogicalResult slice(Lowering &lowering) {
  auto op = cast<ttir::SliceStaticOp>(lowering.op);
  SmallVector<int64_t> begins, steps;
  const ArrayRef<int64_t> shape = lowering.result().getShape();
  SmallVector<AffineExpr> places = identity(lowering, shape.size());
  bool isForward = true;
  for (auto [d, size] : llvm::enumerate(lowering.type(0).getShape())) {
    begins.push_back(fromEnd(integerOf(op.getBegins()[d]), size));
    steps.push_back(integerOf(op.getStep()[d]));
    // The same elements forward, and then in reverse.
    if (steps.back() < 0) {
      isForward = false;
      begins.back() += (shape[d] - 1) * steps.back();
      steps.back() = -steps.back();
      places[d] = shape[d] - 1 - lowering.dim(d);
    }
  }
  if (isForward || lowering.result().getNumElements() == 0)
    return takeFrom(lowering, begins, steps);
  Value part = extract(lowering, lowering.operands[0], hostType(lowering.result()), begins, steps);
  return lowering.give(lowering.moved(part, places, shape));
}

static LogicalResult index(Lowering &lowering) {
  auto op = cast<ttir::IndexOp>(lowering.op);
  const int64_t rank = lowering.type(0).getRank(), dim = fromEnd(int32_t(op.getDim()), rank);
  SmallVector<int64_t> begins(rank, 0), steps(rank, 1);
  begins[dim] = fromEnd(int32_t(op.getBegin()), lowering.type(0).getDimSize(dim));
  steps[dim] = int32_t(op.getStep());
  return takeFrom(lowering, begins, steps);
}

static Value insert(Lowering &lowering, Value part, Value whole, ArrayRef<int64_t> offsets) {
  auto type = cast<RankedTensorType>(part.getType());
  if (type.getNumElements() == 0)
    return whole;
  SmallVector<OpFoldResult> starts, sizes, strides;
  for (auto [d, offset] : llvm::enumerate(offsets)) {
    starts.push_back(lowering.b.getIndexAttr(offset));
    sizes.push_back(lowering.b.getIndexAttr(type.getDimSize(d)));
    strides.push_back(lowering.b.getIndexAttr(1));
  }
  return tensor::InsertSliceOp::create(lowering.b, part, whole, starts, sizes, strides);
}

static LogicalResult concat(Lowering &lowering) {
  RankedTensorType result = lowering.result();
  const int64_t dim = fromEnd(cast<ttir::ConcatOp>(lowering.op).getDim(), result.getRank());
  Value whole = lowering.empty(result.getShape(), hostElement(result.getElementType()));
  SmallVector<int64_t> offsets(result.getRank(), 0);
  for (auto [i, part] : llvm::enumerate(lowering.operands)) {
    whole = insert(lowering, part, whole, offsets);
    offsets[dim] += lowering.type(i).getDimSize(dim);
  }
  return lowering.give(whole);
}

static LogicalResult pad(Lowering &lowering) {
  auto op = cast<ttir::PadOp>(lowering.op);
  RankedTensorType result = lowering.result();
  if (result.getNumElements() == 0)
    return lowering.give(lowering.empty(result.getShape(), hostElement(result.getElementType())));
  // Negative padding is removed first.
  Value part = lowering.operands[0];
  SmallVector<int64_t> offsets, begins, shape(lowering.type(0).getShape());
  for (int64_t d = 0; d < result.getRank(); ++d) {
    const int64_t before = op.getPadding()[2 * d], after = op.getPadding()[2 * d + 1];
    offsets.push_back(std::max<int64_t>(before, 0));
    begins.push_back(-std::min<int64_t>(before, 0));
    shape[d] += std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
  }
  auto given = cast<RankedTensorType>(part.getType());
  if (ArrayRef(shape) != given.getShape())
    part = llvm::is_contained(shape, 0)
               ? lowering.empty(shape, given.getElementType())
               : extract(lowering, part, given.clone(shape), begins, SmallVector<int64_t>(shape.size(), 1));
  Value whole =
      lowering.filled(result.getShape(), hostElement(result.getElementType()), op.getValue().convertToDouble());
  return lowering.give(insert(lowering, part, whole, offsets));
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// Whether a resource has the bytes of its elements; MLIR does not check this.
static bool isWhole(DenseResourceElementsAttr value) {
  AsmResourceBlob *blob = value.getRawHandle().getBlob();
  const unsigned width = value.getElementType().getIntOrFloatBitWidth();
  return blob && blob->getData().size() == static_cast<size_t>(value.getNumElements()) * ((width + 7) / 8);
}

/// Returns the elements of an attribute; those of a resource are read as if they were in the IR.
static DenseElementsAttr elementsOf(ElementsAttr value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  return resource
             ? DenseElementsAttr::getFromRawBuffer(resource.getType(), resource.getRawHandle().getBlob()->getData())
             : dyn_cast<DenseElementsAttr>(value);
}

/// The values in a type of another width: the chip's types are those of results, and values keep those of the source.
static ElementsAttr converted(ElementsAttr value, Type to) {
  Type from = value.getElementType();
  DenseElementsAttr dense = elementsOf(value);
  if (auto format = dyn_cast<FloatType>(to); format && dense && isa<FloatType>(from))
    return dense.mapValues(to, [&](const APFloat &number) {
      APFloat changed = number;
      bool losesDigits = false;
      changed.convert(format.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesDigits);
      return changed.bitcastToAPInt();
    });
  if (auto integer = dyn_cast<IntegerType>(to); integer && dense && isa<IntegerType>(from))
    return dense.mapValues(to, [&](const APInt &number) {
      return from.isUnsignedInteger() ? number.zextOrTrunc(integer.getWidth()) : number.sextOrTrunc(integer.getWidth());
    });
  return {};
}

static LogicalResult constant(Lowering &lowering) {
  auto value = cast<ttir::ConstantOp>(lowering.op).getValue();
  RankedTensorType type = hostType(lowering.result());
  ElementsAttr created;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value); resource && !isWhole(resource))
    return lowering.refuse("its resource does not have the bytes of its elements");
  if (hostElement(value.getElementType()) != type.getElementType())
    created = converted(value, type.getElementType());
  else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    created = DenseResourceElementsAttr::get(type, resource.getRawHandle());
  else if (auto dense = dyn_cast<DenseElementsAttr>(value))
    // The same bits; only the signedness of the type is dropped.
    created = DenseElementsAttr::getFromRawBuffer(type, dense.getRawData());
  if (!created)
    return lowering.refuse("its elements are neither dense nor a resource of the result's kind");
  return lowering.give(arith::ConstantOp::create(lowering.b, cast<TypedAttr>(created)));
}

static LogicalResult fill(Lowering &lowering, double value) {
  RankedTensorType type = hostType(lowering.result());
  return lowering.give(lowering.filled(type.getShape(), type.getElementType(), value));
}
static LogicalResult full(Lowering &lowering) {
  Attribute value = cast<ttir::FullOp>(lowering.op).getFillValue();
  if (auto number = dyn_cast<FloatAttr>(value))
    return fill(lowering, number.getValueAsDouble());
  return fill(lowering, static_cast<double>(integerOf(value)));
}

static LogicalResult arange(Lowering &lowering) {
  auto op = cast<ttir::ArangeOp>(lowering.op);
  RankedTensorType result = lowering.result();
  const unsigned rank = result.getRank();
  Value init = lowering.empty(result.getShape(), hostElement(result.getElementType()));
  if (result.getNumElements() == 0)
    return lowering.give(init);
  const auto dim = static_cast<unsigned>(fromEnd(op.getArangeDimension(), rank));
  return lowering.give(lowering.generic(
      {}, {lowering.b.getMultiDimIdentityMap(rank)}, init,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        Scalars s(b, loc, false);
        Value at = arith::IndexCastOp::create(b, loc, b.getI64Type(), linalg::IndexOp::create(b, loc, dim));
        Value start = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(op.getStart()));
        Value step = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(op.getStep()));
        return s.to(s.add(start, s.mul(at, step)), result.getElementType());
      }));
}

void host::addMovementRules(Rules &rules) {
  for (StringRef name : {"ttir.reshape", "ttir.squeeze", "ttir.unsqueeze"})
    rules[name] = reshape;
  for (StringRef name : {"ttir.broadcast", "ttir.repeat"})
    rules[name] = repeat;
  rules["ttir.permute"] = permute;
  rules["ttir.rearrange"] = rearrange;
  rules["ttir.transpose"] = transpose;
  rules["ttir.repeat_interleave"] = repeatInterleave;
  rules["ttir.reverse"] = reverse;
  rules["ttir.slice_static"] = slice;
  rules["ttir.index"] = [](Lowering &lowering) { return index(lowering); };
  rules["ttir.concat"] = concat;
  rules["ttir.pad"] = pad;
  rules["ttir.constant"] = constant;
  rules["ttir.full"] = full;
  rules["ttir.zeros"] = [](Lowering &lowering) { return fill(lowering, 0); };
  rules["ttir.ones"] = [](Lowering &lowering) { return fill(lowering, 1); };
  rules["ttir.arange"] = arange;
}
