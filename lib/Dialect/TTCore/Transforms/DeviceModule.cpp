//===- DeviceModule.cpp - wrapping and unwrapping of device modules -------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttcore {
#define GEN_PASS_DEF_TTCOREWRAPDEVICEMODULEPASS
#define GEN_PASS_DEF_TTCOREUNWRAPDEVICEMODULEPASS
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttcore

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttcore;

static bool holdsDeviceModule(ModuleOp module) { return !module.getBody()->getOps<DeviceModuleOp>().empty(); }

namespace {
struct WrapDeviceModule : ttcore::impl::TTCoreWrapDeviceModulePassBase<WrapDeviceModule> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (holdsDeviceModule(module))
      return;
    OpBuilder builder(module.getContext());
    auto inner = ModuleOp::create(builder, module.getLoc());
    inner->setAttrs(module->getDiscardableAttrDictionary());
    inner.getBody()->getOperations().splice(inner.getBody()->end(), module.getBody()->getOperations());
    builder.setInsertionPointToStart(module.getBody());
    auto deviceModule = DeviceModuleOp::create(builder, module.getLoc());
    Region &region = deviceModule->getRegion(0);
    if (region.empty())
      region.emplaceBlock();
    region.front().push_back(inner);
  }
};

struct UnwrapDeviceModule : ttcore::impl::TTCoreUnwrapDeviceModulePassBase<UnwrapDeviceModule> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto deviceModules = llvm::to_vector(module.getBody()->getOps<DeviceModuleOp>());
    if (deviceModules.empty())
      return markAllAnalysesPreserved();
    if (failed(checkMeshes(deviceModules)))
      return signalPassFailure();
    for (DeviceModuleOp deviceModule : deviceModules) {
      // The verifier took nothing else than one module.
      auto inner = cast<ModuleOp>(deviceModule->getRegion(0).front().front());
      for (NamedAttribute attr : inner->getDiscardableAttrs())
        if (!module->hasAttr(attr.getName()))
          module->setAttr(attr.getName(), attr.getValue());
      module.getBody()->getOperations().splice(deviceModule->getIterator(), inner.getBody()->getOperations());
      deviceModule.erase();
    }
  }

  /// Checks that all programs of a module are for one mesh.
  LogicalResult checkMeshes(ArrayRef<DeviceModuleOp> deviceModules) {
    Attribute meshes;
    for (DeviceModuleOp deviceModule : deviceModules) {
      Attribute own = cast<ModuleOp>(deviceModule->getRegion(0).front().front())->getAttr(meshesName);
      if (own && meshes && own != meshes)
        return deviceModule.emitOpError()
               << "is for " << own << ", but one before it for " << meshes
               << "; compile modules for different meshes by themselves, or one program with "
                  "pipeline-stages";
      meshes = own ? own : meshes;
    }
    return success();
  }
};
} // namespace
