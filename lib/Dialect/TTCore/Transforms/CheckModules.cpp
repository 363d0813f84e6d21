//===- CheckModules.cpp - modules that passes do not look into ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Properties.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"

#include "llvm/ADT/DenseSet.h"

namespace mlir::tt::ttcore {
#define GEN_PASS_DEF_TTCORECHECKMODULES
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttcore

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttcore;

/// The module of a device module or of a host module of `root`.
static bool isWrapped(ModuleOp module, ModuleOp root) {
  Operation *parent = module->getParentOp();
  return parent->hasTrait<trait::HoldsModule>() && parent->getParentOp() == root;
}

LogicalResult ttcore::checkModules(ModuleOp root, bool isFlat) {
  WalkResult result = root.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == root)
      return WalkResult::advance();
    if (isFlat && op->hasTrait<trait::HoldsModule>()) {
      op->emitError() << "'" << op->getName()
                      << "' holds a module, and only functions of the outermost one are lowered "
                      << "here; run ttcore-unwrap-device-module before, or pass the inner module";
      return WalkResult::interrupt();
    }
    auto module = dyn_cast<ModuleOp>(op);
    if (module && !isWrapped(module, root)) {
      InFlightDiagnostic error = module.emitError() << "module ";
      if (std::optional<StringRef> name = module.getSymName())
        error << '@' << *name << ' ';
      error << "is inside of another one, of which only its own functions are lowered; pass each module by itself "
            << "(ttmlir-opt: --split-input-file, with // ----- between them)";
      return WalkResult::interrupt();
    }
    // Functions hold no modules.
    return module || op->hasTrait<trait::HoldsModule>() ? WalkResult::advance() : WalkResult::skip();
  });
  return failure(result.wasInterrupted());
}

/// Whether an op of the dialect has an attribute of that name.
static bool hasAttribute(Dialect *dialect, StringAttr name) {
  return llvm::any_of(dialect->getContext()->getRegisteredOperationsByDialect(dialect->getNamespace()),
                      [&](RegisteredOperationName op) { return llvm::is_contained(op.getAttributeNames(), name); });
}

/// Warns of attributes other than an op's own that are most likely meant as such: nothing reads them. Other tools
/// attach arbitrary attributes; MLIR asks them for a prefix, and without one only names of this dialect, or names
/// similar to those of the op, are reported.
static void warnOfVanishing(ModuleOp root) {
  static constexpr StringRef dialects[] = {"chlo", "d2m", "stablehlo", "ttir", "ttnn"};
  // Attributes that other tools are known to attach.
  static constexpr StringRef foreign[] = {"note", "operand_layout", "result_layout", "xla_shape"};
  DenseSet<std::pair<StringAttr, StringAttr>> said;
  root.walk([&](Operation *op) {
    Dialect *dialect = op->getDialect();
    if (!dialect || op->getDiscardableAttrs().empty() || !llvm::is_contained(dialects, dialect->getNamespace()))
      return;
    ArrayRef<StringAttr> own = op->getName().getAttributeNames();
    SmallVector<StringRef> known = llvm::map_to_vector(own, [](StringAttr name) { return name.getValue(); });
    llvm::erase_if(known, [](StringRef name) { return name.ends_with("SegmentSizes"); });
    for (NamedAttribute each : op->getDiscardableAttrs()) {
      StringAttr name = each.getName();
      if (name.strref().contains('.') || llvm::is_contained(foreign, name.strref()) ||
          !(isNearAttribute(name, known) || hasAttribute(dialect, name)) ||
          !said.insert({op->getName().getIdentifier(), name}).second)
        continue;
      op->emitWarning() << unknownAttribute(op->getName().getStringRef(), name, known) << "; it is not read";
    }
  });
}

namespace {
struct CheckModules : ttcore::impl::TTCoreCheckModulesBase<CheckModules> {
  using TTCoreCheckModulesBase::TTCoreCheckModulesBase;
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(checkModules(getOperation(), isFlat)))
      return signalPassFailure();
    warnOfVanishing(getOperation());
  }
};
} // namespace
