//===- Decomposition.cpp - ops written with more common ones -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DotGeneralOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GetDimensionSizeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/IndexOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/IndexSelectOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SqueezeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/UnsqueezeOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRTOTTIRDECOMPOSITION
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// A dimension of `value`; negative ones count from the end.
static int64_t positive(int64_t dim, Value value) { return dim < 0 ? dim + typeOf(value).getRank() : dim; }

namespace {
/// Creates the ops that replace one. Returns null for an op that stays.
class Decomposer {
public:
  explicit Decomposer(Operation *op)
      : op(op), builder(op), inner(ttcore::withoutSourceNumber(op->getLoc())),
        result(cast<RankedTensorType>(op->getResult(0).getType())) {}

  Value run() {
    if (auto dot = dyn_cast<DotGeneralOp>(op))
      return product(dot);
    if (auto index = dyn_cast<IndexOp>(op))
      return part(index);
    if (auto select = dyn_cast<IndexSelectOp>(op))
      return runs(select);
    if (auto size = dyn_cast<GetDimensionSizeOp>(op)) {
      const int64_t extent =
          typeOf(size.getOperand()).getDimSize(positive(size.getDimensionAttr().getInt(), size.getOperand()));
      if (ShapedType::isDynamic(extent))
        return {};
      return FullOp::create(builder, op->getLoc(), result, sizes(result.getShape()), builder.getI32IntegerAttr(extent));
    }
    return reshape(op->getOperand(0), result.getShape(), /*isLast=*/true);
  }

private:
  DenseI32ArrayAttr sizes(ArrayRef<int64_t> shape) {
    return builder.getDenseI32ArrayAttr(SmallVector<int32_t>(shape.begin(), shape.end()));
  }

  Value reshape(Value value, ArrayRef<int64_t> shape, bool isLast = false) {
    if (!isLast && typeOf(value).getShape() == shape)
      return value;
    SmallVector<int32_t> extents(shape.begin(), shape.end());
    return ReshapeOp::create(builder, isLast ? op->getLoc() : inner, typeOf(value).clone(shape), value,
                             builder.getI32ArrayAttr(extents));
  }

  Value permute(Value value, ArrayRef<int64_t> order) {
    if (llvm::equal(order, llvm::seq<int64_t>(order.size())))
      return value;
    SmallVector<int64_t> shape = llvm::map_to_vector(order, [&](int64_t dim) { return typeOf(value).getDimSize(dim); });
    return PermuteOp::create(builder, inner, typeOf(value).clone(shape), value, order);
  }

  Value slice(Value value, RankedTensorType type, int64_t dim, int64_t begin, int64_t end, int64_t step, bool isLast) {
    SmallVector<int32_t> begins(type.getRank(), 0), ends(typeOf(value).getShape()), steps(type.getRank(), 1);
    begins[dim] = begin, ends[dim] = end, steps[dim] = step;
    return SliceStaticOp::create(builder, isLast ? op->getLoc() : inner, type, value, builder.getI32ArrayAttr(begins),
                                 builder.getI32ArrayAttr(ends), builder.getI32ArrayAttr(steps));
  }

  Value part(IndexOp index) {
    Value input = index.getInput();
    const int64_t dim = positive(index.getDimAttr().getInt(), input), begin = index.getBeginAttr().getInt(),
                  end = index.getEndAttr().getInt(), step = index.getStepAttr().getInt();
    if (begin < 0 || step < 1 || end > typeOf(input).getDimSize(dim) || begin >= end)
      return {};
    return slice(input, result, dim, begin, end, step, /*isLast=*/true);
  }

  /// Runs of `length` from `begin`, one every `stride` elements, the last one cut at the end.
  Value runs(IndexSelectOp select) {
    Value input = select.getInput();
    const int64_t dim = positive(select.getDimAttr().getValue().getSExtValue(), input),
                  stride = select.getStrideAttr() ? select.getStrideAttr().getValue().getSExtValue() : 0,
                  length = select.getLengthAttr().getValue().getSExtValue();
    const int64_t extent = typeOf(input).getDimSize(dim), start = select.getBeginAttr().getValue().getSExtValue();
    if (start < 0 || start >= extent || length < 1)
      return {};
    if (stride <= 0 || start + stride >= extent)
      return slice(input, result, dim, start, std::min(start + length, extent), 1, /*isLast=*/true);
    // The runs with a whole stride are the first columns of a matrix that has one row for each stride.
    const int64_t count = (extent - start) / stride, end = start + count * stride,
                  left = std::min(length, extent - end);
    SmallVector<int64_t> shape(typeOf(input).getShape());
    auto ofSize = [&](int64_t size) {
      shape[dim] = size;
      return typeOf(input).clone(shape);
    };
    Value whole = slice(input, ofSize(count * stride), dim, start, end, 1, /*isLast=*/false);
    SmallVector<int64_t> matrix(shape);
    matrix[dim] = stride;
    matrix.insert(matrix.begin() + dim, count);
    whole = reshape(whole, matrix);
    matrix[dim + 1] = length;
    whole = slice(whole, typeOf(whole).clone(matrix), dim + 1, 0, length, 1, /*isLast=*/false);
    if (left == 0)
      return reshape(whole, result.getShape(), /*isLast=*/true);
    SmallVector<Value> parts = {reshape(whole, ofSize(count * length).getShape()),
                                slice(input, ofSize(left), dim, end, end + left, 1, /*isLast=*/false)};
    return ConcatOp::create(builder, op->getLoc(), result, parts, static_cast<int32_t>(dim));
  }

  /// A product of matrices whose rows or columns are the free dimensions.
  Value product(DotGeneralOp dot) {
    struct Side {
      SmallVector<int64_t> free;
      int64_t batchSize = 1, freeSize = 1, contractedSize = 1;
    };
    auto sideOf = [](Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracted) {
      Side side;
      for (int64_t dim = 0, rank = typeOf(value).getRank(); dim < rank; ++dim) {
        const int64_t size = typeOf(value).getDimSize(dim);
        if (llvm::is_contained(batch, dim)) {
          side.batchSize *= size;
        } else if (llvm::is_contained(contracted, dim)) {
          side.contractedSize *= size;
        } else {
          side.freeSize *= size;
          side.free.push_back(dim);
        }
      }
      return side;
    };
    auto matrices = [&](Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> rows, ArrayRef<int64_t> columns,
                        ArrayRef<int64_t> shape) {
      SmallVector<int64_t> order(batch);
      llvm::append_range(order, rows);
      llvm::append_range(order, columns);
      return reshape(permute(value, order), batch.empty() ? shape.drop_front() : shape);
    };
    ArrayRef<int64_t> batch = dot.getBatchDimsLhs();
    Side lhs = sideOf(dot.getLhs(), batch, dot.getContractDimsLhs()),
         rhs = sideOf(dot.getRhs(), dot.getBatchDimsRhs(), dot.getContractDimsRhs());
    Value a = matrices(dot.getLhs(), batch, lhs.free, dot.getContractDimsLhs(),
                       {lhs.batchSize, lhs.freeSize, lhs.contractedSize});
    Value b = matrices(dot.getRhs(), dot.getBatchDimsRhs(), dot.getContractDimsRhs(), rhs.free,
                       {rhs.batchSize, rhs.contractedSize, rhs.freeSize});
    SmallVector<int64_t> shape = {lhs.batchSize, lhs.freeSize, rhs.freeSize};
    RankedTensorType type = result.clone(batch.empty() ? ArrayRef(shape).drop_front() : ArrayRef(shape));
    const bool isLast = type == result;
    auto created = MatmulOp::create(builder, isLast ? op->getLoc() : inner, type, a, b, builder.getBoolAttr(false),
                                    builder.getBoolAttr(false));
    ttcore::passAnnotationsOn(dot, created);
    return isLast ? Value(created) : reshape(created, result.getShape(), /*isLast=*/true);
  }

  Operation *op;
  OpBuilder builder;
  Location inner;
  RankedTensorType result;
};

struct Decomposition : ttir::impl::TTIRToTTIRDecompositionBase<Decomposition> {
  using Base::Base;
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](Operation *op) {
      if (!isa<DotGeneralOp, GetDimensionSizeOp, IndexOp, IndexSelectOp, SqueezeOp, UnsqueezeOp>(op))
        return;
      auto hasSizes = [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return tensor && tensor.hasStaticShape() && !tensor.getEncoding();
      };
      if (!llvm::all_of(op->getOperandTypes(), hasSizes) || !llvm::all_of(op->getResultTypes(), hasSizes))
        return;
      Value created = Decomposer(op).run();
      if (!created)
        return;
      op->getResult(0).replaceAllUsesWith(created);
      op->erase();
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
