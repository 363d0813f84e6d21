//===- StableHLOToTTIR.cpp - the lowering of StableHLO to TTIR ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expand/Expressions.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Lowering.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTSTABLEHLOTOTTIR
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// Returns why no pattern can lower the op, or empty: TTIR has static tensors of real numbers.
static std::string unsupportedType(Operation *op) {
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes()))) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (!tensor)
      stream << type << " is not a ranked tensor";
    else if (!tensor.hasStaticShape())
      stream << type << " has a dynamic shape";
    else if (isa<ComplexType>(tensor.getElementType()))
      stream << type << " holds complex numbers";
    else if (llvm::any_of(tensor.getShape(), [](int64_t size) { return size > std::numeric_limits<int32_t>::max(); }))
      stream << type << " has a dimension of 2^31 or more";
    if (!text.empty())
      return text;
  }
  return {};
}

static RewritePatternSet allPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  hlo::addArgReductionPatterns(patterns);
  hlo::addCollectivePatterns(patterns);
  hlo::addConvolutionPatterns(patterns);
  hlo::addDeprecatedExpansions(patterns);
  hlo::addCustomCallPatterns(patterns);
  hlo::addElementwisePatterns(patterns);
  hlo::addFormulaPatterns(patterns);
  hlo::addIndexingPatterns(patterns);
  hlo::addMatmulPatterns(patterns);
  hlo::addNormalizationPatterns(patterns);
  hlo::addOrderingPatterns(patterns);
  hlo::addShapePatterns(patterns);
  hlo::addWindowPatterns(patterns);
  return patterns;
}

/// Returns the op by which an earlier pass of the pipeline replaces this one.
static StringRef loweredBefore(OperationName op) {
  if (op.hasTrait<trait::RunsFunctions>())
    return "func.call";
  if (op.hasTrait<trait::ControlsFlow>())
    return op.getTypeID() == TypeID::get<stablehlo::WhileOp>() ? "ttcore.while" : "ttcore.case";
  return op.hasTrait<trait::ReplacedEarly>() ? "rule" : "";
}

std::string tt::stableHLOLowering(StringRef op, MLIRContext *context) {
  RewritePatternSet patterns = allPatterns(context), expansions(context);
  if (std::optional<std::string> created = loweringOf(op, patterns))
    return *created;
  hlo::addExpansions(expansions);
  for (const std::unique_ptr<RewritePattern> &expansion : expansions.getNativePatterns())
    if (expansion->getRootKind()->getStringRef() == op)
      return "rule";
  context->getOrLoadDialect(op.split('.').first); // else the name has no traits
  return loweredBefore(OperationName(op, context)).str();
}

namespace {
struct StableHLOToTTIR : tt::impl::ConvertStableHLOToTTIRBase<StableHLOToTTIR> {
  LogicalResult initialize(MLIRContext *context) override {
    patterns = FrozenRewritePatternSet(allPatterns(context));
    return success();
  }

  void runOnOperation() override {
    // JAX terminates the functions that custom calls name in this way.
    for (auto end : llvm::to_vector(getOperation().getOps<stablehlo::ReturnOp>())) {
      OpBuilder builder(end);
      func::ReturnOp::create(builder, end.getLoc(), end->getOperands());
      end.erase();
    }
    ConversionTarget target(getContext());
    target.addLegalDialect<ttir::TTIRDialect>();
    // No pattern handles types that TTIR lacks.
    target.addDynamicallyLegalDialect<chlo::ChloDialect, stablehlo::StablehloDialect>(
        [](Operation *op) -> std::optional<bool> {
          return unsupportedType(op).empty() ? std::nullopt : std::optional(true);
        });
    Refusals refusals = convertAll(getOperation(), target, patterns);

    // Regions of StableHLO ops are erased with their ops.
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa_and_present<chlo::ChloDialect, stablehlo::StablehloDialect>(op->getDialect()))
        return WalkResult::advance();
      std::string reason = unsupportedType(op);
      if (reason.empty())
        reason = refusals.contains(op) ? refusals[op] : "there is no lowering for it";
      emitError(op->getLoc()) << op->getName() << ": not converted to TTIR: " << reason;
      signalPassFailure();
      return WalkResult::skip();
    });

    // Padding values and the initial value of a reduction are no longer operands.
    getOperation()->walk([](ttir::ConstantOp constant) {
      if (constant->use_empty())
        constant.erase();
      else if (constant.getType().getNumElements() > 1 && isa<SplatElementsAttr>(constant.getValue()))
        fill(constant);
    });
  }

private:
  /// Replaces equal values, all of which a file would hold, by an op that fills a tensor.
  static void fill(ttir::ConstantOp constant) {
    OpBuilder builder(constant);
    Operation *filled = constant->getDialect()->materializeConstant(builder, constant.getValue(), constant.getType(),
                                                                    constant.getLoc());
    if (!filled)
      return;
    if (isa<ttir::ConstantOp>(filled)) {
      filled->erase();
      return;
    }
    filled->setDiscardableAttrs(constant->getDiscardableAttrDictionary());
    constant->replaceAllUsesWith(filled);
    constant.erase();
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
