//===- StableHLOToTTIR.cpp - the lowering of StableHLO to TTIR ------------===//

#include "Lowering.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTSTABLEHLOTOTTIR
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// What no rule can help, or nothing: TTIR has static tensors of real numbers.
static std::string unsupportedType(Operation *op) {
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes()))) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::string text;
    llvm::raw_string_ostream(text) << type;
    if (!tensor)
      return text + " is not a ranked tensor";
    if (!tensor.hasStaticShape())
      return text + " has a dynamic shape";
    if (isa<ComplexType>(tensor.getElementType()))
      return text + " holds complex numbers";
    if (llvm::any_of(tensor.getShape(), [](int64_t size) { return size > std::numeric_limits<int32_t>::max(); }))
      return text + " has a dimension of 2^31 or more";
  }
  return {};
}

static const Rules &allRules() {
  static const Rules rules = [] {
    Rules rules;
    addElementwiseRules(rules);
    addMatmulRules(rules);
    addShapeRules(rules);
    addWindowRules(rules);
    return rules;
  }();
  return rules;
}

std::string tt::stableHLOLowering(StringRef op) {
  auto rule = allRules().find(op);
  return rule == allRules().end() ? std::string() : rule->second.into;
}

namespace {
struct StableHLOToTTIR : tt::impl::ConvertStableHLOToTTIRBase<StableHLOToTTIR> {
  void runOnOperation() override {
    const Rules &rules = allRules();
    // Regions of StableHLO ops belong to them and go with them.
    SmallVector<Operation *> ops;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getName().getDialectNamespace() != stablehlo::StablehloDialect::getDialectNamespace())
        return WalkResult::advance();
      ops.push_back(op);
      return WalkResult::skip();
    });

    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      std::string reason = unsupportedType(op);
      if (reason.empty()) {
        auto found = rules.find(op->getName().getStringRef());
        OpLowering lowering(op, rewriter);
        if (found != rules.end() && succeeded(found->second(lowering)))
          continue;
        reason = found == rules.end() ? "there is no lowering for it" : lowering.reason();
      }
      emitError(op->getLoc()) << op->getName() << ": not converted to TTIR: " << reason;
      signalPassFailure();
    }

    // Padding values, and the start of a reduction, are no operands any more.
    getOperation()->walk([](ttir::ConstantOp constant) {
      if (constant->use_empty())
        constant.erase();
    });
  }
};
} // namespace
