//===- Traces.h - recordings of commands as what they do --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTNN_IR_TRACES_H
#define TTMLIR_DIALECT_TTNN_IR_TRACES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::tt::ttnn {

/// Whether programs record commands by themselves: outside of the functions that capture_or_execute_trace names.
bool hasTraces(ModuleOp module);

/// Puts what stands between begin_trace_capture and end_trace_capture where the recording is executed, as often as it
/// is: recording executes nothing, and who reads a recorded value reads that of the last execution before. Fails, with
/// an error, where a recording leaves its program or a value is read before there is one.
LogicalResult replayTraces(ModuleOp module);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_DIALECT_TTNN_IR_TRACES_H
