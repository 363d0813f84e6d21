//===- SizeAttributes.h - attributes of sizes and dims ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTIR_TRANSFORMS_SIZEATTRIBUTES_H
#define TTMLIR_DIALECT_TTIR_TRANSFORMS_SIZEATTRIBUTES_H

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {

/// The dimensions of a reduction, in order, each counted from the first. No list and an empty one mean all.
inline SmallVector<int64_t> reducedDims(int64_t rank, ArrayAttr listed) {
  SmallVector<int64_t> dims;
  if (listed)
    for (Attribute dim : listed) {
      const int64_t number = cast<IntegerAttr>(dim).getValue().getSExtValue();
      dims.push_back(number < 0 ? number + rank : number);
    }
  if (dims.empty())
    dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  llvm::sort(dims);
  return dims;
}

/// The attribute with another size of a dimension, in its original form.
inline Attribute withSize(Attribute attr, int64_t dim, int64_t size) {
  Builder builder(attr.getContext());
  auto replaced = [&](auto array) {
    auto values = llvm::to_vector(array.asArrayRef());
    values[dim] = size;
    return values;
  };
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attr))
    return builder.getDenseI32ArrayAttr(replaced(array));
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attr))
    return builder.getDenseI64ArrayAttr(replaced(array));
  auto items = llvm::to_vector(cast<ArrayAttr>(attr).getValue());
  items[dim] = IntegerAttr::get(cast<IntegerAttr>(items[dim]).getType(), size);
  return builder.getArrayAttr(items);
}

} // namespace mlir::tt::ttir

#endif // TTMLIR_DIALECT_TTIR_TRANSFORMS_SIZEATTRIBUTES_H
