//===- Attributes.h - attributes of custom calls --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_ATTRIBUTES_H
#define TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_ATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace mlir::tt::shlo {
/// A list of integers in one of the forms that front ends write: dense elements, a dense array, or an array of integer
/// attributes. None for any other attribute.
inline std::optional<SmallVector<int64_t>> integersOf(Attribute attribute) {
  SmallVector<int64_t> values;
  if (auto dense = dyn_cast_if_present<DenseIntElementsAttr>(attribute)) {
    for (const APInt &value : dense)
      values.push_back(value.getSExtValue());
  } else if (auto array = dyn_cast_if_present<DenseI64ArrayAttr>(attribute)) {
    llvm::append_range(values, array.asArrayRef());
  } else if (auto array = dyn_cast_if_present<ArrayAttr>(attribute)) {
    for (Attribute value : array) {
      auto integer = dyn_cast<IntegerAttr>(value);
      if (!integer)
        return std::nullopt;
      values.push_back(integer.getInt());
    }
  } else {
    return std::nullopt;
  }
  return values;
}
} // namespace mlir::tt::shlo

#endif // TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_ATTRIBUTES_H
