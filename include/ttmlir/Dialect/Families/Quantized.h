//===- Quantized.h - tensors of quantised numbers ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_FAMILIES_QUANTIZED_H
#define TTMLIR_DIALECT_FAMILIES_QUANTIZED_H

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"

namespace mlir::tt {

/// Returns the quantized element type of a tensor, or null.
inline quant::QuantizedType quantizedOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast<quant::QuantizedType>(tensor.getElementType()) : quant::QuantizedType();
}

inline bool hasQuantized(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return bool(quantizedOf(type)); });
}

/// `tensor<4x!quant.uniform<i8:f32, 0.5>>` -> `tensor<4xf32>`; other types are unchanged.
inline Type expressedType(Type type) {
  quant::QuantizedType quantized = quantizedOf(type);
  return quantized ? cast<RankedTensorType>(type).clone(quantized.getExpressedType()) : type;
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_QUANTIZED_H
