//===- SetComputeKernelConfig.cpp - compute kernel configuration ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNSETCOMPUTEKERNELCONFIG
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
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

namespace {
struct SetComputeKernelConfig : tt::ttnn::impl::TTNNSetComputeKernelConfigBase<SetComputeKernelConfig> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<MathFidelity> fidelity = fidelityOf(mathFidelity);
    BoolAttr approximate = switched(mathApproxMode), wideSums = switched(fp32DestAccEn), packer = switched(packerL1Acc),
             fullSync = switched(dstFullSyncEn);
    if (!fidelity && !approximate && !wideSums && !packer && !fullSync)
      return markAllAnalysesPreserved();
    auto either = [](BoolAttr own, BoolAttr given) { return own ? own : given; };
    getOperation()->walk([&](Operation *op) {
      if (!op->isRegistered() || !llvm::is_contained(op->getName().getAttributeNames(), configName))
        return;
      auto own = op->getAttrOfType<DeviceComputeKernelConfigAttr>(configName);
      auto config =
          own ? DeviceComputeKernelConfigAttr::get(
                    &getContext(), own.getMathFidelity() ? own.getMathFidelity() : fidelity,
                    either(own.getMathApproxMode(), approximate), either(own.getFp32DestAccEn(), wideSums),
                    either(own.getPackerL1Acc(), packer), either(own.getDstFullSyncEn(), fullSync))
              : DeviceComputeKernelConfigAttr::get(&getContext(), fidelity, approximate, wideSums, packer, fullSync);
      op->setAttr(configName, config);
    });
  }

private:
  BoolAttr switched(OptionalSwitch value) {
    return value == OptionalSwitch::Undefined ? BoolAttr() : BoolAttr::get(&getContext(), value == OptionalSwitch::On);
  }
};
} // namespace
