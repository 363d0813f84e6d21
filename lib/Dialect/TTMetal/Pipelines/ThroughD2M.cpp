//===- ThroughD2M.cpp - functions of TTNN ops as kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTMetal/Pipelines/TTMetalPipelines.h"

#include "ttmlir/Conversion/TTIRToD2M/Passes.h"
#include "ttmlir/Conversion/ToTTIR/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/D2MSubgraphOp.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::tt;

namespace {
/// The functions are lowered in a module of their own: passes on modules would take the others for programs of kernels.
struct ThroughD2M : PassWrapper<ThroughD2M, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ThroughD2M)
  explicit ThroughD2M(bool isFused) { fuses = isFused; }
  ThroughD2M(const ThroughD2M &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "ttnn-through-d2m"; }
  StringRef getDescription() const override { return "Lower the functions of ttnn.d2m_subgraph to kernels"; }
  void getDependentDialects(DialectRegistry &registry) const override { pipeline().getDependentDialects(registry); }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::SmallSetVector<Operation *, 8> functions;
    WalkResult result = module.walk([&](ttnn::D2MSubgraphOp call) {
      auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getD2mFuncAttr());
      if (!function || function.isExternal()) {
        call.emitOpError() << "calls " << call.getD2mFuncAttr() << "; expected a function of this module with a body";
        return WalkResult::interrupt();
      }
      functions.insert(function);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (functions.empty())
      return markAllAnalysesPreserved();
    ttcore::DeviceOp device = ttcore::lookupDevice(module);
    if (!device) {
      module.emitError() << "module has no ttcore.device @" << ttcore::defaultDeviceName
                         << "; run ttcore-register-device first";
      return signalPassFailure();
    }
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto inner = ModuleOp::create(builder, module.getLoc());
    if (Attribute system = module->getAttr(ttcore::systemDescName))
      inner->setAttr(ttcore::systemDescName, system);
    builder.setInsertionPointToStart(inner.getBody());
    builder.clone(*device);
    for (Operation *function : functions)
      function->moveBefore(inner.getBody(), inner.getBody()->end());
    OpPassManager kernels = pipeline();
    if (failed(runPipeline(kernels, inner)))
      signalPassFailure();
    for (auto function : llvm::make_early_inc_range(inner.getOps<func::FuncOp>()))
      function->moveBefore(inner);
    inner.erase();
  }

private:
  OpPassManager pipeline() const {
    ttmetal::D2MPipelineOptions options;
    options.ttnnMode = true;
    options.elementwiseFusion = fuses;
    OpPassManager manager(ModuleOp::getOperationName());
    manager.addPass(createConvertTTNNToTTIR());
    manager.addNestedPass<func::FuncOp>(createTTIRCastTTNNLayouts());
    ttmetal::addGenerics(manager, options);
    ttmetal::createD2MBackendPipeline(manager, options);
    ttmetal::createD2MToTTNNPipeline(manager, options);
    return manager;
  }

  Option<bool> fuses{*this, "enable-elementwise-fusion",
                     llvm::cl::desc("Compute chains of elementwise ops in one kernel"), llvm::cl::init(false)};
};
} // namespace

void ttmetal::createTTNNThroughD2MPipeline(OpPassManager &manager, const TTNNThroughD2MOptions &options) {
  manager.addPass(std::make_unique<ThroughD2M>(options.elementwiseFusion));
}
