//===- Distribution.h - which values differ from chip to chip ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTNN_TRANSFORMS_DISTRIBUTION_H
#define TTMLIR_DIALECT_TTNN_TRANSFORMS_DISTRIBUTION_H

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::tt::ttir {
class MeshShardOp;
} // namespace mlir::tt::ttir

namespace mlir::tt::ttnn {

bool isMeshShard(Operation *op, ttcore::MeshShardDirection direction);

/// Creates the op of TTNN that divides `input` among the chips, or joins their parts, to a tensor of `type`. Returns
/// null, and the reason, for an op that it cannot do this for.
Value createMeshShard(OpBuilder &builder, ttir::MeshShardOp op, Value input, Type type, Value device,
                      std::string &reason);

/// The values of which each chip of a mesh has its own; in a module, through loops and branches.
class Distribution {
public:
  explicit Distribution(Operation *root);
  bool contains(Value value) const { return values.contains(value); }

  /// Distributes what loops and branches are given once, and carry or give as parts.
  void distributeOperands(Operation *root);

private:
  /// A value of a loop or branch that is carried from place to place.
  struct Link {
    SmallVector<Value> values;
    SmallVector<OpOperand *> sources;
  };

  Block *bodyOf(Operation *op, FlatSymbolRefAttr name) const;
  SmallVector<Link> linksOf(Operation *op) const;
  bool isDistributedBy(Operation *op) const;
  bool visit(Operation *op);
  bool add(Value value) { return values.insert(value).second; }

  bool isWhole;
  mutable SymbolTableCollection symbols;
  DenseSet<Value> values;
};

} // namespace mlir::tt::ttnn

#endif // TTMLIR_DIALECT_TTNN_TRANSFORMS_DISTRIBUTION_H
