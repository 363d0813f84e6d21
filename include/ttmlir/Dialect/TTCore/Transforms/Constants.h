//===- Constants.h - values that do not change between runs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_CONSTANTS_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_CONSTANTS_H

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::tt::ttcore {

/// The kind of a function: "const_eval" marks one whose results are evaluated once and kept; the others are called by
/// users, on the device or on the host.
inline constexpr llvm::StringLiteral functionTypeName = "tt.function_type";
inline constexpr llvm::StringLiteral constEvalType = "const_eval";
inline constexpr llvm::StringLiteral forwardDeviceType = "forward_device";
inline constexpr llvm::StringLiteral forwardCPUType = "forward_cpu";
inline constexpr llvm::StringLiteral inputGeneratorType = "input_generator";
/// The types of a trace's functions: the recorded one, and those that allocate its inputs, record it, and run the
/// recording.
inline constexpr llvm::StringLiteral traceMainType = "trace_main";
inline constexpr llvm::StringLiteral traceAllocateSlotsType = "trace_allocate_slots";
inline constexpr llvm::StringLiteral traceRunAndCaptureType = "trace_run_and_capture";
inline constexpr llvm::StringLiteral traceExecuteType = "trace_execute";

/// On an argument: ops write keys and values to it.
inline constexpr llvm::StringLiteral kvCacheName = "ttcore.kv_cache";
/// On an argument, or on an op that has a weight: the format in which it is stored, for example "bfp_bf8".
inline constexpr llvm::StringLiteral weightDtypeName = "ttcore.weight_dtype";
/// Returns the format that an attribute of this name specifies; otherwise an error that begins with `error`.
FailureOr<DataType> weightDtypeOf(Attribute attribute, llvm::function_ref<InFlightDiagnostic()> error);
/// On an op: how its kernels compute on the chip, a #ttnn.device_compute_kernel_config.
inline constexpr llvm::StringLiteral computeConfigName = "ttcore.compute_config";
/// On an op: one label or several. The first op of a function with a label begins an epoch (ttir-number-epochs).
inline constexpr llvm::StringLiteral epochBreakName = "ttcore.epoch_break";
/// On an op: the number of its epoch in the function. Ops of different epochs are not fused.
inline constexpr llvm::StringLiteral epochName = "ttcore.epoch";
/// On an op: a name. The op is fused only with ops of the same name.
inline constexpr llvm::StringLiteral fusionGroupName = "ttcore.fusion_group";
/// On an op: the #ttcore.grid of cores that it computes on (ttnn-requested-grids).
inline constexpr llvm::StringLiteral gridName = "ttcore.grid";
/// The grid that an op requests, with at least 1 row and 1 column; null if it requests none, failure after an error.
FailureOr<GridAttr> requestedGrid(Operation *op);
/// On an op: a dimension of its result, and the number of parts along it. An op computes each part (ttir-cut-ops).
inline constexpr llvm::StringLiteral cutName = "ttcore.cut";
/// On a convolution: the number of parts of its window. An op computes each, and the sum is the result (ttir-cut-ops).
inline constexpr llvm::StringLiteral cutWindowName = "ttcore.cut_window";
/// On an op that computes a part of a result: the number of the part. Flatbuffers keep it.
inline constexpr llvm::StringLiteral partName = "ttcore.part";
/// On an optimization barrier: its results are tensors of their own (ttnn-requested-copies).
inline constexpr llvm::StringLiteral copyName = "ttcore.copy";
/// The attributes that request something of an op. They also apply to the ops that it is lowered to or fused into.
inline constexpr llvm::StringLiteral requestNames[] = {computeConfigName, epochName, fusionGroupName, gridName,
                                                       partName};

/// Whether two ops may become one: they have the same config or none, are in one fusion group or in none, and do not
/// request different epochs or grids.
bool mayFuse(Operation *lhs, Operation *rhs);
/// Whether a product may include what `op` does with its result: as `mayFuse`, but `op` may have no config.
bool mayJoin(Operation *op, Operation *product);
bool hasRequests(Operation *op);
void passRequestsOn(Operation *from, Operation *to);
/// Propagates the requests, and the format of the weight.
void passAnnotationsOn(Operation *from, Operation *to);

/// Whether `value` is an argument of a function that `ttcore.argument_type` marks as a parameter or a constant.
bool isConstantArgument(Value value);
/// Whether `op` creates a tensor that is the same in every run, from its attributes alone.
bool isConstantCreation(Operation *op);
/// Whether some op, other than those that free it or inspect it, may change `value` in place.
bool mayBeWritten(Value value);

/// Determines for many values whether they are computed from constants and constant arguments alone, once for each
/// value.
class ConstantAnalysis {
public:
  bool isConstant(Value value);
  /// Forgets an op. Call this before the op is erased: its address may be reused.
  void forget(Operation *op);

private:
  llvm::DenseMap<Value, bool> known;
};

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_CONSTANTS_H
