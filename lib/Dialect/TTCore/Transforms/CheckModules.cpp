//===- CheckModules.cpp - modules that passes do not look into ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"

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
  return isa<DeviceModuleOp, CPUModuleOp>(parent) && parent->getParentOp() == root;
}

LogicalResult ttcore::checkModules(ModuleOp root, bool isFlat) {
  WalkResult result = root.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == root)
      return WalkResult::advance();
    if (isFlat && isa<DeviceModuleOp, CPUModuleOp>(op)) {
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
    return module || isa<DeviceModuleOp, CPUModuleOp>(op) ? WalkResult::advance() : WalkResult::skip();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct CheckModules : ttcore::impl::TTCoreCheckModulesBase<CheckModules> {
  using TTCoreCheckModulesBase::TTCoreCheckModulesBase;
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(checkModules(getOperation(), isFlat)))
      signalPassFailure();
  }
};
} // namespace
