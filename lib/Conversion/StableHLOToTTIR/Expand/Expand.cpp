//===- Expand.cpp - StableHLO ops that others express ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expressions.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/xxhash.h"

namespace mlir::tt {
#define GEN_PASS_DEF_EXPANDSTABLEHLO
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Expr Expr::slice(ArrayRef<int64_t> starts, ArrayRef<int64_t> limits, ArrayRef<int64_t> strides) const {
  SmallVector<int64_t> to;
  bool whole = true;
  for (auto [start, limit, stride, size] : llvm::zip_equal(starts, limits, strides, shape())) {
    to.push_back((limit - start + stride - 1) / stride);
    whole = whole && start == 0 && limit == size && stride == 1;
  }
  return whole ? *this : create<stablehlo::SliceOp>(type().clone(to), tensor, starts, limits, strides);
}

Expr Expr::slice(int64_t dimension, int64_t start, int64_t limit, int64_t stride) const {
  SmallVector<int64_t> starts(rank(), 0), limits(shape()), strides(rank(), 1);
  starts[dimension] = start;
  limits[dimension] = limit;
  strides[dimension] = stride;
  return slice(starts, limits, strides);
}

Expr Expr::concat(ArrayRef<Expr> others, int64_t dimension) const {
  SmallVector<Value> values = {tensor};
  SmallVector<int64_t> to(shape());
  for (Expr other : others) {
    values.push_back(other.tensor);
    to[dimension] += other.size(dimension);
  }
  return create<stablehlo::ConcatenateOp>(type().clone(to), values, static_cast<uint64_t>(dimension));
}

Expr Expr::transpose(ArrayRef<int64_t> permutation) const {
  SmallVector<int64_t> to;
  for (int64_t dimension : permutation)
    to.push_back(size(dimension));
  return create<stablehlo::TransposeOp>(type().clone(to), tensor, permutation);
}

Expr Expr::pad(Expr with, ArrayRef<int64_t> low, ArrayRef<int64_t> high, ArrayRef<int64_t> interior) const {
  SmallVector<int64_t> to;
  bool same = true;
  for (auto [size, before, after, between] : llvm::zip_equal(shape(), low, high, interior)) {
    to.push_back(before + size + std::max<int64_t>(size - 1, 0) * between + after);
    same = same && before == 0 && after == 0 && (between == 0 || size <= 1);
  }
  return same ? *this : create<stablehlo::PadOp>(type().clone(to), tensor, with.tensor, low, high, interior);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

bool hlo::isElementwise(Region &region) {
  return llvm::all_of(region.front().without_terminator(), [](Operation &op) {
    return op.getNumRegions() == 0 && op.getNumResults() == 1 &&
           (tt::isPointwise(&op) || op.hasTrait<OpTrait::ConstantLike>()) &&
           llvm::all_of(op.getResultTypes(), [](Type type) { return cast<RankedTensorType>(type).getRank() == 0; });
  });
}

SmallVector<Expr> hlo::applyRegion(Block &body, ArrayRef<Expr> arguments) {
  ImplicitLocOpBuilder &builder = arguments.front().build();
  ArrayRef<int64_t> shape = arguments.front().shape();
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    mapping.map(argument, value.value());
  // A value from outside is a scalar for all elements.
  auto inside = [&](Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Value spread = Expr(builder, value).spread(shape).value();
    mapping.map(value, spread);
    return spread;
  };
  for (Operation &op : body.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      Value scalar = builder.clone(op)->getResult(0);
      mapping.map(op.getResult(0), Expr(builder, scalar).spread(shape).value());
      continue;
    }
    OperationState state(builder.getLoc(), op.getName());
    state.addTypes(typeOf(op.getResult(0)).clone(shape));
    state.addAttributes(op.getAttrs());
    for (Value operand : op.getOperands())
      state.operands.push_back(inside(operand));
    Operation *copy = builder.create(state);
    mapping.map(op.getResult(0), copy->getResult(0));
  }
  SmallVector<Expr> results;
  for (Value result : body.getTerminator()->getOperands())
    results.emplace_back(builder, inside(result));
  return results;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void hlo::addExpansions(RewritePatternSet &patterns) {
  addBitExpansions(patterns);
  addCallExpansions(patterns);
  addCollectiveExpansions(patterns);
  addConvolutionExpansions(patterns);
  addLapackExpansions(patterns);
  addDeprecatedExpansions(patterns);
  addFunctionExpansions(patterns);
  addLinearAlgebraExpansions(patterns);
  addReflectionExpansions(patterns);
  addScanExpansions(patterns);
  addScatterExpansions(patterns);
  addSpecialExpansions(patterns);
  addTenstorrentExpansions(patterns);
  addTridiagonalExpansions(patterns);
  addWindowExpansions(patterns);
}

/// Returns whether a tensor has a known shape and numeric elements; another pass converts quantized elements to
/// integers.
static bool isStatic(Type type) {
  auto tensor = dyn_cast<ShapedType>(type);
  return !tensor || (isa<RankedTensorType>(type) && tensor.hasStaticShape() &&
                     !isa<quant::QuantizedType>(tensor.getElementType()));
}

namespace {
struct ExpandStableHLO : tt::impl::ExpandStableHLOBase<ExpandStableHLO> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet expansions(context);
    addExpansions(expansions);
    for (const std::unique_ptr<RewritePattern> &pattern : expansions.getNativePatterns())
      roots.insert(*pattern->getRootKind());
    patterns = FrozenRewritePatternSet(std::move(expansions));
    return success();
  }

  void runOnOperation() override {
    // Few programs have such ops; the others are only scanned.
    SmallVector<Operation *> found;
    // Functions are expanded in parallel: the name tells which numbers belong to this one.
    uint32_t random = static_cast<uint32_t>(llvm::xxh3_64bits(getOperation().getSymName()));
    getOperation()->walk([&](Operation *op) {
      if (isa<stablehlo::RngOp>(op))
        op->setAttr(rngNumberAttr, IntegerAttr::get(IntegerType::get(op->getContext(), 64), random++));
      // The conversion reports the remaining ops.
      if (roots.contains(op->getName()) && llvm::all_of(op->getOperandTypes(), isStatic) &&
          llvm::all_of(op->getResultTypes(), isStatic))
        found.push_back(op);
    });
    if (found.empty())
      return markAllAnalysesPreserved();
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    config.enableFolding(false);
    config.enableConstantCSE(false);
    // What is left is named by the conversion.
    (void)applyOpPatternsGreedily(found, patterns, config);
  }

private:
  FrozenRewritePatternSet patterns;
  DenseSet<OperationName> roots;
};
} // namespace
