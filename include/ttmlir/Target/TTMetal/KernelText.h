//===- KernelText.h - C++ source of kernels ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_TTMETAL_KERNELTEXT_H
#define TTMLIR_TARGET_TTMETAL_KERNELTEXT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace mlir::tt::ttmetal {

/// The source of a kernel, a function of emitc ops with a `d2m.thread`, as tt-metal compiles it: headers, and a
/// function kernel_main, which is MAIN in NAMESPACE for a compute kernel.
FailureOr<std::string> kernelText(func::FuncOp kernel);

} // namespace mlir::tt::ttmetal

#endif // TTMLIR_TARGET_TTMETAL_KERNELTEXT_H
