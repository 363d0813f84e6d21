//===- Calls.cpp - ops known by name, and implicit broadcasts -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expressions.h"

#include "ttmlir/Dialect/Debug/IR/Debug.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Attributes.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

/// The ops of CHLO whose operands broadcast are named like an op whose operands do not, after this prefix.
constexpr StringLiteral broadcastPrefix = "chlo.broadcast_";

class ExpandBroadcasting : public RewritePattern {
public:
  ExpandBroadcasting(OperationName from, OperationName to)
      : RewritePattern(from.getStringRef(), /*benefit=*/1, from.getContext()), to(to) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op->getLoc(), rewriter);
    RankedTensorType type = typeOf(op->getResult(0));
    if (!type.hasStaticShape())
      return failure();
    auto given = op->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions");
    OperationState state(op->getLoc(), to);
    state.addTypes(type);
    for (Value operand : op->getOperands()) {
      Expr value(builder, operand);
      SmallVector<int64_t> places = llvm::to_vector(llvm::seq(type.getRank() - value.rank(), type.getRank()));
      if (given && value.rank() < type.getRank() && value.rank() > 0)
        places.assign(given.asArrayRef().begin(), given.asArrayRef().end());
      state.operands.push_back(value.shape() == type.getShape() ? operand
                                                                : value.broadcast(type.getShape(), places).value());
    }
    if (auto compare = dyn_cast<chlo::BroadcastCompareOp>(op)) {
      state.addAttribute("comparison_direction", stablehlo::ComparisonDirectionAttr::get(
                                                     getContext(), static_cast<stablehlo::ComparisonDirection>(
                                                                       compare.getComparisonDirection())));
      if (std::optional<chlo::ComparisonType> how = compare.getCompareType())
        state.addAttribute("compare_type", stablehlo::ComparisonTypeAttr::get(
                                               getContext(), static_cast<stablehlo::ComparisonType>(*how)));
    }
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }

private:
  OperationName to;
};

struct ExpandConstant : OpRewritePattern<chlo::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(chlo::ConstantOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, op.getType(), op.getValue());
    return success();
  }
};

struct ExpandConstantLike : OpRewritePattern<chlo::ConstantLikeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(chlo::ConstantLikeOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getResult());
    if (!type.hasStaticShape() || !isa<FloatAttr, IntegerAttr>(op.getValue()))
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, DenseElementsAttr::get(type, Attribute(op.getValue())));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Values passed on
//===----------------------------------------------------------------------===//

/// Custom calls that describe their operand and return it unchanged.
constexpr StringLiteral transparentCalls[] = {
    "Sharding",         "annotate_device_placement", "LayoutConstraint", "CreateBuffer", "Pin", "Unpin",
    "InspectSharding",  // of JAX: who runs the compiler tells what was found
    "tt.mark_argument", // of PyTorch/XLA: the name and the role of an argument
    "xla_mark_tensor",  // of PyTorch/XLA: a border of a pattern
};

} // namespace

bool hlo::passesOn(stablehlo::CustomCallOp op) {
  return op.getNumResults() == op.getNumOperands() && llvm::is_contained(transparentCalls, op.getCallTargetName());
}

namespace {
/// Custom calls of one operand that are an op of CHLO or StableHLO.
struct NamedCall {
  StringRef target, op;
};
constexpr NamedCall namedCalls[] = {
    {"mhlo.acos", "chlo.acos"},   {"mhlo.acosh", "chlo.acosh"},  {"mhlo.asin", "chlo.asin"},
    {"mhlo.asinh", "chlo.asinh"}, {"mhlo.atanh", "chlo.atanh"},  {"mhlo.cosh", "chlo.cosh"},
    {"mhlo.atan", "chlo.atan"},   {"mhlo.erf", "chlo.erf"},      {"mhlo.erfc", "chlo.erfc"},
    {"mhlo.sinh", "chlo.sinh"},   {"mhlo.tan", "stablehlo.tan"},
};

struct ExpandCustomCall : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    StringRef target = op.getCallTargetName();
    if (passesOn(op) && op->getResultTypes() == op->getOperandTypes()) {
      rewriter.replaceOp(op, op.getOperands());
      return success();
    }
    if (target == "tt.host_call")
      return callHost(op, rewriter);
    if (target == "mhlo.topk")
      return expandTopK(op, rewriter);
    if (target == "ApproxTopK")
      return expandApproxTopK(op, rewriter);
    const auto *named = llvm::find_if(namedCalls, [&](const NamedCall &call) { return call.target == target; });
    if (named == std::end(namedCalls) || op.getNumOperands() != 1 || op->getResultTypes() != op->getOperandTypes())
      return failure();
    OperationState state(op.getLoc(), named->op, op->getOperands(), op->getResultTypes());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }

private:
  /// A function of the process that runs the program, known by its name. A function that is called once for the whole
  /// mesh gets the values of its first chip, which all chips share.
  static LogicalResult callHost(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    auto function = op->getAttrOfType<StringAttr>("backend_config");
    if (!function || function.empty())
      return rewriter.notifyMatchFailure(op, "its backend_config is no name of a function");
    SmallVector<Value> operands(op->getOperands());
    if (op->hasAttr(shlo::onceName))
      for (Value &operand : operands)
        operand = ttir::MeshShardOp::create(
            rewriter, op.getLoc(), operand.getType(), operand,
            ttcore::MeshShardTypeAttr::get(op.getContext(), ttcore::MeshShardType::Replicate),
            ttcore::MeshShardDirectionAttr::get(op.getContext(), ttcore::MeshShardDirection::ShardToFull),
            rewriter.getDenseI64ArrayAttr({1}), rewriter.getDenseI64ArrayAttr({-1}));
    rewriter.replaceOpWithNewOp<debug::HostCallOp>(op, op->getResultTypes(), operands, function);
    return success();
  }

  static LogicalResult expandTopK(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    auto attributes = op->getAttrOfType<DictionaryAttr>("mhlo.attributes");
    const std::optional<int64_t> k = attributes ? shlo::integerOf(attributes.get("k")) : std::nullopt;
    auto largest = attributes ? attributes.getAs<BoolAttr>("largest") : BoolAttr();
    if (!k || op.getNumOperands() != 1 || op.getNumResults() != 2 || *k < 0)
      return rewriter.notifyMatchFailure(op, "expected one operand, two results and the attribute k");
    auto operand = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!operand || operand.getRank() == 0 || *k > operand.getShape().back())
      return failure();
    if (!largest || largest.getValue()) {
      rewriter.replaceOpWithNewOp<chlo::TopKOp>(op, op->getResultTypes(), op->getOperand(0), *k);
      return success();
    }
    // The least are the greatest if the order is reversed: by the sign, or, for integers, by all bits.
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    const bool isFloat = isa<FloatType>(operand.getElementType());
    auto turned = [&](Value value) {
      Expr x(builder, value);
      return (isFloat ? -x : ~x).value();
    };
    auto top =
        chlo::TopKOp::create(builder, op->getResultTypes(), turned(op->getOperand(0)), static_cast<uint64_t>(*k));
    rewriter.replaceOp(op, {turned(top.getResult(0)), top.getResult(1)});
    return success();
  }

  /// (values, positions, initial value, initial position): the largest, or smallest, along a dimension; exact results
  /// satisfy a request for approximate ones. The initial value tells which: it is the last in the order.
  static LogicalResult expandApproxTopK(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    DictionaryAttr config = dyn_cast_if_present<DictionaryAttr>(op->getAttr("mhlo.backend_config"));
    if (!config)
      config = dyn_cast_if_present<DictionaryAttr>(op->getAttr("backend_config"));
    auto dimension = config ? config.getAs<IntegerAttr>("reduction_dim") : IntegerAttr();
    if (!dimension || op.getNumOperands() != 4 || op.getNumResults() != 2)
      return rewriter.notifyMatchFailure(op, "expected four operands, two results and reduction_dim");
    RankedTensorType values = typeOf(op->getOperand(0)), found = typeOf(op->getResult(0)),
                     positions = typeOf(op->getResult(1));
    const int64_t dim = dimension.getInt(), rank = values.getRank();
    if (dim < 0 || dim >= rank || !values.hasStaticShape() || !found.hasStaticShape() ||
        !isa<FloatType>(values.getElementType()) || !positions.getElementType().isInteger(32) ||
        positions.getShape() != found.getShape() || found.getRank() != rank ||
        found.getDimSize(dim) > values.getDimSize(dim))
      return rewriter.notifyMatchFailure(op, "expected floats and positions in i32, along a dimension of static size");
    DenseFPElementsAttr initial;
    if (!matchPattern(op->getOperand(2), m_Constant(&initial)) || initial.getNumElements() != 1 ||
        !(*initial.value_begin<APFloat>()).isInfinity())
      return rewriter.notifyMatchFailure(op, "its initial value is not an infinite constant");
    const bool isLargest = (*initial.value_begin<APFloat>()).isNegative();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr x(builder, op->getOperand(0));
    if (!isLargest)
      x = -x;
    SmallVector<int64_t> last(llvm::to_vector(llvm::seq(rank)));
    last.erase(last.begin() + dim);
    last.push_back(dim);
    if (dim != rank - 1)
      x = x.transpose(last);
    SmallVector<int64_t> shape(x.shape());
    shape.back() = found.getDimSize(dim);
    auto top = chlo::TopKOp::create(builder, TypeRange{found.clone(shape), positions.clone(shape)}, x.value(),
                                    static_cast<uint64_t>(shape.back()));
    Expr best(builder, top.getResult(0)), places(builder, top.getResult(1));
    if (dim != rank - 1) {
      const SmallVector<int64_t> back = invertPermutationVector(last);
      best = best.transpose(back);
      places = places.transpose(back);
    }
    rewriter.replaceOp(op, {(isLargest ? best : -best).value(), places.value()});
    return success();
  }
};

/// Nothing is moved between ops if that could be observed.
struct ExpandOptimizationBarrier : OpRewritePattern<stablehlo::OptimizationBarrierOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::OptimizationBarrierOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getOperands());
    return success();
  }
};

/// Replaces a composite by the op that computes its decomposition; jaxlib writes ops of CHLO as composites.
struct ExpandComposite : OpRewritePattern<stablehlo::CompositeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CompositeOp op, PatternRewriter &rewriter) const override {
    StringRef name = op.getName();
    if (name == "chlo.top_k") {
      auto k = op.getCompositeAttributes() ? op.getCompositeAttributes()->getAs<IntegerAttr>("k") : IntegerAttr();
      if (!k || op.getNumOperands() != 1 || op.getNumResults() != 2)
        return failure();
      rewriter.replaceOpWithNewOp<chlo::TopKOp>(op, op->getResultTypes(), op->getOperand(0), k.getInt());
      return success();
    }
    const auto *named = llvm::find_if(namedCalls, [&](const NamedCall &call) { return call.op == name; });
    if (named == std::end(namedCalls) || op.getNumOperands() != 1 || op->getResultTypes() != op->getOperandTypes() ||
        !isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType())))
      return failure();
    OperationState state(op.getLoc(), named->op, op->getOperands(), op->getResultTypes());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};
} // namespace

void hlo::addCallExpansions(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (RegisteredOperationName from : context->getRegisteredOperations())
    if (StringRef name = from.getStringRef(); name.consume_front(broadcastPrefix))
      for (StringRef dialect : {"stablehlo", "chlo"})
        if (OperationName to((dialect + "." + name).str(), context); to.isRegistered()) {
          patterns.add(std::make_unique<ExpandBroadcasting>(from, to));
          break;
        }
  patterns.add<ExpandComposite, ExpandConstant, ExpandConstantLike, ExpandCustomCall, ExpandOptimizationBarrier>(
      context);
}
