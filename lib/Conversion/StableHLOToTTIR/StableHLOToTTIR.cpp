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
static StringRef loweredBefore(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("stablehlo.while", "ttcore.while")
      .Cases({"stablehlo.case", "stablehlo.if"}, "ttcore.case")
      .Case("stablehlo.composite", "func.call")
      // Folded or canonicalized where the shape is known.
      .Cases({"stablehlo.get_dimension_size", "stablehlo.get_tuple_element", "stablehlo.tuple"}, "rule")
      .Cases({"stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_conv", "stablehlo.dynamic_gather",
              "stablehlo.dynamic_iota", "stablehlo.dynamic_pad"},
             "rule")
      .Cases({"stablehlo.dynamic_reshape", "stablehlo.real_dynamic_slice"}, "rule")
      // Programs run in order.
      .Cases({"stablehlo.after_all", "stablehlo.create_token"}, "rule")
      // As parts of complex numbers.
      .Cases({"stablehlo.uniform_dequantize", "stablehlo.uniform_quantize"}, "rule")
      .Cases({"chlo._asin_acos_kernel", "stablehlo.complex", "stablehlo.fft", "stablehlo.imag", "stablehlo.real"},
             "rule")
      .Default("");
}

std::string tt::stableHLOLowering(StringRef op, MLIRContext *context) {
  RewritePatternSet patterns = allPatterns(context), expansions(context);
  if (std::optional<std::string> created = loweringOf(op, patterns))
    return *created;
  hlo::addExpansions(expansions);
  for (const std::unique_ptr<RewritePattern> &expansion : expansions.getNativePatterns())
    if (expansion->getRootKind()->getStringRef() == op)
      return "rule";
  return loweredBefore(op).str();
}

namespace {
struct StableHLOToTTIR : tt::impl::ConvertStableHLOToTTIRBase<StableHLOToTTIR> {
  LogicalResult initialize(MLIRContext *context) override {
    patterns = FrozenRewritePatternSet(allPatterns(context));
    return success();
  }

  void runOnOperation() override {
    // JAX ends the functions so that custom calls name.
    for (auto end : llvm::to_vector(getOperation().getOps<stablehlo::ReturnOp>())) {
      OpBuilder builder(end);
      func::ReturnOp::create(builder, end.getLoc(), end->getOperands());
      end.erase();
    }
    ConversionTarget target(getContext());
    target.addLegalDialect<ttir::TTIRDialect>();
    // No pattern sees types that TTIR does not have.
    target.addDynamicallyLegalDialect<chlo::ChloDialect, stablehlo::StablehloDialect>(
        [](Operation *op) -> std::optional<bool> {
          return unsupportedType(op).empty() ? std::nullopt : std::optional(true);
        });
    Refusals refusals = convertAll(getOperation(), target, patterns);

    // Regions of StableHLO ops belong to them and go with them.
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

    // Padding values, and the start of a reduction, are no operands any more.
    getOperation()->walk([](ttir::ConstantOp constant) {
      if (constant->use_empty())
        constant.erase();
    });
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
