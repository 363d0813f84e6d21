//===- TensorFile.h - tensor files ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_TTNN_TENSORFILE_H
#define TTMLIR_TARGET_TTNN_TENSORFILE_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

namespace mlir::tt::ttnn {

/// Writes values as ttnn.load_tensor reads them: a TensorFile of tensor.fbs.
LogicalResult writeTensorFile(ElementsAttr values, ttcore::DataType dataType, Layout layout, llvm::raw_ostream &os,
                              function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_TARGET_TTNN_TENSORFILE_H
