//===- MarkFunctionsAsForward.cpp - the functions that callers run -------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::tt::ttcore {
#define GEN_PASS_DEF_TTCOREMARKFUNCTIONSASFORWARDPASS
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttcore

using namespace mlir;
using namespace mlir::tt;

namespace {
struct MarkFunctionsAsForward : ttcore::impl::TTCoreMarkFunctionsAsForwardPassBase<MarkFunctionsAsForward> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](func::FuncOp function) {
      if (function.isPrivate() || function.isExternal() || function->hasAttr(ttcore::functionTypeName))
        return;
      StringRef type =
          function->getParentOfType<ttcore::CPUModuleOp>() ? ttcore::forwardCPUType : ttcore::forwardDeviceType;
      function->setAttr(ttcore::functionTypeName, StringAttr::get(&getContext(), type));
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
