//===- CutOps.cpp - ops that are computed in parts ------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A part of a result is what the op gives for parts of the operands whose dimensions follow the result's; the op's
// factors (Families/FactorsInterface.h) say which. The sum over the places of a window has no factor: a convolution
// with a part of the window reads an image that is padded, or cut, by the places that it lacks.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Dialect/Families/FactorsInterface.h"
#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"
#include "ttmlir/Dialect/TTIR/Transforms/SizeAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <numeric>

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRCUTOPS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

static RankedTensorType typeOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

static bool isQuantizedByAxis(Value value) {
  return isa<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(value.getType()));
}

/// The numbers of height and width of an attribute that may have one for both.
static std::array<int64_t, 2> pairOf(Attribute attr) {
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return {number.getInt(), number.getInt()};
  ArrayRef<int32_t> sizes = cast<DenseI32ArrayAttr>(attr).asArrayRef();
  return {sizes.front(), sizes.back()};
}

/// Padding before and behind height and width: of one number for all, [height, width] or [top, left, bottom, right].
static std::array<std::array<int64_t, 2>, 2> sidesOf(Attribute padding) {
  if (auto sizes = dyn_cast<DenseI32ArrayAttr>(padding); sizes && sizes.size() == 4)
    return {{{sizes[0], sizes[2]}, {sizes[1], sizes[3]}}};
  const auto [height, width] = pairOf(padding);
  return {{{height, height}, {width, width}}};
}

static Value slice(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> begins, ArrayRef<int64_t> ends) {
  RankedTensorType type = typeOf(value);
  if (llvm::all_of(begins, [](int64_t begin) { return begin == 0; }) && ends == type.getShape())
    return value;
  SmallVector<int64_t> shape;
  for (auto [begin, end] : llvm::zip_equal(begins, ends))
    shape.push_back(end - begin);
  auto numbers = [&](ArrayRef<int64_t> values) {
    return builder.getI32ArrayAttr(llvm::map_to_vector(values, [](int64_t n) { return static_cast<int32_t>(n); }));
  };
  return ttir::SliceStaticOp::create(builder, loc, type.clone(shape), value, numbers(begins), numbers(ends),
                                     numbers(SmallVector<int64_t>(shape.size(), 1)));
}

/// The dimension of the shape `from` that is dimension `dim` of the shape `to`, if they differ in dimensions of size 1
/// alone.
static std::optional<int64_t> sameDimension(ArrayRef<int64_t> from, ArrayRef<int64_t> to, int64_t dim) {
  auto isLong = [](int64_t size) { return size != 1; };
  if (!isLong(to[dim]) || !llvm::equal(llvm::make_filter_range(from, isLong), llvm::make_filter_range(to, isLong)))
    return std::nullopt;
  int64_t before = llvm::count_if(to.take_front(dim), isLong);
  for (auto [at, size] : llvm::enumerate(from))
    if (isLong(size) && before-- == 0)
      return static_cast<int64_t>(at);
  return std::nullopt;
}

/// Keeps the number of the op's epoch.
static void inEpochOf(Operation *op, Operation *created) {
  if (Attribute epoch = op->getDiscardableAttr(ttcore::epochName))
    created->setDiscardableAttr(ttcore::epochName, epoch);
}

namespace {
/// The dimension of each operand that is cut for a part of the result, or why the op is not cut.
struct Needs {
  SmallVector<std::optional<int64_t>> dims;
  SmallVector<StringRef> sizes; // attributes that state the size of the dimension
  std::string reason;
};

/// A result that was computed in parts.
struct InParts {
  int64_t dim;
  SmallVector<Value> parts;
};

struct CutOps : ttir::impl::TTIRCutOpsBase<CutOps> {
  void runOnOperation() override {
    bool changed = false;
    llvm::DenseMap<Value, InParts> known;
    for (Block &block : getOperation().getBody())
      for (Operation &op : llvm::make_early_inc_range(block)) {
        const Attribute cut = op.removeDiscardableAttr(ttcore::cutName),
                        window = op.removeDiscardableAttr(ttcore::cutWindowName);
        if (!cut && !window)
          continue;
        changed = true;
        if ((cut && failed(cutResult(&op, cut, known))) || (!cut && failed(cutWindow(&op, window))))
          return signalPassFailure();
      }
    if (!changed)
      return markAllAnalysesPreserved();
    // Whole results that only parts of others were computed of.
    for (Block &block : getOperation().getBody())
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if ((op.hasTrait<trait::KeepsOrder>() || known.contains(op.getNumResults() ? op.getResult(0) : Value())) &&
            isOpTriviallyDead(&op))
          op.erase();
  }

private:
  static Needs needsOf(Operation *op, int64_t dim, int64_t count) {
    auto refuse = [](const Twine &reason) { return Needs{{}, {}, reason.str()}; };
    std::optional<Factors> factors = getFactors(op);
    if (!factors)
      return refuse("it is not known how its operands follow its result");
    const size_t result = factors->numOperands();
    const int64_t factor = factors->dimensions(result)[dim][0];
    switch (factors->typeOf(factor).kind) {
    case FactorKind::PassThrough:
      break;
    case FactorKind::Reduction:
    case FactorKind::NeedReplication:
      return refuse("it needs the dimension whole");
    case FactorKind::Permutation:
      return refuse("it moves values along the dimension");
    }
    if (factors->sizeOf(factor) % count != 0)
      return refuse("parts of the result are no parts of its operands");
    if (llvm::any_of(op->getOperands(), isQuantizedByAxis) || llvm::any_of(op->getResults(), isQuantizedByAxis))
      return refuse("it is quantized by scales along a dimension");
    Needs needs;
    for (size_t tensor = 0; tensor < result; ++tensor) {
      std::optional<int64_t> &found = needs.dims.emplace_back();
      for (auto [at, indices] : llvm::enumerate(factors->dimensions(tensor)))
        for (size_t i = 0; i < indices.size(); ++i)
          if (indices[i] == factor) {
            if (i != 0 || found)
              return refuse("parts of the result are no parts of operand " + Twine(tensor));
            found = at;
          }
    }
    for (const Factors::SizeAttribute &attribute : factors->sizeAttributes())
      if (attribute.tensor == result)
        needs.sizes.push_back(attribute.name);
      else if (needs.dims[attribute.tensor])
        return refuse("it states the sizes of operand " + Twine(attribute.tensor));
    return needs;
  }

  LogicalResult cutResult(Operation *op, Attribute request, llvm::DenseMap<Value, InParts> &known) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(request);
    if (!numbers || numbers.size() != 2 || numbers[1] < 1)
      return op->emitOpError() << ttcore::cutName << " is " << request
                               << "; expected a dimension of the result and a number of parts, as array<i64: -1, 2>";
    if (op->hasTrait<trait::MovesValues>())
      return success();
    const int64_t count = numbers[1];
    auto error = [&] { return op->emitOpError() << "is not cut into " << count << " parts: "; };
    RankedTensorType type = op->getNumResults() == 1 ? typeOf(op->getResult(0)) : RankedTensorType();
    if (!type || !type.hasStaticShape())
      return error() << "expected one result of known sizes";
    const int64_t rank = type.getRank(), dim = numbers[0] < 0 ? numbers[0] + rank : numbers[0];
    if (dim < 0 || dim >= rank)
      return error() << "its result " << type << " has no dimension " << numbers[0];
    if (type.getDimSize(dim) == 0 || type.getDimSize(dim) % count != 0)
      return error() << "dimension " << numbers[0] << " of its result " << type << " has size " << type.getDimSize(dim);
    if (count == 1)
      return success();
    const Needs needs = needsOf(op, dim, count);
    if (!needs.reason.empty())
      return error() << needs.reason;
    OpBuilder builder(op);
    const Location loc = ttcore::withoutSourceNumber(op->getLoc());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= count;
    InParts created{dim, {}};
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<Value> operands;
      for (auto [value, at] : llvm::zip_equal(op->getOperands(), needs.dims))
        operands.push_back(at ? partOf(builder, op, loc, value, *at, i, count, known) : value);
      Operation *part = builder.clone(*op);
      part->setLoc(loc);
      part->setOperands(operands);
      part->getResult(0).setType(type.clone(shape));
      for (StringRef attribute : needs.sizes)
        part->setAttr(attribute, ttir::withSize(part->getAttr(attribute), dim, shape[dim]));
      part->setDiscardableAttr(ttcore::partName, builder.getI64IntegerAttr(i));
      created.parts.push_back(part->getResult(0));
    }
    auto whole = ttir::ConcatOp::create(builder, op->getLoc(), type, created.parts, static_cast<int32_t>(dim));
    inEpochOf(op, whole);
    op->getResult(0).replaceAllUsesWith(whole.getResult());
    op->erase();
    known.try_emplace(whole.getResult(), std::move(created));
    return success();
  }

  /// A part of a value: the one that was computed by itself, else a slice.
  static Value partOf(OpBuilder &builder, Operation *op, Location loc, Value value, int64_t dim, int64_t number,
                      int64_t count, const llvm::DenseMap<Value, InParts> &known) {
    ArrayRef<int64_t> shape = typeOf(value).getShape();
    // Behind changes of dimensions of size 1.
    std::optional<int64_t> at = dim;
    for (Value source = value; at; source = source.getDefiningOp()->getOperand(0)) {
      auto found = known.find(source);
      if (found != known.end() && found->second.dim == *at &&
          static_cast<int64_t>(found->second.parts.size()) == count) {
        Value part = found->second.parts[number];
        if (source == value)
          return part;
        SmallVector<int64_t> reshaped(shape);
        reshaped[dim] /= count;
        auto sizes = llvm::map_to_vector(reshaped, [](int64_t size) { return static_cast<int32_t>(size); });
        auto result =
            ttir::ReshapeOp::create(builder, loc, typeOf(value).clone(reshaped), part, builder.getI32ArrayAttr(sizes));
        inEpochOf(op, result);
        return result;
      }
      Operation *producer = source.getDefiningOp();
      if (!producer || !producer->hasTrait<trait::KeepsOrder>())
        break;
      at = sameDimension(typeOf(producer->getOperand(0)).getShape(), typeOf(source).getShape(), *at);
    }
    SmallVector<int64_t> begins(shape.size(), 0), ends(shape);
    begins[dim] = shape[dim] / count * number;
    ends[dim] = begins[dim] + shape[dim] / count;
    Value sliced = slice(builder, loc, value, begins, ends);
    inEpochOf(op, sliced.getDefiningOp());
    return sliced;
  }

  LogicalResult cutWindow(Operation *op, Attribute request) {
    auto number = dyn_cast<IntegerAttr>(request);
    if (!number || number.getInt() < 1)
      return op->emitOpError() << ttcore::cutWindowName << " is " << request
                               << "; expected a number of parts of at least 1";
    if (!op->hasTrait<trait::Convolves>())
      return success();
    auto conv = dyn_cast<ttir::Conv2dOp>(op);
    if (!conv || conv.getFlattenedCompatInfoAttr())
      return op->emitOpError() << "is not computed in parts of its window; expected a ttir.conv2d of images";
    const int64_t parts = number.getInt();
    ArrayRef<int64_t> weight = typeOf(conv.getWeight()).getShape();
    const int64_t rows = std::gcd(parts, weight[2]), columns = parts / rows;
    if (weight[3] % columns != 0)
      return op->emitOpError() << "is not computed in " << parts << " parts: its windows have " << weight[2] << 'x'
                               << weight[3] << " places; expected parts of as many rows and columns each";
    if (parts > 1)
      sumParts(conv, rows, columns);
    return success();
  }

  static void sumParts(ttir::Conv2dOp conv, int64_t rows, int64_t columns) {
    OpBuilder builder(conv);
    const Location loc = ttcore::withoutSourceNumber(conv.getLoc());
    ArrayRef<int64_t> weight = typeOf(conv.getWeight()).getShape();
    const std::array<int64_t, 2> steps = pairOf(conv.getDilation());
    Value sum;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const std::array<int64_t, 2> size = {weight[2] / rows, weight[3] / columns},
                                   first = {i / columns * size[0], i % columns * size[1]};
      SmallVector<int64_t> begins(4, 0), ends(weight);
      SmallVector<int64_t> imageBegins(4, 0), imageEnds(typeOf(conv.getInput()).getShape());
      auto sides = sidesOf(conv.getPadding());
      const std::array<int64_t, 2> dims = {static_cast<int64_t>(conv.getHeightDim()),
                                           static_cast<int64_t>(conv.getWidthDim())};
      bool isEmpty = false;
      for (int d : {0, 1}) {
        begins[2 + d] = first[d];
        ends[2 + d] = first[d] + size[d];
        // Places before and behind the part; what they would read is no padding, or is not read.
        sides[d][0] -= first[d] * steps[d];
        sides[d][1] -= (weight[2 + d] - ends[2 + d]) * steps[d];
        imageBegins[dims[d]] = std::max<int64_t>(0, -sides[d][0]);
        imageEnds[dims[d]] -= std::max<int64_t>(0, -sides[d][1]);
        isEmpty |= imageBegins[dims[d]] >= imageEnds[dims[d]];
        for (int64_t &side : sides[d])
          side = std::max<int64_t>(0, side);
      }
      // It reads padding alone.
      if (isEmpty && (sum || i + 1 < rows * columns))
        continue;
      auto part = cast<ttir::Conv2dOp>(builder.clone(*conv));
      part->setLoc(loc);
      if (!isEmpty) {
        Value image = slice(builder, loc, conv.getInput(), imageBegins, imageEnds),
              window = slice(builder, loc, conv.getWeight(), begins, ends);
        for (Value value : {image, window})
          if (value != conv.getInput() && value != conv.getWeight())
            inEpochOf(conv, value.getDefiningOp());
        part.getInputMutable().assign(image);
        part.getWeightMutable().assign(window);
        part.setPaddingAttr(
            builder.getDenseI32ArrayAttr({static_cast<int32_t>(sides[0][0]), static_cast<int32_t>(sides[1][0]),
                                          static_cast<int32_t>(sides[0][1]), static_cast<int32_t>(sides[1][1])}));
      }
      part->moveBefore(conv);
      part->setDiscardableAttr(ttcore::partName, builder.getI64IntegerAttr(i));
      if (!sum) {
        sum = part.getResult();
        continue;
      }
      part.getBiasMutable().clear();
      auto add = ttir::AddOp::create(builder, loc, part.getResult().getType(), sum, part.getResult());
      inEpochOf(conv, add);
      sum = add.getResult();
    }
    if (Operation *last = sum.getDefiningOp(); isa<ttir::AddOp>(last))
      last->setLoc(conv.getLoc());
    conv.getResult().replaceAllUsesWith(sum);
    conv.erase();
  }
};
} // namespace
