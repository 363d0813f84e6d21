//===- Attributes.h - attributes of custom calls --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_ATTRIBUTES_H
#define TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_ATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace mlir::tt::shlo {

/// Returns the value of an integer of any type, or nothing if it is not an integer or does not fit in 64 bits.
inline std::optional<int64_t> integerOf(Attribute attribute) {
  auto integer = dyn_cast_if_present<IntegerAttr>(attribute);
  if (!integer)
    return std::nullopt;
  if (!integer.getType().isUnsignedInteger())
    return integer.getValue().trySExtValue();
  return integer.getValue().isIntN(63) ? std::optional(static_cast<int64_t>(integer.getValue().getZExtValue()))
                                       : std::nullopt;
}

/// A list of integers in one of the forms that front ends write: dense elements, a dense array, or an array of integer
/// attributes. Returns none for any other attribute, or if a number does not fit in 64 bits.
inline std::optional<SmallVector<int64_t>> integersOf(Attribute attribute) {
  SmallVector<int64_t> values;
  if (auto dense = dyn_cast_if_present<DenseIntElementsAttr>(attribute)) {
    for (const APInt &value : dense) {
      const std::optional<int64_t> number = value.trySExtValue();
      if (!number)
        return std::nullopt;
      values.push_back(*number);
    }
  } else if (auto array = dyn_cast_if_present<DenseI64ArrayAttr>(attribute)) {
    llvm::append_range(values, array.asArrayRef());
  } else if (auto array = dyn_cast_if_present<ArrayAttr>(attribute)) {
    for (Attribute value : array) {
      const std::optional<int64_t> number = integerOf(value);
      if (!number)
        return std::nullopt;
      values.push_back(*number);
    }
  } else {
    return std::nullopt;
  }
  return values;
}
} // namespace mlir::tt::shlo

#endif // TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_ATTRIBUTES_H
