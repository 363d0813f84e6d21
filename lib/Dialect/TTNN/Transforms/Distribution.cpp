//===- Distribution.cpp - which values differ from chip to chip -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Transforms/Distribution.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DistributedLayerNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DistributedRMSNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GetDimensionSizeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

bool ttnn::isMeshShard(Operation *op, ttcore::MeshShardDirection direction) {
  auto shard = dyn_cast<ttir::MeshShardOp>(op);
  return shard && shard.getShardDirection() == direction;
}

/// Whether the devices exchange values, so that each gets its own, even for an operand that is the same on all.
static bool isCollective(Operation *op) { return op->hasTrait<trait::Collective>(); }

static bool hasSeveralDevices(Operation *op) {
  std::optional<SmallVector<int64_t>> mesh = ttcore::lookupMeshShape(op);
  return mesh && llvm::any_of(*mesh, [](int64_t size) { return size > 1; });
}

static bool isMarked(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  if (isa_and_nonnull<ttcore::TensorMeshAttr>(tensor.getEncoding()))
    return true;
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
  return layout && layout.getTensorMesh();
}

Distribution::Distribution(Operation *root) : isWhole(isa<ModuleOp>(root)) {
  root->walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isMarked(result.getType()))
        add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (isMarked(argument.getType()))
            add(argument);
  });
  // Loops carry results of their bodies back to their beginning.
  bool changed = true;
  while (changed) {
    changed = false;
    root->walk<WalkOrder::PreOrder>([&](Operation *op) { changed |= visit(op); });
  }
}

bool Distribution::isDistributedBy(Operation *op) const {
  if (isMeshShard(op, ttcore::MeshShardDirection::FullToShard))
    return true;
  // All parts have the same sizes.
  if (isMeshShard(op, ttcore::MeshShardDirection::ShardToFull) || isa<ttir::GetDimensionSizeOp>(op))
    return false;
  if (isCollective(op) && hasSeveralDevices(op))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value value) { return contains(value); });
}

bool Distribution::visit(Operation *op) {
  bool changed = false;
  if (op->hasTrait<trait::ControlsFlow>()) {
    // Chips that take different branches have different results.
    auto branches = dyn_cast<ttcore::CaseOp>(op);
    const bool differ = branches && contains(branches.getIndex());
    for (const Link &link : linksOf(op)) {
      const bool isResult = isa<OpResult>(link.values.front());
      if ((differ && isResult) || llvm::any_of(link.values, [&](Value value) { return contains(value); }) ||
          llvm::any_of(link.sources, [&](OpOperand *source) { return contains(source->get()); }))
        for (Value value : link.values)
          changed |= add(value);
    }
    if (auto loop = dyn_cast<ttcore::WhileOp>(op))
      if (Block *condition = bodyOf(op, loop.getCondAttr());
          condition && contains(condition->getTerminator()->getOperand(0)))
        for (const Link &link : linksOf(op))
          if (isa<OpResult>(link.values.front()))
            for (Value value : link.values)
              changed |= add(value);
    return changed;
  }
  if (op->getNumResults() && isDistributedBy(op))
    for (Value result : op->getResults())
      changed |= add(result);
  return changed;
}

Block *Distribution::bodyOf(Operation *op, FlatSymbolRefAttr name) const {
  // In a pass on functions, other threads may change the other functions.
  if (!isWhole)
    return nullptr;
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, name);
  return function && !function.isExternal() ? &function.getBody().front() : nullptr;
}

SmallVector<Distribution::Link> Distribution::linksOf(Operation *op) const {
  SmallVector<Link> links;
  if (auto loop = dyn_cast<ttcore::WhileOp>(op)) {
    Block *condition = bodyOf(op, loop.getCondAttr()), *body = bodyOf(op, loop.getBodyAttr());
    if (!condition || !body)
      return links;
    for (unsigned i = 0; i < loop.getInputs().size(); ++i) {
      Link &link = links.emplace_back();
      if (i < op->getNumResults()) {
        link.values.push_back(op->getResult(i));
        link.sources.push_back(&body->getTerminator()->getOpOperand(i));
      }
      llvm::append_values(link.values, Value(condition->getArgument(i)), Value(body->getArgument(i)));
      link.sources.push_back(&op->getOpOperand(i));
    }
  } else if (auto branches = dyn_cast<ttcore::CaseOp>(op)) {
    SmallVector<Block *> bodies;
    for (Attribute name : branches.getBranches())
      if (Block *body = bodyOf(op, cast<FlatSymbolRefAttr>(name)))
        bodies.push_back(body);
    for (OpResult result : op->getResults()) {
      Link &link = links.emplace_back();
      link.values.push_back(result);
      for (Block *body : bodies)
        link.sources.push_back(&body->getTerminator()->getOpOperand(result.getResultNumber()));
    }
    // After the number of the branch.
    for (unsigned i = 0; i < branches.getInputs().size(); ++i) {
      Link &link = links.emplace_back();
      for (Block *body : bodies)
        link.values.push_back(body->getArgument(i));
      link.sources.push_back(&op->getOpOperand(1 + i));
    }
  }
  return links;
}

void Distribution::distributeOperands(Operation *root) {
  SmallVector<Operation *> controls;
  root->walk([&](Operation *op) {
    if (op->hasTrait<trait::ControlsFlow>())
      controls.push_back(op);
  });
  for (Operation *op : controls)
    for (const Link &link : linksOf(op)) {
      if (link.values.empty() || !contains(link.values.front()))
        continue;
      for (OpOperand *source : link.sources) {
        if (contains(source->get()))
          continue;
        OpBuilder builder(source->getOwner());
        auto replicate = ttcore::MeshShardTypeAttr::get(op->getContext(), ttcore::MeshShardType::Replicate);
        auto direction = ttcore::MeshShardDirectionAttr::get(op->getContext(), ttcore::MeshShardDirection::FullToShard);
        auto shard = ttir::MeshShardOp::create(builder, source->getOwner()->getLoc(), source->get().getType(),
                                               source->get(), replicate, direction, builder.getDenseI64ArrayAttr({1}),
                                               builder.getDenseI64ArrayAttr({-1}));
        add(shard.getResult());
        source->set(shard.getResult());
      }
    }
}
