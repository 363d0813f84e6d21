//===- HoistConstants.cpp - large constants as resources ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRHOISTCONSTANTS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

/// The alignment of allocators: bytecode is readable only in memory that is aligned as its resources are.
static constexpr size_t alignment = 16;

namespace {
struct HoistConstants : ttir::impl::TTIRHoistConstantsBase<HoistConstants> {
  using Base::Base;

  void runOnOperation() override {
    // One constant may have several users.
    DenseMap<Attribute, Attribute> hoisted;
    getOperation().walk([&](ttir::ConstantOp constant) {
      auto value = dyn_cast<DenseIntOrFPElementsAttr>(constant.getValueAttr());
      // Splats are small, and single bits are stored packed.
      if (!value || value.isSplat() || value.getElementType().isInteger(1) ||
          static_cast<int64_t>(value.getRawData().size()) < minBytes)
        return;
      Attribute &resource = hoisted[value];
      if (!resource)
        resource = DenseResourceElementsAttr::get(
            value.getType(), "constant", HeapAsmResourceBlob::allocateAndCopyWithAlign(value.getRawData(), alignment));
      constant.setValueAttr(cast<ElementsAttr>(resource));
    });
    if (hoisted.empty())
      markAllAnalysesPreserved();
  }
};
} // namespace
