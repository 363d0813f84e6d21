//===- LocalizePresharded.cpp - presharded arguments and results ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRLOCALIZEPRESHARDED
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

namespace {
struct LocalizePresharded : ttir::impl::TTIRLocalizePreshardedBase<LocalizePresharded> {
  void runOnOperation() override {
    changed = false;
    if (!getOperation().isExternal() && failed(localize(getOperation())))
      signalPassFailure();
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  static bool isIdentity(ttir::MeshShardOp op, ttcore::MeshShardDirection direction) {
    return op.getShardType() == ttcore::MeshShardType::Identity && op.getShardDirection() == direction;
  }

  bool changed = false;

  LogicalResult localize(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (failed(localizeArgument(argument)))
        return failure();
    function.walk([&](ttir::MeshShardOp op) {
      if (isIdentity(op, ttcore::MeshShardDirection::ShardToFull)) {
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
        op.erase();
        changed = true;
      }
    });
    if (!changed)
      return success();
    Operation *terminator = function.getBody().front().getTerminator();
    function.setFunctionType(
        FunctionType::get(&getContext(), function.getBody().getArgumentTypes(), terminator->getOperandTypes()));
    return success();
  }

  LogicalResult localizeArgument(BlockArgument argument) {
    SmallVector<ttir::MeshShardOp> shards;
    for (Operation *user : argument.getUsers())
      if (auto op = dyn_cast<ttir::MeshShardOp>(user); op && isIdentity(op, ttcore::MeshShardDirection::FullToShard))
        shards.push_back(op);
    if (shards.empty()) {
      localizeUnused(argument);
      return success();
    }
    Type local = shards.front()->getResult(0).getType();
    for (Operation *user : argument.getUsers())
      if (!llvm::is_contained(shards, user) || user->getResult(0).getType() != local)
        return user->emitOpError() << "uses argument " << argument.getArgNumber()
                                   << ", which arrives in shards of type " << local
                                   << "; expected only identity mesh_shards of that type";
    setLocal(argument, cast<RankedTensorType>(local));
    // Code that creates inputs needs to know what the type no longer states.
    getOperation().setArgAttr(argument.getArgNumber(), ttcore::shardDimsName, shards.front().getShardDimsAttr());
    for (ttir::MeshShardOp op : shards) {
      op->getResult(0).replaceAllUsesWith(argument);
      op.erase();
    }
    return success();
  }

  /// Localizes an argument without uses by its attributes alone.
  void localizeUnused(BlockArgument argument) {
    const unsigned index = argument.getArgNumber();
    auto status = getOperation().getArgAttrOfType<ttcore::ShardStatusAttr>(index, ttcore::shardStatusName);
    auto local = getOperation().getArgAttrOfType<ttcore::LocalShapeAttr>(index, ttcore::localShapeName);
    // If dimensions of axes are recorded, it arrives over a mesh.
    if (!argument.use_empty() || !status || status.getValue() != ttcore::ShardStatus::Presharded || !local ||
        !getOperation().getArgAttr(index, ttcore::shardDimsName))
      return;
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && !type.getEncoding())
      setLocal(argument, RankedTensorType::get(local.getLocalShape().getShape(), type.getElementType()));
  }

  void setLocal(BlockArgument argument, RankedTensorType shard) {
    argument.setType(
        RankedTensorType::get(shard.getShape(), shard.getElementType(), ttcore::distributedOver(getOperation())));
    changed = true;
  }
};
} // namespace
