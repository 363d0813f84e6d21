//===- Device.h - the device value of a function ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTNN_TRANSFORMS_DEVICE_H
#define TTMLIR_DIALECT_TTNN_TRANSFORMS_DEVICE_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttnn {

/// The result of the `ttnn.get_device` at the head of the function around `op`, which is created if there is none.
/// Returns null, and calls `refuse` with "needs a device but ...", if the module has no `ttcore.device`.
Value getOrCreateDevice(OpBuilder &builder, Operation *op, function_ref<void(const Twine &)> refuse);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_DIALECT_TTNN_TRANSFORMS_DEVICE_H
