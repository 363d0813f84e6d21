//===- ResolveComposites.cpp - composites as ops or calls -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNRESOLVECOMPOSITES
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;

/// Creates the TTNN op that a composite names, before it. If there is none, returns null and gives the reason.
static Operation *promote(ttcore::CompositeOp composite, std::string &reason) {
  StringRef name = composite.getCompositeName();
  name = name.substr(name.rfind('.') + 1);
  std::optional<RegisteredOperationName> found =
      RegisteredOperationName::lookup(("ttnn." + name).str(), composite.getContext());
  if (!found) {
    reason = ("TTNN has no op '" + name + "'").str();
    return nullptr;
  }
  NamedAttrList attributes(composite.getCompositeAttributes().value_or(DictionaryAttr()));
  for (NamedAttribute attribute : attributes)
    if (!llvm::is_contained(found->getAttributeNames(), attribute.getName())) {
      reason = ("'ttnn." + name + "' has no attribute '" + attribute.getName().strref() + "'").str();
      return nullptr;
    }
  // The verifiers' messages concern this op alone.
  ScopedDiagnosticHandler handler(composite.getContext(), [&](Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  if (failed(found->verifyInherentAttrs(attributes, [&] { return emitError(composite.getLoc()); })))
    return nullptr;
  OperationState state(composite.getLoc(), *found);
  state.addOperands(composite.getInputs());
  state.addTypes(composite.getResultTypes());
  state.addAttributes(attributes);
  Operation *op = OpBuilder(composite).create(state);
  if (succeeded(verify(op)))
    return op;
  op->erase();
  return nullptr;
}

namespace {
struct ResolveComposites : tt::ttnn::impl::TTNNResolveCompositesBase<ResolveComposites> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ttcore::CompositeOp> composites;
    getOperation().walk([&](ttcore::CompositeOp op) { composites.push_back(op); });
    if (composites.empty())
      return markAllAnalysesPreserved();
    for (ttcore::CompositeOp composite : composites) {
      std::string reason;
      Operation *replacement = resolution == ttnn::CompositeResolution::Inline ? nullptr : promote(composite, reason);
      if (!replacement && resolution == ttnn::CompositeResolution::ForcePromote) {
        composite.emitOpError() << "'" << composite.getCompositeName() << "' is not an op of TTNN: " << reason;
        signalPassFailure();
        continue;
      }
      OpBuilder builder(composite);
      if (!replacement)
        replacement = func::CallOp::create(builder, composite.getLoc(), composite.getDecompositionAttr(),
                                           composite.getResultTypes(), composite.getInputs());
      composite->replaceAllUsesWith(replacement);
      composite.erase();
    }
  }
};
} // namespace
