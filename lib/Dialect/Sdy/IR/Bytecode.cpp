//===- Bytecode.cpp - Shardy attributes in bytecode -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// As JAX writes them with StableHLO, also in portable artifacts.

#include "Bytecode.h"

#include "ttmlir/Dialect/DataBytecode.h"
#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

using namespace mlir;
using namespace mlir::bytecode;
using namespace mlir::sdy;

namespace {
/// A priority: zero for none, else the number with a set bit below it.
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

namespace {
/// The unreduced axes that a code of shardings holds: none, those of a sum, or those of any reduction.
enum class Partial { None, Sum, Any };
} // namespace

static Partial partialOf(TensorShardingAttr sharding) {
  if (sharding.getReductionOp() != ReductionOp::SUM)
    return Partial::Any;
  return sharding.getUnreducedAxes().empty() ? Partial::None : Partial::Sum;
}

/// A sharding, by the code for its unreduced axes.
template <Partial partial> static constexpr Row<Attribute> shardingRow(uint64_t code) {
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
            int64_t reduction = static_cast<int64_t>(ReductionOp::SUM);
            if (failed(Mesh::read(reader, mesh)) || failed(Dimensions::read(reader, dimensions)) ||
                failed(Replicated::read(reader, replicated)) ||
                (partial != Partial::None && failed(Unreduced::read(reader, unreduced))) ||
                (partial == Partial::Any && failed(reader.readSignedVarInt(reduction))))
              return {};
            std::optional<ReductionOp> op =
                llvm::isUInt<32>(reduction) ? symbolizeReductionOp(static_cast<uint32_t>(reduction)) : std::nullopt;
            if (!op)
              return reader.emitError() << "sharding has the reduction " << reduction << "; expected 0 (sum) to "
                                        << getMaxEnumValForReductionOp(),
                     Attribute();
            return make<TensorShardingAttr>(reader, *mesh, passed(*dimensions), passed(*replicated),
                                            ArrayRef<AxisRefAttr>(unreduced.value_or(Unreduced::Store())), *op);
          },
          [](Attribute data, uint64_t code, DialectBytecodeWriter &writer) {
            auto sharding = dyn_cast<TensorShardingAttr>(data);
            if (!sharding || partialOf(sharding) != partial)
              return false;
            writer.writeVarInt(code);
            Mesh::write(sharding, writer);
            Dimensions::write(sharding, writer);
            Replicated::write(sharding, writer);
            if (partial != Partial::None)
              Unreduced::write(sharding, writer);
            if (partial == Partial::Any)
              writer.writeSignedVarInt(static_cast<int64_t>(sharding.getReductionOp()));
            return true;
          }};
}

/// Shardings of several values: one code if none has unreduced axes, another if one has.
template <bool hasUnreduced> static constexpr Row<Attribute> shardingsRow(uint64_t code) {
  Row<Attribute> row = attributeRow<&TensorShardingPerValueAttr::getShardings>(code);
  row.write = [](Attribute data, uint64_t code, DialectBytecodeWriter &writer) {
    auto shardings = dyn_cast<TensorShardingPerValueAttr>(data);
    if (!shardings || hasUnreduced != llvm::any_of(shardings.getShardings(), [](TensorShardingAttr sharding) {
                        return !sharding.getUnreducedAxes().empty();
                      }))
      return false;
    writer.writeVarInt(code);
    Parameter<&TensorShardingPerValueAttr::getShardings>::write(shardings, writer);
    return true;
  };
  return row;
}

static constexpr Row<Attribute> attributeRows[] = {
    attributeRow<&ManualAxesAttr::getValue>(0),
    attributeRow<&MeshAxisAttr::getName, &MeshAxisAttr::getSize>(1),
    attributeRow<&MeshAttr::getAxes, &MeshAttr::getDeviceIds>(2),
    attributeRow<&SubAxisInfoAttr::getPreSize, &SubAxisInfoAttr::getSize>(3),
    row<Attribute, AxisRefAttr, Parameter<&AxisRefAttr::getName>, OptionalParameter<&AxisRefAttr::getSubAxisInfo>>(4),
    row<Attribute, DimensionShardingAttr, Parameter<&DimensionShardingAttr::getAxes>,
        Parameter<&DimensionShardingAttr::getIsClosed>, Priority>(5),
    shardingRow<Partial::None>(6),
    shardingsRow</*hasUnreduced=*/false>(7),
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
    shardingRow<Partial::Sum>(15),
    shardingsRow</*hasUnreduced=*/true>(16),
    shardingRow<Partial::Any>(17),
};

std::unique_ptr<DialectInterface> sdy::makeBytecode(Dialect *dialect) {
  return std::make_unique<Interface>(dialect, attributeRows, ArrayRef<Row<Type>>());
}
