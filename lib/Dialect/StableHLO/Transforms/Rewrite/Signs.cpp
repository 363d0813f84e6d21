//===- Signs.cpp - integers without signs ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_STABLEHLOCONVERTTOSIGNLESS
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;

static IntegerType signless(IntegerType type) { return IntegerType::get(type.getContext(), type.getWidth()); }

/// The integer type of elements with a signedness of its own.
static IntegerType signedElement(Type type) {
  auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return element && !element.isSignless() ? element : IntegerType();
}

namespace {
struct ConvertToSignless : shlo::impl::StablehloConvertToSignlessBase<ConvertToSignless> {
  void runOnOperation() override {
    AttrTypeReplacer replacer;
    replacer.addReplacement([](IntegerType type) { return signless(type); });
    // Their elements are not attributes that the replacer would find.
    replacer.addReplacement([](DenseElementsAttr attr) -> std::optional<Attribute> {
      IntegerType element = signedElement(attr.getType());
      return element ? std::optional<Attribute>(attr.bitcast(signless(element))) : std::nullopt;
    });
    replacer.addReplacement([](DenseResourceElementsAttr attr) -> std::optional<Attribute> {
      IntegerType element = signedElement(attr.getType());
      if (!element)
        return std::nullopt;
      return DenseResourceElementsAttr::get(attr.getType().clone(signless(element)), attr.getRawHandle());
    });
    replacer.addReplacement([](IntegerAttr attr) -> std::optional<Attribute> {
      IntegerType type = signedElement(attr.getType());
      return type ? std::optional<Attribute>(IntegerAttr::get(signless(type), attr.getValue())) : std::nullopt;
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
};
} // namespace
