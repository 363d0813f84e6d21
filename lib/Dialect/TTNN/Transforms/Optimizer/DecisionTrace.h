//===- DecisionTrace.h - why tensors lie where they lie ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_DECISIONTRACE_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_DECISIONTRACE_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/JSON.h"

namespace mlir::tt::ttnn {

/// Writes `<folder>/<function>.json` and an HTML page of it, `<folder>/<function>.html`. Emits an error at `op` if that
/// is not possible.
LogicalResult writeDecisionTrace(Operation *op, StringRef folder, StringRef function, const llvm::json::Object &trace);

/// Reads the trace that an earlier pass has written for the function; empty if there is none.
llvm::json::Object readDecisionTrace(StringRef folder, StringRef function);

/// A location as it is printed.
std::string locationText(Operation *op);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_DECISIONTRACE_H
