//===- Sharding.h - what passes ask about shardings -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_SHARDING_H
#define TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_SHARDING_H

#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h"

namespace mlir::tt::shlo {

inline RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

inline constexpr StringLiteral shardingName = "sdy.sharding";
inline constexpr StringLiteral frontendName = "mhlo.frontend_attributes";
/// Marks a call of the host that handles the whole tensor instead of each device's part.
inline constexpr StringLiteral onceName = "tt.once";
inline constexpr StringLiteral gspmdName = "mhlo.sharding";

/// The computation is manual along all axes that split anything.
bool isManual(sdy::ManualComputationOp op);
/// Whether functions consist of manual computations, whose operands and results are the parts of one device.
bool isSolved(ModuleOp module);
/// Returns the sharding of an operand or result as seen inside the computation: its axes that are not manual.
sdy::TensorShardingAttr insideOf(sdy::ManualComputationOp op, sdy::TensorShardingAttr sharding);
bool hasSdyAnnotations(ModuleOp module);
bool hasGspmdAnnotations(ModuleOp module);

/// The number of devices that the module states (mhlo.num_partitions); an error if there is no number, or one that no
/// mesh has.
FailureOr<int64_t> partitionsOf(ModuleOp module);
/// The one mesh of several devices in the module; null without a mesh, an error if there are several.
FailureOr<sdy::MeshOp> findMesh(ModuleOp module);

/// Returns a sharding that splits no dimension; dimensions are closed or open.
sdy::TensorShardingAttr replicated(Attribute mesh, int64_t rank, bool closed = true);
sdy::TensorShardingAttr replicated(Attribute mesh, Value value);
/// A closed sharding that splits by these axes.
sdy::TensorShardingAttr withAxes(sdy::TensorShardingAttr like, ArrayRef<SmallVector<sdy::AxisRefAttr>> axes);

/// The sharding of an op's result, or of an argument of a function or of a manual computation; null if it has none.
sdy::TensorShardingAttr shardingOf(Value value);
/// Sets the sharding of a result of an op, or of an argument of a function. Other results of the op without a sharding
/// become replicated.
void setSharding(Value value, sdy::TensorShardingAttr sharding);
void removeShardings(Operation *root);

/// The number of parts into which an axis, or a part of it, splits.
int64_t sizeOf(sdy::AxisRefAttr axis, sdy::MeshAttr mesh);
int64_t partsOf(sdy::TensorShardingAttr sharding, int64_t dim, sdy::MeshAttr mesh);
/// Whether anything is split; axes of size 1 split nothing.
bool isSplit(sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh);
/// Returns the type of the part that one device holds; emits an error at `op` that names the dimension that does not
/// divide.
FailureOr<Type> localType(Type type, sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh, Operation *op);

/// The devices of a mesh along a list of axes; the first axis varies slowest within a group.
SmallVector<SmallVector<int64_t>> groupsAlong(sdy::MeshAttr mesh, ArrayRef<sdy::AxisRefAttr> axes);
/// The number of the device at a position of the mesh.
int64_t deviceAt(sdy::MeshAttr mesh, int64_t position);
/// The position of a device along a list of axes.
int64_t indexAlong(sdy::MeshAttr mesh, ArrayRef<sdy::AxisRefAttr> axes, int64_t device);

} // namespace mlir::tt::shlo

#endif // TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_SHARDING_H
