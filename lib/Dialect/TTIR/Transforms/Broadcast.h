//===- Broadcast.h - the shape that operands broadcast to -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_BROADCAST_H
#define TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_BROADCAST_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tt::ttir {

/// The shape that operands broadcast to by the rules of numpy, or nothing.
inline std::optional<SmallVector<int64_t>> broadcastShape(TypeRange operands) {
  SmallVector<int64_t> shape;
  for (Type type : operands) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return std::nullopt;
    if (tensor.getRank() > static_cast<int64_t>(shape.size()))
      shape.insert(shape.begin(), tensor.getRank() - shape.size(), 1);
    for (auto [size, own] : llvm::zip(llvm::reverse(shape), llvm::reverse(tensor.getShape()))) {
      if (own != 1 && size != 1 && own != size)
        return std::nullopt;
      size = own == 1 ? size : own;
    }
  }
  return shape;
}

} // namespace mlir::tt::ttir

#endif // TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_BROADCAST_H
