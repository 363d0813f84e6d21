//===- Sharding.h - shardings to compute with -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_SHARDING_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_SHARDING_H

#include "ttmlir/Dialect/Sdy/IR/Axes.h"
#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::sdy {

struct DimSharding {
  Axes axes;
  bool isClosed = false;
  std::optional<int64_t> priority;

  bool operator==(const DimSharding &other) const = default;
};

/// A #sdy.sharding with its axes resolved in its mesh. Attributes are uniqued, so each step of a computation on them
/// would cost a lookup and an allocation that lives as long as the context.
struct Sharding {
  Attribute meshOrRef;
  MeshAttr mesh;
  SmallVector<DimSharding, 4> dims;
  Axes replicated, unreduced;
  ReductionOp reductionOp = ReductionOp::SUM;

  bool operator==(const Sharding &other) const = default;

  static Sharding open(Attribute meshOrRef, MeshAttr mesh, size_t rank, bool isClosed = false);
  Sharding replicatedLike() const { return open(meshOrRef, mesh, dims.size(), /*isClosed=*/true); }

  /// Whether the tensor is on one device.
  bool isMaximal() const { return mesh.getAxes().empty() && !mesh.getDeviceIds().empty(); }
  /// Whether the mesh has no axes or devices, which makes it compatible with any mesh.
  bool isPlaceholder() const { return mesh.getAxes().empty() && mesh.getDeviceIds().empty(); }
  /// Moves a placeholder to a mesh.
  void placeOn(Attribute otherMeshOrRef, MeshAttr other);
  /// Whether no dimension is split and nothing is unreduced.
  bool isReplicated() const;
  /// All axes of the dimensions.
  Axes allAxes() const;
  int64_t shards() const;
};

/// Whether both split each dimension along the same axes of the same mesh, and reduce the same; none means replicated.
bool areEquivalent(const std::optional<Sharding> &a, const std::optional<Sharding> &b);
bool haveSameDims(const Sharding &a, const Sharding &b);
bool haveSameAxes(MeshAttr a, MeshAttr b);

/// Meshes by the name under which a sharding refers to them.
class Meshes {
public:
  explicit Meshes(Operation *root);
  MeshAttr find(Attribute meshOrRef) const;

private:
  DenseMap<Attribute, MeshAttr> byName;
};

Sharding resolve(TensorShardingAttr attribute, const Meshes &meshes);
TensorShardingAttr toAttribute(const Sharding &sharding);
Axes resolve(ArrayRef<AxisRefAttr> axes, MeshAttr mesh);
SmallVector<AxisRefAttr> toAttributes(MLIRContext *context, AxesRef axes, MeshAttr mesh);
AxisRefListAttr toListAttribute(MLIRContext *context, AxesRef axes, MeshAttr mesh);
ListOfAxisRefListsAttr toListsAttribute(MLIRContext *context, ArrayRef<Axes> lists, MeshAttr mesh);

//===----------------------------------------------------------------------===//
// Where shardings stand
//===----------------------------------------------------------------------===//

inline constexpr StringLiteral kShardingAttr = "sdy.sharding";
inline constexpr StringLiteral kShardingRuleAttr = "sdy.sharding_rule";

/// The attribute of a value: of a function's argument, of an op that names the sharding of its result, of a result. A
/// data-flow edge holds that of its owner and targets; see DataFlow.h.
TensorShardingAttr getShardingAttr(Value value);
void setShardingAttr(Value value, TensorShardingAttr sharding);
/// Whether the value can have a sharding.
bool canHoldSharding(Value value);

TensorShardingAttr getResultShardingAttr(FunctionOpInterface function, unsigned index);
void setResultShardingAttr(FunctionOpInterface function, unsigned index, TensorShardingAttr sharding);

/// Replaces each sharding below `root`, wherever it occurs, by the result of `change`.
void replaceShardings(Operation *root, function_ref<TensorShardingAttr(TensorShardingAttr)> change);

/// The size of a static shape; -1 if it is not static.
inline RankedTensorType getStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? tensor : RankedTensorType();
}

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_SHARDING_H
