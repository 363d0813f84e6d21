//===- TTIRToTTNN.cpp - the lowering of TTIR to TTNN ----------------------===//

#include "ttmlir/Conversion/TTIRToTTNN/Passes.h"

#include "Lowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTTTIRTOTTNN
#include "ttmlir/Conversion/TTIRToTTNN/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

static const Rules &allRules() {
  static const Rules rules = [] {
    Rules rules;
    addRows(rules);
    addDecompositionRules(rules);
    addElementwiseRules(rules);
    addMeshRules(rules);
    addNormalizationRules(rules);
    addShapeRules(rules);
    addWindowRules(rules);
    return rules;
  }();
  return rules;
}

std::string ttnn::ttirLowering(StringRef op, MLIRContext *context) {
  StringRef name = op.split('.').second;
  if (auto rule = allRules().find(name); rule != allRules().end())
    return rule->second.into;
  auto from = RegisteredOperationName::lookup(op, context);
  auto to = RegisteredOperationName::lookup(("ttnn." + name).str(), context);
  if (!from || !to)
    return {};
  for (StringAttr attribute : from->getAttributeNames())
    if (!llvm::is_contained(to->getAttributeNames(), attribute))
      return {};
  return to->getStringRef().str();
}

namespace {
struct ConvertTTIRToTTNN : tt::impl::ConvertTTIRToTTNNBase<ConvertTTIRToTTNN> {
  void runOnOperation() override {
    const Rules &rules = allRules();
    // Empty tensors come last, when it is known which are more than the
    // destination of a to_layout.
    SmallVector<Operation *> ops, empties;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<ttir::TTIRDialect>(op->getDialect()))
        (isa<ttir::EmptyOp>(op) ? empties : ops).push_back(op);
    });
    ops.append(empties);

    IRRewriter rewriter(&getContext());
    DenseMap<Operation *, std::string> reasons;
    for (Operation *op : ops)
      if (std::string reason = lower(op, rewriter, rules); !reason.empty())
        reasons[op] = std::move(reason);
    if (reportLeftOver(reasons))
      signalPassFailure();
  }

private:
  /// Empty if the op was replaced, else the reason why not.
  static std::string lower(Operation *op, RewriterBase &rewriter, const Rules &rules) {
    Lowering lowering(op, rewriter);
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
      if (isa<RankedTensorType>(type) && !ttnn::TTNNLayoutAttr::of(type))
        return "it has a tensor without a #ttnn.ttnn_layout; run ttnn-layout first";
    auto rule = rules.find(op->getName().stripDialect());
    LogicalResult result = rule == rules.end() ? lowering.lowerByName() : rule->second(lowering);
    return succeeded(result) ? std::string() : lowering.reason();
  }

  /// Names every op that no program on the device can have.
  bool reportLeftOver(const DenseMap<Operation *, std::string> &reasons) {
    bool any = false;
    getOperation().walk([&](Operation *op) {
      StringRef dialect = op->getName().getDialectNamespace();
      if (isa<func::FuncOp, func::ReturnOp, ModuleOp>(op) || dialect == "ttnn" || dialect == "ttcore" ||
          dialect == "debug")
        return;
      any = true;
      InFlightDiagnostic diagnostic = op->emitError() << "'" << op->getName() << "' is not lowered to TTNN: ";
      auto reason = reasons.find(op);
      if (reason != reasons.end())
        diagnostic << reason->second;
      else if (auto call = dyn_cast<func::CallOp>(op))
        diagnostic << "a program on the device has no calls; '" << call.getCallee() << "' was not inlined";
      else
        diagnostic << "ops of dialect '" << dialect << "' are not TTIR"
                   << (dialect == "stablehlo" ? "; run stablehlo-to-ttir-pipeline first" : "");
    });
    return any;
  }
};
} // namespace
