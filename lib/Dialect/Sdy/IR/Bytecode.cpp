//===- Bytecode.cpp - Shardy attributes in bytecode -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// As JAX writes them beside StableHLO, in portable artefacts too.

#include "Bytecode.h"

#include "ttmlir/Dialect/DataBytecode.h"
#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

using namespace mlir;
using namespace mlir::bytecode;
using namespace mlir::sdy;

namespace {
/// A priority: zero for none, else the number above a set bit.
struct Priority {
  using Store = std::optional<int64_t>;
  static LogicalResult read(DialectBytecodeReader &reader, std::optional<Store> &into) {
    uint64_t number = 0;
    bool isThere = false;
    if (failed(reader.readVarIntWithFlag(number, isThere)))
      return failure();
    into.emplace(isThere ? Store(static_cast<int64_t>(number)) : Store());
    return success();
  }
  static void write(DimensionShardingAttr dimension, DialectBytecodeWriter &writer) {
    std::optional<int64_t> priority = dimension.getPriority();
    writer.writeVarIntWithFlag(static_cast<uint64_t>(priority.value_or(0)), priority.has_value());
  }
};
} // namespace

/// A sharding, with the code that has unreduced axes or the one that has not. Both sum partial values.
template <bool hasUnreduced> static constexpr Row<Attribute> shardingRow(uint64_t code) {
  using Mesh = Parameter<&TensorShardingAttr::getMeshOrRef>;
  using Dimensions = Parameter<&TensorShardingAttr::getDimShardings>;
  using Replicated = Parameter<&TensorShardingAttr::getReplicatedAxes>;
  using Unreduced = Parameter<&TensorShardingAttr::getUnreducedAxes>;
  return {code,
          [](DialectBytecodeReader &reader) -> Attribute {
            std::optional<Mesh::Store> mesh;
            std::optional<Dimensions::Store> dimensions;
            std::optional<Replicated::Store> replicated;
            std::optional<Unreduced::Store> unreduced;
            if (failed(Mesh::read(reader, mesh)) || failed(Dimensions::read(reader, dimensions)) ||
                failed(Replicated::read(reader, replicated)) ||
                (hasUnreduced && failed(Unreduced::read(reader, unreduced))))
              return {};
            return make<TensorShardingAttr>(reader, *mesh, passed(*dimensions), passed(*replicated),
                                            ArrayRef<AxisRefAttr>(unreduced.value_or(Unreduced::Store())),
                                            ReductionOp::SUM);
          },
          [](Attribute data, uint64_t code, DialectBytecodeWriter &writer) {
            auto sharding = dyn_cast<TensorShardingAttr>(data);
            if (!sharding || sharding.getUnreducedAxes().empty() == hasUnreduced ||
                sharding.getReductionOp() != ReductionOp::SUM)
              return false;
            writer.writeVarInt(code);
            Mesh::write(sharding, writer);
            Dimensions::write(sharding, writer);
            Replicated::write(sharding, writer);
            if (hasUnreduced)
              Unreduced::write(sharding, writer);
            return true;
          }};
}

static constexpr Row<Attribute> attributeRows[] = {
    attributeRow<&ManualAxesAttr::getValue>(0),
    attributeRow<&MeshAxisAttr::getName, &MeshAxisAttr::getSize>(1),
    attributeRow<&MeshAttr::getAxes, &MeshAttr::getDeviceIds>(2),
    attributeRow<&SubAxisInfoAttr::getPreSize, &SubAxisInfoAttr::getSize>(3),
    row<Attribute, AxisRefAttr, Parameter<&AxisRefAttr::getName>, OptionalParameter<&AxisRefAttr::getSubAxisInfo>>(4),
    row<Attribute, DimensionShardingAttr, Parameter<&DimensionShardingAttr::getAxes>,
        Parameter<&DimensionShardingAttr::getIsClosed>, Priority>(5),
    shardingRow</*hasUnreduced=*/false>(6),
    attributeRow<&TensorShardingPerValueAttr::getShardings>(7),
    attributeRow<&DimMappingAttr::getFactorIndices>(8),
    attributeRow<&TensorMappingAttr::getDimMappings>(9),
    attributeRow<&OpShardingRuleAttr::getFactorSizes, &OpShardingRuleAttr::getOperandMappings,
                 &OpShardingRuleAttr::getResultMappings, &OpShardingRuleAttr::getReductionFactors,
                 &OpShardingRuleAttr::getNeedReplicationFactors, &OpShardingRuleAttr::getPermutationFactors,
                 &OpShardingRuleAttr::getBlockedPropagationFactors, &OpShardingRuleAttr::getIsCustomRule>(10),
    attributeRow<&AxisRefListAttr::getValue>(11),
    attributeRow<&ListOfAxisRefListsAttr::getValue>(12),
    attributeRow<&AllToAllParamAttr::getAxes, &AllToAllParamAttr::getSrcDim, &AllToAllParamAttr::getTgtDim>(13),
    attributeRow<&AllToAllParamListAttr::getValue>(14),
    shardingRow</*hasUnreduced=*/true>(15),
};

std::unique_ptr<DialectInterface> sdy::makeBytecode(Dialect *dialect) {
  return std::make_unique<Interface>(dialect, attributeRows, ArrayRef<Row<Type>>());
}
