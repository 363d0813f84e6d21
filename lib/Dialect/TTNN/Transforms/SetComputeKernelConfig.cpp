//===- SetComputeKernelConfig.cpp - compute kernel configuration ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LayerNormOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNSETCOMPUTEKERNELCONFIG
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

static constexpr StringLiteral configName = "compute_config";

static std::optional<MathFidelity> fidelityOf(OptionalMathFidelity value) {
  switch (value) {
  case OptionalMathFidelity::LoFi:
    return MathFidelity::LoFi;
  case OptionalMathFidelity::HiFi2:
    return MathFidelity::HiFi2;
  case OptionalMathFidelity::HiFi3:
    return MathFidelity::HiFi3;
  case OptionalMathFidelity::HiFi4:
    return MathFidelity::HiFi4;
  case OptionalMathFidelity::Undefined:
    break;
  }
  return std::nullopt;
}

/// Whether the dialect gives the op a compute_config.
static bool declaresConfig(Operation *op) {
  return op->isRegistered() && llvm::is_contained(op->getName().getAttributeNames(), configName);
}

/// Ops to which the dialect gives none, although their kernels look for one.
static bool obeysConfig(Operation *op) { return op->hasTrait<trait::Elementwise>() || isa<LayerNormOp>(op); }

/// A config whose missing fields are taken from another one; either may be null.
static DeviceComputeKernelConfigAttr completed(DeviceComputeKernelConfigAttr config,
                                               DeviceComputeKernelConfigAttr more) {
  if (!config || !more)
    return config ? config : more;
  auto either = [](auto own, auto given) { return own ? own : given; };
  return DeviceComputeKernelConfigAttr::get(config.getContext(),
                                            either(config.getMathFidelity(), more.getMathFidelity()),
                                            either(config.getMathApproxMode(), more.getMathApproxMode()),
                                            either(config.getFp32DestAccEn(), more.getFp32DestAccEn()),
                                            either(config.getPackerL1Acc(), more.getPackerL1Acc()),
                                            either(config.getDstFullSyncEn(), more.getDstFullSyncEn()));
}

namespace {
struct SetComputeKernelConfig : ttnn::impl::TTNNSetComputeKernelConfigBase<SetComputeKernelConfig> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<MathFidelity> fidelity = fidelityOf(mathFidelity);
    BoolAttr approximate = switched(mathApproxMode), wideSums = switched(fp32DestAccEn), packer = switched(packerL1Acc),
             fullSync = switched(dstFullSyncEn);
    const auto requested =
        DeviceComputeKernelConfigAttr::get(&getContext(), fidelity, approximate, wideSums, packer, fullSync);
    const bool asks = fidelity || approximate || wideSums || packer || fullSync;
    bool changed = false;
    WalkResult result = getOperation()->walk([&](Operation *op) {
      Attribute said = op->getDiscardableAttr(ttcore::computeConfigName);
      auto own = dyn_cast_or_null<DeviceComputeKernelConfigAttr>(said);
      if (said && !own) {
        op->emitOpError() << ttcore::computeConfigName << " is " << said
                          << "; expected a #ttnn.device_compute_kernel_config";
        return WalkResult::interrupt();
      }
      const bool declares = declaresConfig(op);
      if (!own && !(asks && declares))
        return WalkResult::advance();
      changed = true;
      op->removeDiscardableAttr(ttcore::computeConfigName);
      if (!declares && !obeysConfig(op))
        return WalkResult::advance();
      // The op's own config first, then the requests for the op, then those for all ops.
      auto config = op->getAttrOfType<DeviceComputeKernelConfigAttr>(configName);
      config = completed(config, own);
      op->setAttr(configName, declares ? completed(config, requested) : config);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  BoolAttr switched(OptionalSwitch value) {
    return value == OptionalSwitch::Undefined ? BoolAttr() : BoolAttr::get(&getContext(), value == OptionalSwitch::On);
  }
};
} // namespace
