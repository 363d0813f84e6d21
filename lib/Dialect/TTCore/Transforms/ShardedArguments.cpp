//===- ShardedArguments.cpp - arguments that come in shards ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"

using namespace mlir;
using namespace mlir::tt::ttcore;

TensorMeshAttr mlir::tt::ttcore::distributedOver(Operation *op) {
  StringRef name = "mesh";
  for (Operation *scope = op; scope; scope = scope->getParentOp())
    if (auto meshes = scope->getAttrOfType<MeshesAttr>(MeshesAttr::name); meshes && !meshes.getMeshes().empty()) {
      name = meshes.getMeshes().front().getName().getValue();
      break;
    }
  return TensorMeshAttr::get(op->getContext(), StringAttr::get(op->getContext(), name));
}
