//===- QuantDataTypeConversion.cpp - wider integers of quantised tensors -===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRQUANTDATATYPECONVERSION
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

namespace {
struct QuantDataTypeConversion : ttir::impl::TTIRQuantDataTypeConversionBase<QuantDataTypeConversion> {
  using Base::Base;

  void runOnOperation() override {
    if (targetBitWidth != 8 && targetBitWidth != 16 && targetBitWidth != 32) {
      getOperation()->emitError() << "target-bit-width is " << targetBitWidth.getValue() << "; expected 8, 16 or 32";
      return signalPassFailure();
    }
    quant::QuantizedType narrowed;
    auto storage = IntegerType::get(&getContext(), targetBitWidth);
    // The range of the values stays, only their storage changes.
    auto holds = [&](quant::QuantizedType type) {
      const int64_t span = int64_t(1) << (targetBitWidth - (type.isSigned() ? 1 : 0));
      if (type.getStorageTypeMax() < span && type.getStorageTypeMin() >= (type.isSigned() ? -span : 0))
        return true;
      narrowed = type;
      return false;
    };
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](quant::UniformQuantizedType type) -> std::optional<Type> {
      if (!holds(type))
        return type;
      return quant::UniformQuantizedType::get(type.getFlags(), storage, type.getExpressedType(), type.getScale(),
                                              type.getZeroPoint(), type.getStorageTypeMin(), type.getStorageTypeMax());
    });
    replacer.addReplacement([&](quant::UniformQuantizedPerAxisType type) -> std::optional<Type> {
      if (!holds(type))
        return type;
      return quant::UniformQuantizedPerAxisType::get(
          type.getFlags(), storage, type.getExpressedType(), type.getScales(), type.getZeroPoints(),
          type.getQuantizedDimension(), type.getStorageTypeMin(), type.getStorageTypeMax());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    if (!narrowed)
      return;
    getOperation()->emitError() << "target-bit-width is " << targetBitWidth.getValue()
                                << ", too narrow for the values of " << narrowed;
    signalPassFailure();
  }
};
} // namespace
