//===- Dynamism.cpp - static ops in the place of dynamic ones -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shapes.h"

#include "ttmlir/Dialect/Chlo/IR/Chlo.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_STABLEHLOCANONICALIZEDYNAMISM
#define GEN_PASS_DEF_STABLEHLOCHECKSHAPEASSERTIONS
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

//===----------------------------------------------------------------------===//
// Static forms
//===----------------------------------------------------------------------===//

static bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

namespace {
/// Replaces a custom call of dynamic results whose shapes are static by the op that it represents, or by the call
/// without the operands that are shapes.
struct StaticCustomCall : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    if (!llvm::all_of(op->getResultTypes(), isStatic))
      return failure();
    StringRef target = op.getCallTargetName();
    if (target == "stablehlo.dynamic_reduce_window")
      return reduceWindow(op, rewriter);
    if (target == "stablehlo.dynamic_rng_bit_generator")
      return randomBits(op, rewriter);
    if (target == "stablehlo.dynamic_top_k")
      return topK(op, rewriter);
    return withoutShapes(op, rewriter);
  }

private:
  static LogicalResult withoutShapes(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    auto shapes = shapeOperands(op);
    if (!shapes)
      return failure();
    for (auto [type, operand] : llvm::zip_equal(op->getResultTypes(), *shapes)) {
      auto numbers = constantNumbers(op->getOperand(operand));
      if (!numbers || ArrayRef(*numbers) != cast<RankedTensorType>(type).getShape())
        return failure();
    }
    llvm::BitVector gone(op.getNumOperands());
    for (int64_t operand : *shapes)
      gone.set(operand);
    rewriter.modifyOpInPlace(op, [&] {
      op->eraseOperands(gone);
      op->removeAttr(shapeOperandsAttr);
      if (ArrayAttr layouts = op.getOperandLayoutsAttr()) {
        SmallVector<Attribute> kept;
        for (auto [i, layout] : llvm::enumerate(layouts))
          if (i >= gone.size() || !gone[i])
            kept.push_back(layout);
        op.setOperandLayoutsAttr(rewriter.getArrayAttr(kept));
      }
    });
    return success();
  }

  /// (inputs, initial values, window dimensions, strides, base dilations, window dilations, padding), of a computation
  /// of two tuples of scalars.
  static LogicalResult reduceWindow(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    const unsigned count = op.getNumResults();
    auto called = op.getCalledComputations();
    if (op.getNumOperands() != 2 * count + 5 || !called || called->size() != 1)
      return rewriter.notifyMatchFailure(op, "expected inputs, initial values, five tensors and a computation");
    SmallVector<SmallVector<int64_t>> numbers;
    for (Value operand : op->getOperands().drop_front(2 * count)) {
      auto found = constantNumbers(operand);
      if (!found)
        return failure();
      numbers.push_back(*found);
    }
    auto body = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, cast<FlatSymbolRefAttr>((*called)[0]).getAttr());
    if (!body || body.isExternal() || !body.getBody().hasOneBlock() || body.getNumArguments() != 2 * count)
      return failure();
    auto inputs = llvm::to_vector(op->getOperands().take_front(2 * count));
    if (op->hasAttr(computedPaddingAttr))
      padFirst(op, inputs, numbers, rewriter);
    auto padding = DenseIntElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(numbers[4].size() / 2), 2}, rewriter.getI64Type()), numbers[4]);
    OperationState state(op.getLoc(), stablehlo::ReduceWindowOp::getOperationName());
    state.addOperands(inputs);
    state.addTypes(op->getResultTypes());
    for (auto [name, list] : llvm::zip(
             ArrayRef<StringRef>{"window_dimensions", "window_strides", "base_dilations", "window_dilations"}, numbers))
      state.addAttribute(name, rewriter.getDenseI64ArrayAttr(list));
    state.addAttribute("padding", padding);
    Region *region = state.addRegion();
    IRMapping mapping;
    body.getBody().cloneInto(region, mapping);
    Operation *created = rewriter.create(state);
    Operation *terminator = created->getRegion(0).front().getTerminator();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(terminator);
    stablehlo::ReturnOp::create(rewriter, op.getLoc(), terminator->getOperands());
    rewriter.eraseOp(terminator);
    rewriter.replaceOp(op, created);
    return success();
  }

  /// Windows that move by several elements have other padding for sizes with other remainders, and none for some sizes.
  /// The op is the same for all sizes if the inputs get the largest padding that the window needs, and a slice drops
  /// the rest.
  static void padFirst(stablehlo::CustomCallOp op, MutableArrayRef<Value> inputs,
                       MutableArrayRef<SmallVector<int64_t>> numbers, PatternRewriter &rewriter) {
    const size_t count = inputs.size() / 2;
    auto first = dyn_cast<RankedTensorType>(inputs.front().getType());
    if (!first || !llvm::all_of(ValueRange(inputs).getTypes(), isStatic))
      return;
    const auto shape = first.getShape();
    SmallVector<int64_t> edges(shape.size()), starts(shape.size()), limits(shape), padded(shape), none(shape.size()),
        ones(shape.size(), 1);
    for (auto [i, list] : llvm::enumerate(numbers))
      if (list.size() != shape.size() * (i == 4 ? 2 : 1))
        return;
    bool moves = false;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t &low = numbers[4][2 * d], &high = numbers[4][2 * d + 1];
      const int64_t most = (numbers[0][d] - 1) * numbers[3][d];
      if (numbers[1][d] == 1 || numbers[2][d] != 1 || most <= 0 || low < 0 || high < 0 || low + high > most)
        continue;
      edges[d] = most;
      padded[d] += 2 * most;
      starts[d] = most - low;
      limits[d] = most + shape[d] + high;
      low = high = 0;
      moves = true;
    }
    for (size_t i = 0; moves && i < count; ++i) {
      auto type = cast<RankedTensorType>(inputs[i].getType());
      if (type.getShape() != shape)
        continue; // the op's verifier says so
      inputs[i] = stablehlo::PadOp::create(rewriter, op.getLoc(), type.clone(padded), inputs[i], inputs[count + i],
                                           edges, edges, none);
      SmallVector<int64_t> sizes;
      for (auto [start, limit] : llvm::zip_equal(starts, limits))
        sizes.push_back(limit - start);
      inputs[i] = stablehlo::SliceOp::create(rewriter, op.getLoc(), type.clone(sizes), inputs[i], starts, limits, ones);
    }
  }

  /// (state, shape), with the algorithm as an attribute.
  static LogicalResult randomBits(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    auto algorithm = op->getAttrOfType<stablehlo::RngAlgorithmAttr>("rng_algorithm");
    if (!algorithm || op.getNumOperands() != 2 || op.getNumResults() != 2)
      return rewriter.notifyMatchFailure(op, "expected state, shape, two results and rng_algorithm");
    auto created =
        stablehlo::RngBitGeneratorOp::create(rewriter, op.getLoc(), op->getResultTypes(), op->getOperand(0), algorithm);
    rewriter.replaceOp(op, created);
    return success();
  }

  /// (values, k)
  static LogicalResult topK(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    if (op.getNumOperands() != 2 || op.getNumResults() != 2)
      return failure();
    auto k = constantNumbers(op->getOperand(1));
    if (!k || k->size() != 1 || k->front() < 0)
      return failure();
    rewriter.replaceOpWithNewOp<chlo::TopKOp>(op, op->getResultTypes(), op->getOperand(0),
                                              static_cast<uint64_t>(k->front()));
    return success();
  }
};

/// The size is the whole dimension.
struct StaticDimensionSize : OpRewritePattern<stablehlo::SetDimensionSizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::SetDimensionSizeOp op, PatternRewriter &rewriter) const override {
    auto size = constantNumbers(op.getSize());
    if (!size || op.getOperand().getType() != op.getType() || !isStatic(op.getType()) ||
        size->front() != cast<RankedTensorType>(op.getType()).getDimSize(op.getDimension()))
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

template <class... OpT> void addCanonicalizations(RewritePatternSet &patterns) {
  (OpT::getCanonicalizationPatterns(patterns, patterns.getContext()), ...);
}

struct CanonicalizeDynamism : shlo::impl::StablehloCanonicalizeDynamismBase<CanonicalizeDynamism> {
  void getDependentDialects(DialectRegistry &registry) const override {
    StablehloCanonicalizeDynamismBase::getDependentDialects(registry);
    registry.insert<chlo::ChloDialect>();
  }

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet found(context);
    addCanonicalizations<stablehlo::DynamicBroadcastInDimOp, stablehlo::DynamicConvOp, stablehlo::DynamicGatherOp,
                         stablehlo::DynamicIotaOp, stablehlo::DynamicPadOp, stablehlo::DynamicReshapeOp,
                         stablehlo::RealDynamicSliceOp>(found);
    found.add<StaticCustomCall, StaticDimensionSize>(context);
    for (const std::unique_ptr<RewritePattern> &pattern : found.getNativePatterns())
      roots.insert(*pattern->getRootKind());
    patterns = FrozenRewritePatternSet(std::move(found));
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation()->walk([&](Operation *op) {
      if (roots.contains(op->getName()))
        found.push_back(op);
    });
    if (found.empty())
      return markAllAnalysesPreserved();
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingOps);
    config.enableFolding(false);
    config.enableConstantCSE(false);
    (void)applyOpPatternsGreedily(found, patterns, config);
  }

private:
  FrozenRewritePatternSet patterns;
  DenseSet<OperationName> roots;
};

//===----------------------------------------------------------------------===//
// Assertions
//===----------------------------------------------------------------------===//

struct CheckShapeAssertions : shlo::impl::StablehloCheckShapeAssertionsBase<CheckShapeAssertions> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<stablehlo::CustomCallOp> assertions;
    getOperation().walk([&](stablehlo::CustomCallOp call) {
      if (call.getCallTargetName() == "shape_assertion")
        assertions.push_back(call);
    });
    if (assertions.empty())
      return markAllAnalysesPreserved();
    for (stablehlo::CustomCallOp call : assertions) {
      if (enableShapeAssertions && failed(check(call)))
        signalPassFailure();
      else
        call.erase();
    }
  }

private:
  static LogicalResult check(stablehlo::CustomCallOp call) {
    auto isScalar = [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.getRank() == 0 && type.getElementType().isInteger();
    };
    auto message = call->getAttrOfType<StringAttr>("error_message");
    if (call.getNumOperands() == 0 || call.getNumResults() != 0 || !llvm::all_of(call->getOperands(), isScalar) ||
        !getElementTypeOrSelf(call->getOperand(0).getType()).isInteger(1) || !message)
      return call.emitOpError("@shape_assertion has other operands, results or attributes; expected a condition, "
                              "integers that its message shows, no results, and error_message");
    auto holds = constantNumbers(call->getOperand(0));
    if (!holds)
      return call.emitOpError("@shape_assertion has a condition that is not constant; expected shapes that are known, "
                              "as after stablehlo-refine-shapes");
    if (holds->front() != 0)
      return success();
    // {0}, {1}, ... are the integers.
    std::string text;
    StringRef rest = message.getValue();
    while (!rest.empty()) {
      unsigned number = 0;
      StringRef after = rest;
      if (after.consume_front("{") && !after.consumeInteger(10, number) && after.consume_front("}") &&
          number + 1 < call.getNumOperands()) {
        auto value = constantNumbers(call->getOperand(number + 1));
        text += value ? std::to_string(value->front()) : "?";
        rest = after;
        continue;
      }
      text += rest.front();
      rest = rest.drop_front();
    }
    return call.emitError(text);
  }
};
} // namespace
