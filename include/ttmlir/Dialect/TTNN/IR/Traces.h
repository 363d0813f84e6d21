//===- Traces.h - recordings of commands as what they do --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTNN_IR_TRACES_H
#define TTMLIR_DIALECT_TTNN_IR_TRACES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::tt::ttnn {

/// Whether programs record commands themselves, outside of the functions that capture_or_execute_trace names.
bool hasTraces(ModuleOp module);

/// Moves the ops between begin_trace_capture and end_trace_capture to each execution of the recording. Recording
/// executes nothing, and a reader of a recorded value reads that of the last execution before. Fails, with an error, if
/// a recording leaves its program or a value is read before its first execution.
LogicalResult replayTraces(ModuleOp module);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_DIALECT_TTNN_IR_TRACES_H
