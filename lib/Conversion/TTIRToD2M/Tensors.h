//===- Tensors.h - tensors of TTNN as buffers -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_TENSORS_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_TENSORS_H

#include "Buffers.h"

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt {

/// The type of a tensor's values without a layout. A block format is an element type of tiles.
RankedTensorType withoutLayout(RankedTensorType type);

/// The tiles of a tensor that has a layout of TTNN. A tensor that lies like `placement` is seen as the buffer that it
/// is
/// (`ttir.ttnn_metal_layout_cast`); any other one is brought there before.
Value enterTensor(OpBuilder &builder, Location loc, Value tensor, const Placement &placement);
/// The tensor of `type`, which has a layout of TTNN, with the values of a buffer.
Value leaveTensor(OpBuilder &builder, Location loc, Value tiles, const Placement &placement, RankedTensorType type);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_TENSORS_H
